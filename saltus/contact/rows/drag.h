// Viscous drag -k v on a point of a body; acts as springs do.
#pragma once
#include "saltus/contact/elements.h"
#include "saltus/contact/rows/family.h"
#include "saltus/dynamics/kinematics.h"

namespace saltus {

struct DragFamily : RowFamily {
  static int rows(const Model& model, const Workspace& w, int slot, const Law& law,
                  double compliance, Assembly& out) {
    const BlockSlot& s = model.slots[slot];
    const Drag& drag = model.drags[s.index];
    BlockSource from;
    from.slot = slot;
    from.b = drag.body;
    const int row = out.open(law, from, compliance);
    out.wrench_b.middleCols(row, s.rows) = drag_rows(w, drag).leftCols(s.rows);
    return row;
  }
  static void open(const Opening& with, int slot) {
    const BlockSlot& s = with.model.slots[slot];
    const double gain = implicit_gain(with.model.drags[s.index], with.dt);
    if (gain != 0) rows(with.model, with.work, slot, Bilateral{s.rows}, 1 / gain, with.out);
  }
  static void set_end_offset(const Opening& with, const Block& k, const BlockSlot&) {
    with.out.b.segment(k.row, k.rows) = -with.out.gamma_S.segment(k.row, k.rows);
  }
  static void start_impulse(const Model& model, const Workspace& w, const BlockSlot& slot,
                            double dt, const Vec&, VecRef impulse, std::vector<Vec6>& wrenches) {
    const Drag& d = model.drags[slot.index];
    const Vec3 arm = w.X[d.body].R * d.point;
    const Vec3 force = -d.coefficient * point_velocity(w, d.body, w.X[d.body].r + arm);
    Vec3 all = Vec3::Zero();  // in the plane no third row
    all.head(slot.rows) = dt * force.head(slot.rows);
    impulse = all.head(slot.rows);
    wrenches[d.body] += join(all, arm.cross(all));
  }
  static Account account(const Model&, const BlockSlot&) { return Account::damper; }
};

}  // namespace saltus
