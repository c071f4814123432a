#include "apps/saltus/table1.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <stdexcept>

#include "apps/saltus/papers/study.h"

namespace saltus::cli {

const std::vector<Configuration>& table1() {
  static const std::vector<Configuration> all{
      {"Cm", false, "minimal", "auto", "", 0, 8900, 11.5},
      {"HmJ", true, "minimal", "jor", "", 0.6, 5400, 13.5},
      {"HmS", true, "minimal", "sor", "", 0.6, 4700, 11.8},
      {"HEJD", true, "as-marked", "jor", "direct", 0.6, 2700, 6.8},
      {"HEJP", true, "as-marked", "jor", "prox", 0.5, 2900, 7.1},
      {"HESD", true, "as-marked", "sor", "direct", 0.6, 2500, 6.1},
      {"HESP", true, "as-marked", "sor", "prox", 0.6, 2400, 6.0},
      {"HMJD", true, "maximal", "jor", "direct", 1.0, 1600, 4.1},
      {"HMJP", true, "maximal", "jor", "prox", 0.4, 600, 1.5},
      {"HMSD", true, "maximal", "sor", "direct", 1.0, 1600, 3.9},
      {"HMSP", true, "maximal", "sor", "prox", 0.6, 800, 2.0}};
  return all;
}

std::vector<Configuration> rows_of_table1() {
  std::vector<Configuration> all = table1();
  all.push_back({"default", true, "minimal", "auto", "", 0, 0, 0});
  return all;
}

const char* stage_name(StepStage stage) {
  constexpr const char* names[] = {"M and h", "factor of M", "contacts", "G", "u_E", "end"};
  return names[static_cast<int>(stage)];
}

const Configuration& configuration(const std::string& name) {
  const auto& all = table1();
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const auto& c) { return name == c.name; });
  if (at == all.end()) throw std::logic_error("no configuration " + name);
  return *at;
}

std::vector<std::string> settings(const Configuration& c, double dt, double damping,
                                  double stiffness) {
  if (dt == 0) dt = c.hard ? hard_step : compliant_step;
  const std::string soft =
      c.hard ? ""
             : fmt::format(", compliant: {{stiffness: {:g}, damping: {:g}}}", stiffness, damping);
  std::vector<std::string> all{
      fmt::format("coordinates={}", c.coordinates), fmt::format("time.step={:g}", dt),
      // At every foot and joint, as P2 has them.
      fmt::format("contacts=[{{between: [ground, '*_foot|*_knee|*_hip_joint'], friction: 0.8{}}}]",
                  soft)};
  if (!c.hard) return all;
  all.push_back(fmt::format("solver.type={}", c.solver));
  all.emplace_back("solver.tolerance=1e-6");
  if (c.alpha > 0) {
    all.emplace_back("solver.steps=diagonal");
    all.push_back(fmt::format("solver.alpha={:g}", c.alpha));
  }
  if (*c.bilaterals != 0) all.push_back(fmt::format("solver.bilaterals={}", c.bilaterals));
  return all;
}

std::string command_of(const std::vector<std::string>& settings) {
  std::string text = "saltus run scenes/p2/trot.yaml";
  for (const std::string& s : settings)
    text += s.find_first_of(" [{") == std::string::npos ? " --set " + s : " --set \"" + s + "\"";
  return text;
}

Trot::Trot(const std::vector<std::string>& settings)
    : scene(load_scene(scene_folder() + "/p2/trot.yaml", settings)),
      system(build_system(scene)),
      state(system.start),
      options(scene.stepping),
      work(system.model) {
  const auto& shapes = system.model.shapes;
  const auto at = std::find_if(shapes.begin(), shapes.end(),
                               [](const ContactShape& s) { return s.name == "LF_foot"; });
  foot = static_cast<int>(at - shapes.begin());
}

void Trot::run_to(double t, bool default_solver) {
  const Solver own = options.solver;
  if (default_solver) options.solver = AutoSolver{};
  while (state.t < t - 0.5 * options.dt) {
    const StepReport r = step();
    if (r.diverged || r.singular)
      throw std::runtime_error(fmt::format("the trot diverged at t = {:g} s", state.t));
  }
  options.solver = own;
}

