#include "saltus/analysis/shape_dynamics.h"

#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

#include "saltus/analysis/classify.h"
#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/energy.h"
#include "saltus/dynamics/joint_kinematics.h"
#include "saltus/dynamics/kinematics.h"

namespace saltus {

namespace {

// Everything of the net equations at (g, r, u), but the twist.
struct NetEquations {
  const Model& model;
  const ShapeSpace& space;
  const NetForces& forces;
  Vec u;
  ShapeColumns columns, along;
  NetMatrices M, dM, drag;
  Constraints c, dc;

  NetEquations(const Model& m, const ShapeSpace& s, const NetForces& f, VecIn r, const Vec& rate)
      : model(m),
        space(s),
        forces(f),
        u(rate),
        columns(shape_columns(m, s, r)),
        along(shape_columns_along(m, s, r, columns, u)) {
    const std::vector<Mat6> K = inertias(model);
    M = net_matrices(columns, K);
    dM = net_matrices_along(columns, along, K);
    if (!forces.resistances.empty()) drag = net_matrices(columns, forces.resistances);
    c = constraints(space, columns, forces.rows);
    dc = constraints_along(space, columns, along, u, forces.rows);
  }

  [[nodiscard]] Vec momentum(const Vec& eta) const { return M.net * eta + M.mixed * u; }

  // ad*_eta P + F.
  [[nodiscard]] Vec wrench(const Vec& eta, const SE3& g) const {
    const Vec P = momentum(eta);
    const Vec6 twist = space.basis * eta;
    Vec f(space.n());
    for (int i = 0; i < space.n(); ++i)
      f[i] = P.dot(space.to_net * bracket(twist, Vec6(space.basis.col(i))));
    if (!forces.resistances.empty()) f -= drag.net * eta + drag.mixed * u;
    if (model.gravity.isZero()) return f;
    for (int i = 0; i < model.body_count(); ++i) {
      if (!space.moves[i]) continue;
      const RigidInertia& b = model.bodies[i].rigid;
      const Vec3 weight = b.mass * ((g.R * columns.X[i].R).transpose() * model.gravity);
      f += columns.net[i].transpose() * join(weight, b.com.cross(weight));
    }
    return f;
  }
};

// Which rows decide which components of eta.
struct Pivots {
  std::vector<int> rows, bound, open;
};

Pivots choose_pivots(const Mat& A, int n) {
  Pivots p;
  std::vector<char> is_bound(static_cast<std::size_t>(n), 0);
  if (A.rows() > 0) {
    Eigen::FullPivLU<Mat> lu(A);
    lu.setThreshold(rank_tolerance);
    for (int i = 0; i < lu.rank(); ++i) {
      // P A Q = L U: the i-th pivot's row and column in A.
      const auto& row_of = lu.permutationP().indices();
      for (int k = 0; k < row_of.size(); ++k)
        if (row_of[k] == i) p.rows.push_back(k);
      p.bound.push_back(lu.permutationQ().indices()[i]);
      is_bound[p.bound.back()] = 1;
    }
  }
  for (int i = 0; i < n; ++i)
    if (!is_bound[i]) p.open.push_back(i);
  return p;
}

Mat pick(const Mat& m, const std::vector<int>& rows, const std::vector<int>& columns) {
  Mat out(static_cast<int>(rows.size()), static_cast<int>(columns.size()));
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < columns.size(); ++j)
      out(static_cast<int>(i), static_cast<int>(j)) = m(rows[i], columns[j]);
  return out;
}

Vec pick(const Vec& v, const std::vector<int>& rows) {
  Vec out(static_cast<int>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) out[static_cast<int>(i)] = v[rows[i]];
  return out;
}

// H, dH/dt and J u of the echelon form.
struct Reduction {
  Mat H, dH;
  Vec Ju;
};

Reduction reduce(const NetEquations& e, const Pivots& pivots) {
  const int n = e.space.n(), k = static_cast<int>(pivots.open.size());
  Reduction r{Mat::Zero(n, k), Mat::Zero(n, k), Vec::Zero(n)};
  for (int i = 0; i < k; ++i) r.H(pivots.open[i], i) = 1;
  if (pivots.bound.empty()) return r;
  const Eigen::PartialPivLU<Mat> lu(pick(e.c.A, pivots.rows, pivots.bound));
  const Mat H = -lu.solve(pick(e.c.A, pivots.rows, pivots.open));
  const Mat dH = -lu.solve(pick(e.dc.A, pivots.rows, pivots.open) +
                           pick(e.dc.A, pivots.rows, pivots.bound) * H);
  const Vec J = -lu.solve(pick(Vec(e.c.B * e.u), pivots.rows));
  for (std::size_t i = 0; i < pivots.bound.size(); ++i) {
    r.H.row(pivots.bound[i]) = H.row(static_cast<int>(i));
    r.dH.row(pivots.bound[i]) = dH.row(static_cast<int>(i));
    r.Ju[pivots.bound[i]] = J[static_cast<int>(i)];
  }
  return r;
}

// eta of a reduced momentum: H'M H eta_r = p - H'(M J u + m u).
Vec twist_of(const NetEquations& e, const Reduction& r, const Vec& p) {
  if (r.H.cols() == 0) return r.Ju;
  const Vec rest = p - r.H.transpose() * e.momentum(r.Ju);
  const Vec eta_r = (r.H.transpose() * e.M.net * r.H).ldlt().solve(rest);
  return r.H * eta_r + r.Ju;
}

struct ReducedRun {
  const Model& model;
  const ShapeSpace& space;
  const NetForces& forces;
  const ShapePath& path;
  double tolerance;
  NetState state{};  // g, and x = (p, turn)
  Pivots pivots{};
  double t = 0;
  double pace = 0;  // of the integration

