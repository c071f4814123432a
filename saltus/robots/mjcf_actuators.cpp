// Actuators as motors of joints. With the gear g and l = g q,
//   force = gain ctrl + b0 + b1 l + b2 dl/dt,   torque = g force
// is a motor of kp = -g^2 b1, kd = -g^2 b2 and the constant part g (gain ctrl + b0). Controls are
// constant here, so that a gain of the joint's length and speed, gain = g0 + g1 l + g2 dl/dt, adds
// g1 ctrl to b1 and g2 ctrl to b2; and an activation that is the integral of the control stays
// where it starts, at 0, unless the control moves it.
#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/robots/mjcf_reader.h"

namespace saltus::mjcf {

namespace {

using Three = std::array<double, 3>;

// As the shortcuts of MJCF set it, class by class.
struct Law {
  std::string gain_type = "fixed", bias_type = "none", dynamics = "none";
  Three gain{1, 0, 0}, bias{0, 0, 0};
  double time_constant = 1;  // of a filter [s]

  // With a constant control.
  [[nodiscard]] Law folded(double control) const {
    Law law = *this;
    if (gain_type != "affine") return law;
    if (bias_type == "none") law.bias = {0, 0, 0};
    for (int i = 1; i < 3; ++i) law.bias[i] += gain[i] * control;
    law.gain = {gain[0], 0, 0};
    law.gain_type = "fixed";
    law.bias_type = "affine";
    return law;
  }
};

void take(const Element& e, const char* attribute, Three& x) {
  const auto given = e.numbers(attribute, 0, 1000);
  if (!given) return;
  std::copy_n(given->begin(), std::min<std::size_t>(3, given->size()), x.begin());
}

void take(const Element& e, const char* attribute, std::string& x) {
  if (const auto given = e.text(attribute)) x = *given;
}

void apply(const Element& e, Law& law) {
  const std::string kind = e.name();
  if (kind == "general") {
    take(e, "gaintype", law.gain_type);
    take(e, "biastype", law.bias_type);
    take(e, "dyntype", law.dynamics);
    take(e, "gainprm", law.gain);
    take(e, "biasprm", law.bias);
    Three dynamics{law.time_constant, 0, 0};
    take(e, "dynprm", dynamics);
    law.time_constant = dynamics[0];
  } else if (kind == "motor") {
    law = {};
  } else if (kind == "position") {
    const double kp = e.number("kp").value_or(law.gain[0]);
    law.gain = {kp, 0, 0};
    law.bias[0] = 0;
    law.bias[1] = -kp;
    if (const auto kv = e.number("kv")) law.bias[2] = -*kv;
    if (const auto ratio = e.number("dampratio")) law.bias[2] = *ratio;  // > 0: see damped
    law.gain_type = "fixed";
    law.bias_type = "affine";
    if (const double t = e.number("timeconst").value_or(0); t > 0) {
      law.dynamics = "filterexact";
      law.time_constant = t;
    }
  } else if (kind == "intvelocity") {
    const double kp = e.number("kp").value_or(law.gain[0]);
    law.gain = {kp, 0, 0};
    law.bias = {0, -kp, -e.number("kv").value_or(-law.bias[2])};
    if (const auto ratio = e.number("dampratio")) law.bias[2] = *ratio;
    law.gain_type = "fixed";
    law.bias_type = "affine";
    law.dynamics = "integrator";
  } else if (kind == "damper") {
    const double kv = e.number("kv").value_or(-law.gain[2]);
    law = {};
    law.gain_type = "affine";
    law.gain = {0, 0, -kv};
  } else if (kind == "cylinder") {
    const double diameter = e.number("diameter").value_or(0);
    const double area = std::numbers::pi / 4 * diameter * diameter;
    law.gain_type = "fixed";
    law.gain = {diameter > 0 ? area : e.number("area").value_or(law.gain[0]), 0, 0};
    law.bias_type = "affine";
    take(e, "bias", law.bias);
    law.dynamics = "filter";
    law.time_constant = e.number("timeconst").value_or(law.time_constant);
  } else if (kind == "velocity") {
    const double kv = e.number("kv").value_or(law.gain[0]);
    law = {};
    law.gain = {kv, 0, 0};
    law.bias = {0, 0, -kv};
    law.bias_type = "affine";
  } else {
    law.gain_type = kind;  // cylinder, muscle, adhesion, damper, ...
  }
}

struct Sum {  // of the actuators of a joint
  Element element;
  double kp = 0, kd = 0, constant = 0, limit = 0, lag = 0;
  int count = 0;
};

struct Actuators {
  Reader& reader;
  std::vector<double> controls{};  // of the first keyframe that has them
  std::map<int, Sum> by_joint{};
  std::vector<int> order{};                  // of joints
  std::map<std::string, double> inertia_{};  // of joints where the file draws them

