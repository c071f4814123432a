#include "saltus/analysis/stance.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "saltus/analysis/metrics.h"
#include "saltus/base/error.h"
#include "saltus/contact/cables.h"
#include "saltus/contact/elements.h"
#include "saltus/contact/rows/contact.h"
#include "saltus/contact/rows/families.h"
#include "saltus/contact/surface.h"
#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/forces/rod_forces.h"

namespace saltus {

namespace {

// An eigenvalue of G below this share of the largest is a redundant row. Rounding of G is about
// 1e-15 of it.
constexpr double rank_threshold = 1e-11;

struct Builder {
  const Model& model;
  const Actuation& actuation;
  const StanceOptions& options;
  VecIn q;
  double t;
  Workspace work;
  Assembly rows;
  Mat W;                   // nv x rows
  Vec h;                   // forces without actuators
  std::vector<int> moves;  // velocities that are not prescribed
  std::vector<std::int32_t> turns;
  Stance out;

  Builder(const Model& m, const Actuation& a, VecIn at, double time, const StanceOptions& o)
      : model(m),
        actuation(a),
        options(o),
        q(at),
        t(time),
        work(m),
        rows(m),
        turns(m.coordinates.size()) {
    forward_kinematics(model, q, Vec::Zero(model.nv), work);
    world_columns(model, work);
    crba(model, work);
    bias_force(model, work);
    h = -work.tau_bias;
    for (int i = 0; i < model.nv; ++i)
      if (!model.prescribed[i]) moves.push_back(i);
  }

  [[nodiscard]] Vec column_of(const CoordinateRow& r) const {
    Vec column = Vec::Zero(model.nv);
    if (r.velocity >= 0) {
      column[r.velocity] = 1;
      return column;
    }
    if (r.child >= 0) add_wrench_row(model, work, BodyIndex(r.child), r.wrench, 1, column);
    if (r.parent >= 0) add_wrench_row(model, work, BodyIndex(r.parent), r.wrench, -1, column);
    return column;
  }
  [[nodiscard]] double value_of(int c) const {
    return coordinate_value(model, work, q, turns, CoordinateIndex(c));
  }

  void add_springs() {
    if (!model.rods.empty()) {
      const Vec zero = Vec::Zero(model.nv);
      Vec offset = zero;
      strain_offsets(model, actuation, t, offset);
      (void)add_rod_forces(model, q, zero, offset, zero, h);
    }
    for (int c = 0; c < static_cast<int>(model.coordinates.size()); ++c) {
      const JointDof& dof = model.coordinates[c].dof;
      if (dof.stiffness != 0)
        h += dof.stiffness * (dof.rest - value_of(c)) *
             column_of(coordinate_row(model, work, CoordinateIndex(c)));
    }
    for (int i = 0; i < static_cast<int>(model.springs.size()); ++i) {
      const Spring& s = model.springs[i];
      const SpringRow r = spring_row(work, s);
      const double tension = s.stiffness * (r.length - natural_length(model, actuation, i, t));
      if (s.b.valid()) add_wrench_row(model, work, s.b, r.wrench, -tension, h);
      if (s.a.valid()) add_wrench_row(model, work, s.a, r.wrench, tension, h);
    }
  }

  // Springs in cables pull; cables that are driven are actuators.
  void add_cables() {
    for (const Cable& c : model.cables)
      if (c.stretches && !c.driven)
        h -=
            spring_tension(c, cable_length(work, c, [&](int i) { return value_of(i); }), c.length) *
            stretch_column(model, work, c);
  }

  void add_slots() {
    for (int k = 0; k < static_cast<int>(model.slots.size()); ++k) {
      const BlockSlot& s = model.slots[k];
      const int before = static_cast<int>(rows.blocks.size());
      const auto touches = [&] { return slot_gap(model, work, q, turns, s) <= options.touch; };
      const auto open = [&](const Law& law) { open_rows(model, work, k, law, 0, rows); };
      switch (account_of(model, s)) {
        case Account::cut: open(Bilateral{s.rows}); break;
        case Account::joint:
          if (const int runner = runner_of(s); runner >= 0)
            rows.steering[runner] = steering_angle(actuation, runner, t);
          open(Bilateral{s.rows});
          break;
        case Account::limit:
          if (touches()) open(Unilateral{});
          break;
        case Account::friction: {
          const SupportFriction& f = model.supports[s.index];
          const double back = f.mu_back < 0 ? -1 : f.mu_back * f.load;
          open(GivenLoad{f.mu1 * f.load, f.mu2 * f.load, back});
          break;
        }
        case Account::contact:
          if (touches()) open(law_of(model.gap_contacts[s.index]));
          break;
        default: break;  // forces; dry friction of joints, which only takes away; scales
      }
      for (auto i = before; i < static_cast<int>(rows.blocks.size()); ++i)
        out.names.push_back(model.name_of({k, -1, -1, 0}));
    }
  }

