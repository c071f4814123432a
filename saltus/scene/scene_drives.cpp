// Signals, friction and the snake of a scene.
#include <fmt/format.h>

#include <algorithm>

#include "saltus/model/validate.h"
#include "saltus/scene/limits.h"
#include "saltus/scene/scene_elements.h"

namespace saltus {

namespace {

void read_samples(Fields& f, std::vector<double>& times, std::vector<double>& values) {
  f.required().numbers("times", times, "s", "ascending");
  f.required().numbers("values", values, "", "one a time");
  if (f.writing_schema()) return;
  if (times.size() != values.size()) throw f.error("values", "expected as many values as times");
  if (!std::is_sorted(times.begin(), times.end()) ||
      std::adjacent_find(times.begin(), times.end()) != times.end())
    throw f.error("times", "expected ascending times");
}

}  // namespace

Signal read_signal_here(Fields& f) {
  Signal signal = Constant{};
  f.definition("signal", [&](Fields& g) {
    Constant constant;
    if (g.scalar(constant.value, "")) {
      signal = constant;
      return;
    }
    g.forms(
        "type",
        {{"constant",
          [&](Fields& h) {
            h.number("value", constant.value, "", "");
            signal = constant;
          }},
         {"sine",
          [&](Fields& h) {
            Sine s;
            h.number("amplitude", s.amplitude, "", "");
            h.number("omega", s.omega, "rad/s", "");
            h.number("phase", s.phase, "rad", "");
            h.number("offset", s.offset, "", "");
            h.number("ramp", s.ramp, "s", "time in which it grows from nothing; default 0",
                     not_negative);
            signal = s;
          }},
         {"half-sine",
          [&](Fields& h) {
            HalfSine s;
            h.number("amplitude", s.amplitude, "", "");
            h.number("omega", s.omega, "rad/s", "");
            h.number("phase", s.phase, "rad", "");
            h.number("offset", s.offset, "", "");
            signal = s;
          }},
         {"square",
          [&](Fields& h) {
            Square s;
            h.number("on", s.on, "", "value in the first part of a period");
            h.number("off", s.off, "", "and in the rest");
            h.required().number("period", s.period, "s", "", positive);
            h.number("duty", s.duty, "", "share of the first part, up to 1", {0, 1, true});
            h.number("start", s.start, "s", "of a period");
            signal = s;
          }},
         {"bang-bang",
          [&](Fields& h) {
            BangBang s;
            read_samples(h, s.times, s.values);
            signal = s;
          }},
         {"table",
          [&](Fields& h) {
            Table s;
            read_samples(h, s.times, s.values);
            s.interpolation =
                static_cast<Interpolation>(h.choice("interpolation", 1, {"hold", "linear"}, ""));
            signal = s;
          }},
         {"move",
          [&](Fields& h) {
            Move s;
            h.number("from", s.from, "", "");
            h.number("to", s.to, "", "");
            h.number("start", s.start, "s", "");
            h.number("duration", s.duration, "s", "a cycloid, at rest at both ends", positive);
            signal = s;
          }},
         {"spline",
          [&](Fields& h) {
            Spline s;
            read_samples(h, s.times, s.values);
            h.boolean("closed", s.closed, "the last value is the first, and it repeats");
            if (h.writing_schema()) return;
            if (s.times.size() < (s.closed ? 4U : 2U))
              throw h.error("times", fmt::format("expected at least {} times", s.closed ? 4 : 2));
            if (s.closed && s.values.front() != s.values.back())
              throw h.error("values", "expected the first value again at the end");
            signal = make_spline(s.times, s.values, s.closed);
          }},
         {"leg-gait",
          [&](Fields& h) {
            LegGait s;
            s.knee = h.choice("joint", 0, {"flexion", "knee"}, "of the leg") == 1;
            h.number("segment", s.segment, "m", "length of thigh and of shank", positive);
            h.number("height", s.height, "m", "of the hip above the foot's centre", positive);
            h.number("stroke", s.stroke, "m", "half of what the foot sweeps");
            h.number("lift", s.lift, "m", "of the foot in swing", not_negative);
            h.number("frequency", s.frequency, "", "of strides [Hz]", positive);
            h.number("phase", s.phase, "rad", "");
            h.number("start", s.start, "s", "of the gait; the leg stands before");
            h.number("ramp", s.ramp, "s", "in which stroke and lift grow", not_negative);
            signal = s;
          }},
         {"sum", [&](Fields& h) {
            Sum s;
            h.list("terms", "signals", [&](Fields& k) { s.terms.push_back(read_signal_here(k)); });
            signal = s;
          }}});
  });
  return signal;
}

void read_signal(Fields& f, const char* key, std::optional<Signal>& signal, const char* about) {
  f.object(key, about, [&](Fields& g) {
    const Signal read = read_signal_here(g);
    if (!g.writing_schema()) signal = read;
  });
}

void read_friction(Fields& f, FrictionScene& friction, const char* about) {
  std::vector<double> mu;
  f.numbers_or_object("friction", mu, "", about, 1, 2, not_negative, [&](Fields& g) {
    g.required().number("forward", friction.mu1, "", "sliding along x", positive);
    g.required().number("backward", friction.back, "", "sliding against x", positive);
    g.required().number("lateral", friction.mu2, "", "sliding across", positive);
  });
  if (!mu.empty()) {
    friction.mu1 = mu.front();
    friction.mu2 = mu.back();
  }
  friction.rule = static_cast<SlipRule>(
      f.choice("rule", 0, {"normal", "hu"},
               "which force of the friction ellipse belongs to a slip direction: the one that "
               "dissipates most, or Hu's, -N (mu_t u_t, mu_n u_n)/|u|"));
}

void read_dynamic_friction(Fields& f, FrictionScene& friction) {
  std::vector<double> mu;
  double back = -1;
  f.numbers_or_object(
      "friction_dynamic", mu, "",
      "coefficients in sliding, in the form of friction, at most those and the same "
      "share of each; default: as friction",
      1, 2, not_negative, [&](Fields& g) {
        mu.resize(2);
        g.required().number("forward", mu[0], "", "sliding along x", positive);
        g.required().number("backward", back, "", "sliding against x", positive);
        g.required().number("lateral", mu[1], "", "sliding across", positive);
      });
  if (f.writing_schema() || mu.empty()) return;
  std::vector<FrictionPair> pairs{{friction.mu1, mu.front()}, {friction.mu2, mu.back()}};
  if (friction.back >= 0 || back >= 0)
    pairs.push_back(
        {friction.back >= 0 ? friction.back : friction.mu1, back >= 0 ? back : mu.front()});
  try {
    friction.dynamic = dynamic_share(pairs);
    check_dynamic(friction.dynamic, friction.back, friction.rule, "");
  } catch (const InputError& e) { throw f.error("friction_dynamic", e.message()); }
}

void read_contact(Fields& f, ContactScene& contact) {
  f.required().texts("between", contact.between,
                     "two patterns of shape names; * matches any text, a|b what either matches");
  if (!f.writing_schema() && contact.between.size() != 2)
    throw f.error("between", "expected two patterns of shape names");
  FrictionScene friction;
  read_friction(f, friction, "coefficient, or two along the axes' x and across; 0: frictionless");
  contact.law.mu1 = friction.mu1;
  contact.law.mu2 = friction.mu2;
  contact.law.mu_back = friction.back;
  contact.law.rule = friction.rule;
  read_dynamic_friction(f, friction);
  contact.law.dynamic = friction.dynamic;
  f.number("rolling", contact.law.rolling, "m", "rolling friction: moment per normal force",
           {0, infinity, false});
  f.number("drilling", contact.law.drilling, "m", "drilling friction: moment per normal force",
           {0, infinity, false});
  f.number("restitution", contact.law.restitution, "", "Newton's, on approach", {0, 1, false});
  f.number("restitution_tangential", contact.law.tangential_restitution, "",
           "along the contact: 1 turns sliding round; impact laws capped and newton",
           {-1, 1, false});
  f.object("compliant", "spring and damper instead of a hard contact (P2 Algorithm 1)",
           [&](Fields& g) {
             Compliance& c = contact.law.soft;
             g.required().number("stiffness", c.normal_stiffness, "", "normal [N/m]", positive);
             g.number("damping", c.normal_damping, "", "normal [N s/m]", not_negative);
             c.tangential_stiffness = c.normal_stiffness;
             c.tangential_damping = c.normal_damping;
             g.number("tangential_stiffness", c.tangential_stiffness, "",
                      "[N/m]; default: as stiffness", not_negative);
             g.number("tangential_damping", c.tangential_damping, "",
                      "[N s/m]; default: as damping", not_negative);
           });
  contact.law.axes = static_cast<FrictionAxes>(
      f.choice("axes", 1, {"first", "second"}, "whose frame carries the two coefficients"));
}

void read_support(Fields& f, SupportScene& support) {
  f.required().texts("bodies", support.bodies, "patterns of body names");
  FrictionScene friction;
  read_friction(f, friction, "coefficient, or two along the body's x and across");
  support.mu1 = friction.mu1;
  support.mu2 = friction.mu2;
  support.mu_back = friction.back;
  support.rule = friction.rule;
  read_dynamic_friction(f, friction);
  support.dynamic = friction.dynamic;
  f.number("load", support.load, "N", "default: the body's weight", not_negative);
}

void read_snake(Fields& f, SnakeScene& snake) {
  SnakeSpec& s = snake.spec;
  f.integer("links", s.links, "", 2);
  if (!f.writing_schema() && s.links > most_links)
    throw f.error("links", fmt::format("expected at most {} links, got {}", most_links, s.links));
  f.number("link_length", s.link_length, "m", "between joints", positive);
  f.number("radius", s.radius, "m", "of the caps", positive);
  f.number("half_length", s.half_length, "m", "centre to cap's centre", not_negative);
  f.number("mass", s.mass, "kg", "of a link", positive);
  f.number("inertia", s.inertia, "", "of a link about z [kg m^2]", positive);
  FrictionScene friction{s.mu_along, s.mu_across};
  read_friction(f, friction, "with the ground; two: along and across a link; forward: to link 1");
  s.mu_along = friction.mu1;
  s.mu_across = friction.mu2;
  s.mu_backward = friction.back;
  s.rule = friction.rule;
  f.object("joint", "of every joint", [&](Fields& g) {
    g.number("armature", s.joint.armature, "", "[kg m^2]", not_negative);
    g.number("stiffness", s.joint.stiffness, "", "[N m/rad]", not_negative);
    g.number("damping", s.joint.damping, "", "[N m s/rad]", not_negative);
    g.number("friction", s.joint.friction, "", "[N m]", not_negative);
  });
  f.object("motor", "PD on every joint", [&](Fields& g) {
    g.number("kp", snake.kp, "", "[N m/rad]", not_negative);
    g.number("kd", snake.kd, "", "[N m s/rad]", not_negative);
    g.number("limit", snake.limit, "", "largest |torque| [N m]", positive);
    read_drive(g, snake.drive);
  });
  f.object("gait", "serpenoid: A sin(omega t + (i - 1) delta); the start pose follows it",
           [&](Fields& g) { read_gait(g, snake.gait); });
}

}  // namespace saltus
