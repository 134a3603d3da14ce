// Splits independent tasks over the threads of this process.
//
// Invariant: a task is computed whole by one thread, so how tasks are split changes no bit; workers that wake too
// late are not waited for.
#pragma once

#include <cstdint>

namespace temp0 {

// Below this much work a call runs on the calling thread, and keeps the GIL.
constexpr double kTinyNanoseconds = 12000.0;

int thread_count();
void set_thread_count(int count);

using TaskBody = void (*)(const void* context, int64_t first, int64_t last);

// Calls body over ranges that together cover [0, count) and begin at multiples of `unit`.
void run_tasks(int64_t count, int64_t unit, TaskBody body, const void* context);
// The same on the calling thread alone.
void run_here(int64_t count, TaskBody body, const void* context);

// Memory of the calling thread that lives until its next call; throws std::bad_alloc. It begins at a cache line, since
// vectors that straddle two cost two accesses.
float* thread_scratch(int64_t floats);

}  // namespace temp0
