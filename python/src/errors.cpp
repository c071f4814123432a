#include "errors.h"

namespace saltus::python {

nb::str text(const std::string& bytes) {
  return nb::steal<nb::str>(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
}

nb::object error_class(const char* name) {
  return nb::module_::import_("saltus.errors").attr(name);
}

namespace {

void raise(const char* name, const char* what) {
  PyErr_SetObject(error_class(name).ptr(), text(what).ptr());
}

}  // namespace

void translate_errors() {
  nb::register_exception_translator([](const std::exception_ptr& failure, void*) {
    try {
      std::rethrow_exception(failure);
    } catch (const InputError& e) { raise("InputError", e.what()); } catch (const Divergence& e) {
      raise("DivergenceError", e.what());
    } catch (const Busy& e) { raise("BusyError", e.what()); }
  });
}

}  // namespace saltus::python
