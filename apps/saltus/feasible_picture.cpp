#include "apps/saltus/feasible_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/base/error.h"
#include "saltus/integrators/event_driven.h"

namespace saltus::cli {

namespace {

constexpr int samples = 800;

const char* colour_of(std::size_t i) {
  constexpr const char* colours[] = {"#1f6feb", "#1a7f37", "#8250df", "#bf8700", "#cf222e"};
  return colours[i % 5];
}

bool same(const Place& a, const Place& b) {
  return a.slot == b.slot && a.shape_a == b.shape_a && a.shape_b == b.shape_b &&
         a.feature == b.feature;
}

}  // namespace

NextImpact next_impact(const Scene& scene, const std::vector<double>& restitution, int skip,
                       double reach) {
  const System system = build_system(scene);
  EventDriven options = scene.events.value_or(EventDriven{});
  options.impact = scene.integrator.impact;
  EventIntegrator integrator(system.model, system.actuation, options);
  State state = system.start;
  const auto* chain = std::get_if<ChainImpact>(&scene.integrator.impact);
  const double dt = std::max(scene.integrator.dt, scene.end / 1000);
  while (state.t < scene.end) {
    const EventReport r = integrator.advance(state, std::min(state.t + dt, scene.end), dt);
    for (const ModeChange& c : integrator.take_changes()) {
      if (!c.impact || skip-- > 0) continue;
      NextImpact next{c.t, system.model, {}};
      next.curves = feasible_curves(system.model, c.record.q, c.record.v_before,
                                    chain ? *chain : ChainImpact{}, restitution, reach, samples);
      if (next.curves.empty())
        throw InputError(
            fmt::format("the impact at {:.6g} s is frictionless or its contacts depend "
                        "on each other: there is no curve to draw",
                        c.t));
      return next;
    }
    if (!r.failure.empty()) throw InputError("the run to the impact failed: " + r.failure);
    ++state.step;
  }
  throw InputError(scene.document->name() + ": expected an impact before its end, there is none");
}

Plot feasible_plot(const NextImpact& impact, const Place& contact, const std::string& title) {
  Plot p;
  p.title = title;
  p.x_label = "tangential velocity after [m/s]";
  p.y_label = "mu";
  p.height = 420;
  double top = 0;
  for (const FeasibleCurve& c : impact.curves)
    if (same(c.contact, contact)) {
      top = std::max({top, c.mu_s, c.mu_d});
      if (std::isfinite(c.mu_f) && !c.sticking_pulls) top = std::max(top, c.mu_f);
    }
  top = std::max(2.0, 1.5 * top);
  p.y_min = 0;
  p.y_max = top;
  std::size_t i = 0;
  for (const FeasibleCurve& c : impact.curves) {
    if (!same(c.contact, contact)) continue;
    p.x_min = c.v.front();
    p.x_max = c.v.back();
    const std::string colour = colour_of(i);
    Curve curve{fmt::format("e = {:g}", c.restitution), {}, colour, ""};
    const auto flush = [&] {
      if (curve.points.size() > 1) p.curves.push_back(curve);
      if (curve.points.size() > 1) curve.name.clear();
      curve.points.clear();
    };
    for (std::size_t k = 0; k < c.v.size(); ++k) {
      if (c.mu[k] <= top)
        curve.points.emplace_back(c.v[k], c.mu[k]);
      else
        flush();
    }
    flush();
    // Where the normal impulse would pull: a band at the top for each restitution.
    const double low = top * (1 - 0.03 * static_cast<double>(i + 1)), high = low + 0.025 * top;
    for (std::size_t k = 0; k + 1 < c.v.size();) {
      if (c.p_n[k] >= 0) {
        ++k;
        continue;
      }
      std::size_t end = k;
      while (end + 1 < c.v.size() && c.p_n[end + 1] < 0) ++end;
      p.boxes.push_back({c.v[k], low, c.v[end], high, colour});
      k = end + 1;
    }
    if (std::isfinite(c.mu_f) && c.mu_f <= top && !c.sticking_pulls)
      p.curves.push_back({"", {{c.v.front(), c.mu_f}, {c.v.back(), c.mu_f}}, colour, "5 4"});
    if (std::isfinite(c.chosen_mu)) {
      const double x = 0.006 * (c.v.back() - c.v.front()), y = 0.012 * top;
      p.boxes.push_back({c.chosen_v - x, c.chosen_mu - y, c.chosen_v + x, c.chosen_mu + y, colour});
    }
    ++i;
  }
  const FeasibleCurve* any = nullptr;
  for (const FeasibleCurve& c : impact.curves)
    if (same(c.contact, contact)) any = &c;
  if (any) {
    p.curves.push_back({"mu_s", {{p.x_min, any->mu_s}, {p.x_max, any->mu_s}}, "#57606a", "2 3"});
    if (any->mu_d != any->mu_s)
      p.curves.push_back({"mu_d", {{p.x_min, any->mu_d}, {p.x_max, any->mu_d}}, "#57606a", "8 3"});
  }
  return p;
}

std::string picture_of(const NextImpact& impact, const std::string& title) {
  std::vector<Place> contacts;
  for (const FeasibleCurve& c : impact.curves)
    if (std::none_of(contacts.begin(), contacts.end(),
                     [&](const Place& p) { return same(p, c.contact); }))
      contacts.push_back(c.contact);
  std::string body;
  int y = 0;
  for (const Place& contact : contacts) {
    const Plot p = feasible_plot(
        impact, contact,
        fmt::format("{}: {} at {:.6g} s", title, impact.model.name_of(contact), impact.t));
    body += fmt::format("<g transform=\"translate(0,{})\">{}</g>", y, svg(p));
    y += p.height + 30;
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"720\" height=\"{0}\" "
      "viewBox=\"0 0 720 {0}\">\n<rect width=\"720\" height=\"{0}\" fill=\"white\"/>\n{1}</svg>\n",
      y, body);
}

}  // namespace saltus::cli
