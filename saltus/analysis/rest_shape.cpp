#include "saltus/analysis/rest_shape.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "saltus/base/error.h"
#include "saltus/contact/elements.h"
#include "saltus/contact/rod_touches.h"
#include "saltus/contact/rows/contact.h"
#include "saltus/contact/rows/families.h"
#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/energy.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/forces/joint_forces.h"
#include "saltus/forces/rod_forces.h"
#include "saltus/model/state.h"

namespace saltus {

namespace {

constexpr double difference = 1e-5;  // of central differences: truncation and rounding near 1e-10
constexpr double most_move = 0.2;    // of the length scale, and so many radians, in one step
constexpr int most_shortenings = 30;
constexpr double place_tolerance = 1e-7;  // of the length scale: gaps are flat in it there

// What may push or holds: a slot, or the contact of a key.
struct Bond {
  int slot = -1;
  ContactKey key;
  int law = 0;
  int rows = 1;
  bool bilateral = false;
};

struct RestProblem {
  const Model& model;
  const Actuation& actuation;
  double t;
  Workspace work;
  Assembly rows;
  ContactFinder finder;
  RodTouches touches;
  Vec places = Vec::Constant(model.touches, -1);  // as State::touches
  std::vector<std::int32_t> turns;
  Vec target, zero, offset, h;
  double size = 0;  // of the terms of h
  std::vector<int> moves;

  RestProblem(const Model& m, const Actuation& a, double time)
      : model(m),
        actuation(a),
        t(time),
        work(m),
        rows(m),
        finder(m),
        touches(m),
        turns(m.coordinates.size(), 0),
        target(Vec::Zero(static_cast<Eigen::Index>(m.coordinates.size()))),
        zero(Vec::Zero(m.nv)),
        offset(Vec::Zero(m.nv)),
        h(Vec::Zero(m.nv)) {
    strain_offsets(model, actuation, t, offset);
    for (const Prescribed& p : actuation.prescribed) target[p.coordinate] = value(p.r, t);
    for (int i = 0; i < model.nv; ++i)
      if (!model.prescribed[i]) moves.push_back(i);
  }

  void add(const Vec& term) {
    h += term;
    size += term.norm();
  }
  [[nodiscard]] Vec column_of(int c) const {
    const CoordinateRow r = coordinate_row(model, work, CoordinateIndex(c));
    Vec column = Vec::Zero(model.nv);
    if (r.velocity >= 0) column[r.velocity] = 1;
    if (r.child >= 0) add_wrench_row(model, work, BodyIndex(r.child), r.wrench, 1, column);
    if (r.parent >= 0) add_wrench_row(model, work, BodyIndex(r.parent), r.wrench, -1, column);
    return column;
  }
  [[nodiscard]] double value_of(const Vec& q, int c) const {
    return coordinate_value(model, work, q, turns, CoordinateIndex(c));
  }

  // Fills h; leaves the kinematics of q.
  void forces(const Vec& q) {
    forward_kinematics(model, q, zero, work);
    world_columns(model, work);
    bias_force(model, work);
    h.setZero();
    size = 0;
    add(-work.tau_bias);
    for (int c = 0; c < static_cast<int>(model.coordinates.size()); ++c) {
      const JointDof& dof = model.coordinates[c].dof;
      if (dof.stiffness != 0 && !dof.prescribed)
        add(dof.stiffness * (dof.rest - value_of(q, c)) * column_of(c));
    }
    for (const Motor& m : actuation.motors)
      add((m.kp * (value(m.reference, t) - value_of(q, m.coordinate)) +
           m.gear * value(m.torque, t)) *
          column_of(m.coordinate));
    for (int i = 0; i < static_cast<int>(model.springs.size()); ++i) {
      const Spring& s = model.springs[i];
      const SpringRow r = spring_row(work, s);
      const double tension = s.stiffness * (r.length - natural_length(model, actuation, i, t));
      Vec term = Vec::Zero(model.nv);
      if (s.b.valid()) add_wrench_row(model, work, s.b, r.wrench, -tension, term);
      if (s.a.valid()) add_wrench_row(model, work, s.a, r.wrench, tension, term);
      add(term);
    }
    if (!model.rods.empty()) {
      Vec term = Vec::Zero(model.nv);
      (void)add_rod_forces(model, q, zero, offset, zero, term);
      add(term);
    }
  }

