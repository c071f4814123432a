#include "saltus/studies/shape_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/dynamics/kinematics.h"
#include "saltus/scene/document.h"

namespace saltus {

namespace {

struct SystemReader {
  const Scene& scene;
  System system;
  ShapeSystem out{};

  [[nodiscard]] InputError error(const std::string& path, const std::string& message) const {
    return scene.document->error(path, message);
  }

  void read_medium() {
    std::vector<ConstraintRow> edges;
    try {
      edges = axle_rows(out.model, out.space);
    } catch (const InputError& e) { throw error("wheels", e.what()); }
    for (const Steering& s : system.actuation.steering)
      throw error("runners", fmt::format("runner '{}' is steered by a signal: give it a body on a "
                                         "joint, so that its angle is a shape",
                                         out.model.runners[s.runner].name));
    const std::vector<Mat6> drag = resistances(out.model);
    const bool dragged =
        std::any_of(drag.begin(), drag.end(), [](const Mat6& k) { return !k.isZero(0); });
    out.axles = edges;
    read_holds();
    edges = rows_at(out, 0);
    const bool supported = !out.holds.empty();
    const int kind = scene.net.connection;
    if (kind == 3 && edges.empty())
      throw error("shape.connection",
                  "kinematic needs runners with an edge or wheels, there are none");
    if (kind == 2 && !dragged)
      throw error("shape.connection", "stokes needs fluids with resistance");
    if (kind != 3 && kind != 0 && supported)
      throw error("shape.connection", "expected auto or kinematic where points are held");
    if (kind == 3 || (kind == 0 && !edges.empty()))
      out.medium = by_rows(edges);
    else if (kind == 2 || (kind == 0 && dragged))
      out.medium = by_drag(out.model, drag);
    else
      out.medium = by_inertia(out.model);
    if (out.medium.kind == ConnectionKind::rows) {
      out.forces.rows = edges;
      if (dragged) out.forces.resistances = drag;
    }
  }

  void read_holds() {
    for (const HoldScene& h : scene.net.holds) {
      const auto& held = scene.net.held;
      if (held && std::find(held->begin(), held->end(), h.hold.name) == held->end()) continue;
      Hold hold = h.hold;
      try {
        hold.body = out.model.body(h.body);
        (void)hold_rows(out.model, out.space, {hold});
        check_normal(hold);
      } catch (const InputError& e) { throw error(h.path, e.what()); }
      out.holds.push_back(hold);
    }
    const StressScene& wish = scene.net.stress;
    out.stressed = !wish.path.empty();
    out.stress.press = wish.press;
    if (wish.limit > 0) out.stress.limit = Vec::Constant(out.space.p(), wish.limit);
  }

  // A planar creature is pressed within its plane.
  void check_normal(const Hold& h) const {
    const NetGroup group = out.space.group;
    if ((group != NetGroup::se2 && group != NetGroup::circle) || h.normal.isZero(0)) return;
    const Vec3 across = out.pose.R * out.space.basis.rightCols(1).bottomRows<3>();
    if (std::abs(across.dot(h.normal.normalized())) > 1e-9 * across.norm())
      throw InputError(
          fmt::format("hold '{}': expected a normal in the plane of the creature, got "
                      "({:.6g}, {:.6g}, {:.6g})",
                      h.name, h.normal.x(), h.normal.y(), h.normal.z()));
  }

  void read_gait(const GaitScene& g) {
    NamedPath path{g.name, g.path, {out.start, {}, {}, 0, 0}};
    std::vector<int>& chosen = path.shape.variable;
    for (const std::string& pattern : g.joints) {
      const std::size_t before = chosen.size();
      for (int i = 0; i < out.space.p(); ++i)
        if (matches(pattern, out.space.variables[i].name) &&
            std::find(chosen.begin(), chosen.end(), i) == chosen.end())
          chosen.push_back(i);
      if (chosen.size() == before)
        throw error(g.path + ".joints", fmt::format("no shape variable matches '{}'", pattern));
    }
    try {
      path.shape.r = gait_signals(g, chosen.size());
      path.shape.end = gait_duration(g) > 0 ? gait_duration(g) : scene.end;
      check_limits(out.space, path.shape);
    } catch (const InputError& e) {
      throw error(e.path().empty() ? g.path : e.path(), e.path().empty() ? e.what() : e.message());
    }
    out.gaits.push_back(path);
  }

