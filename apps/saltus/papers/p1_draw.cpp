// Figures of a run of P1: the mechanism at its impacts, energies, forces, friction.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "apps/saltus/papers/p1.h"

namespace saltus::cli {

namespace {

constexpr double g = 9.81;                   // [m/s^2], of the scenes
constexpr double bar = 4.04, bicycle = 5.0;  // masses: a bar of the pendulum, all of the bicycle
constexpr const char* grey = "#8b949e";

Plot over_all(const P1Run& run, const std::string& title, const std::string& y_label) {
  Plot p = plot_over_time(title, y_label);
  p.height = 280;
  p.x_max = run.study().scene().end;
  return p;
}

const char* colour_of_shape(const std::string& shape) {
  return shape == "wheel-front" ? "#cf222e" : "#1f6feb";
}

// Short names for legends.
std::string part(const std::string& shape) {
  return shape.rfind("wheel-", 0) == 0 ? shape.substr(6) : shape;
}

// A series over time, cut where the contact was open between two frames.
void add_pieces(Plot& p, const P1Run& run, const std::string& shape,
                const std::vector<std::pair<double, double>>& points) {
  const auto& t = run.study().t();
  const double frame = t.size() > 1 ? t[1] - t[0] : 0;
  Curve piece{part(shape), {}, colour_of_shape(shape), shape == "wheel-front" ? "6 3" : ""};
  const auto flush = [&] {
    if (piece.points.size() > 1) {
      p.curves.push_back(piece);
      piece.name.clear();
    }
    piece.points.clear();
  };
  for (const auto& at : points) {
    if (!piece.points.empty() && at.first - piece.points.back().first > 1.5 * frame) flush();
    piece.points.push_back(at);
  }
  flush();
}

}  // namespace

std::vector<double> P1Run::q_at(std::size_t frame) const {
  const auto first = q_.begin() + static_cast<std::ptrdiff_t>(frame * nq_);
  return {first, first + static_cast<std::ptrdiff_t>(nq_)};
}

// Without the constant that the run's reference adds.
double P1Run::potential(const std::vector<double>& q) const {
  if (!pendulum_) return bicycle * g * q[1];
  return bar * g * (1.5 * std::sin(q[0]) + 0.5 * std::sin(q[0] + q[1]));
}

Point P1Run::traced(const std::vector<double>& q) const {
  if (!pendulum_) return {q[0], q[1]};
  return {std::cos(q[0]) + std::cos(q[0] + q[1]), std::sin(q[0]) + std::sin(q[0] + q[1])};
}

void P1Run::draw(Plot& plot, const std::vector<double>& q, const std::string& colour) const {
  if (pendulum_) {
    plot.curves.push_back({"", {{0, 0}, {std::cos(q[0]), std::sin(q[0])}, traced(q)}, colour, ""});
    return;
  }
  Curve frame{"", {}, colour, ""};
  for (std::size_t i = 0; i < wheels_.size(); ++i) {
    const Wheel& w = wheels_[i];
    const double x = q[0] + w.along * std::cos(q[2]), z = q[1] + w.along * std::sin(q[2]),
                 turn = q[2] + q[3 + i];
    frame.points.emplace_back(x, z);
    Curve rim{"", {}, colour, ""};
    constexpr int corners = 40;
    for (int k = 0; k <= corners; ++k) {
      const double angle = 2 * std::numbers::pi * k / corners, u = w.a * std::cos(angle),
                   v = w.b * std::sin(angle);
      rim.points.emplace_back(x + u * std::cos(turn) - v * std::sin(turn),
                              z + u * std::sin(turn) + v * std::cos(turn));
    }
    // A spoke shows how far the wheel has turned.
    rim.points.emplace_back(x, z);
    plot.curves.push_back(rim);
  }
  plot.curves.push_back(frame);
}

Plot P1Run::trajectory(const std::string& title) const {
  Plot p;
  p.title = title;
  p.x_label = "x [m]";
  p.y_label = "z [m]";
  p.equal_axes = true;
  for (const P1Impact& m : impacts_) draw(p, m.q, "#8b949e70");
  Curve path{pendulum_ ? "tip" : "centre", {}, "#1f6feb", ""};
  std::size_t next = 0;
  for (std::size_t f = 0; f < study_.t().size(); ++f) {
    for (; next < impacts_.size() && impacts_[next].t <= study_.t()[f]; ++next)
      path.points.push_back(traced(impacts_[next].q));
    path.points.push_back(traced(q_at(f)));
  }
  draw(p, q_at(0), "#1a7f37");
  draw(p, q_at(study_.t().size() - 1), "#cf222e");
  p.curves.push_back(path);
  Point low = path.points.front(), high = low;
  for (const Curve& c : p.curves)
    for (const auto& [x, z] : c.points) {
      low = {std::min(low.first, x), std::min(low.second, z)};
      high = {std::max(high.first, x), std::max(high.second, z)};
    }
  const double fall = std::tan(slope_);
  p.curves.push_back(
      {"",
       {{low.first, height_ - fall * low.first}, {high.first, height_ - fall * high.first}},
       grey,
       "2 3"});
  // A fall straight down would make a picture much taller than wide: widen it.
  const double width = std::max(high.first - low.first, (high.second - low.second) / 0.85),
               middle = 0.5 * (low.first + high.first);
  p.x_min = middle - 0.53 * width;
  p.x_max = middle + 0.53 * width;
  return p;
}

Curve P1Run::total_energy(const std::string& name, const std::string& colour) const {
  Plot p = energy("");
  Curve total = p.curves.front();
  total.name = name;
  total.colour = colour;
  return total;
}

Plot P1Run::energy(const std::string& title) const {
  Plot p = over_all(*this, title, "energy [J]");
  Curve total{"total", {}, "#cf222e", ""}, kinetic{"kinetic", {}, "#1f6feb", ""},
      stored{"potential", {}, "#1a7f37", "6 3"};
  const auto add = [&](double t, double T, double V) {
    total.points.emplace_back(t, T + V);
    kinetic.points.emplace_back(t, T);
    stored.points.emplace_back(t, V);
  };
  std::size_t next = 0;
  for (std::size_t f = 0; f < study_.t().size(); ++f) {
    const double t = study_.t()[f];
    for (; next < impacts_.size() && impacts_[next].t <= t; ++next) {
      const P1Impact& m = impacts_[next];
      const double V = potential(m.q) + potential_at_0_;
      add(m.t, m.kinetic_before, V);
      add(m.t, m.kinetic_after, V);
    }
    add(t, study_.energy(true)[f], study_.energy(false)[f]);
  }
  p.curves = {total, kinetic, stored};
  return p;
}

Plot P1Run::force(const std::string& title, bool normal) const {
  Plot p = over_all(*this, title, "force [N], impulse [N s]");
  p.height = 240;
  for (const auto& [shape, samples] : forces_) {
    std::vector<std::pair<double, double>> points;
    for (const P1Force& s : samples) points.emplace_back(s.t, normal ? s.f_n : s.f_t);
    add_pieces(p, *this, shape, points);
  }
  for (const P1Impact& m : impacts_)
    for (const P1Contact& c : m.contacts)
      p.curves.push_back(
          {"", {{m.t, 0}, {m.t, normal ? c.p_n : c.p_t}}, colour_of_shape(c.shape), ""});
  p.curves.push_back({"", {{p.x_min, 0}, {p.x_max, 0}}, grey, ""});
  return p;
}

Plot P1Run::friction(const std::string& title) const {
  Plot p = over_all(*this, title, "|tangential| / normal");
  for (const auto& [shape, samples] : forces_) {
    std::vector<std::pair<double, double>> points;
    for (const P1Force& s : samples)
      if (s.f_n > 0) points.emplace_back(s.t, std::abs(s.f_t) / s.f_n);
    add_pieces(p, *this, shape, points);
  }
  for (const P1Impact& m : impacts_)
    for (const P1Contact& c : m.contacts)
      if (c.p_n > 0)
        p.circles.push_back(
            {m.t, std::abs(c.p_t) / c.p_n, 0.006 * (p.x_max - p.x_min), colour_of_shape(c.shape)});
  const ContactLaw& law = study_.scene().contacts.front().law;
  p.curves.push_back({"mu_s", {{p.x_min, law.mu1}, {p.x_max, law.mu1}}, grey, "2 3"});
  const double mu_d = law.dynamic * law.mu1;
  p.curves.push_back({"mu_d", {{p.x_min, mu_d}, {p.x_max, mu_d}}, grey, "8 3"});
  p.y_min = 0;
  p.y_max = 1.2 * law.mu1;
  return p;
}

}  // namespace saltus::cli
