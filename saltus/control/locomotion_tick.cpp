// One tick of the locomotion controller.
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "saltus/control/locomotion_memory.h"
#include "saltus/control/swing.h"
#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/lie/so3.h"

namespace saltus {

namespace {

using locomotion_memory::leg_at;
using locomotion_memory::Mode;
using locomotion_memory::vector_at;
namespace at = locomotion_memory;
using Planar2 = Eigen::Map<Vec2>;

constexpr double path_leash = 0.15;    // the path waits for the robot [m]
constexpr double yaw_leash = 0.3;      // and so does the heading [rad]
constexpr double search_speed = 0.3;   // of a foot that has found no ground [m/s]
constexpr double search_depth = 0.12;  // below the ground that is known [m]
constexpr double landing = 0.6;        // share of a swing after which a touch is a landing
// Of horizontal forces against the vertical one and the moments: on two legs not all can be had,
// and footholds see to the velocity too. With 1 the trunk tilts three times as much after a push.
constexpr double sideways_weight = 0.1;
constexpr double force_weight = 1e-3;  // eps: of the forces against the wrench

double wrapped(double angle) { return std::remainder(angle, 2 * std::numbers::pi); }

struct Tick {
  const Model& model;
  const Locomotion& l;
  const State& state;
  bool first;
  double* memory;
  double* torque;  // of the joints
  LocomotionWork& w;

  double t = state.t;
  double dt = 1 / l.rate;
  const ScheduledGait& now = gait_at(l, t);
  const Gait& gait = now.gait;
  double since = t - now.from;
  double gravity = model.gravity.norm();
  Vec3 up = -model.gravity / gravity;
  int b0 = model.bodies[l.robot.root].v0;
  // Of the robot  <- look
  double mass = 0, heading = 0, ground = 0;
  Mat3 R = Mat3::Identity();
  Vec3 r = Vec3::Zero(), com = Vec3::Zero(), velocity = Vec3::Zero();
  // Commanded, inertial  <- command
  Vec3 wanted = Vec3::Zero();
  double turn = 0;
  Vec6 a_b = Vec6::Zero();  // of the trunk
  Mat6 M_hat = Mat6::Zero();
  Vec6 b_hat = Vec6::Zero();

  [[nodiscard]] bool fallen() const { return memory[at::fall] != 0; }
  [[nodiscard]] Mode mode_of(int leg) const {
    return static_cast<Mode>(static_cast<int>(leg_at(memory, leg)[at::mode]));
  }
  void set_mode(int leg, Mode m) { leg_at(memory, leg)[at::mode] = static_cast<double>(m); }
  [[nodiscard]] Eigen::Map<Vec3> foothold(int leg) const {
    return vector_at(leg_at(memory, leg) + at::foothold);
  }
  [[nodiscard]] Eigen::Map<Vec3> target(int leg) const {
    return vector_at(leg_at(memory, leg) + at::target);
  }

  // --- where the robot is --------------------

  void look() {
    forward_kinematics(model, state.q, state.v, w.work);
    world_columns(model, w.work);
    crba(model, w.work);
    bias_force(model, w.work);
    R = w.work.X[l.robot.root].R;
    r = w.work.X[l.robot.root].r;
    heading = std::atan2(R(1, 0), R(0, 0));
    // The trunk's linear rows of M are the momentum's: m (c - r) x and its velocity.
    const auto rows = w.work.M.middleRows<3>(b0);
    mass = rows(0, b0);
    const Mat3 m = rows.middleCols<3>(b0 + 3) * R.transpose() / mass;  // -(c - r) x
    com = r + Vec3(m(1, 2), m(2, 0), m(0, 1));
    velocity = rows * state.v / mass;
    for (int i = 0; i < leg_count; ++i) look_at(i);
    for (const ContactImpulse& c : state.contacts) {
      if (!(c.Lambda[0] > 0)) continue;
      for (int i = 0; i < leg_count; ++i)
        w.legs[i].touches |= c.key.a == l.robot.legs[i].foot || c.key.b == l.robot.legs[i].foot;
    }
  }