  // U of the last forces(q).
  [[nodiscard]] double energy(const Vec& q) const {
    double U = gravity_energy(model, work);
    for (int c = 0; c < static_cast<int>(model.coordinates.size()); ++c)
      if (const JointDof& dof = model.coordinates[c].dof; dof.stiffness != 0 && !dof.prescribed)
        U += spring_energy(dof, value_of(q, c));
    for (const Motor& m : actuation.motors) {
      const double x = value_of(q, m.coordinate), off = x - value(m.reference, t);
      U += 0.5 * m.kp * off * off - m.gear * value(m.torque, t) * x;
    }
    for (int i = 0; i < static_cast<int>(model.springs.size()); ++i) {
      const double stretch =
          spring_row(work, model.springs[i]).length - natural_length(model, actuation, i, t);
      U += 0.5 * model.springs[i].stiffness * stretch * stretch;
    }
    for (const RodElement& r : model.rods) {
      const Vec x = q.segment(r.q0, r.size) - offset.segment(r.v0, r.size);
      U += elastic_energy(r, x.data());
    }
    return U;
  }

  // What may act within the margin, at the last forces(q).
  [[nodiscard]] std::vector<Bond> bonds(double margin) {
    std::vector<Bond> all;
    for (int k = 0; k < static_cast<int>(model.slots.size()); ++k) {
      const BlockSlot& s = model.slots[k];
      const Level level = level_of(model, s);
      if (level == Level::none) continue;
      all.push_back({k, {}, 0, level == Level::joint ? s.rows : 1, level == Level::joint});
    }
    finder.find(model, work, margin, rows.contacts);
    for (const Contact& c : rows.contacts) {
      if (model.contact_laws[c.law].compliant())
        throw InputError(fmt::format("contact {} - {}: expected hard contact, it is compliant",
                                     model.shapes[c.key.a].name, model.shapes[c.key.b].name));
      all.push_back({-1, c.key, c.law, 1, false});
    }
    return all;
  }

  // Rows and gaps of the bonds, at the last forces(q).
  void write(const std::vector<Bond>& bonds, const Vec& q, Mat& W, Vec& gap) {
    rows.clear();
    int count = 0;
    for (const Bond& b : bonds) count += b.rows;
    W.setZero(model.nv, count);
    gap.setZero(count);
    rows.contacts.resize(bonds.size());
    int at = 0;
    for (std::size_t i = 0; i < bonds.size(); ++i) {
      const Bond& b = bonds[i];
      const Law law = Bilateral{b.rows};
      const auto block = static_cast<int>(rows.blocks.size());
      if (b.slot >= 0) {
        const BlockSlot& s = model.slots[b.slot];
        if (b.bilateral)
          slot_gaps(model, work, q, turns, target, s, gap.segment(at, b.rows));
        else
          gap[at] = slot_gap(model, work, q, turns, s);
        open_rows(model, work, b.slot, law, 0, rows);
      } else {
        Contact& c = rows.contacts[i];
        c.key = b.key;
        c.law = b.law;
        if (contact_of_key(model, work, b.key, infinity, c)) gap[at] = c.point.gap;
        open_contact(model, work, static_cast<int>(i), c, law, rows);
      }
      for (int r = 0; r < b.rows; ++r) W.col(at + r) = column(block, rows.blocks[block].row + r);
      at += b.rows;
    }
  }
  [[nodiscard]] Vec column(int block, int row) const {
    const BlockSource& s = rows.source[block];
    Vec out = Vec::Zero(model.nv);
    const auto on = [&](int body, Vec6 wrench) {
      if (body < 0) return;
      wrench.tail<3>() += work.X[body].r.cross(Vec3(wrench.head<3>()));
      add_wrench_row(model, work, BodyIndex(body), wrench, 1, out);
    };
    if (s.gap != nullptr) {
      for (const GapTerm& term : s.gap->terms) out[term.velocity] += term.gap;
    } else if (s.velocity >= 0) {
      out[s.velocity] = s.sign;
    } else {
      on(s.b, rows.wrench_b.col(row));
      on(s.a, rows.wrench_a.col(row));
    }
    return out;
  }

