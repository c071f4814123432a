#include "saltus/control/locomotion.h"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "saltus/base/error.h"
#include "saltus/control/locomotion_memory.h"
#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/kinematics.h"

namespace saltus {

namespace at = locomotion_memory;

const char* text_of(Fall fall) {
  switch (fall) {
    case Fall::none: return "";
    case Fall::tilt: return "it tipped over";
    case Fall::touch: return "its trunk touched";
    case Fall::low: return "its legs gave way";
  }
  return "";
}

const ScheduledGait& gait_at(const Locomotion& l, double t) {
  const ScheduledGait* now = &l.gaits.front();
  for (const ScheduledGait& g : l.gaits)
    if (g.from <= t + 1e-9) now = &g;
  return *now;
}

LocomotionController::LocomotionController(Locomotion settings) : settings_(std::move(settings)) {
  for (const Leg& leg : settings_.robot.legs)
    joints_.insert(joints_.end(), leg.joints.begin(), leg.joints.end());
}

int LocomotionController::memory() const { return at::size; }

LocomotionReport LocomotionController::report(const double* m) const {
  LocomotionReport r;
  r.fall = static_cast<Fall>(static_cast<int>(m[at::fall]));
  r.fall_time = m[at::fall_time];
  r.measured = m[at::measured] / settings_.rate;
  double* const means[] = {&r.forward,        &r.lateral,         &r.yaw_rate, &r.wanted_forward,
                           &r.wanted_lateral, &r.wanted_yaw_rate, &r.height};
  for (int i = 0; i < 7; ++i) *means[i] = m[at::sums + i] / std::max(1.0, m[at::measured]);
  r.largest_tilt = m[at::largest_tilt];
  r.saturated = m[at::saturated] / std::max(1.0, m[at::ticks]);
  r.infeasible = m[at::infeasible] / std::max(1.0, m[at::ticks]);
  return r;
}

namespace {

const LocomotionController* as_locomotion(const std::shared_ptr<const Controller>& c) {
  return dynamic_cast<const LocomotionController*>(c.get());
}

}  // namespace

const Locomotion* locomotion_of(const Actuation& actuation) {
  const auto& all = actuation.controllers;
  const auto own = std::find_if(all.begin(), all.end(), as_locomotion);
  return own == all.end() ? nullptr : &as_locomotion(*own)->settings();
}

void set_locomotion(Actuation& actuation, std::optional<Locomotion> settings) {
  auto& all = actuation.controllers;
  const auto own = std::find_if(all.begin(), all.end(), as_locomotion);
  if (!settings) {
    if (own != all.end()) all.erase(own);
    return;
  }
  auto made = std::make_shared<const LocomotionController>(*std::move(settings));
  if (own == all.end())
    all.push_back(std::move(made));
  else
    *own = std::move(made);
}

std::optional<LocomotionReport> locomotion_report(const Actuation& actuation, const State& state) {
  int first = memory_of(actuation.motors);
  for (const auto& c : actuation.controllers) {
    const int size = memory_of(*c);
    const LocomotionController* own = as_locomotion(c);
    if (own && state.memory.size() >= first + size)
      return own->report(own_memory(state.memory.data() + first));
    first += size;
  }
  return std::nullopt;
}

namespace {

struct Fitting {
  const Model& model;
  const std::string& path;
  Locomotion& l;
  Workspace work;
  Vec q;

  [[nodiscard]] InputError error(const std::string& key, const std::string& message) const {
    return InputError(path + "." + key, message);
  }
  [[nodiscard]] Vec3 foot(int i) const {
    return work.X[l.robot.legs[i].body] * l.robot.legs[i].point;
  }
  void place() {
    forward_kinematics(model, q, Vec::Zero(model.nv), work);
    world_columns(model, work);
  }

  void check_gaits() const {
    for (std::size_t i = 0; i < l.gaits.size(); ++i) {
      const std::string key = fmt::format("gaits[{}]", i);
      if (const char* fault = fault_of(l.gaits[i].gait, 1 / l.rate)) throw error(key, fault);
      if (i > 0 && !(l.gaits[i].from > l.gaits[i - 1].from))
        throw error(key + ".from", "expected a time after that of the gait before");
      const double flight = bouts_of(l.gaits[i].gait).flight;
      const double jump = model.gravity.norm() * flight * flight / 8;
      if (jump > 0.5 * l.height)
        throw error(key, fmt::format("flights of {:.3g} s are jumps of {:.3g} m: expected at most "
                                     "half the height of {:.3g} m",
                                     flight, jump, l.height));
    }
  }

  // Centre of mass of the robot: the linear rows of M against the trunk's angular ones.
  [[nodiscard]] Vec3 centre() {
    crba(model, work);
    const int b0 = model.bodies[l.robot.root].v0;
    const SE3& X = work.X[l.robot.root];
    const Mat3 m = work.M.block<3, 3>(b0, b0 + 3) * X.R.transpose() / work.M(b0, b0);
    return X.r + Vec3(m(1, 2), m(2, 0), m(0, 1));
  }