  // What the joints are told in a run, where no gait says it.
  void read_prescribed() {
    if (std::any_of(scene.gaits.begin(), scene.gaits.end(), [](const auto& g) { return g.drive; }))
      return;
    NamedPath path{"prescribed", "bodies", {out.start, {}, {}, 0, scene.end}};
    for (const Prescribed& p : system.actuation.prescribed)
      for (int i = 0; i < out.space.p(); ++i)
        if (out.space.variables[i].name == out.model.coordinates[p.coordinate].name) {
          path.shape.variable.push_back(i);
          path.shape.r.push_back(p.r);
        }
    if (!path.shape.r.empty()) out.gaits.push_back(path);
  }

  void read_plane() {
    if (scene.net.plane.empty()) return;
    ShapePlane plane;
    plane.base = out.start;
    try {
      plane.i = out.space.variable(scene.net.plane[0]);
      plane.j = out.space.variable(scene.net.plane[1]);
    } catch (const InputError& e) { throw error("shape.plane", e.what()); }
    if (plane.i == plane.j) throw error("shape.plane", "expected two different variables");
    for (int d = 0; d < 2; ++d) {
      if (!scene.net.lower.empty()) plane.lower[d] = scene.net.lower[d];
      if (!scene.net.upper.empty()) plane.upper[d] = scene.net.upper[d];
      if (!(plane.lower[d] < plane.upper[d]))
        throw error("shape.upper", "expected numbers above those of lower");
      const ShapeVariable& v = out.space.variables[d == 0 ? plane.i : plane.j];
      if (plane.lower[d] < v.lower || plane.upper[d] > v.upper)
        throw error("shape.plane",
                    fmt::format("'{}' is limited to {:.6g} .. {:.6g}", v.name, v.lower, v.upper));
    }
    out.plane = plane;
  }

  ShapeSystem read() {
    out.model = system.model;
    out.at_centre = scene.net.reference == "centre-of-mass";
    try {
      out.space = shape_space(out.model, out.at_centre ? "" : scene.net.reference);
      out.start = shape_of(out.model, out.space, system.start.q);
      if (out.at_centre) (void)mass_centre(out.model, out.space, out.start);
    } catch (const InputError& e) { throw error("shape", e.what()); }
    Workspace work(out.model);
    forward_kinematics(out.model, system.start.q, system.start.v, work);
    out.pose = work.X[out.space.reference];
    read_medium();
    for (const GaitScene& g : scene.gaits) read_gait(g);
    read_prescribed();
    read_plane();
    return out;
  }
};

bool in_plane(const ShapePlane& plane, const ShapePath& path) {
  return std::all_of(path.variable.begin(), path.variable.end(),
                     [&](int v) { return v == plane.i || v == plane.j; });
}

// Torques along a gait: largest ones, and the work by Simpson's rule on the samples of the motion.
struct CostMeter {
  const ShapeSystem& s;
  GaitResult::Cost cost{};
  int samples;
  double step;

