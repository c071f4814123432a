// Motors, gaits and other given motions of a scene.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "saltus/model/joint_traits.h"
#include "saltus/model/layout.h"
#include "saltus/scene/document.h"
#include "saltus/scene/system_builder.h"

namespace saltus {

namespace {

// Components x, y, z of a body's spherical joint that a gait names.
std::vector<int> components_of(const GaitScene& g, const std::string& body) {
  std::vector<int> found;
  for (int k = 0; k < 3; ++k)
    if (std::any_of(g.joints.begin(), g.joints.end(), [&](const std::string& p) {
          return matches(p, fmt::format("{}.{}", body, "xyz"[k]));
        }))
      found.push_back(k);
  return found;
}

}  // namespace

// A body's joint, prescribed where a gait drives it.
JointSpec SystemBuilder::driven_joint(const BodyScene& b, std::size_t index) const {
  JointSpec joint = b.joint;
  const std::string& name = joint.name.empty() ? b.name : joint.name;
  for (const GaitScene& g : scene.gaits) {
    if (std::holds_alternative<Spherical>(joint.kind)) {
      joint.driven = joint.driven || (g.drive && !components_of(g, b.name).empty());
      continue;
    }
    if (!g.drive || std::none_of(g.joints.begin(), g.joints.end(),
                                 [&](const std::string& p) { return matches(p, name); }))
      continue;
    if (nv_of(joint.kind) != 1)
      throw error(fmt::format("{}.drive", g.path),
                  fmt::format("expected joints with one coordinate, '{}' is {}", name,
                              name_of(joint.kind)));
    if (b.prescribed || (!joint.dofs.empty() && joint.dofs.front().prescribed))
      throw error(fmt::format("bodies[{}].joint", index),
                  fmt::format("joint '{}' is prescribed already", name));
    if (joint.dofs.empty()) joint.dofs.resize(1);
    joint.dofs.front().prescribed = true;
  }
  return joint;
}

std::vector<SystemBuilder::Driven> SystemBuilder::driven_by(const GaitScene& g) const {
  std::vector<Driven> joints;
  const auto add = [&](const Driven& d) {
    if (std::find(joints.begin(), joints.end(), d) == joints.end()) joints.push_back(d);
  };
  for (const std::string& pattern : g.joints) {
    bool any = false;
    for (std::size_t c = 0; c < system.model.coordinates.size(); ++c) {
      const Coordinate& x = system.model.coordinates[c];
      if (!matches(pattern, x.name) || !x.dof.prescribed) continue;
      add({CoordinateIndex(static_cast<int>(c)), {}, 0});
      any = true;
    }
    for (int b = 0; b < system.model.body_count(); ++b)
      for (int k = 0; k < 3 && system.model.bodies[b].driven; ++k) {
        if (!matches(pattern, fmt::format("{}.{}", system.model.bodies[b].name, "xyz"[k])))
          continue;
        add({{}, BodyIndex(b), k});
        any = true;
      }
    if (!any) throw error(g.path + ".joints", fmt::format("no joint matches {}", pattern));
  }
  return joints;
}

// Signals of the gaits that drive, along their joints in the order of the patterns. A component
// of a rotation vector that none names is zero.
void SystemBuilder::add_gaits() {
  Actuation& a = system.actuation;
  for (int b = 0; b < system.model.body_count(); ++b)
    if (system.model.bodies[b].driven) a.rotations.push_back({BodyIndex(b), {}});
  std::set<std::pair<int, int>> moved;
  for (const GaitScene& g : scene.gaits) {
    if (!g.drive) continue;
    const std::vector<Driven> joints = driven_by(g);
    try {
      const std::vector<Signal> r = gait_signals(g, joints.size());
      for (std::size_t i = 0; i < joints.size(); ++i) {
        const Driven& d = joints[i];
        if (d.coordinate.valid()) {
          a.prescribed.push_back({d.coordinate, r[i]});
          continue;
        }
        if (!moved.insert({d.body, d.component}).second)
          throw InputError(g.path + ".joints",
                           fmt::format("a gait moves '{}.{}' already",
                                       system.model.bodies[d.body].name, "xyz"[d.component]));
        for (PrescribedRotation& p : a.rotations)
          if (p.body == d.body) p.r[d.component] = r[i];
      }
    } catch (const InputError& e) { throw error(e.path(), e.message()); }
  }
}

// The only place that knows the snake's parts by their names: others may be called like them.
void SystemBuilder::find_snake() {
  snake_link.assign(system.model.bodies.size(), 0);
  for (int i = 1; scene.snake && i <= scene.snake->spec.links; ++i)
    snake_link[system.model.body(fmt::format("link{}", i))] = i;
}

bool SystemBuilder::moved_by(const MotorScene& motor, const Coordinate& c) const {
  if (motor.of_snake) return !system.model.of_loop(c) && snake_link[c.body] > 1;
  return std::any_of(motor.joints.begin(), motor.joints.end(),
                     [&](const std::string& pattern) { return matches(pattern, c.name); });
}

// What the motor is made of; its rotor is inertia of the joint.
void SystemBuilder::fit_drive(const MotorScene& s, Motor& m) {
  const DriveScene& d = s.drive;
  m.servo = s.servo;
  m.gear = d.gear;
  m.lower = d.lower;
  m.upper = d.upper;
  m.speeds = d.speeds;
  m.torques = d.torques;
  m.lag = d.lag;
  m.backlash = d.backlash;
  if (d.rotor > 0) add_armature(system.model, m.coordinate, d.gear * d.gear * d.rotor);
}

void SystemBuilder::add_motor(const MotorScene& s, const std::string& path) {
  int i = 0;
  driven.resize(system.model.coordinates.size(), 0);
  for (std::size_t c = 0; c < system.model.coordinates.size(); ++c) {
    if (!moved_by(s, system.model.coordinates[c])) continue;
    ++i;
    Motor m;
    m.coordinate = CoordinateIndex(static_cast<int>(c));
    m.kp = s.kp;
    m.kd = s.kd;
    m.limit = s.limit;
    if (s.reference) m.reference = *s.reference;
    if (s.gait) m.reference = serpenoid(*s.gait, i);
    if (s.torque) m.torque = *s.torque;
    const std::string& name = system.model.coordinates[c].name;
    if (driven[c]++)
      throw motor_error(s, path, fmt::format("joint '{}' has a motor already", name));
    fit_drive(s, m);
    if (const char* fault = fault_of(m))
      throw motor_error(s, path, fmt::format("the motor of '{}': {}", name, fault));
    system.actuation.motors.push_back(m);
  }
  if (i == 0)
    throw motor_error(s, path + ".joints",
                      fmt::format("no joint matches {}", fmt::join(s.joints, ", ")));
}

InputError SystemBuilder::motor_error(const MotorScene& motor, const std::string& path,
                                      const std::string& message) const {
  if (motor.source.empty()) return error(path, message);
  return error("robots", fmt::format("{}: motor: {}", motor.source, message));
}

void SystemBuilder::add_rod_signals(std::size_t index) {
  const RodScene& rod = scene.rods[index];
  const auto coefficient = [&](const std::string& name, const char* key) {
    const auto found = system.model.coordinate_of.find(rod.spec.name + "." + name);
    if (found == system.model.coordinate_of.end())
      throw error(fmt::format("rods[{}].{}", index, key),
                  fmt::format("'{}' has no coefficient '{}'", rod.spec.name, name));
    return found->second;
  };
  for (const auto& [name, r] : rod.prescribed)
    system.actuation.prescribed.push_back({CoordinateIndex(coefficient(name, "prescribed")), r});
  std::vector<StrainOffset>& strains = system.actuation.strains;
  for (const auto& [name, a] : rod.muscles) strains.push_back({coefficient(name, "muscles"), a});
  std::sort(strains.begin(), strains.end(), [](const StrainOffset& x, const StrainOffset& y) {
    return x.coordinate < y.coordinate;
  });
}

void SystemBuilder::add_actuation() {
  if (scene.snake && (scene.snake->kp > 0 || scene.snake->kd > 0)) {
    MotorScene m;
    m.of_snake = true;
    m.kp = scene.snake->kp;
    m.kd = scene.snake->kd;
    m.limit = scene.snake->limit;
    m.drive = scene.snake->drive;
    m.gait = scene.snake->gait;
    add_motor(m, "snake.motor");
  }
  for (std::size_t i = 0; i < scene.motors.size(); ++i)
    add_motor(scene.motors[i], fmt::format("motors[{}]", i));
  for (const BodyScene& b : scene.bodies)
    if (b.prescribed) {
      const std::string& name = b.joint.name.empty() ? b.name : b.joint.name;
      system.actuation.prescribed.push_back({system.model.coordinate(name), *b.prescribed});
    }
  for (const BendScene& b : scene.bends)
    if (b.prescribed)
      system.actuation.prescribed.push_back({system.model.coordinate(b.spec.name), *b.prescribed});
  for (std::size_t i = 0; i < scene.rods.size(); ++i) add_rod_signals(i);
  for (const LoopScene& l : scene.loops)
    if (l.prescribed)
      system.actuation.prescribed.push_back({system.model.coordinate(l.joint.name), *l.prescribed});
  add_gaits();
  add_element_signals();
  check(system.model, system.actuation);
}

}  // namespace saltus