  void find_controls(std::size_t count) {
    for (const Element& e : reader.sources.contents("keyframe")) {
      if (e.name() != "key" || !e.has("ctrl")) continue;
      controls = *e.numbers("ctrl", count, count);
      reader.assumed(e, "ctrl",
                     "these controls, within ctrlrange, are the references of the motors");
      return;
    }
    controls.assign(count, 0);
  }

  // What a force of the joint feels where the file draws the robot: 1 / (M^-1)_ii.
  double inertia(const std::string& joint) {
    if (inertia_.empty()) {
      ModelBuilder builder;
      for (const BodyScene& b : reader.robot.bodies) builder.body(b.name, b.inertia, b.joint);
      const Model model = builder.build();
      State state = make_state(model);
      for (const JointPart& j : reader.joints) {
        const auto c = model.coordinate_of.find(j.name);
        if (c != model.coordinate_of.end()) state.q[model.coordinates[c->second].q_index] = j.q[0];
      }
      Workspace work(model);
      forward_kinematics(model, state.q, state.v, work);
      crba(model, work);
      const Mat inverse = Mat(work.M).inverse();
      for (const Coordinate& c : model.coordinates)
        inertia_[c.name] = 1 / inverse(c.v_index, c.v_index);
    }
    return inertia_.at(joint);
  }

  int joint(const Styled& s) {
    const char* attribute = s.self().has("joint") ? "joint" : "jointinparent";
    if (!s.self().has(attribute)) {
      std::string target = "no joint";
      for (const char* a : {"site", "body", "cranksite"})
        if (s.self().has(a)) target = fmt::format("the {} '{}'", a, *s.self().text(a));
      reader.unused(
          s.self(), nullptr,
          fmt::format("it acts on {}: only actuators of joints and tendons are supported", target));
      return -1;
    }
    const std::string name = *s.self().text(attribute);
    const auto found = reader.joint_of.find(name);
    if (found == reader.joint_of.end())
      throw s.self().error(attribute, fmt::format("no joint is called '{}'", name));
    const JointPart& j = reader.joints[found->second];
    if (has_scalar_coordinates(j.kind)) return found->second;
    reader.unused(s.self(), nullptr, fmt::format("a {} joint takes no motor", name_of(j.kind)));
    return -1;
  }

  // False where no motor of ours can do the same.
  bool usable(const Styled& s, const Law& law) {
    std::string why;
    if (law.gain_type == "muscle")
      why = "a muscle's force, a curve of its length and speed, is not supported";
    else if (law.gain_type != "fixed")
      why = fmt::format("an actuator of kind {} is not supported", law.gain_type);
    else if (law.bias_type != "none" && law.bias_type != "affine")
      why = fmt::format("a bias of kind {} is not supported", law.bias_type);
    else if (law.dynamics == "muscle" || law.dynamics == "user")
      why = fmt::format("dynamics of kind {} are not supported", law.dynamics);
    else if (law.bias_type == "affine" && law.bias[1] > 0)
      why = "a servo of negative stiffness is not supported";
    if (why.empty()) return true;
    reader.unused(s.self(), nullptr, why);
    return false;
  }

  // MuJoCo since 3.15: kv = 2 ratio sqrt(kp m), m the inertia that the actuator feels. (Before, m
  // was M's diagonal.)
  double damping(const Law& law, const std::string& joint, double gear) {
    if (law.bias_type == "none") return 0;
    if (law.bias[2] <= 0) return -law.bias[2];
    if (law.gain[0] != -law.bias[1]) return -law.bias[2];
    return 2 * law.bias[2] * std::sqrt(-law.bias[1] * inertia(joint) / (gear * gear));
  }