  // A contact between stations of a rod at an isolated minimum of its gap.
  struct Valley {
    ContactKey key;
    double force = 0, curvature = 0;
  };
  // -d(h + W lambda)/dq over all velocities, symmetric. Of a contact between stations g is the
  // least along the rod: at fixed places X its second derivative would lack -g_qX g_Xq / g_XX.
  [[nodiscard]] Mat tangent(const Vec& q, const std::vector<Bond>& bonds, const Vec& lambda) {
    Mat H(model.nv, model.nv), W;
    Vec gap;
    const bool pushed = lambda.size() > 0 && !lambda.isZero(0);
    const std::vector<Valley> valleys =
        pushed ? valleys_of(q, bonds, lambda) : std::vector<Valley>();
    Mat slopes(model.nv, static_cast<Eigen::Index>(valleys.size()));
    Vec slope(slopes.cols());
    const auto pull = [&](int k, double step) -> Vec {
      Vec moved = q;
      advance(model, moved, Vec::Unit(model.nv, k), step);
      forces(moved);
      for (std::size_t i = 0; i < valleys.size(); ++i)
        slope[static_cast<Eigen::Index>(i)] =
            touches.run(model, work, moved, valleys[i].key, places).slope;
      if (!pushed) return h;
      write(bonds, moved, W, gap);
      return h + W * lambda;
    };
    for (int k = 0; k < model.nv; ++k) {
      const Vec after = pull(k, difference);
      slopes.row(k) = slope.transpose();
      H.col(k) = (pull(k, -difference) - after) / (2 * difference);
      slopes.row(k) = (slopes.row(k) - slope.transpose()).eval() / (2 * difference);
    }
    for (std::size_t i = 0; i < valleys.size(); ++i) {
      const auto along = slopes.col(static_cast<Eigen::Index>(i));
      H += valleys[i].force / valleys[i].curvature * along * along.transpose();
    }
    return 0.5 * (H + H.transpose());
  }

  [[nodiscard]] std::vector<Valley> valleys_of(const Vec& q, const std::vector<Bond>& bonds,
                                               const Vec& lambda) {
    std::vector<Valley> found;
    if (model.touches == 0) return found;
    forces(q);
    for (int i = 0, at = 0; i < static_cast<int>(bonds.size()); at += bonds[i++].rows) {
      if (bonds[i].slot >= 0 || !(lambda[at] > 0)) continue;
      const RodTouches::Run r = touches.run(model, work, q, bonds[i].key, places);
      if (r.valley) found.push_back({bonds[i].key, lambda[at], r.curvature});
    }
    return found;
  }

  // Where rods touch between stations, at the last forces(q): places that carry load go to their
  // minimum, what is deeper than the stations beside it is given one. False if all stay.
  [[nodiscard]] bool move_places(const Vec& q, const std::vector<Bond>& bonds, const Vec& lambda,
                                 double margin) {
    if (model.touches == 0 || model.has_compliant) return false;
    State state = make_state(model);
    state.q = q;
    state.touches = places;
    for (int i = 0, at = 0; i < static_cast<int>(bonds.size()); at += bonds[i++].rows)
      if (bonds[i].slot < 0 && lambda[at] > 0) state.contacts.push_back({.key = bonds[i].key});
    (void)touches.choose(model, work, q, margin, state);
    bool moved = false;
    for (Eigen::Index j = 0; j < places.size(); ++j)
      moved = moved || (places[j] < 0) != (state.touches[j] < 0) ||
              std::abs(places[j] - state.touches[j]) > place_tolerance * model.length_scale;
    if (!moved) return false;
    places = state.touches;
    put_touches(model, places, work);
    return true;
  }

