// Prints one digest per kernel of the portable path over fixed inputs, so that processors can be compared.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "kernel_table.hpp"
#include "packed.hpp"
#include "scalar.hpp"

namespace temp0 {
extern const KernelTable portable_kernels;
}

using temp0::portable_kernels;

namespace {

// Numbers of many sizes and both signs, the same everywhere: only integers and one exact scaling are used.
std::vector<float> numbers(int64_t count, uint64_t seed) {
  std::vector<float> made(static_cast<size_t>(count));
  for (float& value : made) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    const auto mantissa = static_cast<int32_t>(seed >> 40) - (1 << 23);
    value = static_cast<float>(mantissa) / static_cast<float>(1 << (20 + (seed >> 33) % 6));
  }
  return made;
}

void print_digest(const char* name, const std::vector<float>& values) {
  uint64_t hash = 14695981039346656037u;
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
  for (size_t i = 0; i < values.size() * sizeof(float); ++i) hash = (hash ^ bytes[i]) * 1099511628211u;
  std::printf("%s %016llx\n", name, static_cast<unsigned long long>(hash));
}

void print_linear(const char* name, bool is_bf16) {
  constexpr int64_t kRows = 15, kInputs = 577, kOutputs = 70;
  const std::vector<float> x = numbers(kRows * kInputs, 1), weight = numbers(kOutputs * kInputs, 2);
  temp0::PackedLinear packed(kOutputs, kInputs, is_bf16);
  packed.fill(weight.data(), 0, packed.panels());
  std::vector<float> out(kRows * kOutputs);
  portable_kernels.linear({x.data(), nullptr, packed.data(), out.data(), kRows, kInputs, kOutputs, is_bf16, false}, 0,
                          packed.panels());
  print_digest(name, out);
}

void print_attention() {
  constexpr int64_t kRows = 13, kHeads = 9, kKvHeads = 3, kHeadDim = 64, kPage = 16, kPages = 20;
  const std::vector<float> query = numbers(kRows * kHeads * kHeadDim, 3);
  const std::vector<float> keys = numbers(kPages * kPage * kKvHeads * kHeadDim, 4);
  const std::vector<float> values = numbers(kPages * kPage * kKvHeads * kHeadDim, 5);
  std::vector<int32_t> table, rows(kRows, 0), positions{0, 130, 299};
  // Three rows alone, then ten together.
  const std::vector<int32_t> blocks{0, 1, 2, 3, kRows};
  for (int32_t position = 120; position < 130; ++position) positions.push_back(position);
  for (int32_t page = 0; page < kPages; ++page) table.push_back((page * 7) % kPages);
  const int64_t floats = temp0::attention_scratch(kHeads, kKvHeads, kHeadDim, 300);
  std::vector<float> out(query.size()), scratch(static_cast<size_t>(floats));
  const temp0::AttentionTask task{query.data(), keys.data(), values.data(), table.data(), rows.data(),
                                  positions.data(), blocks.data(), out.data(), kRows, kHeads, kKvHeads, kHeadDim,
                                  kPage, kPages, false};
  portable_kernels.attention(task, scratch.data(), 0, 4 * kKvHeads);
  print_digest("attention", out);
}

void print_rows() {
  constexpr int64_t kRows = 4, kColumns = 1100;
  const std::vector<float> x = numbers(kRows * kColumns, 6), weight = numbers(kColumns, 7);
  std::vector<float> out(x.size()), gated(x.size() / 2);
  portable_kernels.rms_norm({x.data(), weight.data(), 1e-5f, out.data(), kColumns, false}, 0, kRows);
  print_digest("rms_norm", out);
  std::vector<float> sums = x;
  const std::vector<float> added = numbers(kRows * kColumns, 9);
  portable_kernels.add_rms_norm({sums.data(), added.data(), weight.data(), 1e-5f, out.data(), kColumns, true}, 0,
                                kRows);
  print_digest("add_rms_norm", out);
  portable_kernels.silu_multiply({x.data(), gated.data(), kColumns / 2, true}, 0, kRows);
  print_digest("silu_multiply", gated);
  portable_kernels.softmax({x.data(), out.data(), kColumns}, 0, kRows);
  print_digest("softmax", out);
  portable_kernels.log_softmax({x.data(), out.data(), kColumns}, 0, kRows);
  print_digest("log_softmax", out);
  out = x;
  portable_kernels.round_bf16(out.data(), 0, static_cast<int64_t>(out.size()));
  print_digest("round_bf16", out);
}

void print_rotary() {
  constexpr int64_t kPositions = 300, kHalf = 40;
  std::vector<float> cosines(kPositions * kHalf), sines(kPositions * kHalf), x = numbers(3 * 5 * 2 * kHalf, 8);
  const std::vector<int32_t> positions{0, 17, 299};
  temp0::fill_rotary_tables(kPositions, kHalf, 1e5, cosines.data(), sines.data());
  print_digest("cosines", cosines);
  print_digest("sines", sines);
  portable_kernels.rotate({x.data(), positions.data(), cosines.data(), sines.data(), 5, 2 * kHalf}, 0, 3);
  print_digest("rotate", x);
}

void print_qkv() {
  constexpr int64_t kRows = 3, kHeads = 9, kKvHeads = 3, kHeadDim = 80, kPositions = 20;
  std::vector<float> cosines(kPositions * kHeadDim / 2), sines(cosines.size());
  temp0::fill_rotary_tables(kPositions, kHeadDim / 2, 1e5, cosines.data(), sines.data());
  const std::vector<float> qkv = numbers(kRows * (kHeads + 2 * kKvHeads) * kHeadDim, 10);
  const std::vector<float> query_norm = numbers(kHeadDim, 11), key_norm = numbers(kHeadDim, 12);
  const std::vector<int32_t> places{4, 0, 2}, positions{0, 7, 19};
  std::vector<float> query(kRows * kHeads * kHeadDim), keys(5 * kKvHeads * kHeadDim), values(keys.size());
  portable_kernels.place_qkv({qkv.data(), places.data(), positions.data(), cosines.data(), sines.data(), query.data(),
                              keys.data(), values.data(), query_norm.data(), key_norm.data(), 1e-5f, kHeads, kKvHeads,
                              kHeadDim, true},
                             0, kRows);
  print_digest("query", query);
  print_digest("keys", keys);
  print_digest("values", values);
}

}  // namespace

int main() {
  print_linear("linear bf16", true);
  print_linear("linear fp32", false);
  print_attention();
  print_rows();
  print_rotary();
  print_qkv();
}