  void add_contacts() {
    if (!options.contacts) return;
    ContactFinder finder(model);
    finder.find(model, work, options.touch, rows.contacts);
    for (int k = 0; k < static_cast<int>(rows.contacts.size()); ++k) {
      Contact& c = rows.contacts[k];
      const ContactLaw& given = model.contact_laws[c.law];
      if (given.compliant())
        throw InputError(fmt::format("contact {} - {}: expected hard contact, it is compliant",
                                     model.shapes[c.key.a].name, model.shapes[c.key.b].name));
      Law law = law_of(given);
      scale_friction(law, friction_share(model, work, c));
      c.tangent = tangent_of(model, work, c);
      open_contact(model, work, k, c, law, rows);
      out.names.push_back(model.name_of({-1, c.key.a, c.key.b, c.key.feature}));
    }
  }

  void add_footholds() {
    for (const Foothold& f : options.footholds) {
      const bool pinned = !std::isfinite(f.friction);
      const Law law = pinned            ? Law(Bilateral{3})
                      : f.friction == 0 ? Law(Unilateral{})
                                        : Law(Coulomb{f.friction, f.friction});
      BlockSource from;
      from.b = f.body;
      const int row = rows.open(law, from);
      const SE3& X = work.X[f.body];
      const Vec3 n = f.normal.normalized(), t1 = in_plane(Mat3::Identity(), n), arm = X.R * f.point;
      const Vec3 axes[3] = {n, t1, n.cross(t1)};
      for (int i = 0; i < rows_of(law); ++i)
        rows.wrench_b.col(row + i) = join(axes[i], arm.cross(axes[i]));
      out.names.push_back(fmt::format("foothold {}", model.bodies[f.body].name));
    }
  }

  // The rows as columns over the velocities.
  void write_columns() {
    W.setZero(model.nv, rows.rows);
    for (std::size_t i = 0; i < rows.blocks.size(); ++i) {
      const BlockSource& s = rows.source[i];
      for (int r = rows.blocks[i].row; r < rows.blocks[i].row + rows.blocks[i].rows; ++r) {
        Vec column = Vec::Zero(model.nv);
        if (s.gap != nullptr) {
          for (const GapTerm& term : s.gap->terms)
            column[term.velocity] += coefficient(term, rows.wrench_b.col(r));
        } else if (s.velocity >= 0) {
          column[s.velocity] = s.sign;
        } else {
          add_body(s.b, rows.wrench_b.col(r), column);
          add_body(s.a, rows.wrench_a.col(r), column);
        }
        W.col(r) = column;
      }
    }
  }
  // A wrench at the body's origin, which add_wrench_row wants at the inertial one.
  void add_body(int body, Vec6 wrench, Vec& column) const {
    if (body < 0) return;
    wrench.tail<3>() += work.X[body].r.cross(Vec3(wrench.head<3>()));
    add_wrench_row(model, work, BodyIndex(body), wrench, 1, column);
  }

