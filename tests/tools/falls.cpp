// falls SCENE COUNT SEED THREADS SECONDS [KEY=VALUE...]: P2's stress test. The robot of a scene
// stands for half a second, its first body gets a random push (a jump of its velocity), and it
// falls; COUNT times. Prints one JSON object of what was the worst of all steps.
// tests/test_quadruped.py judges it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>

#include "saltus/base/parallel.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/integrators/moreau/moreau.h"
#include "saltus/scene/scene.h"

namespace saltus {
namespace {

// The largest of a term of the ledger in one step, and where.
struct Peak {
  double work = 0;  // [J]
  std::int64_t fall = -1;
  int step = -1;
  double raw = 0;  // penetration before the correction, in that step [m]
  void add(const Peak& other) {
    if (other.work > work) *this = other;
  }
};

struct Worst {
  std::int64_t steps = 0, unconverged = 0, silent = 0, diverged = 0, not_finite = 0, fallen = 0;
  double residual = 0;
  double reported = 0, measured = 0;  // penetration after correction [m]
  double net = -infinity;  // of a whole fall: work of all but motors, scheme and correction [J]
  double gain = 0;  // work of contacts, friction, dampers and joints in a step, if positive [J]
  double impact_gain = 0;  // of that at impacts [J]
  Peak integrator, correction;
  double net_integrator = -infinity;  // of a whole fall [J]
  double raw = 0;                     // penetration before correction [m]
  double ledger = 0;                  // what the terms of a step miss of its change [J]
  std::int64_t first_bad = -1;        // the fall with the lowest number that diverged or missed
};

void add(Worst& all, const Worst& one) {
  all.steps += one.steps;
  all.unconverged += one.unconverged;
  all.silent += one.silent;
  all.diverged += one.diverged;
  all.not_finite += one.not_finite;
  all.fallen += one.fallen;
  for (double Worst::*x :
       {&Worst::residual, &Worst::reported, &Worst::measured, &Worst::gain, &Worst::impact_gain,
        &Worst::net, &Worst::net_integrator, &Worst::raw, &Worst::ledger})
    all.*x = std::max(all.*x, one.*x);
  all.integrator.add(one.integrator);
  all.correction.add(one.correction);
  if (one.first_bad >= 0 && (all.first_bad < 0 || one.first_bad < all.first_bad))
    all.first_bad = one.first_bad;
}

struct Stress {
  const Scene& scene;
  const System& system;
  State standing;
  std::uint64_t seed;
  double seconds;

  // Up to 4 m/s along the ground, 1 m/s up, and a turn of up to 6 rad/s about each axis.
  void push(State& s, std::int64_t fall) const {
    std::mt19937_64 random(seed + 1000003ULL * static_cast<std::uint64_t>(fall));
    const auto uniform = [&](double a, double b) {  // the same bits everywhere
      return a + (b - a) * (static_cast<double>(random() >> 11) * 0x1p-53);
    };
    const double angle = uniform(0, 2 * 3.14159265358979323846), speed = uniform(1, 4);
    s.v[0] += speed * std::cos(angle);
    s.v[1] += speed * std::sin(angle);
    s.v[2] += uniform(0, 1);
    for (int k = 3; k < 6; ++k) s.v[k] += uniform(-6, 6);
  }

  void look(const StepReport& r, const State& s, double before, std::int64_t fall, Worst& w) const {
    const double tolerance = options_of(scene.stepping.solver).tolerance;
    ++w.steps;
    w.unconverged += !r.solve().converged;
    w.silent += r.solve().converged && r.solve().residual > tolerance;
    w.residual = std::max(w.residual, r.solve().residual);
    w.reported = std::max(w.reported, r.projection.penetration);
    w.not_finite += !(s.q.allFinite() && s.v.allFinite());
    const EnergyTerms& e = r.energy;
    w.gain = std::max(w.gain, e.contacts + e.friction + e.dampers + e.joints);
    w.impact_gain = std::max(w.impact_gain, e.impacts);
    w.raw = std::max(w.raw, r.projection.raw_penetration);
    const auto step = static_cast<int>(w.steps);
    w.integrator.add({e.integrator, fall, step, r.projection.raw_penetration});
    w.correction.add({e.correction, fall, step, r.projection.raw_penetration});
    w.ledger = std::max(w.ledger,
                        std::abs(e.total() - before - e.work_without_integrator() - e.integrator));
  }

