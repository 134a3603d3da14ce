// Binding of packed weights and of the product with them.
#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "execution.hpp"
#include "float_state.hpp"
#include "packed.hpp"
#include "path.hpp"

namespace temp0 {
namespace {

constexpr double kPackedElement = 1.0;  // nanoseconds

PackedLinear* pack(nb::handle weight_array, const std::string& dtype) {
  const View<const float> weight = floats(weight_array, "weight", 2);
  if (dtype != "bf16" && dtype != "fp32") value_error("dtype must be \"bf16\" or \"fp32\", not \"" + dtype + "\"");
  if (weight.size() == 0) value_error("weight must have at least one output and one input");
  auto packed = std::make_unique<PackedLinear>(weight[0], weight[1], dtype == "bf16");
  execute(packed->panels(), kPackedElement * static_cast<double>(weight.size()), 1,
          [&](int64_t first, int64_t last) { packed->fill(weight.data, first, last); });
  return packed.release();
}

// Whichever takes longer: reading the weights, or the multiply-adds.
double nanoseconds(const PackedLinear& weight, int64_t rows) {
  const double reading = static_cast<double>(weight.size_bytes()) * 0.06;
  const double adding = static_cast<double>(weight.outputs() * weight.inputs() * rows) * 0.015;
  return reading > adding ? reading : adding;
}

// x in bf16 for the paths that can use it; null where it would not be x.
const uint16_t* narrowed(const KernelTable& table, const View<const float>& x, const PackedLinear& weight) {
  if (table.narrow == nullptr || !weight.is_bf16()) return nullptr;
  auto* to = reinterpret_cast<uint16_t*>(thread_scratch((x[0] * whole_groups(x[1]) + 1) / 2));
  return table.narrow(x.data, x[0], x[1], to) ? to : nullptr;
}

void linear(nb::handle x_array, const PackedLinear& weight, nb::handle out_array, bool is_rounded) {
  const View<const float> x = floats(x_array, "x", 2);
  const View<float> out = output_floats(out_array, "out", 2);
  require_shape(x.shape, "x", {-1, weight.inputs()});
  require_shape(out.shape, "out", {x[0], weight.outputs()});
  require_apart(x.data, x.size() * 4, out.data, out.size() * 4, "x and out");
  if (x[0] == 0) return;
  const KernelTable& table = kernels();
  const LinearTask task{x.data, narrowed(table, x, weight), weight.data(), out.data, x[0], weight.inputs(),
                        weight.outputs(), weight.is_bf16(), is_rounded};
  execute(weight.panels(), nanoseconds(weight, x[0]), 4, [&](int64_t first, int64_t last) {
    const SmallAsZero state;
    table.linear(task, first, last);
  });
}

}  // namespace

void bind_linear(nb::module_& module) {
  using nb::literals::operator""_a;
  nb::class_<PackedLinear>(module, "PackedLinear")
      .def_prop_ro("outputs", &PackedLinear::outputs)
      .def_prop_ro("inputs", &PackedLinear::inputs)
      .def_prop_ro("dtype", [](const PackedLinear& self) { return self.is_bf16() ? "bf16" : "fp32"; })
      .def_prop_ro("size_bytes", &PackedLinear::size_bytes);
  module.def("pack", pack, "weight"_a, "dtype"_a, nb::rv_policy::take_ownership);
  module.def("linear", linear, "x"_a, "weight"_a, "out"_a, "rounded"_a);
}

}  // namespace temp0
