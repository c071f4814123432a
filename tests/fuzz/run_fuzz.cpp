// Damaged run files: an input is a list of edits, one a line, of a run that was made here and
// stopped half way. The file is opened and read whole, and resumed from its last checkpoint. (Bytes
// of HDF5's own structures are HDF5's to check: edits go through its interface.)
//
//   events              the event-driven run instead of the stepped one; first line
//   cut N               the file ends after N bytes
//   number N X          number N of the last checkpoint becomes X (of events: of size 100 at most)
//   byte N X            byte N of all checkpoints
//   step I X, end I X   of checkpoint I
//   cell T N X          number N of the dataset T, "frames/t"
//   drop T              a dataset or a table
//   swap T OLD NEW      in the text T: scene, header, summary
//   version X, format X the attributes checkpoint_version, format_version
#include <hdf5.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <vector>

#include "file.h"
#include "saltus/runs/run_file.h"
#include "saltus/runs/run_impacts.h"
#include "saltus/runs/run_modes.h"
#include "saltus/scene/document.h"
#include "saltus/simulate/run.h"

namespace {

using namespace saltus;

constexpr const char* stepped = R"(saltus: 1
bodies:
  - {name: ball, mass: 1, solid: {shape: sphere, radius: 0.1}, joint: {type: floating}, shapes: [{type: sphere, radius: 0.1}]}
  - {name: arm, mass: 1, com: [0.2, 0, 0], inertia: [0.01, 0.01, 0.01], joint: {type: revolute, parent: ball, axis: [0, 1, 0]}}
obstacles: [{name: floor, type: half-space}]
contacts: [{between: [floor, ball], friction: 0.3, restitution: 0.4}]
initial: {ball: {q: [0, 0, 0.1005, 1, 0, 0, 0], v: [1, 0, -1, 0, 0, 0]}}
motors: [{joints: arm, kp: 3, kd: 0.1, lag: 5 ms}]
sensors: [{name: angle, type: encoder, joints: arm, rate: 400, delay: 4 ms}, {name: imu, type: imu, body: ball}]
probes: [{name: tip, body: arm}]
metrics: [{name: v, type: mean-velocity, probe: tip, axis: x}, {name: far, type: travel, probe: tip}]
output: {interval: 1 ms, checkpoint: 4 ms, modes: true}
time: {step: 1 ms, end: 0.02}
)";

constexpr const char* by_events = R"(saltus: 1
bodies:
  - {name: ball, mass: 1, solid: {shape: sphere, radius: 0.1}, joint: {type: floating}, shapes: [{type: sphere, radius: 0.1}]}
obstacles: [{name: floor, type: half-space}]
contacts: [{between: [floor, ball], friction: 0.3, restitution: 0.4}]
initial: {ball: {q: [0, 0, 0.1005, 1, 0, 0, 0], v: [1, 0, -1, 0, 0, 0]}}
integrator: {type: event-driven}
output: {interval: 1 ms, checkpoint: 4 ms}
time: {step: 1 ms, end: 0.02}
)";

std::string contents_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A run of which frames are left to do.
std::string half_a_run(const char* scene, const std::string& path) {
  RunOptions options;
  options.output = path;
  int frames = 0;
  options.on_frame = [&](const std::function<void()>&) { return ++frames < 11; };
  (void)run(read_scene(Document::from_text(scene, "fuzz.yaml")), options);
  return contents_of(path);
}

// An identifier of HDF5; nothing is checked: what is not there is not edited.
struct Id {
  hid_t id;
  herr_t (*close)(hid_t);
  ~Id() {
    if (id >= 0) close(id);
  }
};

std::size_t size_of(hid_t set) {
  const Id space{H5Dget_space(set), H5Sclose};
  const auto n = H5Sget_simple_extent_npoints(space.id);
  return n > 0 ? static_cast<std::size_t>(n) : 0;
}

