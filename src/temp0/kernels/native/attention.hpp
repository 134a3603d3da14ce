// Attention over a paged cache: a row alone, its grouped-query heads side by side, here; a prompt's rows in
// attention_together.hpp. Alone, memory is the bound: what counts is to read a page from end to end, the next one
// on its way.
//
// Invariant: keys are taken in order of absolute position, in blocks that begin at multiples of 128, whatever the
// page numbers, the page size and the other rows.
#pragma once

#include "attention_together.hpp"
#include "elementwise.hpp"
#include "value_chain.hpp"

namespace temp0 {
namespace {

// Query heads that share one pass over a kv head.
constexpr int kHeadTile = 3;

// One row and those of its kv heads that go together.
struct Row {
  const float* query;
  const int32_t* table;  // this row's pages
  float* out;
  int64_t key_count;     // keys 0 .. key_count-1
  int64_t first_kv_head, kv_heads;
};

// What a row keeps between its passes, a line for each query head.
struct Scratch {
  float* weights;  // [heads][padded keys], scores at first
  float* chains;   // [heads][padded dimensions], one block's values
  float* mixed;    // the same, blocks added up
  float* totals;   // [heads]
  int64_t keys, dimensions;  // padded to whole vectors

  Scratch(const AttentionTask& task, const Row& row, float* memory)
      : keys(whole_vectors(row.key_count)), dimensions(whole_vectors(task.head_dim)) {
    const int64_t heads = task.heads / task.kv_heads * row.kv_heads;
    weights = memory;
    chains = weights + heads * keys;
    mixed = chains + heads * dimensions;
    totals = mixed + heads * dimensions;
  }
};

using Group = Places<kLanes>;

inline KeyWalk walk_of(const AttentionTask& task, const Row& row, const float* cache) {
  return {task, row.table, row.first_kv_head, row.key_count, cache};
}

// Pages lie apart, so the processor's own prefetching ends at each.
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

// Scores of 16 positions: scores[head * stride + i].
template <int HEADS, int VECTORS>
void score_group(const float* heads, int64_t head_dim, const Group& keys, const Group& following, int64_t offset,
                 float* scores, int64_t stride) {
  const Query<HEADS, VECTORS> query(heads, head_dim);
  Lanes sums[HEADS][kLanes];
  for (int i = 0; i < kLanes; ++i) {
    Lanes chains[HEADS];
    for (int head = 0; head < HEADS; ++head) chains[head] = broadcast(0.0f);
    prefetch_head(following.at[i] + offset, head_dim);
    query.meet(keys.at[i] + offset, chains);
    for (int head = 0; head < HEADS; ++head) sums[head][i] = chains[head];
  }
  for (int head = 0; head < HEADS; ++head) store(scores + head * stride, tree_sums(sums[head]));
}

template <int HEADS>
void score_tile(const AttentionTask& task, const float* query, const Group& keys, const Group& following,
                int64_t offset, float* scores, int64_t stride) {
  if (task.head_dim == 4 * kLanes)
    score_group<HEADS, 4>(query, task.head_dim, keys, following, offset, scores, stride);
  else
    score_group<HEADS, 0>(query, task.head_dim, keys, following, offset, scores, stride);
}

// Calls visit(first head, heads, offset of their kv head), heads counted within the row.
template <class Visit>
void for_each_tile(const AttentionTask& task, const Row& row, const Visit& visit) {
  const int64_t group = task.heads / task.kv_heads;
  for (int64_t kv_head = 0; kv_head < row.kv_heads; ++kv_head)
    for (int64_t head = 0; head < group; head += kHeadTile) {
      const int64_t heads = group - head < kHeadTile ? group - head : kHeadTile;
      visit(kv_head * group + head, static_cast<int>(heads), kv_head * task.head_dim);
    }
}

void score_keys(const AttentionTask& task, const Row& row, const Scratch& scratch) {
  KeyWalk walk = walk_of(task, row, task.keys);
  Group keys = walk.next<kLanes>();
  for (int64_t key = 0; key < row.key_count; key += kLanes) {
    const bool is_last = key + kLanes >= row.key_count;
    const Group following = is_last ? walk_of(task, row, task.values).next<kLanes>() : walk.next<kLanes>();
    for_each_tile(task, row, [&](int64_t head, int heads, int64_t offset) {
      const float* query = row.query + head * task.head_dim;
      float* scores = scratch.weights + head * scratch.keys + key;
      switch (heads) {
        case 1: return score_tile<1>(task, query, keys, following, offset, scores, scratch.keys);
        case 2: return score_tile<2>(task, query, keys, following, offset, scores, scratch.keys);
        default: return score_tile<kHeadTile>(task, query, keys, following, offset, scores, scratch.keys);
      }
    });
    keys = following;
  }
}

// Scores become e^(score - highest), zero beyond the last key; returns their sum: lanes within a block, block after
// block, then the tree.
inline float weigh_keys(float* scores, int64_t key_count, int64_t padded, float scale) {
  Lanes best = broadcast(-INFINITY);
  const int last = static_cast<int>(key_count - (padded - kLanes));
  for (int64_t key = 0; key < padded; key += kLanes) {
    store(scores + key, multiply(load(scores + key), broadcast(scale)));
    if (key + kLanes == padded) store(scores + key, load_partial(scores + key, last, -INFINITY));
    best = maximum(best, load(scores + key));
  }
  const Lanes top = broadcast(tree_maximum(best));
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

void mix_values(const AttentionTask& task, const Row& row, const Scratch& scratch) {
  const int64_t floats = task.heads / task.kv_heads * row.kv_heads * scratch.dimensions;
  KeyWalk walk = walk_of(task, row, task.values);
  Group values = walk.next<kLanes>();
  for (int64_t key = 0; key < row.key_count; key += kLanes) {
    if (key % kKeyBlock == 0) begin_block(scratch.chains, floats);
    const Group following = walk.next<kLanes>();
    const int count = static_cast<int>(row.key_count - key < kLanes ? row.key_count - key : kLanes);
    for_each_tile(task, row, [&](int64_t head, int heads, int64_t offset) {
      const Mix mix{scratch.weights + head * scratch.keys + key, scratch.keys, 1,
                    scratch.chains + head * scratch.dimensions, scratch.dimensions, values.at, following.at, offset,
                    count};
      switch (heads) {
        case 1: return lengthen_chains<1, true>(mix, task.head_dim);
        case 2: return lengthen_chains<2, true>(mix, task.head_dim);
        default: return lengthen_chains<kHeadTile, true>(mix, task.head_dim);
      }
    });
    const int64_t come = key + kLanes;
    if (come % kKeyBlock == 0 || come >= row.key_count)
      end_block(scratch.chains, scratch.mixed, floats, key < kKeyBlock);
    values = following;
  }
}

void attend(const AttentionTask& task, const Row& row, float* memory) {
  const Scratch scratch(task, row, memory);
  const float scale = static_cast<float>(1.0 / sqrt(static_cast<double>(task.head_dim)));
  const int64_t heads = task.heads / task.kv_heads * row.kv_heads;
  score_keys(task, row, scratch);
  for (int64_t head = 0; head < heads; ++head)
    scratch.totals[head] = weigh_keys(scratch.weights + head * scratch.keys, row.key_count, scratch.keys, scale);
  mix_values(task, row, scratch);
  for (int64_t head = 0; head < heads; ++head)
    write_head(task, scratch.mixed + head * scratch.dimensions, scratch.totals[head], row.out + head * task.head_dim);
}

void attend_alone(const AttentionTask& task, int64_t row, int64_t kv_head, int64_t kv_heads, float* scratch) {
  const int64_t offset = (row * task.heads + kv_head * (task.heads / task.kv_heads)) * task.head_dim;
  const int32_t* table = task.tables + task.rows[row] * task.table_width;
  attend(task, {task.query + offset, table, task.out + offset, task.positions[row] + 1, kv_head, kv_heads}, scratch);
}

void attend_block(const AttentionTask& task, int64_t first_row, int64_t rows, int64_t kv_head, float* scratch) {
  const int64_t group = task.heads / task.kv_heads;
  const int64_t offset = (first_row * task.heads + kv_head * group) * task.head_dim;
  const int32_t* table = task.tables + task.rows[first_row] * task.table_width;
  const int32_t* positions = task.positions + first_row;
  int64_t key_count = 0;
  for (int64_t row = 0; row < rows; ++row) key_count = positions[row] < key_count ? key_count : positions[row] + 1;
  attend_together(task, {task.query + offset, table, positions, task.out + offset, rows, kv_head, group, key_count},
                  scratch);
}

// Task number: block * kv heads + kv head, so that the kv heads of a row, whose keys lie side by side, go together.
void attention(const AttentionTask& task, float* scratch, int64_t first, int64_t last) {
  for (int64_t number = first; number < last;) {
    const int64_t block = number / task.kv_heads, kv_head = number % task.kv_heads;
    const int64_t row = task.blocks[block], rows = task.blocks[block + 1] - row;
    const int64_t left = task.kv_heads - kv_head;
    const int64_t kv_heads = rows > 1 ? 1 : last - number < left ? last - number : left;
    if (rows > 1)
      attend_block(task, row, rows, kv_head, scratch);
    else
      attend_alone(task, row, kv_head, kv_heads, scratch);
    number += kv_heads;
  }
}

}  // namespace
}  // namespace temp0
