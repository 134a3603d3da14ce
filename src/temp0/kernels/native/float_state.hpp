// The floating-point control state under which every kernel runs.
//
// Invariant: inside the scope rounding is to nearest and subnormals are kept, whatever the caller or another library
// has set on this thread; outside it, their state is back.
#pragma once

#include <cstdint>

namespace temp0 {

class FloatState {
 public:
  FloatState();
  ~FloatState();
  FloatState(const FloatState&) = delete;
  FloatState& operator=(const FloatState&) = delete;

 private:
  uint64_t saved_;
};

// Subnormal numbers count as 0, as operands and as results, in the scope of a FloatState.
class SmallAsZero {
 public:
  SmallAsZero();
  ~SmallAsZero();
  SmallAsZero(const SmallAsZero&) = delete;
  SmallAsZero& operator=(const SmallAsZero&) = delete;

 private:
  uint64_t saved_;
};

}  // namespace temp0
