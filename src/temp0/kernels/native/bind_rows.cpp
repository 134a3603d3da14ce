// Bindings of the kernels that treat each row by itself.
#include <algorithm>
#include <vector>

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
void require_apart_from(const View<A>& a, const View<B>& b, const char* names) {
  require_apart(a.data, a.size() * 4, b.data, b.size() * 4, names);
}

template <class A, class B>
void require_same_or_apart(const View<A>& a, const View<B>& b, const char* names) {
  if (static_cast<const void*>(a.data) == static_cast<const void*>(b.data) && a.size() == b.size()) return;
  require_apart_from(a, b, names);
}

void round_bf16(nb::handle array) {
  const View<float> x = output_floats(array, "x", -1);
  const KernelTable& table = kernels();
  execute(x.size(), kCheapElement * x.size(), 16,
          [&](int64_t first, int64_t last) { table.round_bf16(x.data, first, last); });
}

void require_eps(double eps) {
  if (!(eps >= 0.0)) value_error("eps must be 0 or more");
}

void rms_norm(nb::handle x_array, nb::handle weight_array, double eps, nb::handle out_array, bool rounded) {
  const View<const float> x = floats(x_array, "x", 2);
  const View<const float> weight = floats(weight_array, "weight", 1);
  const View<float> out = output_floats(out_array, "out", 2);
  require_shape(weight.shape, "weight", {x[1]});
  require_shape(out.shape, "out", {x[0], x[1]});
  require_same_or_apart(x, out, "x and out");
  require_eps(eps);
  const NormTask task{x.data, weight.data, static_cast<float>(eps), out.data, x[1], rounded};
  const KernelTable& table = kernels();
  execute(x[0], kCheapElement * x.size(), 1,
          [&](int64_t first, int64_t last) { table.rms_norm(task, first, last); });
}

void add_rms_norm(nb::handle x_array, nb::handle added_array, nb::handle weight_array, double eps,
                  nb::handle out_array, bool rounded) {
  const View<float> x = output_floats(x_array, "x", 2);
  const View<const float> added = floats(added_array, "added", 2);
  const View<const float> weight = floats(weight_array, "weight", 1);
  const View<float> out = output_floats(out_array, "out", 2);
  require_shape(added.shape, "added", {x[0], x[1]});
  require_shape(weight.shape, "weight", {x[1]});
  require_shape(out.shape, "out", {x[0], x[1]});
  require_apart_from(x, added, "x and added");
  require_apart_from(x, out, "x and out");
  require_apart_from(added, out, "added and out");
  require_eps(eps);
  const AddNormTask task{x.data, added.data, weight.data, static_cast<float>(eps), out.data, x[1], rounded};
  const KernelTable& table = kernels();
  execute(x[0], 2 * kCheapElement * x.size(), 1,
          [&](int64_t first, int64_t last) { table.add_rms_norm(task, first, last); });
}

void silu_multiply(nb::handle gate_up_array, nb::handle out_array, bool rounded) {
  const View<const float> gate_up = floats(gate_up_array, "gate_up", 2);
  const View<float> out = output_floats(out_array, "out", 2);
  if (gate_up[1] % 2 != 0) value_error("gate_up must have an even number of columns: gate, then up");
  require_shape(out.shape, "out", {gate_up[0], gate_up[1] / 2});
  require_apart_from(gate_up, out, "gate_up and out");
  const SiluTask task{gate_up.data, out.data, out[1], rounded};
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

// Tables for heads of that size, in which every position is found.
void require_angles(const View<const float>& cosines, const View<const float>& sines, int64_t head_dim,
                    const View<const int32_t>& positions) {
  require_shape(cosines.shape, "cosines", {-1, head_dim / 2});
  require_shape(sines.shape, "sines", {cosines[0], cosines[1]});
  require_within(positions, cosines[0], "positions");
}

void rotate(nb::handle x_array, nb::handle positions_array, nb::handle cosines_array, nb::handle sines_array) {
  const View<float> x = output_floats(x_array, "x", 3);
  const View<const int32_t> positions = integers(positions_array, "positions", 1);
  const View<const float> cosines = floats(cosines_array, "cosines", 2);
  const View<const float> sines = floats(sines_array, "sines", 2);
  if (x[2] % 2 != 0) value_error("x must have an even head dimension");
  require_shape(positions.shape, "positions", {x[0]});
  require_angles(cosines, sines, x[2], positions);
  const RotateTask task{x.data, positions.data, cosines.data, sines.data, x[1], x[2]};
  const KernelTable& table = kernels();
  execute(x[0], kCheapElement * x.size(), 1, [&](int64_t first, int64_t last) { table.rotate(task, first, last); });
}

// Places exist, and no two rows have one.
void require_places(const View<const int32_t>& places, int64_t limit) {
  require_within(places, limit, "places");
  std::vector<int32_t> sorted(places.data, places.data + places.size());
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) value_error("places has " + std::to_string(*twice) + " more than once");
}

