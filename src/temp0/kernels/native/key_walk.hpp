// Where the positions of one request lie in a paged cache.
//
// Invariant: positions come in order, whatever the page numbers and the page size; no entry of a table is looked at
// beyond the page of the last position.
#pragma once

#include "kernel_table.hpp"

namespace temp0 {
namespace {

inline int64_t whole_vectors(int64_t floats) { return (floats + kLanes - 1) / kLanes * kLanes; }

// Addresses of COUNT consecutive positions; beyond the last one its address is repeated.
template <int COUNT>
struct Places {
  const float* at[COUNT];
};

// Walks the positions of one table from one kv head on.
class KeyWalk {
 public:
  KeyWalk(const AttentionTask& task, const int32_t* table, int64_t kv_head, int64_t key_count, const float* cache)
      : table_(table),
        cache_(cache + kv_head * task.head_dim),
        page_size_(task.page_size),
        stride_(task.kv_heads * task.head_dim),
        to_come_(key_count) {}

  template <int COUNT>
  Places<COUNT> next() {
    Places<COUNT> places;
    for (int i = 0; i < COUNT; ++i) {
      if (to_come_ > 0) advance();
      places.at[i] = here_;
    }
    return places;
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

}  // namespace
}  // namespace temp0