  void look_at(int i) {
    const Leg& leg = l.robot.legs[i];
    LegMotion& k = w.legs[i];
    const Workspace& x = w.work;
    k.joints = static_cast<int>(leg.joints.size());
    k.p = x.X[leg.body] * leg.point;
    k.v = point_velocity(x, leg.body, k.p);
    const LinkMotion& link = x.motion[leg.body + 1];
    const Vec3 d = k.p - link.origin;
    const auto& a = x.acceleration[leg.body + 1];  // at no acceleration, gravity still upwards
    k.a0 = a.a + model.gravity + a.alpha.cross(d) + link.w.cross(link.w.cross(d));
    const auto column = [&](int v) -> Vec3 {
      const int at = model.column_of(v);
      return x.S0.col(at).head<3>() + x.S0.col(at).tail<3>().cross(k.p);
    };
    for (int c = 0; c < 6; ++c) k.Jb.col(c) = column(b0 + c);
    k.Jl.resize(3, k.joints);
    for (int c = 0; c < k.joints; ++c) {
      k.velocity[c] = model.coordinates[leg.joints[c]].v_index;
      k.Jl.col(c) = column(k.velocity[c]);
    }
    // Damped where the leg is nearly straight: a fiftieth of its length.
    const double length = (k.p - x.motion[model.coordinates[leg.joints[0]].body + 1].origin).norm();
    const Mat3 J2 = k.Jl * k.Jl.transpose() + 4e-4 * length * length * Mat3::Identity();
    k.inverse = k.Jl.transpose() * J2.inverse();
    k.touches = false;
  }

  void begin() {
    if (!first) return;
    memory[at::yaw] = heading;
    Planar2(memory + at::path) = com.head<2>();
    for (int i = 0; i < leg_count; ++i) {
      foothold(i) = target(i) = w.legs[i].p;
      w.legs[i].touches = true;  // before the first step no contact is known
    }
  }

  // --- the schedule --------------------

  void schedule() {
    for (int i = 0; i < leg_count; ++i) {
      LegMotion& k = w.legs[i];
      const LegPhase phase = leg_phase(gait, i, since);
      const Mode before = mode_of(i);
      Mode next = Mode::stance;
      if (phase.stance) {
        next = k.touches ? Mode::stance : Mode::search;
      } else if (before == Mode::stance || before == Mode::search) {
        next = Mode::swing;
        vector_at(leg_at(memory, i) + at::lift_off) = k.p;
      } else if (before == Mode::landed || (k.touches && phase.progress > landing)) {
        next = Mode::landed;
      } else {
        next = Mode::swing;
      }
      set_mode(i, next);
      k.stands = next == Mode::stance || (next == Mode::landed && k.touches);
      if (k.stands) foothold(i) = target(i) = k.p;
      // Where a foot hangs in the air there is no ground.
      const double below = up.dot(foothold(i) - k.p);
      if (!k.touches && below > 0) foothold(i) -= below * up;
    }
    ground = 0;
    for (int i = 0; i < leg_count; ++i)
      ground += 0.25 * (up.dot(foothold(i)) - l.robot.legs[i].radius);
  }

  // --- the trunk --------------------

  void command() {
    const bool moves = gait.duty < 1;
    const double forward = moves ? value(l.forward, t) : 0, side = moves ? value(l.lateral, t) : 0;
    turn = moves ? value(l.yaw_rate, t) : 0;
    const double c = std::cos(heading), s = std::sin(heading);
    wanted = Vec3(c * forward - s * side, s * forward + c * side, 0);
    double& yaw = memory[at::yaw];
    yaw += turn * dt;
    yaw = heading + std::clamp(wrapped(yaw - heading), -yaw_leash, yaw_leash);
    Planar2 path(memory + at::path);
    path += dt * wanted.head<2>();
    Vec2 ahead = path - com.head<2>();
    if (ahead.norm() > path_leash) path = com.head<2>() + path_leash / ahead.norm() * ahead;
    measure(forward, side);
  }

  void measure(double forward, double side) {
    memory[at::ticks] += 1;
    memory[at::largest_tilt] = std::max(memory[at::largest_tilt], tilt());
    if (t < l.measured_from - 1e-9 || fallen()) return;
    const double c = std::cos(heading), s = std::sin(heading);
    const double yaw_rate = up.dot(R * state.v.segment<3>(b0 + 3));
    const double all[] = {c * velocity[0] + s * velocity[1],
                          c * velocity[1] - s * velocity[0],
                          yaw_rate,
                          forward,
                          side,
                          turn,
                          up.dot(r) - ground};
    memory[at::measured] += 1;
    for (int i = 0; i < 7; ++i) memory[at::sums + i] += all[i];
  }

  [[nodiscard]] double tilt() const { return std::acos(std::clamp(up.dot(R.col(2)), -1.0, 1.0)); }

  // Between the commanded path and the middle of the legs that will stand.
  [[nodiscard]] Vec2 aim() const {
    const Planar2 path(memory + at::path);
    if (gait.sway == 0) return path;
    Vec2 middle = Vec2::Zero();
    double sum = 0;
    for (int i = 0; i < leg_count; ++i) {
      const double weight = 1e-6 + support_weight(gait, i, since);
      middle += weight * foothold(i).head<2>();
      sum += weight;
    }
    return gait.sway * middle / sum + (1 - gait.sway) * path;
  }

