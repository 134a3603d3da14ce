#include "path.hpp"

#include <cstdlib>
#include <string>

#include "problem.hpp"

namespace temp0 {

extern const KernelTable portable_kernels;
#if defined(TEMP0_X86_PATHS)
extern const KernelTable avx2_kernels;
extern const KernelTable avx512_kernels;
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

const KernelTable& widest() {
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
  if (name == "avx2" || name == "avx512")
    throw UsageProblem("TEMP0_ISA asks for " + name + ", which this processor or build does not have; unset it, or use " +
                       widest().name);
  throw UsageProblem("TEMP0_ISA is \"" + name + "\"; expected avx512, avx2 or portable");
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

int64_t attention_scratch(int64_t keys) {
  constexpr int64_t kHeadsAtOnce = 3;
  return kHeadsAtOnce * ((keys + 15) / 16 * 16);
}

}  // namespace temp0
