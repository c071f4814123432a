// Runners (P3 sections 2 and 5): an edge that does not slip sideways, and one-way sliding with its
// friction.
#pragma once
#include <cmath>

#include "saltus/contact/elements.h"
#include "saltus/contact/rows/family.h"
#include "saltus/dynamics/kinematics.h"

namespace saltus {

struct RunnerFamily : RowFamily {
  static int open_wrench(const Model& model, int slot, const Law& law, const Vec6& wrench,
                         Assembly& out) {
    BlockSource from;
    from.slot = slot;
    from.b = model.runners[model.slots[slot].index].body;
    const int row = out.open(law, from);
    out.wrench_b.col(row) = wrench;
    return row;
  }
  static RunnerRows rows_at(const Model& model, const Workspace& w, const BlockSlot& s,
                            double angle) {
    return runner_rows(model, w, model.runners[s.index], angle);
  }
  static Vec3 velocity(const Model& model, const Workspace& w, const BlockSlot& s) {
    const Runner& r = model.runners[s.index];
    return point_velocity(w, r.body, w.X[r.body] * r.point);
  }
  // As those of cuts, whatever they ask; sideways slip is what it is.
  static void set_end_offset(const Opening& with, const Block& k, const BlockSlot& s) {
    if (std::isfinite(with.model.runners[s.index].grip)) return;
    with.out.b[k.row] = with.out.gamma_S[k.row] - with.out.rate_start[s.row];
  }
  static int runner(const BlockSlot& s) { return s.index; }
};

struct EdgeFamily : RunnerFamily {
  static int rows(const Model& model, const Workspace& w, int slot, const Law& law, double,
                  Assembly& out) {
    const BlockSlot& s = model.slots[slot];
    return open_wrench(model, slot, law, rows_at(model, w, s, out.steering[s.index]).across, out);
  }
  // With a finite grip it is friction under a given load.
  static void open(const Opening& with, int slot) {
    const double most = with.model.runners[with.model.slots[slot].index].grip * with.dt;
    const Law law = std::isfinite(most) ? Law(Interval{-most, most}) : Law(Bilateral{1});
    warm(with, slot, rows(with.model, with.work, slot, law, 0, with.out));
  }
  static void start_rate(const Model& model, const Workspace& w, const BlockSlot& s, double angle,
                         VecRef rate) {
    rate[0] = rows_at(model, w, s, angle).across.head<3>().dot(velocity(model, w, s));
  }
  static Account account(const Model& model, const BlockSlot& s) {
    return std::isfinite(model.runners[s.index].grip) ? Account::friction : Account::joint;
  }
  static ModeForm mode_form(const Model& model, const BlockSlot& s) {
    const double grip = model.runners[s.index].grip;
    if (!std::isfinite(grip)) return {.kind = ModeForm::Kind::bilateral};
    ModeForm form{.kind = ModeForm::Kind::friction};
    form.friction = {.rows = 1, .forward = grip, .backward = grip};
    return form;
  }
  // Steering turns e towards g and g towards -e (P3 eq. 5.2b).
  static Vec6 steering_turn(const Model& model, const Workspace& w, const BlockSlot& s,
                            double angle) {
    return -rows_at(model, w, s, angle).along;
  }
};

struct ScaleFamily : RunnerFamily {
  static int rows(const Model& model, const Workspace& w, int slot, const Law& law, double,
                  Assembly& out) {
    const BlockSlot& s = model.slots[slot];
    return open_wrench(model, slot, law, rows_at(model, w, s, out.steering[s.index]).along, out);
  }
  // One row does for scales and friction: sliding forward it is -friction, at rest anything up.
  static void open(const Opening& with, int slot) {
    const Runner& r = with.model.runners[with.model.slots[slot].index];
    const Interval law{-r.friction * with.dt, r.scales ? infinity : r.friction * with.dt};
    warm(with, slot, rows(with.model, with.work, slot, law, 0, with.out));
  }
  static void start_rate(const Model& model, const Workspace& w, const BlockSlot& s, double angle,
                         VecRef rate) {
    rate[0] = rows_at(model, w, s, angle).along.head<3>().dot(velocity(model, w, s));
  }
  static Account account(const Model&, const BlockSlot&) { return Account::one_way; }
  static constexpr bool has_mode = true;
  static ModeForm mode_form(const Model& model, const BlockSlot& s) {
    const Runner& r = model.runners[s.index];
    ModeForm form{.kind = ModeForm::Kind::friction};
    form.friction = {
        .rows = 1, .forward = r.friction, .backward = r.scales ? infinity : r.friction};
    return form;
  }
  static std::string label(const Model& model, int slot) {
    return model.runners[model.slots[slot].index].name;
  }
  static Vec6 steering_turn(const Model& model, const Workspace& w, const BlockSlot& s,
                            double angle) {
    return rows_at(model, w, s, angle).across;
  }
};

}  // namespace saltus