  [[nodiscard]] NetEquations equations(double time) const {
    const Vec r = shape_at(path, time);
    return {model, space, forces, r, rate_map(space, r) * shape_rate(path, time)};
  }
  [[nodiscard]] bool planar() const {
    return space.group == NetGroup::se2 || space.group == NetGroup::circle;
  }
  [[nodiscard]] Vec twist(const NetEquations& e, const Reduction& r) const {
    return twist_of(e, r, state.x.head(r.H.cols()));
  }

  // New pivots at the present time, the motion as it is.
  void repivot(const Vec& eta, double turn, const NetEquations& e) {
    pivots = choose_pivots(e.c.A, space.n());
    const Reduction r = reduce(e, pivots);
    state.x.resize(r.H.cols() + 1);
    state.x << r.H.transpose() * e.momentum(eta), turn;
  }

  void begin(const ReducedStart& start) {
    t = path.start;
    state.g = start.g;
    const NetEquations e = equations(t);
    pivots = choose_pivots(e.c.A, space.n());
    const Reduction r = reduce(e, pivots);
    state.x = Vec::Zero(r.H.cols() + 1);
    if (start.eta)
      state.x.head(r.H.cols()) =
          r.H.transpose() * e.momentum(r.H * pick(*start.eta, pivots.open) + r.Ju);
  }

  bool advance(double to, double piece_end) {
    const double from = t;
    // New pivots 32 times along the path, at least.
    const int parts = static_cast<int>(std::ceil(32 * (to - from) / (path.end - path.start)));
    for (int i = 1; i <= parts; ++i) {
      const auto inside = [&](double x) {
        return std::min(x, piece_end - 3e-12 * std::max(1.0, std::abs(piece_end)));
      };
      const NetEquations now = equations(inside(t));
      repivot(twist(now, reduce(now, pivots)), state.x[state.x.size() - 1], now);
      const auto rates = [&](double time, const NetState& s, Vec6& twist_out, VecRef xdot) {
        const NetEquations e = equations(inside(time));
        const Reduction r = reduce(e, pivots);
        const int k = static_cast<int>(r.H.cols());
        const Vec eta = twist_of(e, r, s.x.head(k));
        xdot.head(k) = r.dH.transpose() * e.momentum(eta) + r.H.transpose() * e.wrench(eta, s.g);
        xdot[k] = planar() ? eta[eta.size() - 1] : 0;
        twist_out = space.basis * eta;
      };
      const double next = i == parts ? to : from + (to - from) * i / parts;
      const NetIntegration part = integrate_net(rates, t, next, tolerance, state, pace);
      t = part.t;
      pace = part.pace;
      if (!part.done) return false;
    }
    return true;
  }

  [[nodiscard]] ReducedState report() const {
    const NetEquations e = equations(t);
    const Reduction r = reduce(e, pivots);
    ReducedState s{t, state.g, state.x[state.x.size() - 1], twist(e, r), {}, r.H, {}};
    s.P = e.momentum(s.eta);
    s.p = r.H.transpose() * s.P;
    return s;
  }
};

}  // namespace

ReducedMotion reduced_motion(const Model& model, const ShapeSpace& space, const NetForces& forces,
                             const ShapePath& path, const ReducedStart& start,
                             const std::vector<double>& times, double tolerance) {
  ReducedRun run{model, space, forces, path, tolerance};
  run.begin(start);
  ReducedMotion motion;
  const std::vector<double> pieces = shape_pieces(path);
  std::size_t next = 0;
  for (std::size_t i = 0; i + 1 < pieces.size() && motion.done; ++i) {
    const double b = pieces[i + 1];
    while (motion.done && next < times.size() && times[next] <= b) {
      if (times[next] > run.t) motion.done = run.advance(times[next], b);
      if (motion.done) motion.at.push_back(run.report());
      ++next;
    }
    if (next >= times.size()) break;
    if (motion.done && run.t < b) motion.done = run.advance(b, b);
  }
  motion.t = run.t;
  return motion;
}