  [[nodiscard]] Vec free(const Vec& x) const { return x(moves); }
};

// min d' H d / 2 - r' d with A' d + g = 0 on some rows and >= 0 on the others: rows are taken in
// and let go one by one.
struct QuadraticStep {
  Vec d, lambda;
  std::vector<char> active;
};

Mat columns_of(const Mat& A, const std::vector<char>& active) {
  std::vector<int> which;
  for (int i = 0; i < A.cols(); ++i)
    if (active[i]) which.push_back(i);
  return A(Eigen::all, which);
}

// An orthonormal basis of what the rows leave free.
Mat null_space(const Mat& A) {
  if (A.cols() == 0) return Mat::Identity(A.rows(), A.rows());
  const Eigen::ColPivHouseholderQR<Mat> qr(A);
  const Mat Q = qr.householderQ();
  return Q.rightCols(A.rows() - qr.rank());
}

void solve_equalities(const Mat& H, const Vec& r, const Mat& A, const Vec& g, QuadraticStep& s) {
  std::vector<int> which;
  for (int i = 0; i < A.cols(); ++i)
    if (s.active[i]) which.push_back(i);
  const auto n = H.rows();
  const auto m = static_cast<Eigen::Index>(which.size());
  Mat K = Mat::Zero(n + m, n + m);
  Vec b(n + m);
  K.topLeftCorner(n, n) = H;
  b.head(n) = r;
  for (Eigen::Index i = 0; i < m; ++i) {
    K.col(n + i).head(n) = -A.col(which[i]);
    K.row(n + i).head(n) = -A.col(which[i]).transpose();
    b[n + i] = g[which[i]];
  }
  const Vec x = K.completeOrthogonalDecomposition().solve(b);
  s.d = x.head(n);
  s.lambda.setZero(A.cols());
  for (Eigen::Index i = 0; i < m; ++i) s.lambda[which[i]] = x[n + i];
}

void solve_step(const Mat& H, const Vec& r, const Mat& A, const Vec& g,
                const std::vector<char>& bilateral, QuadraticStep& s) {
  const double slack = 1e-13;
  for (int round = 0; round < 3 * A.cols() + 10; ++round) {
    solve_equalities(H, r, A, g, s);
    const Vec left = A.transpose() * s.d + g;
    int worst = -1;
    double most = 0;
    for (int i = 0; i < A.cols(); ++i) {
      if (bilateral[i]) continue;
      // What pulls goes first; both are measured by what they would move.
      const double wrong = s.active[i]
                               ? -s.lambda[i] / (1e-300 + s.lambda.lpNorm<Eigen::Infinity>())
                               : -left[i] / (slack + g.lpNorm<Eigen::Infinity>());
      if (wrong > most + slack) most = wrong, worst = i;
    }
    if (worst < 0 || most < 1e-12) return;
    s.active[worst] = !s.active[worst];
  }
}

struct Merit {
  double energy = 0, violation = 0;  // [J], [m] in sum
};

Merit merit_of(RestProblem& p, const Vec& q, const std::vector<Bond>& bonds, double margin) {
  p.forces(q);
  Merit m;
  m.energy = p.energy(q);
  std::vector<Bond> all = bonds;
  for (const Bond& b : p.bonds(margin))
    if (b.slot < 0 && std::none_of(bonds.begin(), bonds.end(),
                                   [&](const Bond& o) { return o.slot < 0 && o.key == b.key; }))
      all.push_back(b);
  Mat W;
  Vec gap;
  p.write(all, q, W, gap);
  int at = 0;
  for (const Bond& b : all)
    for (int r = 0; r < b.rows; ++r, ++at)
      m.violation += b.bilateral ? std::abs(gap[at]) : std::max(0.0, -gap[at]);
  return m;
}

// Of the step d: at most so much of it that nothing moves too far.
double longest(RestProblem& p, const Vec& q, const Vec& d) {
  forward_kinematics(p.model, q, d, p.work);
  double most = 0;
  for (const Vec6& V : p.work.V)
    most = std::max({most, V.head<3>().norm() / p.model.length_scale, V.tail<3>().norm()});
  return most > most_move ? most_move / most : 1;
}

void refuse_others(const Model& model, const Actuation& actuation) {
  if (actuation.user || !actuation.controllers.empty())
    throw InputError(
        "an equilibrium expects forces with a potential, got a controller or a user's "
        "force");
  for (const Motor& m : actuation.motors)
    if (m.backlash > 0)
      throw InputError(fmt::format("an equilibrium expects motors without backlash, '{}' has one",
                                   model.coordinates[m.coordinate].name));
}

}  // namespace

RestReport find_rest(const Model& model, const Actuation& actuation, double t, Vec& q,
                     const RestOptions& options) {
  refuse_others(model, actuation);
  RestProblem p(model, actuation, t);
  const double margin = 0.1 * model.length_scale;
  RestReport report;
  QuadraticStep step;
  std::vector<Bond> bonds;
  Vec lambda;  // of the bonds
  const auto n = static_cast<Eigen::Index>(p.moves.size());
  Mat W, H;
  Vec gap;
  double raised = 0;  // of M in H
  for (;; ++report.iterations) {
    p.forces(q);
    const bool moved = p.move_places(q, bonds, lambda, margin);
    if (moved) p.forces(q);
    const std::vector<Bond> before = bonds;
    const Vec lambda_before = lambda;
    bonds = p.bonds(margin);
    p.write(bonds, q, W, gap);
    // Forces of those that were there before.
    lambda.setZero(gap.size());
    std::vector<char> bilateral(gap.size(), 0), active(gap.size(), 0);
    for (int i = 0, at = 0; i < static_cast<int>(bonds.size()); at += bonds[i++].rows) {
      for (int r = 0; r < bonds[i].rows; ++r)
        bilateral[at + r] = active[at + r] = bonds[i].bilateral;
      for (int k = 0, from = 0; k < static_cast<int>(before.size()); from += before[k++].rows)
        if (before[k].slot == bonds[i].slot &&
            (bonds[i].slot >= 0 || before[k].key == bonds[i].key))
          lambda.segment(at, bonds[i].rows) = lambda_before.segment(from, bonds[i].rows);
    }
    for (int i = 0; i < gap.size(); ++i) active[i] = active[i] || lambda[i] > 0;
    const Vec pushes = W * lambda;
    report.residual = p.free(p.h + pushes).norm() / std::max(p.size + pushes.norm(), 1e-300);
    report.gap = 0;
    for (int i = 0; i < gap.size(); ++i)
      report.gap = std::max(report.gap, bilateral[i] || lambda[i] > 0 ? std::abs(gap[i]) : -gap[i]);
    report.energy = p.energy(q);
    const Vec r = p.free(p.h);
    const Mat A = W(p.moves, Eigen::all);
    crba(model, p.work);
    const Mat M = p.work.M(p.moves, p.moves);
    H = p.tangent(q, bonds, lambda)(p.moves, p.moves);
    const bool done = !moved && report.residual <= options.tolerance && report.gap <= closed_gap;
    if (done || n == 0 || report.iterations == options.max_iterations) {
      report.converged = done;
      const Mat Z = null_space(columns_of(A, active));
      if (Z.cols() > 0) {
        const Mat reduced = Z.transpose() * H * Z, mass = Z.transpose() * M * Z;
        report.least_eigenvalue =
            Eigen::GeneralizedSelfAdjointEigenSolver<Mat>(reduced, mass, Eigen::EigenvaluesOnly)
                .eigenvalues()[0];
      } else {
        report.least_eigenvalue = infinity;
      }
      for (int i = 0, at = 0; i < static_cast<int>(bonds.size()); at += bonds[i++].rows) {
        if (lambda.segment(at, bonds[i].rows).isZero(0)) continue;
        const Bond& b = bonds[i];
        RestReport::Held held;
        held.contact = b.slot < 0;
        held.slot = b.slot;
        held.key = b.key;
        held.law = b.law;
        held.name = model.name_of(held.contact ? Place{-1, b.key.a, b.key.b, b.key.feature}
                                               : Place{b.slot, -1, -1, 0});
        held.force = lambda.segment(at, b.rows).norm();
        p.forces(q);
        p.write(bonds, q, W, gap);
        if (held.contact) held.point = p.rows.contacts[i].point.on_b;
        report.held.push_back(held);
      }
      return report;
    }
    // Positive on what the rows leave free, by as much of M as it takes.
    raised *= 0.1;
    for (int tries = 0;; ++tries) {
      step.active = active;
      Mat raised_H = H;
      raised_H += raised * M;
      const Mat Z = null_space(columns_of(A, active));
      const Eigen::LLT<Mat> factor(Z.transpose() * raised_H * Z);
      if (factor.info() == Eigen::Success || tries == most_shortenings) {
        solve_step(raised_H, r, A, gap, bilateral, step);
        break;
      }
      raised = std::max(10 * raised, 1e-6 * H.norm() / M.norm());
    }
    Vec d = Vec::Zero(model.nv);
    d(p.moves) = step.d;
    const Merit from = merit_of(p, q, bonds, margin);
    const double weight = 2 * step.lambda.lpNorm<Eigen::Infinity>();
    double share = longest(p, q, d);
    const double rounding = 1e-12 * (std::abs(from.energy) + step.d.dot(H * step.d));
    Vec next = q;
    for (int i = 0; i < most_shortenings; ++i, share *= 0.5) {
      next = q;
      advance(model, next, d, share);
      const Merit to = merit_of(p, next, bonds, margin);
      if (to.energy + weight * to.violation <= from.energy + weight * from.violation + rounding)
        break;
    }
    q = next;
    lambda += share * (step.lambda - lambda);
    if (share < 1) raised = std::max(raised, 1e-3 * H.norm() / M.norm());
  }
}

}  // namespace saltus
