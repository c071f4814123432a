// The page of P2: the quadruped in Table 1's configurations, Figs 5 to 7, accuracy.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "apps/saltus/papers/page.h"
#include "apps/saltus/papers/papers.h"
#include "apps/saltus/papers/study.h"
#include "apps/saltus/table1.h"

namespace saltus::cli {

namespace {

using Row = std::vector<std::string>;
using Timed = std::vector<std::pair<Configuration, Timing>>;

constexpr std::array<const char*, 3> sets{"minimal", "as-marked", "maximal"};

std::string set_name(const std::string& coordinates) {
  return coordinates == "as-marked" ? "extended" : coordinates;
}

void table_section(Page& page, const Timed& all) {
  page.section(
      "Table 1",
      "Evaluations (steps) a second on one core, and how many times faster than real time: "
      "hard contacts at 2.5 ms, compliant ones at 1.25 ms. Theirs: Xeon E31245 at 3.3 GHz, "
      "2013. Ours: this machine, CPU time of one gait cycle of full amplitude, least of the "
      "repetitions; every step also keeps its energy ledger and corrects positions, which "
      "theirs does not. alpha is the paper's. 'default' is what a scene gets that asks for "
      "nothing.");
  std::vector<Row> rows;
  for (const auto& [c, t] : all) {
    const bool theirs = c.evaluations > 0;
    rows.push_back(
        {c.name, c.hard ? "hard" : "compliant", set_name(c.coordinates), c.hard ? c.solver : "-",
         *c.bilaterals != 0 ? c.bilaterals : "-", c.alpha > 0 ? fmt::format("{:g}", c.alpha) : "-",
         fmt::format("{:.0f}", t.evaluations), theirs ? fmt::format("{:.0f}", c.evaluations) : "",
         fmt::format("{:.1f}", t.realtime), theirs ? fmt::format("{:.1f}", c.realtime) : "",
         fmt::format("{:.0f}", t.iterations), fmt::format("{}", t.unconverged)});
    page.judge(t.unconverged == 0);
  }
  page.grid({"name", "contact", "coordinates", "prox", "bilateral", "alpha", "evaluations/s",
             "paper", "real time", "paper", "iterations", "not converged"},
            rows, "saltus bench table1");
  page.text(
      "The paper's Cm line does not fit itself: 8900/s at 1.25 ms is 11.1 times real time, printed "
      "11.5.");
  page.text(
      "Two lines are slower than the paper's, HMJP and HMSP: thousands of iterations go into the "
      "impulses (Fig. 7). The residual is taken down to 1e-6 m/s of true velocity, while the paper "
      "stops when impulses hardly change; implicit motors and dampers are twelve more rows that "
      "couple the joints; and an iteration here works on a dense G of 84 rows. A direct factor of "
      "the joints (D) is the way to use maximal coordinates, as the paper says.");
}

Curve force_curve(const ForceSeries& s, const char* colour, const char* dash) {
  return {s.name, pairs_of(s.t, s.force), colour, dash};
}

void force_section(Page& page) {
  page.section("Fig. 5: normal force of the left fore foot, and how deep it sinks",
               "One cycle of the trot. The paper: the forces coincide well; low damping (50 N s/m) "
               "leads to oscillations; ten times as much damps them out rapidly, but impacts "
               "generate higher forces and the step has to be a quarter.");
  const Fig5 f = figure_5();
  Plot p = plot_over_time("Fig. 5: force", "normal force [N]", "t since the trot's start [s]");
  p.curves.push_back(force_curve(f.soft, "#1f6feb", ""));
  p.curves.push_back(force_curve(f.damped, "#1a7f37", "7 4"));
  p.curves.push_back(force_curve(f.hard, "#cf222e", ""));
  const auto peak = [](const ForceSeries& s) {
    return *std::max_element(s.force.begin(), s.force.end());
  };
  page.plot(p,
            fmt::format("The largest forces of this cycle: {:.0f} N (hard: the impulse over "
                        "one step), {:.0f} N (d = 50) and {:.0f} N (d = 500 N s/m).",
                        peak(f.hard), peak(f.soft), peak(f.damped)),
            command_of(settings(configuration("Cm"))));
  Plot d = plot_over_time("Fig. 5: depth", "depth [mm]", "t since the trot's start [s]");
  d.height = 240;
  for (const auto& [s, colour] : {std::pair{&f.soft, "#1f6feb"}, {&f.damped, "#1a7f37"}}) {
    std::vector<double> mm;
    for (const double x : s->depth) mm.push_back(1e3 * x);
    d.curves.push_back({s->name, pairs_of(s->t, mm), colour, ""});
  }
  page.plot(d, "Hard contact: below 1e-10 m after the correction of every step.", "");
  const Sinking sinking = trotting_depth();
  // What all feet bear in the mean is the weight, but for the change of momentum over four cycles.
  page.table({{"depth of the two compliant feet that carry, mean over four cycles",
               1e3 * sinking.mean, 4.4, "paper", 0.05, "mm"},
              {"deepest", 1e3 * sinking.most, std::nan(""), "", 0, "mm"},
              {"hard and compliant (d = 500) forces differ in stance, from 0.1 s after touch-down, "
               "by, mean",
               f.difference, std::nan(""), "", 0, "N"},
              {"of", f.mean_force, std::nan(""), "", 0, "N"}},
             "saltus bench table1");
  page.judge(f.difference < 0.1 * f.mean_force);
  page.text(
      "With its own parameters the compliant robot stands 4 mm lower and lags, so its force is "
      "some "
      "per cent off. It tends to the hard one as the ground gets stiffer:");
  std::vector<Row> rows;
  const std::vector<Stiffness> stiffer = towards_hard();
  rows.reserve(stiffer.size());
  for (const Stiffness& s : stiffer)
    rows.push_back({fmt::format("{:g}", s.stiffness), fmt::format("{:g}", s.damping),
                    fmt::format("{:g}", 1e3 * s.dt), fmt::format("{:.2f}", s.difference),
                    fmt::format("{:.2f} %", 100 * s.difference / s.mean_force)});
  page.judge(stiffer.back().difference < 0.01 * stiffer.back().mean_force);
  page.grid({"c_N = c_T [N/m]", "d_N = d_T [N s/m]", "dt [ms]", "off the hard force, mean [N]", ""},
            rows, "saltus bench table1");
}

void alpha_section(Page& page) {
  page.section(
      "Fig. 6: iterations over alpha",
      "Mean iterations of a step over a gait cycle to 1e-6 m/s, with r from the diagonal of "
      "G as P2 has it. A curve ends at the largest alpha that converges in every step. The "
      "paper: the fastest is close to that limit; SOR is faster and more reliable with "
      "maximal coordinates, and no better with minimal ones.");
  std::map<std::string, std::pair<double, double>> best;  // limit, fewest iterations
  for (const char* coordinates : sets) {
    Plot p;
    p.title = "Fig. 6: " + set_name(coordinates) + " coordinates";
    p.x_label = "alpha";
    p.y_label = "log10 of iterations";
    p.height = 260;
    p.x_min = 0;
    p.x_max = 2;
    int i = 0;
    for (const Configuration& c : table1()) {
      if (!c.hard || c.coordinates != std::string(coordinates)) continue;
      constexpr const char* colours[] = {"#1f6feb", "#cf222e", "#1a7f37", "#8250df"};
      Curve curve{c.name, {}, colours[i++ % 4], c.solver == std::string("sor") ? "7 4" : ""};
      for (const auto& [alpha, n] : iterations_over_alpha(c, 8)) {
        curve.points.emplace_back(alpha, std::log10(n));
        auto& [limit, least] = best[c.name];
        limit = alpha;
        least = least == 0 ? n : std::min(least, n);
      }
      p.curves.push_back(curve);
    }
    page.plot(p, "", "saltus bench table1");
  }
  std::vector<Row> rows;
  for (const Configuration& c : table1())
    if (c.hard)
      rows.push_back({c.name, fmt::format("{:.1f}", best[c.name].first),
                      fmt::format("{:.1f}", 2 * c.alpha),
                      fmt::format("{:.0f}", best[c.name].second)});
  page.grid({"name", "largest alpha that converges", "paper (twice that of Table 1)",
             "fewest iterations"},
            rows, "");
}

void time_section(Page& page, const Timed& all) {
  page.section(
      "Fig. 7: time of one step",
      "Mean over a gait cycle, with a clock between the stages (timed_step; step() itself "
      "has none). 'G' holds the Delassus matrix, the factor of the joints' part and their "
      "share of the mean velocity; 'end' the ledger and the correction of positions. All are "
      "of the general step: for 'default' step() takes a shorter way through small trees, "
      "whose speed Table 1 has.");
  constexpr const char* fills[] = {"#1f6feb", "#8250df", "#d29922",
                                   "#1a7f37", "#cf222e", "#8b949e"};
  Plot p;
  p.title = "Fig. 7";
  p.y_label = "time [us]";
  p.x_label = "configuration";
  std::vector<double> totals;
  for (const auto& [c, t] : all) totals.push_back(1e6 * t.total.mean);
  std::sort(totals.begin(), totals.end());
  p.y_min = 0;
  p.y_max = 1.35 * totals[totals.size() * 2 / 3];  // the slowest run out of the picture
  p.x_min = -0.5;
  p.x_max = static_cast<double>(all.size()) - 0.5;
  for (std::size_t i = 0; i < all.size(); ++i) {
    double y = 0;
    const auto x = static_cast<double>(i);
    for (std::size_t k = 0; k < all[i].second.stages.size(); ++k) {
      const double next = y + 1e6 * all[i].second.stages[k].mean;
      p.boxes.push_back({x - 0.35, y, x + 0.35, next, fills[k]});
      y = next;
    }
    p.labels.push_back({x, std::min(y, p.y_max * 0.9) + 0.04 * p.y_max, all[i].first.name});
  }
  for (std::size_t k = 0; k < all[0].second.stages.size(); ++k)
    p.curves.push_back({stage_name(static_cast<StepStage>(k)), {}, fills[k], ""});
  page.plot(p, "Bars that leave the picture are slower: totals are in the table.", "");
  std::vector<Row> rows;
  for (const auto& [c, t] : all) {
    Row row{c.name, fmt::format("{:.1f} ({:.1f})", 1e6 * t.total.mean, 1e6 * t.total.deviation)};
    for (const Spread& s : t.stages)
      row.push_back(fmt::format("{:.1f} ({:.1f})", 1e6 * s.mean, 1e6 * s.deviation));
    rows.push_back(row);
  }
  Row head{"us a step: mean (deviation)", "total"};
  for (std::size_t k = 0; k < all[0].second.stages.size(); ++k)
    head.emplace_back(stage_name(static_cast<StepStage>(k)));
  page.grid(head, rows, "saltus bench table1");
}

void agreement_section(Page& page, const Timed& all) {
  page.section(
      "The configurations agree",
      "Within one coordinate set all hard configurations start one gait cycle from the same "
      "state; the trunk ends it where the default solver puts it, to the tolerance of "
      "1e-6 m/s times the time.");
  std::vector<Row> rows;
  for (const auto& [c, t] : all) {
    if (!c.hard) continue;
    rows.push_back({c.name, set_name(c.coordinates), fmt::format("{:.1e}", t.off),
                    fmt::format("{:.1e}", t.joint_gap)});
    page.judge(t.off < agreement && t.joint_gap < 1e-9);
  }
  page.grid({"name", "coordinates", "trunk off the default solver's [m]", "largest joint gap [m]"},
            rows, "saltus bench table1");
  page.text(
      "Across the sets the scheme's own error differs, and vanishes with the step (trunk at "
      "t_trot = 0.8 s):");
  const std::vector<SetDifference> across = across_sets();
  std::vector<Row> by_step;
  by_step.reserve(across.size() + 1);
  for (const SetDifference& d : across)
    by_step.push_back({fmt::format("{:g}", 1e3 * d.dt), fmt::format("{:.2e}", d.extended),
                       !std::isnan(d.order_extended) ? fmt::format("{:.2f}", d.order_extended) : "",
                       fmt::format("{:.2e}", d.maximal),
                       !std::isnan(d.order_maximal) ? fmt::format("{:.2f}", d.order_maximal) : ""});
  const double extended = fitted_order(across, &SetDifference::extended),
               maximal = fitted_order(across, &SetDifference::maximal);
  page.judge(extended > 0.9 && maximal > 0.9);
  by_step.push_back(
      {"all, fitted", "", fmt::format("{:.2f}", extended), "", fmt::format("{:.2f}", maximal)});
  page.grid({"dt [ms]", "extended - minimal [m]", "order", "maximal - minimal [m]", "order"},
            by_step,
            "saltus run scenes/p2/trot.yaml --set coordinates=maximal --set time.step=1e-3");
}

void drift_section(Page& page, const Timed& all) {
  page.section(
      "Accuracy: drift",
      "The paper lets constraints drift within its tolerance of 1e-6; we correct positions "
      "after every step.");
  const Standing s = standing_minute();
  double gap = 0;
  for (const auto& [c, t] : all) gap = std::max(gap, t.joint_gap);
  page.grid({"figure", "ours", "paper"},
            {{"standing: vertical drift of a foot in a minute",
              fmt::format("{:.1e} um", 1e6 * s.vertical), "750 um"},
             {"standing: horizontal", fmt::format("{:.1e} um", 1e6 * s.horizontal), "-"},
             {"trotting: largest joint gap, any set", fmt::format("{:.1e} um", 1e6 * gap),
              "grows by 0.59 um a minute"}},
            "saltus bench table1");
  page.judge(s.vertical < 1e-6 && gap < 1e-9);
}

void damping_section(Page& page) {
  page.section("Five parameters to tune",
               "The paper: with ten times the damping the step has to be decreased by a factor of "
               "four. The same trot to t = 3.4 s, compliant, minimal coordinates:");
  std::vector<Row> rows;
  for (const double damping : {50.0, 500.0})
    for (const int parts : {1, 2, 4}) {
      const double dt = compliant_step / parts;
      const double highest = largest_force(settings(configuration("Cm"), dt, damping));
      rows.push_back({fmt::format("{:g}", damping), fmt::format("{:g}", 1e3 * dt),
                      std::isfinite(highest) ? fmt::format("{:.0f}", highest) : "unstable"});
    }
  page.grid({"d_N = d_T [N s/m]", "dt [ms]", "largest normal force of a foot in trot [N]"}, rows,
            "");
}

}  // namespace

std::string p2_page(const std::string&, int& misses) {
  Page page("P2: the quadruped, hard and compliant contact",
            "Gehring, Diethelm, Siegwart, Nützi, Leine: An Evaluation of Moreau's Time-Stepping "
            "Scheme for the Simulation of a Legged Robot. ASME IDETC/CIE 2014, DETC2014-34374. The "
            "paper's drawings are not in our text of it, so theirs are described from the text. "
            "Every figure below was computed when this page was made.");
  Timed all;
  for (const Configuration& c : rows_of_table1()) all.emplace_back(c, time_configuration(c, 2));
  table_section(page, all);
  force_section(page);
  alpha_section(page);
  time_section(page, all);
  agreement_section(page, all);
  drift_section(page, all);
  damping_section(page);
  page.section("What differs from the paper", "");
  // NOLINTBEGIN(bugprone-suspicious-missing-comma): items of several lines each
  page.list(
      {"The robot: masses and inertias of StarlETH are not printed; 27 kg of uniform boxes "
       "(VERIFY.md). So limits of alpha and iterations differ.",
       "The gait: open loop by PD 150/1.0 on the joints at 1.25 Hz, not the paper's "
       "controller; forces of stance are those of this gait.",
       "The motors and joint dampers are linearly implicit: in cut joints they are rows too, "
       "12 of them with maximal coordinates beside the 60 of the joints.",
       "Tolerance: 1e-6 m/s on the residual of the inclusions; the paper's 1e-6 is on the "
       "change of impulses from one iteration to the next.",
       "Algorithm 1: in slip the force is renewed in every step, and sticking begins where the "
       "slip comes to rest or turns over; (6), (18), (19) corrected (ERRATA.md).",
       "Times of the paper are of another machine, eleven years older."});
  // NOLINTEND(bugprone-suspicious-missing-comma)
  misses = page.misses();
  return page.html();
}

}  // namespace saltus::cli
