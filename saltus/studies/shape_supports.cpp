// Holds that come and go along a gait, and what the drives give at rest so that they hold.
#include <algorithm>
#include <cmath>

#include "saltus/studies/shape_study.h"

namespace saltus {

namespace {

std::vector<double> stretches(const ShapeSystem& s, const ShapePath& path) {
  std::vector<double> t = {path.start, path.end};
  for (const Hold& h : s.holds)
    for (const auto& [from, to] : h.during)
      for (const double x : {from, to})
        if (x > path.start && x < path.end) t.push_back(x);
  std::sort(t.begin(), t.end());
  t.erase(std::unique(t.begin(), t.end()), t.end());
  return t;
}

// Times of a stretch at which redundant rows are looked at.
std::vector<double> within(const ShapePath& part) {
  constexpr int samples = 64;
  std::vector<double> t;
  for (int k = 0; k <= samples; ++k)
    t.push_back(k == samples ? part.end : part.start + (part.end - part.start) * k / samples);
  return t;
}

// Rows that the twist eta does not keep, with the rates at t.
std::optional<Obstruction> striking(const ShapeSystem& s, const ShapePath& path, double t,
                                    const std::vector<ConstraintRow>& rows, const Vec& eta) {
  const Vec r = shape_at(path, t), u = rate_map(s.space, r) * shape_rate(path, t);
  const Constraints c = constraints(s.space, shape_columns(s.model, s.space, r), rows);
  const Vec slip = c.A * eta + c.B * u;
  const double scale = std::max({(c.A * eta).norm(), (c.B * u).norm(), 1e-5});
  if (slip.size() == 0 || slip.norm() <= 1e-7 * scale) return std::nullopt;
  Obstruction o{t, false, slip.norm(), {}};
  for (int i = 0; i < slip.size(); ++i)
    if (std::abs(slip[i]) > 0.1 * slip.cwiseAbs().maxCoeff()) o.rows.push_back(rows[i].name);
  return o;
}

}  // namespace

GaitResult follow_supports(const ShapeSystem& s, const NamedPath& named) {
  const ShapePath& path = named.shape;
  GaitResult out;
  out.name = named.name;
  out.duration = path.end - path.start;
  out.closed = (shape_at(path, path.end) - shape_at(path, path.start)).norm() < 1e-9;
  out.way = "reduced dynamics";
  out.t = path.start;
  const std::vector<double> times = stretches(s, path);
  ReducedStart start{s.pose, {}};
  double turn = 0;
  for (std::size_t i = 0; i + 1 < times.size() && out.done; ++i) {
    ShapePath part = path;
    part.start = times[i];
    part.end = times[i + 1];
    const double middle = 0.5 * (part.start + part.end);
    const std::vector<ConstraintRow> rows = rows_at(s, middle);
    GaitResult::Phase phase{part.start, part.end, ShapeClass::free, {}};
    phase.kind = classify(s.model, s.space, rows, shape_at(path, middle)).kind;
    for (const Hold& h : s.holds)
      if (h.at(middle)) phase.held.push_back(h.name);
    out.phases.push_back(phase);
    if (start.eta) out.obstruction = striking(s, path, part.start, rows, *start.eta);
    out.strikes = out.obstruction.has_value();
    if (out.strikes) {
      out.done = false;
      break;
    }
    const NetForces forces{rows, s.forces.resistances};
    const std::vector<double> samples = within(part);
    const ReducedMotion m = reduced_motion(s.model, s.space, forces, part, start, samples);
    out.done = m.done && m.at.size() == samples.size();
    out.t = m.t;
    if (m.at.empty()) break;
    out.state = m.at.back();
    // Redundant rows keep a motion that the others give, or the gait is none of theirs.
    for (const ReducedState& x : m.at)
      if (auto slip = striking(s, path, std::min(x.t, part.end - 1e-9), rows, x.eta);
          slip && slip->residual > 1e-5) {
        out.obstruction = slip;
        out.state = x;
        out.t = x.t;
        out.done = false;
        break;
      }
    turn += out.state->turn;
    start = {out.state->g, out.state->eta};
  }
  if (out.state) out.g = s.pose.inverse() * out.state->g;
  out.turn = turn;
  return out;
}

RestStress rest_stress(const ShapeSystem& s, VecIn at) {
  const std::vector<ConstraintRow> rows = rows_at(s, 0);
  const NetForces forces{rows, {}};
  const Vec zero = Vec::Zero(s.space.p());
  const Torques t =
      torques(s.model, s.space, forces, {Vec(at), zero, zero}, Vec::Zero(s.space.n()), s.pose);
  RestStress out;
  out.lambda_kin = t.lambda;
  out.tau_kin = t.tau;
  const double g = std::max(s.model.gravity.norm(), 1.0);
  out.balanced = t.eta_dot.norm() <= 1e-9 * g && t.residual <= 1e-9 * g * s.model.total_mass();
  std::vector<SE3> X = shape_columns(s.model, s.space, at).X;
  for (SE3& x : X) x = s.pose * x;
  std::vector<Hold> now;
  for (const Hold& h : s.holds)
    if (h.at(0)) now.push_back(h);
  const std::vector<ForceCone> cones = hold_cones(now, rows, static_cast<int>(s.axles.size()), X);
  out.chosen = choose_stress({t.lambda, t.stat, t.tau, t.tau_stat}, cones, s.stress);
  for (const ForceCone& c : cones)
    out.points.push_back({c.name, missing_force(c, t.lambda, s.stress.press),
                          missing_force(c, out.chosen.lambda, s.stress.press)});
  return out;
}

}  // namespace saltus
