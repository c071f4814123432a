#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "saltus/studies/shape_study.h"
#include "scenes.h"

namespace saltus::python {

using namespace nb::literals;

void bind_shape(nb::module_& m) {
  m.def(
      "_shape",
      [](const SceneHandle& scene, const std::vector<double>& at, int cells) {
        const Scene read = scene.read();
        nb::gil_scoped_release released;
        return to_json(shape_report(read, at, cells));
      },
      "scene"_a, "at"_a, "cells"_a);
}

}  // namespace saltus::python
