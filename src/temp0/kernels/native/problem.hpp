// What C++ code throws; the bindings turn it into Python exceptions.
#pragma once

#include <stdexcept>

namespace temp0 {

// Becomes temp0.errors.UsageError.
struct UsageProblem : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace temp0
