#include "path.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

#if defined(TEMP0_AMX_PATH)
#include <cpuid.h>
#endif
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "problem.hpp"

namespace temp0 {

extern const KernelTable portable_kernels;
#if defined(TEMP0_X86_PATHS)
extern const KernelTable avx2_kernels;
extern const KernelTable avx512_kernels;
#endif
#if defined(TEMP0_AMX_PATH)
KernelTable amx_kernels();
#endif

namespace {

[[maybe_unused]] bool has_avx2() {
#if defined(TEMP0_X86_PATHS)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

[[maybe_unused]] bool has_avx512() {
#if defined(TEMP0_X86_PATHS)
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

// Linux gives the tile unit's state only to processes that ask for it (Documentation/arch/x86/xstate.rst).
[[maybe_unused]] bool may_use_tiles() {
#if defined(__linux__) && defined(SYS_arch_prctl)
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

[[maybe_unused]] bool has_amx() {
#if defined(TEMP0_AMX_PATH)
  constexpr unsigned kBf16 = 1u << 22, kTiles = 1u << 24;
  unsigned eax, ebx, ecx, edx = 0;
  if (!has_avx512() || __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
  return (edx & kBf16) != 0 && (edx & kTiles) != 0 && may_use_tiles();
#else
  return false;
#endif
}

#if defined(TEMP0_AMX_PATH)
const KernelTable& amx_table() {
  static const KernelTable table = amx_kernels();
  return table;
}
#endif

const KernelTable& widest() {
#if defined(TEMP0_AMX_PATH)
  if (has_amx()) return amx_table();
#endif
#if defined(TEMP0_X86_PATHS)
  if (has_avx512()) return avx512_kernels;
  if (has_avx2()) return avx2_kernels;
#endif
  return portable_kernels;
}

const KernelTable& named(const std::string& name) {
  if (name == "portable") return portable_kernels;
#if defined(TEMP0_X86_PATHS)
  if (name == "avx2" && has_avx2()) return avx2_kernels;
  if (name == "avx512" && has_avx512()) return avx512_kernels;
#endif
#if defined(TEMP0_AMX_PATH)
  if (name == "amx" && has_amx()) return amx_table();
#endif
  if (name == "avx2" || name == "avx512" || name == "amx")
    throw UsageProblem("TEMP0_ISA asks for " + name + ", which this processor or build does not have; unset it, or use " +
                       widest().name);
  throw UsageProblem("TEMP0_ISA is \"" + name + "\"; expected amx, avx512, avx2 or portable");
}

const KernelTable& chosen() {
  const char* name = std::getenv("TEMP0_ISA");
  return name != nullptr && *name != '\0' ? named(name) : widest();
}

}  // namespace

const KernelTable& kernels() {
  static const KernelTable& table = chosen();
  return table;
}

int64_t attention_scratch(int64_t heads, int64_t kv_heads, int64_t head_dim, int64_t keys) {
  const int64_t padded_keys = (keys + 15) / 16 * 16, dimensions = (head_dim + 15) / 16 * 16;
  // One row with all its heads, or 16 rows with those of one kv head.
  const int64_t lines = std::max(heads, heads / kv_heads * kRowsOfBlock);
  return lines * (padded_keys + 2 * dimensions + 1) + kRowsOfBlock * dimensions;
}

}  // namespace temp0
