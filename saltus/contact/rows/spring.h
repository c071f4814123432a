// Springs and dampers between points (P3 section 1). They act by their impulse at the start
// velocity, which is in the free velocity; the block is what their change adds,
// -gain (gamma_E - gamma_S).
#pragma once
#include "saltus/contact/elements.h"
#include "saltus/contact/rows/family.h"

namespace saltus {

struct SpringFamily : RowFamily {
  static int rows(const Model& model, const Workspace& w, int slot, const Law& law,
                  double compliance, Assembly& out) {
    const Spring& spring = model.springs[model.slots[slot].index];
    BlockSource from;
    from.slot = slot;
    from.a = spring.a;
    from.b = spring.b;
    const int row = out.open(law, from, compliance);
    set_pair_row(w, from, spring_row(w, spring).wrench, row, out);
    return row;
  }
  static void open(const Opening& with, int slot) {
    const Spring& spring = with.model.springs[with.model.slots[slot].index];
    const double gain = implicit_gain(spring, with.dt);
    if (gain != 0) rows(with.model, with.work, slot, Bilateral{1}, 1 / gain, with.out);
  }
  static void set_end_offset(const Opening& with, const Block& k, const BlockSlot&) {
    with.out.b[k.row] = -with.out.gamma_S[k.row];
  }
  static void start_impulse(const Model& model, const Workspace& w, const BlockSlot& slot,
                            double dt, const Vec& natural, VecRef impulse,
                            std::vector<Vec6>& wrenches) {
    const Spring& s = model.springs[slot.index];
    const SpringRow row = spring_row(w, s);
    const auto rate_on = [&](BodyIndex body) {
      return body.valid() ? row.wrench.dot(twist_to_parent(w.X[body], w.V[body])) : 0.0;
    };
    const double rate = rate_on(s.b) - rate_on(s.a);
    const double start =
        -dt * (s.stiffness * (row.length - natural[slot.index]) + s.damping * rate);
    impulse[0] = start;
    const auto add = [&](BodyIndex body, double by) {
      if (!body.valid()) return;
      const Vec3 f = by * row.wrench.head<3>();
      wrenches[body] += join(f, by * row.wrench.tail<3>() - w.X[body].r.cross(f));
    };
    add(s.b, start);
    add(s.a, -start);
  }
  static Account account(const Model&, const BlockSlot&) { return Account::spring; }
};

}  // namespace saltus
