#include "saltus/dynamics/joint_kinematics.h"

#include <algorithm>
#include <cmath>

#include "saltus/base/error.h"
#include "saltus/dynamics/bend.h"
#include "saltus/lie/so3.h"

namespace saltus {

namespace {

Quat quat(VecIn q) { return {q[0], q[1], q[2], q[3]}; }
void store(const Quat& p, VecRef q) { q << p.w(), p.x(), p.y(), p.z(); }

void turn(VecRef q, const Vec3& w_dt) {
  const Quat p = quat(q) * exp_quat(w_dt);
  store(p.normalized(), q);
}

// Rotation angle about `axis` of the rotation nearest to R that is about that axis.
double angle_about(const Vec3& axis, const Mat3& R) {
  const Vec3 u = axis.unitOrthogonal();
  const Vec3 w = axis.cross(u);
  // Average over two directions across the axis: exact for a pure rotation, symmetric otherwise.
  const double c = u.dot(R * u) + w.dot(R * w), s = w.dot(R * u) - u.dot(R * w);
  return std::atan2(s, c);
}

void kinematics(const Fixed&, VecIn, VecIn, SE3& X, Columns6&, Vec6&) { X = SE3{}; }

void kinematics(const Revolute& j, VecIn q, VecIn, SE3& X, Columns6& S, Vec6&) {
  X.R = exp_so3(q[0] * j.axis);
  X.r.setZero();
  S.col(0) << Vec3::Zero(), j.axis;
}

void kinematics(const Prismatic& j, VecIn q, VecIn, SE3& X, Columns6& S, Vec6&) {
  X.R.setIdentity();
  X.r = q[0] * j.axis;
  S.col(0) << j.axis, Vec3::Zero();
}

void kinematics(const Planar&, VecIn q, VecIn v, SE3& X, Columns6& S, Vec6& bias) {
  const double c = std::cos(q[2]), s = std::sin(q[2]);
  X.R << c, -s, 0, s, c, 0, 0, 0, 1;
  X.r << q[0], q[1], 0;
  S.col(0) << c, -s, 0, 0, 0, 0;
  S.col(1) << s, c, 0, 0, 0, 0;
  S.col(2) << 0, 0, 0, 0, 0, 1;
  const double vx = c * v[0] + s * v[1], vy = -s * v[0] + c * v[1];
  bias << v[2] * vy, -v[2] * vx, 0, 0, 0, 0;  // -w x (R' v)
}

void kinematics(const Spherical&, VecIn q, VecIn, SE3& X, Columns6& S, Vec6&) {
  X.R = quat(q).toRotationMatrix();
  X.r.setZero();
  S.topLeftCorner<3, 3>().setZero();
  S.block<3, 3>(3, 0).setIdentity();
}

void kinematics(const Floating&, VecIn q, VecIn v, SE3& X, Columns6& S, Vec6& bias) {
  X.R = quat(q.tail<4>()).toRotationMatrix();
  X.r = q.head<3>();
  S.setZero();
  S.topLeftCorner<3, 3>() = X.R.transpose();
  S.bottomRightCorner<3, 3>().setIdentity();
  const Vec3 w = v.tail<3>();
  bias << -w.cross(X.R.transpose() * v.head<3>()), Vec3::Zero();
}

void kinematics(const Carrier&, VecIn q, VecIn, SE3& X, Columns6& S, Vec6&) {
  X.R.setIdentity();
  X.r = q;
  S.topLeftCorner<3, 3>().setIdentity();
  S.block<3, 3>(3, 0).setZero();
}

void kinematics(const PlanarCarrier&, VecIn q, VecIn, SE3& X, Columns6& S, Vec6&) {
  X.R.setIdentity();
  X.r << q[0], q[1], 0;
  S.leftCols<2>().setIdentity();
}

void kinematics(const Bend& j, VecIn q, VecIn v, SE3& X, Columns6& S, Vec6& bias) {
  const BendCurve b = bend_curve(j.axis, j.length, j.at, q[0]);
  X.R = exp_so3(b.angle * j.axis);
  X.r = b.r;
  const Vec3 angular = b.share * j.axis;
  S.col(0) << X.R.transpose() * b.slope, angular;
  const Vec3 turning = b.curvature - angular.cross(b.slope);
  bias << v[0] * v[0] * (X.R.transpose() * turning), Vec3::Zero();
}

// Its columns are as many as its segment has coefficients: Workspace::rods.
void kinematics(const RodPiece&, VecIn, VecIn, SE3&, Columns6&, Vec6&) { SALTUS_ASSERT(false); }

}  // namespace

void joint_kinematics(const Joint& joint, VecIn q, VecIn v, SE3& X, Columns6& S, Vec6& bias) {
  bias.setZero();
  std::visit([&](const auto& j) { kinematics(j, q, v, X, S, bias); }, joint);
}

void joint_advance(const Joint& joint, VecRef q, VecIn v, double dt) {
  if (std::holds_alternative<Spherical>(joint)) {
    turn(q, dt * v);
  } else if (std::holds_alternative<Floating>(joint)) {
    q.head<3>() += dt * v.head<3>();
    turn(q.tail<4>(), dt * v.tail<3>());
  } else {
    q += dt * v;
  }
}

void joint_coordinates(const Joint& joint, const SE3& X, VecRef q) {
  if (const auto* j = std::get_if<Revolute>(&joint)) {
    q[0] = angle_about(j->axis, X.R);
  } else if (const auto* p = std::get_if<Prismatic>(&joint)) {
    q[0] = p->axis.dot(X.r);
  } else if (std::holds_alternative<Planar>(joint)) {
    q << X.r.x(), X.r.y(), angle_about(Vec3::UnitZ(), X.R);
  } else if (std::holds_alternative<Spherical>(joint)) {
    store(Quat(X.R), q);
  } else if (std::holds_alternative<Floating>(joint)) {
    q.head<3>() = X.r;
    store(Quat(X.R), q.tail<4>());
  } else if (std::holds_alternative<Carrier>(joint)) {
    q = X.r;
  } else if (std::holds_alternative<PlanarCarrier>(joint)) {
    q = X.r.head<2>();
  } else if (const auto* b = std::get_if<Bend>(&joint)) {
    q[0] = b->at > 0 ? angle_about(b->axis, X.R) * b->length / b->at : 0;
  }
}

void joint_velocities(const Joint& joint, VecIn q, const Vec6& V, VecRef v) {
  SE3 X;
  Columns6 S = Columns6::Zero();
  Vec6 bias;
  v.setZero();
  joint_kinematics(joint, q, v, X, S, bias);
  // The columns of every kind are orthonormal, so the transpose is the pseudo-inverse; a bend has
  // one column.
  v = S.leftCols(v.size()).transpose() * V;
  if (std::holds_alternative<Bend>(joint)) v /= std::max(S.col(0).squaredNorm(), 1e-300);
}

}  // namespace saltus
