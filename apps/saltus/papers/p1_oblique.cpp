// Chapter 4: feasible sets at the first impact, and friction over time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/saltus/feasible_picture.h"
#include "apps/saltus/papers/p1.h"

namespace saltus::cli {

namespace {

struct Angle {
  int degrees;
  const char* figure;
  const char* theirs;
  const char* ours;
};

const Angle angles[] = {
    {0, "Fig. 4.2",
     "Theirs: like a friction cone, no region where the normal impulse pulls; mu_s = 0.5 is "
     "feasible at v = 0, mu_d = 0.25 is infeasible where it slips, for all restitutions.",
     "Ours agrees: both wheels stick with mu_f far below mu_d, so no slip is consistent with "
     "mu_d."},
    {15, "Fig. 4.3",
     "Theirs: for v < 0 the curve tends to mu = 1.5, for v > 0 too, but for a range within "
     "0 < v < 1 where mu grows without bound; a dark region where the normal impulse pulls. mu_s "
     "is "
     "feasible.",
     "Ours agrees that it sticks for every restitution, and in shape: one limit on both sides, one "
     "pole, one region that pulls. But the pole lies up the slope and further out, where theirs is "
     "at 0 < v < 1 down the slope."},
    {30, "Fig. 4.4", "Theirs: similar to 15 degrees, mu_s is feasible at the first impact.",
     "Ours agrees up to e = 0.75; at e = 1 sticking would need a little more than mu_s and it "
     "slips."},
    {45, "Fig. 4.5",
     "Theirs: the most dramatic change, zero tangential velocity is infeasible; Fig. 4.11 has "
     "mu <= 0.25 at the first bounce.",
     "Ours does not agree: with the exact contact point of the ellipse the normal impulse pushes "
     "at "
     "v = 0 and mu_f < mu_s for every restitution, so it sticks. The thesis prints neither e_n nor "
     "the wedge's place (the fall, and with it the speed, follows from that), and it names its own "
     "contact point a rough approximation."}};

std::string number(double x) {
  // What is zero up to rounding is shown as zero.
  return std::isfinite(x) ? fmt::format("{:.4g}", std::abs(x) < 1e-12 ? 0.0 : x) : "none";
}

// What the curve tends to for large velocities.
std::string limit_text(const P1Run& run) {
  constexpr double far = 1e6;  // [m/s]; the rest is of the order of v_t before / far
  FeasibleOptions options;
  options.restitution = {0.5};
  options.reach = far;
  const FeasibleCurve c = next_impact(run.study().scene(), options).curves.front();
  if (c.mu.back() > 100) return "Ours grows without bound on both sides.";
  return fmt::format("The limit of ours is {:.3f} (v < 0) and {:.3f} (v > 0).", c.mu.front(),
                     c.mu.back());
}

void add_angle(Page& page, const P1Run& run, const Angle& a) {
  const NextImpact impact = next_impact(run.study().scene(), FeasibleOptions{});
  const std::string command =
      fmt::format("saltus feasible scenes/p1/bicycle-4-2-alpha-{}.yaml", a.degrees);
  // At 0 degrees both wheels land, with curves alike: the first stands for both.
  const Place contact = impact.curves.front().contact;
  Plot p = feasible_plot(impact, contact);
  p.title = fmt::format("{}: {} degrees", a.figure, a.degrees);
  for (Curve& c : p.curves)
    if (c.name == "mu_s" || c.name == "mu_d") c.name.clear();  // the legend is full
  page.plot(p, fmt::format("{} {} {}", a.theirs, a.ours, limit_text(run)),
            command + " -o feasible.svg");
  std::vector<std::vector<std::string>> rows;
  for (const FeasibleCurve& c : impact.curves) {
    page.judge(c.chosen_mu <= c.mu_s * (1 + 1e-9) && c.energy_ratio <= 1 + 1e-12);
    rows.push_back({impact.model.name_of(c.contact), number(c.restitution), number(c.before),
                    number(c.mu_f) + (c.sticking_pulls ? " (pulls)" : ""), number(c.chosen_v),
                    number(c.chosen_mu), fmt::format("{:.4f}", c.energy_ratio),
                    std::string(name_of(c.path))});
  }
  page.grid({"contact", "e_n", "v_t before", "mu_f", "v_t chosen", "mu", "T+/T-", "how"}, rows,
            command);
}

}  // namespace

void add_oblique(Page& page, const P1Runs& runs) {
  page.section(
      "Figs 4.1 to 4.5: which friction each tangential velocity needs",
      "At the first impact of section 4.2's bicycle: the coefficient |p_t|/|p_n| that each "
      "tangential velocity after the impact needs, for restitutions 0 to 1. Dashed: mu_f, what "
      "sticking needs, the bound of the feasible region of slip (Fig. 4.1); grey: mu_s and mu_d. "
      "Bands at the top: "
      "where "
      "the normal impulse would pull. Squares: what the chain chooses. Velocities down the slope "
      "are positive.");
  for (const Angle& a : angles)
    add_angle(page, runs.at(fmt::format("bicycle-4-2-alpha-{}", a.degrees)), a);
  page.section(
      "Figs 4.8 to 4.11: friction over time",
      "Dots: |p_t|/p_n at impacts; lines: |f_t|/f_n in contact; rear wheel blue, front red. The "
      "thesis plots the coefficient itself, mu_s where it sticks; ours is what the contact "
      "uses, at most mu_s where it sticks, mu_d where it slides.");
  const char* const told[] = {
      "Theirs: mu = mu_s at the first impact; rolling contact after 2.5 s, chattering; it sticks "
      "more often than not. Ours does, without chatter.",
      "Theirs: sticks at the first impact and most often after it, without settling. Ours sticks "
      "at "
      "the first, then mostly slips: mu_d = 0.25 < tan 15 = 0.268 does not stop what slides.",
      "Theirs: similar, mu = mu_s at the first impact. Ours too.",
      "Theirs: mu <= 0.25 at the first bounce, then slips more often than it sticks, chatter at "
      "the "
      "end. Ours sticks at the first, see Fig. 4.5, then mostly slips, as theirs."};
  for (std::size_t i = 0; i < std::size(angles); ++i) {
    const P1Run& run = runs.at(fmt::format("bicycle-4-2-alpha-{}", angles[i].degrees));
    int sticking = 0, all = 0;
    for (const P1Impact& m : run.impacts())
      for (const P1Contact& c : m.contacts) {
        if (c.p_n <= 0) continue;
        sticking += std::abs(c.after_t) < 1e-9;
        ++all;
      }
    const P1Contact& first = run.first().contacts.front();
    page.plot(
        run.friction(fmt::format("Fig. 4.{}: friction, {} degrees", 8 + i, angles[i].degrees)),
        fmt::format("{} The first impact {} with |p_t|/p_n = {:.4f}; of {} contacts at "
                    "impacts {} stick.",
                    told[i], std::abs(first.after_t) < 1e-9 ? "sticks" : "slips",
                    std::abs(first.p_t) / first.p_n, all, sticking),
        run.command());
  }
}

}  // namespace saltus::cli