  [[nodiscard]] double limit(const Styled& s, double gear, const Law& law, bool servo,
                             bool has_range, const std::vector<double>& range) {
    double most = infinity;
    if (reader.is_limited(s, "forcelimited", "forcerange")) {
      const auto force = *s.pair("forcerange");
      if (!(force[0] < force[1])) throw s.error("forcerange", "expected lower < upper");
      most = std::abs(gear) * std::max(std::abs(force[0]), std::abs(force[1]));
      if (force[0] != -force[1])
        reader.assumed(*s.holder("forcerange"), "forcerange",
                       "the limit is the same both ways: the larger one");
    }
    if (!has_range) return most;
    if (servo) {
      reader.unneeded(*s.holder("ctrlrange"), "ctrlrange",
                      "bounds the reference given here; one given in a scene is not clamped");
      return most;
    }
    const double offset = law.bias_type == "affine" ? law.bias[0] : 0;
    const double low = law.gain[0] * range[0] + offset, high = law.gain[0] * range[1] + offset;
    if (low != -high)
      reader.assumed(*s.holder("ctrlrange"), "ctrlrange",
                     "the limit is the same both ways: the larger one");
    return std::min(most, std::abs(gear) * std::max(std::abs(low), std::abs(high)));
  }

  void read(const Element& e, double control) {
    e.mark();
    (void)e.text("name");
    const Styled s = reader.defaults.styled(e, "");
    Law law;
    for (auto it = s.chain().rbegin(); it != s.chain().rend(); ++it) apply(*it, law);
    const bool on_tendon = s.self().has("tendon");
    const int index = on_tendon ? tendon(s) : joint(s);
    if (index < 0) return;
    const bool integrated = law.dynamics == "integrator";
    const bool has_range = integrated ? reader.is_limited(s, "actlimited", "actrange")
                                      : reader.is_limited(s, "ctrllimited", "ctrlrange");
    const std::vector<double> range =
        has_range ? *s.pair(integrated ? "actrange" : "ctrlrange") : std::vector<double>{0, 0};
    if (has_range && !(range[0] < range[1]))
      throw s.error(integrated ? "actrange" : "ctrlrange", "expected lower < upper");
    if (integrated) {
      reader.assumed(e, nullptr,
                     fmt::format("its activation, the integral of the control{}, stays at 0",
                                 control != 0 ? fmt::format(" {:.6g}", control) : ""));
      control = 0;
    }
    if (has_range) control = std::clamp(control, range[0], range[1]);
    law = law.folded(control);
    if (!usable(s, law)) return;
    const double gear = s.numbers("gear", {1, 0, 0, 0, 0, 0})[0];
    if (gear == 0) {
      reader.unused(e, "gear", "with gear 0 the actuator does nothing");
      return;
    }
    const bool biased = law.bias_type == "affine" && law.bias != Three{0, 0, 0};
    if (law.gain[0] == 0 && !biased) {
      reader.unused(e, nullptr, fmt::format("with the control {:.6g} it gives no force", control));
      return;
    }
    if (on_tendon) {
      drive_tendon(s, law, gear, control, has_range && !integrated, range, index);
      return;
    }
    const std::string& name = reader.joints[index].name;
    const bool affine = law.bias_type == "affine";
    const double kp = affine ? -law.bias[1] : 0, kv = damping(law, name, gear);
    if (kv < 0) {
      reader.unused(e, nullptr, "a servo of negative damping is not supported");
      return;
    }
    Sum& sum = by_joint[index];
    if (sum.count++ == 0) {
      sum.element = e;
      order.push_back(index);
    }
    add_lag(e, law, affine, sum);
    sum.kp += gear * gear * kp;
    sum.kd += gear * gear * kv;
    sum.constant += gear * (law.gain[0] * control + (affine ? law.bias[0] : 0));
    sum.limit += limit(s, gear, law, kp > 0 || kv > 0, has_range && !integrated, range);
  }

  int tendon(const Styled& s) {
    const std::string name = *s.self().text("tendon");
    const auto found = reader.tendon_of.find(name);
    if (found == reader.tendon_of.end())
      throw s.self().error("tendon", fmt::format("no tendon is called '{}'", name));
    if (reader.tendons[found->second].why.empty()) return found->second;
    reader.unused(s.self(), nullptr, fmt::format("tendon '{}' is not built", name));
    return -1;
  }

