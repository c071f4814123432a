// The stress along a rod, P4 eq. 33 from the tip.
#include <algorithm>

#include "saltus/rods/gauss.h"
#include "saltus/rods/statics.h"

namespace saltus {

namespace {

// Weight less inertia of an inertia I with the pose X in the world, moving at V with dV/dt = A.
Vec6 load_less_inertia(const Mat6& I, const SE3& X, const Vec6& V, const Vec6& A, const Vec3& g) {
  return I * (join(X.R.transpose() * g, Vec3::Zero()) - A) - dual_bracket(V, I * V);
}

}  // namespace

Vec6 internal_wrench(const Rod& rod, const RodState& state, const RodLoads& loads,
                     const RodWork& work, const Vec6& a, VecIn acceleration, int segment,
                     double X) {
  Vec6 sum = Vec6::Zero(), a_base = a, at_base = a;  // sum: in the world, about its origin
  const auto count = static_cast<int>(rod.segments.size());
  const RodSegment& cut = rod.segments[segment];
  const double cell_end = *std::lower_bound(cut.cells.begin() + 1, cut.cells.end() - 1, X);
  for (int s = 0; s < count; ++s) {
    const RodSegment& here = rod.segments[s];
    const auto own = acceleration.segment(rod.first[s], here.size);
    if (s == segment) at_base = a_base;
    for (int i = 0; i <= here.tip(); ++i) {
      const bool beyond = s > segment || (s == segment && here.stations[i].X > cell_end);
      if (!beyond || !here.stations[i].heavy) continue;
      const Vec6 A = twist_to_body(generic::pose_of(work.shape[s].pose[i]), a_base) +
                     work.shape[s].columns_at(here, i) * own + work.beta[s][i];
      const SE3 pose = rod_pose(work, s, i);
      sum += wrench_to_parent(pose, load_less_inertia(here.stations[i].inertia, pose,
                                                      work.twist[s][i], A, loads.gravity));
    }
    a_base = twist_to_body(generic::pose_of(work.shape[s].pose[here.tip()]), a_base) +
             work.shape[s].columns_at(here, here.tip()) * own;
  }
  const SE3 tip = rod_tip(rod, work);
  sum += wrench_to_parent(tip, loads.tip_follower + join(tip.R.transpose() * loads.tip_force,
                                                         tip.R.transpose() * loads.tip_moment));
  const auto q = state.q.segment(rod.first[segment], cut.size);
  const Vec v = state.v.segment(rod.first[segment], cut.size);
  const auto own = acceleration.segment(rod.first[segment], cut.size);
  const RodShape& shape = work.shape[segment];
  // Of the cut segment's base: twist, and rate at constant rates of the unknowns.
  const Vec6 V_base = work.twist[segment].front(), beta_base = work.beta[segment].front();
  RodPlace spot;
  for (const GaussPoint& p : gauss_points(cut.spec.points)) {
    const double at = X + p.x * (cell_end - X);
    place(cut, point_at(cut, at), q, &v, shape, spot);
    const Vec6 carried = twist_to_body(spot.pose, V_base), V = carried + spot.twist;
    const Vec6 A = twist_to_body(spot.pose, at_base + beta_base) - bracket(spot.twist, carried) +
                   spot.bias + spot.S * own;
    const SE3 pose = work.base[segment] * spot.pose;
    const Mat6 I = p.weight * (cell_end - X) * properties_at(cut.spec, at).inertia;
    sum += wrench_to_parent(pose, load_less_inertia(I, pose, V, A, loads.gravity));
  }
  place(cut, point_at(cut, X), q, &v, shape, spot);
  return wrench_to_body(work.base[segment] * spot.pose, sum);
}

}  // namespace saltus
