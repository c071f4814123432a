// The page of P0: every figure of section VIII that a simulation can make, and its numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/saltus/papers/page.h"
#include "apps/saltus/papers/papers.h"
#include "apps/saltus/papers/study.h"

namespace saltus::cli {

namespace {

const double no_reference = std::nan("");

Plot link6_against_time(const Study& s, const std::string& title) {
  Plot p;
  p.title = title;
  p.x_label = "t [s]";
  p.y_label = "position of link 6 [m]";
  p.curves.push_back({"x", pairs_of(s.t(), s.body("link6", 0)), "#1f6feb", ""});
  p.curves.push_back({"y", pairs_of(s.t(), s.body("link6", 1)), "#cf222e", "6 3"});
  return p;
}

// The plane to scale.
Plot map(const std::string& title) {
  Plot p;
  p.title = title;
  p.x_label = "x [m]";
  p.y_label = "y [m]";
  p.equal_axes = true;
  return p;
}

Plot link6_path(const Study& s, const std::string& title) {
  Plot p = map(title);
  s.draw(p, 0, 0, true);
  p.curves.push_back(
      {"path of link 6", pairs_of(s.body("link6", 0), s.body("link6", 1)), "#1f6feb", ""});
  return p;
}

Plot posture_with_forces(const Study& s, double t) {
  constexpr double metres_per_newton = 0.012;
  const std::size_t f = s.frame_at(t);
  Plot p = map(fmt::format("Posture and peg forces at t = {:.2f} s (arrow: 10 N = {:.2f} m)",
                           s.t()[f], 10 * metres_per_newton));
  s.draw(p, f, 0, true);
  for (const ContactSample& c : s.contacts(f))
    if (!c.support)
      p.arrows.push_back({c.x, c.y, metres_per_newton * c.fx, metres_per_newton * c.fy});
  return p;
}

Plot forces_on_links(const Study& s) {
  Plot p;
  p.title = "Contact force on links 2, 7 and 10";
  p.x_label = "t [s]";
  p.y_label = "|force| [N]";
  const char* const colours[] = {"#1f6feb", "#cf222e", "#1a7f37"};
  int k = 0;
  for (const char* link : {"link2", "link7", "link10"})
    p.curves.push_back({link, pairs_of(s.t(), s.contact_force(link)), colours[k++], ""});
  p.x_min = 4.5;
  p.x_max = 5.5;
  p.y_max = 40;  // the paper leaves the spikes of impacts out, too
  return p;
}

Plot phase_shift(const Study& s, const std::string& title) {
  Plot p = map(title);
  s.draw(p, 0, 0, true);
  auto path = pairs_of(s.body("link6", 0), s.body("link6", 1));
  path.resize(s.frame_at(5.0) + 1);
  p.curves.push_back({"link 6, 0 to 5 s", path, "#1f6feb", "6 3"});
  return p;
}

Plot filmstrip(const Study& s) {
  Plot p = map("The snake among the pegs every 2 s");
  p.y_label = "y [m], each picture below the last";
  for (int k = 0; k < 6; ++k) {
    const double dy = -0.55 * k;
    s.draw(p, s.frame_at(2.0 * k), dy, true);
    p.labels.push_back({-0.25, 0.1 + dy, fmt::format("{} s", 2 * k)});
  }
  p.x_min = -0.4;
  p.x_max = 3.2;
  return p;
}

void flat_section(Page& page, const std::string& folder) {
  const Study s(folder, "flat", "p0/flat", {});
  page.section("Flat ground (section VIII-D.1, Fig. 13)",
               "Lateral undulation with isotropic friction: the snake creeps backwards.");
  page.plot(link6_against_time(s, "Fig. 13: link 6 on flat ground"),
            "The paper: about -1 cm/s along x, robot and simulation.", s.command());
  page.table({{"v1, first period", s.metric("v1"), -0.010417, "recomputed, dt -> 0", 5e-3, "m/s"},
              {"v2, second period", s.metric("v2"), -0.010523, "recomputed, dt -> 0", 5e-3, "m/s"},
              {"v2", s.metric("v2"), -0.01, "paper, about", 0, "m/s"}},
             s.command());
}

void pegs_section(Page& page, const std::string& folder) {
  const Study s(folder, "pegs", "p0/pegs", {});
  page.section("Seven pegs of 0.125 m (section VIII-D.2, Figs 14 and 15)",
               "The same gait, now forwards and fifteen times faster.");
  page.plot(link6_against_time(s, "Fig. 14: link 6 among the pegs"),
            "The paper: ca. 15 cm/s in simulation and experiment.", s.command());
  page.plot(link6_path(s, "Fig. 14: path of link 6 and the start pose"), "", s.command());
  page.plot(filmstrip(s), "Fig. 15: simulation. The snake goes to the right.", s.command());
  page.table(
      {{"v1", s.metric("v1"), 0.15915, "recomputed", 5e-3, "m/s"},
       {"v2", s.metric("v2"), 0.16286, "recomputed", 5e-3, "m/s"},
       {"mean speed, 0 to 12 s", s.metric("v_12"), 0.15, "paper, ca.", 0, "m/s"},
       {"x of link 6 at 9 s", s.metric("x6_9"), 1.97387, "recomputed", 1e-3, "m"},
       {"y of link 6 at 9 s", s.metric("y6_9"), 0.15781, "recomputed", 1e-3, "m"},
       {"mean force, peg 3, 4.5 to 5.5 s", s.metric("force_peg3"), 5.74, "recomputed", 2e-2, "N"},
       {"mean force, peg 4", s.metric("force_peg4"), 11.33, "recomputed", 2e-2, "N"},
       {"mean force, peg 5", s.metric("force_peg5"), 3.93, "recomputed", 2e-2, "N"}},
      s.command());
}

// How far link 6 lags behind that of another run, which has started `delay` earlier [m].
std::vector<std::pair<double, double>> behind(const Study& ideal, const Study& s,
                                              double delay = 0) {
  const std::vector<double> a = ideal.body("link6", 0), b = s.body("link6", 0);
  const std::size_t late = s.frame_at(delay);
  std::vector<std::pair<double, double>> points;
  for (std::size_t i = late; i < std::min(a.size(), b.size()); ++i)
    points.emplace_back(s.t()[i], a[i] - b[i - late]);
  return points;
}

// Its mean over the track, 1 to 9 s: later the snake leaves the pegs.
double mean_behind(const Study& ideal, const Study& s, double delay = 0) {
  double sum = 0;
  int n = 0;
  for (const auto& [t, x] : behind(ideal, s, delay))
    if (t >= 1 && t <= 9) {
      sum += x;
      ++n;
    }
  return sum / n;
}

void backlash_section(Page& page, const std::string& folder) {
  const Study ideal(folder, "pegs", "p0/pegs", {});
  page.section("Play in the gears and torque limits (section VIII-E)",
               "The robot is ca. 3 to 4 cm behind the paper's simulation at any time. Named as "
               "reasons: a start 50 to 150 ms off the log's, saturation, play of 2 to 3 degrees in "
               "the gears, and where the robot was placed.");
  Plot p;
  p.title = "How far link 6 is behind the snake without play";
  p.x_label = "t [s]";
  p.y_label = "x without - x with [m]";
  std::vector<FigureRow> rows;
  const auto row = [&](const std::string& what, double x, double paper) {
    rows.push_back({what, x, paper, std::isnan(paper) ? "" : "paper, 3 to 4 cm", 0, "m"});
  };
  const Study tight(folder, "backlash-0", "p0/backlash", {"snake.motor.backlash=0"});
  row("behind, mean of 1 to 9 s: torque limit alone", mean_behind(ideal, tight), no_reference);
  const char* const colours[] = {"#1a7f37", "#1f6feb", "#cf222e"};
  int k = 0;
  std::string command;
  for (const char* degrees : {"2", "2.5", "3"}) {
    const Study s(folder, fmt::format("backlash-{}", degrees), "p0/backlash",
                  {fmt::format("snake.motor.backlash={} deg", degrees)});
    p.curves.push_back({fmt::format("{} degrees", degrees), behind(ideal, s), colours[k++], ""});
    row(fmt::format("and play of {} degrees", degrees), mean_behind(ideal, s), 0.035);
    const double delay = 0.05 * k;  // the paper's 50 to 150 ms
    row(fmt::format("and a start {:g} ms late", 1e3 * delay), mean_behind(ideal, s, delay), 0.035);
    command = s.command();
  }
  p.x_max = 9;
  page.plot(p, "The paper: ca. 0.03 to 0.04 m, robot against simulation.", command);
  page.table(rows, command);
}

void small_pegs_section(Page& page, const std::string& folder) {
  const Study s(folder, "small-pegs", "p0/small-pegs", {"output.interval=1e-3"});
  page.section("Small pegs (section VIII-B, Figs 9 to 11)",
               "Pegs of 1 to 3 cm at the contact points of the large ones.");
  page.plot(link6_path(s, "Fig. 9: path of link 6"), "Almost the path among large pegs.",
            s.command());
  page.plot(
      posture_with_forces(s, 5.2),
      "Fig. 10: forces of the pegs on the snake: one link is pushed to one side and balances the "
      "other two. (In the paper's picture the sides are the other way round; it prints no centres "
      "of its small pegs.)",
      s.command());
  page.plot(forces_on_links(s),
            "Fig. 11: spikes are impacts; as in the paper the axis cuts them off. Link 7 carries "
            "the largest mean force: it balances the other two.",
            s.command());
}

void shift_section(Page& page, const std::string& folder) {
  page.section("Phase shift (Fig. 12)",
               "Too few curls reach no three push-points; more curls move, but push sideways.");
  const Study few(folder, "delta-30", "p0/delta-30", {}),
      many(folder, "delta-70", "p0/delta-70", {});
  page.plot(phase_shift(few, "Fig. 12 (a): phase shift 30 degrees"), "Stuck.", few.command());
  page.plot(phase_shift(many, "Fig. 12 (b): phase shift 70 degrees"), "Moves on.", many.command());
  page.table({{"v2, 30 degrees", few.metric("v2"), no_reference, "paper: unable to move", 0, "m/s"},
              {"v2, 70 degrees", many.metric("v2"), no_reference, "paper: moves forward", 0, "m/s"},
              {"cost of transport, 70 degrees", many.metric("cost_of_transport"), no_reference, "",
               0, ""}},
             many.command());
}

void peg3_section(Page& page, const std::string& folder) {
  page.section("What if peg 3 is moved or missing? (section VIII-B.1)", "");
  const Study moved(folder, "peg3-moved", "p0/peg3-moved", {});
  const Study gone(folder, "peg3-removed", "p0/peg3-removed", {});
  page.plot(link6_path(moved, "Peg 3 moved by one diameter"), "It still completes the track.",
            moved.command());
  page.plot(link6_path(gone, "Peg 3 removed"), "It never regains a third push-point.",
            gone.command());
  page.table(
      {{"peg 3 moved: passes x = 2 m", moved.metric("t_2m"), 9.2, "recomputed, sampled", 5e-3, "s"},
       {"peg 3 removed: largest x of link 6", gone.metric("x6_largest"), 0.806, "recomputed", 1e-3,
        "m"},
       {"peg 3 removed: passes x = 2 m", gone.metric("t_2m"), no_reference, "paper: never", 0,
        "s"}},
      gone.command());
}

void friction_section(Page& page, const std::string& folder) {
  const Study s(folder, "anisotropic", "p0/anisotropic", {});
  page.section("Elliptic friction (eq. 52)", "0.1 along a link, 0.3 across: no pegs are needed.");
  page.plot(link6_against_time(s, "Link 6 with elliptic friction"), "", s.command());
  page.table({{"v1", s.metric("v1"), 0.09365, "recomputed", 5e-3, "m/s"},
              {"v2", s.metric("v2"), 0.09536, "recomputed", 5e-3, "m/s"}},
             s.command());
}

// What the paper leaves unsaid, and what we take.
std::vector<std::string> choices() {
  std::vector<std::string> all;
  const auto take = [&](const char* text) { all.emplace_back(text); };
  take("Peg radius: 0.0125 m is printed, but the pegs are cut from a pipe of 0.25 m; 0.125 m.");
  take(
      "Start pose: joint angles on the gait at t = 0, the wave's axis along x, link 11 at the "
      "origin, at rest. Step and tolerance: those of the scenes; g = 9.81 m/s^2.");
  take(
      "PD controller (eq. 43): the rate of the relative angle, the reference's rate included; "
      "linearly implicit at the mid-point of the step.");
  take(
      "Projection (section VI-C): keeping link 1 drags the centre of mass along, an error of first "
      "order; ours keeps the centre of mass.");
  take("Small pegs: radii of the first seven; centres that keep the contact points.");
  take("Fig. 12: pegs where the start pose crosses its centre line.");
  return all;
}

}  // namespace

std::string p0_page(const std::string& folder, int& misses) {
  Page page(
      "P0: a wheel-less snake robot that pushes against pegs",
      "Transeth, Leine, Glocker, Pettersen, Liljebäck: Snake Robot Obstacle Aided Locomotion: "
      "Modeling, Simulations, and Experiments. IEEE Transactions on Robotics, 2008. Every "
      "figure below was computed when this page was made.");
  flat_section(page, folder);
  pegs_section(page, folder);
  backlash_section(page, folder);
  small_pegs_section(page, folder);
  shift_section(page, folder);
  peg3_section(page, folder);
  friction_section(page, folder);
  page.section("What the paper leaves unsaid, and what we take", "");
  page.list(choices());
  misses = page.misses();
  return page.html();
}

}  // namespace saltus::cli
