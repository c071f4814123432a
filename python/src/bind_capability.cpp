#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "saltus/studies/capability_study.h"
#include "scenes.h"

namespace saltus::python {

using namespace nb::literals;

namespace {

using Triple = std::array<double, 3>;

std::vector<double> list_of(const Vec& x) { return {x.begin(), x.end()}; }

std::vector<std::vector<double>> rows_of_matrix(const Mat& m) {
  std::vector<std::vector<double>> rows;
  for (Eigen::Index i = 0; i < m.rows(); ++i) rows.push_back(list_of(Vec(m.row(i))));
  return rows;
}

nb::object dict_of(const Capability& c) {
  if (!c.feasible) return nb::none();
  nb::dict d;
  d["value"] = c.value;
  d["error"] = c.error;
  d["torques"] = list_of(c.tau);
  d["forces"] = list_of(c.force);
  return d;
}

nb::list outline_of(const Stance& s, int a, int b, bool held) {
  nb::list corners;
  for (const Vec2& p : capability_outline(s, Vec3::Unit(a), Vec3::Unit(b), held))
    corners.append(nb::make_tuple(p[0], p[1]));
  return corners;
}

// Lists; Python's part (capability.py) makes arrays of them.
nb::dict capability(const SceneHandle& scene, const std::string& point, const Triple& direction,
                    const std::vector<std::string>& pins, const std::vector<std::string>& feet,
                    std::optional<double> friction, const std::optional<Triple>& up,
                    std::optional<double> limit, const std::string& joints, double touch,
                    bool outlines) {
  CapabilityRequest r;
  r.point = point;
  r.direction = Vec3(direction[0], direction[1], direction[2]);
  r.pins = pins;
  r.feet = feet;
  r.friction = friction.value_or(infinity);
  if (up) r.up = Vec3((*up)[0], (*up)[1], (*up)[2]);
  r.limit = limit;
  r.joints = joints;
  r.touch = touch;
  const CapabilityReport found = capability_of(scene.read(), r);
  const Stance& s = found.stance;
  nb::dict d;
  d["direction"] = list_of(found.direction);
  nb::list actuators, held_at;
  for (const Actuator& a : s.actuators)
    actuators.append(nb::make_tuple(text(a.name), a.lower, a.upper));
  for (std::size_t i = 0; i < s.blocks.size(); ++i)
    held_at.append(nb::make_tuple(text(s.names[i]), s.blocks[i].row, s.blocks[i].rows));
  d["actuators"] = actuators;
  d["held_at"] = held_at;
  d["S"] = rows_of_matrix(s.S);
  d["a0"] = list_of(s.a0);
  d["Fs"] = rows_of_matrix(s.Fs);
  d["F0"] = list_of(s.F0);
  d["N"] = rows_of_matrix(s.N);
  d["directional"] = dict_of(found.directional);
  d["free"] = dict_of(found.free);
  d["held"] = dict_of(found.held);
  if (outlines) {
    nb::dict planes;
    for (const auto& [name, a, b] : {std::tuple{"xy", 0, 1}, {"xz", 0, 2}, {"yz", 1, 2}})
      planes[name] = nb::make_tuple(outline_of(s, a, b, false), outline_of(s, a, b, true));
    d["outlines"] = planes;
  }
  return d;
}

}  // namespace

void bind_capability(nb::module_& m) {
  m.def("_capability", &capability, "scene"_a, "point"_a, "direction"_a, "pins"_a, "feet"_a,
        "friction"_a.none(), "up"_a.none(), "limit"_a.none(), "joints"_a, "touch"_a, "outlines"_a);
}

}  // namespace saltus::python
