#include "float_state.hpp"

#if defined(__x86_64__) || defined(_M_X64)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace temp0 {

#if defined(__x86_64__) || defined(_M_X64)

// All exceptions masked, nearest rounding, neither flush-to-zero nor denormals-are-zero.
constexpr unsigned kDefaultControl = 0x1F80;

FloatState::FloatState() : saved_(_mm_getcsr()) { _mm_setcsr(kDefaultControl); }

FloatState::~FloatState() { _mm_setcsr(static_cast<unsigned>(saved_)); }

// Flush-to-zero and denormals-are-zero.
constexpr unsigned kSmallAsZero = 0x8040;

SmallAsZero::SmallAsZero() : saved_(_mm_getcsr()) { _mm_setcsr(static_cast<unsigned>(saved_) | kSmallAsZero); }

SmallAsZero::~SmallAsZero() { _mm_setcsr(static_cast<unsigned>(saved_)); }

#elif defined(__aarch64__)

FloatState::FloatState() {
  asm volatile("mrs %0, fpcr" : "=r"(saved_));
  asm volatile("msr fpcr, %0" ::"r"(uint64_t{0}));
}

FloatState::~FloatState() { asm volatile("msr fpcr, %0" ::"r"(saved_)); }

constexpr uint64_t kSmallAsZero = uint64_t{1} << 24;

SmallAsZero::SmallAsZero() {
  asm volatile("mrs %0, fpcr" : "=r"(saved_));
  asm volatile("msr fpcr, %0" ::"r"(saved_ | kSmallAsZero));
}

SmallAsZero::~SmallAsZero() { asm volatile("msr fpcr, %0" ::"r"(saved_)); }

#else

FloatState::FloatState() : saved_(static_cast<uint64_t>(std::fegetround())) { std::fesetround(FE_TONEAREST); }

FloatState::~FloatState() { std::fesetround(static_cast<int>(saved_)); }

// There is no portable way to ask for it; such a processor differs only where numbers are below 2^-126.
SmallAsZero::SmallAsZero() : saved_(0) {}

SmallAsZero::~SmallAsZero() {}

#endif

}  // namespace temp0
