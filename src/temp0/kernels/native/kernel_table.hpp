// What one instruction-set path offers: plain functions over a range of independent tasks.
//
// Invariant: a task's result depends on nothing but the task, never on the range it came in.
#pragma once

#include <cstdint>

namespace temp0 {

// Keys per block of attention and inputs per group of a product; part of the documented order.
constexpr int64_t kKeyBlock = 128;
constexpr int64_t kInputGroup = 32;
// Most rows of one request that attention takes side by side.
constexpr int64_t kRowsOfBlock = 16;
constexpr int64_t kSoftmaxBlock = 1024;
// Outputs per panel of packed weights, which are padded with zeros to whole groups of inputs.
constexpr int64_t kPanel = 16;
constexpr int64_t whole_groups(int64_t inputs) { return (inputs + kInputGroup - 1) / kInputGroup * kInputGroup; }

struct NormTask {
  const float* x;
  const float* weight;
  float eps;
  float* out;
  int64_t columns;
  bool is_rounded;
};

// x gains `added` before it is normalised.
struct AddNormTask {
  float* x;
  const float *added, *weight;
  float eps;
  float* out;
  int64_t columns;
  bool is_rounded;
};

struct SiluTask {
  const float* gate_up;
  float* out;
  int64_t columns;
  bool is_rounded;
};

struct RotateTask {
  float* x;
  const int32_t* positions;
  const float* cosines;
  const float* sines;
  int64_t heads, head_dim;
};

// Norms are null where heads are not normalised; places count positions of the whole cache.
struct QkvTask {
  const float* qkv;
  const int32_t *places, *positions;
  const float *cosines, *sines;
  float *query, *keys, *values;
  const float *query_norm, *key_norm;
  float eps;
  int64_t heads, kv_heads, head_dim;
  bool is_rounded;
};

struct AttentionTask {
  const float *query, *keys, *values;
  const int32_t *tables, *rows, *positions;
  const int32_t* blocks;  // first row of each, then row_count: a row, or up to kRowsOfBlock rows of one table
  float* out;
  int64_t row_count, heads, kv_heads, head_dim, page_size, table_width;
  bool is_rounded;
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

// `narrow` is x in bf16, rows padded with zeros to whole groups, or null where x is not bf16 or no path wants it.
struct LinearTask {
  const float* x;
  const uint16_t* narrow;
  const void* panels;
  float* out;
  int64_t row_count, inputs, outputs;
  bool is_bf16, is_rounded;
};

struct KernelTable {
  const char* name;
  void (*round_bf16)(float* x, int64_t first, int64_t last);                  // tasks are elements
  void (*rms_norm)(const NormTask&, int64_t first, int64_t last);             // rows
  void (*add_rms_norm)(const AddNormTask&, int64_t first, int64_t last);      // rows
  void (*silu_multiply)(const SiluTask&, int64_t first, int64_t last);        // rows
  void (*rotate)(const RotateTask&, int64_t first, int64_t last);             // rows
  void (*place_qkv)(const QkvTask&, int64_t first, int64_t last);             // rows
  void (*argmax)(const ArgmaxTask&, int64_t first, int64_t last);             // rows
  void (*softmax)(const SoftmaxTask&, int64_t first, int64_t last);           // rows
  void (*log_softmax)(const SoftmaxTask&, int64_t first, int64_t last);       // rows
  void (*attention)(const AttentionTask&, float* scratch, int64_t first, int64_t last);  // block x kv head
  void (*linear)(const LinearTask&, int64_t first, int64_t last);             // panels of outputs
  // Writes x[rows][inputs] as bf16 for LinearTask::narrow; false if a number is not bf16. Null where it is no use.
  bool (*narrow)(const float* x, int64_t rows, int64_t inputs, uint16_t* to);
};

// Floats of scratch that one thread needs for `attention` where the longest row attends to `keys` keys.
int64_t attention_scratch(int64_t heads, int64_t kv_heads, int64_t head_dim, int64_t keys);

}  // namespace temp0