  // What springs and dampers to the commanded motion would do to the trunk.
  void virtual_model() {
    const LocomotionGains& g = l.gains;
    // Leaning over the legs that stand asks for twice the frequency of following a path.
    const double k = 1 + gait.sway;
    const Vec2 aside = k * k * g.travel.kp * (aim() - com.head<2>()) +
                       k * g.travel.kd * (wanted.head<2>() - velocity.head<2>());
    const Bounce b = bounce(gait, since, gravity);
    const double h = up.dot(r) - ground, rate = up.dot(state.v.segment<3>(b0));
    const double lift =
        b.acceleration + g.height.kp * (l.height + b.z - h) + g.height.kd * (b.rate - rate);
    a_b.head<3>() = Vec3(aside[0], aside[1], 0) + lift * up;
    const Mat3 level = exp_so3(memory[at::yaw] * up);
    const Vec3 e = log_so3(R.transpose() * level);  // trunk's axes
    const Vec3 spin = turn * (R.transpose() * up) - state.v.segment<3>(b0 + 3);
    for (int i = 0; i < 3; ++i) {
      const Gain& gain = i < 2 ? g.tilt : g.yaw;
      a_b[3 + i] = gain.kp * e[i] + gain.kd * spin[i];
    }
  }

  // --- the feet --------------------

  // Raibert: the foot lands so that the hip passes over it in the middle of its stance, and further
  // out by the error of the velocity.
  [[nodiscard]] Vec3 landing_place(int i, double left) const {
    const double half = 0.5 * stance_time(gait), yaw = heading + turn * (left + half);
    const double c = std::cos(yaw), s = std::sin(yaw);
    const Vec2& from = l.stance[i];
    const Vec2 own(c * from[0] - s * from[1], s * from[0] + c * from[1]);
    const double capture = l.gains.capture * std::sqrt(l.height / gravity);
    Vec2 step = half * wanted.head<2>() + capture * (velocity - wanted).head<2>();
    const double most = 0.6 * l.height;
    if (step.norm() > most) step *= most / step.norm();
    const Vec2 xy = com.head<2>() + left * velocity.head<2>() + own + step;
    // A tenth of the clearance deep, so that it does not hover.
    return Vec3(xy[0], xy[1], 0) + (ground + l.robot.legs[i].radius - 0.1 * l.clearance) * up;
  }

  // Down at a constant speed, at least as far as the leg hangs below the trunk where it falls, and
  // not out of reach.
  void search(int i, FootMotion& m) const {
    const double z = up.dot(m.p), hangs = up.dot(r) - l.height + l.robot.legs[i].radius;
    const double deepest = std::max(ground - search_depth, up.dot(r) - 1.2 * l.height);
    const double next = std::min(std::max(z - search_speed * dt, deepest), hangs);
    m.p += (next - z) * up;
    m.v = (next - z) / dt * up;
  }

  void lead_foot(int i) {
    LegMotion& k = w.legs[i];
    k.wanted.setZero();
    if (k.stands) return;
    FootMotion m{target(i), Vec3::Zero(), Vec3::Zero()};
    if (mode_of(i) == Mode::swing) {
      const LegPhase phase = leg_phase(gait, i, since);
      m = swing_foot(vector_at(leg_at(memory, i) + at::lift_off), landing_place(i, phase.left), up,
                     l.clearance, phase.progress, swing_time(gait));
    } else {
      search(i, m);
    }
    target(i) = m.p;
    k.wanted = m.a + l.gains.swing.kp * (m.p - k.p) + l.gains.swing.kd * (m.v - k.v);
  }

  // --- forces and torques --------------------

  // The legs follow their feet, qdd = J_l^+ (wanted - a0 - J_b a_b): what is left are the trunk's
  // six rows, M_hat a_b + b_hat = A f.
  void reduce() {
    const Mat& M = w.work.M;
    M_hat = M.block<6, 6>(b0, b0);
    b_hat = w.work.tau_bias.segment<6>(b0);
    for (const LegMotion& k : w.legs)
      for (int c = 0; c < k.joints; ++c) {
        const Vec6 column = M.block<6, 1>(b0, k.velocity[c]);
        const Eigen::RowVector3d row = k.inverse.row(c);
        M_hat.noalias() -= column * (row * k.Jb);
        b_hat += column * row.dot(k.wanted - k.a0);
      }
  }