// All values of a dataset, edited.
template <class T, class Edit>
void edit(hid_t file, const std::string& name, hid_t type, const Edit& change) {
  const Id set{H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose};
  if (set.id < 0) return;
  std::vector<T> values(size_of(set.id));
  if (values.empty() || H5Dread(set.id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
    return;
  change(values);
  H5Dwrite(set.id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
}

void replace_text(hid_t file, const std::string& name, const std::string& from,
                  const std::string& to) {
  const Id set{H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose};
  if (set.id < 0 || from.empty()) return;
  std::string text(size_of(set.id), '\0');
  if (text.empty() ||
      H5Dread(set.id, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()) < 0)
    return;
  const std::size_t at = text.find(from);
  if (at == std::string::npos) return;
  text.replace(at, from.size(), to);
  H5Ldelete(file, name.c_str(), H5P_DEFAULT);
  const hsize_t size = text.size();
  const Id space{H5Screate_simple(1, &size, nullptr), H5Sclose};
  const Id made{
      H5Dcreate2(file, name.c_str(), H5T_STD_U8LE, space.id, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
      H5Dclose};
  H5Dwrite(made.id, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data());
}

void set_attribute(hid_t file, const char* name, int value) {
  const Id attribute{H5Aopen(file, name, H5P_DEFAULT), H5Aclose};
  if (attribute.id >= 0) H5Awrite(attribute.id, H5T_NATIVE_INT, &value);
}

// Words of an edit; numbers are whatever strtod takes, nan and inf too.
struct Words {
  std::istringstream in;
  std::string text() {
    std::string word;
    in >> word;
    return word;
  }
  double number() { return std::strtod(text().c_str(), nullptr); }
  std::size_t index(std::size_t size) {
    const double x = std::abs(number());
    return x < 1e15 ? static_cast<std::size_t>(x) % size : size - 1;
  }
  std::int64_t whole() {
    const double x = number();
    return std::abs(x) < 9e18 ? static_cast<std::int64_t>(x) : INT64_MIN;
  }
};

constexpr const char* all_bytes = "checkpoint_data/bytes";

// Exact motion at 1e9 rad/s takes its time, in a scene as well; what is no number remains.
double bearable(double x) { return std::isfinite(x) ? std::clamp(x, -100.0, 100.0) : x; }

void apply(hid_t file, const std::string& line, bool events) {
  Words words{std::istringstream(line)};
  const std::string what = words.text();
  if (what == "number") {
    std::size_t end = 0, begin = 0;
    edit<std::int64_t>(file, "checkpoints/end", H5T_NATIVE_INT64, [&](const auto& ends) {
      end = static_cast<std::size_t>(std::max<std::int64_t>(ends.back(), 0));
      if (ends.size() > 1)
        begin = static_cast<std::size_t>(std::max<std::int64_t>(ends[ends.size() - 2], 0));
    });
    edit<std::uint8_t>(file, all_bytes, H5T_NATIVE_UINT8, [&](auto& bytes) {
      end = std::min(end, bytes.size());
      if (begin + sizeof(double) > end) return;
      const std::size_t at = begin + sizeof(double) * words.index((end - begin) / sizeof(double));
      const double given = words.number(), x = events ? bearable(given) : given;
      std::memcpy(bytes.data() + at, &x, sizeof x);
    });
  } else if (what == "byte") {
    edit<std::uint8_t>(file, all_bytes, H5T_NATIVE_UINT8, [&](auto& bytes) {
      std::uint8_t& b = bytes[words.index(bytes.size())];
      b = static_cast<std::uint8_t>(words.index(256));
    });
  } else if (what == "step" || what == "end") {
    edit<std::int64_t>(file, "checkpoints/" + what, H5T_NATIVE_INT64, [&](auto& values) {
      std::int64_t& x = values[words.index(values.size())];
      x = words.whole();
    });
  } else if (what == "cell") {
    edit<double>(file, words.text(), H5T_NATIVE_DOUBLE, [&](auto& values) {
      double& x = values[words.index(values.size())];
      x = words.number();
    });
  } else if (what == "drop") {
    const std::string name = words.text();
    if (!name.empty()) H5Ldelete(file, name.c_str(), H5P_DEFAULT);
  } else if (what == "swap") {
    const std::string name = words.text(), from = words.text(), to = words.text();
    replace_text(file, name, from, to);
  } else if (what == "version" || what == "format") {
    set_attribute(file, what == "version" ? "checkpoint_version" : "format_version",
                  static_cast<int>(words.index(1000)));
  }
}

// Every call is an answer or an InputError.
template <class Call>
void ask(const Call& call) {
  try {
    call();
  } catch (const InputError&) {}
}

void read_all(const std::string& path) {
  const RunReader run(path);
  ask([&] { (void)run.scene(); });
  ask([&] { (void)run.header(); });
  ask([&] { (void)run.summary(); });
  for (const TableSpec& table : run.tables())
    for (const Column& column : table.columns)
      ask([&] { (void)run.read(table.name, column.name, 0, run.rows(table.name)); });
  ask([&] {
    for (std::size_t i = 0; i < run.checkpoint_count(); ++i) (void)run.checkpoint(i);
  });
  ask([&] { (void)read_impacts(run, path); });
  ask([&] { (void)read_modes(run, path); });
  ask([&] { (void)read_balance(run, path); });
  ask([&] { (void)worst_steps(run, 3); });
}

// A few frames more; what a scene that was edited does beyond them is the scene's. Into a file,
// which takes the most time, now and then.
void resume(const std::string& path, bool into_a_file) {
  RunOptions options;
  options.resume_from = path;
  if (into_a_file) options.output = path + ".on";
  int frames = 0;
  options.on_frame = [&](const std::function<void()>&) { return ++frames < 4; };
  options.progress = [](double, double, double) { return false; };  // a tenth of a second
  ask([&] { (void)run(scene_of_run(path), options); });
  if (into_a_file) std::filesystem::remove(options.output);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string by_steps = half_a_run(stepped, as_file(nullptr, 0, ".steps.h5")),
                           at_events = half_a_run(by_events, as_file(nullptr, 0, ".events.h5"));
  std::istringstream edits(text_of(data, size));
  std::string line;
  std::vector<std::string> lines;
  while (std::getline(edits, line) && lines.size() < 50) lines.push_back(line);
  const bool events = !lines.empty() && lines[0] == "events";
  const std::string& whole = events ? at_events : by_steps;
  const std::string path =
      as_file(reinterpret_cast<const std::uint8_t*>(whole.data()), whole.size(), ".run.h5");
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  {
    const Id file{H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose};
    for (const std::string& each : lines)
      if (!each.starts_with("cut")) apply(file.id, each, events);
  }
  for (const std::string& each : lines)
    if (each.starts_with("cut "))
      std::filesystem::resize_file(
          path, Words{std::istringstream(each.substr(4))}.index(whole.size() + 1));
  ask([&] { read_all(path); });
  resume(path, size % 8 == 0);
  std::filesystem::remove(path);
  return 0;
}
