#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "saltus/forces/flow.h"
#include "saltus/robots/robot.h"
#include "saltus/scene/document.h"
#include "scenes.h"

namespace saltus::python {

using namespace nb::literals;

SceneHandle::SceneHandle(std::string t, std::string n, std::vector<std::string> o)
    : text(std::move(t)), name(std::move(n)), overrides(std::move(o)), scene(read()) {}

Scene SceneHandle::read() const { return read_scene(Document::from_text(text, name), overrides); }

BuiltSystem build(const Scene& scene, const FlowPtr& flow) {
  System system = build_system(scene);
  if (flow) use_flow(system.model, flow);
  const auto model = std::make_shared<const Model>(std::move(system.model));
  return {model,
          {model, std::move(system.actuation), {}},
          {model, std::move(system.start)},
          std::move(system.sensors)};
}

namespace {

class Overrides : public nb::object {
  NB_OBJECT_DEFAULT(Overrides, nb::object,
                    "collections.abc.Mapping[str, object] | collections.abc.Iterable[str] | None",
                    any_object)
};

// {"time.step": 2e-3} or ["time.step=2e-3"]; JSON is YAML.
std::vector<std::string> overrides_of(const nb::object& given) {
  std::vector<std::string> all;
  if (given.is_none()) return all;
  try {
    if (nb::isinstance<nb::str>(given)) {
      all.push_back(nb::cast<std::string>(given));
    } else if (PyMapping_Check(given.ptr()) && nb::hasattr(given, "items")) {
      const nb::object dumps = nb::module_::import_("json").attr("dumps");
      for (const nb::handle item : given.attr("items")()) {
        nb::object value = item[1];
        if (nb::hasattr(value, "tolist")) value = value.attr("tolist")();  // NumPy
        all.push_back(nb::cast<std::string>(item[0]) + "=" +
                      (nb::isinstance<nb::str>(value) ? nb::cast<std::string>(value)
                                                      : nb::cast<std::string>(dumps(value))));
      }
    } else {
      for (const nb::handle item : given) all.push_back(nb::cast<std::string>(item));
    }
  } catch (const nb::cast_error&) {
    throw InputError("overrides: expected {\"path\": value} or [\"path=value\"]");
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_TypeError) && !e.matches(PyExc_ValueError)) throw;
    throw InputError(std::string("overrides: expected {\"path\": value} or [\"path=value\"]: ") +
                     e.what());
  }
  return all;
}

// A robot file as a scene that names it; everything else is a scene.
SceneHandle load(const std::string& path, const std::string& base,
                 const std::vector<std::string>& overrides, bool strict,
                 const std::vector<std::string>& package_paths) {
  const std::map<std::string, RobotBase> bases = {{"from-file", RobotBase::from_file},
                                                  {"fixed", RobotBase::fixed},
                                                  {"floating", RobotBase::floating}};
  const auto chosen = bases.find(base);
  if (chosen == bases.end())
    throw InputError(fmt::format("base: expected from-file, fixed or floating, got '{}'", base));
  if (!is_robot_file(path)) {
    if (base != "from-file")
      throw InputError("base: expected a robot file; a scene has it in robots[].base");
    if (strict || !package_paths.empty())
      throw InputError(fmt::format("{}: expected a robot file; a scene has it in robots[]",
                                   strict ? "strict" : "package_paths"));
    const Document d = Document::from_file(path);
    return {d.text(), d.name(), overrides};
  }
  const RobotOptions options{chosen->second, strict, package_paths};
  const Robot robot = load_robot(path, options);
  SceneHandle handle(scene_text(robot, base, options), path, overrides);
  handle.report = report_json(robot);
  return handle;
}

std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

void bind_scene(nb::module_& m) {
  nb::class_<SceneHandle>(
      m, "Scene",
      "A scene read from a YAML file, checked. Overrides are {'time.step': 2e-3} or "
      "['time.step=2e-3'], as --set of the command line.")
      .def(
          "__init__",
          [](SceneHandle* self, const PathLike& path, const Overrides& overrides) {
            const Document d = Document::from_file(path_of(path, "path"));
            new (self) SceneHandle(d.text(), d.name(), overrides_of(overrides));
          },
          "path"_a, "overrides"_a = nb::none())
      .def_static(
          "from_text",
          [](const std::string& yaml, const std::string& name, const Overrides& overrides) {
            return SceneHandle(yaml, name, overrides_of(overrides));
          },
          "text"_a, "name"_a = "scene", "overrides"_a = nb::none(),
          "A scene from YAML text; `name` stands for the file in messages.")
      .def(
          "with_overrides",
          [](const SceneHandle& s, const Overrides& overrides) {
            SceneHandle changed(s.text, s.name, joined(s.overrides, overrides_of(overrides)));
            changed.report = s.report;
            return changed;
          },
          "overrides"_a, "A scene with further values changed.")
      .def_prop_ro("name", [](const SceneHandle& s) { return text(s.name); })
      .def_prop_ro("title", [](const SceneHandle& s) { return text(s.scene.title); })
      .def_prop_ro("description", [](const SceneHandle& s) { return text(s.scene.description); })
      .def_prop_ro(
          "text", [](const SceneHandle& s) { return text(s.scene.document->effective_text()); },
          "YAML with the overrides applied")
      .def_prop_ro("overrides",
                   [](const SceneHandle& s) {
                     nb::list all;
                     for (const std::string& o : s.overrides) all.append(text(o));
                     return all;
                   })
      .def_prop_ro(
          "report",
          [](const SceneHandle& s) -> nb::object {
            if (s.report.empty()) return nb::none();
            return nb::module_::import_("json").attr("loads")(text(s.report));
          },
          nb::sig("def report(self) -> dict | None"),
          "of a robot file: what was understood, assumed and not used, as `saltus import --json`")
      .def(
          "complete_text", [](const SceneHandle& s) { return text(complete_text(s.scene)); },
          "YAML that needs no other file: robots written out, as `saltus export`")
      .def_prop_ro(
          "dt", [](const SceneHandle& s) { return s.scene.stepping.dt; }, "step [s]")
      .def_prop_ro(
          "end", [](const SceneHandle& s) { return s.scene.end; }, "end of the run [s]")
      .def_prop_ro(
          "options", [](const SceneHandle& s) { return s.scene.stepping; },
          "stepper and solver of the scene")
      .def(
          "build",
          [](const SceneHandle& s) {
            BuiltSystem b = build(s.scene);
            return std::make_tuple(b.model, std::move(b.actuation), std::move(b.start));
          },
          "model, actuation, state = scene.build()")
      .def("__repr__", [](const SceneHandle& s) {
        return text(fmt::format("<Scene {}: {}, {:g} s in steps of {:g} s>", s.name, s.scene.title,
                                s.scene.end, s.scene.stepping.dt));
      });
  m.def(
      "load",
      [](const PathLike& path, const std::string& base, const Overrides& overrides, bool strict,
         const std::vector<std::string>& package_paths) {
        return load(path_of(path, "path"), base, overrides_of(overrides), strict, package_paths);
      },
      "path"_a, "base"_a = "from-file", "overrides"_a = nb::none(), "strict"_a = false,
      "package_paths"_a = std::vector<std::string>(),
      "A robot file (URDF, MJCF, SDF) as a scene of its own, with `report`; or a scene. `base`: "
      "from-file, fixed or floating. `strict`: refuse what would be changed and reported. "
      "`package_paths`: packages, or folders of packages, that its files may be in.");
  m.def(
      "scene_schema", [] { return scene_schema(); }, "The JSON Schema of scenes, as text.");
}

}  // namespace saltus::python
