#include "saltus/studies/capability_study.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "saltus/base/error.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/model/joint_traits.h"

namespace saltus {

namespace {

double number(const std::string& option, std::string_view text) {
  double x = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(x))
    throw InputError(option, fmt::format("expected a number, got '{}'", text));
  return x;
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts{""};
  for (const char c : text)
    if (c == at)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

// "foot" or "foot:0,0,-0.1".
CapabilityPoint place(const Model& model, const char* option, const std::string& text) {
  const std::size_t colon = text.find(':');
  CapabilityPoint p;
  try {
    p.body = model.body(text.substr(0, colon));
  } catch (const InputError& e) { throw InputError(option, e.what()); }
  if (colon == std::string::npos) return p;
  const std::vector<std::string> xyz = split(text.substr(colon + 1), ',');
  if (xyz.size() != 3)
    throw InputError(option, fmt::format("expected BODY or BODY:x,y,z, got '{}'", text));
  for (int i = 0; i < 3; ++i) p.point[i] = number(option, xyz[i]);
  return p;
}

StanceOptions options_of(const Model& model, const CapabilityRequest& r) {
  StanceOptions o;
  if (r.point != "centre-of-mass") o.point = place(model, "--point", r.point);
  Vec3 up = r.up;
  if (up.isZero(0)) up = model.gravity.isZero(0) ? Vec3(Vec3::UnitZ()) : Vec3(-model.gravity);
  for (const std::string& text : r.pins) {
    const CapabilityPoint p = place(model, "--pin", text);
    o.footholds.push_back({p.body, p.point, up, infinity});
  }
  for (const std::string& text : r.feet) {
    if (!(r.friction >= 0) || !std::isfinite(r.friction))
      throw InputError("--foot", "expected --friction, a number >= 0, with it");
    const CapabilityPoint p = place(model, "--foot", text);
    o.footholds.push_back({p.body, p.point, up, r.friction});
  }
  if (r.limit) {
    if (!(*r.limit > 0)) throw InputError("--limit", "expected a number > 0 [N m, N]");
    o.limit = *r.limit;
  }
  if (!(r.touch >= 0)) throw InputError("--touch", "expected a number >= 0 [m]");
  o.touch = r.touch;
  o.joints = r.joints;
  return o;
}

Vec3 support_point(const Model& model, const Foothold& f, VecIn q) {
  Workspace work(model);
  forward_kinematics(model, q, Vec::Zero(model.nv), work);
  return work.X[f.body].R * f.point + work.X[f.body].r;
}

// The body that floats and carries all others, or -1.
int floating_root(const Model& model) {
  int root = -1;
  for (int i = 0; i < model.body_count(); ++i)
    if (!model.bodies[i].parent.valid()) {
      if (root >= 0 || !is_floating(model.bodies[i].joint)) return -1;
      root = i;
    }
  return root;
}

int index_in_q(const Model& model, const FieldAxis& axis) {
  const Coordinate& c = model.coordinates[model.coordinate(axis.name)];
  if (c.q_index < 0)
    throw InputError("--field",
                     fmt::format("'{}' is a cut joint: expected one of the tree", axis.name));
  return c.q_index;
}

}  // namespace

CapabilityReport capability_of(const Scene& scene, const CapabilityRequest& request) {
  if (!(request.direction.norm() > 0)) throw InputError("--direction", "expected x,y,z, not zero");
  const System system = build_system(scene);
  CapabilityReport out;
  out.stance = stance_of(system.model, system.actuation, system.start.q, system.start.t,
                         options_of(system.model, request));
  out.direction = request.direction.normalized();
  out.directional = directional_capability(out.stance, out.direction);
  out.free = free_capability(out.stance, out.direction);
  out.held = held_capability(out.stance, out.direction);
  return out;
}

FieldAxis field_axis(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::vector<std::string> parts =
      split(equals == std::string::npos ? "" : text.substr(equals + 1), ':');
  if (parts.size() != 3)
    throw InputError("--field", fmt::format("expected JOINT=FROM:TO:COUNT, got '{}'", text));
  FieldAxis axis{text.substr(0, equals), number("--field", parts[0]), number("--field", parts[1]),
                 0};
  const double count = number("--field", parts[2]);
  if (!(count >= 2 && count <= 1000) || count != std::floor(count))
    throw InputError("--field", fmt::format("expected a count from 2 to 1000, got '{}'", parts[2]));
  axis.count = static_cast<int>(count);
  return axis;
}

CapabilityField capability_field(const Scene& scene, const CapabilityRequest& request,
                                 const FieldAxis& x, const FieldAxis& y) {
  const System system = build_system(scene);
  const Model& model = system.model;
  StanceOptions o = options_of(model, request);
  o.contacts = false;  // a posture that changes loses them
  const int root = floating_root(model);
  if (root >= 0 && o.footholds.size() != 1)
    throw InputError("--field",
                     "a model on a floating base needs one point of support: --pin or "
                     "--foot BODY:x,y,z");
  const Vec3 support =
      root >= 0 ? support_point(model, o.footholds[0], system.start.q) : Vec3(Vec3::Zero());
  const int ix = index_in_q(model, x), iy = index_in_q(model, y);
  CapabilityField out{x, y, {}, {}};
  for (int j = 0; j < y.count; ++j)
    for (int i = 0; i < x.count; ++i) {
      Vec q = system.start.q;
      q[ix] = x.from + (x.to - x.from) * i / (x.count - 1);
      q[iy] = y.from + (y.to - y.from) * j / (y.count - 1);
      if (root >= 0)
        q.segment<3>(model.bodies[root].q0) += support - support_point(model, o.footholds[0], q);
      const Stance s = stance_of(model, system.actuation, q, system.start.t, o);
      out.directional.push_back(directional_capability(s, request.direction));
      out.held.push_back(held_capability(s, request.direction));
    }
  return out;
}

}  // namespace saltus
