// A joint in inertial axes, at its own point: the fast twin of joint_kinematics, for the
// recursions.
#pragma once
#include <cmath>

#include "saltus/dynamics/bend.h"
#include "saltus/dynamics/plan.h"
#include "saltus/rods/reconstruction.h"

namespace saltus {

struct JointMotion {
  Mat3 R;                     // the moved frame
  Vec3 moved = Vec3::Zero();  // of its origin, from the base [m]
  Vec3 v_rel = Vec3::Zero();  // velocity of its origin against the base
  Vec3 w_rel = Vec3::Zero();  // angular velocity against the base
  // Of a joint with one mixed column: its origin's acceleration a unit of speed squared.
  Vec3 curvature = Vec3::Zero();
};

namespace detail {

// R = P turned by q about the base's axis `a`; b, c follow it cyclically.
template <int a>
void turn_columns(const Mat3& P, double q, Mat3& R) {
  constexpr int b = (a + 1) % 3, c = (a + 2) % 3;
  const double cos = std::cos(q), sin = std::sin(q);
  R.col(a) = P.col(a);
  R.col(b) = cos * P.col(b) + sin * P.col(c);
  R.col(c) = cos * P.col(c) - sin * P.col(b);
}

// The rotation by q about a unit axis: cos 1 + sin hat(a) + (1 - cos) a a'.
inline Mat3 rotation(const Vec3& a, double q) {
  const double c = std::cos(q), s = std::sin(q);
  const Vec3 k = (1 - c) * a;
  Mat3 R;
  R << c + k[0] * a[0], k[0] * a[1] - s * a[2], k[0] * a[2] + s * a[1],  //
      k[1] * a[0] + s * a[2], c + k[1] * a[1], k[1] * a[2] - s * a[0],   //
      k[2] * a[0] - s * a[1], k[2] * a[1] + s * a[0], c + k[2] * a[2];
  return R;
}

inline Mat3 rotation(const double* q) {  // w, x, y, z
  return Quat(q[0], q[1], q[2], q[3]).toRotationMatrix();
}

}  // namespace detail

// P: the joint's base frame in inertial axes. S: the joint's columns there (6 x nv, from k.s0 on).
// Columns that never change (the linear part of a revolute joint) are not written.
inline void joint_motion(const Link& k, const Mat3& P, const double* q, const double* v, Mat6X& S,
                         JointMotion& m) {
  const auto one_turn = [&](const Vec3& axis) {
    S.col(k.s0).tail<3>() = axis;
    m.w_rel = v[0] * axis;
  };
  const auto translations = [&](int columns) {
    for (int i = 0; i < columns; ++i) {
      S.col(k.s0 + i).head<3>() = P.col(i);
      m.moved += q[i] * P.col(i);
      m.v_rel += v[i] * P.col(i);
    }
  };
  const auto ball = [&](int first, const double* p) {
    m.R.noalias() = P * detail::rotation(p);
    S.block<3, 3>(3, k.s0 + first) = m.R;
    m.w_rel.noalias() = m.R * Eigen::Map<const Vec3>(v + first);
  };
  switch (k.joint) {
    case JointCase::revolute_x:
      detail::turn_columns<0>(P, q[0], m.R);
      one_turn(P.col(0));
      break;
    case JointCase::revolute_y:
      detail::turn_columns<1>(P, q[0], m.R);
      one_turn(P.col(1));
      break;
    case JointCase::revolute_z:
      detail::turn_columns<2>(P, q[0], m.R);
      one_turn(P.col(2));
      break;
    case JointCase::revolute:
      m.R.noalias() = P * detail::rotation(k.axis, q[0]);
      one_turn(P * k.axis);
      break;
    case JointCase::fixed: m.R = P; break;
    case JointCase::prismatic: {
      m.R = P;
      const Vec3 axis = P * k.axis;
      S.col(k.s0).head<3>() = axis;
      m.moved = q[0] * axis;
      m.v_rel = v[0] * axis;
      break;
    }
    case JointCase::planar:
      translations(2);
      detail::turn_columns<2>(P, q[2], m.R);
      S.col(k.s0 + 2).tail<3>() = P.col(2);
      m.w_rel = v[2] * P.col(2);
      break;
    case JointCase::spherical: ball(0, q); break;
    case JointCase::floating:
      translations(3);
      ball(3, q + 3);
      break;
    case JointCase::carrier:
      translations(k.nv);
      m.R = P;
      break;
    case JointCase::bend: {
      const BendCurve b = bend_curve(k.axis, k.length, k.at, q[0]);
      m.R.noalias() = P * detail::rotation(k.axis, b.angle);
      m.moved = P * b.r;
      const Vec3 linear = P * b.slope, angular = b.share * (P * k.axis);
      S.col(k.s0) << linear, angular;
      m.v_rel = v[0] * linear;
      m.w_rel = v[0] * angular;
      m.curvature = P * b.curvature;
      break;
    }
    case JointCase::rod: break;  // rod_station
  }
}

// The same of a rod's station, from the shape of its segment; v_rel and w_rel where its rates are
// there.
inline void rod_station(const Link& k, const Mat3& P, const RodShape& shape, Mat6X& S,
                        JointMotion& m) {
  const auto& pose = shape.pose[k.place];
  m.R.noalias() = P * pose.R;
  m.moved.noalias() = P * pose.r;
  const Eigen::Index first = static_cast<Eigen::Index>(k.place) * k.nv;
  for (int c = 0; c < k.nv; ++c) {
    S.col(k.s0 + c).head<3>().noalias() = m.R * shape.S.col(first + c).head<3>();
    S.col(k.s0 + c).tail<3>().noalias() = m.R * shape.S.col(first + c).tail<3>();
  }
  m.v_rel.noalias() = m.R * shape.twist[k.place].head<3>();
  m.w_rel.noalias() = m.R * shape.twist[k.place].tail<3>();
}

}  // namespace saltus