  // tension = -g F: stiffness g^2 kp, damping g^2 kv, and a pull.
  void drive_tendon(const Styled& s, const Law& law, double gear, double control, bool has_range,
                    const std::vector<double>& range, int index) {
    const Element& e = s.self();
    const bool affine = law.bias_type == "affine";
    const double offset = affine ? law.bias[0] : 0, kp = affine ? -law.bias[1] : 0;
    double kv = affine ? -law.bias[2] : 0;
    if (kv < 0) {
      reader.unused(e, nullptr, "a damping ratio of a tendon's servo: it has no damping");
      kv = 0;
    }
    if (law.dynamics == "filter" || law.dynamics == "filterexact")
      reader.unused(e, nullptr,
                    fmt::format("its {} dynamics: the control acts at once", law.dynamics));
    double low = -infinity, high = infinity;  // of F
    if (reader.is_limited(s, "forcelimited", "forcerange")) {
      const auto force = *s.pair("forcerange");
      if (!(force[0] < force[1])) throw s.error("forcerange", "expected lower < upper");
      low = force[0];
      high = force[1];
    }
    if (has_range && kp == 0 && kv == 0) {
      const double a = law.gain[0] * range[0] + offset, b = law.gain[0] * range[1] + offset;
      low = std::max(low, std::min(a, b));
      high = std::min(high, std::max(a, b));
    } else if (has_range) {
      reader.unneeded(*s.holder("ctrlrange"), "ctrlrange",
                      "bounds the reference given here; one given in a scene is not clamped");
    }
    const TendonPart& t = reader.tendons[index];
    // A force that only lengthens a fixed tendon pulls it the other way round.
    const bool turned = t.path.cable.points.empty() && gear * (gear > 0 ? low : high) >= 0;
    CableScene c = turned ? t.reversed() : t.path;
    if (turned) gear = -gear;
    c.cable.name += fmt::format(" {}", e.text("name").value_or("drive"));
    c.cable.stretches = c.cable.driven = true;
    c.cable.stiffness = gear * gear * kp;
    c.cable.damping = gear * gear * kv;
    c.pull = Constant{0.0 - gear * (law.gain[0] * control + offset)};
    const double least = gear > 0 ? -gear * high : -gear * low,
                 most = gear > 0 ? -gear * low : -gear * high;
    if (least >= 0) {
      c.cable.upper = most;
      if (least > 0) reader.assumed(e, "forcerange", "it pulls from 0 on");
    } else {
      c.cable.upper = std::max(std::abs(least), std::abs(most));
      c.cable.lower = -c.cable.upper;
      if (least != -most)
        reader.assumed(e, nullptr, "the limit is the same both ways: the larger one");
    }
    reader.robot.cables.push_back(c);
    reader.robot.cable_lines.push_back({e.file(), e.line()});
  }

  // A filter of the control is a lag of the torque where the torque is the control alone; where a
  // servo's reference is filtered it is taken at once.
  void add_lag(const Element& e, const Law& law, bool affine, Sum& sum) {
    if (law.dynamics != "filter" && law.dynamics != "filterexact") return;
    if (affine || sum.count > 1 || !(law.time_constant > 0))
      reader.unused(e, nullptr,
                    fmt::format("its {} dynamics: the control acts at once", law.dynamics));
    else
      sum.lag = law.time_constant;
  }

  void add(int index) {
    const Sum& sum = by_joint.at(index);
    const JointPart& joint = reader.joints[index];
    MotorScene motor;
    motor.joints = {joint.name};
    motor.kp = sum.kp;
    motor.kd = sum.kd;
    if (sum.count == 1) motor.drive.lag = sum.lag;
    motor.limit = std::min(sum.limit, joint.force_limit);
    if (sum.kp > 0)
      motor.reference = Constant{sum.constant / sum.kp};
    else if (sum.constant != 0)
      motor.torque = Constant{sum.constant};
    if (sum.count > 1)
      reader.assumed(
          sum.element, nullptr,
          fmt::format("the {} actuators of joint '{}' are one motor", sum.count, joint.name));
    reader.robot.motors.push_back(motor);
    reader.robot.motor_lines.push_back({sum.element.file(), sum.element.line()});
  }
};

}  // namespace

void Reader::read_actuators() {
  Actuators actuators{*this};
  const std::vector<Element> all = sources.contents("actuator");
  actuators.find_controls(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) actuators.read(all[i], actuators.controls[i]);
  for (const int joint : actuators.order) actuators.add(joint);
}

}  // namespace saltus::mjcf
