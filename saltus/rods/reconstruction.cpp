#include "saltus/rods/reconstruction.h"

#include <span>

namespace saltus {

namespace {

using generic::Pose;
using generic::Twist;

std::span<const RodEntry> entries_of(const RodSegment& s, const RodStep& step) {
  return {s.entries.data() + step.begin, s.entries.data() + step.end};
}

// xi at the two points: `x1`, `x2` += the entries' part for the coefficients q.
template <class T>
void add_strains(std::span<const RodEntry> entries, typename RodShapeOf<T>::In q, Twist<T>& x1,
                 Twist<T>& x2) {
  for (const RodEntry& e : entries) {
    x1[e.component] += e.first * q[e.coefficient];
    x2[e.component] += e.second * q[e.coefficient];
  }
}

template <class T>
MagnusStep<T> make_map(const RodStep& step, std::span<const RodEntry> entries,
                       typename RodShapeOf<T>::In q) {
  Twist<T> x1 = step.rest1.cast<T>(), x2 = step.rest2.cast<T>();
  add_strains<T>(entries, q, x1, x2);
  return {step.h, x1, x2};
}

// S_after = Ad(E)^-1 S_before + dexp(Omega) dOmega/dq.
template <class T, class Before, class After>
void step_columns(const MagnusStep<T>& map, std::span<const RodEntry> entries, const Before& before,
                  After&& after) {
  for (Eigen::Index j = 0; j < before.cols(); ++j) {
    after.col(j) = generic::twist_to_body<T>(map.pose, before.col(j));
  }
  for (const RodEntry& e : entries) {
    const Twist<T> unit = Twist<T>::Unit(e.component);
    after.col(e.coefficient) += map.twist(map.rate(e.first * unit, e.second * unit));
  }
}

// Twist V and its rate A across a step, at constant dq/dt = v.
template <class T>
void step_rates(const MagnusStep<T>& map, std::span<const RodEntry> entries,
                typename RodShapeOf<T>::In v, Twist<T>& V, Twist<T>& A) {
  Twist<T> d1 = Twist<T>::Zero(), d2 = d1;
  add_strains<T>(entries, v, d1, d2);
  const Twist<T> omega = map.rate(d1, d2), own = map.twist(omega);
  const Twist<T> moved = generic::twist_to_body<T>(map.pose, V);
  A = generic::twist_to_body<T>(map.pose, A) - generic::bracket<T>(own, moved) +
      map.bias(omega, d1, d2);
  V = moved + own;
}

}  // namespace

template <class T>
void RodShapeOf<T>::resize(const RodSegment& segment) {
  const auto touches = static_cast<std::size_t>(segment.spec.touches);
  const std::size_t count = segment.stations.size() + touches;
  touch.resize(touches);
  for (RodPoint& point : touch) {  // whatever comes, it will not allocate
    put_point(segment, 0, point);
    point.X = -1;
  }
  steps.reserve(count);
  pose.resize(count);
  twist.assign(count, generic::Twist<T>::Zero());
  bias.assign(count, generic::Twist<T>::Zero());
  S.setZero(6, segment.size * static_cast<Eigen::Index>(count));
}

template <class T>
void reconstruct(const RodSegment& segment, typename RodShapeOf<T>::In q, RodShapeOf<T>& shape) {
  shape.steps.clear();
  shape.pose[0] = {};
  for (std::size_t k = 0; k < segment.steps.size(); ++k) {
    const RodStep& step = segment.steps[k];
    shape.steps.push_back(make_map<T>(step, entries_of(segment, step), q));
    shape.pose[k + 1] = shape.pose[k] * shape.steps[k].pose;
  }
  for (std::size_t j = 0; j < shape.touch.size(); ++j) {
    const RodPoint& point = shape.touch[j];
    generic::Pose<T>& pose = shape.pose[segment.stations.size() + j];
    pose = {};
    if (point.idle()) continue;
    shape.steps.push_back(make_map<T>(point.step, point.entries, q));
    pose = shape.pose[point.station] * shape.steps.back().pose;
  }
}

template <class T>
void columns(const RodSegment& segment, RodShapeOf<T>& shape) {
  const int n = segment.size;
  shape.S.leftCols(n).setZero();
  for (std::size_t k = 0; k < segment.steps.size(); ++k) {
    const auto from = static_cast<Eigen::Index>(k) * n;
    step_columns<T>(shape.steps[k], entries_of(segment, segment.steps[k]),
                    shape.S.middleCols(from, n), shape.S.middleCols(from + n, n));
  }
  std::size_t k = segment.steps.size();
  for (std::size_t j = 0; j < shape.touch.size(); ++j) {
    const RodPoint& point = shape.touch[j];
    auto own = shape.S.middleCols(static_cast<Eigen::Index>(segment.stations.size() + j) * n, n);
    if (point.idle())
      own.setZero();
    else
      step_columns<T>(shape.steps[k++], point.entries, shape.columns_at(segment, point.station),
                      own);
  }
}

template <class T>
void rates(const RodSegment& segment, typename RodShapeOf<T>::In v, RodShapeOf<T>& shape) {
  Twist<T> V = Twist<T>::Zero(), A = V;
  shape.twist[0] = shape.bias[0] = V;
  for (std::size_t k = 0; k < segment.steps.size(); ++k) {
    step_rates<T>(shape.steps[k], entries_of(segment, segment.steps[k]), v, V, A);
    shape.twist[k + 1] = V;
    shape.bias[k + 1] = A;
  }
  std::size_t k = segment.steps.size();
  for (std::size_t j = 0; j < shape.touch.size(); ++j) {
    const RodPoint& point = shape.touch[j];
    V = A = Twist<T>::Zero();
    if (!point.idle()) {
      V = shape.twist[point.station];
      A = shape.bias[point.station];
      step_rates<T>(shape.steps[k++], point.entries, v, V, A);
    }
    shape.twist[segment.stations.size() + j] = V;
    shape.bias[segment.stations.size() + j] = A;
  }
}

template <class T>
void pull_back(const RodSegment& segment, RodShapeOf<T>& shape, const std::vector<Twist<T>>& F,
               Eigen::Ref<typename RodShapeOf<T>::Vector> tau, Twist<T>& base) {
  Twist<T> sum = Twist<T>::Zero(), f1,
           f2;  // of the wrenches from here to the tip, at station k + 1
  for (std::size_t k = segment.steps.size(); k-- > 0;) {
    sum += F[k + 1];
    shape.steps[k].pull_back(sum, f1, f2);
    for (const RodEntry& e : entries_of(segment, segment.steps[k])) {
      tau[e.coefficient] += e.first * f1[e.component] + e.second * f2[e.component];
    }
    sum = generic::wrench_to_parent<T>(shape.steps[k].pose, sum);
  }
  base += sum + F[0];
}

generic::Pose<double> pose_at(const RodPoint& point, VecIn q, const RodShape& shape) {
  return shape.pose[point.station] * make_map<double>(point.step, point.entries, q).pose;
}

void place(const RodSegment& segment, const RodPoint& point, VecIn q, const Vec* v,
           const RodShape& shape, RodPlace& place) {
  const std::span<const RodEntry> entries(point.entries);
  const MagnusStep<double> map = make_map<double>(point.step, entries, q);
  place.pose = generic::pose_of(shape.pose[point.station] * map.pose);
  place.S.resize(6, segment.size);
  step_columns<double>(map, entries, shape.columns_at(segment, point.station), place.S);
  if (v == nullptr) return;
  place.twist = shape.twist[point.station];
  place.bias = shape.bias[point.station];
  step_rates<double>(map, entries, *v, place.twist, place.bias);
}

template <typename T>
using Twists = std::vector<Twist<T>>;

#define SALTUS_INSTANTIATE(T)                                                                  \
  template struct RodShapeOf<T>;                                                               \
  template void reconstruct<T>(const RodSegment&, typename RodShapeOf<T>::In, RodShapeOf<T>&); \
  template void columns<T>(const RodSegment&, RodShapeOf<T>&);                                 \
  template void rates<T>(const RodSegment&, typename RodShapeOf<T>::In, RodShapeOf<T>&);       \
  template void pull_back<T>(const RodSegment&, RodShapeOf<T>&, const Twists<T>&,              \
                             Eigen::Ref<typename RodShapeOf<T>::Vector>, Twist<T>&);
SALTUS_INSTANTIATE(double)
SALTUS_INSTANTIATE(std::complex<double>)
#undef SALTUS_INSTANTIATE

}  // namespace saltus
