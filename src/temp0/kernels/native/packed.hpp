// Weights in the layout that `linear` reads.
//
// Invariant: panels of 16 outputs, padded with zero outputs, and with zero inputs to whole groups; fp32 as
// [panel][input][16], bf16 as [panel][pair of inputs][16] words with the even input in the low half.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace temp0 {

class PackedLinear {
 public:
  // All zero until filled. Throws std::bad_alloc.
  PackedLinear(int64_t outputs, int64_t inputs, bool is_bf16);

  // Fills a range of panels, once, from weight[outputs][inputs]; bf16 rounds to nearest even.
  void fill(const float* weight, int64_t first_panel, int64_t last_panel);

  int64_t outputs() const { return outputs_; }
  int64_t inputs() const { return inputs_; }
  bool is_bf16() const { return is_bf16_; }
  int64_t panels() const { return (outputs_ + 15) / 16; }
  size_t size_bytes() const { return size_bytes_; }
  const void* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(void* data) const;
  };

  int64_t outputs_, inputs_;
  bool is_bf16_;
  size_t size_bytes_;
  std::unique_ptr<void, Free> data_;
};

}  // namespace temp0
