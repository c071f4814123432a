#include "saltus/integrators/events/explicit_law.h"

#include <fmt/format.h>

#include "saltus/base/error.h"

namespace saltus {

namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw InputError(
      fmt::format("the explicit law of P3 (3.1) is of scaled point masses on a line, with springs "
                  "and drags along it; there is {}",
                  what));
}

double sign(double x) { return x > 0 ? 1 : (x < 0 ? -1 : 0); }

// Lines that point the same way.
bool same(const Vec3& a, const Vec3& b) { return (a - b).norm() < 1e-12; }

Vec3 line_of(const Body& b) {
  const auto* slide = std::get_if<Prismatic>(&b.joint);
  if (!slide || b.parent.valid()) refuse(fmt::format("the joint of body '{}'", b.name));
  return b.placement.R * slide->axis.normalized();
}

void check_dof(const Coordinate& c) {
  const JointDof& d = c.dof;
  if (d.prescribed || d.stiffness > 0 || d.damping > 0 || d.friction > 0 || d.lower > -infinity ||
      d.upper < infinity)
    refuse(fmt::format("a spring, damper, friction, limit or drive in joint '{}'", c.name));
}

}  // namespace

ExplicitLaw::ExplicitLaw(const Model& model, const Actuation& actuation)
    : model_(model), actuation_(actuation) {
  const int n = model.body_count();
  if (!model.cuts.empty()) refuse(fmt::format("the cut joint '{}'", model.cuts.front().name));
  if (!model.contact_laws.empty() || !model.gap_contacts.empty()) refuse("a contact law");
  if (!model.supports.empty())
    refuse(fmt::format("support friction on '{}'", model.supports.front().name));
  if (!model.wheels.empty() || !model.fluids.empty()) refuse("a wheel or a fluid");
  if (!actuation.motors.empty() || actuation.user) refuse("a motor or a user's force");
  line_ = line_of(model.bodies.front());
  mass_.resize(n);
  gravity_.resize(n);
  drag_ = Vec::Zero(n);
  scaled_.assign(n, 0);
  for (int i = 0; i < n; ++i) {
    const Body& b = model.bodies[i];
    if (!same(line_of(b), line_)) refuse(fmt::format("body '{}' on another line", b.name));
    mass_[i] = b.rigid.mass + model.armature[i];
    gravity_[i] = b.rigid.mass * model.gravity.dot(line_);
  }
  for (const Coordinate& c : model.coordinates) check_dof(c);
  for (const Runner& r : model.runners) {
    const Body& b = model.bodies[r.body];
    const Vec3 along = b.placement.R * b.in_body.R.transpose() * r.direction;
    if (r.edge || r.friction > 0 || !same(along, line_))
      refuse(fmt::format("runner '{}' with an edge, friction or another direction", r.name));
    if (r.scales) scaled_[r.body] = 1;
  }
  const auto origin = [&](BodyIndex body, const Vec3& point) {
    if (!body.valid()) return line_.dot(point);
    const Body& b = model.bodies[body];
    return line_.dot(b.placement * (b.in_body.inverse() * point));
  };
  for (std::size_t i = 0; i < model.springs.size(); ++i) {
    const Spring& s = model.springs[i];
    if (!same(s.axis, line_)) refuse(fmt::format("spring '{}' that is not along it", s.name));
    links_.push_back({static_cast<int>(i), s.a.valid() ? s.a.value : -1,
                      s.b.valid() ? s.b.value : -1,
                      origin(s.b, s.point_b) - origin(s.a, s.point_a)});
  }
  for (const Drag& d : model.drags) drag_[d.body] += d.coefficient;
  for (Vec* v : {&force_, &x_, &v_, &dv_, &sum_x_, &sum_v_}) *v = Vec::Zero(n);
}

void ExplicitLaw::rate(double t, const Vec& x, const Vec& v, Vec& acceleration) {
  force_ = gravity_ - drag_.cwiseProduct(v);
  for (const Link& l : links_) {
    const Spring& s = model_.springs[l.spring];
    double r = l.offset, dr = 0;
    if (l.a >= 0) {
      r -= x[l.a];
      dr -= v[l.a];
    }
    if (l.b >= 0) {
      r += x[l.b];
      dr += v[l.b];
    }
    const double tension =
        s.stiffness * (r - natural_length(model_, actuation_, l.spring, t)) + s.damping * dr;
    if (l.a >= 0) force_[l.a] += tension;
    if (l.b >= 0) force_[l.b] -= tension;
  }
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    const double f = force_[i];
    const double lambda = scaled_[i] ? -0.5 * (1 - sign(v[i])) * (1 - sign(f)) * f : 0;
    acceleration[i] = (f + lambda) / mass_[i];
  }
}

void ExplicitLaw::step(double t, double dt, Vec& x, Vec& v) {
  constexpr double at[] = {0, 0.5, 0.5, 1}, weight[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  sum_x_ = x;
  sum_v_ = v;
  x_ = x;
  v_ = v;
  for (int k = 0; k < 4; ++k) {
    rate(t + at[k] * dt, x_, v_, dv_);
    sum_x_ += weight[k] * dt * v_;
    sum_v_ += weight[k] * dt * dv_;
    if (k == 3) break;
    x_ = x + at[k + 1] * dt * v_;
    v_ = v + at[k + 1] * dt * dv_;
  }
  x = sum_x_;
  v = sum_v_;
}

}  // namespace saltus
