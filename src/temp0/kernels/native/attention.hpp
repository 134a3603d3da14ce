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

// Where 16 consecutive positions lie; beyond the last one its address is repeated.
struct Group {
  const float* at[kLanes];
};

// Walks one kv head of a cache in order of position.
class Cursor {
 public:
  Cursor(const AttentionTask& task, const Row& row, const float* cache)
      : table_(row.table),
        cache_(cache + row.kv_head * task.head_dim),
        page_size_(task.page_size),
        stride_(task.kv_heads * task.head_dim),
        to_come_(row.key_count) {}

  Group next() {
    Group group;
    for (int i = 0; i < kLanes; ++i) {
      if (to_come_ > 0) advance();
      group.at[i] = here_;
    }
    return group;
  }

 private:
  void advance() {
    if (left_in_page_ == 0) {
      here_ = cache_ + static_cast<int64_t>(*table_++) * page_size_ * stride_;
      left_in_page_ = page_size_;
    } else {
      here_ += stride_;
    }
    --left_in_page_;
    --to_come_;
  }

  const int32_t* table_;
  const float* cache_;
  const float* here_ = nullptr;
  int64_t page_size_, stride_, to_come_, left_in_page_ = 0;
};

// Rows of a cache lie apart, in pieces too short for the processor's own prefetching.
inline void prefetch_head(const float* head, int64_t head_dim) {
  for (int64_t i = 0; i < head_dim; i += kLanes) prefetch(head + i);
}

// Lane partial sums of query . key for a tile of heads; VECTORS of 16 dimensions, or 0 for any head_dim.
template <int HEADS, int VECTORS>
inline void partial_scores(const float* query, const float* key, int64_t head_dim, Lanes (&sums)[HEADS][kLanes],
                           int lane) {
  const int64_t whole = VECTORS > 0 ? VECTORS * kLanes : head_dim / kLanes * kLanes;
  Lanes chains[HEADS];
  for (int head = 0; head < HEADS; ++head) chains[head] = broadcast(0.0f);
  for (int64_t i = 0; i < whole; i += kLanes) {
    const Lanes part = load(key + i);
    for (int head = 0; head < HEADS; ++head)
      chains[head] = multiply_add(load(query + head * head_dim + i), part, chains[head]);
  }
  if (VECTORS == 0 && whole < head_dim) {
    const int rest = static_cast<int>(head_dim - whole);
    const Lanes part = load_partial(key + whole, rest, 0.0f);
    for (int head = 0; head < HEADS; ++head)
      chains[head] = multiply_add(load_partial(query + head * head_dim + whole, rest, 0.0f), part, chains[head]);
  }
  for (int head = 0; head < HEADS; ++head) sums[head][lane] = chains[head];
}

// scores[head][key], padded with -infinity to a multiple of 16 keys; the highest score of each head.
template <int HEADS, int VECTORS>
inline void score_keys(const AttentionTask& task, const Row& row, float* scores, int64_t padded, float scale,
                       float (&highest)[HEADS]) {
  Cursor cursor(task, row, task.keys);
  Group keys = cursor.next();
  Lanes best[HEADS];
  for (int head = 0; head < HEADS; ++head) best[head] = broadcast(-INFINITY);
  for (int64_t key = 0; key < padded; key += kLanes) {
    Lanes sums[HEADS][kLanes];
    const Group following = cursor.next();
    for (int i = 0; i < kLanes; ++i) {
      prefetch_head(following.at[i], task.head_dim);
      partial_scores<HEADS, VECTORS>(row.query, keys.at[i], task.head_dim, sums, i);
    }
    keys = following;
    const int count = static_cast<int>(row.key_count - key < kLanes ? row.key_count - key : kLanes);
    for (int head = 0; head < HEADS; ++head) {
      float* to = scores + head * padded + key;
      store(to, multiply(tree_sums(sums[head]), broadcast(scale)));
      if (count < kLanes) store(to, load_partial(to, count, -INFINITY));
      best[head] = maximum(best[head], load(to));
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

// Vectors of value columns, whole, or a single one of `rest` columns.
template <bool IS_WHOLE>
inline Lanes load_values(const float* from, int rest) {
  return IS_WHOLE ? load(from) : load_partial(from, rest, 0.0f);
}

template <int HEADS, int COLUMNS>
inline void clear(Lanes (&sums)[HEADS][COLUMNS]) {
  for (int head = 0; head < HEADS; ++head)
    for (int i = 0; i < COLUMNS; ++i) sums[head][i] = broadcast(0.0f);
}

// The chain over one block of positions.
template <int HEADS, int COLUMNS, bool IS_WHOLE>
inline void chain_values(Cursor& cursor, Group& values, int64_t count, const float* weights, int64_t padded,
                         int64_t column, int rest, Lanes (&sums)[HEADS][COLUMNS]) {
  clear(sums);
  for (int64_t key = 0; key < count; key += kLanes) {
    const Group following = cursor.next();
    const int in_group = static_cast<int>(count - key < kLanes ? count - key : kLanes);
    for (int i = 0; i < in_group; ++i) {
      prefetch_head(following.at[i] + column, COLUMNS * kLanes);
      Lanes part[COLUMNS];
      for (int j = 0; j < COLUMNS; ++j) part[j] = load_values<IS_WHOLE>(values.at[i] + column + j * kLanes, rest);
      for (int head = 0; head < HEADS; ++head) {
        const Lanes weight = broadcast(weights[head * padded + key + i]);
        for (int j = 0; j < COLUMNS; ++j) sums[head][j] = multiply_add(weight, part[j], sums[head][j]);
      }
    }
    values = following;
  }
}

// Columns of the result from `column` on.
template <int HEADS, int COLUMNS, bool IS_WHOLE>
inline void mix_values(const AttentionTask& task, const Row& row, const float* weights, int64_t padded,
                       const float (&totals)[HEADS], int64_t column, int rest) {
  Cursor cursor(task, row, task.values);
  Group values = cursor.next();
  Lanes mixed[HEADS][COLUMNS];
  clear(mixed);
  for (int64_t block = 0; block < row.key_count; block += kKeyBlock) {
    const int64_t count = block + kKeyBlock < row.key_count ? kKeyBlock : row.key_count - block;
    Lanes sums[HEADS][COLUMNS];
    chain_values<HEADS, COLUMNS, IS_WHOLE>(cursor, values, count, weights + block, padded, column, rest, sums);
    for (int head = 0; head < HEADS; ++head)
      for (int i = 0; i < COLUMNS; ++i) mixed[head][i] = add(mixed[head][i], sums[head][i]);
  }
  for (int head = 0; head < HEADS; ++head) {
    float* out = row.out + head * task.head_dim + column;
    for (int i = 0; i < COLUMNS; ++i) {
      const Lanes result = divide(mixed[head][i], broadcast(totals[head]));
      IS_WHOLE ? store(out + i * kLanes, result) : store_partial(out + i * kLanes, result, rest);
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
    mix_values<HEADS, kValueVectors, true>(task, row, scratch, padded, totals, column, kLanes);
  for (; column + kLanes <= task.head_dim; column += kLanes)
    mix_values<HEADS, 1, true>(task, row, scratch, padded, totals, column, kLanes);
  const int rest = static_cast<int>(task.head_dim - column);
  if (rest > 0) mix_values<HEADS, 1, false>(task, row, scratch, padded, totals, column, rest);
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