  // The feet below the trunk as they stand at the start, their middle below the centre of mass.
  void measure() {
    place();
    const SE3& X = work.X[l.robot.root];
    const Vec3 up = -model.gravity.normalized();
    double ground = 0;
    Vec3 middle = Vec3::Zero();
    for (int i = 0; i < leg_count; ++i) {
      ground += 0.25 * (up.dot(foot(i)) - l.robot.legs[i].radius);
      middle += 0.25 * foot(i);
    }
    if (l.height == 0) l.height = up.dot(X.r) - ground;
    if (!(l.height > 0)) throw error("height", "expected the trunk above its feet at the start");
    const double yaw = std::atan2(X.R(1, 0), X.R(0, 0)), c = std::cos(yaw), s = std::sin(yaw);
    for (int i = 0; i < leg_count; ++i) {
      const Vec3 d = foot(i) - middle;
      l.stance[i] = {c * d[0] + s * d[1], c * d[1] - s * d[0]};
    }
  }

  // Joint angles that put the feet in their stance at the commanded height, by Newton's method.
  void stand() {
    const int q0 = model.bodies[l.robot.root].q0;
    const Vec3 com = centre() - work.X[l.robot.root].r;
    const double yaw = std::atan2(work.X[l.robot.root].R(1, 0), work.X[l.robot.root].R(0, 0));
    q.segment<3>(q0) = Vec3(0, 0, l.height);
    q.segment<4>(q0 + 3) = Eigen::Vector4d(1, 0, 0, 0);
    const double c = std::cos(yaw), s = std::sin(yaw);
    for (int i = 0; i < leg_count; ++i) {
      const Leg& leg = l.robot.legs[i];
      const Vec3 goal(l.stance[i][0] + c * com[0] + s * com[1],
                      l.stance[i][1] + c * com[1] - s * com[0], leg.radius);
      double miss = 0;
      for (int k = 0; k < 200; ++k) {
        place();
        const Vec3 e = goal - foot(i);
        miss = e.norm();
        if (miss < 1e-6) break;
        LegMotion::Columns J(3, leg.joints.size());
        for (std::size_t j = 0; j < leg.joints.size(); ++j) {
          const int v = model.column_of(model.coordinates[leg.joints[j]].v_index);
          J.col(static_cast<Eigen::Index>(j)) =
              work.S0.col(v).head<3>() + work.S0.col(v).tail<3>().cross(foot(i));
        }
        const Mat3 J2 = J * J.transpose() + 1e-4 * l.height * l.height * Mat3::Identity();
        const Vec3 y = J2.inverse() * e;
        for (std::size_t j = 0; j < leg.joints.size(); ++j) {
          const Coordinate& k2 = model.coordinates[leg.joints[j]];
          q[k2.q_index] = std::clamp(
              q[k2.q_index] + std::clamp(J.col(static_cast<Eigen::Index>(j)).dot(y), -0.2, 0.2),
              k2.dof.lower, k2.dof.upper);
        }
      }
      if (miss > 1e-3 * l.height)
        throw error("height", fmt::format("leg {} cannot reach the ground from a height of {:.4g} "
                                          "m: {:.2g} m are missing",
                                          leg_names[i], l.height, miss));
    }
    place();
  }

  // What holding its weight on four legs takes, and on two where the gait swings the others.
  void check_limits() {
    bias_force(model, work);
    crba(model, work);
    const double weight =
        work.M(model.bodies[l.robot.root].v0, model.bodies[l.robot.root].v0) * model.gravity.norm();
    const Vec3 f = -0.25 * weight * model.gravity.normalized();
    for (int i = 0; i < leg_count; ++i)
      for (std::size_t j = 0; j < l.robot.legs[i].joints.size(); ++j) {
        const Coordinate& c = model.coordinates[l.robot.legs[i].joints[j]];
        const int at = model.column_of(c.v_index);
        const Vec3 column = work.S0.col(at).head<3>() + work.S0.col(at).tail<3>().cross(foot(i));
        const double needed = std::abs(work.tau_bias[c.v_index] - column.dot(f));
        if (needed > l.limit[i][j])
          throw error("limit", fmt::format("standing takes {:.3g} N m at joint '{}', its limit is "
                                           "{:.3g} N m",
                                           needed, c.name, l.limit[i][j]));
      }
  }
};

}  // namespace

void fit_locomotion(const Model& model, VecIn q, const std::string& path, Locomotion& l) {
  if (model.gravity.norm() == 0) throw InputError(path, "expected gravity: there is no down");
  if (model.gravity.normalized()[2] > -1 + 1e-9)
    throw InputError(path, "expected gravity against z; a slope is a turned half-space");
  Fitting fit{model, path, l, Workspace(model), q};
  fit.measure();
  fit.check_gaits();
  fit.stand();
  fit.check_limits();
}

}  // namespace saltus