  Worst run(std::int64_t fall) const {
    const Model& m = system.model;
    StepWorkspace work(m);
    Workspace kinematics(m);
    ContactFinder finder(m);
    std::vector<Contact> contacts;
    State s = standing;
    push(s, fall);
    Worst w;
    double net = 0, net_integrator = 0;
    double energy = NAN;
    const auto steps = static_cast<int>(std::round(seconds / scene.stepping.dt));
    for (int i = 0; i < steps; ++i) {
      const StepReport r = step(m, system.actuation, s, work, scene.stepping);
      if (r.diverged || r.singular) {
        ++w.diverged;
        break;
      }
      look(r, s,
           i == 0 ? r.energy.total() - r.energy.work_without_integrator() - r.energy.integrator
                  : energy,
           fall, w);
      energy = r.energy.total();
      net += r.energy.contacts + r.energy.friction + r.energy.dampers + r.energy.joints;
      net_integrator += r.energy.integrator;
      if (i % 4 != 0) continue;  // gaps anew, by nobody's report
      forward_kinematics(m, s.q, s.v, kinematics);
      finder.find(m, kinematics, 0, contacts);
      for (const Contact& c : contacts) w.measured = std::max(w.measured, -c.point.gap);
    }
    forward_kinematics(m, s.q, s.v, kinematics);
    w.net = net;
    w.net_integrator = net_integrator;
    w.fallen = kinematics.X[0].r.z() < 0.25;
    if (w.diverged + w.unconverged + w.not_finite > 0) w.first_bad = fall;
    return w;
  }
};

nlohmann::json json_of(const Peak& p) {
  return {{"work", p.work}, {"fall", p.fall}, {"step", p.step}, {"raw_penetration", p.raw}};
}

nlohmann::json summary(const Worst& w, std::int64_t falls) {
  return {{"falls", falls},
          {"fallen", w.fallen},
          {"steps", w.steps},
          {"diverged", w.diverged},
          {"not_finite", w.not_finite},
          {"unconverged", w.unconverged},
          {"silent", w.silent},
          {"worst_residual", w.residual},
          {"penetration_reported", w.reported},
          {"penetration_measured", w.measured},
          {"gain", w.gain},
          {"net_gain", w.net},
          {"impact_gain", w.impact_gain},
          {"integrator", json_of(w.integrator)},
          {"net_integrator", w.net_integrator},
          {"correction", json_of(w.correction)},
          {"raw_penetration", w.raw},
          {"ledger", w.ledger},
          {"first_bad", w.first_bad}};
}

int main_of(int argc, char** argv) {
  if (argc < 6) {
    fmt::print(stderr, "usage: {} SCENE COUNT SEED THREADS SECONDS [KEY=VALUE...]\n", argv[0]);
    return 2;
  }
  const Scene scene = load_scene(argv[1], {argv + 6, argv + argc});
  const System system = build_system(scene);
  Stress stress{scene, system, system.start, std::strtoull(argv[3], nullptr, 10),
                std::strtod(argv[5], nullptr)};
  StepWorkspace work(system.model);
  for (int i = 0; i * scene.stepping.dt < 0.5; ++i)
    if (!step(system.model, system.actuation, stress.standing, work, scene.stepping)
             .solve()
             .converged)
      throw std::runtime_error("the robot does not stand");
  const int count = std::atoi(argv[2]);
  std::vector<Worst> each(count);
  parallel_for(count, std::atoi(argv[4]), [&](int i) { each[i] = stress.run(i); });
  Worst all;
  for (const Worst& one : each) add(all, one);
  fmt::print("{}\n", summary(all, count).dump());
  return 0;
}

}  // namespace
}  // namespace saltus

int main(int argc, char** argv) {
  try {
    return saltus::main_of(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "falls: {}\n", e.what());
    return 2;
  }
}
