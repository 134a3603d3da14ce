// The module `temp0.kernels._native`: kernels, threads and the instruction-set path.
#include <nanobind/nanobind.h>

#include "bindings.hpp"
#include "path.hpp"
#include "pool.hpp"
#include "problem.hpp"

namespace nb = nanobind;

namespace temp0 {
namespace {

constexpr int kMostThreads = 1024;

void set_threads(int count) {
  if (count < 1 || count > kMostThreads) throw nb::value_error("threads must be within 1 and 1024");
  const nb::gil_scoped_release release;
  set_thread_count(count);
}

void translate_usage_problem(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const UsageProblem& problem) {
    const nb::object error = nb::module_::import_("temp0.errors").attr("UsageError");
    PyErr_SetString(error.ptr(), problem.what());
  }
}

}  // namespace
}  // namespace temp0

NB_MODULE(_native, module) {
  module.doc() = "Kernels in C++; documented where temp0.kernels wraps them.";
  // Weights held by module globals outlive the interpreter's last collection: no leak, and no noise at exit.
  nb::set_leak_warnings(false);
  nb::register_exception_translator(temp0::translate_usage_problem);
  module.def("set_threads", temp0::set_threads, nb::arg("count"));
  module.def("threads", temp0::thread_count);
  module.def("instruction_set", [] { return temp0::kernels().name; });
  temp0::bind_rows(module);
  temp0::bind_attention(module);
  temp0::bind_linear(module);
}
