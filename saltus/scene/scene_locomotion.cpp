// The locomotion controller and the pushes of a scene.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/base/error.h"
#include "saltus/scene/scene_elements.h"

namespace saltus {

namespace {

void read_gait(Fields& f, ScheduledGait& scheduled) {
  Gait& g = scheduled.gait;
  const int type = f.choice("type", 2, {"stand", "walk", "trot", "pronk"},
                            "where its numbers start from; walk: one leg at a time");
  g = type == 0 ? stand_gait() : type == 1 ? walk_gait() : type == 2 ? trot_gait() : pronk_gait();
  f.number("from", scheduled.from, "s", "when it begins; the first holds from the start",
           not_negative);
  f.number("frequency", g.frequency, "Hz", "of the cycle", positive);
  f.number("duty", g.duty, "", "share of the cycle that a leg stands; 1: it never swings",
           {0, 1, true});
  std::vector<double> phases;
  f.numbers("phases", phases, "", "of LF, RF, LH, RH in cycles, from 0 to below 1");
  f.number("sway", g.sway, "",
           "how far the trunk follows the legs that stand rather than its path, 0 to 1",
           {0, 1, false});
  if (f.writing_schema() || phases.empty()) return;
  if (phases.size() != leg_count)
    throw f.error("phases", fmt::format("expected four numbers, for LF, RF, LH and RH, got {}",
                                        phases.size()));
  std::copy(phases.begin(), phases.end(), g.phase.begin());
}

void read_gain(Fields& f, const char* key, Gain& gain, const char* about) {
  std::vector<double> pair;
  f.number_or_list(key, pair, "", about, 2, 2, not_negative);
  if (pair.size() == 2) gain = {pair[0], pair[1]};
}

void read_gains(Fields& f, LocomotionGains& g) {
  read_gain(f, "height", g.height, "of the trunk over the ground [1/s^2, 1/s]");
  read_gain(f, "tilt", g.tilt, "of roll and pitch");
  read_gain(f, "yaw", g.yaw, "of the heading");
  read_gain(f, "travel", g.travel, "of the horizontal position and the velocity");
  read_gain(f, "swing", g.swing, "of a foot in the air");
  f.number("capture", g.capture, "",
           "times sqrt(height/g) and the error of the velocity: how much further out a foot lands",
           not_negative);
}

void read_velocity(Fields& f, Locomotion& l) {
  std::optional<Signal> forward, lateral, yaw_rate;
  read_signal(f, "forward", forward, "[m/s]");
  read_signal(f, "lateral", lateral, "to the left [m/s]");
  read_signal(f, "yaw_rate", yaw_rate, "to the left [rad/s]");
  if (forward) l.forward = *forward;
  if (lateral) l.lateral = *lateral;
  if (yaw_rate) l.yaw_rate = *yaw_rate;
}

}  // namespace

void read_locomotion(Fields& f, LocomotionScene& scene) {
  Locomotion& l = scene.locomotion;
  scene.path = f.path();
  f.text("trunk", scene.trunk, "body of the robot's trunk; default: the only one that floats");
  f.texts("feet", scene.feet, "shapes LF, RF, LH, RH; default: found at the ends of the legs");
  f.list("gaits", "in the order of time; default: a trot", [&](Fields& g) {
    ScheduledGait gait;
    read_gait(g, gait);
    if (!g.writing_schema()) l.gaits.push_back(gait);
  });
  if (l.gaits.empty()) l.gaits.push_back({0, trot_gait()});
  f.object("velocity", "that is wanted, in the trunk's heading",
           [&](Fields& g) { read_velocity(g, l); });
  f.number("height", l.height, "m", "of the trunk's origin over the ground; default: as it starts",
           positive);
  f.number("clearance", l.clearance, "m", "of swinging feet", positive);
  f.number("friction", scene.friction, "",
           "of the cones that foot forces are kept in; default: 0.8 of the least the feet have",
           positive);
  f.number("rate", l.rate, "Hz", "of the controller", positive);
  f.number("limit", scene.limit, "N m", "largest |torque| of every joint of the legs", positive);
  f.object("gains", "per unit of inertia: [1/s^2, 1/s]",
           [&](Fields& g) { read_gains(g, l.gains); });
  f.number("measured_from", scene.measured_from, "s",
           "of the summary's means; default: two cycles after the first gait that is no stand",
           not_negative);
  f.object("fall", "what counts as a fall", [&](Fields& g) {
    g.number("tilt", l.fall_tilt, "rad", "of the trunk beyond this", positive);
    g.number("height", l.fall_height, "", "of the trunk below this share of its height",
             {0, 1, false});
  });
}

void read_push(Fields& f, PushScene& push) {
  push.path = f.path();
  f.required().text("body", push.body, "a body's name");
  f.required().number("at", push.push.at, "s", "when it begins", not_negative);
  f.required().vec3("impulse", push.push.impulse, "", "inertial axes [N s]");
  f.number("duration", push.push.duration, "s", "evenly; 0: within one step", not_negative);
  f.vec3("point", push.push.point, "m", "in the body's frame");
}

namespace {

// 0.8 of the least friction that a foot meets anything with.
double least_friction(const Model& model, const Quadruped& robot) {
  double least = infinity;
  for (const Leg& leg : robot.legs)
    for (int other = 0; other < static_cast<int>(model.shapes.size()); ++other) {
      int a = leg.foot, b = other;
      if (model.shapes[other].body.valid()) continue;
      const int law = model.law_between(a, b);
      if (law < 0) continue;
      least = std::min({least, model.contact_laws[law].mu1, model.contact_laws[law].mu2});
    }
  return 0.8 * least;
}

// The legs' joints have motors: what there are keep what limits them, and are led by the
// controller.
void take_motors(const LocomotionScene& scene, const Model& model, Actuation& actuation,
                 Locomotion& l) {
  for (int i = 0; i < leg_count; ++i)
    for (std::size_t j = 0; j < l.robot.legs[i].joints.size(); ++j) {
      const CoordinateIndex c = l.robot.legs[i].joints[j];
      if (model.coordinates[c].dof.prescribed)
        throw InputError(scene.path, fmt::format("joint '{}' of a leg is prescribed",
                                                 model.coordinates[c].name));
      auto motor = std::find_if(actuation.motors.begin(), actuation.motors.end(),
                                [&](const Motor& m) { return m.coordinate == c; });
      if (motor == actuation.motors.end()) {
        Motor made;
        made.coordinate = c;
        motor = actuation.motors.insert(actuation.motors.end(), made);
      }
      motor->kp = motor->kd = motor->backlash = 0;
      motor->servo = Servo::position;
      motor->reference = Constant{};
      motor->torque = Constant{};
      motor->limit = std::min(motor->limit, scene.limit / std::abs(motor->gear));
      const TorqueRange range = torque_range(*motor, 0);
      l.limit[i][j] = std::min(range.upper, -range.lower);
    }
}

double measured_from(const LocomotionScene& scene) {
  if (scene.measured_from >= 0) return scene.measured_from;
  for (const ScheduledGait& g : scene.locomotion.gaits)
    if (g.gait.duty < 1) return g.from + 2 / g.gait.frequency;
  return 0;
}

}  // namespace

void build_locomotion(const LocomotionScene& scene, const Model& model, VecIn q,
                      Actuation& actuation) {
  Locomotion l = scene.locomotion;
  l.robot = find_quadruped(model, q, scene.trunk, scene.feet, scene.path);
  l.friction = scene.friction > 0 ? scene.friction : least_friction(model, l.robot);
  if (!(l.friction > 0) || std::isinf(l.friction))
    throw InputError(scene.path,
                     "expected contacts with friction between the feet and what they "
                     "stand on");
  l.measured_from = measured_from(scene);
  take_motors(scene, model, actuation, l);
  fit_locomotion(model, q, scene.path, l);
  set_locomotion(actuation, l);
}

}  // namespace saltus
