#include "saltus/control/computed_torque.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>

#include "saltus/base/error.h"
#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/lie/so3.h"

namespace saltus {

namespace {

using SmallMat =
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, most_controlled, most_controlled>;
using SmallVec = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, most_controlled, 1>;

// Of the torques against the accelerations, and of rows that feet share: shares of the largest
// entry, far below what either is known to.
constexpr double torque_weight = 1e-12, shared_rows = 1e-13;

double largest_diagonal(const SmallMat& A) {
  double most = 0;
  for (int i = 0; i < A.rows(); ++i) most = std::max(most, A(i, i));
  return most;
}

int lines_of(const Followed& f) {
  int n = f.upright ? 3 : 0;
  for (const auto& r : f.r) n += r.has_value();
  return n;
}

// min (1/2) x'H x - g'x within the bounds, H positive definite: an active set that starts from the
// minimum without bounds. Ends after a few rounds; the best point within the bounds in any case.
void box_minimum(const SmallMat& H, const SmallVec& g, const std::vector<double>& lower,
                 const std::vector<double>& upper, double* x) {
  const int n = static_cast<int>(g.size());
  SmallVec at = SmallVec::Zero(n);
  std::array<signed char, most_controlled> held{};  // -1 lower, 1 upper
  for (int round = 0; round < 4 * n + 4; ++round) {
    SmallMat K = H;
    SmallVec rhs = g;
    for (int i = 0; i < n; ++i) {
      if (held[i] == 0) continue;
      at[i] = held[i] < 0 ? lower[i] : upper[i];
      rhs -= H.col(i) * at[i];
    }
    for (int i = 0; i < n; ++i) {
      if (held[i] == 0) continue;
      K.row(i).setZero();
      K.col(i).setZero();
      K(i, i) = 1;
      rhs[i] = at[i];
    }
    at = K.ldlt().solve(rhs);
    bool changed = false;
    for (int i = 0; i < n; ++i) {
      if (held[i] != 0) continue;
      if (at[i] < lower[i]) held[i] = -1, changed = true;
      if (at[i] > upper[i]) held[i] = 1, changed = true;
    }
    if (changed) continue;
    // A bound that would rather be left: the one that would most.
    const SmallVec slope = H * at - g;
    int worst = -1;
    double most = 1e-12 * (1 + g.lpNorm<Eigen::Infinity>());
    for (int i = 0; i < n; ++i)
      if (held[i] != 0 && held[i] * slope[i] > most) worst = i, most = held[i] * slope[i];
    if (worst < 0) break;
    held[worst] = 0;
  }
  for (int i = 0; i < n; ++i) x[i] = std::clamp(at[i], lower[i], upper[i]);
}

struct ComputedScratch final : ControllerScratch {
  Workspace work;
  Mat rows;    // nv x (held, followed): W, A'
  Mat solved;  // M^-1 of them
  Mat drives;  // nv x torques: M^-1 B
  Vec free;    // dv/dt without torques and feet
  Mat6X jacobian;
  Eigen::LLT<Mat> mass;
  SmallMat force;   // of the feet per torque
  SmallVec force0;  // and without

  ComputedScratch(const Model& m, int lines, int torques) : work(m), mass(m.nv) {
    rows.setZero(m.nv, lines);
    solved.setZero(m.nv, lines);
    drives.setZero(m.nv, torques);
    free.setZero(m.nv);
    jacobian.setZero(6, m.nv);
  }
};

struct ComputedTick {
  const ComputedTorque& s;
  const ControlTick& tick;
  ComputedScratch& w;
  const Model& model = tick.model;
  int held = 0, lines = 0;
  SmallVec drift = SmallVec::Zero(most_controlled);   // dW'/dt v, dA/dt v
  SmallVec wanted = SmallVec::Zero(most_controlled);  // of the followed lines

  // Acceleration of a point at dv/dt = 0.
  [[nodiscard]] Vec3 drift_of(BodyIndex body, const Vec3& p) const {
    const LinkMotion& link = w.work.motion[body + 1];
    const auto& a = w.work.acceleration[body + 1];
    const Vec3 d = p - link.origin;
    return a.a + model.gravity + a.alpha.cross(d) + link.w.cross(link.w.cross(d));
  }
  void add(const auto& row, double rate) {
    w.rows.col(held + lines) = row.transpose();
    drift[held + lines] = rate;
    ++lines;
  }

