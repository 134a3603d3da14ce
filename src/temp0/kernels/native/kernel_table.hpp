// What one instruction-set path offers: plain functions over a range of independent tasks.
//
// Invariant: a task's result depends on nothing but the task, never on the range it came in.
#pragma once

#include <cstdint>

namespace temp0 {

// Keys per block of attention and elements per block of a long chain; part of the documented order.
constexpr int64_t kKeyBlock = 128;
constexpr int64_t kChainBlock = 256;
constexpr int64_t kSoftmaxBlock = 1024;
// Outputs per panel of packed weights.
constexpr int64_t kPanel = 16;

struct NormTask {
  const float* x;
  const float* weight;
  float eps;
  float* out;
  int64_t columns;
};

struct SiluTask {
  const float* gate_up;
  float* out;
  int64_t columns;
};

struct RotateTask {
  float* x;
  const int32_t* positions;
  const float* cosines;
  const float* sines;
  int64_t heads, head_dim;
};

struct AttentionTask {
  const float *query, *keys, *values;
  const int32_t *tables, *rows, *positions;
  float* out;
  int64_t row_count, heads, kv_heads, head_dim, page_size, table_width;
};

struct ArgmaxTask {
  const float* logits;
  int32_t* out;
  int64_t columns;
};

struct SoftmaxTask {
  const float* logits;
  float* out;
  int64_t columns;
};

struct LinearTask {
  const float* x;
  const void* panels;
  float* out;
  int64_t row_count, inputs, outputs;
  bool is_bf16;
};

struct KernelTable {
  const char* name;
  void (*round_bf16)(float* x, int64_t first, int64_t last);                  // tasks are elements
  void (*rms_norm)(const NormTask&, int64_t first, int64_t last);             // rows
  void (*silu_multiply)(const SiluTask&, int64_t first, int64_t last);        // rows
  void (*rotate)(const RotateTask&, int64_t first, int64_t last);             // rows
  void (*argmax)(const ArgmaxTask&, int64_t first, int64_t last);             // rows
  void (*softmax)(const SoftmaxTask&, int64_t first, int64_t last);           // rows
  void (*log_softmax)(const SoftmaxTask&, int64_t first, int64_t last);       // rows
  void (*attention)(const AttentionTask&, float* scratch, int64_t first, int64_t last);  // kv head x row
  void (*linear)(const LinearTask&, int64_t first, int64_t last);             // panels of outputs
};

// Floats of scratch that one thread needs for `attention` where the longest row attends to `keys` keys.
int64_t attention_scratch(int64_t keys);

}  // namespace temp0
