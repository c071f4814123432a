#include "saltus/rods/rod.h"

#include <fmt/format.h>

#include "saltus/base/error.h"

namespace saltus {

Rod make_rod(const std::vector<SegmentSpec>& segments, const std::string& path) {
  if (segments.empty()) throw InputError(path + ".segments", "expected at least one segment");
  Rod rod;
  for (std::size_t s = 0; s < segments.size(); ++s) {
    rod.segments.push_back(make_segment(segments[s], fmt::format("{}.segments[{}]", path, s)));
    rod.first.push_back(rod.size);
    rod.size += rod.segments.back().size;
  }
  return rod;
}

void RodWork::resize(const Rod& rod) {
  const std::size_t count = rod.segments.size();
  shape.resize(count);
  base.resize(count);
  node.resize(count);
  for (auto* list : {&twist, &beta, &wrench}) list->resize(count);
  for (std::size_t s = 0; s < count; ++s) {
    const RodSegment& segment = rod.segments[s];
    shape[s].resize(segment);
    for (auto* list : {&twist, &beta, &wrench}) (*list)[s].resize(segment.stations.size());
    const int n = segment.size;
    node[s].B.resize(6, n), node[s].Y.resize(6, n), node[s].C.resize(n, n), node[s].r.resize(n);
  }
  J_base.resize(6, 6 + rod.size);
  J.resize(6, 6 + rod.size);
}

SE3 rod_pose(const RodWork& work, int segment, int station) {
  return work.base[segment] * generic::pose_of(work.shape[segment].pose[station]);
}

SE3 rod_tip(const Rod& rod, const RodWork& work) {
  const int last = static_cast<int>(rod.segments.size()) - 1;
  return rod_pose(work, last, rod.segments[last].tip());
}

void rod_motion(const Rod& rod, const RodState& state, RodWork& work) {
  SE3 base = state.base;
  Vec6 V_base = state.V, beta_base = Vec6::Zero();
  for (std::size_t s = 0; s < rod.segments.size(); ++s) {
    const RodSegment& segment = rod.segments[s];
    RodShape& shape = work.shape[s];
    reconstruct<double>(segment, state.q.segment(rod.first[s], segment.size), shape);
    columns(segment, shape);
    rates<double>(segment, state.v.segment(rod.first[s], segment.size), shape);
    work.base[s] = base;
    for (std::size_t i = 0; i < segment.stations.size(); ++i) {
      const SE3 G = generic::pose_of(shape.pose[i]);
      const Vec6 carried = twist_to_body(G, V_base);
      work.twist[s][i] = carried + shape.twist[i];
      work.beta[s][i] =
          twist_to_body(G, beta_base) - bracket(shape.twist[i], carried) + shape.bias[i];
    }
    base = rod_pose(work, static_cast<int>(s), segment.tip());
    V_base = work.twist[s].back();
    beta_base = work.beta[s].back();
  }
}

void rod_wrenches(const Rod& rod, const RodLoads& loads, RodWork& work) {
  for (std::size_t s = 0; s < rod.segments.size(); ++s) {
    const RodSegment& segment = rod.segments[s];
    for (std::size_t i = 0; i < segment.stations.size(); ++i) {
      Vec6& F = work.wrench[s][i];
      F.setZero();
      if (!segment.stations[i].heavy) continue;
      const Mat6& I = segment.stations[i].inertia;
      const Vec6& V = work.twist[s][i];
      const Vec3 g = (work.base[s].R * work.shape[s].pose[i].R).transpose() * loads.gravity;
      F = I * (join(g, Vec3::Zero()) - work.beta[s][i]) - dual_bracket(V, I * V);
    }
  }
  const Mat3 back = rod_tip(rod, work).R.transpose();
  work.wrench.back().back() +=
      join(back * loads.tip_force, back * loads.tip_moment) + loads.tip_follower;
}

RodEnergy rod_energy(const Rod& rod, const RodState& state, const RodWork& work,
                     const Vec3& gravity) {
  RodEnergy energy;
  for (std::size_t s = 0; s < rod.segments.size(); ++s) {
    const RodSegment& segment = rod.segments[s];
    const auto q = state.q.segment(rod.first[s], segment.size);
    energy.elastic += 0.5 * q.dot(segment.K * q);
    for (std::size_t i = 0; i < segment.stations.size(); ++i) {
      if (!segment.stations[i].heavy) continue;
      const Mat6& I = segment.stations[i].inertia;
      const Vec6& V = work.twist[s][i];
      energy.kinetic += 0.5 * V.dot(I * V);
      const SE3 X = rod_pose(work, static_cast<int>(s), static_cast<int>(i));
      const Vec3 first(I(5, 1), I(3, 2), I(4, 0));  // m hat(c): m (c_x, c_y, c_z)
      energy.gravity -= gravity.dot(I(0, 0) * X.r + X.R * first);
    }
  }
  return energy;
}

Vec6 rod_momentum(const Rod& rod, const RodWork& work) {
  Vec6 sum = Vec6::Zero();
  for (std::size_t s = 0; s < rod.segments.size(); ++s) {
    const RodSegment& segment = rod.segments[s];
    for (std::size_t i = 0; i < segment.stations.size(); ++i) {
      if (!segment.stations[i].heavy) continue;
      sum += wrench_to_parent(rod_pose(work, static_cast<int>(s), static_cast<int>(i)),
                              segment.stations[i].inertia * work.twist[s][i]);
    }
  }
  return sum;
}

}  // namespace saltus