  // B: nv x actuators.
  [[nodiscard]] Mat drives() {
    std::vector<Vec> columns;
    const auto limits = [&](const std::string& name, double lower, double upper) {
      lower = std::max(lower, -options.limit);
      upper = std::min(upper, options.limit);
      if (!std::isfinite(lower) || !std::isfinite(upper))
        throw InputError(
            fmt::format("the motor of '{}' has no torque limit: give one as limit", name));
      if (!(lower <= upper))
        throw InputError(fmt::format("the motor of '{}' can give no torque", name));
      out.actuators.push_back({name, lower, upper});
    };
    const auto drive = [&](int c, double lower, double upper) {
      limits(model.coordinates[c].name, lower, upper);
      columns.push_back(column_of(coordinate_row(model, work, CoordinateIndex(c))));
    };
    if (options.joints.empty()) {
      for (const Motor& m : actuation.motors) {
        const TorqueRange range = torque_range(m, 0);
        drive(m.coordinate, range.lower, range.upper);
      }
      for (const Cable& c : model.cables) {
        if (!c.driven) continue;
        limits(c.name, c.lower, c.upper);
        columns.push_back(-stretch_column(model, work, c));
      }
    } else {
      for (int c = 0; c < static_cast<int>(model.coordinates.size()); ++c)
        if (!model.coordinates[c].dof.prescribed &&
            matches(options.joints, model.coordinates[c].name))
          drive(c, -infinity, infinity);
    }
    if (columns.empty())
      throw InputError(options.joints.empty()
                           ? "nothing drives the model: expected motors, or joints that are driven"
                           : fmt::format("no joint is called '{}'", options.joints));
    Mat B(model.nv, static_cast<Eigen::Index>(columns.size()));
    for (std::size_t i = 0; i < columns.size(); ++i) B.col(static_cast<int>(i)) = columns[i];
    return B;
  }

  [[nodiscard]] Mat point_rows() const {
    Mat J = Mat::Zero(3, model.nv);
    Mat6X one = Mat6X::Zero(6, model.nv);
    const CapabilityPoint& p = options.point;
    if (p.body.valid()) {
      point_jacobian(model, work, p.body, work.X[p.body].R * p.point + work.X[p.body].r, one);
      return one.topRows<3>();
    }
    for (int i = 0; i < model.body_count(); ++i) {
      const RigidInertia& inertia = model.bodies[i].rigid;
      point_jacobian(model, work, BodyIndex(i), work.X[i].R * inertia.com + work.X[i].r, one);
      J += inertia.mass / model.total_mass() * one.topRows<3>();
    }
    return J;
  }

  // F = -G^+ (B tau + h) + N z, with B and h as accelerations of the rows.
  void solve_forces(const Mat& G, const Mat& rates_B, const Vec& rates_h) {
    const auto n = G.rows();
    out.N.resize(n, 0);
    out.Fs.resize(n, rates_B.cols());
    out.F0.resize(n);
    if (n == 0) return;  // held by nothing
    const Eigen::SelfAdjointEigenSolver<Mat> parts(G);
    const Vec& values = parts.eigenvalues();
    Eigen::Index redundant = 0;
    while (redundant < n && !(values[redundant] > rank_threshold * values[n - 1])) ++redundant;
    const Mat range = parts.eigenvectors().rightCols(n - redundant);
    const Mat inverse =
        range * values.tail(n - redundant).cwiseInverse().asDiagonal() * range.transpose();
    out.N = parts.eigenvectors().leftCols(redundant);
    out.Fs = -inverse * rates_B;
    out.F0 = -inverse * rates_h;
  }

  Stance finish() {
    const Mat B = drives()(moves, Eigen::all), J = point_rows()(Eigen::all, moves);
    const Eigen::LLT<Mat> M(Mat(work.M(moves, moves)));
    if (M.info() != Eigen::Success) throw InputError("bodies", "the mass matrix is singular");
    const Mat w = W(moves, Eigen::all);
    const Mat YB = M.solve(B), YW = M.solve(w);
    const Vec yh = M.solve(Vec(h(moves)));
    solve_forces(w.transpose() * YW, w.transpose() * YB, w.transpose() * yh);
    out.S = J * (YB + YW * out.Fs);
    out.a0 = J * (yh + YW * out.F0);
    out.blocks = rows.blocks;
    Vec torque(B.cols());
    for (Eigen::Index i = 0; i < B.cols(); ++i)
      torque[i] = std::max(std::abs(out.actuators[i].lower), std::abs(out.actuators[i].upper));
    out.load = model.total_mass() * model.gravity.norm();
    if (out.F0.size() > 0)
      out.load = std::max(out.load, (out.F0.cwiseAbs() + out.Fs.cwiseAbs() * torque).maxCoeff());
    if (!(out.load > 0)) out.load = 1;
    return std::move(out);
  }
};

}  // namespace

Stance stance_of(const Model& model, const Actuation& actuation, VecIn q, double t,
                 const StanceOptions& options) {
  Builder b(model, actuation, q, t, options);
  b.add_springs();
  b.add_cables();
  b.add_slots();
  b.add_contacts();
  b.add_footholds();
  b.write_columns();
  return b.finish();
}

}  // namespace saltus
