#include "saltus/contact/assembly.h"

#include <algorithm>
#include <cmath>

#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/kinematics.h"

namespace saltus {

Assembly::Assembly(const Model& model) {
  const int rows = model.lambda_rows, blocks = static_cast<int>(model.slots.size());
  problem.reserve(rows, blocks, model.nv);
  for (Vec* x : {&Lambda, &restitution, &gamma_S, &rate_start}) x->setZero(rows);
  slot.reserve(blocks);
  points.resize(model.contact_slots);
  tangent.assign(model.contact_slots, Vec3::UnitX());
  supports.resize(model.supports.size());
  support_tangent.assign(model.supports.size(), Vec3::UnitX());
}

namespace {

SE3 shape_pose(const Workspace& w, const ContactShape& s) {
  return s.body.valid() ? w.X[s.body] * s.frame : s.frame;
}

}  // namespace

void find_contacts(const Model& model, const Workspace& w, std::vector<ContactPoint>& points) {
  ContactPoints found;
  for (const ContactPair& p : model.pairs) {
    const ContactShape &a = model.shapes[p.a], &b = model.shapes[p.b];
    gap_functions(a.shape, shape_pose(w, a), b.shape, shape_pose(w, b), found);
    std::copy_n(found.begin(), p.features, points.begin() + p.slot0);
  }
}

namespace {

// The x-axis of a frame laid into a plane, or where it stands upright on it, the y-axis.
Vec3 in_plane(const Mat3& R, const Vec3& n) {
  Vec3 t = R.col(0) - n.dot(R.col(0)) * n;
  if (t.squaredNorm() < 1e-6) t = R.col(1) - n.dot(R.col(1)) * n;
  return t.normalized();
}

}  // namespace

Vec3 tangent_of(const Model& model, const Workspace& w, const ContactPair& pair, const Vec3& n) {
  const ContactShape& s = model.shapes[pair.law.axes == FrictionAxes::a ? pair.a : pair.b];
  const Mat3 R = shape_pose(w, s).R;
  return in_plane(R, n);
}

void add_contact_rows(const Model& model, const Workspace& w, const ContactPair& pair,
                      const ContactPoint& point, const Vec3& t1, Eigen::Ref<Mat> columns) {
  const BodyIndex a = model.shapes[pair.a].body, b = model.shapes[pair.b].body;
  const Vec3 directions[3] = {point.normal, t1, point.normal.cross(t1)};
  for (int i = 0; i < columns.cols(); ++i) {
    const Vec3& d = directions[i];
    add_wrench_row(model, w, b, join(d, point.on_b.cross(d)), 1.0, columns.col(i));
    add_wrench_row(model, w, a, join(d, point.on_a.cross(d)), -1.0, columns.col(i));
  }
}

namespace {

struct Assembler {
  const Model& model;
  const State& state;
  const std::vector<CoordinateTerms>& terms;
  double dt;
  const Workspace& w;
  Assembly& out;

  bool loaded(const BlockSlot& s) const { return state.Lambda[s.row] > 0; }

  // Opens a block and returns its columns of W, zeroed.
  auto open(int slot_index, const Law& law, double compliance = 0, double length = 1) {
    const BlockSlot& s = model.slots[slot_index];
    const int row = out.problem.add(law, compliance, length);
    out.slot.push_back(slot_index);
    out.problem.b.segment(row, s.rows).setZero();
    out.restitution.segment(row, s.rows).setZero();
    out.Lambda.segment(row, s.rows) = state.Lambda.segment(s.row, s.rows);
    auto columns = out.problem.W.middleCols(row, s.rows);
    columns.setZero();
    return columns;
  }
  // W_M turned on the way from q_S; by as much again it turns on the way to q_E. So that the
  // joint's rate vanishes at the end, it is now the opposite of what v_S would have here.
  void at_the_end(const BlockSlot& s) const {
    if (!out.joints_at_end) return;
    for (int i = 0; i < s.rows; ++i) {
      const int row = last_row() + i;
      out.problem.b[row] = out.problem.W.col(row).dot(state.v) - out.rate_start[s.row + i];
    }
  }
  int last_row() const { return out.problem.blocks.back().row; }

  double length_of(const Coordinate& c) const { return c.rotational ? model.length_scale : 1; }

  // Lambda = start - gain (gamma_E - gamma_S) as xi = gamma_E - gamma_S - start/gain + Lambda/gain.
  void impedance(int slot_index, const Law& law, const Impedance& z, int c) {
    auto columns = open(slot_index, law, 1 / z.gain, length_of(model.coordinates[c]));
    add_coordinate_row(model, w, CoordinateIndex(c), columns.col(0));
    out.problem.b[last_row()] = -terms[c].rate - z.start / z.gain;
  }