  [[nodiscard]] bool touches(BodyIndex body) const {
    for (const ContactImpulse& c : tick.state.contacts)
      if (c.Lambda[0] > 0 &&
          (model.shapes[c.key.a].body == body || model.shapes[c.key.b].body == body))
        return true;
    return tick.first;  // before the first step no contact is known
  }
  void hold_feet() {
    const Vec3 up = -model.gravity.normalized();
    for (const ControlledFoot& f : s.feet) {
      if (!touches(f.body)) continue;
      const Vec3 p = w.work.X[f.body] * f.point - f.radius * up;
      point_jacobian(model, w.work, f.body, p, w.jacobian);
      // A ball rolls: its lowest point stays below the middle.
      const Vec3 rate = drift_of(f.body, w.work.X[f.body] * f.point) -
                        f.radius * w.work.acceleration[f.body + 1].alpha.cross(up);
      for (int i = 0; i < 3; ++i) add(w.jacobian.row(i), rate[i]);
    }
    held = lines;
    lines = 0;
  }

  void want(const Signal& r, double x, double v, const Followed& f) {
    const double t = tick.state.t;
    wanted[lines - 1] = acceleration(r, t) + f.kd * (rate(r, t) - v) + f.kp * (value(r, t) - x);
  }
  void follow_joint(const Followed& f) {
    const CoordinateRow r = coordinate_row(model, w.work, f.joint);
    add(Vec::Unit(model.nv, r.velocity).transpose(), 0);
    want(*f.r[0], coordinate_value(model, w.work, tick.state.q, tick.state.turns, f.joint),
         coordinate_rate(model, w.work, tick.state.v, f.joint), f);
  }
  void follow_point(const Followed& f, double* kept) {
    const Vec3 p = w.work.X[f.body] * f.point;
    point_jacobian(model, w.work, f.body, p, w.jacobian);
    const Vec3 v = point_velocity(w.work, f.body, p), rate = drift_of(f.body, p);
    for (int i = 0; i < 3; ++i)
      if (f.r[i]) {
        add(w.jacobian.row(i), rate[i]);
        want(*f.r[i], p[i], v[i], f);
      }
    if (!f.upright) return;
    const Mat3& R = w.work.X[f.body].R;
    const Vec3 spin = w.jacobian.bottomRows<3>() * tick.state.v;
    Eigen::Map<Vec3> turn(kept);
    if (tick.first) turn = log_so3(R);
    const Vec3 error = R * log_so3(R.transpose() * exp_so3(turn));
    const Vec3 alpha = w.work.acceleration[f.body + 1].alpha;
    for (int i = 0; i < 3; ++i) {
      add(w.jacobian.row(3 + i), alpha[i]);
      wanted[lines - 1] = f.kp * error[i] - f.kd * spin[i];
    }
  }

  void look() {
    forward_kinematics(model, tick.state.q, tick.state.v, w.work);
    world_columns(model, w.work);
    crba(model, w.work);
    bias_force(model, w.work);
    // What acts without torques: springs and dampers of the joints as well.
    w.free = -w.work.tau_bias;
    for (std::size_t c = 0; c < model.coordinates.size(); ++c) {
      const Coordinate& k = model.coordinates[c];
      if (k.v_index < 0) continue;
      const double x = coordinate_value(model, w.work, tick.state.q, tick.state.turns,
                                        CoordinateIndex(static_cast<int>(c)));
      w.free[k.v_index] -=
          k.dof.stiffness * (x - k.dof.rest) + k.dof.damping * tick.state.v[k.v_index];
    }
    w.mass.compute(w.work.M);
  }

  void run() {
    look();
    hold_feet();
    std::fill(tick.torque, tick.torque + s.joints.size(), 0.0);
    int kept = 0;
    for (const Followed& f : s.follow) {
      if (f.joint.valid())
        follow_joint(f);
      else
        follow_point(f, tick.memory + kept);
      kept += f.upright ? 3 : 0;
    }
    if (s.only_standing && held == 0 && !s.feet.empty()) return;
    solve();
  }

