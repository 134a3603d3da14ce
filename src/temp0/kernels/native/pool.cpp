#include "pool.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "float_state.hpp"

#if defined(__linux__)
#include <sched.h>
#endif
#if !defined(_WIN32)
#include <pthread.h>
#endif
#if defined(__x86_64__) || defined(_M_X64)
#include <emmintrin.h>
#endif

namespace temp0 {
namespace {

// Long enough to bridge the gap between two kernels of a decode step, short enough to leave a busy machine alone.
constexpr std::chrono::microseconds kSpin{50};

void pause_briefly() {
#if defined(__x86_64__) || defined(_M_X64)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Spins until is_done() or until kSpin has passed; says which.
template <class Question>
bool spin_until(const Question& is_done) {
  const auto deadline = std::chrono::steady_clock::now() + kSpin;
  for (int round = 0;; ++round) {
    if (is_done()) return true;
    pause_briefly();
    if (round % 32 == 31 && std::chrono::steady_clock::now() > deadline) return false;
  }
}

// More than one, so that a thread which loses its core for a while leaves work to the others.
constexpr int64_t kPiecesPerThread = 3;

struct Job {
  TaskBody body = nullptr;
  const void* context = nullptr;
  int64_t count = 0, grain = 1;
};

// One word tells workers all they need: bit 0 open, bits 1-15 workers inside, the rest the job's number.
constexpr uint64_t kOpen = 1;
constexpr uint64_t kOneInside = 2;
constexpr uint64_t kInside = 0xFFFE;
constexpr uint64_t kOneJob = 0x10000;

class Pool {
 public:
  explicit Pool(int threads) {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
  }

  ~Pool() {
    stopping_.store(true);
    { std::lock_guard<std::mutex> lock(sleep_mutex_); }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  void run(const Job& job) {
    job_ = job;
    next_.store(0, std::memory_order_relaxed);
    has_failed_.store(false, std::memory_order_relaxed);
    const uint64_t number = state_.load(std::memory_order_relaxed) / kOneJob + 1;
    state_.store(number * kOneJob | kOpen);
    wake_sleepers();
    take_tasks();
    state_.fetch_and(~kOpen);
    while (!spin_until([this] { return (state_.load() & kInside) == 0; })) std::this_thread::yield();
    if (has_failed_.load()) throw std::bad_alloc();
  }

 private:
  void wake_sleepers() {
    if (sleepers_.load() == 0) return;
    { std::lock_guard<std::mutex> lock(sleep_mutex_); }
    wake_.notify_all();
  }

  void take_tasks() {
    const FloatState state;
    try {
      for (;;) {
        const int64_t first = next_.fetch_add(job_.grain);
        if (first >= job_.count) return;
        const int64_t last = first + job_.grain < job_.count ? first + job_.grain : job_.count;
        job_.body(job_.context, first, last);
      }
    } catch (const std::bad_alloc&) {
      has_failed_.store(true);
    }
  }

  // Enters the open job unless it is the one seen last.
  bool enter(uint64_t& seen) {
    uint64_t state = state_.load();
    while ((state & kOpen) != 0 && state / kOneJob != seen) {
      if (!state_.compare_exchange_weak(state, state + kOneInside)) continue;
      seen = state / kOneJob;
      return true;
    }
    return false;
  }

  void work() {
    uint64_t seen = 0;
    while (!stopping_.load()) {
      if (spin_until([&] { return stopping_.load(std::memory_order_relaxed) || enter(seen); })) {
        if (stopping_.load()) return;
        take_tasks();
        state_.fetch_sub(kOneInside);
      } else {
        sleep(seen);
      }
    }
  }

  void sleep(uint64_t seen) {
    std::unique_lock<std::mutex> lock(sleep_mutex_);
    sleepers_.fetch_add(1);
    wake_.wait(lock, [&] {
      const uint64_t state = state_.load();
      return stopping_.load() || ((state & kOpen) != 0 && state / kOneJob != seen);
    });
    sleepers_.fetch_sub(1);
  }

  alignas(64) std::atomic<uint64_t> state_{0};
  alignas(64) std::atomic<int64_t> next_{0};
  alignas(64) Job job_;
  std::atomic<bool> has_failed_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<int> sleepers_{0};
  std::mutex sleep_mutex_;
  std::condition_variable wake_;
  std::vector<std::thread> workers_;
};

int usable_cores() {
#if defined(__linux__)
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) == 0) return CPU_COUNT(&cores);
#endif
  const unsigned count = std::thread::hardware_concurrency();
  return count > 0 ? static_cast<int>(count) : 1;
}

struct Shared {
  std::mutex mutex;
  int threads = usable_cores();
  Pool* pool = nullptr;
};

// Never destroyed: workers may still sleep on it when the process ends.
Shared*& shared_slot() {
  static Shared* shared = new Shared;
  return shared;
}

// A forked child has no workers: it starts over with a pool of its own.
void forget_pool() {
  Shared* fresh = new Shared;
  fresh->threads = shared_slot()->threads;
  shared_slot() = fresh;
}

Shared& shared() {
#if !defined(_WIN32)
  static const int registered = pthread_atfork(nullptr, nullptr, forget_pool);
  (void)registered;
#endif
  return *shared_slot();
}

}  // namespace

int thread_count() {
  std::lock_guard<std::mutex> lock(shared().mutex);
  return shared().threads;
}

void set_thread_count(int count) {
  std::lock_guard<std::mutex> lock(shared().mutex);
  if (count == shared().threads) return;
  delete shared().pool;
  shared().pool = nullptr;
  shared().threads = count;
}

void run_here(int64_t count, TaskBody body, const void* context) {
  const FloatState state;
  if (count > 0) body(context, 0, count);
}

void run_tasks(int64_t count, int64_t unit, TaskBody body, const void* context) {
  Shared& pools = shared();
  std::unique_lock<std::mutex> lock(pools.mutex, std::try_to_lock);
  // Another thread's kernel has the workers: this one need not wait for them.
  if (!lock.owns_lock() || pools.threads == 1 || count <= unit) {
    if (lock.owns_lock()) lock.unlock();
    return run_here(count, body, context);
  }
  if (pools.pool == nullptr) pools.pool = new Pool(pools.threads);
  const int64_t pieces = pools.threads * kPiecesPerThread;
  const int64_t units = (count + unit - 1) / unit;
  pools.pool->run({body, context, count, (units + pieces - 1) / pieces * unit});
}

float* thread_scratch(int64_t floats) {
  constexpr size_t kLine = 64;
  static thread_local std::vector<float> memory;
  const size_t needed = static_cast<size_t>(floats) + kLine / sizeof(float);
  if (memory.size() < needed) memory.resize(needed);
  const auto address = reinterpret_cast<uintptr_t>(memory.data());
  return reinterpret_cast<float*>((address + kLine - 1) / kLine * kLine);
}

}  // namespace temp0
