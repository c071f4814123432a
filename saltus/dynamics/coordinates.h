// Scalar joint coordinates, the same for tree joints and cut ones: value, rate and the row that
// turns v into the rate. All need forward_kinematics (rows: world_columns).
#pragma once
#include "saltus/dynamics/workspace.h"

namespace saltus {

// [rad] or [m]; a cut revolute joint counts full turns by `turns`.
[[nodiscard]] double coordinate_value(const Model& model, const Workspace& work, VecIn q,
                                      const std::vector<std::int32_t>& turns, CoordinateIndex c);
[[nodiscard]] double coordinate_rate(const Model& model, const Workspace& work, VecIn v,
                                     CoordinateIndex c);
// column += row of the coordinate.
void add_coordinate_row(const Model& model, const Workspace& work, CoordinateIndex c,
                        VecRef column);

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
// Adds the rows of the gaps' rates; `columns` has one column a row.
void add_cut_translation_rows(const Model& model, const Workspace& work, const Cut& cut,
                              Eigen::Ref<Mat> columns);
void add_cut_rotation_rows(const Model& model, const Workspace& work, const Cut& cut,
                           Eigen::Ref<Mat> columns);

// Counts the turns of cut revolute joints: keeps coordinate_value continuous from `before`.
void update_turns(const Model& model, const Workspace& work, VecIn q, VecIn before,
                  std::vector<std::int32_t>& turns);

}  // namespace saltus
