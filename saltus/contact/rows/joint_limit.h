// The lower or upper limit of a joint coordinate, unilateral.
#pragma once
#include "saltus/contact/rows/coordinate.h"

namespace saltus {

struct JointLimitFamily : JointFamily {
  static bool upper(const BlockSlot& s) { return s.feature == 1; }
  static double gap_at(const Model& model, const BlockSlot& s, double x) {
    const JointDof& dof = model.coordinates[s.index].dof;
    return upper(s) ? dof.upper - x : x - dof.lower;
  }

  static int rows(const Model& model, const Workspace& w, int slot, const Law& law,
                  double compliance, Assembly& out) {
    const double sign = upper(model.slots[slot]) ? -1 : 1;
    return signed_row(model, w, slot, law, sign, compliance, out);
  }
  static void open(const Opening& with, int slot) {
    const BlockSlot& s = with.model.slots[slot];
    if (gap_at(with.model, s, with.terms[s.index].value) > 0 && !(with.state.Lambda[s.row] > 0))
      return;
    warm(with, slot, rows(with.model, with.work, slot, Unilateral{}, 0, with.out));
  }
  static Level level(const Model&, const BlockSlot&) { return Level::limit; }
  static double gap(const Model& model, const Workspace& w, VecIn q,
                    const std::vector<std::int32_t>& turns, const BlockSlot& s) {
    return gap_at(model, s, coordinate_value(model, w, q, turns, CoordinateIndex(s.index)));
  }
  static Account account(const Model&, const BlockSlot&) { return Account::limit; }
  static constexpr bool has_mode = true;
  static ModeForm mode_form(const Model&, const BlockSlot&) {
    return {.kind = ModeForm::Kind::normal};
  }
  static std::string label(const Model& model, int slot) {
    const BlockSlot& s = model.slots[slot];
    return model.coordinates[s.index].name + (upper(s) ? " upper limit" : " lower limit");
  }
};

}  // namespace saltus
