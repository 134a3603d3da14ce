// Attention of up to 16 rows of one request: each lane is a row, so that a key is read once for all of them.
//
// Invariant: a lane performs the operations of its row alone, in the documented order; what other lanes hold, and
// keys beyond its own last one, reach none of its sums.
#pragma once

#include "elementwise.hpp"
#include "value_chain.hpp"

namespace temp0 {
namespace {

struct Together {
  const float* query;    // first row, first head of the kv head
  const int32_t* table;
  const int32_t* positions;
  float* out;
  int64_t rows, kv_head, group;
  int64_t key_count;     // of the row that reaches furthest
};

struct TogetherScratch {
  float* turned;   // [group][dimension][lane]
  float* weights;  // [group][key][lane], scores at first
  float* chains;   // [lane][padded dimensions]
  float* mixed;    // [group][lane][padded dimensions]
  float* totals;   // [group][lane]
  int64_t keys, dimensions;

  TogetherScratch(const AttentionTask& task, const Together& rows, float* memory)
      : keys(whole_vectors(rows.key_count)), dimensions(whole_vectors(task.head_dim)) {
    turned = memory;
    weights = turned + rows.group * dimensions * kLanes;
    mixed = weights + rows.group * keys * kLanes;
    totals = mixed + rows.group * dimensions * kLanes;
    chains = totals + rows.group * kLanes;
  }
};

inline void turn_query(const AttentionTask& task, const Together& rows, int64_t head, float* turned) {
  for (int64_t i = 0; i < task.head_dim * kLanes; i += kLanes) store(turned + i, broadcast(0.0f));
  for (int64_t row = 0; row < rows.rows; ++row) {
    const float* query = rows.query + (row * task.heads + head) * task.head_dim;
    for (int64_t i = 0; i < task.head_dim; ++i) turned[i * kLanes + row] = query[i];
  }
}

template <int KEYS>
struct Sums {
  Lanes of[KEYS];
};

// The halving tree, where what elsewhere is lane FIRST of the WIDTH lanes left is here a vector of its own.
template <int KEYS, int FIRST, int WIDTH>
struct Tree {
  static inline Sums<KEYS> sums(const float* turned, const float* const* keys, int64_t head_dim) {
    Sums<KEYS> left = Tree<KEYS, FIRST, WIDTH * 2>::sums(turned, keys, head_dim);
    const Sums<KEYS> right = Tree<KEYS, FIRST + WIDTH, WIDTH * 2>::sums(turned, keys, head_dim);
    for (int key = 0; key < KEYS; ++key) left.of[key] = add(left.of[key], right.of[key]);
    return left;
  }
};

// Dimensions FIRST, FIRST + 16, ...
template <int KEYS, int FIRST>
struct Tree<KEYS, FIRST, kLanes> {
  static inline Sums<KEYS> sums(const float* turned, const float* const* keys, int64_t head_dim) {
    Sums<KEYS> chains;
    for (int key = 0; key < KEYS; ++key) chains.of[key] = broadcast(0.0f);
    for (int64_t i = FIRST; i < head_dim; i += kLanes) {
      const Lanes rows = load(turned + i * kLanes);
      for (int key = 0; key < KEYS; ++key)
        chains.of[key] = multiply_add(rows, broadcast(keys[key][i]), chains.of[key]);
    }
    return chains;
  }
};

// Places repeat the last key, so that the last few scores may be of no key.
template <int HEAD_DIM>
void score_block(const float* turned, const float* const* keys, int64_t count, int64_t head_dim, float scale,
                 float* scores) {
  for (int64_t key = 0; key < count; key += kKeysTogether) {
    const Sums<kKeysTogether> sums =
        Tree<kKeysTogether, 0, 1>::sums(turned, keys + key, HEAD_DIM > 0 ? HEAD_DIM : head_dim);
    for (int i = 0; i < kKeysTogether; ++i)
      store(scores + (key + i) * kLanes, multiply(sums.of[i], broadcast(scale)));
  }
}

void score_together(const AttentionTask& task, const Together& rows, const TogetherScratch& scratch) {
  const float scale = static_cast<float>(1.0 / sqrt(static_cast<double>(task.head_dim)));
  KeyWalk walk(task, rows.table, rows.kv_head, rows.key_count, task.keys);
  for (int64_t block = 0; block < rows.key_count; block += kKeyBlock) {
    const Places<kKeyBlock> keys = walk.next<kKeyBlock>();
    const int64_t count = scratch.keys - block < kKeyBlock ? scratch.keys - block : kKeyBlock;
    for (int64_t head = 0; head < rows.group; ++head) {
      const float* turned = scratch.turned + head * scratch.dimensions * kLanes;
      float* scores = scratch.weights + (head * scratch.keys + block) * kLanes;
      if (task.head_dim == 4 * kLanes)
        score_block<4 * kLanes>(turned, keys.at, count, task.head_dim, scale, scores);
      else
        score_block<0>(turned, keys.at, count, task.head_dim, scale, scores);
    }
  }
}

// Scores of keys that a row does not have.
inline void hide_later_keys(const Together& rows, int64_t keys, float* scores) {
  for (int64_t row = 0; row < rows.rows; ++row)
    for (int64_t key = rows.positions[row] + 1; key < keys; ++key) scores[key * kLanes + row] = -INFINITY;
}

// Scores become weights. Lane j of the documented order is the j-th of 16 vectors here.
inline Lanes weigh_together(float* scores, int64_t keys) {
  Lanes top = broadcast(-INFINITY), totals[kLanes];
  for (int64_t key = 0; key < keys; ++key) top = maximum(top, load(scores + key * kLanes));
  for (Lanes& total : totals) total = broadcast(0.0f);
  for (int64_t block = 0; block < keys; block += kKeyBlock) {
    const int64_t end = block + kKeyBlock < keys ? block + kKeyBlock : keys;
    for (int j = 0; j < kLanes; ++j) {
      Lanes sum = broadcast(0.0f);
      for (int64_t key = block + j; key < end; key += kLanes) {
        const Lanes weight = exponential(subtract(load(scores + key * kLanes), top));
        store(scores + key * kLanes, weight);
        sum = add(sum, weight);
      }
      totals[j] = add(totals[j], sum);
    }
  }
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int j = 0; j < width; ++j) totals[j] = add(totals[j], totals[j + width]);
  return totals[0];
}

// The keys of a block that a row has.
inline int64_t keys_in_block(const Together& rows, int64_t row, int64_t block) {
  const int64_t count = rows.positions[row] + 1 - block;
  return count < 0 ? 0 : count < kKeyBlock ? count : kKeyBlock;
}

inline Mix mix_from(const Mix& block, int64_t row, int64_t first, int64_t last) {
  Mix mix = block;
  mix.weights += first * kLanes + row;
  mix.chains += row * block.dimensions;
  mix.values += first;
  mix.count = last - first;
  return mix;
}

// Rows side by side as far as all of them reach, then each alone.
inline void chain_rows(const Together& rows, const Mix& mix, int64_t block, int64_t head_dim) {
  for (int64_t row = 0; row < rows.rows; row += kRowsTogether) {
    const int64_t end = row + kRowsTogether < rows.rows ? row + kRowsTogether : rows.rows;
    int64_t shared = end - row == kRowsTogether ? kKeyBlock : 0;
    for (int64_t one = row; one < end; ++one) {
      const int64_t count = keys_in_block(rows, one, block);
      shared = count < shared ? count : shared;
    }
    if (shared > 0) lengthen_chains<kRowsTogether, false>(mix_from(mix, row, 0, shared), head_dim);
    for (int64_t one = row; one < end; ++one) {
      const int64_t count = keys_in_block(rows, one, block);
      if (count > shared) lengthen_chains<1, false>(mix_from(mix, one, shared, count), head_dim);
    }
  }
}

// A row whose keys ended before a block adds nothing of it, not even a zero.
inline void end_block_of_rows(const Together& rows, const float* chains, float* mixed, int64_t dimensions,
                              int64_t block) {
  for (int64_t row = 0; row < rows.rows; ++row)
    if (keys_in_block(rows, row, block) > 0)
      end_block(chains + row * dimensions, mixed + row * dimensions, dimensions, block == 0);
}

void mix_together(const AttentionTask& task, const Together& rows, const TogetherScratch& scratch) {
  KeyWalk walk(task, rows.table, rows.kv_head, rows.key_count, task.values);
  const int64_t floats = kLanes * scratch.dimensions;
  for (int64_t block = 0; block < rows.key_count; block += kKeyBlock) {
    const Places<kKeyBlock> values = walk.next<kKeyBlock>();
    for (int64_t head = 0; head < rows.group; ++head) {
      const float* weights = scratch.weights + (head * scratch.keys + block) * kLanes;
      begin_block(scratch.chains, floats);
      chain_rows(rows, {weights, 1, kLanes, scratch.chains, scratch.dimensions, values.at, nullptr, 0, 0}, block,
                 task.head_dim);
      end_block_of_rows(rows, scratch.chains, scratch.mixed + head * floats, scratch.dimensions, block);
    }
  }
}

void attend_together(const AttentionTask& task, const Together& rows, float* memory) {
  const TogetherScratch scratch(task, rows, memory);
  const int64_t floats = kLanes * scratch.dimensions;
  for (int64_t head = 0; head < rows.group; ++head) turn_query(task, rows, head, scratch.turned + head * floats);
  score_together(task, rows, scratch);
  for (int64_t head = 0; head < rows.group; ++head) {
    float* scores = scratch.weights + head * scratch.keys * kLanes;
    hide_later_keys(rows, scratch.keys, scores);
    store(scratch.totals + head * kLanes, weigh_together(scores, scratch.keys));
  }
  mix_together(task, rows, scratch);
  for (int64_t head = 0; head < rows.group; ++head)
    for (int64_t row = 0; row < rows.rows; ++row)
      write_head(task, scratch.mixed + head * floats + row * scratch.dimensions, scratch.totals[head * kLanes + row],
                 rows.out + (row * task.heads + head) * task.head_dim);
}

}  // namespace
}  // namespace temp0
