// Attention of one row over its own keys in a paged cache, grouped-query heads side by side.
//
// Invariant: keys are taken in order of absolute position, in blocks that begin at multiples of 128, whatever the
// page numbers, the page size and the other rows.
#pragma once

#include "elementwise.hpp"
#include "kernel_table.hpp"

namespace temp0 {
namespace {

// Heads that share one pass over the keys.
constexpr int kHeadTile = 3;

struct Row {
  const float* query;      // first head of the tile
  const int32_t* table;    // this row's pages
  float* out;
  int64_t key_count;       // keys 0 .. key_count-1
  int64_t kv_head;
};

// Walks the keys of one kv head in order of position.
class Cursor {
 public:
  Cursor(const AttentionTask& task, const Row& row, const float* cache)
      : table_(row.table),
        cache_(cache + row.kv_head * task.head_dim),
        page_size_(task.page_size),
        stride_(task.kv_heads * task.head_dim) {
    open_page();
  }

  const float* next() {
    if (left_ == 0) open_page();
    const float* key = key_;
    key_ += stride_;
    --left_;
    return key;
  }

 private:
  void open_page() {
    key_ = cache_ + static_cast<int64_t>(*table_++) * page_size_ * stride_;
    left_ = page_size_;
  }

  const int32_t* table_;
  const float* cache_;
  const float* key_ = nullptr;
  int64_t page_size_, stride_, left_ = 0;
};

// Lane partial sums of query . key for a tile of heads; VECTORS of 16 dimensions, or 0 for any head_dim.
template <int HEADS, int VECTORS>
inline void partial_scores(const float* query, const float* key, int64_t head_dim, Lanes (&sums)[HEADS]) {
  const int64_t whole = VECTORS > 0 ? VECTORS * kLanes : head_dim / kLanes * kLanes;
  for (int head = 0; head < HEADS; ++head) sums[head] = broadcast(0.0f);
  for (int64_t i = 0; i < whole; i += kLanes) {
    const Lanes part = load(key + i);
    for (int head = 0; head < HEADS; ++head)
      sums[head] = multiply_add(load(query + head * head_dim + i), part, sums[head]);
  }
  if (VECTORS > 0 || whole == head_dim) return;
  const int rest = static_cast<int>(head_dim - whole);
  const Lanes part = load_partial(key + whole, rest, 0.0f);
  for (int head = 0; head < HEADS; ++head)
    sums[head] = multiply_add(load_partial(query + head * head_dim + whole, rest, 0.0f), part, sums[head]);
}

// scores[head][key], padded with -infinity to a multiple of 16 keys; the highest score of each head.
template <int HEADS, int VECTORS>
inline void score_keys(const AttentionTask& task, const Row& row, float* scores, int64_t padded, float scale,
                       float (&highest)[HEADS]) {
  Cursor keys(task, row, task.keys);
  Lanes best[HEADS];
  for (int head = 0; head < HEADS; ++head) best[head] = broadcast(-INFINITY);
  for (int64_t key = 0; key < padded; key += kLanes) {
    Lanes sums[HEADS][kLanes];
    const int count = static_cast<int>(row.key_count - key < kLanes ? row.key_count - key : kLanes);
    for (int i = 0; i < kLanes; ++i) {
      Lanes one[HEADS];
      if (i < count) partial_scores<HEADS, VECTORS>(row.query, keys.next(), task.head_dim, one);
      for (int head = 0; head < HEADS; ++head) sums[head][i] = i < count ? one[head] : broadcast(0.0f);
    }
    for (int head = 0; head < HEADS; ++head) {
      Lanes score = multiply(tree_sums(sums[head]), broadcast(scale));
      if (count < kLanes) {
        store(scores + head * padded + key, score);
        score = load_partial(scores + head * padded + key, count, -INFINITY);
      }
      store(scores + head * padded + key, score);
      best[head] = maximum(best[head], score);
    }
  }
  for (int head = 0; head < HEADS; ++head) highest[head] = tree_maximum(best[head]);
}

// Scores become e^(score - highest); returns their sum: lanes within a block, block after block, then the tree.
inline float weigh_keys(float* scores, int64_t padded, float highest) {
  const Lanes top = broadcast(highest);
  Lanes total = broadcast(0.0f);
  for (int64_t block = 0; block < padded; block += kKeyBlock) {
    const int64_t end = block + kKeyBlock < padded ? block + kKeyBlock : padded;
    Lanes sum = broadcast(0.0f);
    for (int64_t key = block; key < end; key += kLanes) {
      const Lanes weight = exponential(subtract(load(scores + key), top));
      store(scores + key, weight);
      sum = add(sum, weight);
    }
    total = add(total, sum);
  }
  return tree_sum(total);
}

// COLUMNS vectors of 16 value columns, or one partial vector of `rest` columns.
template <int HEADS, int COLUMNS>
inline void mix_values(const AttentionTask& task, const Row& row, const float* weights, int64_t padded,
                       const float (&totals)[HEADS], int64_t column, int rest) {
  const auto load_values = [&](const float* from) {
    return rest == kLanes ? load(from) : load_partial(from, rest, 0.0f);
  };
  Cursor values(task, row, task.values);
  Lanes mixed[HEADS][COLUMNS];
  for (int head = 0; head < HEADS; ++head)
    for (int i = 0; i < COLUMNS; ++i) mixed[head][i] = broadcast(0.0f);
  for (int64_t block = 0; block < row.key_count; block += kKeyBlock) {
    const int64_t end = block + kKeyBlock < row.key_count ? block + kKeyBlock : row.key_count;
    Lanes sum[HEADS][COLUMNS];
    for (int head = 0; head < HEADS; ++head)
      for (int i = 0; i < COLUMNS; ++i) sum[head][i] = broadcast(0.0f);
    for (int64_t key = block; key < end; ++key) {
      const float* value = values.next() + column;
      Lanes part[COLUMNS];
      for (int i = 0; i < COLUMNS; ++i) part[i] = load_values(value + i * kLanes);
      for (int head = 0; head < HEADS; ++head) {
        const Lanes weight = broadcast(weights[head * padded + key]);
        for (int i = 0; i < COLUMNS; ++i) sum[head][i] = multiply_add(weight, part[i], sum[head][i]);
      }
    }
    for (int head = 0; head < HEADS; ++head)
      for (int i = 0; i < COLUMNS; ++i) mixed[head][i] = add(mixed[head][i], sum[head][i]);
  }
  for (int head = 0; head < HEADS; ++head) {
    float* out = row.out + head * task.head_dim + column;
    for (int i = 0; i < COLUMNS; ++i) {
      const Lanes result = divide(mixed[head][i], broadcast(totals[head]));
      rest == kLanes ? store(out + i * kLanes, result) : store_partial(out + i * kLanes, result, rest);
    }
  }
}

template <int HEADS>
void attend(const AttentionTask& task, const Row& row, float* scratch) {
  const int64_t padded = (row.key_count + kLanes - 1) / kLanes * kLanes;
  const float scale = static_cast<float>(1.0 / sqrt(static_cast<double>(task.head_dim)));
  float totals[HEADS];
  if (task.head_dim == 4 * kLanes)
    score_keys<HEADS, 4>(task, row, scratch, padded, scale, totals);
  else
    score_keys<HEADS, 0>(task, row, scratch, padded, scale, totals);
  for (int head = 0; head < HEADS; ++head)
    totals[head] = weigh_keys(scratch + head * padded, padded, totals[head]);
  int64_t column = 0;
  for (; column + kValueVectors * kLanes <= task.head_dim; column += kValueVectors * kLanes)
    mix_values<HEADS, kValueVectors>(task, row, scratch, padded, totals, column, kLanes);
  for (; column < task.head_dim; column += kLanes) {
    const int64_t rest = task.head_dim - column < kLanes ? task.head_dim - column : kLanes;
    mix_values<HEADS, 1>(task, row, scratch, padded, totals, column, static_cast<int>(rest));
  }
}

void attend_tile(int heads, const AttentionTask& task, const Row& row, float* scratch) {
  switch (heads) {
    case 1: return attend<1>(task, row, scratch);
    case 2: return attend<2>(task, row, scratch);
    default: return attend<kHeadTile>(task, row, scratch);
  }
}

// Task number: kv head * rows + row, so that neighbours read the same keys.
void attention(const AttentionTask& task, float* scratch, int64_t first, int64_t last) {
  const int64_t group = task.heads / task.kv_heads;
  for (int64_t number = first; number < last; ++number) {
    const int64_t kv_head = number / task.row_count, row = number % task.row_count;
    for (int64_t head = 0; head < group; head += kHeadTile) {
      const int64_t offset = (row * task.heads + kv_head * group + head) * task.head_dim;
      const int64_t heads = group - head < kHeadTile ? group - head : kHeadTile;
      const int32_t* table = task.tables + task.rows[row] * task.table_width;
      attend_tile(static_cast<int>(heads), task,
                  {task.query + offset, table, task.out + offset, task.positions[row] + 1, kv_head}, scratch);
    }
  }
}

}  // namespace
}  // namespace temp0
