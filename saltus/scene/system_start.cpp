// The state that a scene starts in.
#include <fmt/format.h>

#include <cmath>
#include <set>

#include "saltus/contact/elements.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/model/joint_traits.h"
#include "saltus/model/layout.h"
#include "saltus/scene/document.h"
#include "saltus/scene/system_builder.h"

namespace saltus {

namespace {

// q or v of a joint as the scene gives them, normalised.
void fill(const std::vector<double>& given, Vec& values) {
  for (Eigen::Index i = 0; i < values.size(); ++i) values[i] = given[i];
}

}  // namespace

std::string SystemBuilder::joint_name(int i) const {
  const std::string& body = system.model.bodies[i].name;
  if (const auto found = body_of.find(body); found != body_of.end()) {
    const std::string& name = scene.bodies[found->second].joint.name;
    return name.empty() ? body : name;
  }
  if (const auto found = element_of.find(body); found != element_of.end())
    return elements[found->second].joint;
  for (const WormJoint& j : worm)
    if (j.body == body) return j.joint;
  if (const int link = snake_link[i]) return link == 1 ? "root" : fmt::format("joint{}", link - 1);
  return body;
}

void SystemBuilder::add_start() {
  const Model& model = system.model;
  Posture posture = zero_posture(model);
  if (scene.snake) {
    const SnakePose pose =
        serpenoid_pose(scene.snake->spec, scene.snake->gait.amplitude, scene.snake->gait.delta);
    for (int i = 0; i < model.body_count(); ++i) {
      if (snake_link[i] == 1)
        posture.q[i] << pose.x, pose.y, pose.theta;
      else if (snake_link[i] > 1)
        posture.q[i][0] = pose.phi[snake_link[i] - 2];
    }
  }
  for (const WormJoint& j : worm) {
    const int i = model.body(j.body);
    fill(j.q, posture.q[i]);
    fill(j.v, posture.v[i]);
  }
  std::set<std::string> used;
  for (int i = 0; i < model.body_count(); ++i) {
    const std::string name = joint_name(i);
    const auto found = scene.initial.find(name);
    if (found == scene.initial.end()) continue;
    used.insert(name);
    const std::string path = "initial." + name;
    const Joint& joint = own_joint(model, BodyIndex(i));
    const auto put = [&](const std::vector<double>& given, Vec& values, const char* key) {
      if (given.empty()) return;
      if (static_cast<Eigen::Index>(given.size()) != values.size())
        throw error(path + "." + key, fmt::format("expected {} numbers for a {} joint, got {}",
                                                  values.size(), name_of(joint), given.size()));
      fill(given, values);
    };
    put(found->second.q, posture.q[i], "q");
    put(found->second.v, posture.v[i], "v");
    if (const int first = quaternion_at(joint); first >= 0) {
      auto quaternion = posture.q[i].segment<4>(first);
      if (std::abs(quaternion.norm() - 1) > 1e-3)
        throw error(path + ".q", "expected a unit quaternion w, x, y, z");
      quaternion.normalize();
    }
  }
  for (const auto& [name, unused] : scene.initial) {
    for (const LoopScene& l : scene.loops)
      if (l.joint.name == name)
        throw error("initial." + name, "the start of a loop follows from the bodies' joints");
    if (!used.contains(name))
      throw error("initial." + name, fmt::format("no joint is called '{}'", name));
  }
  // Prescribed joints start on their motion, whatever their coordinates.
  for (const Prescribed& p : system.actuation.prescribed) {
    const Coordinate& c = model.coordinates[p.coordinate];
    if (model.of_loop(c)) continue;  // close_loops
    posture.q[c.body][c.component] = value(p.r, 0);
    posture.v[c.body][c.component] = rate(p.r, 0);
  }
  system.start = make_state(model);
  set_posture(model, posture, system.start);
  if (!system.actuation.rotations.empty()) impose_prescribed(model, system.actuation, system.start);
  if (scene.method == Method::connection) follow_connection();
}

// Without inertia the start's velocities follow from its shape.
void SystemBuilder::follow_connection() {
  std::string why;
  try {
    ConnectionIntegrator by(system.model, system.actuation,
                            std::get<ByConnection>(integrator_of(scene)));
    if (by.set_velocities(system.start, why)) return;
  } catch (const InputError& e) { throw error("integrator.type", e.what()); }
  throw error("initial", fmt::format("the start is not possible: {}", why));
}

// Coordinates that the scene gives stay as they are, as far as the loops allow.
std::vector<CoordinateWish> SystemBuilder::wishes() const {
  const Model& model = system.model;
  std::vector<CoordinateWish> all;
  for (const Prescribed& p : system.actuation.prescribed)
    all.push_back({p.coordinate, value(p.r, 0), rate(p.r, 0), true, true});
  const Workspace work = at_start();
  for (std::size_t i = 0; i < model.coordinates.size(); ++i) {
    const Coordinate& c = model.coordinates[i];
    const CoordinateIndex index(static_cast<int>(i));
    if (model.of_loop(c) || c.dof.prescribed) continue;
    const auto given = scene.initial.find(joint_name(c.body));
    if (given == scene.initial.end()) continue;
    all.push_back({index, coordinate_value(model, work, system.start.q, system.start.turns, index),
                   coordinate_rate(model, work, system.start.v, index), !given->second.q.empty(),
                   !given->second.v.empty()});
  }
  return all;
}

bool SystemBuilder::is_of_robot(int cut) const {
  return std::any_of(scene.loops.begin(), scene.loops.end(), [&](const LoopScene& l) {
    return l.joint.name == system.model.cuts[cut].name && !l.source.empty();
  });
}

// A start that leaves a loop open by little is assembled; by much, it is a mistake.
void SystemBuilder::close_loops() {
  const Model& model = system.model;
  if (!model.has_loops) return;
  system.closure = measure_loops(model, system.start);
  const auto refuse = [&](int cut, const std::string& message) {
    for (std::size_t i = 0; i < scene.loops.size(); ++i) {
      if (scene.loops[i].joint.name != model.cuts[cut].name) continue;
      const std::string& source = scene.loops[i].source;
      return source.empty() ? error(fmt::format("loops[{}]", i), message)
                            : InputError(fmt::format("{}: {}", source, message));
    }
    return error("loops", message);
  };
  // Of the length scale; the files of robots are rounder than scenes.
  const double allowed = is_of_robot(system.closure.loop) ? 0.1 : 1e-2;
  if (system.closure.gap > allowed * model.length_scale)
    throw refuse(system.closure.loop,
                 fmt::format("the start leaves loop '{}' open by {:.3g} m (rotations times {:.3g} "
                             "m); up to {:.3g} m would be closed",
                             model.cuts[system.closure.loop].name, system.closure.gap,
                             model.length_scale, allowed * model.length_scale));
  const std::vector<CoordinateWish> all = wishes();
  system.closure = close_start(model, all, system.start);
  if (!(system.closure.gap_left < 1e-10))
    throw refuse(system.closure.loop,
                 fmt::format("loop '{}' cannot be closed near the start: {:.3g} m stay open",
                             model.cuts[system.closure.loop].name, system.closure.gap_left));
  refuse_inconsistent_rates(all);
}

void SystemBuilder::refuse_inconsistent_rates(const std::vector<CoordinateWish>& all) const {
  double fastest = 0;
  for (const CoordinateWish& w : all)
    if (w.with_rate) fastest = std::max(fastest, std::abs(w.rate));
  if (system.closure.missed < 0 || system.closure.largest_miss <= 1e-2 * fastest) return;
  const CoordinateWish& missed = all[system.closure.missed];
  const Model& model = system.model;
  const Workspace work = at_start();
  throw error("initial",
              fmt::format("the loops do not allow joint '{}' a rate of {:.6g} with the others "
                          "given; {:.6g} would be possible",
                          model.coordinates[missed.coordinate].name, missed.rate,
                          coordinate_rate(model, work, system.start.v, missed.coordinate)));
}

Workspace SystemBuilder::at_start() const {
  Workspace work(system.model);
  forward_kinematics(system.model, system.start.q, system.start.v, work);
  return work;
}

// A start that breaks a velocity constraint would be an impact that nobody asked for.
void SystemBuilder::check_runners() const {
  const Model& model = system.model;
  if (model.runners.empty()) return;
  const Workspace work = at_start();
  for (std::size_t i = 0; i < model.runners.size(); ++i) {
    const Runner& r = model.runners[i];
    const RunnerRows rows = runner_rows(
        model, work, r, steering_angle(system.actuation, static_cast<int>(i), system.start.t));
    const Vec3 v = point_velocity(work, r.body, work.X[r.body] * r.point);
    const double along = rows.along.head<3>().dot(v), across = rows.across.head<3>().dot(v);
    const double slack = 1e-9 * (1 + v.norm());
    const std::string path =
        i >= own.runners ? fmt::format("runners[{}]", i - own.runners)
                         : (scene.worm->spec.velocities.empty() ? "initial" : "worm.velocities");
    if (r.scales && along < -slack)
      throw error(path, fmt::format("the scales of runner '{}' allow no backward motion, it "
                                    "starts at {:.6g} m/s",
                                    r.name, along));
    if (r.edge && std::isinf(r.grip) && std::abs(across) > slack)
      throw error(path, fmt::format("the edge of runner '{}' allows no side slip, it starts with "
                                    "{:.6g} m/s",
                                    r.name, across));
  }
}

void SystemBuilder::check_wheels() const {
  const Model& model = system.model;
  if (model.wheels.empty()) return;
  const Workspace work = at_start();
  for (std::size_t i = 0; i < model.wheels.size(); ++i) {
    const Wheel& w = model.wheels[i];
    const WheelRows rows = wheel_rows(work, w);
    const std::string path = fmt::format("wheels[{}]", i);
    if (!rows.lowest.allFinite())
      throw error(path, fmt::format("wheel '{}' lies flat on its plane", w.name));
    const Vec3 v = point_velocity(work, w.body, rows.lowest);
    const double along = rows.along.head<3>().dot(v);
    const double across = w.sideways ? 0 : rows.across.head<3>().dot(v);
    const double off = w.pressed ? w.normal.dot(v) : 0;
    const double slide = std::hypot(along, across, off);
    if (slide > 1e-9 * (1 + v.norm()))
      throw error(path, fmt::format("wheel '{}' rolls without sliding, it starts with {:.6g} m/s",
                                    w.name, slide));
    if (const double gap = w.normal.dot(rows.lowest) - w.height;
        w.pressed && std::abs(gap) > 1e-9 * (1 + w.radius))
      throw error(path, fmt::format("wheel '{}' starts {:.6g} m off its plane", w.name, gap));
  }
}

}  // namespace saltus
