// The compiler's settings, and poses with their many ways to give a rotation.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "saltus/lie/so3.h"
#include "saltus/robots/mjcf_reader.h"

namespace saltus::mjcf {

double Compiler::angle(double x) const { return degree ? x * std::numbers::pi / 180 : x; }

Mat3 Compiler::euler_rotation(const Vec3& angles) const {
  Mat3 R = Mat3::Identity();
  for (int i = 0; i < 3; ++i) {
    const char letter = euler[i];
    const bool fixed = letter >= 'X' && letter <= 'Z';
    const Mat3 turn = exp_so3(angle(angles[i]) * Vec3::Unit(letter - (fixed ? 'X' : 'x')));
    R = fixed ? Mat3(turn * R) : Mat3(R * turn);
  }
  return R;
}

namespace {

// One of several words; the first word is 0.
int choice(const Element& e, const char* attribute, const std::string& given,
           const std::vector<std::string>& words) {
  const auto found = std::find(words.begin(), words.end(), given);
  if (found == words.end())
    throw e.error(attribute, fmt::format("expected {}, got '{}'", fmt::join(words, " or "), given));
  return static_cast<int>(found - words.begin());
}

double at_least_zero(const Element& e, const char* attribute, double x) {
  if (x >= 0) return x;
  throw e.error(attribute, fmt::format("expected a number >= 0, got {}", x));
}

void read_euler(const Element& e, Compiler& c) {
  const auto sequence = e.text("eulerseq");
  if (!sequence) return;
  if (sequence->size() != 3 || sequence->find_first_not_of("xyzXYZ") != std::string::npos)
    throw e.error("eulerseq",
                  fmt::format("expected three letters of x, y, z, X, Y, Z, got '{}'", *sequence));
  std::copy(sequence->begin(), sequence->end(), c.euler.begin());
}

void read_mass_rules(const Element& e, Compiler& c) {
  if (const auto x = e.number("boundmass")) c.least_mass = at_least_zero(e, "boundmass", *x);
  if (const auto x = e.number("boundinertia"))
    c.least_inertia = at_least_zero(e, "boundinertia", *x);
  if (const auto x = e.number("settotalmass")) c.total_mass = *x;
  if (const auto x = e.boolean("balanceinertia")) c.balance = *x;
  if (const auto x = e.text("inertiafromgeom"))
    c.from_geom = static_cast<Compiler::FromGeom>(
        choice(e, "inertiafromgeom", *x, {"false", "true", "auto"}));
  if (const auto x = e.numbers("inertiagrouprange", 2, 2)) {
    for (const double group : *x)
      if (group != std::floor(group) || std::abs(group) > 1e9)
        throw e.error("inertiagrouprange", fmt::format("expected whole numbers, got {}", group));
    c.first_group = static_cast<int>((*x)[0]);
    c.last_group = static_cast<int>((*x)[1]);
  }
}

}  // namespace

Compiler read_compiler(const Sources& sources) {
  Compiler c;
  for (const Element& e : sources.sections("compiler")) {  // later ones hold
    if (const auto x = e.text("angle"))
      c.degree = choice(e, "angle", *x, {"radian", "degree"}) == 1;
    if (const auto x = e.text("coordinate"); x && *x != "local")
      throw e.error("coordinate", fmt::format("expected local coordinates, got '{}'", *x));
    if (const auto x = e.boolean("autolimits")) c.autolimits = *x;
    if (const auto x = e.boolean("strippath")) c.strip_path = *x;
    if (const auto x = e.text("assetdir")) c.mesh_folder = *x;
    if (const auto x = e.text("meshdir")) c.mesh_folder = *x;
    read_euler(e, c);
    read_mass_rules(e, c);
  }
  return c;
}

Mat3 turn_z_to(const Vec3& direction) {
  const Vec3 d = direction.normalized();
  Vec3 axis = Vec3::UnitZ().cross(d);
  const double s = axis.norm();
  axis = s < 1e-10 ? Vec3::UnitX() : Vec3(axis / s);  // MuJoCo turns about x where it may choose
  return exp_so3(std::atan2(s, d.z()) * axis);
}

Mat3 rotation_of(const Element& e, const char* attribute, const std::vector<double>& q) {
  const Quat p(q[0], q[1], q[2], q[3]);
  if (!(p.norm() > 1e-10)) throw e.error(attribute, "expected a quaternion w, x, y, z, got zero");
  return p.normalized().toRotationMatrix();
}

namespace {

Vec3 direction(const Element& e, const char* attribute, const Vec3& d) {
  if (!(d.norm() > 1e-10)) throw e.error(attribute, "expected a direction, got zero");
  return d.normalized();
}

Mat3 from_axis_angle(const Element& e, const Compiler& c) {
  const auto x = *e.numbers("axisangle", 4, 4);
  return exp_so3(c.angle(x[3]) * direction(e, "axisangle", {x[0], x[1], x[2]}));
}

Mat3 from_axes(const Element& e) {
  const auto a = *e.numbers("xyaxes", 6, 6);
  const Vec3 x = direction(e, "xyaxes", {a[0], a[1], a[2]}), given(a[3], a[4], a[5]);
  const Vec3 y = direction(e, "xyaxes", given - x.dot(given) * x);
  Mat3 R;
  R << x, y, x.cross(y);
  return R;
}

}  // namespace

SE3 read_pose(const Styled& styled, const Compiler& compiler) {
  SE3 pose;
  pose.r = styled.vec3("pos").value_or(Vec3::Zero());
  static const std::array ways{"quat", "axisangle", "xyaxes", "zaxis", "euler"};
  for (const Element& e : styled.chain()) {
    const auto given =
        std::count_if(ways.begin(), ways.end(), [&](const char* w) { return e.has(w); });
    if (given > 1)
      throw e.error("expected one rotation, got several of quat, axisangle, xyaxes, zaxis, euler");
    if (given == 0) continue;
    for (const char* w : ways) (void)styled.has(w);
    if (e.has("quat")) pose.R = rotation_of(e, "quat", *e.numbers("quat", 4, 4));
    if (e.has("axisangle")) pose.R = from_axis_angle(e, compiler);
    if (e.has("xyaxes")) pose.R = from_axes(e);
    if (e.has("zaxis")) pose.R = turn_z_to(direction(e, "zaxis", *e.vec3("zaxis")));
    if (e.has("euler")) pose.R = compiler.euler_rotation(*e.vec3("euler"));
    break;
  }
  return pose;
}

}  // namespace saltus::mjcf
