// The joint of a cut: its blocked directions, kept by bilateral rows (P0 eq. 12).
#pragma once
#include "saltus/contact/rows/family.h"

namespace saltus {

struct CutFamily : RowFamily {
  // W_M turned on the way from q_S; by as much again it turns on the way to q_E. So that the rate
  // of a joint or a runner vanishes at the end, it is now the opposite of what v_S would have here.
  static void set_end_offset(const Opening& with, const Block& k, const BlockSlot& s) {
    if (!with.out.joints_at_end) return;
    for (int i = 0; i < s.rows; ++i)
      with.out.b[k.row + i] = with.out.gamma_S[k.row + i] - with.out.rate_start[s.row + i];
  }
  static Level level(const Model&, const BlockSlot&) { return Level::joint; }
  static Account account(const Model&, const BlockSlot&) { return Account::cut; }
  static ModeForm mode_form(const Model&, const BlockSlot&) {
    return {.kind = ModeForm::Kind::bilateral};
  }

  static int open_wrenches(const Model& model, const Workspace& w, int slot, const Law& law,
                           double length, const Columns6& wrench, Assembly& out) {
    const BlockSlot& s = model.slots[slot];
    const Cut& c = model.cuts[s.index];
    BlockSource from;
    from.slot = slot;
    from.a = c.parent;
    from.b = c.child;
    const int row = out.open(law, from, 0, length);
    for (int i = 0; i < s.rows; ++i) set_pair_row(w, from, wrench.col(i), row + i, out);
    return row;
  }
};

struct CutTranslationFamily : CutFamily {
  static int rows(const Model& model, const Workspace& w, int slot, const Law& law, double,
                  Assembly& out) {
    Columns6 wrench;
    cut_translation_wrenches(model, w, model.cuts[model.slots[slot].index], wrench);
    return open_wrenches(model, w, slot, law, 1, wrench, out);
  }
  static void open(const Opening& with, int slot) {
    const Law law = Bilateral{with.model.slots[slot].rows};
    warm(with, slot, rows(with.model, with.work, slot, law, 0, with.out));
  }
  static void start_rate(const Model& model, const Workspace& w, const BlockSlot& s, double,
                         VecRef rate) {
    cut_translation_rate(model, w, model.cuts[s.index], rate);
  }
  static void gaps(const Model& model, const Workspace& w, VecIn, const std::vector<std::int32_t>&,
                   const Vec&, const BlockSlot& s, VecRef gap) {
    cut_translation_gap(model, w, model.cuts[s.index], gap);
  }
};

struct CutRotationFamily : CutFamily {
  static int rows(const Model& model, const Workspace& w, int slot, const Law& law, double,
                  Assembly& out) {
    Columns6 wrench;
    cut_rotation_wrenches(model, w, model.cuts[model.slots[slot].index], wrench);
    return open_wrenches(model, w, slot, law, model.length_scale, wrench, out);
  }
  static void open(const Opening& with, int slot) {
    const Law law = Bilateral{with.model.slots[slot].rows};
    warm(with, slot, rows(with.model, with.work, slot, law, 0, with.out));
  }
  static void start_rate(const Model& model, const Workspace& w, const BlockSlot& s, double,
                         VecRef rate) {
    cut_rotation_rate(model, w, model.cuts[s.index], rate);
  }
  static void gaps(const Model& model, const Workspace& w, VecIn, const std::vector<std::int32_t>&,
                   const Vec&, const BlockSlot& s, VecRef gap) {
    cut_rotation_gap(model, w, model.cuts[s.index], gap);
  }
  static bool is_angular(const Model&, const BlockSlot&) { return true; }
};

}  // namespace saltus
