// Scalar joint coordinates, the same for tree joints and cut ones: value, rate and the row that
// turns v into the rate. All need forward_kinematics.
#pragma once
#include "saltus/dynamics/workspace.h"

namespace saltus {

// [rad] or [m]; a cut revolute joint counts full turns by `turns`.
[[nodiscard]] double coordinate_value(const Model& model, const Workspace& work, VecIn q,
                                      const std::vector<std::int32_t>& turns, CoordinateIndex c);
[[nodiscard]] double coordinate_rate(const Model& model, const Workspace& work, VecIn v,
                                     CoordinateIndex c);
// The row of a coordinate: one velocity of the tree, or a wrench (about the inertial origin) on the
// child and its reverse on the parent.
struct CoordinateRow {
  int velocity = -1;
  int parent = -1, child = -1;
  Vec6 wrench = Vec6::Zero();
};
[[nodiscard]] CoordinateRow coordinate_row(const Model& model, const Workspace& work,
                                           CoordinateIndex c);

// Where the joint's two frames are, inertial frame.
struct CutFrames {
  SE3 parent, child;
};
[[nodiscard]] CutFrames cut_frames(const Model& model, const Workspace& work, const Cut& cut);

// Gaps of a cut (P0 eq. 12): translation rows in the parent joint frame, rotation rows.
void cut_translation_gap(const Model& model, const Workspace& work, const Cut& cut, VecRef gap);
void cut_rotation_gap(const Model& model, const Workspace& work, const Cut& cut, VecRef gap);
// Rates of the gaps at the velocities of the last forward_kinematics.
void cut_translation_rate(const Model& model, const Workspace& work, const Cut& cut, VecRef rate);
void cut_rotation_rate(const Model& model, const Workspace& work, const Cut& cut, VecRef rate);
// Wrenches (about the inertial origin, on the child; reversed on the parent) of the gaps' rates,
// one column a row.
void cut_translation_wrenches(const Model& model, const Workspace& work, const Cut& cut,
                              Columns6& wrenches);
void cut_rotation_wrenches(const Model& model, const Workspace& work, const Cut& cut,
                           Columns6& wrenches);

// Counts the turns of cut revolute joints: keeps coordinate_value continuous from `before`.
void update_turns(const Model& model, const Workspace& work, VecIn q, VecIn before,
                  std::vector<std::int32_t>& turns);

}  // namespace saltus
