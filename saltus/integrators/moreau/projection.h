// Removal of drift at position level, after a step.
//
//   mass        the smallest displacement in the metric of the mass matrix that closes joints and
//               opens penetrations: internal corrections then keep the centre of mass where it is,
//               and sticking contact points stay where they are.
//   root-fixed  P0 as printed: rates of joints vanish at the mid-point (eq. 62), which opens them
//               by O(dt^2) a step; then (section VI-C) orientations and the first body are kept and
//               the others moved so that joints close. It drags the centre of mass along: an O(dt)
//               error. It cannot close loops.
//   none
// The correction never feeds the velocity.
#pragma once
#include <string_view>

#include "saltus/contact/mechanics.h"
#include "saltus/solvers/solve.h"

namespace saltus {

enum class Projection { mass, root_fixed, none };

struct ProjectionReport {
  double raw_penetration = 0, penetration = 0;  // before and after [m]
  double raw_joint_gap = 0, joint_gap = 0;      // [m]; rotations times the length scale
  int iterations = 0;
  Place deepest;  // where the largest penetration is after the correction
};

// A held contact is closed from both sides, but one that pulls by more than this many times what
// would close the largest gap on its own is in the way of another: two points of a leg a millimetre
// apart, one held and the other in the ground, would turn the leg by a radian.
inline constexpr double most_pull = 100;

// A contact that carried load and did not part: held closed and, where it stuck, in place.
struct HeldContact {
  ContactKey key;  // of shapes; of a gap contact {-1, its slot, 0}
  int block = -1;  // of the step's assembly
  bool sticking = false;
};

// The rows of a step at its mid-point, opened and factored in the mechanics: what holds its own
// contacts closed by them need not factor anew.
struct StepRows {
  const Assembly& rows;
  const Islands& islands;
  std::vector<IslandProblem>& problems;
};

struct ProjectionWorkspace {
  explicit ProjectionWorkspace(const Model& model);
  Assembly assembly;
  Islands islands;
  std::vector<IslandProblem> problems;
  Vec zero, displacement, before;
  std::vector<HeldContact> held;  // sorted by key; from the step
  std::vector<int> slots;         // whose gaps are corrected, all but Level::none
  Vec target;                     // prescribed cut coordinates: r(t_E), per coordinate
  // Of a round by the step's rows: what each of its blocks has to close, and by which impulses.
  struct HeldGap {
    int rows = 0;    // 0: not held
    double gap = 0;  // [m]
  };
  std::vector<HeldGap> gaps;  // per block of the step
  Vec impulse;                // per row of the step
};

// Corrects q in place. `work` holds the kinematics at the given q and returns with those of the
// corrected q; v is only passed through to the kinematics. `step`: where a step was before.
ProjectionReport project(const Model& model, Projection kind, VecRef q, VecIn v,
                         const std::vector<std::int32_t>& turns, Workspace& work, Mechanics& mech,
                         ContactFinder& finder, ProjectionWorkspace& scratch,
                         const StepRows* step = nullptr);

// The velocity nearest to v, in the metric of the mass matrix at q (the last place()), at which the
// joints of the cuts keep still: it can only lose kinetic energy. An impact leaves them a rate of
// O(dt dv), on which they would work in the next step. `twists` is scratch, of the bodies.
void still_joints(const Model& model, VecIn q, VecRef v, const std::vector<std::int32_t>& turns,
                  Workspace& work, Mechanics& mech, ContactFinder& finder,
                  std::vector<Vec6>& twists, ProjectionWorkspace& scratch);

// Closes the joints of the cuts alone, by the same smallest displacement; contacts and limits are
// left as they are.
ProjectionReport close_joints(const Model& model, VecRef q, VecIn v,
                              const std::vector<std::int32_t>& turns, Workspace& work,
                              Mechanics& mech, ContactFinder& finder, ProjectionWorkspace& scratch);

}  // namespace saltus
