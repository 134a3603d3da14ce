// Binding of attention over a paged cache.
#include <algorithm>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "execution.hpp"
#include "path.hpp"

namespace temp0 {
namespace {

struct Cache {
  View<const float> keys, values;
  View<const int32_t> tables;

  int64_t page_size() const { return keys[1]; }
};

Cache checked_cache(nb::handle keys_array, nb::handle values_array, nb::handle tables_array, int64_t head_dim) {
  const Cache cache{floats(keys_array, "keys", 4), floats(values_array, "values", 4),
                    integers(tables_array, "tables", 2)};
  const View<const float>& keys = cache.keys;
  require_shape(keys.shape, "keys", {-1, -1, -1, head_dim});
  require_shape(cache.values.shape, "values", {keys[0], keys[1], keys[2], head_dim});
  if (keys[1] == 0 || keys[2] == 0) value_error("keys must have pages of at least one position and one kv head");
  return cache;
}

// Every page that a row will read must exist. Returns the longest count of keys.
int64_t checked_reach(const Cache& cache, const View<const int32_t>& rows, const View<const int32_t>& positions) {
  std::vector<int64_t> reach(static_cast<size_t>(cache.tables[0]), 0);
  const int64_t capacity = cache.tables[1] * cache.page_size();
  for (int64_t i = 0; i < rows.size(); ++i) {
    const int64_t row = rows.data[i], position = positions.data[i];
    if (row < 0 || row >= cache.tables[0])
      value_error("rows[" + std::to_string(i) + "] is " + std::to_string(row) + ", but tables has " +
                  std::to_string(cache.tables[0]) + " rows");
    if (position < 0 || position >= capacity)
      value_error("positions[" + std::to_string(i) + "] is " + std::to_string(position) +
                  ", but a table holds positions 0 to " + std::to_string(capacity - 1));
    reach[row] = std::max(reach[row], position + 1);
  }
  for (int64_t row = 0; row < cache.tables[0]; ++row)
    for (int64_t page = 0; page * cache.page_size() < reach[row]; ++page) {
      const int64_t number = cache.tables.data[row * cache.tables[1] + page];
      if (number < 0 || number >= cache.keys[0])
        value_error("tables[" + std::to_string(row) + ", " + std::to_string(page) + "] is " + std::to_string(number) +
                    ", but keys has " + std::to_string(cache.keys[0]) + " pages");
    }
  return reach.empty() ? 0 : *std::max_element(reach.begin(), reach.end());
}

// Fewer rows of one table than this are quicker one at a time.
constexpr int64_t kFewestTogether = 12;

// The first row of each block, then the count of rows.
std::vector<int32_t> row_blocks(const View<const int32_t>& rows) {
  std::vector<int32_t> blocks;
  for (int64_t row = 0; row < rows.size();) {
    int64_t end = row + 1;
    while (end < rows.size() && end < row + kRowsOfBlock && rows.data[end] == rows.data[row]) ++end;
    const int64_t step = end - row < kFewestTogether ? 1 : end - row;
    for (; row < end; row += step) blocks.push_back(static_cast<int32_t>(row));
  }
  blocks.push_back(static_cast<int32_t>(rows.size()));
  return blocks;
}

double nanoseconds(const AttentionTask& task) {
  double keys = 0;
  for (int64_t row = 0; row < task.row_count; ++row) keys += task.positions[row] + 1;
  return keys * static_cast<double>(task.heads * task.head_dim) * 0.05;
}

void attention(nb::handle query_array, nb::handle keys_array, nb::handle values_array, nb::handle tables_array,
               nb::handle rows_array, nb::handle positions_array, nb::handle out_array, bool rounded) {
  const View<const float> query = floats(query_array, "query", 3);
  const Cache cache = checked_cache(keys_array, values_array, tables_array, query[2]);
  const View<const int32_t> rows = integers(rows_array, "rows", 1);
  const View<const int32_t> positions = integers(positions_array, "positions", 1);
  const View<float> out = output_floats(out_array, "out", 3);
  const int64_t kv_heads = cache.keys[2];
  require_shape(rows.shape, "rows", {query[0]});
  require_shape(positions.shape, "positions", {query[0]});
  require_shape(out.shape, "out", {query[0], query[1], query[2]});
  if (query[1] % kv_heads != 0) value_error("query must have a multiple of the kv heads");
  require_apart(query.data, query.size() * 4, out.data, out.size() * 4, "query and out");
  const int64_t scratch = attention_scratch(query[1], kv_heads, query[2], checked_reach(cache, rows, positions));
  const std::vector<int32_t> blocks = row_blocks(rows);
  const AttentionTask task{query.data, cache.keys.data, cache.values.data, cache.tables.data, rows.data,
                           positions.data, blocks.data(), out.data, query[0], query[1], kv_heads, query[2],
                           cache.page_size(), cache.tables[1], rounded};
  const KernelTable& table = kernels();
  const int64_t tasks = (static_cast<int64_t>(blocks.size()) - 1) * kv_heads;
  execute(tasks, nanoseconds(task), 1, [&](int64_t first, int64_t last) {
    table.attention(task, thread_scratch(scratch), first, last);
  });
}

}  // namespace

void bind_attention(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def("attention", attention, "query"_a, "keys"_a, "values"_a, "tables"_a, "rows"_a, "positions"_a, "out"_a,
             "rounded"_a);
}

}  // namespace temp0
