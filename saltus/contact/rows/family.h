// The verbs of a row family, with what one answers that says nothing else. Included by families.cpp
// and the families alone; what each verb means is in families.h.
#pragma once
#include "saltus/contact/rows/families.h"

namespace saltus {

struct RowFamily {
  // Gives the block that was just opened for a slot its impulses of the last step.
  static int warm(const Opening& with, int slot, int row) {
    const BlockSlot& s = with.model.slots[slot];
    with.out.Lambda.segment(row, s.rows) = with.state.Lambda.segment(s.row, s.rows);
    return row;
  }

  // open: rows(model, work, slot, law, compliance, out) and open(with, slot) have no default.
  static void set_end_offset(const Opening&, const Block&, const BlockSlot&) {}
  static void start_rate(const Model&, const Workspace&, const BlockSlot&, double, VecRef) {}
  static void start_impulse(const Model&, const Workspace&, const BlockSlot&, double, const Vec&,
                            VecRef, std::vector<Vec6>&) {}
  // gap
  static Level level(const Model&, const BlockSlot&) { return Level::none; }
  static void gaps(const Model&, const Workspace&, VecIn, const std::vector<std::int32_t>&,
                   const Vec&, const BlockSlot&, VecRef) {}
  static double gap(const Model&, const Workspace&, VecIn, const std::vector<std::int32_t>&,
                    const BlockSlot&) {
    return infinity;
  }
  static bool is_angular(const Model&, const BlockSlot&) { return false; }
  // work: account(model, slot) has no default.
  // mode
  static constexpr bool has_mode = false;
  static ModeForm mode_form(const Model&, const BlockSlot&) { return {}; }
  static double dynamic_share(const Model&, const BlockSlot&) { return 1; }
  // name
  static std::string label(const Model& model, int slot) {
    return model.name_of({slot, -1, -1, 0});
  }
  static bool touch(const Model&, const State&, const Assembly&, const BlockSlot&, Touch&) {
    return false;
  }
  // steering
  static int runner(const BlockSlot&) { return -1; }
  static Vec6 steering_turn(const Model&, const Workspace&, const BlockSlot&, double) {
    return Vec6::Zero();
  }
};

}  // namespace saltus
