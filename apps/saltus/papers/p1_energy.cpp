// Chapter 5: energy control, and the impact laws side by side.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/saltus/papers/p1.h"

namespace saltus::cli {

namespace {

double ratio(const P1Impact& m) { return m.kinetic_after / m.kinetic_before; }

// Four digits; what rounds to zero has no sign.
std::string short_text(double x) { return fmt::format("{:.4f}", std::abs(x) < 5e-5 ? 0.0 : x); }

double largest_ratio(const P1Run& run) {
  double worst = 0;
  for (const P1Impact& m : run.impacts()) worst = std::max(worst, ratio(m));
  return worst;
}

Plot energy_plot(const std::string& title, double end) {
  Plot p = plot_over_time(title, "total energy [J]");
  p.height = 320;
  p.x_max = end;
  return p;
}

void folded(Page& page, const P1Runs& runs) {
  page.section(
      "Figs 5.14 to 5.16: no control, attenuation, constraint",
      "Table 5.3's start. Theirs: without control the first impact, at about 0.5 s, gains kinetic "
      "energy, later ones do not; with control none gains, both methods do the same until the "
      "final "
      "bounces, and differ from the impact at about 3.25 s on, where the constraint loses more.");
  const P1Run &none = runs.at("pendulum-5-5"), &scaled = runs.at("pendulum-5-5-attenuation"),
              &bound = runs.at("pendulum-5-5-constraint");
  page.plot(none.trajectory("5.5 no energy control: trajectory"), "Fig. 5.14a.", none.command());
  page.plot(none.energy("5.5 no energy control: energy"), "Fig. 5.14b.", none.command());
  Plot p = energy_plot("5.5: total energy, three ways", none.study().scene().end);
  p.curves = {none.total_energy("none", "#cf222e"), scaled.total_energy("attenuation", "#1f6feb"),
              bound.total_energy("constraint", "#1a7f37")};
  p.curves[2].dash = "6 3";
  page.plot(p, "Fig. 5.16 in one; trajectories and energies of the two controlled runs are above.",
            scaled.command());
  std::vector<std::vector<std::string>> rows;
  for (const P1Run* run : {&none, &scaled, &bound}) {
    const P1Impact& m = run->first();
    rows.push_back(
        {run->name(), fmt::format("{:.10f}", m.t), fmt::format("{:.8f}", ratio(m)),
         fmt::format("{:.8f}", m.attenuation), m.path, short_text(m.contacts.at(0).after_t),
         fmt::format("{:.6f}", largest_ratio(*run)), std::to_string(run->impacts().size())});
  }
  page.grid(
      {"run", "first impact [s]", "T+/T-", "e~", "how", "v_t after", "largest T+/T-", "impacts"},
      rows, bound.command());
  page.judge(largest_ratio(scaled) <= 1 + 1e-12);
  page.judge(largest_ratio(bound) <= 1 + 1e-12);
  page.text(fmt::format(
      "Ours agrees that the first impact gains without control ({:.1f} %), and that control "
      "removes "
      "the gain. It differs in two points. Without control a later impact gains too (largest T+/T- "
      "= "
      "{:.4f}). And the two methods part at the first impact: attenuation scales all velocities by "
      "e~, also the normal one; the constraint keeps e_n = 1 and takes the tangential velocity "
      "{:.4f} m/s with T+ = T-. It does so at each of its {} impacts, {:.6f} s apart: nothing is "
      "lost "
      "and the motion repeats itself. Eq. 5.14 as printed has the speed before the impact in T; so "
      "read, (5.9) is a constant and constrains nothing, which may be why theirs agree so long.",
      100 * (ratio(none.first()) - 1), largest_ratio(none), bound.first().contacts.at(0).after_t,
      bound.impacts().size(), bound.impacts().at(1).t - bound.first().t));
}

void identical(Page& page, const P1Runs& runs) {
  page.section(
      "5.2.1: \"the first impact is identical\"",
      "The thesis compares e* = 5 (Fig. 3.4) and e* = 1 (Fig. 5.2b) and says that the first "
      "impact is identical. It cannot be: the stick solution raises T by 21.8 %, which "
      "e* = 5 lets pass and e* = 1 does not.");
  const P1Run &free = runs.at("pendulum-3-4-1"), &kept = runs.at("pendulum-5-2-1");
  std::vector<std::vector<std::string>> rows;
  for (const P1Run* run : {&free, &kept}) {
    const P1Impact& m = run->first();
    rows.push_back({run->name(), fmt::format("{:.10f}", m.t),
                    fmt::format("{:.6f}", m.kinetic_before), fmt::format("{:.6f}", m.kinetic_after),
                    fmt::format("{:.8f}", ratio(m)), fmt::format("{:.8f}", m.attenuation)});
  }
  page.grid({"run", "first impact [s]", "T- [J]", "T+ [J]", "T+/T-", "e~"}, rows, free.command());
  page.judge(ratio(free.first()) > 1.2 && ratio(kept.first()) <= 1 + 1e-12);
  Plot p = energy_plot("5.2: total energy for e* = 5, 1 and 0.5", free.study().scene().end);
  p.curves = {free.total_energy("e* = 5", "#cf222e"), kept.total_energy("e* = 1", "#1f6feb"),
              runs.at("pendulum-5-2-2").total_energy("e* = 0.5", "#1a7f37")};
  page.plot(p, "The gain at 0.515 s is there for e* = 5 and not for e* = 1.", kept.command());
}

void laws(Page& page, const std::string& folder) {
  page.section(
      "The laws side by side",
      "The pendulum of 3.4.1, e_n = 1, with each impact law. capped and moreau promise T+ <= T-; "
      "newton and the chain without energy control promise nothing and gain 21.8 % at the first "
      "impact; poisson promises nothing either, and gains nothing here. moreau has e in the "
      "tangent "
      "too: the tip slips back.");
  const struct {
    const char *law, *colour;
    bool promises;
  } all[] = {{"capped", "#1f6feb", true},
             {"newton", "#cf222e", false},
             {"moreau", "#1a7f37", true},
             {"poisson", "#8250df", false},
             {"chain", "#bf8700", false}};
  std::vector<std::vector<std::string>> rows;
  Plot p;
  std::string command;
  for (const auto& l : all) {
    const P1Run run(folder, "pendulum-3-4-1", {std::string("integrator.impact=") + l.law},
                    std::string("law-") + l.law);
    if (p.curves.empty()) {
      p = energy_plot("Total energy, e_n = 1", run.study().scene().end);
      command = run.command();
    }
    p.curves.push_back(run.total_energy(l.law, l.colour));
    if (std::string(l.law) == "chain") p.curves.back().dash = "6 4";
    const P1Impact& m = run.first();
    const double worst = largest_ratio(run);
    if (l.promises) page.judge(worst <= 1 + 1e-10);
    rows.push_back({l.law, fmt::format("{:.8f}", ratio(m)), short_text(m.contacts[0].p_n),
                    short_text(m.contacts[0].p_t), short_text(m.contacts[0].after_t),
                    short_text(m.contacts[0].after_n), fmt::format("{:.6f}", worst),
                    std::to_string(run.impacts().size()), run.ending_text()});
  }
  page.grid({"law", "first T+/T-", "p_n [N s]", "p_t [N s]", "v_t after", "v_n after",
             "largest T+/T-", "impacts", "end"},
            rows, command);
  page.plot(p, "newton and the chain coincide here, with one contact.", command);
}

}  // namespace

void add_energy(Page& page, const P1Runs& runs, const std::string& folder) {
  folded(page, runs);
  identical(page, runs);
  laws(page, folder);
}

}  // namespace saltus::cli
