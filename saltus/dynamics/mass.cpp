#include "saltus/dynamics/mass.h"

namespace saltus {

ForestShape forest_shape(const Model& model) {
  ForestShape s;
  for (int i = 0; i < model.body_count(); ++i) {
    const Body& b = model.bodies[i];
    s.parent.push_back(b.parent.value);
    s.first.push_back(b.v0);
    s.dim.push_back(b.nv);
    s.tree.push_back(model.tree[i]);
    s.stations.push_back(b.station == 0 ? b.stations : 0);
  }
  s.tree_begin = model.tree_begin;
  s.unknown_begin = model.tree_v;
  s.unknowns = model.nv;
  s.planar = model.planar;
  return s;
}

namespace {

// A body's inertia in inertial axes: every 3 x 3 block turned.
Mat6 turned(const Mat3& R, const Mat6& I) {
  Mat6 A;
  A.topLeftCorner<3, 3>().noalias() = R * I.topLeftCorner<3, 3>() * R.transpose();
  A.topRightCorner<3, 3>().noalias() = R * I.topRightCorner<3, 3>() * R.transpose();
  A.bottomRightCorner<3, 3>().noalias() = R * I.bottomRightCorner<3, 3>() * R.transpose();
  A.bottomLeftCorner<3, 3>() = A.topRightCorner<3, 3>().transpose();
  return A;
}

}  // namespace

void load_mass(const Workspace& w, VecIn extra, Forest& forest, const Mat6* gain) {
  const Plan& plan = *w.plan;
  for (std::size_t i = 0; i < plan.inertia.size(); ++i) {
    if (w.idle[i]) {
      forest.set_idle(static_cast<int>(i));
      continue;
    }
    const Link& b = plan.links[i + 1];
    const Mat6& I = plan.inertia[i];
    const Mat3& R = w.X[i].R;
    const Vec3 shift = b.parent > 0 ? Vec3(w.X[i].r - w.X[b.parent - 1].r) : Vec3::Zero();
    const int node = static_cast<int>(i);
    forest.set_node(node, shift, turned(R, gain ? Mat6(I + gain[i]) : I));
    for (int c = 0; c < b.nv; ++c) {
      const int k = b.v0 + c;
      const auto S = w.S.col(b.s0 + c);
      forest.set_column(node, c, join(R * S.head<3>(), R * S.tail<3>()));
      if (b.station == 0) forest.set_diagonal(k, plan.armature[k] + extra[k]);
      // Held once all of its columns are given.
      if (plan.held[k] && b.station == b.stations - 1) forest.hold(k);
    }
  }
}

int without_inertia(const Model& model, Forest& forest) {
  if (!forest.factor()) return forest.culprit();
  // What elimination leaves of an entry is a sum whose terms are at most the entry itself, so that
  // below this share of it nothing is known.
  constexpr double rounding = 1e-14;
  constexpr int most_velocities = 60;
  Mat M;
  for (int t = 0; t + 1 < static_cast<int>(model.tree_v.size()); ++t) {
    const int first = model.tree_v[t], n = model.tree_v[t + 1] - first;
    if (n == 0 || n > most_velocities) continue;
    M.resize(n, n);
    forest.dense(t, M);
    const Vec own = M.diagonal();
    for (int k = n - 1; k >= 0; --k) {
      if (model.prescribed[first + k]) continue;
      if (!(M(k, k) > rounding * own[k])) return first + k;
      M.topLeftCorner(k, k) -= (M.col(k).head(k) / M(k, k)) * M.row(k).head(k);
    }
  }
  return -1;
}

}  // namespace saltus
