#include "packed.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "kernel_table.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace temp0 {
namespace {

constexpr int64_t kOutputs = kPanel;
// The size of a huge page: one table entry for 2 MiB of weights instead of 512.
constexpr std::align_val_t kAlignment{size_t{1} << 21};

uint32_t bf16_bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if (value != value) return (bits | 0x00400000u) >> 16;
  return (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
}

size_t bytes_needed(int64_t outputs, int64_t inputs, bool is_bf16) {
  const int64_t words = is_bf16 ? whole_groups(inputs) / 2 : whole_groups(inputs);
  return static_cast<size_t>((outputs + kOutputs - 1) / kOutputs * kOutputs * words) * 4;
}

void* zeroed(size_t bytes) {
  void* data = ::operator new(std::max<size_t>(bytes, 1), kAlignment);
#if defined(__linux__)
  madvise(data, bytes, MADV_HUGEPAGE);  // only a wish: a refusal changes nothing but speed
#endif
  std::memset(data, 0, bytes);
  return data;
}

void fill_fp32(const float* weight, int64_t first, int64_t last, int64_t inputs, float* to) {
  const int64_t lines = whole_groups(inputs);
  for (int64_t output = first; output < last; ++output)
    for (int64_t input = 0; input < inputs; ++input)
      to[(output / kOutputs * lines + input) * kOutputs + output % kOutputs] = weight[output * inputs + input];
}

void fill_bf16(const float* weight, int64_t first, int64_t last, int64_t inputs, uint32_t* to) {
  const int64_t pairs = whole_groups(inputs) / 2;
  for (int64_t output = first; output < last; ++output)
    for (int64_t input = 0; input < inputs; ++input)
      to[(output / kOutputs * pairs + input / 2) * kOutputs + output % kOutputs] |=
          bf16_bits(weight[output * inputs + input]) << (input % 2 * 16);
}

}  // namespace

void PackedLinear::Free::operator()(void* data) const { ::operator delete(data, kAlignment); }

PackedLinear::PackedLinear(int64_t outputs, int64_t inputs, bool is_bf16)
    : outputs_(outputs),
      inputs_(inputs),
      is_bf16_(is_bf16),
      size_bytes_(bytes_needed(outputs, inputs, is_bf16)),
      data_(zeroed(size_bytes_)) {}

void PackedLinear::fill(const float* weight, int64_t first_panel, int64_t last_panel) {
  const int64_t first = first_panel * kOutputs, last = std::min(last_panel * kOutputs, outputs_);
  if (is_bf16_)
    fill_bf16(weight, first, last, inputs_, static_cast<uint32_t*>(data_.get()));
  else
    fill_fp32(weight, first, last, inputs_, static_cast<float*>(data_.get()));
}

}  // namespace temp0
