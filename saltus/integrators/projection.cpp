#include "saltus/integrators/projection.h"

#include <algorithm>
#include <cmath>

#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/kinematics.h"

namespace saltus {

namespace {

// Newton's method converges quadratically from gaps of O(dt^2): one or two rounds reach rounding.
constexpr int max_rounds = 8;
constexpr double joint_target = 1e-12;    // [m]
constexpr double contact_target = 1e-10;  // [m]
// Open by g, rows that depend on each other where the joints are closed seem independent by about
// g^2; a correction along them would be of the size of g itself.
constexpr double rank_tolerance = 1e-8;

}  // namespace

ProjectionWorkspace::ProjectionWorkspace(const Model& model)
    : assembly(model),
      zero(Vec::Zero(model.nv)),
      displacement(Vec::Zero(model.nv)),
      persistent(model.contact_slots, 0),
      sticking(model.contact_slots, 0),
      target(Vec::Zero(static_cast<Eigen::Index>(model.coordinates.size()))) {
  solver.reserve(model.lambda_rows, static_cast<int>(model.slots.size()) * 2, model.nv);
  solver.rank_tolerance = rank_tolerance;
  assembly.problem.reserve(model.lambda_rows, static_cast<int>(model.slots.size()) * 2, model.nv);
}

namespace {

struct Violation {
  double joint = 0, penetration = 0, contact = 0;  // contact: also gaps of persistent contacts
  int deepest = -1;                                // slot
};

struct Corrector {
  const Model& model;
  VecIn v;
  const std::vector<std::int32_t>& turns;
  Workspace& w;
  ProjectionWorkspace& p;
  bool joints_only = false;

  double limit_gap(VecIn q, const BlockSlot& s) const {
    const JointDof& dof = model.coordinates[s.index].dof;
    const double x = coordinate_value(model, w, q, turns, CoordinateIndex(s.index));
    return s.feature == 1 ? dof.upper - x : x - dof.lower;
  }

  // Gap of a cut's or a prescribed cut coordinate's rows; false for other slots.
  bool bilateral_gap(VecIn q, const BlockSlot& s, VecRef gap) const {
    if (s.kind == BlockKind::cut_translation) {
      cut_translation_gap(model, w, model.cuts[s.index], gap);
    } else if (s.kind == BlockKind::cut_rotation) {
      cut_rotation_gap(model, w, model.cuts[s.index], gap);
    } else if (s.kind == BlockKind::coordinate && model.coordinates[s.index].dof.prescribed) {
      gap[0] = coordinate_value(model, w, q, turns, CoordinateIndex(s.index)) - p.target[s.index];
    } else {
      return false;
    }
    return true;
  }
  double length_of(const BlockSlot& s) const {
    if (s.kind == BlockKind::cut_rotation) return model.length_scale;
    if (s.kind == BlockKind::coordinate && model.coordinates[s.index].rotational)
      return model.length_scale;
    return 1;
  }

  Violation measure(VecIn q) {
    Violation worst;
    Vec6 gap;
    if (!joints_only) find_contacts(model, w, p.assembly.points);
    for (std::size_t i = 0; i < model.slots.size(); ++i) {
      const BlockSlot& s = model.slots[i];
      if (bilateral_gap(q, s, gap.head(s.rows))) {
        worst.joint = std::max(worst.joint, length_of(s) * gap.head(s.rows).cwiseAbs().maxCoeff());
      } else if (joints_only) {
        continue;
      } else if (s.kind == BlockKind::contact) {
        const int k = model.pairs[s.index].slot0 + s.feature;
        const double g = p.assembly.points[k].gap;
        if (-g > worst.penetration) {
          worst.penetration = -g;
          worst.deepest = static_cast<int>(i);
        }
        worst.contact = std::max(worst.contact, p.persistent[k] ? std::abs(g) : -g);
      } else if (s.kind == BlockKind::joint_limit) {
        worst.contact = std::max(worst.contact, -limit_gap(q, s));
      }
    }
    return worst;
  }

  // Adds a block of the correction problem; its velocities are displacements [m], its c gaps.
  auto open(const Law& law) {
    const int row = p.assembly.problem.add(law, 0, 1);
    auto columns = p.assembly.problem.W.middleCols(row, rows_of(law));
    columns.setZero();
    p.assembly.problem.b.segment(row, rows_of(law)).setZero();
    p.assembly.Lambda.segment(row, rows_of(law)).setZero();
    return columns;
  }

