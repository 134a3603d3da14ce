#include "arrays.hpp"

namespace temp0 {
namespace {

std::string text(const Shape& shape) {
  std::string result = "(";
  for (int i = 0; i < shape.dimensions; ++i)
    result += (i > 0 ? ", " : "") + (shape.at[i] < 0 ? std::string("any") : std::to_string(shape.at[i]));
  return result + ")";
}

[[noreturn]] void type_error(const std::string& message) { throw nb::type_error(message.c_str()); }

std::string name_of_type(nb::handle object) { return nb::type_name(object.type()).c_str(); }

template <class Array>
bool is_contiguous(const Array& array) {
  int64_t expected = 1;
  for (size_t axis = array.ndim(); axis-- > 0;) {
    if (array.shape(axis) != 1 && array.stride(axis) != expected) return false;
    expected *= static_cast<int64_t>(array.shape(axis));
  }
  return true;
}

template <class Array>
Shape shape_of(const Array& array, const char* name, int dimensions) {
  if (dimensions >= 0 && static_cast<int>(array.ndim()) != dimensions)
    value_error(std::string(name) + " must have " + std::to_string(dimensions) + " dimensions, not " +
                std::to_string(array.ndim()));
  if (array.ndim() > kMostDimensions) value_error(std::string(name) + " has more than 4 dimensions");
  Shape shape;
  shape.dimensions = static_cast<int>(array.ndim());
  for (int axis = 0; axis < shape.dimensions; ++axis) shape.at[axis] = static_cast<int64_t>(array.shape(axis));
  if (shape.size() > 0 && !is_contiguous(array))
    value_error(std::string(name) + " must be C-contiguous; numpy.ascontiguousarray makes it so");
  return shape;
}

// Access is nb::ro or nothing; T the element type without const.
template <class T, class... Access>
auto checked(nb::handle object, const char* name, const char* dtype_name, int dimensions) {
  nb::ndarray<nb::device::cpu, Access...> array;
  if (!nb::try_cast(object, array, false)) {
    nb::ndarray<nb::device::cpu, nb::ro> readable;
    if (nb::try_cast(object, readable, false)) type_error(std::string(name) + " is read-only, but is written to");
    type_error(std::string(name) + " must be a numpy array of " + dtype_name + ", not " + name_of_type(object));
  }
  if (array.dtype() != nb::dtype<T>()) {
    const std::string seen = nb::str(nb::getattr(object, "dtype", nb::str("another type"))).c_str();
    type_error(std::string(name) + " must be " + dtype_name + ", not " + seen);
  }
  const Shape shape = shape_of(array, name, dimensions);
  return std::pair{array.data(), shape};
}

}  // namespace

int64_t Shape::size() const {
  int64_t product = 1;
  for (int axis = 0; axis < dimensions; ++axis) product *= at[axis];
  return product;
}

View<const float> floats(nb::handle array, const char* name, int dimensions) {
  const auto [data, shape] = checked<float, nb::ro>(array, name, "float32", dimensions);
  return {static_cast<const float*>(data), shape};
}

View<float> output_floats(nb::handle array, const char* name, int dimensions) {
  const auto [data, shape] = checked<float>(array, name, "float32", dimensions);
  return {static_cast<float*>(data), shape};
}

View<const int32_t> integers(nb::handle array, const char* name, int dimensions) {
  const auto [data, shape] = checked<int32_t, nb::ro>(array, name, "int32", dimensions);
  return {static_cast<const int32_t*>(data), shape};
}

View<int32_t> output_integers(nb::handle array, const char* name, int dimensions) {
  const auto [data, shape] = checked<int32_t>(array, name, "int32", dimensions);
  return {static_cast<int32_t*>(data), shape};
}

void require_shape(const Shape& shape, const char* name, std::initializer_list<int64_t> wanted) {
  Shape expected;
  for (int64_t size : wanted) expected.at[expected.dimensions++] = size;
  for (int axis = 0; axis < expected.dimensions; ++axis)
    if (expected.at[axis] >= 0 && expected.at[axis] != shape.at[axis])
      value_error(std::string(name) + " must have shape " + text(expected) + ", not " + text(shape));
}

void require_apart(const void* a, int64_t bytes_a, const void* b, int64_t bytes_b, const char* names) {
  const char* first = static_cast<const char*>(a);
  const char* second = static_cast<const char*>(b);
  if (bytes_a > 0 && bytes_b > 0 && first < second + bytes_b && second < first + bytes_a)
    value_error(std::string(names) + " must not share memory");
}

void value_error(const std::string& message) { throw nb::value_error(message.c_str()); }

}  // namespace temp0
