// The shape of a segment from its coefficients, seen from its base (P4 eq. 29, 34, 36, discrete).
//
//   G_(k+1) = G_k E_k,   E_k = exp(Omega_k(q))                        poses, lie/magnus.h
//   S_(k+1) = Ad(E_k)^-1 S_k + dexp(Omega_k) dOmega_k/dq              columns: body twist = S dq/dt
//   the same for twists, and for their rates at constant dq/dt: the bias (dS/dt) dq/dt.
//
// These are the exact derivatives of the discrete poses, not a discretisation of the continuous
// ones. Templates on the scalar: double, and complex<double> for complex steps. Nothing allocates
// once `resize` was called.
#pragma once
#include <complex>

#include "saltus/lie/magnus.h"
#include "saltus/rods/segment.h"

namespace saltus {

template <class T>
struct RodShapeOf {
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  using In = const Eigen::Ref<const Vector>&;
  // Stations beyond the tip (SegmentSpec::touches), put by their users; one that is idle stands at
  // the base and nothing moves it.
  std::vector<RodPoint> touch;
  std::vector<MagnusStep<T>> steps;            // then those of touches that are not idle
                                               // <- reconstruct
  std::vector<generic::Pose<T>> pose;          // by station, in the base's frame
  Eigen::Matrix<T, 6, Eigen::Dynamic> S;       // <- columns: `size` for each station
  std::vector<generic::Twist<T>> twist, bias;  // <- rates: S v and (dS/dt) v, body frames
  void resize(const RodSegment& segment);
  [[nodiscard]] auto columns_at(const RodSegment& s, int station) const {
    return S.middleCols(station * s.size, s.size);
  }
};
using RodShape = RodShapeOf<double>;

template <class T>
void reconstruct(const RodSegment& segment, typename RodShapeOf<T>::In q, RodShapeOf<T>& shape);
template <class T>
void columns(const RodSegment& segment, RodShapeOf<T>& shape);  // needs reconstruct
template <class T>
void rates(const RodSegment& segment, typename RodShapeOf<T>::In v,
           RodShapeOf<T>& shape);  // likewise

// tau += sum_i S_i' F_i and base += the wrenches' sum at the base, in its frame: O(entries),
// without columns. F: one a station, body frame. Needs reconstruct.
template <class T>
void pull_back(const RodSegment& segment, RodShapeOf<T>& shape,
               const std::vector<generic::Twist<T>>& F,
               Eigen::Ref<typename RodShapeOf<T>::Vector> tau, generic::Twist<T>& base);

// The pose of a place between stations in the base's frame. Needs reconstruct.
[[nodiscard]] generic::Pose<double> pose_at(const RodPoint& point, VecIn q, const RodShape& shape);

// At a place between stations: its pose, columns, and (dS/dt) v where the rates are there.
struct RodPlace {
  SE3 pose;
  Mat6X S;
  Vec6 twist = Vec6::Zero(), bias = Vec6::Zero();
};
// Needs reconstruct and columns of the shape at q; rates too if v is given.
void place(const RodSegment& segment, const RodPoint& point, VecIn q, const Vec* v,
           const RodShape& shape, RodPlace& place);

}  // namespace saltus
