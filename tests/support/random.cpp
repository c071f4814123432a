#include "tests/support/random.h"

#include <Eigen/QR>

namespace saltus::test {

Mat Random::spd(int size, double lower, double upper) {
  const Mat Q = Eigen::HouseholderQR<Mat>(matrix(size, size)).householderQ();
  Vec values(size);
  for (double& value : values) value = log_uniform(lower, upper);
  const Mat A = Q * values.asDiagonal() * Q.transpose();
  return 0.5 * (A + A.transpose());
}

RigidInertia Random::inertia(double mass_scale, double size) {
  constexpr int points = 6;
  RigidInertia body;
  Eigen::Matrix<double, 3, points> p;
  Eigen::Matrix<double, points, 1> m;
  for (int k = 0; k < points; ++k) {
    m[k] = mass_scale * uniform(0.2, 1);
    p.col(k) = vector3(size);
  }
  body.mass = m.sum();
  body.com = p * m / body.mass;
  for (int k = 0; k < points; ++k) {
    const Vec3 r = p.col(k) - body.com;
    body.about_com += m[k] * (r.squaredNorm() * Mat3::Identity() - r * r.transpose());
  }
  return body;
}

}  // namespace saltus::test
