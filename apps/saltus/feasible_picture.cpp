#include "apps/saltus/feasible_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace saltus::cli {

namespace {

const char* colour_of(std::size_t i) {
  constexpr const char* colours[] = {"#1f6feb", "#1a7f37", "#8250df", "#bf8700", "#cf222e"};
  return colours[i % 5];
}

bool same(const Place& a, const Place& b) {
  return a.slot == b.slot && a.shape_a == b.shape_a && a.shape_b == b.shape_b &&
         a.feature == b.feature;
}

}  // namespace

Plot feasible_plot(const NextImpact& impact, const Place& contact) {
  Plot p;
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
      if (c.mu[k] <= 2 * top)  // what leaves the frame is clipped there
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
  // Title and legend would share a line of the plot, so the title has one of its own.
  constexpr int above = 28, below = 44;
  std::string body;
  int y = 0;
  for (const Place& contact : contacts) {
    const Plot p = feasible_plot(impact, contact);
    body += fmt::format(
        "<text x=\"72\" y=\"{}\" font-size=\"14\" font-weight=\"600\">{}</text>\n"
        "<svg y=\"{}\" width=\"{}\" height=\"{}\">{}</svg>\n",
        y + 22,
        escaped(fmt::format("{}: {} at {:.6g} s", title, impact.model.name_of(contact), impact.t)),
        y + above, p.width, p.height, svg(p));
    y += above + p.height;
    body += fmt::format(
        "<text x=\"72\" y=\"{}\" font-size=\"12\">curves: friction that a velocity after the "
        "impact "
        "needs; dashed: mu_f, what sticking needs;</text>\n<text x=\"72\" y=\"{}\" "
        "font-size=\"12\">squares: chosen by P1's chain; bars at the top: there the normal impulse "
        "would pull</text>\n",
        y + 8, y + 24);
    y += below;
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"720\" height=\"{0}\" "
      "viewBox=\"0 0 720 {0}\" font-family=\"system-ui,sans-serif\">\n"
      "<rect width=\"720\" height=\"{0}\" fill=\"white\"/>\n{1}</svg>\n",
      y, body);
}

}  // namespace saltus::cli