  void coordinate(int k, const BlockSlot& s) {
    const Coordinate& c = model.coordinates[s.index];
    if (c.dof.prescribed) {
      auto columns = open(k, Bilateral{1}, 0, length_of(c));
      add_coordinate_row(model, w, CoordinateIndex(s.index), columns.col(0));
      out.problem.b[last_row()] = -terms[s.index].prescribed_rate;
      if (out.joints_at_end)
        out.problem.b[last_row()] += columns.col(0).dot(state.v) - terms[s.index].rate_start;
    } else if (terms[s.index].linear.gain > 0) {
      impedance(k, Bilateral{1}, terms[s.index].linear, s.index);
    }
  }
  void motor(int k, const BlockSlot& s) {
    const Impedance& z = terms[s.index].limited;
    if (z.gain > 0) impedance(k, Interval{-z.limit, z.limit}, z, s.index);
  }
  void joint_friction(int k, const BlockSlot& s) {
    const Coordinate& c = model.coordinates[s.index];
    const double most = c.dof.friction * dt;
    auto columns = open(k, Interval{-most, most}, 0, length_of(c));
    add_coordinate_row(model, w, CoordinateIndex(s.index), columns.col(0));
  }
  void joint_limit(int k, const BlockSlot& s) {
    const Coordinate& c = model.coordinates[s.index];
    const bool upper = s.feature == 1;
    const double gap =
        upper ? c.dof.upper - terms[s.index].value : terms[s.index].value - c.dof.lower;
    if (gap > 0 && !loaded(s)) return;
    auto columns = open(k, Unilateral{}, 0, length_of(c));
    add_coordinate_row(model, w, CoordinateIndex(s.index), columns.col(0));
    if (upper) columns.col(0) = -columns.col(0);
  }
  void support(int k, const BlockSlot& s) {
    const SupportFriction& f = model.supports[s.index];
    auto columns = open(k, GivenLoad{f.mu1 * f.load * dt, f.mu2 * f.load * dt});
    const SE3& X = w.X[f.body];
    const Vec3 p = X * f.point;
    const Vec3 t1 = in_plane(X.R, f.normal);
    out.supports[s.index] = {0, p, p, f.normal};
    out.support_tangent[s.index] = t1;
    const Vec3 t2 = f.normal.cross(t1);
    add_wrench_row(model, w, f.body, join(t1, p.cross(t1)), 1.0, columns.col(0));
    add_wrench_row(model, w, f.body, join(t2, p.cross(t2)), 1.0, columns.col(1));
  }
  void contact(int k, const BlockSlot& s) {
    const ContactPair& p = model.pairs[s.index];
    const int point = p.slot0 + s.feature;
    if (out.points[point].gap > 0 && !loaded(s)) return;
    const bool rough = s.rows == 3;
    if (rough) out.tangent[point] = tangent_of(model, w, p, out.points[point].normal);
    auto columns = open(k, rough ? Law(Coulomb{p.law.mu1, p.law.mu2}) : Law(Unilateral{}));
    add_contact_rows(model, w, p, out.points[point], out.tangent[point], columns);
    const int row = last_row();
    // Restitution acts on approach only.
    if (p.law.restitution > 0)
      out.restitution[row] = p.law.restitution * std::min(columns.col(0).dot(state.v), 0.0);
  }

  void block(int k) {
    const BlockSlot& s = model.slots[k];
    switch (s.kind) {
      case BlockKind::cut_translation: {
        auto columns = open(k, Bilateral{s.rows});
        add_cut_translation_rows(model, w, model.cuts[s.index], columns);
        at_the_end(s);
        break;
      }
      case BlockKind::cut_rotation: {
        auto columns = open(k, Bilateral{s.rows}, 0, model.length_scale);
        add_cut_rotation_rows(model, w, model.cuts[s.index], columns);
        at_the_end(s);
        break;
      }
      case BlockKind::coordinate: coordinate(k, s); break;
      case BlockKind::motor: motor(k, s); break;
      case BlockKind::joint_friction: joint_friction(k, s); break;
      case BlockKind::joint_limit: joint_limit(k, s); break;
      case BlockKind::support: support(k, s); break;
      case BlockKind::contact: contact(k, s); break;
    }
  }
};

}  // namespace

void assemble(const Model& model, const State& state, const std::vector<CoordinateTerms>& terms,
              double dt, const Workspace& work, Assembly& out) {
  out.problem.clear();
  out.slot.clear();
  Assembler assembler{model, state, terms, dt, work, out};
  for (int k = 0; k < static_cast<int>(model.slots.size()); ++k) assembler.block(k);
  const int n = out.problem.rows;
  out.gamma_S.head(n).noalias() = out.problem.W.leftCols(n).transpose() * state.v;
}

void condense_mass(const Model& model, const Workspace& w, VecIn v_free, bool form_G,
                   Inclusion& p) {
  const int n = p.rows;
  for (int i = 0; i < n; ++i) {
    p.Y.col(i) = p.W.col(i);
    solve_mass(model, w, p.Y.col(i));
  }
  p.v_free = v_free;
  p.c.head(n) = p.b.head(n);
  p.c.head(n).noalias() += p.W.leftCols(n).transpose() * v_free;
  p.has_G = form_G;
  if (!form_G) return;
  // A row touches the velocities along one or two branches only: G from those.
  for (int i = 0; i < n; ++i) {
    p.support.clear();
    for (int k = 0; k < model.nv; ++k)
      if (p.W(k, i) != 0) p.support.push_back(k);
    for (int j = i; j < n; ++j) {
      double g = 0;
      for (const int k : p.support) g += p.W(k, i) * p.Y(k, j);
      p.G(i, j) = p.G(j, i) = g;
    }
  }
}

}  // namespace saltus
