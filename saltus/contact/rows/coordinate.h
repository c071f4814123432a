// Armature, spring, damper and motor of a cut coordinate, and its prescribed rate; what all
// families of joint coordinates share.
#pragma once
#include "saltus/contact/rows/family.h"

namespace saltus {

struct JointFamily : RowFamily {
  // A block of one row on a joint coordinate, in the tree or cut; gamma = sign times its rate.
  static int signed_row(const Model& model, const Workspace& w, int slot, const Law& law,
                        double sign, double compliance, Assembly& out) {
    const int c = model.slots[slot].index;
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
  static int rows(const Model& model, const Workspace& w, int slot, const Law& law,
                  double compliance, Assembly& out) {
    return signed_row(model, w, slot, law, 1, compliance, out);
  }
  static bool is_angular(const Model& model, const BlockSlot& s) {
    return model.coordinates[s.index].rotational;
  }

  static int open_under(const Opening& with, int slot, const Law& law, double compliance) {
    return warm(with, slot, rows(with.model, with.work, slot, law, compliance, with.out));
  }
  // Lambda = start - gain (gamma_E - gamma_S) as xi = gamma_E - gamma_S - start/gain + Lambda/gain.
  static void open_impedance(const Opening& with, int slot, const Law& law, const Impedance& z) {
    const int row = open_under(with, slot, law, 1 / z.gain);
    with.out.b[row] = -with.terms[with.model.slots[slot].index].rate - z.start / z.gain;
  }
};

struct CoordinateFamily : JointFamily {
  static bool prescribed(const Model& model, const BlockSlot& s) {
    return model.coordinates[s.index].dof.prescribed;
  }
  static void open(const Opening& with, int slot) {
    const BlockSlot& s = with.model.slots[slot];
    const CoordinateTerms& terms = with.terms[s.index];
    if (prescribed(with.model, s))
      with.out.b[open_under(with, slot, Bilateral{1}, 0)] = -terms.prescribed_rate;
    else if (terms.linear.gain > 0)
      open_impedance(with, slot, Bilateral{1}, terms.linear);
  }
  // As those of cuts.
  static void set_end_offset(const Opening& with, const Block& k, const BlockSlot& s) {
    if (with.out.joints_at_end && prescribed(with.model, s))
      with.out.b[k.row] += with.out.gamma_S[k.row] - with.terms[s.index].rate_start;
  }
  static Level level(const Model& model, const BlockSlot& s) {
    return prescribed(model, s) ? Level::joint : Level::none;
  }
  static void gaps(const Model& model, const Workspace& w, VecIn q,
                   const std::vector<std::int32_t>& turns, const Vec& target, const BlockSlot& s,
                   VecRef gap) {
    gap[0] = coordinate_value(model, w, q, turns, CoordinateIndex(s.index)) - target[s.index];
  }
  static Account account(const Model& model, const BlockSlot& s) {
    return prescribed(model, s) ? Account::drive : Account::none;
  }
  static ModeForm mode_form(const Model& model, const BlockSlot& s) {
    const JointDof& dof = model.coordinates[s.index].dof;
    if (dof.prescribed) return {.kind = ModeForm::Kind::bilateral};
    if (dof.armature == 0) return {};
    return {.kind = ModeForm::Kind::bilateral, .compliance = 1 / dof.armature};
  }
};

}  // namespace saltus
