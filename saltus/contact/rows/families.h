// Row families: what a model's slots (model/model.h, BlockSlot) are to those who step, correct,
// book and record them. A family is one file beside this one and answers the same few verbs; the
// functions below ask it (families.cpp, the one place that looks at a slot's BlockKind).
#pragma once
#include <string>

#include "saltus/contact/assembly.h"

namespace saltus {

// What a step of time stepping knows where it opens rows.
struct Opening {
  const Model& model;
  const State& state;
  const std::vector<CoordinateTerms>& terms;
  double dt;
  const Workspace& work;  // forward_kinematics at the mid-point
  Assembly& out;
};

// Whose work a block does, and so where the ledger and an impact's record enter it.
enum class Account : unsigned char {
  none,      // booked elsewhere: inertia, springs and dampers of a cut coordinate
  contact,   // the first row is a normal, the others are friction
  friction,  // at a place, under a given load
  dry,       // friction in a joint
  limit,     // of a joint
  joint,     // bilateral
  cut,       // bilateral: in exact motion without work
  one_way,   // pushes like a contact, and against the motion like friction
  drive,     // prescribed motion; the slot's index is its coordinate
  motor,
  spring,  // the slot's index is its spring
  damper,
  cable,  // a spring that pulls only; the slot's index is its cable
};

// What a slot keeps at the level of positions.
enum class Level : unsigned char {
  none,
  joint,    // gaps of all rows vanish
  limit,    // the gap is not negative
  contact,  // nor here; and while loaded it is closed
};

// One convex set of friction of an element.
struct FrictionForm {
  int first = 0, rows = 0;  // within the slot's; no rows: none
  // Largest force against slip forwards, backwards (row 1) and sideways (row 2) [N], or per newton
  // of normal force [-].
  double forward = 0, backward = 0, lateral = 0;
  double dynamic = 1;   // share of them that is left while it slips
  bool scaled = false;  // by the normal force
  SlipRule rule = SlipRule::normal_cone;
};

// What a slot is to an integrator that knows modes.
struct ModeForm {
  enum class Kind : unsigned char {
    smooth,     // a force: no rows
    bilateral,  // rows that are always kept
    normal,     // one row that is closed or open, and friction that scales with it
    friction,   // alone
  };
  Kind kind = Kind::smooth;
  double compliance = 0;  // of a bilateral row [1/kg] or [1/(kg m^2)]
  double restitution = 0;
  FrictionForm friction{};
};

// A slot that acts at a place, as runs record it beside the contacts of shapes.
struct Touch {
  BodyIndex body;
  Vec3 point = Vec3::Zero(), normal = Vec3::UnitZ();  // inertial
  Vec3 impulse = Vec3::Zero();                        // [N s]
  double load = 0;                                    // [N]
};

// Opens a block of `law` on a slot's rows at a configuration; needs forward_kinematics, of runners
// Assembly::steering too. Returns its first row.
int open_rows(const Model& model, const Workspace& work, int slot, const Law& law,
              double compliance, Assembly& out);
// Opens what of a slot may act in a step, under its law and with its impulses of the last step.
void open_slot(const Opening& with, int slot);
// Of a block that is open, and its gamma_S known: the offsets that belong to the end of the step.
void set_end_offset(const Opening& with, int block);
// The rates of a slot's rows at a configuration and velocity, where a step's end offsets need them:
// of cuts and runners. `steering` is the runner's angle.
void start_rate(const Model& model, const Workspace& work, const BlockSlot& slot, double steering,
                VecRef rate);
// The impulses [N s] of a slot that acts by a force at the start velocity, over dt, added to the
// wrenches on bodies (inertial axes at their origins). `natural` are lengths of the springs.
void start_impulse(const Model& model, const Workspace& work, const BlockSlot& slot, double dt,
                   const Vec& natural, VecRef impulse, std::vector<Vec6>& wrenches);

// Gaps of a slot that keeps any [m] or [rad]; `target` are values of prescribed coordinates.
[[nodiscard]] Level level_of(const Model& model, const BlockSlot& slot);
void slot_gaps(const Model& model, const Workspace& work, VecIn q,
               const std::vector<std::int32_t>& turns, const Vec& target, const BlockSlot& slot,
               VecRef gap);
// Of a limit or contact.
[[nodiscard]] double slot_gap(const Model& model, const Workspace& work, VecIn q,
                              const std::vector<std::int32_t>& turns, const BlockSlot& slot);
// Whether its rows are rad, not m.
[[nodiscard]] bool is_angular(const Model& model, const BlockSlot& slot);

[[nodiscard]] Account account_of(const Model& model, const BlockSlot& slot);
[[nodiscard]] Account account_of(const Model& model, const BlockSource& source);

[[nodiscard]] ModeForm mode_form(const Model& model, const BlockSlot& slot);
// Whether a slot has a mode that is recorded; joints, edges and springs always hold.
[[nodiscard]] bool has_mode(const BlockSlot& slot);
// What is left of a slot's friction while it slides, mu_d / mu_s.
[[nodiscard]] double dynamic_share(const Model& model, const BlockSlot& slot);
// What to call a slot in a diagram of modes; Model::name_of says it in a sentence.
[[nodiscard]] std::string label_of(const Model& model, int slot);
// False: no such place.
[[nodiscard]] bool touch_of(const Model& model, const State& state, const Assembly& rows,
                            const BlockSlot& slot, Touch& touch);

// The runner that a slot is a row of, or -1; and how the row's wrench turns with its angle.
[[nodiscard]] int runner_of(const BlockSlot& slot);
[[nodiscard]] Vec6 steering_turn(const Model& model, const Workspace& work, const BlockSlot& slot,
                                 double angle);

}  // namespace saltus
