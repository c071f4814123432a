#include "saltus/model/worm.h"

#include <fmt/format.h>

#include "saltus/model/validate.h"

namespace saltus {

namespace {

int count(const WormSpec& w) { return static_cast<int>(w.masses.size()); }
// The number in a mass's name: P3 counts from 1 on the line, from 0 in the plane.
int number(const WormSpec& w, int i) { return w.planar ? i : i + 1; }
std::string mass_name(const WormSpec& w, int i) { return fmt::format("mass{}", number(w, i)); }
std::string link_name(int i) { return fmt::format("link{}", i); }
// Whether link i > 0 turns against mass i - 1.
bool has_link(const WormSpec& w, int i) { return i == 1 || !w.masses[i - 1].tube; }
bool has_runner(const WormSpec& w, int i) {
  const WormMass& m = w.masses[i];
  return !m.tube && ((w.planar && m.runner) || m.scales || m.friction > 0);
}

void check(const WormSpec& w) {
  require(count(w) >= 2, "worm.masses", "expected at least two masses");
  require(static_cast<int>(w.springs.size()) == count(w) - 1, "worm.springs",
          fmt::format("expected {} springs for {} masses, got {}", count(w) - 1, count(w),
                      w.springs.size()));
  const auto fits = [&](const std::vector<double>& x, int n, const char* key) {
    require(x.empty() || static_cast<int>(x.size()) == n, fmt::format("worm.{}", key),
            fmt::format("expected {} numbers, got {}", n, x.size()));
  };
  fits(w.positions, count(w), "positions");
  fits(w.velocities, count(w), "velocities");
  fits(w.headings, count(w) - 1, "headings");
  fits(w.distances, count(w) - 1, "distances");
  for (int i = 0; i < count(w); ++i)
    require(w.masses[i].mass > 0, fmt::format("worm.masses[{}]", i),
            fmt::format("expected a positive number, got {}", w.masses[i].mass));
  require(w.planar || (w.headings.empty() && w.distances.empty() && w.head.isZero(0)),
          "worm.headings", "a straight worm starts by its positions");
  require(!w.planar || (w.positions.empty() && w.velocities.empty()), "worm.positions",
          "a planar worm starts at rest by its head, headings and distances");
  for (int i = 0; i < count(w); ++i)
    require(!w.masses[i].tube || (w.planar && i > 0 && i < count(w) - 1), "worm.tube",
            "expected masses of a planar worm that have two neighbours");
  for (int i = 1; w.planar && i < count(w); ++i)
    require(w.masses[i - 1].tube == false || w.headings.empty() ||
                w.headings[i - 1] == w.headings[i - 2],
            "worm.headings", fmt::format("mass {} is in a tube: expected equal headings", i - 1));
  for (std::size_t i = 0; i < w.distances.size(); ++i)
    require(w.distances[i] > 0, fmt::format("worm.distances[{}]", i),
            fmt::format("expected a positive number, got {}", w.distances[i]));
}

struct Adder {
  ModelBuilder& builder;
  const WormSpec& w;

  void body(const std::string& name, double mass, const JointSpec& joint) {
    builder.body(name, {mass, Vec3::Zero(), Mat3::Zero()}, joint);
  }
  void straight_mass(int i) {
    JointSpec joint;
    joint.kind = Prismatic{Vec3::UnitX()};
    joint.name = fmt::format("x{}", number(w, i));
    body(mass_name(w, i), w.masses[i].mass, joint);
  }
  void planar_mass(int i) {
    JointSpec joint;
    if (i == 0) {
      joint.kind = Carrier{};
      body(mass_name(w, i), w.masses[i].mass, joint);
      return;
    }
    joint.parent = mass_name(w, i - 1);
    if (has_link(w, i)) {
      joint.kind = Revolute{Vec3::UnitZ()};
      joint.name = fmt::format("{}{}", i == 1 ? "theta" : "bend", i);
      body(link_name(i), 0, joint);
      joint.parent = link_name(i);
    }
    joint.kind = Prismatic{-Vec3::UnitX()};
    joint.name = fmt::format("r{}", i);
    body(mass_name(w, i), w.masses[i].mass, joint);
  }
  void spring(int i) {  // between masses i and i + 1, of which i is ahead
    const WormSpring& of = w.springs[i];
    Spring s;
    s.name = fmt::format("spring{}", i + 1);
    s.stiffness = of.stiffness;
    s.damping = of.damping;
    s.length = of.length;
    if (!w.planar) s.axis = Vec3::UnitX();
    builder.spring(s, mass_name(w, i + 1), mass_name(w, i));
  }
  void runner(int i) {
    const WormMass& m = w.masses[i];
    if (m.drag > 0) {
      Drag d;
      d.name = fmt::format("drag{}", number(w, i));
      d.coefficient = m.drag;
      builder.drag(d, mass_name(w, i));
    }
    if (!has_runner(w, i)) return;
    Runner r;
    r.name = fmt::format("runner{}", number(w, i));
    r.edge = w.planar && m.runner;
    r.scales = m.scales;
    r.friction = m.friction;
    // The head does not turn by itself: Theta_0 := Theta_1.
    builder.runner(r, w.planar && i == 0 ? link_name(1) : mass_name(w, i));
  }
};

}  // namespace

void add_worm(ModelBuilder& builder, const WormSpec& w) {
  check(w);
  Adder add{builder, w};
  for (int i = 0; i < count(w); ++i) w.planar ? add.planar_mass(i) : add.straight_mass(i);
  for (int i = 0; i + 1 < count(w); ++i) add.spring(i);
  for (int i = 0; i < count(w); ++i) add.runner(i);
}

std::vector<WormJoint> worm_joints(const WormSpec& w) {
  std::vector<WormJoint> all;
  if (w.planar) {
    all.push_back({mass_name(w, 0), mass_name(w, 0), {w.head.x(), w.head.y()}, {0, 0}});
    for (int i = 1; i < count(w); ++i) {
      const auto heading = [&](int k) { return w.headings.empty() ? 0 : w.headings[k - 1]; };
      if (has_link(w, i))
        all.push_back({link_name(i),
                       fmt::format("{}{}", i == 1 ? "theta" : "bend", i),
                       {heading(i) - (i == 1 ? 0 : heading(i - 1))},
                       {0}});
      const double r = w.distances.empty() ? w.springs[i - 1].length : w.distances[i - 1];
      all.push_back({mass_name(w, i), fmt::format("r{}", i), {r}, {0}});
    }
    return all;
  }
  double x = 0;
  for (const WormSpring& s : w.springs) x += s.length;
  for (int i = 0; i < count(w); ++i) {
    if (i > 0) x -= w.springs[i - 1].length;
    all.push_back({mass_name(w, i),
                   fmt::format("x{}", number(w, i)),
                   {w.positions.empty() ? x : w.positions[i]},
                   {w.velocities.empty() ? 0 : w.velocities[i]}});
  }
  return all;
}

int worm_runner(const WormSpec& w, int mass) {
  if (!has_runner(w, mass)) return -1;
  int n = 0;
  for (int i = 0; i < mass; ++i) n += has_runner(w, i);
  return n;
}

std::vector<std::string> heading_joints(const WormSpec& w, int link) {
  std::vector<std::string> names;
  for (int i = 1; i <= link; ++i)
    if (has_link(w, i)) names.push_back(fmt::format("{}{}", i == 1 ? "theta" : "bend", i));
  return names;
}

}  // namespace saltus
