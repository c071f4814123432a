#include "saltus/integrators/events/event_dynamics.h"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "saltus/contact/elements.h"
#include "saltus/contact/rows/contact.h"
#include "saltus/contact/rows/families.h"
#include "saltus/contact/surface.h"
#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/dynamics/mass.h"
#include "saltus/forces/fluid.h"
#include "saltus/forces/rod_forces.h"

namespace saltus {

namespace {

// Step of the differences behind zeta, as an angle or a share of the length scale: truncation
// (5e-3)^6 / 140 and rounding 1e-16 / 5e-3 are both near 1e-14 of the rates.
constexpr double bias_step = 5e-3;
constexpr double least_bias_step = 1e-7;  // rounding is 1e-9 of the rates there
constexpr double bias_weight[3] = {45.0 / 60, -9.0 / 60, 1.0 / 60};
// A kept row depends on the others when its pivot is below this share of the largest.
constexpr double rank_threshold = 1e-11;

// Axes with x along an inertial axis, y along the next.
const std::array<Mat3, 3> turned_axes = {(Mat3() << 1, 0, 0, 0, 1, 0, 0, 0, 1).finished(),
                                         (Mat3() << 0, 0, 1, 1, 0, 0, 0, 1, 0).finished(),
                                         (Mat3() << 0, 1, 0, 0, 0, 1, 1, 0, 0).finished()};

Law rows_only(int n) { return Bilateral{n}; }

void add_power(Evaluation& out, Power kind, double watts) {
  out.power[static_cast<int>(kind)] += watts;
}

}  // namespace

ModeDynamics::ModeDynamics(const Model& model, const Actuation& actuation)
    : model_(model),
      actuation_(actuation),
      work_(model),
      shifted_(model),
      rows_(model),
      shifted_rows_(model),
      islands_(model) {
  mass_.resize(forest_shape(model));
  const std::size_t n = model.bodies.size();
  for (auto* x : {&wrenches_, &column_wrench_, &twists_, &column_twist_, &shifted_twists_})
    x->assign(n, Vec6::Zero());
  for (Vec* x : {&tau_, &rhs_, &a_free_, &a_given_, &column_, &column_rhs_, &impulse_, &zero_,
                 &drive_, &user_, &offset_, &offset_rate_})
    x->setZero(model.nv);
  shifted_q_.setZero(model.nq);
  motor_.setZero(static_cast<Eigen::Index>(model.coordinates.size()));
  lagged.setZero(memory_of(actuation.motors));
  has_maps_ = std::any_of(model.shapes.begin(), model.shapes.end(),
                          [](const ContactShape& s) { return s.surface.friction != nullptr; });
}

double ModeDynamics::signal_time(double t) const {
  // Signals take a time within 1e-12 of a break as reached.
  const double left = until - 4e-12 * std::max(1.0, std::abs(until));
  return std::isfinite(until) ? std::min(t, left) : t;
}

bool ModeDynamics::element_rows(const Workspace& w, double t, const Element& e, Contact& at,
                                Assembly& out) const {
  if (e.is_contact()) {
    at.key = e.key;
    at.law = e.law;
    if (!contact_of_key(model_, w, e.key, feature_margin * model_.length_scale, at)) return false;
    at.tangent = e.tangent_axis < 3 ? in_plane(turned_axes[e.tangent_axis], at.point.normal)
                 : e.rows > 1       ? tangent_of(model_, w, at)
                                    : Vec3(Vec3::UnitX());
    const int row = open_contact(model_, w, 0, at, rows_only(e.rows), out);
    if (e.rows > 1) set_drift(model_, w, at, row, out);
    return true;
  }
  if (const int runner = runner_of(model_.slots[e.slot]); runner >= 0)
    out.steering[runner] = steering_angle(actuation_, runner, signal_time(t));
  open_rows(model_, w, e.slot, rows_only(e.rows), e.compliance, out);
  return true;
}

bool ModeDynamics::write_rows(const Workspace& w, double t, const EventMode& mode,
                              std::vector<Contact>& at, Assembly& out, std::vector<int>& first,
                              int& lost) const {
  out.clear();
  at.resize(mode.elements.size());
  first.assign(mode.elements.size(), -1);
  for (std::size_t i = 0; i < mode.elements.size(); ++i) {
    const Element& e = mode.elements[i];
    if (!e.present()) continue;
    first[i] = out.rows;
    if (element_rows(w, t, e, at[i], out)) continue;
    lost = static_cast<int>(i);
    return false;
  }
  return true;
}

void ModeDynamics::twists_of(const Workspace& w, std::vector<Vec6>& out) const {
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = join(w.X[i].R * w.V[i].head<3>(), w.X[i].R * w.V[i].tail<3>());
}

bool ModeDynamics::prepare(double t, VecIn q, VecIn v, const EventMode& mode, Evaluation& out) {
  out.lost = -1;
  forward_kinematics(model_, q, v, work_);
  load_mass(work_, zero_, mass_);
  if (!mass_.factor()) return false;
  if (!write_rows(work_, t, mode, contacts_, rows_, out.row, out.lost)) return false;
  element_of_.clear();
  for (std::size_t i = 0; i < mode.elements.size(); ++i)
    if (out.row[i] >= 0) element_of_.push_back(static_cast<int>(i));
  out.share.assign(mode.elements.size(), 1);
  for (std::size_t i = 0; has_maps_ && i < mode.elements.size(); ++i)
    if (out.row[i] >= 0) out.share[i] = share_of(mode.elements[i], contacts_[i]);
  islands_.partition(model_, rows_);
  twists_of(work_, twists_);
  const int n = rows_.rows;
  for (Vec* x : {&out.gamma, &out.lambda, &out.gamma_dot, &row_free_, &zeta_}) x->setZero(n);
  for (std::size_t b = 0; b < rows_.blocks.size(); ++b)
    for (int r = rows_.blocks[b].row; r < rows_.blocks[b].row + rows_.blocks[b].rows; ++r)
      out.gamma[r] = rows_.rate(r, rows_.source[b], twists_, v) + rows_.drift[r];
  return true;
}

// A force along a pair's wrench (about the inertial origin): on b, and reversed on a.
void ModeDynamics::add_pair(int a, int b, const Vec6& wrench, double force) {
  const auto on = [&](int body, double f) {
    if (body < 0) return;
    const Vec3 linear = f * wrench.head<3>();
    wrenches_[body] += join(linear, f * wrench.tail<3>() - work_.X[body].r.cross(linear));
  };
  on(b, force);
  on(a, -force);
}

void ModeDynamics::joint_forces(double at, VecIn q, VecIn v, const std::vector<std::int32_t>& turns,
                                const EventMode& mode, Evaluation& out) {
  motor_.setZero();
  out.lag_rate.resize(lagged.size());
  int lag = 0;
  for (std::size_t k = 0; k < actuation_.motors.size(); ++k) {
    const Motor& m = actuation_.motors[k];
    const CoordinateIndex c = m.coordinate;
    const double x = coordinate_value(model_, work_, q, turns, c);
    const double w = coordinate_rate(model_, work_, v, c);
    const Flank flank = mode.flanks.empty() ? Flank::none : mode.flanks[k];
    const TorqueRange range = torque_range(m, w);
    double force = 0;
    if (m.backlash == 0 || pushes(flank))
      force = std::clamp(asked_of(m, at, x, w, side_of(flank)), range.lower, range.upper);
    if (m.lag > 0) {
      out.lag_rate[lag] = (force - lagged[lag]) / m.lag;
      force = lagged[lag++];
    }
    motor_[c] += force;
    add_power(out, Power::motors, force * w);
  }
  for (int c = 0; c < static_cast<int>(model_.coordinates.size()); ++c) {
    const Coordinate& k = model_.coordinates[c];
    if (k.dof.prescribed) continue;
    double force = motor_[c];
    if (k.dof.stiffness != 0 || k.dof.damping != 0) {
      const double x = coordinate_value(model_, work_, q, turns, CoordinateIndex(c));
      const double w = coordinate_rate(model_, work_, v, CoordinateIndex(c));
      force -= k.dof.stiffness * (x - k.dof.rest) + k.dof.damping * w;
      add_power(out, Power::dampers, -k.dof.damping * w * w);
    }
    if (force == 0) continue;
    if (k.v_index >= 0) {
      tau_[k.v_index] += force;
    } else {
      const CoordinateRow r = coordinate_row(model_, work_, CoordinateIndex(c));
      add_pair(r.parent, r.child, r.wrench, force);
    }
  }
}

// Springs between points, drags (P3 section 4) and fluids.
void ModeDynamics::element_forces(double at, VecIn q, VecIn v, Evaluation& out) {
  for (int i = 0; i < static_cast<int>(model_.springs.size()); ++i) {
    const Spring& s = model_.springs[i];
    const SpringRow row = spring_row(work_, s);
    const auto rate_on = [&](int body) {
      return body < 0 ? 0.0
                      : row.wrench.head<3>().dot(twists_[body].head<3>() -
                                                 twists_[body].tail<3>().cross(work_.X[body].r)) +
                            row.wrench.tail<3>().dot(twists_[body].tail<3>());
    };
    const double stretching = rate_on(s.b) - rate_on(s.a);
    const double pull = s.stiffness * (row.length - natural_length(model_, actuation_, i, at));
    add_pair(s.a, s.b, row.wrench, -pull - s.damping * stretching);
    add_power(out, Power::dampers, -s.damping * stretching * stretching);
    if (const Signal* l = length_of(actuation_, i))
      add_power(out, Power::muscles, -pull * rate(*l, at));
  }
  for (const Drag& d : model_.drags) {
    const auto rows = drag_rows(work_, d);
    for (int k = 0; k < (model_.planar ? 2 : 3); ++k) {
      const double u = rows.col(k).dot(twists_[d.body]);
      wrenches_[d.body] -= d.coefficient * u * rows.col(k);
      add_power(out, Power::dampers, -d.coefficient * u * u);
    }
  }
  for (const Fluid& fluid : model_.fluids) {
    const SE3& X = work_.X[fluid.body];
    const FluidForce f = fluid_force(fluid, model_.gravity, at, X, work_.V[fluid.body]);
    wrenches_[fluid.body] += join(X.R * f.wrench.head<3>(), X.R * f.wrench.tail<3>());
    add_power(out, Power::dampers, f.lost);
    add_power(out, Power::external, f.given);
    add_stretch(model_, fluid, f, q, 1, tau_);
    add_power(out, Power::external, stretch_power(model_, fluid, f, q, v));
  }
}

void ModeDynamics::rod_forces(double at, VecIn q, VecIn v, Evaluation& out) {
  strain_offsets(model_, actuation_, at, offset_);
  for (const StrainOffset& s : actuation_.strains)
    offset_rate_[model_.coordinates[s.coordinate].v_index] = rate(s.offset, at);
  const RodPowers power = add_rod_forces(model_, q, v, offset_, offset_rate_, tau_);
  add_power(out, Power::dampers, power.dampers);
  add_power(out, Power::muscles, power.muscles);
}

void ModeDynamics::smooth_forces(double t, VecIn q, VecIn v, const std::vector<std::int32_t>& turns,
                                 const EventMode& mode, Evaluation& out) {
  out.power.fill(0);
  std::fill(wrenches_.begin(), wrenches_.end(), Vec6::Zero());
  tau_.setZero();
  user_.setZero();
  for (Vec6& f : work_.external) f.setZero();
  if (actuation_.user) {
    actuation_.user(model_, work_, t, q, v, user_, work_.external);
    add_power(out, Power::external, user_.dot(v));
    for (std::size_t i = 0; i < work_.external.size(); ++i)
      add_power(out, Power::external, work_.external[i].dot(work_.V[i]));
  }
  joint_forces(signal_time(t), q, v, turns, mode, out);
  element_forces(signal_time(t), q, v, out);
  if (!model_.rods.empty()) rod_forces(signal_time(t), q, v, out);
  bias_force(model_, work_);
  tau_ += user_ - work_.tau_bias;
}

// Forces of slipping sets for the slip at hand: given ones act at once, scaled ones are kept per
// unit of their normal force.
void ModeDynamics::slip_forces(const EventMode& mode, const Evaluation& out) {
  unit_force_.setZero(rows_.rows);
  for (std::size_t b = 0; b < rows_.blocks.size(); ++b) {
    const Element& e = mode.elements[element_of_[b]];
    for (int i = 0; i < e.sets; ++i) {
      const FrictionSet& s = e.set[i];
      if (!s.slips) continue;
      const int r = rows_.blocks[b].row + s.first;
      Vec2 u(out.gamma[r], s.rows == 2 ? out.gamma[r + 1] : 0);
      // One row keeps its direction until an event turns it; two follow the slip, which at its very
      // start is its acceleration.
      if (s.start > 0)
        u = started_slip(s, u);
      else if (s.rows == 1 || u.norm() < 1e-13 * (1 + model_.length_scale))
        u = s.direction;
      const Vec2 f = (i == 0 ? out.share[element_of_[b]] : 1) * slip_force(s, u);
      for (int k = 0; k < s.rows; ++k) unit_force_[r + k] = f[k];
    }
  }
}

// Whether the rates of kept rows change along the motion; those of others nobody needs.
bool ModeDynamics::rows_turn(const EventMode& mode) const {
  bool kept = false;
  for (const int i : element_of_) {
    const Element& e = mode.elements[i];
    for (int k = 0; k < e.rows; ++k) kept = kept || e.keeps(k);
    if (kept && e.is_contact()) return true;
  }
  if (!kept) return false;
  return std::any_of(twists_.begin(), twists_.end(),
                     [](const Vec6& V) { return !V.tail<3>().isZero(0); });
}

// What a row's rate changes by as time alone passes.
double ModeDynamics::explicit_bias(double t, const Element& e) const {
  if (e.is_contact()) return 0;
  const BlockSlot& s = model_.slots[e.slot];
  if (const int runner = runner_of(s); runner >= 0) {
    const Signal* steering = steering_of(actuation_, runner);
    if (!steering) return 0;
    const double at = signal_time(t);
    return rate(*steering, at) * steering_turn(model_, work_, s, value(*steering, at))
                                     .dot(twists_[model_.runners[runner].body]);
  }
  if (account_of(model_, s) != Account::drive) return 0;
  for (const Prescribed& p : actuation_.prescribed)
    if (p.coordinate == s.index) return -acceleration(p.r, signal_time(t));
  return 0;
}

// The differences behind zeta, of a motion that goes on for up to three times s to either side [s].
// False: a contact's feature ends within.
bool ModeDynamics::differences(double t, VecIn q, VecIn v, const EventMode& mode, double s,
                               Evaluation& out) {
  zeta_.setZero(rows_.rows);
  for (int k = 1; k <= 3; ++k)
    for (const int side : {1, -1}) {
      shifted_q_ = q;
      advance(model_, shifted_q_, v, side * k * s);
      forward_kinematics(model_, shifted_q_, v, shifted_);
      if (!write_rows(shifted_, t, mode, shifted_contacts_, shifted_rows_, shifted_first_,
                      out.lost))
        return false;
      twists_of(shifted_, shifted_twists_);
      for (std::size_t b = 0; b < rows_.blocks.size(); ++b)
        for (int r = rows_.blocks[b].row; r < rows_.blocks[b].row + rows_.blocks[b].rows; ++r)
          zeta_[r] += side * bias_weight[k - 1] / s *
                      (shifted_rows_.rate(r, shifted_rows_.source[b], shifted_twists_, v) +
                       shifted_rows_.drift[r]);
    }
  return true;
}

bool ModeDynamics::row_biases(double t, VecIn q, VecIn v, const EventMode& mode, Evaluation& out) {
  zeta_.setZero(rows_.rows);
  if (rows_turn(mode)) {
    double fastest = 0;
    for (const Vec6& V : twists_)
      fastest = std::max(
          {fastest, V.tail<3>().norm(), V.head<3>().norm() / std::max(model_.length_scale, 1e-9)});
    // Near the end of a contact's feature (a bend of the ground) only so far as it goes.
    double size = bias_step;
    while (fastest > 0 && !differences(t, q, v, mode, size / fastest, out)) {
      if (size < least_bias_step) return false;
      size *= 0.1;
    }
    out.lost = -1;
  }
  for (std::size_t b = 0; b < rows_.blocks.size(); ++b)
    zeta_[rows_.blocks[b].row] += explicit_bias(t, mode.elements[element_of_[b]]);
  return true;
}

bool ModeDynamics::free_motion(double t, VecIn q, VecIn v, const std::vector<std::int32_t>& turns,
                               const EventMode& mode, Evaluation& out) {
  smooth_forces(t, q, v, turns, mode, out);
  slip_forces(mode, out);
  for (std::size_t b = 0; b < rows_.blocks.size(); ++b) {
    const Element& e = mode.elements[element_of_[b]];
    for (int i = 0; i < e.sets; ++i) {
      if (!e.set[i].slips || e.set[i].scaled) continue;
      const BlockSource& s = rows_.source[b];
      for (int k = 0; k < e.set[i].rows; ++k) {
        const int r = rows_.blocks[b].row + e.set[i].first + k;
        out.lambda[r] = unit_force_[r];
        if (s.velocity >= 0) tau_[s.velocity] += s.sign * out.lambda[r];
        if (s.velocity < 0 && s.a >= 0) wrenches_[s.a] += out.lambda[r] * rows_.wrench_a.col(r);
        if (s.velocity < 0 && s.b >= 0) wrenches_[s.b] += out.lambda[r] * rows_.wrench_b.col(r);
      }
    }
  }
  rhs_ = tau_;
  a_given_.setZero();
  if (model_.any_prescribed) {
    prescribe_accelerations(model_, actuation_, signal_time(t), a_given_);
    mass_.multiply(a_given_, column_);
    rhs_ -= column_;
  }
  mass_.solve(-1, rhs_.data(), wrenches_.data(), a_free_.data(), nullptr);
  a_free_ += a_given_;
  if (!row_biases(t, q, v, mode, out)) return false;
  mass_.twists(a_free_, column_twist_);
  for (std::size_t b = 0; b < rows_.blocks.size(); ++b)
    for (int r = rows_.blocks[b].row; r < rows_.blocks[b].row + rows_.blocks[b].rows; ++r)
      row_free_[r] = rows_.rate(r, rows_.source[b], column_twist_, a_free_) + zeta_[r];
  return a_free_.allFinite() && row_free_.allFinite();
}

// M^-1 times the wrench of a unit force in a row, with the friction that slips along with it.
void ModeDynamics::solve_column(const EventMode& mode, int block, int row, bool with_friction) {
  const BlockSource& s = rows_.source[block];
  const auto tree = [&](int body) { return body >= 0 ? model_.tree[body] : -1; };
  if (s.velocity >= 0) {
    column_trees_ = {model_.tree[model_.v_body[s.velocity]], -1};
    column_rhs_[s.velocity] = s.sign;
    mass_.solve(column_trees_[0], column_rhs_.data(), nullptr, column_.data(), &column_twist_);
    column_rhs_[s.velocity] = 0;
    return;
  }
  const Element& e = mode.elements[element_of_[block]];
  const int first = rows_.blocks[block].row;
  const bool normal = with_friction && e.kind == Element::Kind::normal && row == first;
  const auto wrench = [&](const Mat6X& W) {
    Vec6 w = W.col(row);
    if (normal)
      for (int i = 0; i < e.sets; ++i)
        if (e.set[i].slips)
          for (int k = first + e.set[i].first; k < first + e.set[i].first + e.set[i].rows; ++k)
            w += unit_force_[k] * W.col(k);
    return w;
  };
  if (s.gap) {
    const Vec6 w = wrench(rows_.wrench_b);
    column_trees_ = {model_.tree[model_.v_body[s.gap->terms[0].velocity]], -1};
    for (const GapTerm& t : s.gap->terms) column_rhs_[t.velocity] = coefficient(t, w);
    mass_.solve(column_trees_[0], column_rhs_.data(), nullptr, column_.data(), &column_twist_);
    for (const GapTerm& t : s.gap->terms) column_rhs_[t.velocity] = 0;
    return;
  }
  column_trees_ = {tree(s.a), tree(s.b)};
  if (column_trees_[0] == column_trees_[1]) column_trees_[1] = -1;
  if (s.a >= 0) column_wrench_[s.a] += wrench(rows_.wrench_a);
  if (s.b >= 0) column_wrench_[s.b] += wrench(rows_.wrench_b);
  for (const int k : column_trees_)
    if (k >= 0) mass_.solve(k, nullptr, column_wrench_.data(), column_.data(), &column_twist_);
  if (s.a >= 0) column_wrench_[s.a].setZero();
  if (s.b >= 0) column_wrench_[s.b].setZero();
}

// The rate of block b's row r in the motion of the last solve_column.
double ModeDynamics::column_rate(int block, int row) const {
  const BlockSource& s = rows_.source[block];
  const auto moved = [&](int body) {
    return body >= 0 &&
           (model_.tree[body] == column_trees_[0] || model_.tree[body] == column_trees_[1]);
  };
  if (s.velocity >= 0) return moved(model_.v_body[s.velocity]) ? s.sign * column_[s.velocity] : 0.0;
  double sum = 0;
  if (s.gap && moved(model_.v_body[s.gap->terms[0].velocity]))
    for (const GapTerm& t : s.gap->terms)
      sum += coefficient(t, rows_.wrench_b.col(row)) * column_[t.velocity];
  if (moved(s.b)) sum += rows_.wrench_b.col(row).dot(column_twist_[s.b]);
  if (moved(s.a)) sum += rows_.wrench_a.col(row).dot(column_twist_[s.a]);
  return sum;
}

// lambda of the kept rows: (W' M^-1 W_f + C) lambda = -target, of dependent rows the least norm.
bool ModeDynamics::solve_rows(const EventMode& mode, const Vec& target, Vec& lambda,
                              bool with_friction) {
  std::fill(column_wrench_.begin(), column_wrench_.end(), Vec6::Zero());
  for (int k = 0; k < islands_.count(); ++k) {
    kept_.clear();
    for (const int b : islands_[k].blocks)
      for (int i = 0; i < rows_.blocks[b].rows; ++i)
        if (mode.elements[element_of_[b]].keeps(i)) kept_.push_back({b, rows_.blocks[b].row + i});
    const int n = static_cast<int>(kept_.size());
    if (n == 0) continue;
    K_.resize(n, n);
    for (int j = 0; j < n; ++j) {
      solve_column(mode, kept_[j].block, kept_[j].row, with_friction);
      for (int i = 0; i < n; ++i) K_(i, j) = column_rate(kept_[i].block, kept_[i].row);
      K_(j, j) += rows_.blocks[kept_[j].block].compliance;
    }
    if (!K_.allFinite()) return false;
    if (n == 1) {
      // Negative only where friction slips along (Painleve): the caller judges the force.
      lambda[kept_[0].row] = K_(0, 0) != 0 ? -target[kept_[0].row] / K_(0, 0) : 0.0;
      continue;
    }
    Vec right(n);
    for (int i = 0; i < n; ++i) right[i] = -target[kept_[i].row];
    Eigen::CompleteOrthogonalDecomposition<Mat> factor;
    factor.setThreshold(rank_threshold);
    factor.compute(K_);
    const Vec x = factor.solve(right);
    for (int i = 0; i < n; ++i) lambda[kept_[i].row] = x[i];
  }
  return lambda.allFinite();
}

// wrenches_ and impulse_ <- W_f lambda of the kept rows.
void ModeDynamics::apply(const EventMode& mode, const Vec& lambda, bool with_friction) {
  std::fill(column_wrench_.begin(), column_wrench_.end(), Vec6::Zero());
  impulse_.setZero();
  for (std::size_t b = 0; b < rows_.blocks.size(); ++b) {
    const Element& e = mode.elements[element_of_[b]];
    const BlockSource& s = rows_.source[b];
    const int first = rows_.blocks[b].row;
    const auto add = [&](int r, double force) {
      if (s.velocity >= 0) {
        impulse_[s.velocity] += s.sign * force;
        return;
      }
      if (s.gap)
        for (const GapTerm& t : s.gap->terms)
          impulse_[t.velocity] += coefficient(t, rows_.wrench_b.col(r)) * force;
      if (s.a >= 0) column_wrench_[s.a] += force * rows_.wrench_a.col(r);
      if (s.b >= 0) column_wrench_[s.b] += force * rows_.wrench_b.col(r);
    };
    for (int i = 0; i < rows_.blocks[b].rows; ++i)
      if (e.keeps(i)) add(first + i, lambda[first + i]);
    if (!with_friction || e.kind != Element::Kind::normal) continue;
    for (int i = 0; i < e.sets; ++i)
      if (e.set[i].slips)
        for (int k = first + e.set[i].first; k < first + e.set[i].first + e.set[i].rows; ++k)
          add(k, unit_force_[k] * lambda[first]);
  }
}

bool ModeDynamics::evaluate(double t, VecIn q, VecIn v, const std::vector<std::int32_t>& turns,
                            const EventMode& mode, Evaluation& out) {
  if (!prepare(t, q, v, mode, out) || !free_motion(t, q, v, turns, mode, out)) return false;
  if (!solve_rows(mode, row_free_, out.lambda, true)) return false;
  apply(mode, out.lambda, true);
  for (std::size_t b = 0; b < rows_.blocks.size(); ++b) {  // forces of sets that scale
    const Element& e = mode.elements[element_of_[b]];
    const int first = rows_.blocks[b].row;
    for (int i = 0; i < e.sets; ++i)
      if (e.set[i].slips && e.set[i].scaled)
        for (int k = first + e.set[i].first; k < first + e.set[i].first + e.set[i].rows; ++k)
          out.lambda[k] = unit_force_[k] * out.lambda[first];
  }
  out.a.resize(model_.nv);
  mass_.solve(-1, impulse_.data(), column_wrench_.data(), out.a.data(), &column_twist_);
  for (std::size_t b = 0; b < rows_.blocks.size(); ++b)
    for (int r = rows_.blocks[b].row; r < rows_.blocks[b].row + rows_.blocks[b].rows; ++r)
      out.gamma_dot[r] = row_free_[r] + rows_.rate(r, rows_.source[b], column_twist_, out.a);
  out.a += a_free_;
  out.force = out.lambda.size() > 0 ? out.lambda.lpNorm<Eigen::Infinity>() : 0;
  sum_powers(mode, v, out);
  return out.a.allFinite();
}

void ModeDynamics::sum_powers(const EventMode& mode, VecIn v, Evaluation& out) {
  for (std::size_t b = 0; b < rows_.blocks.size(); ++b) {
    const Element& e = mode.elements[element_of_[b]];
    const int first = rows_.blocks[b].row;
    if (e.kind == Element::Kind::bilateral) {
      if (account_of(model_, model_.slots[e.slot]) == Account::drive)
        add_power(out, Power::prescribed, out.lambda[first] * out.gamma[first]);
      continue;
    }
    for (int i = 0; i < e.sets; ++i)
      for (int k = first + e.set[i].first; k < first + e.set[i].first + e.set[i].rows; ++k) {
        add_power(out, Power::friction, out.lambda[k] * out.gamma[k]);
        add_power(out, Power::prescribed, -out.lambda[k] * rows_.drift[k]);  // of a belt
      }
  }
  if (!model_.any_prescribed) return;
  // What M a = tau + W lambda + drive lacks.
  for (std::size_t i = 0; i < wrenches_.size(); ++i) wrenches_[i] += column_wrench_[i];
  mass_.gather(wrenches_, drive_);
  drive_ += tau_ + impulse_;
  mass_.multiply(out.a, column_);
  for (int i = 0; i < model_.nv; ++i) {
    drive_[i] = model_.prescribed[i] ? column_[i] - drive_[i] : 0;
    add_power(out, Power::prescribed, drive_[i] * v[i]);
  }
}

Vec ModeDynamics::prescribed_offset(double t, const Element& e) const {
  Vec offset = Vec::Zero(e.rows);
  if (e.is_contact() || account_of(model_, model_.slots[e.slot]) != Account::drive) return offset;
  for (const Prescribed& p : actuation_.prescribed)
    if (p.coordinate == model_.slots[e.slot].index) offset[0] = -rate(p.r, signal_time(t));
  return offset;
}

double ModeDynamics::rest_rows(double t, const EventMode& mode, VecRef v, Evaluation& out) {
  row_free_ = out.gamma;
  for (std::size_t b = 0; b < rows_.blocks.size(); ++b) {
    const Element& e = mode.elements[element_of_[b]];
    auto rates = row_free_.segment(rows_.blocks[b].row, e.rows);
    rates += prescribed_offset(t, e);
    if (e.compliance > 0) rates.setZero();  // armature keeps nothing
  }
  double worst = 0;
  for (std::size_t b = 0; b < rows_.blocks.size(); ++b)
    for (int i = 0; i < rows_.blocks[b].rows; ++i) {
      const double rate = std::abs(row_free_[rows_.blocks[b].row + i]);
      if (!mode.elements[element_of_[b]].keeps(i) || !(rate > worst)) continue;
      worst = rate;
      out.restless = element_of_[b];
    }
  if (worst == 0) return 0;
  lambda_scratch_.setZero(rows_.rows);
  if (!solve_rows(mode, row_free_, lambda_scratch_, false)) return infinity;
  apply(mode, lambda_scratch_, false);
  mass_.solve(-1, impulse_.data(), column_wrench_.data(), column_.data(), nullptr);
  v += column_;
  return worst;
}

}  // namespace saltus
