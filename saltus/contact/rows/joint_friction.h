// Dry friction in a joint coordinate: |tau| <= friction.
#pragma once
#include "saltus/contact/rows/coordinate.h"

namespace saltus {

struct JointFrictionFamily : JointFamily {
  static void open(const Opening& with, int slot) {
    const int c = with.model.slots[slot].index;
    const double most = with.model.coordinates[c].dof.friction * with.dt;
    open_under(with, slot, Interval{-most, most}, 0);
  }
  static Account account(const Model&, const BlockSlot&) { return Account::dry; }
  static constexpr bool has_mode = true;
  static ModeForm mode_form(const Model& model, const BlockSlot& s) {
    const JointDof& dof = model.coordinates[s.index].dof;
    ModeForm form{.kind = ModeForm::Kind::friction};
    form.friction = {
        .rows = 1, .forward = dof.friction, .backward = dof.friction, .dynamic = dof.dynamic};
    return form;
  }
  static double dynamic_share(const Model& model, const BlockSlot& s) {
    return model.coordinates[s.index].dof.dynamic;
  }
  static std::string label(const Model& model, int slot) {
    return model.coordinates[model.slots[slot].index].name + " friction";
  }
};

}  // namespace saltus
