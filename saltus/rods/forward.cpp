// Forward dynamics of a rod: the dense mass matrix, and the nodes of the chain.
#include <Eigen/Cholesky>

#include "saltus/rods/rod.h"

namespace saltus {

void rod_mass(const Rod& rod, RodWork& work, Eigen::Ref<Mat> M) {
  M.setZero();
  work.J_base.setZero();
  work.J_base.leftCols<6>().setIdentity();
  for (std::size_t s = 0; s < rod.segments.size(); ++s) {
    const RodSegment& segment = rod.segments[s];
    const int known = 6 + rod.first[s], all = known + segment.size;  // columns that act here
    for (int i = 0; i <= segment.tip(); ++i) {
      const bool tip = i == segment.tip();
      if (!segment.stations[i].heavy && !tip) continue;
      const SE3 G = generic::pose_of(work.shape[s].pose[i]);
      for (int j = 0; j < known; ++j) work.J.col(j) = twist_to_body(G, work.J_base.col(j));
      work.J.middleCols(known, segment.size) = work.shape[s].columns_at(segment, i);
      const Mat6& I = segment.stations[i].inertia;
      for (int j = 0; j < all && segment.stations[i].heavy; ++j) {
        const Vec6 momentum = I * work.J.col(j);
        for (int k = 0; k <= j; ++k) M(k, j) += work.J.col(k).dot(momentum);
      }
    }
    work.J_base.leftCols(all) = work.J.leftCols(all);
  }
  M.triangularView<Eigen::StrictlyLower>() = M.transpose();
}

void rod_forces(const Rod& rod, const RodState& state, RodWork& work, VecRef h) {
  h.setZero();
  Vec6 beyond = Vec6::Zero();  // what the next segment's base passes on
  for (std::size_t s = rod.segments.size(); s-- > 0;) {
    const RodSegment& segment = rod.segments[s];
    const int n = segment.size;
    auto own = h.segment(6 + rod.first[s], n);
    own.noalias() -= segment.K * state.q.segment(rod.first[s], n);
    own.noalias() -= segment.D * state.v.segment(rod.first[s], n);
    work.wrench[s].back() += beyond;
    beyond.setZero();
    pull_back<double>(segment, work.shape[s], work.wrench[s], own, beyond);
  }
  h.head<6>() = beyond;
}

namespace {

// A node's [A B; B' C] from its stations and what hangs on its tip.
void assemble(const RodSegment& segment, const RodShape& shape, const Mat6& on_tip, RodNode& node) {
  const int n = segment.size;
  node.A.setZero(), node.B.setZero(), node.C.setZero();
  for (int i = 0; i <= segment.tip(); ++i) {
    const bool tip = i == segment.tip();
    if (!segment.stations[i].heavy && !tip) continue;
    const Mat6 I = tip ? Mat6(segment.stations[i].inertia + on_tip) : segment.stations[i].inertia;
    const auto S = shape.columns_at(segment, i);
    const SE3 G = generic::pose_of(shape.pose[i]);
    const Mat6 Ad = adjoint(G.inverse());
    node.A.noalias() += Ad.transpose() * I * Ad;
    for (int j = 0; j < n; ++j) {
      const Vec6 momentum = I * S.col(j);
      node.B.col(j) += wrench_to_parent(G, momentum);
      for (int k = j; k < n; ++k) node.C(k, j) += S.col(k).dot(momentum);
    }
  }
}

}  // namespace

bool rod_articulated(const Rod& rod, const RodState& state, RodWork& work, const Mat6X* base,
                     const Vec6& f_0, Vec6& a, VecRef acceleration) {
  Mat6 hanging = Mat6::Zero();  // articulated inertia and wrench at the tip of what comes next
  Vec6 beyond = Vec6::Zero();
  for (std::size_t s = rod.segments.size(); s-- > 0;) {
    const RodSegment& segment = rod.segments[s];
    const int n = segment.size;
    RodNode& node = work.node[s];
    assemble(segment, work.shape[s], hanging, node);
    work.wrench[s].back() += beyond;
    node.f.setZero();
    node.r.noalias() = -(segment.K * state.q.segment(rod.first[s], n));
    node.r.noalias() -= segment.D * state.v.segment(rod.first[s], n);
    pull_back<double>(segment, work.shape[s], work.wrench[s], node.r, node.f);
    // C = L L': Y = B L^-T, so that A - Y Y' stays symmetric; r <- L^-1 r.
    Eigen::Ref<Mat> C(node.C);
    if (Eigen::LLT<Eigen::Ref<Mat>>(C).info() != Eigen::Success) return false;
    node.Y = node.B;
    node.C.transpose().triangularView<Eigen::Upper>().solveInPlace<Eigen::OnTheRight>(node.Y);
    node.C.triangularView<Eigen::Lower>().solveInPlace(node.r);
    hanging = node.A;
    hanging.noalias() -= node.Y * node.Y.transpose();
    beyond = node.f;
    beyond.noalias() -= node.Y * node.r;
  }
  if (base != nullptr) {
    using Small = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 6, 6>;
    const Small P = *base, locked = P.transpose().lazyProduct(hanging.lazyProduct(P));
    const Vec6 on_base = beyond + f_0;
    a = P.lazyProduct(Eigen::LLT<Small>(locked).solve(P.transpose().lazyProduct(on_base)));
  }
  Vec6 here = a;
  for (std::size_t s = 0; s < rod.segments.size(); ++s) {
    const RodSegment& segment = rod.segments[s];
    RodNode& node = work.node[s];
    auto own = acceleration.segment(rod.first[s], segment.size);
    own = node.r;
    own.noalias() -= node.Y.transpose() * here;
    node.C.transpose().triangularView<Eigen::Upper>().solveInPlace(own);
    const SE3 G = generic::pose_of(work.shape[s].pose[segment.tip()]);
    here = twist_to_body(G, here);
    here.noalias() += work.shape[s].columns_at(segment, segment.tip()) * own;
  }
  return true;
}

}  // namespace saltus
