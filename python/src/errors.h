// Failures on their way to Python: InputError -> saltus.InputError, and two more of our own.
#pragma once
#include <nanobind/nanobind.h>

#include <stdexcept>
#include <string>

#include "saltus/base/error.h"

namespace saltus::python {

namespace nb = nanobind;

// A step that diverged or met a singular mass matrix; the state is the last good one.
struct Divergence : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// The object is being stepped: by another thread, or by the step that called this callback.
struct Busy : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Registers the translator to the classes of saltus/errors.py.
void translate_errors();

// Text for Python; bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] nb::str text(const std::string& bytes);
// An attribute of saltus.errors.
[[nodiscard]] nb::object error_class(const char* name);

}  // namespace saltus::python
