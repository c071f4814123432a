// SE(3) over any scalar with + - * / sqrt, sin and cos: double, a complex step, a dual number.
//
// The coefficients of exp and dexp are entire functions of s = |w|^2 (so3.h): nothing here takes a
// norm or conjugates, and derivatives pass through by the scalar. With them come two derivatives of
// dexp, for accelerations of discrete maps.
#pragma once
#include <cmath>
#include <complex>

#include "saltus/lie/se3.h"

namespace saltus::generic {

template <class T>
using Vector3 = Eigen::Matrix<T, 3, 1>;
template <class T>
using Matrix3 = Eigen::Matrix<T, 3, 3>;
template <class T>
using Twist = Eigen::Matrix<T, 6, 1>;  // (v, w), and wrenches (f, m)

template <class T>
struct Pose {
  Matrix3<T> R = Matrix3<T>::Identity();
  Vector3<T> r = Vector3<T>::Zero();  // [m]
  [[nodiscard]] Pose operator*(const Pose& b) const { return {R * b.R, R * b.r + r}; }
};
[[nodiscard]] inline Pose<double> pose_of(const SE3& X) { return {X.R, X.r}; }
[[nodiscard]] inline SE3 pose_of(const Pose<double>& X) { return {X.R, X.r}; }

// Eigen conjugates complex numbers in dot and cross.
template <class T>
[[nodiscard]] T dot(const Vector3<T>& a, const Vector3<T>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
template <class T>
[[nodiscard]] Vector3<T> cross(const Vector3<T>& a, const Vector3<T>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
template <class T>
[[nodiscard]] Matrix3<T> hat(const Vector3<T>& w) {
  Matrix3<T> W;
  W << T(0), -w[2], w[1], w[2], T(0), -w[0], -w[1], w[0], T(0);
  return W;
}
template <class T>
[[nodiscard]] Vector3<T> linear(const Twist<T>& V) {
  return V.template head<3>();
}
template <class T>
[[nodiscard]] Vector3<T> angular(const Twist<T>& V) {
  return V.template tail<3>();
}
template <class T>
[[nodiscard]] Twist<T> join(const Vector3<T>& v, const Vector3<T>& w) {
  Twist<T> x;
  x << v, w;
  return x;
}

// As in se3.h.
template <class T>
[[nodiscard]] Twist<T> bracket(const Twist<T>& A, const Twist<T>& B) {
  const Vector3<T> v = linear(A), w = angular(A), u = linear(B), z = angular(B);
  return join<T>(cross<T>(w, u) + cross<T>(v, z), cross<T>(w, z));
}
template <class T>
[[nodiscard]] Twist<T> dual_bracket(const Twist<T>& V, const Twist<T>& F) {
  const Vector3<T> v = linear(V), w = angular(V), f = linear(F), m = angular(F);
  return join<T>(cross<T>(w, f), cross<T>(w, m) + cross<T>(v, f));
}
template <class T>
[[nodiscard]] Twist<T> twist_to_body(const Pose<T>& X, const Twist<T>& V) {
  const Vector3<T> v = linear(V), w = angular(V);
  return join<T>(X.R.transpose() * (v + cross<T>(w, X.r)), X.R.transpose() * w);
}
template <class T>
[[nodiscard]] Twist<T> wrench_to_parent(const Pose<T>& X, const Twist<T>& F) {
  const Vector3<T> f = X.R * linear(F), m = X.R * angular(F);
  return join<T>(f, m + cross<T>(X.r, f));
}

// a = sin t/t, b = (1 - cos t)/t^2, c = (t - sin t)/t^3 as functions of s = t^2, and derivatives by
// s.
template <class T>
struct RotationSeries {
  T a, b, c, db, dc, ddb, ddc;
};
template <class T>
[[nodiscard]] RotationSeries<T> rotation_series(const T& s) {
  using std::cos, std::real, std::sin, std::sqrt;
  RotationSeries<T> k;
  if (real(s) < 1) {
    // b = sum (-s)^k/(2k + 2)!, c = sum (-s)^k/(2k + 3)!; the first term left out is below 1e-19.
    k.b = k.c = k.db = k.dc = k.ddb = k.ddc = T(0);
    constexpr int last = 10;
    double b = 1.0 / 1124000727777607680000.0, c = b / 23;  // 1/22!, 1/23!
    for (int n = last; n >= 0; --n) {                       // Horner, for three orders at once
      const double sign = n % 2 == 0 ? 1 : -1;
      k.ddb = k.ddb * s + 2.0 * k.db, k.ddc = k.ddc * s + 2.0 * k.dc;
      k.db = k.db * s + k.b, k.dc = k.dc * s + k.c;
      k.b = k.b * s + sign * b, k.c = k.c * s + sign * c;
      b *= (2 * n + 1) * (2 * n + 2);
      c *= (2 * n + 2) * (2 * n + 3);
    }
    k.a = 1.0 - s * k.c;
    return k;
  }
  const T t = sqrt(s), half = sin(0.5 * t);
  k.a = sin(t) / t;
  k.b = 2.0 * half * half / s;
  k.c = (1.0 - k.a) / s;
  k.db = (k.a - 2.0 * k.b) / (2.0 * s);
  k.dc = (k.b - 3.0 * k.c) / (2.0 * s);
  const T da = (cos(t) - k.a) / (2.0 * s);
  k.ddb = (da - 4.0 * k.db) / (2.0 * s);
  k.ddc = (k.db - 5.0 * k.dc) / (2.0 * s);
  return k;
}

// exp(V), dexp(V) = [D Q; 0 D] and the derivative of dexp along a rate, from one set of
// coefficients. D(w) = I - b W + c W^2; Q is its derivative along v: dexp is D over w + eps v.
template <class T>
class Exponential {
 public:
  explicit Exponential(const Twist<T>& V)
      : v_(linear(V)), w_(angular(V)), k_(rotation_series<T>(dot<T>(w_, w_))), W_(hat<T>(w_)) {
    WW_ = W_ * W_;
    D = Matrix3<T>::Identity() - k_.b * W_ + k_.c * WW_;
    Q = along(v_);
  }
  Matrix3<T> D, Q;

  [[nodiscard]] Pose<T> pose() const {
    const Matrix3<T> one = Matrix3<T>::Identity();
    return {one + k_.a * W_ + k_.b * WW_, D.transpose() * v_};  // r = dexp(-w) v
  }
  [[nodiscard]] Twist<T> dexp(const Twist<T>& V) const {
    return join<T>(D * linear(V) + Q * angular(V), D * angular(V));
  }
  [[nodiscard]] Twist<T> dexp_transposed(const Twist<T>& F) const {
    return join<T>(D.transpose() * linear(F),
                   Q.transpose() * linear(F) + D.transpose() * angular(F));
  }
  // d/dt dexp(V) along dV/dt = rate, applied to U.
  [[nodiscard]] Twist<T> dexp_dot(const Twist<T>& rate, const Twist<T>& U) const {
    const Vector3<T> dv = linear(rate), dw = angular(rate);
    const Matrix3<T> D_dot = along(dw), Q_dot = along(v_, dw) + along(dv);
    return join<T>(D_dot * linear(U) + Q_dot * angular(U), D_dot * angular(U));
  }

 private:
  Matrix3<T> along(const Vector3<T>& x) const {  // the derivative of D along x
    const Matrix3<T> X = hat<T>(x);
    const T ds = 2.0 * dot<T>(w_, x);
    return -k_.b * X - (k_.db * ds) * W_ + k_.c * (W_ * X + X * W_) + (k_.dc * ds) * WW_;
  }
  Matrix3<T> along(const Vector3<T>& x, const Vector3<T>& y) const {  // along x, then y
    const Matrix3<T> X = hat<T>(x), Y = hat<T>(y);
    const T sx = 2.0 * dot<T>(w_, x), sy = 2.0 * dot<T>(w_, y), sxy = 2.0 * dot<T>(x, y);
    return -(k_.ddb * sx * sy + k_.db * sxy) * W_ - k_.db * (sx * Y + sy * X) +
           (k_.ddc * sx * sy + k_.dc * sxy) * WW_ + k_.c * (X * Y + Y * X) +
           k_.dc * (sx * (W_ * Y + Y * W_) + sy * (W_ * X + X * W_));
  }
  Vector3<T> v_, w_;
  RotationSeries<T> k_;
  Matrix3<T> W_, WW_;
};

}  // namespace saltus::generic