// The weight of a head's norm, or null for None.
const float* norm_of_heads(nb::handle array, const char* name, int64_t head_dim) {
  if (array.is_none()) return nullptr;
  const View<const float> weight = floats(array, name, 1);
  require_shape(weight.shape, name, {head_dim});
  return weight.data;
}

void place_qkv(nb::handle qkv_array, nb::handle places_array, nb::handle positions_array, nb::handle cosines_array,
               nb::handle sines_array, nb::handle query_array, nb::handle keys_array, nb::handle values_array,
               nb::handle query_norm_array, nb::handle key_norm_array, double eps, bool rounded) {
  const View<const float> qkv = floats(qkv_array, "qkv", 2);
  const View<const int32_t> places = integers(places_array, "places", 1);
  const View<const int32_t> positions = integers(positions_array, "positions", 1);
  const View<const float> cosines = floats(cosines_array, "cosines", 2);
  const View<const float> sines = floats(sines_array, "sines", 2);
  const View<float> query = output_floats(query_array, "query", 3);
  const View<float> keys = output_floats(keys_array, "keys", 4);
  const View<float> values = output_floats(values_array, "values", 4);
  const int64_t heads = query[1], kv_heads = keys[2], head_dim = query[2];
  if (head_dim % 2 != 0) value_error("query must have an even head dimension");
  require_shape(query.shape, "query", {qkv[0], -1, -1});
  require_shape(keys.shape, "keys", {-1, -1, -1, head_dim});
  require_shape(values.shape, "values", {keys[0], keys[1], kv_heads, head_dim});
  require_shape(qkv.shape, "qkv", {-1, (heads + 2 * kv_heads) * head_dim});
  require_shape(places.shape, "places", {qkv[0]});
  require_shape(positions.shape, "positions", {qkv[0]});
  require_apart_from(qkv, query, "qkv and query");
  require_apart_from(qkv, keys, "qkv and keys");
  require_apart_from(qkv, values, "qkv and values");
  require_apart_from(query, keys, "query and keys");
  require_apart_from(query, values, "query and values");
  require_apart_from(keys, values, "keys and values");
  require_places(places, keys[0] * keys[1]);
  require_angles(cosines, sines, head_dim, positions);
  require_eps(eps);
  const QkvTask task{qkv.data, places.data, positions.data, cosines.data, sines.data, query.data, keys.data,
                     values.data, norm_of_heads(query_norm_array, "query_norm", head_dim),
                     norm_of_heads(key_norm_array, "key_norm", head_dim), static_cast<float>(eps), heads, kv_heads,
                     head_dim, rounded};
  const KernelTable& table = kernels();
  execute(qkv[0], kCheapElement * qkv.size(), 1,
          [&](int64_t first, int64_t last) { table.place_qkv(task, first, last); });
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
  module.def("rms_norm", rms_norm, "x"_a, "weight"_a, "eps"_a, "out"_a, "rounded"_a);
  module.def("add_rms_norm", add_rms_norm, "x"_a, "added"_a, "weight"_a, "eps"_a, "out"_a, "rounded"_a);
  module.def("silu_multiply", silu_multiply, "gate_up"_a, "out"_a, "rounded"_a);
  module.def("rotate", rotate, "x"_a, "positions"_a, "cosines"_a, "sines"_a);
  module.def("place_qkv", place_qkv, "qkv"_a, "places"_a, "positions"_a, "cosines"_a, "sines"_a, "query"_a, "keys"_a,
             "values"_a, "query_norm"_a.none(), "key_norm"_a.none(), "eps"_a, "rounded"_a);
  module.def("rotary_tables", rotary_tables, "theta"_a, "cosines"_a, "sines"_a);
  module.def("argmax", argmax, "logits"_a, "out"_a);
  module.def("softmax", softmax, "logits"_a, "out"_a);
  module.def("log_softmax", log_softmax, "logits"_a, "out"_a);
}

}  // namespace temp0