  void add_contact(const BlockSlot& s) {
    const ContactPair& pair = model.pairs[s.index];
    const int k = pair.slot0 + s.feature;
    const ContactPoint& point = p.assembly.points[k];
    if (!p.persistent[k] && point.gap >= 0) return;
    const bool stays = p.persistent[k] != 0;
    const Vec3 t1 = tangent_of(model, w, pair, point.normal);
    auto columns = open(stays ? Law(Bilateral{1}) : Law(Unilateral{}));
    add_contact_rows(model, w, pair, point, t1, columns);
    p.assembly.problem.b[p.assembly.problem.rows - 1] = point.gap;
    if (!stays || !p.sticking[k]) return;
    const int normal = p.assembly.problem.rows - 1;
    open(Bilateral{2});
    auto all = p.assembly.problem.W.middleCols(normal, 3);  // the normal row again, and T1, T2
    all.setZero();
    add_contact_rows(model, w, pair, point, t1, all);
  }

  void assemble_gaps(VecIn q) {
    p.assembly.problem.clear();
    Vec6 gap;
    for (const BlockSlot& s : model.slots) {
      if (bilateral_gap(q, s, gap.head(s.rows))) {
        auto columns = open(Bilateral{s.rows});
        if (s.kind == BlockKind::cut_translation)
          add_cut_translation_rows(model, w, model.cuts[s.index], columns);
        else if (s.kind == BlockKind::cut_rotation)
          add_cut_rotation_rows(model, w, model.cuts[s.index], columns);
        else
          add_coordinate_row(model, w, CoordinateIndex(s.index), columns.col(0));
        p.assembly.problem.b.segment(p.assembly.problem.rows - s.rows, s.rows) = gap.head(s.rows);
      } else if (joints_only) {
        continue;
      } else if (s.kind == BlockKind::joint_limit && limit_gap(q, s) < 0) {
        auto columns = open(Unilateral{});
        add_coordinate_row(model, w, CoordinateIndex(s.index), columns.col(0));
        if (s.feature == 1) columns.col(0) = -columns.col(0);
        p.assembly.problem.b[p.assembly.problem.rows - 1] = limit_gap(q, s);
      } else if (s.kind == BlockKind::contact) {
        add_contact(s);
      }
    }
  }

  void correct(VecRef q) {
    world_columns(model, w);
    assemble_gaps(q);
    crba(model, w);
    if (!factor(model, p.zero, w)) return;
    condense_mass(model, w, p.zero, true, p.assembly.problem);
    ProxGaussSeidel solver;
    solver.tolerance = 0.1 * contact_target;
    solver.max_iterations = 2000;
    // What the solver leaves is measured again and, if it matters, corrected in the next round.
    (void)solve(p.assembly.problem, p.assembly.Lambda, solver, p.solver);
    const int n = p.assembly.problem.rows;
    p.displacement.noalias() = p.assembly.problem.Y.leftCols(n) * p.assembly.Lambda.head(n);
    advance(model, q, p.displacement, 1.0);
    forward_kinematics(model, q, v, w);
  }

  // P0 section VI-C: orientations and the first link kept.
  void close_joints_from_root(VecRef q) {
    for (const Cut& cut : model.cuts) {
      if (cut.loop) continue;  // moving one body does not close it
      const CutFrames f = cut_frames(model, w, cut);
      const Vec3 d = f.parent.R.transpose() * (f.child.r - f.parent.r);
      Vec3 blocked = Vec3::Zero();
      for (int i = 0; i < cut.translations; ++i)
        blocked += cut.axes.col(i).dot(d) * cut.axes.col(i);
      const Body& child = model.bodies[cut.child];
      const int n = model.planar ? 2 : 3;
      q.segment(child.q0, n) -= (f.parent.R * blocked).head(n);
      forward_kinematics(model, q, v, w);
    }
  }
};

}  // namespace

ProjectionReport project(const Model& model, Projection kind, VecRef q, VecIn v,
                         const std::vector<std::int32_t>& turns, Workspace& work,
                         ProjectionWorkspace& scratch) {
  Corrector corrector{model, v, turns, work, scratch, false};
  Violation now = corrector.measure(q);
  ProjectionReport report;
  report.raw_penetration = now.penetration;
  report.raw_joint_gap = now.joint;
  if (kind == Projection::root_fixed) {
    corrector.close_joints_from_root(q);
    now = corrector.measure(q);
    report.iterations = 1;
  } else if (kind == Projection::mass) {
    while ((now.joint > joint_target || now.contact > contact_target) &&
           report.iterations < max_rounds) {
      corrector.correct(q);
      now = corrector.measure(q);
      ++report.iterations;
    }
  }
  report.penetration = now.penetration;
  report.joint_gap = now.joint;
  report.deepest = now.deepest;
  return report;
}

ProjectionReport close_joints(const Model& model, VecRef q, VecIn v,
                              const std::vector<std::int32_t>& turns, Workspace& work,
                              ProjectionWorkspace& scratch) {
  Corrector corrector{model, v, turns, work, scratch, true};
  ProjectionReport report;
  report.raw_joint_gap = report.joint_gap = corrector.measure(q).joint;
  while (report.joint_gap > joint_target && report.iterations < max_rounds) {
    corrector.correct(q);
    report.joint_gap = corrector.measure(q).joint;
    ++report.iterations;
  }
  return report;
}

}  // namespace saltus
