// Symmetric 3 x 3 matrices and symmetric 6 x 6 inertias by their own numbers, with axes that do not
// turn from body to body: moving to another point is then a translation only.
//
//   I = [ A   B ]   force  f = A a + B alpha        of a body whose point has the acceleration a
//   and
//       [ B'  C ]   moment n = B' a + C alpha       whose angular acceleration is alpha
#pragma once
#include "saltus/base/types.h"

namespace saltus {

struct Sym3 {
  double xx = 0, xy = 0, xz = 0, yy = 0, yz = 0, zz = 0;

  [[nodiscard]] static Sym3 of(const Mat3& M) {
    return {M(0, 0), M(1, 0), M(2, 0), M(1, 1), M(2, 1), M(2, 2)};
  }
  [[nodiscard]] Mat3 matrix() const {
    Mat3 M;
    M << xx, xy, xz, xy, yy, yz, xz, yz, zz;
    return M;
  }
  [[nodiscard]] Vec3 operator*(const Vec3& a) const {
    return {xx * a[0] + xy * a[1] + xz * a[2], xy * a[0] + yy * a[1] + yz * a[2],
            xz * a[0] + yz * a[1] + zz * a[2]};
  }
  Sym3& operator+=(const Sym3& b) {
    xx += b.xx, xy += b.xy, xz += b.xz, yy += b.yy, yz += b.yz, zz += b.zz;
    return *this;
  }
  // this -= k a a'
  void subtract_square(double k, const Vec3& a) {
    const double x = k * a[0], y = k * a[1], z = k * a[2];
    xx -= x * a[0], xy -= x * a[1], xz -= x * a[2];
    yy -= y * a[1], yz -= y * a[2], zz -= z * a[2];
  }
};

// R J R'
[[nodiscard]] inline Sym3 turned(const Mat3& R, const Sym3& J) {
  const Vec3 x = J * R.row(0).transpose(), y = J * R.row(1).transpose();
  const Vec3 z = J * R.row(2).transpose();
  return {R.row(0).dot(x), R.row(1).dot(x), R.row(2).dot(x),
          R.row(1).dot(y), R.row(2).dot(y), R.row(2).dot(z)};
}

// Rigid: mass, first moment m c and moment of inertia about the point.
struct RigidAtPoint {
  double mass = 0;
  Vec3 first = Vec3::Zero();  // [kg m]
  Sym3 J;                     // [kg m^2]

  // Adds `b`, whose point lies at r from this one's.
  void add_from(const RigidAtPoint& b, const Vec3& r) {
    // J about the point: J_b + (r . h + h . r) 1 - r h' - h r' with h = first + m r / 2.
    const Vec3 h = b.first + 0.5 * b.mass * r;
    const double x = r[0] * h[0], y = r[1] * h[1], z = r[2] * h[2];
    J.xx += b.J.xx + 2 * (y + z);
    J.yy += b.J.yy + 2 * (x + z);
    J.zz += b.J.zz + 2 * (x + y);
    J.xy += b.J.xy - (r[0] * h[1] + h[0] * r[1]);
    J.xz += b.J.xz - (r[0] * h[2] + h[0] * r[2]);
    J.yz += b.J.yz - (r[1] * h[2] + h[1] * r[2]);
    first += b.first + b.mass * r;
    mass += b.mass;
  }
  void multiply(const Vec3& a, const Vec3& alpha, Vec3& f, Vec3& n) const {
    f = mass * a + alpha.cross(first);
    n = first.cross(a) + J * alpha;
  }
};

struct SymmetricInertia {
  Sym3 A, C;
  Mat3 B = Mat3::Zero();

  SymmetricInertia() = default;
  SymmetricInertia(double mass, const Vec3& first, const Sym3& J) : C(J) {
    A.xx = A.yy = A.zz = mass;
    B << 0, first[2], -first[1], -first[2], 0, first[0], first[1], -first[0], 0;
  }
  explicit SymmetricInertia(const Mat6& I)
      : A(Sym3::of(I.topLeftCorner<3, 3>())),
        C(Sym3::of(I.bottomRightCorner<3, 3>())),
        B(I.topRightCorner<3, 3>()) {}

  SymmetricInertia& operator+=(const SymmetricInertia& b) {
    A += b.A, C += b.C, B += b.B;
    return *this;
  }
  void add_from(const SymmetricInertia& b, const Vec3& r) {
    // B_r = B - A hat(r), C_r = C + hat(r) B_r + (hat(r) B)'.
    Mat3 Br = b.B;
    Br.col(0) -= r[2] * Vec3(b.A.xy, b.A.yy, b.A.yz) - r[1] * Vec3(b.A.xz, b.A.yz, b.A.zz);
    Br.col(1) -= r[0] * Vec3(b.A.xz, b.A.yz, b.A.zz) - r[2] * Vec3(b.A.xx, b.A.xy, b.A.xz);
    Br.col(2) -= r[1] * Vec3(b.A.xx, b.A.xy, b.A.xz) - r[0] * Vec3(b.A.xy, b.A.yy, b.A.yz);
    const Mat3 D = Br + b.B;
    C.xx += b.C.xx + r[1] * D(2, 0) - r[2] * D(1, 0);
    C.yy += b.C.yy + r[2] * D(0, 1) - r[0] * D(2, 1);
    C.zz += b.C.zz + r[0] * D(1, 2) - r[1] * D(0, 2);
    C.xy += b.C.xy + r[1] * Br(2, 1) - r[2] * Br(1, 1) + r[2] * b.B(0, 0) - r[0] * b.B(2, 0);
    C.xz += b.C.xz + r[1] * Br(2, 2) - r[2] * Br(1, 2) + r[0] * b.B(1, 0) - r[1] * b.B(0, 0);
    C.yz += b.C.yz + r[2] * Br(0, 2) - r[0] * Br(2, 2) + r[0] * b.B(1, 1) - r[1] * b.B(0, 1);
    A += b.A;
    B += Br;
  }
  void multiply(const Vec3& a, const Vec3& alpha, Vec3& f, Vec3& n) const {
    f = A * a + B * alpha;
    n = B.transpose() * a + C * alpha;
  }
  // this -= k (f, n)(f, n)'
  void subtract_square(double k, const Vec3& f, const Vec3& n) {
    A.subtract_square(k, f);
    C.subtract_square(k, n);
    B.noalias() -= (k * f) * n.transpose();
  }
  [[nodiscard]] Mat6 matrix() const {
    Mat6 I;
    I << A.matrix(), B, B.transpose(), C.matrix();
    return I;
  }
};

}  // namespace saltus
