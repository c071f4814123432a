#include "saltus/contact/rows.h"

#include "saltus/contact/elements.h"
#include "saltus/dynamics/coordinates.h"

namespace saltus {

int open_cut(const Model& model, const Workspace& w, int slot, Assembly& out) {
  const BlockSlot& s = model.slots[slot];
  const Cut& c = model.cuts[s.index];
  const bool turns = s.kind == BlockKind::cut_rotation;
  BlockSource from;
  from.slot = slot;
  from.a = c.parent;
  from.b = c.child;
  const int row = out.open(Bilateral{s.rows}, from, 0, turns ? model.length_scale : 1);
  Columns6 wrench;
  if (turns)
    cut_rotation_wrenches(model, w, c, wrench);
  else
    cut_translation_wrenches(model, w, c, wrench);
  for (int i = 0; i < s.rows; ++i) set_pair_row(w, from, wrench.col(i), row + i, out);
  return row;
}

int open_coordinate(const Model& model, const Workspace& w, int slot, const Law& law, int c,
                    double sign, double compliance, Assembly& out) {
  const CoordinateRow r = coordinate_row(model, w, CoordinateIndex(c));
  BlockSource from;
  from.slot = slot;
  from.a = r.parent;
  from.b = r.child;
  from.velocity = r.velocity;
  from.sign = sign;
  const double length = model.coordinates[c].rotational ? model.length_scale : 1;
  const int row = out.open(law, from, compliance, length);
  if (r.velocity < 0) set_pair_row(w, from, sign * r.wrench, row, out);
  return row;
}

int open_support(const Model& model, const Workspace& w, int slot, const Law& law, Assembly& out) {
  const int index = model.slots[slot].index;
  const SupportFriction& f = model.supports[index];
  BlockSource from;
  from.slot = slot;
  from.b = f.body;
  const int row = out.open(law, from);
  const SE3& X = w.X[f.body];
  const Vec3 arm = X.R * f.point, p = arm + X.r;
  const Vec3 t1 = in_plane(X.R, f.normal), t2 = f.normal.cross(t1);
  out.supports[index] = {0, p, p, f.normal};
  out.support_tangent[index] = t1;
  out.wrench_b.col(row) = join(t1, arm.cross(t1));
  out.wrench_b.col(row + 1) = join(t2, arm.cross(t2));
  return row;
}

int open_runner(const Model& model, const Workspace& w, int slot, const Law& law, double angle,
                Assembly& out) {
  const BlockSlot& s = model.slots[slot];
  const Runner& r = model.runners[s.index];
  BlockSource from;
  from.slot = slot;
  from.b = r.body;
  const int row = out.open(law, from);
  const RunnerRows rows = runner_rows(model, w, r, angle);
  out.wrench_b.col(row) = s.kind == BlockKind::edge ? rows.across : rows.along;
  return row;
}

int open_gap_contact(const Model& model, int slot, const Law& law, Assembly& out) {
  BlockSource from;
  from.slot = slot;
  from.gap = &model.gap_contacts[model.slots[slot].index];
  const int row = out.open(law, from);
  for (int i = 0; i < rows_of(law); ++i) out.wrench_b.col(row + i) = Vec6::Unit(i);
  return row;
}

int open_contact(const Model& model, const Workspace& w, int k, const Contact& c, const Law& law,
                 Assembly& out) {
  const ContactLaw& l = model.contact_laws[c.law];
  BlockSource from;
  from.contact = k;
  from.a = model.shapes[c.key.a].body;
  from.b = model.shapes[c.key.b].body;
  const bool moments = l.rolling > 0 || l.drilling > 0;
  const int row = out.open(law, from, 0, moments ? model.length_scale : 1);
  set_contact_rows(model, w, c, row, rows_of(law), out);
  return row;
}

bool contact_of_key(const Model& model, const Workspace& w, const ContactKey& key, double margin,
                    Contact& c) {
  const auto pose = [&](int shape) {
    const ContactShape& s = model.shapes[shape];
    return s.body.valid() ? w.X[s.body] * s.frame : s.frame;
  };
  Manifold found;
  contact_points(model.shapes[key.a].shape, pose(key.a), model.shapes[key.b].shape, pose(key.b),
                 margin, found);
  for (int i = 0; i < found.count; ++i) {
    if (found.points[i].feature != key.feature) continue;
    c.point = found.points[i];
    return true;
  }
  return false;
}

}  // namespace saltus
