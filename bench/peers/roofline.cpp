// What this machine can do at most: bytes read from memory and fp32 fused multiply-adds, in one second.
//
//   roofline bandwidth THREADS MIB REPEATS   reads a buffer of that size; a line with GB/s for each repeat
//   roofline fma THREADS REPEATS             registers only; a line with GFLOP/s for each repeat
//
// Each thread reads a part of the buffer of its own, which it also touched first. Compile with -O3 and the widest
// vectors of the processor; contraction into fused multiply-adds is wanted here, and is the compiler's default.

#include <barrier>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
constexpr int kChains = 16;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
constexpr int kChains = 12;  // two units with a latency of 4 need 8, and there are 16 registers
#else
constexpr int kVectorBytes = 16;
constexpr int kChains = 16;
#endif

typedef float Floats __attribute__((vector_size(kVectorBytes)));
typedef uint64_t Words __attribute__((vector_size(kVectorBytes)));

constexpr size_t kHugePage = size_t{1} << 21;
volatile uint64_t word_sink;
volatile float float_sink;

// Calls work(thread) on every thread at once, so often; returns the seconds of each time.
template <typename Work>
std::vector<double> timed(int threads, int repeats, Work work) {
  std::vector<double> seconds;
  std::barrier together(threads);
  auto body = [&](int thread) {
    for (int repeat = 0; repeat < repeats; ++repeat) {
      together.arrive_and_wait();
      const auto started = std::chrono::steady_clock::now();
      work(thread);
      together.arrive_and_wait();
      if (thread == 0)
        seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count());
    }
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(body, thread);
  body(0);
  for (auto& other : others) other.join();
  return seconds;
}

uint64_t read_all(const Words* data, size_t count) {
  Words sums[8] = {};
  for (size_t first = 0; first + 8 <= count; first += 8)
    for (int lane = 0; lane < 8; ++lane) sums[lane] += data[first + lane];
  uint64_t total = 0;
  for (const Words& sum : sums)
    for (size_t element = 0; element < sizeof(Words) / sizeof(uint64_t); ++element) total += sum[element];
  return total;
}

void bandwidth(int threads, size_t bytes, int repeats) {
  const size_t part = bytes / threads / kHugePage * kHugePage;
  char* buffer = static_cast<char*>(::operator new(part * threads, std::align_val_t{kHugePage}));
#if defined(__linux__)
  madvise(buffer, part * threads, MADV_HUGEPAGE);  // as the kernels ask for their weights
#endif
  timed(threads, 1, [&](int thread) { std::memset(buffer + thread * part, thread + 1, part); });
  auto read = [&](int thread) {
    word_sink = read_all(reinterpret_cast<const Words*>(buffer + thread * part), part / sizeof(Words));
  };
  for (double seconds : timed(threads, repeats, read)) std::printf("%.3f\n", part * threads / seconds / 1e9);
  ::operator delete(buffer, std::align_val_t{kHugePage});
}

float multiply_add(int64_t steps, float factor) {
  Floats sums[kChains];
  for (int chain = 0; chain < kChains; ++chain) sums[chain] = Floats{} + static_cast<float>(chain);
  const Floats factors = Floats{} + factor;
  for (int64_t step = 0; step < steps; ++step)
#pragma GCC unroll 16  // the chains must stay in registers
    for (int chain = 0; chain < kChains; ++chain) sums[chain] = sums[chain] * factors + factors;
  float total = 0;
  for (const Floats& sum : sums) total += sum[0];
  return total;
}

void fma(int threads, int repeats) {
  constexpr int64_t kSteps = 20'000'000;
  volatile float factor = 0.999f;
  const double operations = 2.0 * kSteps * kChains * (kVectorBytes / sizeof(float)) * threads;
  auto work = [&](int) { float_sink = multiply_add(kSteps, factor); };
  for (double seconds : timed(threads, repeats, work)) std::printf("%.3f\n", operations / seconds / 1e9);
}

int main(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "";
  if (what == "bandwidth" && count == 5) {
    bandwidth(std::atoi(arguments[2]), std::strtoull(arguments[3], nullptr, 10) << 20, std::atoi(arguments[4]));
  } else if (what == "fma" && count == 4) {
    fma(std::atoi(arguments[2]), std::atoi(arguments[3]));
  } else {
    std::fprintf(stderr, "roofline bandwidth THREADS MIB REPEATS | roofline fma THREADS REPEATS\n");
    return 2;
  }
}
