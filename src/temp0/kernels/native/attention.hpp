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

// A tile of query heads in registers, where VECTORS of 16 dimensions make a head.
template <int HEADS, int VECTORS>
struct Query {
  Lanes part[HEADS][VECTORS];

  Query(const float* heads, int64_t head_dim) {
    for (int head = 0; head < HEADS; ++head)
      for (int i = 0; i < VECTORS; ++i) part[head][i] = load(heads + head * head_dim + i * kLanes);
  }

  // Lane partial sums of each head with one key.
  void meet(const float* key, Lanes (&chains)[HEADS]) const {
    for (int i = 0; i < VECTORS; ++i) {
      const Lanes dimensions = load(key + i * kLanes);
      for (int head = 0; head < HEADS; ++head) chains[head] = multiply_add(part[head][i], dimensions, chains[head]);
    }
  }
};

// The same for any other head dimension, out of memory.
template <int HEADS>
struct Query<HEADS, 0> {
  const float* heads;
  int64_t head_dim;

  Query(const float* from, int64_t dimensions) : heads(from), head_dim(dimensions) {}

  void meet(const float* key, Lanes (&chains)[HEADS]) const {
    for (int64_t i = 0; i < head_dim; i += kLanes) {
      const int count = static_cast<int>(head_dim - i < kLanes ? head_dim - i : kLanes);
      const Lanes dimensions = load_partial(key + i, count, 0.0f);
      for (int head = 0; head < HEADS; ++head)
        chains[head] = multiply_add(load_partial(heads + head * head_dim + i, count, 0.0f), dimensions, chains[head]);
    }
  }
};

// scores[head][key], padded with -infinity to a multiple of 16 keys; the highest score of each head.
template <int HEADS, int VECTORS>
void score_keys(const AttentionTask& task, const Row& row, float* scores, int64_t padded, float scale,
                float (&highest)[HEADS]) {
  Cursor cursor(task, row, task.keys);
  Group keys = cursor.next();
  const Query<HEADS, VECTORS> query(row.query, task.head_dim);
  Lanes best[HEADS];
  for (int head = 0; head < HEADS; ++head) best[head] = broadcast(-INFINITY);
  for (int64_t key = 0; key < padded; key += kLanes) {
    Lanes sums[HEADS][kLanes];
    const Group following = cursor.next();
    for (int i = 0; i < kLanes; ++i) {
      Lanes chains[HEADS];
      for (int head = 0; head < HEADS; ++head) chains[head] = broadcast(0.0f);
      prefetch_head(following.at[i], task.head_dim);
      query.meet(keys.at[i], chains);
      for (int head = 0; head < HEADS; ++head) sums[head][i] = chains[head];
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

// One vector of a row, or its first `count` elements.
template <bool IS_WHOLE>
inline Lanes load_some(const float* from, int count) {
  return IS_WHOLE ? load(from) : load_partial(from, count, 0.0f);
}

template <bool IS_WHOLE>
inline void store_some(float* to, Lanes value, int count) {
  IS_WHOLE ? store(to, value) : store_partial(to, value, count);
}

// The columns of values that are mixed at once: whole vectors, or one of `count` columns.
struct Columns {
  int64_t first;
  int count;
};

// out[head] gains the chain over one block of positions; the first block begins it.
template <int HEADS, int VECTORS, bool IS_WHOLE>
void chain_values(Cursor& cursor, int64_t count, const float* weights, int64_t padded, const Columns& columns,
                  bool is_first, float* out, int64_t head_dim) {
  Lanes sums[HEADS][VECTORS];
  for (int head = 0; head < HEADS; ++head)
    for (int i = 0; i < VECTORS; ++i) sums[head][i] = broadcast(0.0f);
  for (int64_t key = 0; key < count; key += kLanes) {
    const Group values = cursor.next();
    const int in_group = static_cast<int>(count - key < kLanes ? count - key : kLanes);
    for (int i = 0; i < in_group; ++i) {
      const float* value = values.at[i] + columns.first;
      Lanes part[VECTORS];
      for (int j = 0; j < VECTORS; ++j) part[j] = load_some<IS_WHOLE>(value + j * kLanes, columns.count);
      for (int head = 0; head < HEADS; ++head) {
        const Lanes weight = broadcast(weights[head * padded + key + i]);
        for (int j = 0; j < VECTORS; ++j) sums[head][j] = multiply_add(weight, part[j], sums[head][j]);
      }
    }
  }
  for (int head = 0; head < HEADS; ++head)
    for (int j = 0; j < VECTORS; ++j) {
      float* to = out + head * head_dim + columns.first + j * kLanes;
      const Lanes earlier = load_some<IS_WHOLE>(to, columns.count);
      store_some<IS_WHOLE>(to, is_first ? sums[head][j] : add(earlier, sums[head][j]), columns.count);
    }
}

template <int HEADS, int VECTORS, bool IS_WHOLE>
void mix_values(const AttentionTask& task, const Row& row, const float* weights, int64_t padded,
                const float (&totals)[HEADS], const Columns& columns) {
  Cursor cursor(task, row, task.values);
  for (int64_t block = 0; block < row.key_count; block += kKeyBlock) {
    const int64_t count = block + kKeyBlock < row.key_count ? kKeyBlock : row.key_count - block;
    chain_values<HEADS, VECTORS, IS_WHOLE>(cursor, count, weights + block, padded, columns, block == 0, row.out,
                                           task.head_dim);
  }
  for (int head = 0; head < HEADS; ++head)
    for (int i = 0; i < VECTORS; ++i) {
      float* to = row.out + head * task.head_dim + columns.first + i * kLanes;
      const Lanes mixed = load_some<IS_WHOLE>(to, columns.count);
      store_some<IS_WHOLE>(to, rounded_if(task.is_rounded, divide(mixed, broadcast(totals[head]))), columns.count);
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
  Columns columns{0, kLanes};
  for (; columns.first + kValueVectors * kLanes <= task.head_dim; columns.first += kValueVectors * kLanes)
    mix_values<HEADS, kValueVectors, true>(task, row, scratch, padded, totals, columns);
  for (; columns.first + kLanes <= task.head_dim; columns.first += kLanes)
    mix_values<HEADS, 1, true>(task, row, scratch, padded, totals, columns);
  columns.count = static_cast<int>(task.head_dim - columns.first);
  if (columns.count > 0) mix_values<HEADS, 1, false>(task, row, scratch, padded, totals, columns);
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
