// The page of P3: every figure of the paper, its numbers, and the problems it leaves open.
#include "apps/saltus/papers/p3.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "apps/saltus/papers/papers.h"

namespace saltus::cli {

const char* colour_of(int i) {
  constexpr const char* colours[] = {"#1f6feb", "#cf222e", "#1a7f37", "#8250df"};
  return colours[i % 4];
}

namespace {

using std::numbers::pi;

int masses(const Study& s) { return static_cast<int>(s.scene().worm->spec.masses.size()); }
int first(const Study& s) { return s.scene().worm->spec.planar ? 0 : 1; }

const char* dash(int i) {
  constexpr const char* dashes[] = {"", "7 4", "2 3", "9 3 2 3"};
  return dashes[i % 4];
}

std::string mass(const Study& s, int i) { return fmt::format("mass{}", i + first(s)); }

// The speed of a mass: on the line its velocity; in the plane along its runner, which is what it
// has since it cannot slip sideways nor run backwards.
std::vector<double> velocity(const Study& s, int i) {
  if (first(s) == 1) return s.v(mass(s, i));
  std::vector<double> x = s.v("mass0", 0), y = s.v("mass0", 1);
  const auto angle = s.q("link1"), turn = s.v("link1"), r = s.q("mass1"), dr = s.v("mass1");
  for (std::size_t f = 0; f < x.size(); ++f) {
    const double c = std::cos(angle[f]), d = std::sin(angle[f]);
    if (i == 1) {  // x1 = x0 - r (cos Theta, sin Theta)
      x[f] += -dr[f] * c + r[f] * d * turn[f];
      y[f] += -dr[f] * d - r[f] * c * turn[f];
    }
    x[f] = std::hypot(x[f], y[f]);
  }
  return x;
}

// Natural lengths on a grid fine enough for their jumps.
Plot drive_plot(const Study& s, const std::string& title) {
  Plot p = plot_over_time(title, "natural length", "t");
  p.height = 220;
  const auto& lengths = s.scene().worm->lengths;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (std::holds_alternative<Constant>(lengths[i])) continue;
    Curve c{lengths.size() == 1 ? "l" : fmt::format("l{}{}", i + 1, i + 2),
            {},
            colour_of(static_cast<int>(i)),
            dash(static_cast<int>(i))};
    constexpr int samples = 1500;
    for (int k = 0; k <= samples; ++k) {
      const double t = s.scene().end * k / samples;
      c.points.emplace_back(t, value(lengths[i], t));
    }
    p.curves.push_back(c);
  }
  return p;
}

Plot velocity_plot(const Study& s, const std::string& title) {
  Plot p = plot_over_time(title, "velocity", "t");
  std::vector<double> mean(s.t().size(), 0);
  for (int i = 0; i < masses(s); ++i) {
    const auto v = velocity(s, i);
    p.curves.push_back(
        {fmt::format("v{}", i + first(s)), pairs_of(s.t(), v), colour_of(i), dash(i)});
    for (std::size_t f = 0; f < v.size(); ++f) mean[f] += v[f] / masses(s);
  }
  if (first(s) == 1 && masses(s) == 2)
    p.curves.push_back({"mean", pairs_of(s.t(), mean), "#8b949e", "2 3"});
  return p;
}

Plot position_plot(const Study& s, const std::string& title) {
  Plot p = plot_over_time(title, "position", "t");
  for (int i = 0; i < masses(s); ++i)
    p.curves.push_back({fmt::format("x{}", i + first(s)), pairs_of(s.t(), s.body(mass(s, i), 0)),
                        colour_of(i), dash(i)});
  return p;
}

Plot plane_plot(const Study& s, const std::string& title) {
  Plot p;
  p.title = title;
  p.x_label = "x";
  p.y_label = "y";
  p.equal_axes = true;
  for (int i = 0; i < masses(s); ++i)
    p.curves.push_back({fmt::format("mass {}", i),
                        pairs_of(s.body(mass(s, i), 0), s.body(mass(s, i), 1)), colour_of(i),
                        dash(i)});
  const auto x0 = s.body("mass0", 0), y0 = s.body("mass0", 1), x1 = s.body("mass1", 0),
             y1 = s.body("mass1", 1);
  for (int k = 0; k <= 12; ++k) {  // the worm itself, now and then
    const std::size_t f = s.frame_at(s.scene().end * k / 12);
    p.curves.push_back({"", {{x0[f], y0[f]}, {x1[f], y1[f]}}, "#8b949e", ""});
    p.circles.push_back({x0[f], y0[f], 0.03, colour_of(0)});
    p.circles.push_back({x1[f], y1[f], 0.03, colour_of(1)});
  }
  return p;
}

void example_section(Page& page, const std::string& folder) {
  page.section("Example 1 and Fig. 1.2",
               "Two scaly masses and a spring whose natural length jumps to half at t = 0 and back "
               "at tau. Theirs: velocities over t for three choices of tau; left the 1st choice "
               "(mass 2 just stands still), middle and right the 2nd (both as fast as each other), "
               "kappa even and odd. Ours below, with l_o = w = 1 and eps = -1/2.");
  const Study a(folder, "example1-first", "p3/example1-first", {});
  const Study b(folder, "example1-second-even", "p3/example1-second-even", {});
  const Study c(folder, "example1-second-odd", "p3/example1-second-odd", {});
  page.plot(velocity_plot(a, "Fig. 1.2 left: 1st choice"),
            "Mass 1 is held to pi/2, mass 2 from tau for pi/4; then the mean speed is larger by "
            "sqrt(2), as the paper says.",
            a.command());
  page.plot(velocity_plot(b, "Fig. 1.2 middle: 2nd choice, kappa = 2"),
            "Small oscillations: no mass comes to rest again.", b.command());
  page.plot(velocity_plot(c, "Fig. 1.2 right: 2nd choice, kappa = 1"),
            "Large oscillations: mass 2 comes to rest once more, then none.", c.command());
  const double tau = (pi / std::numbers::sqrt2) + pi / 2;
  const auto change = [&](std::size_t i) {
    return i < a.modes().size() ? a.modes()[i].t : std::nan("");
  };
  page.table({{"1st choice: release of mass 1", change(1), pi / 2, "closed form", 1e-10, ""},
              {"1st choice: mass 2 rests (its velocity only touches 0)", change(2), tau,
               "closed form", 1e-7, ""},
              {"1st choice: release of mass 2", a.modes().back().t, tau + pi / 4, "closed form",
               1e-10, ""},
              {"mean speed at the end", 0.5 * (a.metric("v1") + a.metric("v2")),
               std::numbers::sqrt2 / 4, "closed form", 1e-10, ""},
              {"2nd choice, kappa = 2: mean speed", 0.5 * (b.metric("v1") + b.metric("v2")), 0.25,
               "closed form", 1e-10, ""}},
             a.command());
}

void two_masses_section(Page& page, const std::string& folder) {
  page.section("Figs 4.1 to 4.3: two masses, bang-bang drive",
               "Theirs: on the left the relative change of the spring's length, in the middle the "
               "velocities (1 solid, 2 dashed, mean dotted), on the right the positions (x1 on "
               "top). The drive is only in the lost drawing; we take l = 1/2 on (0,4), (8,12), "
               "(16,20), else 1.");
  const Study one(folder, "fig-4-1", "p3/fig-4-1", {});
  page.plot(drive_plot(one, "Figs 4.1 to 4.3: the drive"), "", "");
  page.plot(velocity_plot(one, "Fig. 4.1: velocities"),
            "No damping. The paper: clearly shows diverse switchings between different modes.",
            one.command());
  page.plot(position_plot(one, "Fig. 4.1: positions"), "", one.command());
  add_mode_figures(page, one);
  page.table({{"Fig. 4.1: x1(24)", one.metric("x1"), 8.09996662, "recomputed", 1e-8, ""},
              {"Fig. 4.1: x2(24)", one.metric("x2"), 7.23549028, "recomputed", 1e-8, ""}},
             one.command());
  for (const int k : {2, 3}) {
    const std::string name = fmt::format("fig-4-{}", k);
    const Study s(folder, name, "p3/" + name, {});
    page.plot(velocity_plot(s, fmt::format("Fig. 4.{}: velocities", k)),
              k == 2 ? "With an internal damper, k12 = 0.2: the oscillations die between switches, "
                       "and there is nothing that brakes the whole."
                     : "k12 = 0.075 and external damping of mass 2, k2 = 0.175: now the worm slows "
                       "down between the jerks.",
              s.command());
    page.plot(position_plot(s, fmt::format("Fig. 4.{}: positions", k)), "", s.command());
  }
}

void more_masses_section(Page& page, const std::string& folder) {
  page.section("Figs 4.4 to 4.8: three and four masses",
               "Theirs: 4.4 and 4.5 natural lengths, velocities and positions of three masses "
               "driven by alternate sinusoidal contraction of the springs, the second with a "
               "higher frequency; 4.6 velocities and positions of three masses of which the middle "
               "one has no scales, nothing drives it; 4.7 and 4.8 positions of four masses, the "
               "middle spring driven.");
  for (const int k : {4, 5}) {
    const std::string name = fmt::format("fig-4-{}", k), fig = fmt::format("Fig. 4.{}: ", k);
    const Study s(folder, name, "p3/" + name, {});
    page.plot(drive_plot(s, fig + "natural lengths"), "", "");
    page.plot(velocity_plot(s, fig + "velocities"), "", s.command());
    page.plot(position_plot(s, fig + "positions"), "", s.command());
  }
  const Study six(folder, "fig-4-6", "p3/fig-4-6", {});
  page.plot(velocity_plot(six, "Fig. 4.6: velocities"),
            "Both scaled masses are released at the same instant, pi/(2 sqrt 2): a code that takes "
            "simultaneous events one at a time ends elsewhere.",
            six.command());
  page.plot(position_plot(six, "Fig. 4.6: positions"), "", six.command());
  double drift = 0;
  for (std::size_t f = 0; f < six.t().size(); ++f)
    drift = std::max(drift, std::abs(six.energy(true)[f] + six.energy(false)[f] - 0.25));
  page.judge(drift < 1e-10);
  const double release = six.modes().size() > 1 ? six.modes()[1].t : std::nan("");
  page.table(
      {{"release of both", release, pi / (2 * std::numbers::sqrt2), "closed form", 1e-10, ""},
       {"held after it", static_cast<double>(six.modes().at(1).members.size()), std::nan(""),
        "none", 0, ""},
       {"x1(40)", six.metric("x1"), 10.76417866, "recomputed", 1e-9, ""},
       {"x2(40)", six.metric("x2"), 10.09291715, "recomputed", 1e-9, ""},
       {"x3(40)", six.metric("x3"), 8.94055259, "recomputed", 1e-9, ""},
       {"largest change of the energy 0.25", drift, std::nan(""), "0, to 1e-10", 0, ""}},
      six.command());
  for (const int k : {7, 8}) {
    const std::string name = fmt::format("fig-4-{}", k);
    const Study s(folder, name, "p3/" + name, {});
    page.plot(position_plot(s, fmt::format("Fig. 4.{}: positions", k)),
              k == 7 ? "Light ends." : "Equal masses, more external damping: slower.", s.command());
  }
}

// Least-squares circle through a path: its radius and the largest distance from it.
std::pair<double, double> circle_of(const std::vector<double>& x, const std::vector<double>& y) {
  Eigen::MatrixX3d A(x.size(), 3);
  Eigen::VectorXd b(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    A.row(static_cast<Eigen::Index>(i)) << 2 * x[i], 2 * y[i], 1;
    b[static_cast<Eigen::Index>(i)] = x[i] * x[i] + y[i] * y[i];
  }
  const Eigen::Vector3d c = A.colPivHouseholderQr().solve(b);
  const double r = std::sqrt(c[2] + c[0] * c[0] + c[1] * c[1]);
  double off = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    off = std::max(off, std::abs(std::hypot(x[i] - c[0], y[i] - c[1]) - r));
  return {r, off};
}

void planar_section(Page& page, const std::string& folder) {
  page.section("Figs 6.1 to 6.3: two masses in the plane",
               "Masses on scaly runners that do not slip sideways. Theirs: on the left the system "
               "in the plane, then the velocities (0 solid, 1 dashed), in 6.1 also Theta over t.");
  const Study a(folder, "fig-6-1", "p3/fig-6-1", {}), b(folder, "fig-6-2", "p3/fig-6-2", {}),
      c(folder, "fig-6-3", "p3/fig-6-3", {});
  page.plot(plane_plot(a, "Fig. 6.1: in the plane"),
            "Strong internal damping, runners at +-pi/8. The paper: the front point mass moves "
            "almost along a circle.",
            a.command());
  page.plot(velocity_plot(a, "Fig. 6.1: velocities"), "", a.command());
  Plot heading = plot_over_time("Fig. 6.1: heading", "Theta", "t");
  heading.curves.push_back({"", pairs_of(a.t(), a.q("link1")), colour_of(0), ""});
  page.plot(heading, "", a.command());
  const auto [radius, off] = circle_of(a.body("mass0", 0), a.body("mass0", 1));
  page.table({{"x0(30)", a.metric("x0"), 0.97830366, "recomputed", 1e-7, ""},
              {"y0(30)", a.metric("y0"), 2.19593945, "recomputed", 1e-7, ""},
              {"Theta(30)", a.metric("theta"), 1.68782144, "recomputed", 1e-7, ""},
              {"radius of the front mass's circle", radius, 1.6015, "recomputed", 1e-2, ""},
              {"largest distance from it, where the spring jumps", off, std::nan(""), "", 0, ""}},
             a.command());
  page.plot(plane_plot(b, "Fig. 6.2: in the plane"),
            "Both runners at pi/6. The paper: the system nearly undergoes a parallel displacement.",
            b.command());
  page.plot(velocity_plot(b, "Fig. 6.2: velocities"), "", b.command());
  const Study printed(
      folder, "fig-6-2-printed", "p3/fig-6-2",
      {"worm.lengths[0].times=[0,5,10,20]", "worm.lengths[0].values=[1.5,1,1.5,1]"});
  const double way = std::hypot(b.metric("x0"), b.metric("y0"));
  page.table({{"distance of the front mass", way, std::nan(""), "", 0, ""},
              {"Theta(30)", b.metric("theta"), std::nan(""), "small", 0, "rad"},
              {"distance of the other", std::hypot(b.metric("x1") + 1, b.metric("y1")), way,
               "the front mass's", 2e-2, ""},
              {"distance, drive as printed", std::hypot(printed.metric("x0"), printed.metric("y0")),
               std::nan(""), "(10,15) u (15,20)", 0, ""}},
             b.command());
  page.plot(plane_plot(c, "Fig. 6.3: in the plane"),
            "Weakly damped, the front runner steered by pi/4 sin t.", c.command());
  page.plot(velocity_plot(c, "Fig. 6.3: velocities"), "", c.command());
}

void tube_section(Page& page, const std::string& folder) {
  page.section("The guiding tube (end of section 5)",
               "Three masses, the middle one in a massless tube. As printed, (5.12) to (5.14) feed "
               "energy in: the tube's reaction must also act on the neighbours. With that, an "
               "undamped worm keeps its energy.");
  const Study s(folder, "tube", "p3/tube", {});
  Plot p = plot_over_time("Energy of the worm in the tube", "energy", "t");
  std::vector<double> total(s.t().size());
  double drift = 0;
  for (std::size_t f = 0; f < total.size(); ++f) {
    total[f] = s.energy(true)[f] + s.energy(false)[f];
    drift = std::max(drift, std::abs(total[f] - total[0]));
  }
  p.curves.push_back({"kinetic", pairs_of(s.t(), s.energy(true)), colour_of(0), ""});
  p.curves.push_back({"springs", pairs_of(s.t(), s.energy(false)), colour_of(1), "7 4"});
  p.curves.push_back({"sum", pairs_of(s.t(), total), colour_of(2), ""});
  page.plot(p, "", s.command());
  page.judge(drift < 1e-10);
  page.table({{"energy at the start", total[0], std::nan(""), "", 0, ""},
              {"largest change of it", drift, std::nan(""), "0, to 1e-10", 0, ""}},
             s.command());
}

std::vector<std::string> choices_of_p3() {
  std::vector<std::string> all;
  const auto take = [&](const char* text) { all.emplace_back(text); };
  take("Drives of 4.1 to 4.5, 4.7 and 4.8 are only in the lost drawings: those of the scenes.");
  take(
      "Figs 6.1 to 6.3: r = l_o = 1, Theta = 0 and at rest at the start; l 1 to 1.5, in 6.3 to "
      "0.75.");
  take("Fig. 6.2 prints (10,15) u (15,20): we take (10,15) u (20,25), and show the printed one.");
  take("(5.3) for the first mass: Theta_0 := Theta_1.");
  take("The tube's reaction also acts on its neighbours, or energy grows.");
  return all;
}

}  // namespace

std::string p3_page(const std::string& folder, int& misses) {
  Page page("P3: worms with scales",
            "Steigenberger: On a Class of Biomorphic Motion Systems. Preprint M 99/12, TU Ilmenau, "
            "1999. The paper's drawings are not in our text of it, so theirs are described from "
            "the captions. Every figure below was computed when this page was made, event-driven; "
            "units are the paper's.");
  example_section(page, folder);
  two_masses_section(page, folder);
  more_masses_section(page, folder);
  planar_section(page, folder);
  tube_section(page, folder);
  add_three_ways(page);
  add_orders(page);
  add_open_problems(page, folder);
  page.section("What the paper leaves unsaid, and what we take", "");
  page.list(choices_of_p3());
  misses = page.misses();
  return page.html();
}

}  // namespace saltus::cli
