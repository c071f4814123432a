#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "saltus/runs/run_file.h"
#include "saltus/simulate/run.h"
#include "scenes.h"

namespace saltus::python {

using namespace nb::literals;

namespace {

// Status, message, summary (JSON), state. Python's part (run.py) makes a Run of it.
using Outcome = std::tuple<std::string, nb::str, nb::str, StateHandle>;

constexpr const char* status_names[] = {"completed", "unconverged", "diverged", "stopped",
                                        "gained"};

bool hear(const nb::object& progress, double t, double end, double speed) {
  const nb::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) nb::raise_python_error();
  if (progress.is_none()) return true;
  const nb::object answer = progress(t, end, speed);
  if (answer.is_none()) return true;
  const int yes = PyObject_IsTrue(answer.ptr());
  if (yes < 0) nb::raise_python_error();
  return yes == 1;
}

Outcome run_here(const Scene& scene, const std::string& output, const std::string& resume,
                 const nb::object& progress, const nb::object& force, const nb::object& flow) {
  const ModelPtr model = build(scene).model;
  RunOptions options;
  options.output = output;
  options.resume_from = resume;
  options.progress = [&](double t, double end, double speed) {
    return hear(progress, t, end, speed);
  };
  options.flow = given_flow(flow);
  if (!force.is_none()) {
    const auto callback = std::make_shared<const ForceCallback>(model, force);
    options.controller = [callback](const SensorBank& sensors) {
      callback->sensors = &sensors;
      return bridge(callback);
    };
  }
  RunResult result;
  {
    const nb::gil_scoped_release release;
    result = run(scene, options);
  }
  return {status_names[static_cast<int>(result.status)], text(result.message),
          text(result.summary_json()), StateHandle{model, std::move(result.state)}};
}

// A run of which only the figures count: the scene as it is read, no file, no state. Status,
// message, summary (JSON).
std::tuple<std::string, nb::str, nb::str> summary_of(const SceneHandle& scene,
                                                     const nb::object& progress) {
  RunOptions options;
  options.progress = [&](double t, double end, double speed) {
    return hear(progress, t, end, speed);
  };
  RunResult result;
  {
    const nb::gil_scoped_release release;
    result = run(scene.scene, options);
  }
  return {status_names[static_cast<int>(result.status)], text(result.message),
          text(result.summary_json())};
}

const char* dtype_of(ColumnType type) {
  switch (type) {
    case ColumnType::i32: return "int32";
    case ColumnType::i64: return "int64";
    case ColumnType::u8: return "uint8";
    default: return "float64";
  }
}

nb::dict tables_of(const RunReader& r) {
  nb::dict tables;
  for (const TableSpec& t : r.tables()) {
    nb::dict columns;
    for (const Column& c : t.columns)
      columns[text(c.name)] =
          nb::make_tuple(dtype_of(c.type), c.width, text(c.unit), text(c.about));
    tables[text(t.name)] = columns;
  }
  return tables;
}

}  // namespace

void bind_run(nb::module_& m) {
  m.def(
      "_run",
      [](const SceneHandle& scene, const std::optional<PathLike>& output,
         const nb::object& progress, const nb::object& force, const nb::object& flow) {
        return run_here(scene.read(), output ? path_of(*output, "output") : "", "", progress, force,
                        flow);
      },
      "scene"_a, "output"_a.none(), "progress"_a.none(), "force"_a.none(), "flow"_a.none());
  m.def("_summary", &summary_of, "scene"_a, "progress"_a.none());
  m.def(
      "_resume",
      [](const PathLike& path, const std::optional<PathLike>& output, const nb::object& progress) {
        const std::string from = path_of(path, "resume");
        return run_here(scene_of_run(from), output ? path_of(*output, "output") : from, from,
                        progress, nb::none(), nb::none());
      },
      "path"_a, "output"_a.none(), "progress"_a.none());

  nb::class_<RunReader>(m, "_RunReader", "A run file, read in pieces.")
      .def(
          "__init__",
          [](RunReader* self, const PathLike& path) {
            new (self) RunReader(path_of(path, "path"));
          },
          "path"_a)
      .def("scene", [](const RunReader& r) { return text(r.scene()); })
      .def("header", [](const RunReader& r) { return text(r.header()); })
      .def("summary", [](const RunReader& r) { return text(r.summary()); })
      .def("version", [](const RunReader& r) { return text(r.version()); })
      .def("tables", &tables_of)
      .def("rows", &RunReader::rows, "table"_a)
      .def(
          "read",
          [](const RunReader& r, const std::string& table, const std::string& column,
             std::size_t first, std::size_t count) {
            const auto bytes = r.read_raw(table, column, first, count);
            return nb::bytes(bytes.data(), bytes.size());
          },
          "table"_a, "column"_a, "first"_a, "count"_a)
      .def("checkpoint_count", &RunReader::checkpoint_count)
      .def("refresh", &RunReader::refresh);
}

}  // namespace saltus::python