  CostMeter(const ShapeSystem& system, const ShapePath& path, int count)
      : s(system), samples(count), step((path.end - path.start) / count) {
    cost.largest = Vec::Zero(s.space.p());
    cost.largest_lambda = Vec::Zero(static_cast<int>(s.forces.rows.size()));
  }
  void add(int k, const ShapePath& path, double t, const Vec& eta, const SE3& g) {
    const Torques x = torques(s.model, s.space, s.forces, instant(path, t), eta, g);
    cost.largest = cost.largest.cwiseMax(x.tau.cwiseAbs());
    cost.largest_lambda = cost.largest_lambda.cwiseMax(x.lambda.cwiseAbs());
    const double weight = k == 0 || k == samples ? 1 : k % 2 ? 4 : 2;
    cost.work += weight * step / 3 * x.power;
  }
};

// The axles leave something to dynamics all along the path, not at instants only.
bool stays_under(const ShapeSystem& s, const ShapePath& path) {
  if (s.medium.kind != ConnectionKind::rows) return false;
  constexpr int samples = 16;
  for (int k = 0; k <= samples; ++k) {
    const Vec r = shape_at(path, path.start + (path.end - path.start) * k / samples);
    if (classify(s.model, s.space, s.medium.rows, r).kind != ShapeClass::under) return false;
  }
  return true;
}

// Redundant axles that the reduced motion does not keep.
std::optional<Obstruction> slipping(const ShapeSystem& s, const ShapePath& path,
                                    const ReducedMotion& motion) {
  for (const ReducedState& x : motion.at) {
    const Vec r = shape_at(path, x.t);
    const Constraints c = constraints(s.space, shape_columns(s.model, s.space, r), s.medium.rows);
    const Vec rates = c.B * (rate_map(s.space, r) * shape_rate(path, x.t));
    const Vec slip = c.A * x.eta + rates;
    if (slip.norm() <= 1e-7 * std::max(rates.norm(), 1e-5)) continue;
    Obstruction o{x.t, true, slip.norm(), {}};
    for (int i = 0; i < slip.size(); ++i)
      if (std::abs(slip[i]) > 0.1 * slip.cwiseAbs().maxCoeff())
        o.rows.push_back(s.medium.rows[i].name);
    return o;
  }
  return std::nullopt;
}

// From the reference body to the centre of mass, where that is asked for.
void see_from_centre(const ShapeSystem& s, const ShapePath& path, GaitResult& g) {
  if (!s.at_centre) return;
  const auto h = [&](double t) {
    return SE3::translation(mass_centre(s.model, s.space, shape_at(path, t)).at);
  };
  g.g = h(path.start).inverse() * g.g * h(g.t);
  if (g.area) {
    const Mat seen = mass_centre(s.model, s.space, shape_at(path, path.start)).seen;
    g.area->F = seen * g.area->F;
    g.area->dB = seen * g.area->dB;
  }
}

GaitResult follow(const ShapeSystem& s, const NamedPath& named) {
  for (const Hold& h : s.holds)
    if (!h.during.empty()) return follow_supports(s, named);
  constexpr int samples = 128;
  const ShapePath& path = named.shape;
  GaitResult out;
  out.name = named.name;
  out.duration = path.end - path.start;
  out.closed = (shape_at(path, path.end) - shape_at(path, path.start)).norm() < 1e-9;
  std::vector<double> times;
  for (int k = 0; k <= samples; ++k)
    times.push_back(k == samples ? path.end : path.start + out.duration * k / samples);
  CostMeter meter(s, path, samples);
  const bool inertial = s.medium.kind != ConnectionKind::drag;
  const bool under = stays_under(s, path);
  if (under) {
    out.way = "reduced dynamics";
    const ReducedMotion m = reduced_motion(s.model, s.space, s.forces, path, {}, times);
    out.obstruction = slipping(s, path, m);
    out.done = m.done && m.at.size() == times.size() && !out.obstruction;
    out.t = m.t;
    for (std::size_t k = 0; out.done && k < m.at.size(); ++k)
      meter.add(static_cast<int>(k), path, m.at[k].t, m.at[k].eta, m.at[k].g);
    if (!m.at.empty()) {
      out.state = m.at.back();
      out.g = out.state->g;
      out.turn = out.state->turn;
    }
  } else {
    out.way = "connection";
    const std::vector<NetMotion> at = net_motion_at(s.model, s.space, s.medium, path, times);
    const NetMotion& end = at.back();
    out.done = end.integration.done && !end.obstruction;
    out.t = end.t;
    out.g = end.g;
    out.turn = end.turn;
    out.obstruction = end.obstruction;
    out.removable = end.removable;
    for (int k = 0; inertial && out.done && k <= samples; ++k) {
      const ShapeInstant now = instant(path, times[k]);
      const NetTwist x = net_twist(s.model, s.space, s.medium, now.r, now.rdot);
      Vec eta = x.eta;
      if (x.ratio < 1e-6) eta = limit_twist(s.model, s.space, s.medium, now.r, now.rdot, now.rddot);
      meter.add(k, path, times[k], eta, at[k].g);
    }
  }
  if (inertial && out.done) out.cost = meter.cost;
  if (s.plane && out.closed && out.done && !under && in_plane(*s.plane, path))
    out.area = area_rule(s.model, s.space, s.medium, *s.plane, path);
  if (out.area && !out.area->regular) {
    out.area.reset();
    out.singular_inside = true;
  }
  see_from_centre(s, path, out);
  return out;
}

}  // namespace

std::vector<ConstraintRow> rows_at(const ShapeSystem& s, double t) {
  std::vector<ConstraintRow> rows = s.axles;
  std::vector<Hold> now;
  for (const Hold& h : s.holds)
    if (h.at(t)) now.push_back(h);
  for (const ConstraintRow& r : hold_rows(s.model, s.space, now)) rows.push_back(r);
  return rows;
}

ShapeSystem shape_system(const Scene& scene) {
  return SystemReader{scene, build_system(scene, StartVelocities::any)}.read();
}

ShapeGrid shape_grid(const ShapeSystem& s, int cells) {
  if (!s.plane)
    throw InputError("shape.plane",
                     "a grid of shapes needs two shape variables, the scene names none");
  const ShapePlane& plane = *s.plane;
  ShapeGrid grid{height_map(s.model, s.space, s.medium, plane, cells, cells), {}, {}, {}};
  HeightMap& map = grid.heights;
  const std::vector<ConstraintRow> none;
  const auto& rows = s.medium.kind == ConnectionKind::rows ? s.medium.rows : none;
  for (int j = 0; j < map.ny; ++j)
    for (int i = 0; i < map.nx; ++i) {
      const Vec r = plane.at(map.x[i], map.y[j]);
      const Classification c = classify(s.model, s.space, rows, r);
      grid.kind.push_back(c.kind);
      grid.rank.push_back(c.rank);
      grid.rank_all.push_back(c.rank_all);
      if (!s.at_centre) continue;
      FormPair& f = map.cells[static_cast<std::size_t>(j) * map.nx + i];
      const MassCentre centre = mass_centre(s.model, s.space, r);
      f.F = centre.seen * f.F;
      f.B_i = centre.seen * f.B_i + centre.slope.col(plane.i);
      f.B_j = centre.seen * f.B_j + centre.slope.col(plane.j);
    }
  return grid;
}

namespace {

std::vector<std::string> unread(const ShapeSystem& s) {
  std::vector<std::string> notes;
  const auto note = [&](bool there, const char* what) {
    if (there) notes.emplace_back(what);
  };
  const auto any = [&](auto has) {
    return std::any_of(s.model.fluids.begin(), s.model.fluids.end(), has);
  };
  const bool inertial = s.medium.kind != ConnectionKind::drag;
  note(any([](const Fluid& f) { return !f.quadratic.isZero(0); }), "quadratic drag of fluids");
  note(any([](const Fluid& f) { return f.flow != nullptr; }), "flows: fluids count as at rest");
  note(any([](const Fluid& f) { return f.wing || !f.end.added.isZero(0) || f.surface.half > 0; }),
       "wings, wakes and surfaces of fluids");
  note(inertial && any([](const Fluid& f) { return f.lift > 0; }), "buoyancy");
  note(inertial && (!s.model.springs.empty() || !s.model.drags.empty()),
       "springs and drags between points");
  return notes;
}

}  // namespace

ShapeReport shape_report(const Scene& scene, const std::vector<double>& at, int cells) {
  ShapeReport r;
  r.system = shape_system(scene);
  r.notes = unread(r.system);
  const ShapeSystem& s = r.system;
  r.at = s.start;
  if (!at.empty()) {
    if (static_cast<int>(at.size()) != s.space.p())
      throw InputError(fmt::format("--at: expected {} numbers, one a shape variable, got {}",
                                   s.space.p(), at.size()));
    r.at = Eigen::Map<const Vec>(at.data(), s.space.p());
    for (int i = 0; i < s.space.p(); ++i)
      if (r.at[i] < s.space.variables[i].lower || r.at[i] > s.space.variables[i].upper)
        throw InputError(fmt::format("--at: '{}' is limited to {:.6g} .. {:.6g}, got {:.6g}",
                                     s.space.variables[i].name, s.space.variables[i].lower,
                                     s.space.variables[i].upper, r.at[i]));
  }
  const std::vector<ConstraintRow> none;
  r.kind = classify(s.model, s.space, s.medium.kind == ConnectionKind::rows ? s.medium.rows : none,
                    r.at);
  r.form = local_form(s.model, s.space, s.medium, r.at);
  if (s.at_centre) {
    const MassCentre c = mass_centre(s.model, s.space, r.at);
    r.form.A = c.seen * r.form.A - c.slope;
    r.kind.H = c.seen * r.kind.H;
  }
  if (s.stressed) r.stress = rest_stress(s, r.at);
  for (const NamedPath& g : s.gaits) r.gaits.push_back(follow(s, g));
  if (cells > 0) r.grid = shape_grid(s, cells);
  return r;
}

}  // namespace saltus
