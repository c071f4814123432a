// Sensors of a scene.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "saltus/base/error.h"
#include "saltus/scene/document.h"
#include "saltus/scene/scene_elements.h"

namespace saltus {

namespace {

void read_noise(Fields& f, Sensor& s) {
  f.number_or_list("std", s.noise, "",
                   "standard deviation, one for all groups of values or one for each", 1, 4,
                   not_negative);
  double seed = 0;
  f.number("seed", seed, "", "a whole number", {0, 0x1p53, false});
  if (seed != std::floor(seed)) throw f.error("seed", "expected a whole number");
  s.seed = static_cast<std::uint64_t>(seed);
}

void read_name(Fields& f, std::string& name) {
  f.required().text("name", name, "letters, digits, - and _: its table is sensor_NAME");
  if (f.writing_schema()) return;
  const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
  if (!plain)
    throw f.error("name", fmt::format("expected letters, digits, - and _, got '{}'", name));
}

}  // namespace

void read_sensor(Fields& f, SensorScene& sensor) {
  Sensor& s = sensor.sensor;
  s.path = f.path();
  read_name(f, s.name);
  const auto joints = [&](Fields& g) {
    g.required().texts("joints", sensor.joints, "patterns of joint names");
  };
  const auto body = [&](Fields& g) { g.required().text("body", sensor.body, "a body's name"); };
  const auto frame = [&](Fields& g) {
    read_frame(g, "frame", s.frame, "of the sensor, in the body");
  };
  const auto touched = [&](Fields& g) {
    g.text("body", sensor.body, "all shapes of a body");
    g.text("shape", sensor.shape, "or one shape");
    if (!g.writing_schema() && sensor.body.empty() == sensor.shape.empty())
      throw g.error("", "expected either a body or a shape");
  };
  const auto kind = [&](SensorKind k, auto... parts) {
    return [&s, k, parts...](Fields& g) {
      s.kind = k;
      (parts(g), ...);
    };
  };
  const auto resolution = [&](Fields& g) {
    g.number("resolution", s.resolution, "rad", "positions come in multiples of it", not_negative);
  };
  f.forms("type", {{"encoder", kind(SensorKind::encoder, joints, resolution)},
                   {"torque", kind(SensorKind::torque, joints)},
                   {"imu", kind(SensorKind::imu, body, frame)},
                   {"wrench", kind(SensorKind::wrench, touched, frame)},
                   {"contact", kind(SensorKind::contact, touched)},
                   {"com", kind(SensorKind::com)},
                   {"pose", kind(SensorKind::pose, body, frame)}});
  f.number("rate", s.rate, "Hz", "readings a second; default: one every step", positive);
  f.number("delay", s.delay, "s", "from measuring to knowing; needs a rate", not_negative);
  f.object("noise", "normal, the same in every run", [&](Fields& g) { read_noise(g, s); });
  f.numbers("bias", s.bias, "", "added to the values, one for each");
}

namespace {

[[nodiscard]] InputError fault(const Scene& scene, const std::string& path,
                               const std::string& message) {
  return scene.document->error(path, message);
}

int shape_of(const Model& model, const std::string& name) {
  for (std::size_t i = 0; i < model.shapes.size(); ++i)
    if (model.shapes[i].name == name) return static_cast<int>(i);
  return -1;
}
int body_of(const Model& model, const std::string& name) {
  for (int i = 0; i < model.body_count(); ++i)
    if (model.bodies[i].name == name) return i;
  return -1;
}

void find_joints(const Scene& scene, const Model& model, const SensorScene& from, Sensor& s) {
  for (std::size_t c = 0; c < model.coordinates.size(); ++c)
    for (const std::string& pattern : from.joints)
      if (matches(pattern, model.coordinates[c].name)) {
        s.joints.emplace_back(static_cast<int>(c));
        break;
      }
  if (s.joints.empty())
    throw fault(scene, s.path + ".joints",
                fmt::format("no joint matches {}", fmt::join(from.joints, ", ")));
}

Sensor build_sensor(const Scene& scene, const Model& model, const SensorScene& from) {
  Sensor s = from.sensor;
  if (!from.joints.empty()) find_joints(scene, model, from, s);
  if (!from.body.empty()) {
    s.body = BodyIndex(body_of(model, from.body));
    if (!s.body.valid())
      throw fault(scene, s.path + ".body", fmt::format("no body is called '{}'", from.body));
  }
  if (!from.shape.empty()) {
    s.shape = ShapeIndex(shape_of(model, from.shape));
    if (!s.shape.valid())
      throw fault(scene, s.path + ".shape", fmt::format("no shape is called '{}'", from.shape));
    s.body = model.shapes[s.shape].body;
    if (!s.body.valid())
      throw fault(
          scene, s.path + ".shape",
          fmt::format("expected a shape of a body, '{}' is fixed in the world", from.shape));
  }
  // One deviation does for all groups that have noise.
  const auto groups = groups_of(s);
  const auto noisy = std::count_if(groups.begin(), groups.end(),
                                   [](const SensorGroup& g) { return g.noises > 0; });
  if (s.noise.size() == 1) s.noise.assign(noisy, s.noise[0]);
  return s;
}

}  // namespace

std::vector<Sensor> build_sensors(const Scene& scene, const Model& model) {
  std::vector<Sensor> all;
  for (const SensorScene& s : scene.sensors) all.push_back(build_sensor(scene, model, s));
  try {
    for (const Sensor& s : all) check_sensor(s, scene.stepping.dt);
  } catch (const InputError& e) { throw fault(scene, e.path(), e.message()); }
  return all;
}

}  // namespace saltus