ShapeInstant instant(const ShapePath& path, double t) {
  return {shape_at(path, t), shape_rate(path, t), shape_acceleration(path, t)};
}

namespace {

// eta' and lambda of the net equations; lambda of least weighted norm, as the null space of the
// whole has only forces in it where inertia is positive.
void solve_net(const NetEquations& e, const Vec& eta, const Vec& du, const SE3& g,
               const std::vector<double>& weights, Torques& out) {
  const int n = e.space.n(), m = static_cast<int>(e.forces.rows.size());
  Vec scale = Vec::Ones(m);  // lambda = scale x, |x| least
  for (int i = 0; i < m && !weights.empty(); ++i) scale[i] = 1 / std::sqrt(weights[i]);
  const Mat A = scale.asDiagonal() * e.c.A;
  Mat K = Mat::Zero(n + m, n + m);
  K << e.M.net, -A.transpose(), A, Mat::Zero(m, m);
  Vec b(n + m);
  b << e.wrench(eta, g) - e.dM.net * eta - e.dM.mixed * e.u - e.M.mixed * du,
      -(scale.asDiagonal() * (e.dc.A * eta + e.dc.B * e.u + e.c.B * du));
  Eigen::CompleteOrthogonalDecomposition<Mat> solver;
  solver.setThreshold(1e-11);
  solver.compute(K);
  const Vec x = solver.solve(b);
  out.eta_dot = x.head(n);
  out.lambda = scale.asDiagonal() * x.tail(m);
  out.residual = (K * x - b).norm();
}

}  // namespace

Torques torques(const Model& model, const ShapeSpace& space, const NetForces& forces,
                const ShapeInstant& shape, VecIn eta, const SE3& g,
                const std::vector<double>& weights) {
  const Mat T = rate_map(space, shape.r);
  const Vec u = T * shape.rdot;
  const Vec du = T * shape.rddot + rate_bias(space, shape.r, shape.rdot);
  const NetEquations e(model, space, forces, shape.r, u);
  Torques out;
  solve_net(e, eta, du, g, weights, out);

  // The whole creature by the engine's inverse dynamics: the root moves as the net twist says.
  const Body& root = model.bodies[space.root];
  const SE3 X = g * e.columns.X[space.root];
  const Vec6 V = e.columns.net[space.root] * eta + e.columns.shape[space.root] * u;
  const Vec6 dV = e.columns.net[space.root] * out.eta_dot + e.columns.shape[space.root] * du +
                  e.along.net[space.root] * eta + e.along.shape[space.root] * u;
  Vec q = shape_q(model, space, shape.r), v = Vec::Zero(model.nv), a = v;
  joint_coordinates(root.joint, root.placement.inverse() * X * root.in_body,
                    q.segment(root.q0, root.nq));
  v.segment(root.v0, root.nv) = root_velocities(model, space, q.segment(root.q0, root.nq), V);
  for (int i = 0; i < space.p(); ++i) {
    const ShapeVariable& s = space.variables[i];
    const int at = model.bodies[s.body].v0 + s.component;
    v[at] = u[i];
    a[at] = du[i];
  }
  Workspace work(model);
  forward_kinematics(model, q, v, work);
  a.segment(root.v0, root.nv) =
      root_velocities(model, space, q.segment(root.q0, root.nq), dV - work.bias[space.root]);
  for (std::size_t i = 0; i < forces.resistances.size(); ++i)
    if (space.moves[i]) work.external[i] -= forces.resistances[i] * work.V[i];
  Vec tau(model.nv);
  rnea(model, a, work, tau);

  const Mat stat = classify(model, space, forces.rows, shape.r).N;
  out.stat = stat;
  out.tau.resize(space.p());
  for (int i = 0; i < space.p(); ++i) {
    const ShapeVariable& s = space.variables[i];
    out.tau[i] = tau[model.bodies[s.body].v0 + s.component];
  }
  out.tau -= e.c.B.transpose() * out.lambda;
  out.tau_stat = -e.c.B.transpose() * stat;
  out.power = out.tau.dot(u);
  out.energy = kinetic_energy(model, v, work);
  return out;
}

Vec least_torque(const Torques& t) {
  if (t.tau_stat.cols() == 0) return Vec(0);
  return -t.tau_stat.completeOrthogonalDecomposition().solve(t.tau);
}

}  // namespace saltus