  // Forces in the axes up, x, y; scaled by the weight. Moments count by the distance of the feet.
  void distribute() {
    int n = 0;
    for (const LegMotion& k : w.legs) n += k.stands;
    Mat3 axes;
    axes.col(0) = up;
    axes.col(1) = (Vec3::UnitX() - up[0] * up).normalized();
    axes.col(2) = up.cross(axes.col(1));
    Eigen::Matrix<double, 6, Eigen::Dynamic, 0, 6, 3 * leg_count> A(6, 3 * n);
    int at = 0;
    for (const LegMotion& k : w.legs)
      if (k.stands) A.middleCols<3>(3 * at++) = k.Jb.transpose() * axes;
    double reach = 0;
    for (const Vec2& p : l.stance) reach += 0.25 * p.norm();
    Vec6 S = Vec6::Constant(1 / (reach * reach));
    S.head<3>() << sideways_weight, sideways_weight, 1;
    const Vec6 wrench = (M_hat * a_b + b_hat) / (mass * gravity);
    ConeProgram& p = w.program;
    p.G = A.transpose() * S.asDiagonal() * A;
    p.G.diagonal().array() += force_weight;
    p.c = -(A.transpose() * S.cwiseProduct(wrench));
    p.mu.fill(l.friction);
    const ConeReport report = solve(p, w.f);
    memory[at::infeasible] += !report.converged;
    w.f *= mass * gravity;
    // The trunk's acceleration that these forces give.
    const Vec6 rest = A * w.f - b_hat;
    a_b = M_hat.partialPivLu().solve(rest);
    for (int i = 0; i < n; ++i) {
      const Vec3 f = axes * w.f.segment<3>(3 * i);
      w.f.segment<3>(3 * i) = f;
    }
  }

  void torques() {
    const Mat& M = w.work.M;
    double* tau = torque;
    bool bounded = false;
    int stands = 0;
    for (int i = 0; i < leg_count; ++i) {
      const LegMotion& k = w.legs[i];
      const Vec3 f = k.stands ? Vec3(w.f.segment<3>(3 * stands++)) : Vec3::Zero();
      Eigen::Matrix<double, Eigen::Dynamic, 1, 0, most_leg_joints, 1> qdd =
          k.inverse * (k.wanted - k.a0 - k.Jb * a_b);
      for (int c = 0; c < k.joints; ++c, ++tau) {
        const int v = k.velocity[c];
        double x = M.block<1, 6>(v, b0).dot(a_b) + w.work.tau_bias[v] - k.Jl.col(c).dot(f) +
                   model.coordinates[l.robot.legs[i].joints[c]].dof.damping * state.v[v];
        for (int d = 0; d < k.joints; ++d) x += M(v, k.velocity[d]) * qdd[d];
        const double most = l.limit[i][c];
        bounded |= std::abs(x) > most;
        *tau = std::clamp(x, -most, most);
      }
    }
    memory[at::saturated] += bounded;
  }

  // Limp, but for damping that its rate of ticks can bear.
  void give_up() {
    double* tau = torque;
    for (int i = 0; i < leg_count; ++i)
      for (int c = 0; c < w.legs[i].joints; ++c, ++tau) {
        const int v = w.legs[i].velocity[c];
        *tau =
            std::clamp(-0.05 * l.rate * w.work.M(v, v) * state.v[v], -l.limit[i][c], l.limit[i][c]);
      }
  }

  void look_for_fall() {
    if (fallen()) return;
    Fall fall = Fall::none;
    if (up.dot(r) - ground < l.fall_height * l.height) fall = Fall::low;
    if (tilt() > l.fall_tilt) fall = Fall::tilt;
    for (const ContactImpulse& c : state.contacts)
      for (const int shape : {c.key.a, c.key.b})
        if (c.Lambda[0] > 0 && model.shapes[shape].body.valid() &&
            l.robot.in_trunk(model.shapes[shape].body))
          fall = Fall::touch;
    if (fall == Fall::none) return;
    memory[at::fall] = static_cast<double>(fall);
    memory[at::fall_time] = t;
  }

  void run() {
    look();
    begin();
    schedule();
    command();
    look_for_fall();
    if (fallen()) return give_up();
    virtual_model();
    for (int i = 0; i < leg_count; ++i) lead_foot(i);
    reduce();
    distribute();
    torques();
  }
};

}  // namespace

void LocomotionController::tick(const ControlTick& tick,
                                std::unique_ptr<ControllerScratch>& scratch) const {
  auto* own = dynamic_cast<LocomotionWork*>(scratch.get());
  if (!own) {
    auto made = std::make_unique<LocomotionWork>(tick.model);
    own = made.get();
    scratch = std::move(made);
  }
  Tick{tick.model, settings_, tick.state, tick.first, tick.memory, tick.torque, *own}.run();
}

}  // namespace saltus
