// The problems that P3 leaves open, answered by running them.
#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <random>

#include "apps/saltus/papers/p3.h"
#include "saltus/simulate/run.h"
#include "saltus/simulate/run_summary.h"

namespace saltus::cli {

namespace {

using std::numbers::pi;

Scene open_scene(const std::string& name) {
  return load_scene(fmt::format("{}/p3/{}.yaml", scene_folder(), name), {});
}

// (1.) The mean-speed factors.
void factors(Page& page, const std::string& folder) {
  const Study s(folder, "open-factors", "p3/open-factors", {});
  page.section(
      "Open: the sequence of factors (section 1)",
      "Problem: If the bang-bang control is repeated that way, what is the sequence (1, "
      "sqrt 2, ...) of factors to the mean speed in the mode 0 phases? Answer: sqrt(k). At "
      "every switch one mass stands, the other moves with V, and the spring adds (a "
      "omega)^2 to V^2.");
  std::vector<FigureRow> rows;
  Plot p;
  p.title = "Mean speed of free phase k over that of the first";
  p.x_label = "k";
  p.y_label = "factor";
  p.height = 280;
  Curve root{"sqrt(k)", {}, "#8b949e", "6 3"};
  for (int k = 1; k <= 16; ++k) {
    const double factor = s.metric(fmt::format("momentum{}", k)) / s.metric("momentum1");
    rows.push_back({fmt::format("k = {}", k), factor, std::sqrt(k), "sqrt(k)", 1e-12, ""});
    p.circles.push_back({static_cast<double>(k), factor, 0.12, colour_of(0)});
    root.points.emplace_back(k, std::sqrt(k));
  }
  p.curves.push_back(root);
  page.plot(p, "", s.command());
  page.table(rows, s.command());
}

struct Control {
  Curve momentum;
  double decrease = 0, least = 0;  // largest from landing to landing; after the first motion
};

// A random piecewise constant control; the momentum at every landing.
Control random_control(const Scene& base, unsigned seed) {
  std::mt19937_64 bits(seed);
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * (static_cast<double>(bits() >> 11U) * 0x1p-53);
  };
  BangBang l{{0}, {uniform(0.3, 1.7)}};
  while (l.times.back() < base.end) {
    l.times.push_back(l.times.back() + uniform(0.1, 3));
    l.values.push_back(uniform(0.3, 1.7));
  }
  Scene scene = base;
  scene.worm->lengths = {l};
  const System system = build_system(scene);
  EventIntegrator integrator(system.model, system.actuation, event_driven(scene));
  State state = system.start;
  Control c;
  c.momentum = {"", {{0, 0}}, colour_of(static_cast<int>(seed)), ""};
  double last = 0;
  constexpr double landing = 0.05;
  for (int k = 1; k * landing <= scene.end; ++k) {
    const EventReport r = integrator.advance(state, k * landing, landing);
    if (!r.failure.empty()) throw std::runtime_error(r.failure);
    ++state.step;
    const double momentum = state.v[0] + state.v[1];  // masses of 1
    c.decrease = std::max(c.decrease, last - momentum);
    if (k == 1) c.least = momentum;
    c.least = std::min(c.least, momentum);
    last = momentum;
    c.momentum.points.emplace_back(k * landing, momentum);
  }
  return c;
}

// (2.) No control stops the worm.
void no_stop(Page& page) {
  constexpr int controls = 60;
  page.section(
      "Open: can a control make it stop? (section 1)",
      fmt::format("Problem: Is there any piecewise constant or continuous control l(t) that makes "
                  "the system stop? Answer: no, without friction. The spring's forces on the two "
                  "masses cancel and the scales' reactions are never negative, so the momentum "
                  "never decreases. Below, {} random piecewise constant controls (seeds 1 to {}), "
                  "the momentum at every 0.05.",
                  controls, controls));
  const Scene base = open_scene("open-no-stop");
  Plot p = plot_over_time("Momentum under random controls", "momentum", "t");
  double decrease = 0, least = 1e9;
  for (unsigned seed = 1; seed <= controls; ++seed) {
    const Control c = random_control(base, seed);
    decrease = std::max(decrease, c.decrease);
    least = std::min(least, c.momentum.points.back().second);
    if (seed <= 8) p.curves.push_back(c.momentum);
  }
  page.judge(decrease < 1e-12);
  page.judge(least > 0);
  page.plot(p, "The first eight.", "saltus run scenes/p3/open-no-stop.yaml");
  page.table(
      {{"largest decrease between two instants", decrease, std::nan(""), "0, to 1e-12", 0, ""},
       {"least momentum at the end", least, std::nan(""), "positive", 0, ""}},
      "");
}

// (3.) Many masses, a travelling wave.
void wave(Page& page, const std::string& folder) {
  const Study s(folder, "open-wave", "p3/open-wave", {});
  page.section("Open: 50 masses and a travelling wave (section 4, problem c)",
               "Every spring's natural length is a sine with a phase of 36 degrees to its "
               "neighbour's: five waves along the worm.");
  Plot p = plot_over_time("Positions of every fourth mass", "position", "t");
  p.height = 420;
  for (int i = 1; i <= 50; i += 4)
    p.curves.push_back({"", pairs_of(s.t(), s.q(fmt::format("mass{}", i))), colour_of(i / 4), ""});
  page.plot(p, "", s.command());
  Plot v = plot_over_time("Velocities of masses 1, 25 and 50", "velocity", "t");
  int k = 0;
  for (const int i : {1, 25, 50})
    v.curves.push_back({fmt::format("v{}", i), pairs_of(s.t(), s.v(fmt::format("mass{}", i))),
                        colour_of(k++), ""});
  page.plot(v, "", s.command());
  page.judge(s.metric("speed") > 0);
  page.table(
      {{"mean speed over two periods, after two", s.metric("speed"), std::nan(""), "", 0, ""},
       {"changes of mode", s.summary()["mode_changes"].get<double>(), std::nan(""), "", 0, ""}},
      s.command());
}

// Runs to the end of a period of the drive; the mean from the end of another one on.
double mean_speed(Scene scene, double period, int from, int to) {
  scene.end = to * period;
  for (Metric& m : scene.metrics) {
    m.from = from * period;
    m.to = scene.end;
    m.at = scene.end;
  }
  const RunResult r = run(scene, {});
  if (r.status != RunStatus::completed) throw std::runtime_error(r.message);
  return r.summary->json["metrics"]["speed"].get<double>();
}

// (4.) An unbalanced rotor.
void rotor(Page& page, const std::string& folder) {
  const Study s(folder, "open-rotor", "p3/open-rotor", {});
  page.section("Open: an unbalanced rotor as drive (section 4, problem b)",
               "A mass on an arm turns on mass 1 at a given rate; nothing else drives the worm.");
  Plot p = plot_over_time("Velocities of the two masses", "velocity", "t");
  for (int i = 1; i <= 2; ++i)
    p.curves.push_back({fmt::format("v{}", i), pairs_of(s.t(), s.v(fmt::format("mass{}", i))),
                        colour_of(i - 1), i == 1 ? "" : "7 4"});
  page.plot(p, "It moves, forwards only: the scales rectify the rotor's force.", s.command());
  Plot speed;
  speed.title = "Mean speed against the rotor's rate";
  speed.x_label = "rate [rad/s]";
  speed.y_label = "mean speed";
  speed.height = 280;
  Curve curve{"", {}, colour_of(0), ""};
  for (double rate = 1; rate <= 12; rate += 0.5) {
    Scene scene = s.scene();
    const double turning = 2 * 24 * (2 * pi / rate);  // [s], twice the run
    scene.bodies[0].prescribed = Table{{0, turning}, {0, turning * rate}};
    curve.points.emplace_back(rate, mean_speed(scene, 2 * pi / rate, 12, 24));
  }
  speed.curves.push_back(curve);
  page.plot(speed, "The spring's resonance of the two masses is near 4.", s.command());
  page.judge(s.metric("speed") > 0);
  page.table({{"mean speed at 6 rad/s", s.metric("speed"), std::nan(""), "", 0, ""}}, s.command());
}

double speed_of(const Scene& base, double stiffness, double omega) {
  Scene scene = base;
  scene.worm->spec.springs[0].stiffness = stiffness;
  scene.worm->lengths = {Sine{0.3, omega, 0, 1}};
  return mean_speed(scene, 2 * pi / omega, 10, 16);
}

// From dark blue over green to yellow.
std::string heat(double share) {
  const auto mix = [&](double a, double b, double c) {
    const double x = share < 0.5 ? a + 2 * share * (b - a) : b + (2 * share - 1) * (c - b);
    return static_cast<int>(std::lround(x));
  };
  return fmt::format("rgb({},{},{})", mix(48, 33, 253), mix(18, 145, 231), mix(90, 140, 37));
}

// (5.) Speed against frequency and stiffness.
void parameters(Page& page) {
  page.section(
      "Open: a parameter study of speed (section 4, problem a)",
      "Two masses with internal and external damping (0.2 each), l = 1 + 0.3 sin(w t): mean "
      "speed over six periods after ten, against the drive's frequency and the stiffness.");
  const Scene base = open_scene("open-speed");
  constexpr int columns = 14, rows = 9;
  double speed[columns][rows], best = 0, best_c = 0, best_w = 0;
  const auto omega = [](int i) { return 0.5 + 0.5 * i; };
  const auto stiffness = [](int k) { return std::pow(2.0, -1 + 0.5 * k); };
  for (int i = 0; i < columns; ++i)
    for (int k = 0; k < rows; ++k) {
      speed[i][k] = speed_of(base, stiffness(k), omega(i));
      if (speed[i][k] <= best) continue;
      best = speed[i][k];
      best_c = stiffness(k);
      best_w = omega(i);
    }
  Plot p;
  p.title = fmt::format("Mean speed, 0 (dark) to {:.2f} (yellow)", best);
  p.x_label = "w";
  p.y_label = "log2 of the stiffness";
  Curve resonance{"w = sqrt(2 c/m)", {}, "#ff7b72", "6 3"};
  for (int k = 0; k < rows; ++k) {
    const double y = std::log2(stiffness(k));
    for (int i = 0; i < columns; ++i)
      p.boxes.push_back({omega(i) - 0.25, y - 0.25, omega(i) + 0.255, y + 0.255,
                         heat(std::max(0.0, speed[i][k]) / best)});
    if (const double w = std::sqrt(2 * stiffness(k)); w < omega(columns - 1) + 0.25)
      resonance.points.emplace_back(w, y);
  }
  p.curves.push_back(resonance);
  p.x_min = 0.25;
  p.x_max = omega(columns - 1) + 0.25;
  p.y_min = -1.25;
  p.y_max = std::log2(stiffness(rows - 1)) + 0.25;
  page.plot(
      p,
      "Within these ranges the worm is fastest where the drive meets the resonance of the two "
      "free masses, dashed.",
      "saltus run scenes/p3/open-speed.yaml --set worm.stiffness=4");
  page.table({{"largest speed", best, std::nan(""), "", 0, ""},
              {"at w", best_w, std::nan(""), "", 0, ""},
              {"and stiffness", best_c, std::nan(""), "", 0, ""},
              {"w / sqrt(2 c/m) there", best_w / std::sqrt(2 * best_c), std::nan(""), "", 0, ""}},
             "");
}

}  // namespace

void add_open_problems(Page& page, const std::string& folder) {
  factors(page, folder);
  no_stop(page);
  wave(page, folder);
  rotor(page, folder);
  parameters(page);
}

}  // namespace saltus::cli
