// Discs that roll without sliding (P4 section 5): two rows at the lowest point, along the heading
// and across it, and one that keeps it on the plane. The lowest point changes in the disc as it
// rolls and leans; as a point of the disc it is at rest in its plane, and that is what the rows
// say.
#pragma once
#include "saltus/contact/elements.h"
#include "saltus/contact/rows/family.h"
#include "saltus/dynamics/kinematics.h"

namespace saltus {

struct WheelFamilies : RowFamily {
  static int open_wrenches(const Model& model, int slot, const Law& law, const Vec6* wrench,
                           Assembly& out) {
    const BlockSlot& s = model.slots[slot];
    BlockSource from;
    from.slot = slot;
    from.b = model.wheels[s.index].body;
    const int row = out.open(law, from);
    for (int i = 0; i < s.rows; ++i) out.wrench_b.col(row + i) = wrench[i];
    return row;
  }
  static Vec3 velocity(const Model& model, const Workspace& w, const BlockSlot& s) {
    const Wheel& x = model.wheels[s.index];
    return point_velocity(w, x.body, wheel_rows(w, x).lowest);
  }
  // As those of cuts, whatever they ask.
  static void set_end_offset(const Opening& with, const Block& k, const BlockSlot& s) {
    for (int i = 0; i < s.rows; ++i)
      with.out.b[k.row + i] = with.out.gamma_S[k.row + i] - with.out.rate_start[s.row + i];
  }
  static Account account(const Model&, const BlockSlot&) { return Account::joint; }
  static ModeForm mode_form(const Model&, const BlockSlot&) {
    return {.kind = ModeForm::Kind::bilateral};
  }
};

struct WheelFamily : WheelFamilies {
  static int rows(const Model& model, const Workspace& w, int slot, const Law& law, double,
                  Assembly& out) {
    const WheelRows r = wheel_rows(w, model.wheels[model.slots[slot].index]);
    const Vec6 wrench[2] = {r.along, r.across};
    return open_wrenches(model, slot, law, wrench, out);
  }
  static void open(const Opening& with, int slot) {
    const Law law = Bilateral{with.model.slots[slot].rows};
    warm(with, slot, rows(with.model, with.work, slot, law, 0, with.out));
  }
  static void start_rate(const Model& model, const Workspace& w, const BlockSlot& s, double,
                         VecRef rate) {
    const WheelRows r = wheel_rows(w, model.wheels[s.index]);
    const Vec3 v = velocity(model, w, s);
    rate[0] = r.along.head<3>().dot(v);
    if (s.rows == 2) rate[1] = r.across.head<3>().dot(v);
  }
};

struct WheelPlaneFamily : WheelFamilies {
  static int rows(const Model& model, const Workspace& w, int slot, const Law& law, double,
                  Assembly& out) {
    const Vec6 wrench = wheel_rows(w, model.wheels[model.slots[slot].index]).off;
    return open_wrenches(model, slot, law, &wrench, out);
  }
  static void open(const Opening& with, int slot) {
    warm(with, slot, rows(with.model, with.work, slot, Bilateral{1}, 0, with.out));
  }
  static void start_rate(const Model& model, const Workspace& w, const BlockSlot& s, double,
                         VecRef rate) {
    rate[0] = model.wheels[s.index].normal.dot(velocity(model, w, s));
  }
  static Level level(const Model&, const BlockSlot&) { return Level::joint; }
  static void gaps(const Model& model, const Workspace& w, VecIn, const std::vector<std::int32_t>&,
                   const Vec&, const BlockSlot& s, VecRef gap) {
    const Wheel& x = model.wheels[s.index];
    gap[0] = x.normal.dot(wheel_rows(w, x).lowest) - x.height;
  }
};

}  // namespace saltus