double Trot::force() const {
  double impulse = 0;
  for (const ContactImpulse& c : state.contacts)
    if (c.key.a == foot || c.key.b == foot) impulse += c.Lambda[0];
  return impulse / options.dt;
}

double Trot::depth() const {
  double deepest = 0;
  for (const Contact& c : work.result.assembly.contacts)
    if (c.key.a == foot || c.key.b == foot) deepest = std::max(deepest, -c.point.gap);
  return deepest;
}

Vec3 Trot::trunk() const {
  return state.q.segment<3>(system.model.bodies[system.model.body("trunk")].q0);
}

namespace {

Spread spread_of(const std::vector<double>& x) {
  Spread s;
  for (const double v : x) s.mean += v / static_cast<double>(x.size());
  for (const double v : x)
    s.deviation += (v - s.mean) * (v - s.mean) / static_cast<double>(x.size());
  s.deviation = std::sqrt(s.deviation);
  return s;
}

// One cycle with a clock between the stages.
void time_stages(Trot& trot, int steps, Timing& out) {
  std::vector<double> total(steps);
  std::array<std::vector<double>, std::tuple_size_v<decltype(out.stages)>> stages;
  for (int i = 0; i < steps; ++i) {
    StepTimes times;
    (void)timed_step(trot.system.model, trot.system.actuation, trot.state, trot.work, trot.options,
                     times);
    for (std::size_t k = 0; k < stages.size(); ++k) {
      stages[k].push_back(times.seconds[k]);
      total[i] += times.seconds[k];
    }
  }
  const Spread all = spread_of(total);
  if (out.total.mean > 0 && all.mean >= out.total.mean) return;  // the quietest repetition
  out.total = all;
  for (std::size_t k = 0; k < stages.size(); ++k) out.stages[k] = spread_of(stages[k]);
}

}  // namespace

Timing time_configuration(const Configuration& c, int repetitions) {
  Trot trot(settings(c));
  trot.run_to(full_trot);
  const State start = trot.state;
  Timing out;
  trot.run_to(full_trot + gait_period);
  const Vec3 end = trot.trunk();
  out.steps = static_cast<int>(std::lround(gait_period / trot.options.dt));
  double least = infinity;
  for (int k = 0; k < repetitions; ++k) {
    trot.state = start;
    out.iterations = 0;
    out.unconverged = 0;
    const std::clock_t begin = std::clock();
    for (int i = 0; i < out.steps; ++i) {
      const StepReport r = trot.step();
      out.iterations += static_cast<double>(r.solve().iterations) / out.steps;
      out.most_iterations = std::max(out.most_iterations, r.solve().iterations);
      out.unconverged += !r.solve().converged;
      out.joint_gap = std::max(out.joint_gap, r.projection.joint_gap);
    }
    least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    trot.state = start;
    time_stages(trot, out.steps, out);
    out.off = (trot.trunk() - end).norm();
  }
  out.evaluations = out.steps / least;
  out.realtime = out.evaluations * trot.options.dt;
  return out;
}

std::vector<std::pair<double, double>> iterations_over_alpha(const Configuration& c, int states) {
  Trot trot(settings(c));
  trot.run_to(full_trot);
  std::vector<State> start;
  for (int i = 0; i < states; ++i) {
    start.push_back(trot.state);
    trot.run_to(full_trot + (i + 1) * gait_period / states);
  }
  std::vector<std::pair<double, double>> points;
  for (int tenth = 1; tenth < 20; ++tenth) {
    double sum = 0;
    bool converged = true;
    std::visit(
        [&](auto& o) {
          o.alpha = 0.1 * tenth;
          o.max_iterations = 5000;
        },
        trot.options.solver);
    for (const State& s : start) {
      trot.state = s;
      const StepReport r = trot.step();
      sum += r.solve().iterations;
      converged = converged && r.solve().converged && !r.diverged;
    }
    if (converged)
      points.emplace_back(0.1 * tenth, sum / states);
    else if (!points.empty())
      break;  // beyond its limit
  }
  return points;
}

}  // namespace saltus::cli
