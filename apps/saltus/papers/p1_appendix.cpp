// Appendix A: mass, spring and friction damper, by two integrators.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/saltus/papers/p1.h"

namespace saltus::cli {

namespace {

std::vector<double> block_position(const Study& s) {
  std::vector<double> z = s.q("base");
  const auto d = s.q("block");
  for (std::size_t f = 0; f < z.size(); ++f) z[f] += d[f];
  return z;
}

Plot positions(const Study& s, const std::string& title) {
  Plot p = plot_over_time(title, "position [m]");
  p.curves = {{"U", pairs_of(s.t(), s.q("base")), "#1a7f37", "6 3"},
              {"Z", pairs_of(s.t(), block_position(s)), "#1f6feb", ""},
              {"dZ", pairs_of(s.t(), s.q("block")), "#cf222e", ""}};
  return p;
}

Plot rates(const Study& s, const std::string& title) {
  Plot p = plot_over_time(title, "dVs [m/s]");
  p.curves = {{"", pairs_of(s.t(), s.v("block")), "#1f6feb", ""}};
  return p;
}

// How long the damper holds, as share of the run.
double held_share(const Study& s) {
  double held = 0;
  const auto& modes = s.modes();
  for (std::size_t i = 0; i < modes.size(); ++i) {
    const double end = i + 1 < modes.size() ? modes[i + 1].t : s.scene().end;
    if (!modes[i].members.empty()) held += end - modes[i].t;
  }
  return held / s.scene().end;
}

// In the second half, when the start is forgotten.
double amplitude(const Study& s, const std::vector<double>& y) {
  double most = 0;
  for (std::size_t f = 0; f < y.size(); ++f)
    if (s.t()[f] >= 0.5 * s.scene().end) most = std::max(most, std::abs(y[f]));
  return most;
}

// Event times with steps as long as the tolerance lets them be (0.1 s at most, more than between
// two events), so that it is the tolerance that decides.
void tolerances(Page& page, const std::string& folder) {
  const char* const all[] = {"1e-8", "1e-10", "1e-12"};
  std::vector<Study> runs;
  for (const char* t : all)
    runs.emplace_back(folder, fmt::format("p1-appendix-{}", t), "p1/appendix-a",
                      std::vector<std::string>{"time.step=0.1", "output.interval=0.1",
                                               fmt::format("integrator.tolerance={}", t)});
  const auto& finest = runs.back().modes();
  std::vector<std::vector<std::string>> rows;
  double off[2] = {0, 0};
  for (const Study& s : runs) page.judge(s.modes().size() == finest.size());
  for (std::size_t i = 1; i < finest.size(); ++i) {
    std::string cause;
    for (const std::string& c : finest[i].causes) cause += (cause.empty() ? "" : ", ") + c;
    std::vector<std::string> cells{std::to_string(i), cause};
    for (std::size_t k = 0; k < runs.size(); ++k) {
      const double t = i < runs[k].modes().size() ? runs[k].modes()[i].t : finest[i].t + 1;
      if (k < 2) off[k] = std::max(off[k], std::abs(t - finest[i].t));
      cells.push_back(fmt::format("{:.12f}", t));
    }
    rows.push_back(cells);
  }
  page.grid({"event", "why", "t at 1e-8", "t at 1e-10", "t at 1e-12"}, rows, runs[0].command());
  // An error of a step enters a time once for every step that leads to the event, some tens.
  page.judge(off[0] <= 1e-7 && off[1] <= 1e-9);
  page.text(
      fmt::format("Largest difference from the times at 1e-12: {:.1e} s at 1e-8, {:.1e} s at "
                  "1e-10; the sequence of events is the same.",
                  off[0], off[1]));
}

}  // namespace

void add_appendix(Page& page, const std::string& folder) {
  page.section(
      "Appendix A: mass, spring and friction damper",
      "Theirs: Figs A.2 (U, Z and dZ) and A.3 (dVs), a from their reference [79], b by fixed-step "
      "RK4 with projection of zero crossings, c event-driven. The general behaviour is the same; "
      "in c "
      "the amplitudes of Z and dZ are smaller, and the damper sticks for less time, with a higher "
      "largest velocity. Normal force, exciting function and start are not printed: N = 1 lbf, "
      "U = A sin(Om t) with A = 0.5 in, Om = 16 rad/s, the block at rest.");
  const Study steps(folder, "p1-appendix-rk4", "p1/appendix-a-rk4", {}),
      events(folder, "p1-appendix-events", "p1/appendix-a", {});
  page.plot(positions(steps, "Fig. A.2b: positions, RK4 with projection"), "", steps.command());
  page.plot(positions(events, "Fig. A.2c: positions, event-driven"), "", events.command());
  page.plot(rates(steps, "Fig. A.3b: damper velocity, RK4 with projection"), "", steps.command());
  page.plot(rates(events, "Fig. A.3c: damper velocity, event-driven"), "", events.command());
  // The projection holds for whole steps: the two differ by a few of them.
  const double gap = std::abs(steps.metric("Z_end") - events.metric("Z_end")),
               dz_steps = amplitude(steps, steps.q("block")),
               dz_events = amplitude(events, events.q("block")),
               z_steps = amplitude(steps, block_position(steps)),
               z_events = amplitude(events, block_position(events));
  page.judge(gap < 0.1 * dz_events);
  page.judge(held_share(steps) > held_share(events));
  const auto row = [](const char* what, double a, double b) {
    return std::vector<std::string>{what, fmt::format("{:.6g}", a), fmt::format("{:.6g}", b)};
  };
  page.grid({"", "RK4 with projection", "event-driven"},
            {row("largest |Z| after 1 s [m]", z_steps, z_events),
             row("largest |dZ| after 1 s [m]", dz_steps, dz_events),
             row("largest |dVs| after 1 s [m/s]", amplitude(steps, steps.v("block")),
                 amplitude(events, events.v("block"))),
             row("share of time that the damper sticks", held_share(steps), held_share(events)),
             row("Z at 2 s [m]", steps.metric("Z_end"), events.metric("Z_end")),
             row("changes of mode", static_cast<double>(steps.modes().size()),
                 static_cast<double>(events.modes().size()))},
            events.command());
  const auto compared = [](double a, double b) {
    return fmt::format("{} by {:.1f} %", b < a ? "smaller" : "larger", 100 * std::abs(b / a - 1));
  };
  page.text(fmt::format(
      "The same behaviour by both, and fixed steps hold the damper for longer, as the thesis says: "
      "they hold it for whole steps. Event-driven the thesis finds Z and dZ smaller and the "
      "largest "
      "dVs higher; in ours Z is {}, dZ {} and dVs {}, with another exciting function than theirs.",
      compared(z_steps, z_events), compared(dz_steps, dz_events),
      compared(amplitude(steps, steps.v("block")), amplitude(events, events.v("block")))));
  page.text(
      "Event times do not depend on the tolerance: below with steps of up to 0.1 s, so that it is "
      "the tolerance that decides their length.");
  tolerances(page, folder);
}

}  // namespace saltus::cli