  void solve() {
    const int n = static_cast<int>(s.joints.size()), all = held + lines;
    w.drives.setZero();
    for (int i = 0; i < n; ++i) w.drives(model.coordinates[s.joints[i]].v_index, i) = 1;
    w.mass.solveInPlace(w.drives);
    w.mass.solveInPlace(w.free);
    auto W = w.rows.leftCols(held), A = w.rows.middleCols(held, lines);
    SmallMat S = A.transpose() * w.drives;
    SmallVec a0 = A.transpose() * w.free + drift.segment(held, lines);
    if (held > 0) {
      w.solved.leftCols(all) = w.rows.leftCols(all);
      for (int i = 0; i < all; ++i) w.mass.solveInPlace(w.solved.col(i));
      SmallMat G = W.transpose() * w.solved.leftCols(held);
      G.diagonal().array() += shared_rows * largest_diagonal(G);
      const Eigen::LDLT<SmallMat> factor(G);
      w.force = -factor.solve(SmallMat(W.transpose() * w.drives));
      w.force0 = -factor.solve(SmallVec(W.transpose() * w.free + drift.head(held)));
      const SmallMat per_force = A.transpose() * w.solved.leftCols(held);
      S += per_force * w.force;
      a0 += per_force * w.force0;
    }
    SmallMat H = SmallMat::Zero(n, n);
    H.noalias() += S.transpose() * S;
    H.diagonal().array() += std::max(torque_weight * largest_diagonal(H), 1e-300);
    const SmallVec g = S.transpose() * (wanted.head(lines) - a0);
    box_minimum(H, g, s.lower, s.upper, tick.torque);
  }
};

}  // namespace

ComputedTorqueController::ComputedTorqueController(ComputedTorque settings)
    : settings_(std::move(settings)) {}

int ComputedTorqueController::memory() const {
  int n = 0;
  for (const Followed& f : settings_.follow) n += f.upright ? 3 : 0;
  return n;
}

void ComputedTorqueController::tick(const ControlTick& tick,
                                    std::unique_ptr<ControllerScratch>& scratch) const {
  auto* mine = dynamic_cast<ComputedScratch*>(scratch.get());
  if (mine == nullptr) {
    int lines = 3 * static_cast<int>(settings_.feet.size());
    for (const Followed& f : settings_.follow) lines += lines_of(f);
    auto made = std::make_unique<ComputedScratch>(tick.model, lines,
                                                  static_cast<int>(settings_.joints.size()));
    mine = made.get();
    scratch = std::move(made);
  }
  ComputedTick{settings_, tick, *mine}.run();
}

void check(const Model& model, const ComputedTorque& s, const std::string& path) {
  const auto refuse = [&](const std::string& key, const std::string& message) {
    throw InputError(path + key, message);
  };
  if (s.joints.empty()) refuse(".joints", "expected joints that are driven");
  if (model.any_prescribed) refuse("", "expected a model without prescribed motions");
  if (!model.cuts.empty()) refuse("", "expected a model without cut joints and loops");
  int lines = 3 * static_cast<int>(s.feet.size());
  for (std::size_t i = 0; i < s.follow.size(); ++i) {
    const Followed& f = s.follow[i];
    const std::string key = fmt::format(".follow[{}]", i);
    if (lines_of(f) == 0) refuse(key, "expected something to follow");
    if (!(f.kp >= 0) || !(f.kd >= 0)) refuse(key, "expected gains that are not negative");
    lines += lines_of(f);
  }
  if (s.follow.empty()) refuse(".follow", "expected something to follow");
  if (lines > most_controlled || static_cast<int>(s.joints.size()) > most_controlled)
    refuse("", fmt::format("expected at most {} torques and as many rows of feet and of what is "
                           "followed, got {} and {}",
                           most_controlled, s.joints.size(), lines));
  for (std::size_t i = 0; i < s.joints.size(); ++i)
    if (!(s.lower[i] <= s.upper[i]))
      refuse(".limit", fmt::format("'{}' can give no torque", model.coordinates[s.joints[i]].name));
}

}  // namespace saltus
