#include "saltus/contact/rows/families.h"

#include "saltus/contact/rows/cable.h"
#include "saltus/contact/rows/coordinate.h"
#include "saltus/contact/rows/cut.h"
#include "saltus/contact/rows/drag.h"
#include "saltus/contact/rows/gap_contact.h"
#include "saltus/contact/rows/joint_friction.h"
#include "saltus/contact/rows/joint_limit.h"
#include "saltus/contact/rows/motor.h"
#include "saltus/contact/rows/runner.h"
#include "saltus/contact/rows/spring.h"
#include "saltus/contact/rows/support.h"
#include "saltus/contact/rows/wheel.h"

namespace saltus {

namespace {

// The only switch over the families: verb(F) of the family F of a slot.
template <class Verb>
decltype(auto) ask(const BlockSlot& slot, const Verb& verb) {
  switch (slot.kind) {
    case BlockKind::cut_translation: return verb(CutTranslationFamily{});
    case BlockKind::cut_rotation: return verb(CutRotationFamily{});
    case BlockKind::coordinate: return verb(CoordinateFamily{});
    case BlockKind::motor: return verb(MotorFamily{});
    case BlockKind::joint_friction: return verb(JointFrictionFamily{});
    case BlockKind::joint_limit: return verb(JointLimitFamily{});
    case BlockKind::support: return verb(SupportFamily{});
    case BlockKind::edge: return verb(EdgeFamily{});
    case BlockKind::scale: return verb(ScaleFamily{});
    case BlockKind::spring: return verb(SpringFamily{});
    case BlockKind::drag: return verb(DragFamily{});
    case BlockKind::wheel: return verb(WheelFamily{});
    case BlockKind::wheel_plane: return verb(WheelPlaneFamily{});
    case BlockKind::cable: return verb(CableFamily{});
    case BlockKind::gap_contact: break;
  }
  return verb(GapContactFamily{});
}

}  // namespace

int open_rows(const Model& m, const Workspace& w, int slot, const Law& law, double compliance,
              Assembly& out) {
  return ask(m.slots[slot], [&]<class F>(F) { return F::rows(m, w, slot, law, compliance, out); });
}

void open_slot(const Opening& with, int slot) {
  ask(with.model.slots[slot], [&]<class F>(F) { F::open(with, slot); });
}

void set_end_offset(const Opening& with, int block) {
  const BlockSlot& s = with.model.slots[with.out.source[block].slot];
  ask(s, [&]<class F>(F) { F::set_end_offset(with, with.out.blocks[block], s); });
}

void start_rate(const Model& m, const Workspace& w, const BlockSlot& s, double steering,
                VecRef rate) {
  ask(s, [&]<class F>(F) { F::start_rate(m, w, s, steering, rate); });
}

void start_impulse(const Model& m, const Workspace& w, const BlockSlot& s, double dt,
                   const Vec& natural, VecRef impulse, std::vector<Vec6>& wrenches) {
  ask(s, [&]<class F>(F) { F::start_impulse(m, w, s, dt, natural, impulse, wrenches); });
}

Level level_of(const Model& m, const BlockSlot& s) {
  return ask(s, [&]<class F>(F) { return F::level(m, s); });
}

void slot_gaps(const Model& m, const Workspace& w, VecIn q, const std::vector<std::int32_t>& turns,
               const Vec& target, const BlockSlot& s, VecRef gap) {
  ask(s, [&]<class F>(F) { F::gaps(m, w, q, turns, target, s, gap); });
}

double slot_gap(const Model& m, const Workspace& w, VecIn q, const std::vector<std::int32_t>& turns,
                const BlockSlot& s) {
  return ask(s, [&]<class F>(F) { return F::gap(m, w, q, turns, s); });
}

bool is_angular(const Model& m, const BlockSlot& s) {
  return ask(s, [&]<class F>(F) { return F::is_angular(m, s); });
}

Account account_of(const Model& m, const BlockSlot& s) {
  return ask(s, [&]<class F>(F) { return F::account(m, s); });
}

Account account_of(const Model& m, const BlockSource& from) {
  return from.slot < 0 ? Account::contact : account_of(m, m.slots[from.slot]);
}

ModeForm mode_form(const Model& m, const BlockSlot& s) {
  return ask(s, [&]<class F>(F) { return F::mode_form(m, s); });
}

bool has_mode(const BlockSlot& s) {
  return ask(s, []<class F>(F) { return F::has_mode; });
}

double dynamic_share(const Model& m, const BlockSlot& s) {
  return ask(s, [&]<class F>(F) { return F::dynamic_share(m, s); });
}

std::string label_of(const Model& m, int slot) {
  return ask(m.slots[slot], [&]<class F>(F) { return F::label(m, slot); });
}

bool touch_of(const Model& m, const State& state, const Assembly& rows, const BlockSlot& s,
              Touch& out) {
  return ask(s, [&]<class F>(F) { return F::touch(m, state, rows, s, out); });
}

int runner_of(const BlockSlot& s) {
  return ask(s, [&]<class F>(F) { return F::runner(s); });
}

Vec6 steering_turn(const Model& m, const Workspace& w, const BlockSlot& s, double angle) {
  return ask(s, [&]<class F>(F) { return F::steering_turn(m, w, s, angle); });
}

}  // namespace saltus
