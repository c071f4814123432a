// Springs, drags, runners and the worms of P3 in a scene.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/scene/scene_elements.h"

namespace saltus {

void read_spring(Fields& f, SpringScene& s) {
  f.required().text("name", s.spring.name, "");
  f.required().texts("between", s.between, "two bodies, or a body and world");
  f.vec3("from", s.spring.point_a, "m", "point of the first body");
  f.vec3("to", s.spring.point_b, "m", "point of the second body");
  f.vec3("axis", s.spring.axis, "",
         "the length is measured along this fixed direction, from the first to the second; "
         "default: the distance of the points");
  f.number("stiffness", s.spring.stiffness, "", "[N/m]", not_negative);
  f.number("damping", s.spring.damping, "", "[N s/m]", not_negative);
  read_signal(f, "length", s.length, "natural length [m]");
  if (!f.writing_schema() && s.between.size() != 2)
    throw f.error("between", fmt::format("expected two names, got {}", s.between.size()));
  if (!s.length) return;
  if (const auto* constant = std::get_if<Constant>(&*s.length)) s.spring.length = constant->value;
}

void read_drag(Fields& f, DragScene& d) {
  f.required().text("name", d.drag.name, "");
  f.required().text("body", d.body, "");
  f.vec3("point", d.drag.point, "m", "in the body's frame");
  f.required().number("coefficient", d.drag.coefficient, "", "[N s/m]", not_negative);
}

void read_gap(Fields& f, GapScene& s) {
  f.required().text("name", s.contact.name, "");
  f.number("offset", s.contact.offset, "m", "the gap where all coordinates are 0");
  f.required().list("terms", "one a joint coordinate", [&](Fields& g) {
    GapTerm term;
    std::string joint;
    g.required().text("joint", joint, "name of a joint coordinate");
    g.number("gap", term.gap, "", "change of the gap per unit of the coordinate");
    g.number("slide", term.slide, "", "sliding speed per unit of its rate");
    s.contact.terms.push_back(term);
    s.joints.push_back(joint);
  });
  f.number("friction", s.contact.mu, "", "coefficient; 0: frictionless", not_negative);
  f.number("restitution", s.contact.restitution, "", "Newton's, on approach", {0, 1, false});
}

void read_runner(Fields& f, RunnerScene& r) {
  f.required().text("name", r.runner.name, "");
  f.required().text("body", r.body, "");
  f.vec3("point", r.runner.point, "m", "in the body's frame");
  f.vec3("direction", r.runner.direction, "", "forward at steering angle 0, in the body's frame");
  f.vec3("normal", r.runner.normal, "", "of the ground, in the body's frame");
  f.boolean("edge", r.runner.edge, "no side slip; default true");
  f.boolean("scales", r.runner.scales, "slides forward only; default false");
  f.number("friction", r.runner.friction, "N", "against sliding", not_negative);
  f.number("grip", r.runner.grip, "N", "of the edge: beyond this force it slips; default: none",
           positive);
  read_signal(f, "steering", r.steering, "angle about the normal [rad]");
}

namespace {

// One number for all, or one each.
void read_each(Fields& f, const char* key, const char* unit, const char* about, std::size_t n,
               const std::function<void(std::size_t, double)>& put, Range range = not_negative) {
  std::vector<double> x;
  f.number_or_list(key, x, unit, about, 1, 1000000, range);
  if (f.writing_schema() || x.empty()) return;
  if (x.size() != 1 && x.size() != n)
    throw f.error(key, fmt::format("expected one number or {}, got {}", n, x.size()));
  for (std::size_t i = 0; i < n; ++i) put(i, x.size() == 1 ? x[0] : x[i]);
}

// Numbers of masses, as P3 counts them: from 1 on the line, from 0 in the plane.
void read_chosen(Fields& f, const char* key, const char* about, const WormSpec& w,
                 const std::function<void(std::size_t, bool)>& put) {
  std::vector<double> chosen;
  const bool given = f.has(key);
  f.number_or_list(key, chosen, "", about, 0, 1000000);
  if (!given) return;
  const double first = w.planar ? 0 : 1;
  const auto last = first + static_cast<double>(w.masses.size()) - 1;
  for (const double x : chosen)
    if (x != std::floor(x) || x < first || x > last)
      throw f.error(key,
                    fmt::format("expected numbers of masses, {} to {}, got {}", first, last, x));
  for (std::size_t i = 0; i < w.masses.size(); ++i)
    put(i, std::find(chosen.begin(), chosen.end(), first + static_cast<double>(i)) != chosen.end());
}

void read_signals(Fields& f, const char* key, const char* about, std::size_t n,
                  std::vector<Signal>& signals) {
  f.list(key, about, [&](Fields& g) {
    const Signal read = read_signal_here(g);
    if (!g.writing_schema()) signals.push_back(read);
  });
  if (!f.writing_schema() && !signals.empty() && signals.size() != n)
    throw f.error(key,
                  fmt::format("expected one signal each, {} in all, got {}", n, signals.size()));
}

void read_start(Fields& f, WormSpec& w) {
  const std::size_t n = w.masses.size();
  f.number_or_list("positions", w.positions, "m", "straight: of the masses; default: relaxed", 1,
                   1000000);
  f.number_or_list("velocities", w.velocities, "m/s", "straight: of the masses; default 0", 1,
                   1000000);
  std::vector<double> head;
  f.number_or_list("head", head, "m", "planar: where mass 0 is; default 0, 0", 2, 2);
  if (head.size() == 2) w.head = Vec2(head[0], head[1]);
  f.number_or_list("headings", w.headings, "rad", "planar: Theta of the links; default 0", 1,
                   1000000);
  f.number_or_list("distances", w.distances, "m", "planar: r of the links; default: length", 1,
                   1000000);
  const auto fits = [&](const std::vector<double>& x, std::size_t count, const char* key) {
    if (!x.empty() && x.size() != count)
      throw f.error(key,
                    fmt::format("expected one number each, {} in all, got {}", count, x.size()));
  };
  fits(w.positions, n, "positions");
  fits(w.velocities, n, "velocities");
  fits(w.headings, n - 1, "headings");
  fits(w.distances, n - 1, "distances");
}

}  // namespace

void read_worm(Fields& f, WormScene& worm) {
  WormSpec& w = worm.spec;
  f.boolean("planar", w.planar, "masses 0 ... n with runners in the plane; default: on a line");
  std::vector<double> masses;
  f.required().number_or_list("masses", masses, "kg", "from the front", 2, 1000000, positive);
  const std::size_t n = f.writing_schema() ? 2 : masses.size();
  w.masses.resize(n);
  w.springs.resize(n - 1);
  for (std::size_t i = 0; i < masses.size(); ++i) w.masses[i].mass = masses[i];
  const auto springs = [&](const char* key, const char* unit, const char* about,
                           double WormSpring::*field, Range range = not_negative) {
    read_each(
        f, key, unit, about, n - 1, [&](std::size_t i, double x) { w.springs[i].*field = x; },
        range);
  };
  springs("stiffness", "", "of the springs between neighbours [N/m]", &WormSpring::stiffness);
  springs("damping", "", "between neighbours [N s/m]", &WormSpring::damping);
  springs("length", "m", "natural length; default 1", &WormSpring::length, positive);
  read_signals(f, "lengths", "natural lengths as signals, one a spring [m]", n - 1, worm.lengths);
  read_each(f, "drag", "", "external damping of the masses [N s/m]", n,
            [&](std::size_t i, double x) { w.masses[i].drag = x; });
  read_each(f, "friction", "N", "of the runners or scales, against sliding", n,
            [&](std::size_t i, double x) { w.masses[i].friction = x; });
  read_chosen(f, "scales", "numbers of the masses that have them; default all", w,
              [&](std::size_t i, bool yes) { w.masses[i].scales = yes; });
  read_chosen(f, "runners", "planar: numbers of the masses that do not slip sideways; default all",
              w, [&](std::size_t i, bool yes) { w.masses[i].runner = yes; });
  read_signals(f, "steering", "planar: gamma of the masses' runners as signals [rad]", n,
               worm.steering);
  read_chosen(f, "tube", "planar: numbers of the masses in a guiding tube; default none", w,
              [&](std::size_t i, bool yes) { w.masses[i].tube = yes; });
  read_start(f, w);
  if (f.writing_schema() || w.planar) return;
  if (!worm.steering.empty() || f.has("runners") || f.has("tube"))
    throw f.error("planar", "expected a planar worm: steering, runners and tube belong to those");
}

void add_worm_metrics(Scene& scene) {
  const WormSpec& w = scene.worm->spec;
  const auto taken = [&](const std::string& name) {
    return std::any_of(scene.metrics.begin(), scene.metrics.end(),
                       [&](const Metric& m) { return m.name == name; });
  };
  const auto add = [&](const std::string& name, Metric m) {
    m.name = name;
    m.path = "worm";
    m.at = scene.end;
    if (!taken(name)) scene.metrics.push_back(m);
  };
  const auto joint = [&](const std::string& value, const std::string& rate,
                         const std::vector<std::string>& joints) {
    Metric m;
    m.joints = joints;
    m.kind = Metric::Kind::coordinate;
    add(value, m);
    m.kind = Metric::Kind::rate;
    add(rate, m);
  };
  const int n = static_cast<int>(w.masses.size());
  for (int i = 1; !w.planar && i <= n; ++i) {
    const std::string x = fmt::format("x{}", i);
    joint(x, fmt::format("v{}", i), {x});
  }
  if (!w.planar) return;
  joint("x0", "vx0", {"mass0.x"});
  joint("y0", "vy0", {"mass0.y"});
  for (int i = 1; i < n; ++i) {
    const std::string suffix = n == 2 ? "" : std::to_string(i);
    joint("theta" + suffix, fmt::format("theta{}_rate", suffix), heading_joints(w, i));
    joint("r" + suffix, fmt::format("r{}_rate", suffix), {fmt::format("r{}", i)});
    Metric m;
    m.kind = Metric::Kind::position;
    m.probe = fmt::format("mass{}", i);
    if (std::none_of(scene.probes.begin(), scene.probes.end(),
                     [&](const Probe& p) { return p.name == m.probe; }))
      scene.probes.push_back({m.probe, m.probe, Vec3::Zero()});
    add(fmt::format("x{}", i), m);
    m.axis = 1;
    add(fmt::format("y{}", i), m);
  }
}

}  // namespace saltus
