#include "saltus/integrators/connection_integrator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "saltus/analysis/shape_dynamics.h"
#include "saltus/base/error.h"
#include "saltus/dynamics/energy.h"
#include "saltus/dynamics/joint_kinematics.h"
#include "saltus/dynamics/kinematics.h"

namespace saltus {

namespace {

void refuse_laws(const Model& m, const Actuation& a) {
  const auto got = [](const std::string& what) {
    throw InputError(
        fmt::format("the connection knows given joints, ideal axles and Stokes drag, "
                    "got {}",
                    what));
  };
  if (!m.contact_laws.empty() || !m.gap_contacts.empty()) got("contacts");
  if (!m.supports.empty()) got("support friction");
  if (!m.springs.empty() || !m.drags.empty()) got("springs or drags");
  if (!a.motors.empty() || !a.controllers.empty() || !a.pushes.empty() || a.user)
    got("motors, controllers or forces");
  if (!a.steering.empty()) got("a runner that is steered by a signal: give it a body on a joint");
  for (const Runner& r : m.runners)
    if (r.scales || r.friction > 0 || std::isfinite(r.grip))
      got(fmt::format("runner '{}' with scales, friction or a grip", r.name));
  for (const Wheel& w : m.wheels)
    if (w.pressed) got(fmt::format("wheel '{}' that is pressed on its plane", w.name));
  for (const Fluid& f : m.fluids)
    if (!f.quadratic.isZero(0) || f.flow || !f.end.added.isZero(0) || f.surface.half > 0)
      got(fmt::format("quadratic drag, a flow, an end or a surface on '{}'",
                      m.bodies[f.body].name));
  for (const RodElement& r : m.rods)
    for (int k = 0; k < r.size; ++k)
      if (const Coordinate& c = m.coordinates[r.coordinate + k]; !c.dof.prescribed)
        got(fmt::format("an elastic rod: '{}' follows no gait", c.name));
  for (const Coordinate& c : m.coordinates)
    if (c.dof.stiffness > 0 || c.dof.damping > 0 || c.dof.friction > 0)
      got(fmt::format("a spring, damper or friction in '{}'", c.name));
}

std::vector<char> given_variables(const ShapeSpace& space, const Model& m, const Actuation& a) {
  std::vector<char> given(static_cast<std::size_t>(space.p()), 0);
  for (const Prescribed& p : a.prescribed) {
    const Coordinate& c = m.coordinates[p.coordinate];
    if (c.body == space.root)
      throw InputError(fmt::format("'{}' is prescribed, but it is the net motion", c.name));
    given[space.first[c.body] + c.component] = 1;
  }
  for (const PrescribedRotation& p : a.rotations)
    for (int k = 0; k < 3; ++k) given[space.first[p.body] + k] = 1;
  for (int i = 0; i < space.p(); ++i)
    if (space.variables[i].rotation && !given[i])
      throw InputError(fmt::format("the spherical joint of '{}' follows no gait",
                                   m.bodies[space.variables[i].body].name));
  return given;
}

ConnectionFlow flow_of(const Model& m, const Actuation& a) {
  refuse_laws(m, a);
  ShapeSpace space = shape_space(m);
  Medium medium = medium_without_inertia(m, space);
  std::vector<char> given = given_variables(space, m, a);
  return {m, std::move(space), std::move(medium), std::move(given)};
}

bool turns_in_plane(const ShapeSpace& space) {
  return space.group == NetGroup::se2 || space.group == NetGroup::circle;
}

}  // namespace

ConnectionIntegrator::ConnectionIntegrator(const Model& model, const Actuation& actuation,
                                           const ByConnection& options)
    : model_(model),
      actuation_(actuation),
      options_(options),
      flow_(flow_of(model, actuation)),
      work_(model),
      drive_(Vec::Zero(model.nv)) {
  const std::vector<char> given = given_variables(flow_.space(), model, actuation);
  for (int i = 0; i < flow_.space().p(); ++i)
    if (!given[i]) free_.push_back(i);
}

// Signals take a time within 1e-12 of a break as reached.
Vec ConnectionIntegrator::shape(double t, VecIn free) const {
  const double at = std::min(t, until_ - 4e-12 * std::max(1.0, std::abs(until_)));
  Vec q = shape_q(model_, flow_.space(), Vec::Zero(flow_.space().p()));
  place_prescribed(model_, actuation_, std::isfinite(until_) ? at : t, q);
  Vec r = shape_of(model_, flow_.space(), q);
  for (std::size_t i = 0; i < free_.size(); ++i) r[free_[i]] = free[static_cast<int>(i)];
  return r;
}

// u of the given variables, zero else.
Vec ConnectionIntegrator::rates(double t) const {
  const double at = std::min(t, until_ - 4e-12 * std::max(1.0, std::abs(until_)));
  Vec v = Vec::Zero(model_.nv);
  prescribe_rates(model_, actuation_, std::isfinite(until_) ? at : t, v);
  const ShapeSpace& space = flow_.space();
  Vec u(space.p());
  for (int i = 0; i < space.p(); ++i)
    u[i] = v[model_.bodies[space.variables[i].body].v0 + space.variables[i].component];
  return u;
}

FlowRates ConnectionIntegrator::flow(double t, VecIn free, double threshold) const {
  return flow_.at(shape(t, free), rates(t), threshold);
}

namespace {

// Below this ratio of singular values rounding shows: the twist is a limit, or there is none.
constexpr double lost = 1e-5;
// What counts as rank there, and what a gait that has a limit leaves of the rows.
constexpr double lost_rank = 1e-4, compatible = 1e-3;

// Nothing here pushes back at a limit.
bool within_limits(const ShapeSpace& space, const Vec& r, double t, std::string& why) {
  for (int i = 0; i < r.size(); ++i) {
    const ShapeVariable& v = space.variables[i];
    const double slack = 1e-9 * (1 + std::abs(r[i]));
    if (r[i] >= v.lower - slack && r[i] <= v.upper + slack) continue;
    why = fmt::format("'{}' leaves its limits {:.6g} .. {:.6g}: at t = {:.6g} s it is at {:.6g}",
                      v.name, v.lower, v.upper, t, r[i]);
    return false;
  }
  return true;
}

}  // namespace

std::string ConnectionIntegrator::obstruction(double a, double b, VecIn free) const {
  constexpr double golden = 0.6180339887498949;
  const auto ratio = [&](double t) { return flow(t, free).ratio; };
  double c = b - golden * (b - a), d = a + golden * (b - a), fc = ratio(c), fd = ratio(d);
  for (int i = 0; i < 60 && b - a > 1e-13 * std::max(1.0, std::abs(a)); ++i)
    if (fc < fd) {
      b = d, d = c, fd = fc;
      c = b - golden * (b - a), fc = ratio(c);
    } else {
      a = c, c = d, fc = fd;
      d = a + golden * (b - a), fd = ratio(d);
    }
  const double t = 0.5 * (a + b);
  const FlowRates there = flow(t, free, lost_rank);
  if (there.ratio > lost) return fmt::format("at t = {:.9g} s the twist grows without bound", t);
  return fmt::format("at t = {:.9g} s {} would slip by {:.3g} m/s; the axles have lost rank there",
                     t, flow_.slipping(there), there.residual);
}

bool ConnectionIntegrator::twist(double t, VecIn free, FlowRates& out) {
  constexpr double sound = 3e-3;  // beyond it the axles decide
  constexpr int nodes = 12;       // even: none at the instant itself
  out = flow(t, free);
  if (flow_.medium().kind != ConnectionKind::rows) return true;
  if (out.ratio > lost) {
    if (out.residual <= options_.residual * std::max(out.scale, 1e-12)) return true;
    why_ = fmt::format("at t = {:.9g} s {} would slip by {:.3g} m/s", t, flow_.slipping(out),
                       out.residual);
    return false;
  }
  if (flow(t, free, lost_rank).residual > compatible * std::max(out.scale, 1e-12)) {
    why_.clear();  // obstruction() finds where
    return false;
  }
  if (!free_.empty()) {
    why_ = fmt::format(
        "at t = {:.9g} s the axles have lost rank, and joints that no signal moves "
        "have no limit",
        t);
    return false;
  }
  // 0/0: through the values beside it.
  double half = 1e-3;
  while (half < 0.5 && std::min(flow(t - half, free).ratio, flow(t + half, free).ratio) < sound)
    half *= 1.5;
  if (half >= 0.5) {
    why_ = fmt::format(
        "at t = {:.9g} s the axles have lost rank, and not for an instant: dynamics "
        "decides (integrator moreau or event-driven)",
        t);
    return false;
  }
  Vec eta = Vec::Zero(out.eta.size());
  double total = 0;
  for (int k = 0; k < nodes; ++k) {
    const double x = std::numbers::pi * (2 * k + 1) / (2 * nodes);
    const double weight = (k % 2 ? -1 : 1) * std::sin(x) / -std::cos(x);
    eta += weight * flow(t + half * std::cos(x), free).eta;
    total += weight;
  }
  out.eta = eta / total;
  return true;
}

void ConnectionIntegrator::place(const SE3& g, double turn, double t, VecIn free, State& s) const {
  const ShapeSpace& space = flow_.space();
  const Body& root = model_.bodies[space.root];
  const Vec before = s.q.segment(root.q0, root.nq);
  joint_coordinates(root.joint, root.placement.inverse() * g * root.in_body,
                    s.q.segment(root.q0, root.nq));
  if (turns_in_plane(space)) {  // full turns are counted
    double& angle = s.q[root.q0 + root.nq - 1];
    const double expected = before[root.nq - 1] + turn, round = 2 * std::numbers::pi;
    angle += round * std::round((expected - angle) / round);
  }
  place_prescribed(model_, actuation_, t, s.q);
  for (std::size_t i = 0; i < free_.size(); ++i) {
    const ShapeVariable& v = space.variables[free_[i]];
    s.q[model_.bodies[v.body].q0 + v.component] = free[static_cast<int>(i)];
  }
}

bool ConnectionIntegrator::set_velocities(State& s, std::string& why) {
  const ShapeSpace& space = flow_.space();
  const Body& root = model_.bodies[space.root];
  const Vec r = shape_of(model_, space, s.q);
  Vec free(static_cast<int>(free_.size()));
  for (std::size_t i = 0; i < free_.size(); ++i) free[static_cast<int>(i)] = r[free_[i]];
  FlowRates now;
  if (!twist(s.t, free, now)) {
    why = why_.empty() ? obstruction(s.t - 1e-3, s.t + 1e-3, free) : why_;
    return false;
  }
  s.v.segment(root.v0, root.nv) =
      root_velocities(model_, space, s.q.segment(root.q0, root.nq), space.basis * now.eta);
  for (int i = 0; i < space.p(); ++i)
    s.v[model_.bodies[space.variables[i].body].v0 + space.variables[i].component] = now.u[i];
  forces(s.t, s, now);
  return true;
}

// Stokes: what the drag asks of the joints. Axles: inverse dynamics with lambda_kin.
void ConnectionIntegrator::forces(double t, const State& s, const FlowRates& now) {
  const ShapeSpace& space = flow_.space();
  const Vec r = shape_of(model_, space, s.q);
  Vec tau;
  if (flow_.medium().kind == ConnectionKind::drag) {
    const NetMatrices k = net_matrices(shape_columns(model_, space, r), flow_.medium().K);
    tau = k.mixed.transpose() * now.eta + k.shape * now.u;
  } else if (free_.empty()) {
    Vec a = Vec::Zero(model_.nv);
    prescribe_accelerations(model_, actuation_, t, a);
    ShapeInstant at{r, Vec(space.p()), Vec(space.p())};
    const Mat T = rate_map(space, r);
    at.rdot = T.partialPivLu().solve(now.u);
    Vec du(space.p());
    for (int i = 0; i < space.p(); ++i)
      du[i] = a[model_.bodies[space.variables[i].body].v0 + space.variables[i].component];
    at.rddot = T.partialPivLu().solve(du - rate_bias(space, r, at.rdot));
    const NetForces forces{flow_.medium().rows, resistances(model_)};
    tau = torques(model_, space, forces, at, now.eta).tau;
  } else {
    tau = Vec::Zero(space.p());  // of passive joints the accelerations are not known
  }
  drive_.setZero();
  for (int i = 0; i < space.p(); ++i) {
    const int v = model_.bodies[space.variables[i].body].v0 + space.variables[i].component;
    if (model_.prescribed[v]) drive_[v] = tau[i];
  }
}

double ConnectionIntegrator::energy_of(const State& s) {
  forward_kinematics(model_, s.q, s.v, work_);
  return kinetic_energy(model_, s.v, work_) + potential_energy(model_, s.q, s.turns, work_);
}

bool ConnectionIntegrator::step(State& s, double dt, EnergyTerms& energy, std::string& why) {
  const ShapeSpace& space = flow_.space();
  const int f = static_cast<int>(free_.size());
  const State start = s;
  const double t_E = s.t0 + static_cast<double>(s.step + 1) * dt;
  const double before = energy_of(s);
  const Vec r = shape_of(model_, space, s.q);
  NetState net{work_.X[space.root], Vec::Zero(f + 2)};  // free joints, turn, work of drag
  for (int i = 0; i < f; ++i) net.x[i] = r[free_[i]];
  bool held = true;
  const NetRates rates_at = [&](double t, const NetState& at, Vec6& twist_out, VecRef xdot) {
    FlowRates now;
    held = held && twist(t, at.x.head(f), now);
    if (!held) {
      twist_out.setConstant(std::numeric_limits<double>::quiet_NaN());
      xdot.setZero();
      return;
    }
    twist_out = space.basis * now.eta;
    for (int i = 0; i < f; ++i) xdot[i] = now.u[free_[i]];
    xdot[f] = turns_in_plane(space) ? now.eta[space.n() - 1] : 0;
    xdot[f + 1] = now.power;
  };
  double t = s.t;
  while (t < t_E && held) {  // piece by piece of the signals
    // Beside instants without rank, signals are read beyond the step, but not beyond their breaks.
    until_ = infinity;
    const auto look = [&](const Signal& x) { until_ = std::min(until_, next_break(x, t)); };
    for (const Prescribed& p : actuation_.prescribed) look(p.r);
    for (const PrescribedRotation& p : actuation_.rotations)
      for (const Signal& x : p.r) look(x);
    const double next = std::min(until_, t_E);
    const NetIntegration part = integrate_net(rates_at, t, next, options_.tolerance, net, next - t);
    until_ = infinity;
    if (held && !part.done) {
      why_.clear();
      held = false;
    }
    t = held ? next : part.t;
  }
  if (!held) {
    why = why_.empty() ? obstruction(s.t, t_E, net.x.head(f)) : why_;
    s = start;
    return false;
  }
  s.t = t_E;
  place(net.g, net.x[f], t_E, net.x.head(f), s);
  const Vec r_E = shape_of(model_, space, s.q);
  if (!within_limits(space, r_E, t_E, why) || !set_velocities(s, why)) {
    s = start;
    return false;
  }
  ++s.step;
  energy = {};
  const double after = energy_of(s);
  energy.kinetic = kinetic_energy(model_, s.v, work_);
  energy.potential = after - energy.kinetic;
  energy.dampers = -net.x[f + 1];
  energy.prescribed = after - before + net.x[f + 1];
  return true;
}

}  // namespace saltus
