// A contact known by its gap as a function of joint coordinates.
#pragma once
#include <algorithm>

#include "saltus/contact/rows/family.h"

namespace saltus {

struct GapContactFamily : RowFamily {
  // Its gap and, where the law has a second row, its sliding speed.
  static int rows(const Model& model, const Workspace&, int slot, const Law& law, double,
                  Assembly& out) {
    BlockSource from;
    from.slot = slot;
    from.gap = &model.gap_contacts[model.slots[slot].index];
    from.closes = true;
    const int row = out.open(law, from);
    for (int i = 0; i < rows_of(law); ++i) out.wrench_b.col(row + i) = Vec6::Unit(i);
    return row;
  }
  static void open(const Opening& with, int slot) {
    const BlockSlot& s = with.model.slots[slot];
    const GapContact& c = with.model.gap_contacts[s.index];
    double sum = c.offset;
    for (const GapTerm& t : c.terms) sum += t.gap * with.terms[t.coordinate].value;
    if (sum > closed_gap && !(with.state.Lambda[s.row] > 0)) return;
    warm(with, slot, rows(with.model, with.work, slot, law_of(c), 0, with.out));
    with.out.source.back().restitution = c.restitution;
  }
  // Restitution acts on approach only.
  static void set_end_offset(const Opening& with, const Block& k, const BlockSlot& s) {
    const GapContact& c = with.model.gap_contacts[s.index];
    with.out.restitution[k.row] = c.restitution * std::min(with.out.gamma_S[k.row], 0.0);
  }
  static Level level(const Model&, const BlockSlot&) { return Level::contact; }
  static double gap(const Model& model, const Workspace&, VecIn q, const std::vector<std::int32_t>&,
                    const BlockSlot& s) {
    const GapContact& c = model.gap_contacts[s.index];
    double sum = c.offset;
    for (const GapTerm& t : c.terms) sum += t.gap * q[model.coordinates[t.coordinate].q_index];
    return sum;
  }
  static Account account(const Model&, const BlockSlot&) { return Account::contact; }
  static constexpr bool has_mode = true;
  static ModeForm mode_form(const Model& model, const BlockSlot& s) {
    const GapContact& c = model.gap_contacts[s.index];
    ModeForm form{.kind = ModeForm::Kind::normal, .restitution = c.restitution};
    if (c.mu > 0)
      form.friction = {.first = 1, .rows = 1, .forward = c.mu, .backward = c.mu, .scaled = true};
    return form;
  }
  static std::string label(const Model& model, int slot) {
    return model.gap_contacts[model.slots[slot].index].name;
  }
};

}  // namespace saltus
