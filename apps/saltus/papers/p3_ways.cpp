// The same numbers event-driven, by time stepping and by P3's explicit law; and how fast time
// stepping comes to the events on every scene of P3.
#include <fmt/format.h>

#include <cmath>

#include "apps/saltus/papers/p3.h"
#include "saltus/integrators/events/explicit_law.h"
#include "saltus/simulate/run.h"
#include "saltus/studies/compare.h"

namespace saltus::cli {

namespace {

Scene scene_of(const std::string& name, const std::vector<std::string>& set) {
  return load_scene(fmt::format("{}/p3/{}.yaml", scene_folder(), name), set);
}

Vec by_running(const std::string& name, const std::vector<std::string>& set) {
  const RunResult r = run(scene_of(name, set), {});
  if (r.status != RunStatus::completed) throw std::runtime_error(r.message);
  return r.state.q;
}

Vec by_explicit_law(const std::string& name, double dt) {
  const Scene scene = scene_of(name, {});
  const System system = build_system(scene);
  ExplicitLaw law(system.model, system.actuation);
  Vec x = system.start.q, v = system.start.v;
  const auto steps = std::lround(scene.end / dt);
  for (long k = 0; k < steps; ++k) law.step(static_cast<double>(k) * dt, dt, x, v);
  return x;
}

void add_ways_of(Page& page, const std::string& name, const char* figure, const Vec& expected) {
  std::vector<std::string> head{figure};
  for (Eigen::Index i = 0; i < expected.size(); ++i) head.push_back(fmt::format("x{}", i + 1));
  head.emplace_back("largest error");
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const std::string& way, const Vec& x, double allowed) {
    std::vector<std::string> row{way};
    for (const double value : x) row.push_back(fmt::format("{:.8f}", value));
    const double error = (x - expected).cwiseAbs().maxCoeff();
    row.push_back(fmt::format("{:.1e}", error));
    page.judge(error < allowed);
    rows.push_back(row);
  };
  add("reference, recomputed", expected, 1);
  add("event-driven", by_running(name, {}), 1e-7);
  for (const char* dt : {"1e-3", "1e-4"})
    add(fmt::format("time stepping (Moreau), dt = {}", dt),
        by_running(name, {"integrator.type=moreau", fmt::format("time.step={}", dt)}), 1e-2);
  for (const double dt : {1e-3, 1e-4})
    add(fmt::format("explicit law (3.1), dt = {:g}", dt), by_explicit_law(name, dt), 1e-2);
  page.grid(head, rows,
            fmt::format("saltus run scenes/p3/{}.yaml --set integrator.type=moreau "
                        "--set time.step=1e-3",
                        name));
}

}  // namespace

void add_three_ways(Page& page) {
  page.section(
      "Three ways to the same numbers",
      "Event-driven; Moreau's time stepping; and the paper's own explicit law (3.1), "
      "lambda = -1/2 (1 - sign v)(1 - sign f) f, by a Runge-Kutta method of order 4 with a "
      "fixed step. With the law as printed a held mass trembles about v = 0, so the order "
      "is one, not four.");
  add_ways_of(page, "fig-4-1", "Fig. 4.1, t = 24", Vec{{8.09996662, 7.23549028}});
  add_ways_of(page, "fig-4-6", "Fig. 4.6, t = 40", Vec{{10.76417866, 10.09291715, 8.94055259}});
}

void add_orders(Page& page) {
  page.section("Time stepping comes to the events",
               "saltus compare on every scene: the largest gap of the positions over the whole run "
               "at four steps, each half the one before, the observed order, and whether the "
               "sequences of modes agree at the smallest step.");
  std::vector<std::vector<std::string>> rows;
  for (const char* name : {"example1-first", "example1-second-even", "example1-second-odd",
                           "fig-4-1", "fig-4-2", "fig-4-3", "fig-4-4", "fig-4-5", "fig-4-6",
                           "fig-4-7", "fig-4-8", "fig-6-1", "fig-6-2", "fig-6-3", "tube"}) {
    const Comparison c = compare(scene_of(name, {}), {});
    const SteppingRun &large = c.runs.front(), &small = c.runs.back();
    page.judge(c.position_order > 0.7 && small.modes_agree);
    rows.push_back(
        {name, fmt::format("{:.4g}", large.dt), fmt::format("{:.2e}", large.position.size),
         fmt::format("{:.4g}", small.dt), fmt::format("{:.2e}", small.position.size),
         fmt::format("{:.2f}", c.position_order), small.modes_agree ? "agree" : "differ"});
  }
  page.grid({"scene", "dt", "gap", "dt", "gap", "order", "modes"}, rows,
            "saltus compare scenes/p3/fig-4-1.yaml");
}

}  // namespace saltus::cli
