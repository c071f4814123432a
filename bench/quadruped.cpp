#include "bench/quadruped.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>

#include "saltus/dynamics/kinematics.h"
#include "saltus/lie/so3.h"

namespace saltus::bench {

namespace {

using nlohmann::json;

constexpr double stand_for = 1;        // [s], then it trots
constexpr double in_contact = 1e-4;    // a foot below this gap at both ends of a step [m]
constexpr double settled_after = 0.5;  // [s]
const Vec3 truth_4(-0.01931079, 0.00394309, 0.34192993);  // VERIFY.md, P2: trunk at t_trot = 0.4 s
const Vec3 truth_8(-0.08020061, 0.02237536, 0.33597224);  // and at 0.8 s

}  // namespace

Robot::Robot(const std::string& scene_file)
    : scene(load_scene(scene_file, {})), system(build_system(scene)), q_start{} {
  const Model& m = system.model;
  for (const ContactShape& shape : m.shapes)
    if (shape.name.ends_with("_foot"))
      feet.push_back({shape.body, shape.frame.r, std::get<Sphere>(shape.shape).radius});
  if (feet.size() != legs || m.bodies.size() != joints + 1)
    throw InputError(scene_file + ": expected a quadruped of 13 bodies with four feet");
  mu = m.contact_laws.at(0).mu1;
  kp = system.actuation.motors.at(0).kp;
  kd = m.coordinates[system.actuation.motors[0].coordinate].dof.damping;
  Workspace work(m);
  forward_kinematics(m, system.start.q, system.start.v, work);
  start = work.X;
  for (int i = 0; i < joints; ++i) q_start[i] = system.start.q[m.bodies[i + 1].q0];
}

References Robot::reference(double t) const {
  References r{};
  for (const Motor& motor : system.actuation.motors)
    r[system.model.coordinates[motor.coordinate].body - 1] = value(motor.reference, t);
  return r;
}

Vec3 Robot::axis(int body) const {
  return std::get<Revolute>(system.model.bodies[body].joint).axis;
}

std::vector<References> reference_table(const Robot& robot, const Trial& trial, int steps) {
  std::vector<References> table;
  table.reserve(steps + 1);
  for (int k = 0; k <= steps; ++k) table.push_back(robot.reference(trial.trot ? k * trial.dt : 0));
  return table;
}

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

Watcher::Watcher(const Robot& robot, const Trial& trial, double creep_from)
    : robot_(robot), trial_(trial), creep_from_(creep_from) {
  creep.fill(Vec3::Zero());
}

double Watcher::mechanical(const Seen& seen) const {
  double e = 0;
  for (std::size_t i = 0; i < seen.X.size(); ++i) {
    const RigidInertia& body = robot_.system.model.bodies[i].rigid;
    const Vec3 w = seen.X[i].R.transpose() * seen.omega[i];
    e += 0.5 * body.mass * seen.v[i].squaredNorm() + 0.5 * w.dot(body.about_com * w) -
         body.mass * trial_.gravity.dot(seen.X[i] * body.com);
  }
  return e;
}

// The contact point moves with the foot's centre, less what the foot rolls (exact for a sphere that
// turns about a constant axis).
void Watcher::slip(const Seen& seen, double t) {
  for (int i = 0; i < legs; ++i) {
    const Foot& foot = robot_.feet[i];
    const Vec3 from = last_.X[foot.body] * foot.at, to = seen.X[foot.body] * foot.at;
    const double gap = std::max(from.z(), to.z()) - foot.radius;
    if (t > settled_after) penetration = std::max(penetration, foot.radius - to.z());
    const Vec3 turned = log_so3(seen.X[foot.body].R * last_.X[foot.body].R.transpose());
    Vec3 moved = to - from + turned.cross(Vec3(0, 0, -foot.radius));
    moved.z() = 0;
    if (gap < in_contact && t > stand_for) {
      slip_path += moved.norm();
      contact_time += trial_.dt;
    }
    if (t > creep_from_) creep[i] += moved;
  }
}

// Of tau = kp (ref - q) - kd dq/dt along the motion, by the mid-point rule: what the PD should have
// done, however the engine applies it.
void Watcher::work(const Seen& seen, double t) {
  const References mid = robot_.reference(trial_.trot ? t - 0.5 * trial_.dt : 0);
  for (int i = 0; i < joints; ++i) {
    const double turned = seen.q[i] - last_.q[i];
    const double error = mid[i] - 0.5 * (seen.q[i] + last_.q[i]);
    motors += (robot_.kp * error - robot_.kd * turned / trial_.dt) * turned;
  }
}

void Watcher::look(const Seen& seen, double t) {
  energy = mechanical(seen);
  trunk = seen.X[0].r;
  if (first_) {
    start_energy = energy;
  } else {
    slip(seen, t);
    work(seen, t);
  }
  first_ = false;
  last_ = seen;
}

namespace {

// What contacts took since the start: work of the motors less what is left of it [J].
double lost(const Watcher& w) { return w.motors - (w.energy - w.start_energy); }

json watch_trot(const Contender& c, const Robot& robot, double dt, double end) {
  const Trial trial{.dt = dt, .trot = true};
  Watcher w(robot, trial, end);
  json j;
  c.watch(
      robot, trial, end,
      [&](double t) {
        if (std::abs(t - stand_for - 0.4) < 0.5 * dt) j["error_0.4"] = (w.trunk - truth_4).norm();
        if (std::abs(t - stand_for - 0.8) < 0.5 * dt) {
          j["error_0.8"] = (w.trunk - truth_8).norm();
          j["contact_loss"] = lost(w);
        }
      },
      w);
  j["penetration"] = w.penetration;
  j["slip_speed"] = w.slip_path / w.contact_time;
  return j;
}

json measure(const Contender& c, const Robot& robot, bool quick) {
  const double end = quick ? 2 : 20, from = 0.5 * end, dt = 2.5e-3;
  json j;
  const Trial stand{.dt = dt};
  Watcher flat(robot, stand, from);
  c.watch(
      robot, stand, end, [](double) {}, flat);
  j["stand"] = {{"penetration", flat.penetration}};
  const double slope = 15 * 3.14159265358979323846 / 180;
  const Trial steep{.gravity = 9.81 * Vec3(std::sin(slope), 0, -std::cos(slope)), .dt = dt};
  Watcher uphill(robot, steep, from);
  c.watch(
      robot, steep, end, [](double) {}, uphill);
  double creep = 0;
  for (const Vec3& moved : uphill.creep) creep = std::max(creep, moved.norm() / (end - from));
  j["slope"] = {{"penetration", uphill.penetration}, {"creep", creep}};
  j["trot"]["2.5"] = watch_trot(c, robot, dt, quick ? 2 : 5);
  j["trot"]["1"] = watch_trot(c, robot, 1e-3, quick ? 2 : 5);
  return j;
}

// Steps a second of each run of `repeats`.
json time_runs(const Contender& c, const Robot& robot, bool quick, int repeats) {
  const double slope = 15 * 3.14159265358979323846 / 180;
  const Trial stand, trot{.trot = true};
  const Trial steep{.gravity = 9.81 * Vec3(std::sin(slope), 0, -std::cos(slope))};
  const int warm_up = static_cast<int>(std::round(stand_for / stand.dt));
  json j{{"stand", json::array()}, {"trot", json::array()}, {"slope", json::array()}};
  for (int i = 0; i < repeats; ++i) {
    const int steps = quick ? 320 : 1600;  // of the trot: up to t_trot = 4 s, where it is regular
    j["stand"].push_back(steps / c.seconds(robot, stand, warm_up, steps));
    j["trot"].push_back(steps / c.seconds(robot, trot, warm_up, steps));
    j["slope"].push_back(steps / c.seconds(robot, steep, warm_up, steps));
  }
  return j;
}

}  // namespace

int run_contenders(int argc, char** argv, const std::string& version,
                   const std::vector<Contender>& contenders) try {
  const std::string what = argc > 1 ? argv[1] : "";
  const bool quick = argc > 2 && std::strcmp(argv[2], "--quick") == 0;
  if (what != "measure" && what != "time" && what != "truth") {
    fmt::print(stderr, "usage: {} measure|time|truth [--quick]\n", argv[0]);
    return 2;
  }
  const Robot robot(SALTUS_SOURCE_DIR "/scenes/p2/trot.yaml");
  json all = json::array();
  for (const Contender& c : contenders) {
    json one{{"engine", c.name}, {"version", version}, {"settings", c.settings}};
    if (what == "truth") {
      one = watch_trot(c, robot, quick ? 2.5e-4 : 5e-5, quick ? 2 : 5);
      fmt::print("{}\n", one.dump());
      return 0;
    }
    one[what] =
        what == "time" ? time_runs(c, robot, quick, quick ? 1 : 3) : measure(c, robot, quick);
    all.push_back(one);
  }
  fmt::print("{}\n", all.dump());
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "{}: {}\n", argv[0], e.what());
  return 1;
}

}  // namespace saltus::bench
