// Checked views of numpy arrays: the only door from Python objects to pointers.
//
// Invariant: a view is C-contiguous, of the dtype and shape asked for, and never a copy.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <initializer_list>
#include <string>

namespace temp0 {

namespace nb = nanobind;

constexpr int kMostDimensions = 4;

struct Shape {
  int dimensions = 0;
  int64_t at[kMostDimensions] = {};

  int64_t size() const;
};

template <class T>
struct View {
  T* data;
  Shape shape;

  int64_t size() const { return shape.size(); }
  int64_t operator[](int axis) const { return shape.at[axis]; }
};

// `kernel` and `name` appear in messages. Raise TypeError for a wrong type, dtype or a read-only output, ValueError
// for a wrong number of dimensions or a layout that is not C-contiguous. dimensions < 0 accepts any number of them.
View<const float> floats(nb::handle array, const char* name, int dimensions);
View<float> output_floats(nb::handle array, const char* name, int dimensions);
View<const int32_t> integers(nb::handle array, const char* name, int dimensions);
View<int32_t> output_integers(nb::handle array, const char* name, int dimensions);

// Raises ValueError unless the sizes are equal; an axis of -1 in `wanted` accepts any size.
void require_shape(const Shape& shape, const char* name, std::initializer_list<int64_t> wanted);

// Raises ValueError where the two share memory.
void require_apart(const void* a, int64_t bytes_a, const void* b, int64_t bytes_b, const char* names);

[[noreturn]] void value_error(const std::string& message);

}  // namespace temp0
