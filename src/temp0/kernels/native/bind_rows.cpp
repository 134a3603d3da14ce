// Bindings of the kernels that treat each row by itself.
#include "arrays.hpp"
#include "bindings.hpp"
#include "execution.hpp"
#include "path.hpp"
#include "scalar.hpp"

namespace temp0 {
namespace {

// Rough costs, only to tell tiny calls from others.
constexpr double kCheapElement = 0.1;
constexpr double kExponentialElement = 0.6;

template <class A, class B>
void require_same_or_apart(const View<A>& a, const View<B>& b, const char* names) {
  if (static_cast<const void*>(a.data) == static_cast<const void*>(b.data) && a.size() == b.size()) return;
  require_apart(a.data, a.size() * 4, b.data, b.size() * 4, names);
}

void round_bf16(nb::handle array) {
  const View<float> x = output_floats(array, "x", -1);
  const KernelTable& table = kernels();
  execute(x.size(), kCheapElement * x.size(), 16,
          [&](int64_t first, int64_t last) { table.round_bf16(x.data, first, last); });
}

void rms_norm(nb::handle x_array, nb::handle weight_array, double eps, nb::handle out_array) {
  const View<const float> x = floats(x_array, "x", 2);
  const View<const float> weight = floats(weight_array, "weight", 1);
  const View<float> out = output_floats(out_array, "out", 2);
  require_shape(weight.shape, "weight", {x[1]});
  require_shape(out.shape, "out", {x[0], x[1]});
  require_same_or_apart(x, out, "x and out");
  if (!(eps >= 0.0)) value_error("eps must be 0 or more");
  const NormTask task{x.data, weight.data, static_cast<float>(eps), out.data, x[1]};
  const KernelTable& table = kernels();
  execute(x[0], kCheapElement * x.size(), 1,
          [&](int64_t first, int64_t last) { table.rms_norm(task, first, last); });
}

void silu_multiply(nb::handle gate_up_array, nb::handle out_array) {
  const View<const float> gate_up = floats(gate_up_array, "gate_up", 2);
  const View<float> out = output_floats(out_array, "out", 2);
  if (gate_up[1] % 2 != 0) value_error("gate_up must have an even number of columns: gate, then up");
  require_shape(out.shape, "out", {gate_up[0], gate_up[1] / 2});
  require_apart(gate_up.data, gate_up.size() * 4, out.data, out.size() * 4, "gate_up and out");
  const SiluTask task{gate_up.data, out.data, out[1]};
  const KernelTable& table = kernels();
  execute(out[0], kExponentialElement * out.size(), 1,
          [&](int64_t first, int64_t last) { table.silu_multiply(task, first, last); });
}

void require_within(const View<const int32_t>& numbers, int64_t limit, const char* name) {
  for (int64_t i = 0; i < numbers.size(); ++i)
    if (numbers.data[i] < 0 || numbers.data[i] >= limit)
      value_error(std::string(name) + "[" + std::to_string(i) + "] is " + std::to_string(numbers.data[i]) +
                  ", not within 0 to " + std::to_string(limit - 1));
}

void rotate(nb::handle x_array, nb::handle positions_array, nb::handle cosines_array, nb::handle sines_array) {
  const View<float> x = output_floats(x_array, "x", 3);
  const View<const int32_t> positions = integers(positions_array, "positions", 1);
  const View<const float> cosines = floats(cosines_array, "cosines", 2);
  const View<const float> sines = floats(sines_array, "sines", 2);
  if (x[2] % 2 != 0) value_error("x must have an even head dimension");
  require_shape(positions.shape, "positions", {x[0]});
  require_shape(cosines.shape, "cosines", {-1, x[2] / 2});
  require_shape(sines.shape, "sines", {cosines[0], cosines[1]});
  require_within(positions, cosines[0], "positions");
  const RotateTask task{x.data, positions.data, cosines.data, sines.data, x[1], x[2]};
  const KernelTable& table = kernels();
  execute(x[0], kCheapElement * x.size(), 1, [&](int64_t first, int64_t last) { table.rotate(task, first, last); });
}

void rotary_tables(double theta, nb::handle cosines_array, nb::handle sines_array) {
  const View<float> cosines = output_floats(cosines_array, "cosines", 2);
  const View<float> sines = output_floats(sines_array, "sines", 2);
  require_shape(sines.shape, "sines", {cosines[0], cosines[1]});
  if (!(theta >= 1.0 && theta <= 1e30)) value_error("theta must be within 1 and 1e30");
  fill_rotary_tables(cosines[0], cosines[1], theta, cosines.data, sines.data);
}

void argmax(nb::handle logits_array, nb::handle out_array) {
  const View<const float> logits = floats(logits_array, "logits", 2);
  const View<int32_t> out = output_integers(out_array, "out", 1);
  require_shape(out.shape, "out", {logits[0]});
  if (logits[0] > 0 && logits[1] == 0) value_error("logits must have at least one column");
  const ArgmaxTask task{logits.data, out.data, logits[1]};
  const KernelTable& table = kernels();
  execute(logits[0], kCheapElement * logits.size(), 1,
          [&](int64_t first, int64_t last) { table.argmax(task, first, last); });
}

void run_softmax(nb::handle logits_array, nb::handle out_array, decltype(KernelTable::softmax) KernelTable::*kernel) {
  const View<const float> logits = floats(logits_array, "logits", 2);
  const View<float> out = output_floats(out_array, "out", 2);
  require_shape(out.shape, "out", {logits[0], logits[1]});
  require_same_or_apart(logits, out, "logits and out");
  const SoftmaxTask task{logits.data, out.data, logits[1]};
  const auto run = kernels().*kernel;
  execute(logits[0], kExponentialElement * logits.size(), 1,
          [&](int64_t first, int64_t last) { run(task, first, last); });
}

void softmax(nb::handle logits, nb::handle out) { run_softmax(logits, out, &KernelTable::softmax); }
void log_softmax(nb::handle logits, nb::handle out) { run_softmax(logits, out, &KernelTable::log_softmax); }

}  // namespace

void bind_rows(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def("round_bf16", round_bf16, "x"_a);
  module.def("rms_norm", rms_norm, "x"_a, "weight"_a, "eps"_a, "out"_a);
  module.def("silu_multiply", silu_multiply, "gate_up"_a, "out"_a);
  module.def("rotate", rotate, "x"_a, "positions"_a, "cosines"_a, "sines"_a);
  module.def("rotary_tables", rotary_tables, "theta"_a, "cosines"_a, "sines"_a);
  module.def("argmax", argmax, "logits"_a, "out"_a);
  module.def("softmax", softmax, "logits"_a, "out"_a);
  module.def("log_softmax", log_softmax, "logits"_a, "out"_a);
}

}  // namespace temp0
