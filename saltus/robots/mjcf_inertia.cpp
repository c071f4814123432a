// Masses: explicit inertials, the compiler's rules, and what may move.
#include <fmt/format.h>

#include <Eigen/Eigenvalues>

#include "saltus/robots/mjcf_reader.h"

namespace saltus::mjcf {

namespace {

// Moment about the origin of an inertia that is given about its centre of mass.
Mat3 steiner(double mass, const Vec3& r) {
  return mass * (r.squaredNorm() * Mat3::Identity() - r * r.transpose());
}

Mat3 symmetric(const std::vector<double>& x) {  // xx yy zz xy xz yz
  Mat3 J;
  J << x[0], x[3], x[4], x[3], x[1], x[5], x[4], x[5], x[2];
  return J;
}

}  // namespace

void add_inertia(RigidInertia& sum, const RigidInertia& part, const SE3& frame) {
  if (part.mass == 0) return;
  const Vec3 r = frame * part.com;
  const double mass = sum.mass + part.mass;
  const Vec3 com = sum.mass == 0 ? r : Vec3((sum.mass * sum.com + part.mass * r) / mass);
  const Mat3 J = frame.R * part.about_com * frame.R.transpose();
  sum.about_com +=
      steiner(sum.mass, sum.com - com) + 0.5 * (J + J.transpose()) + steiner(part.mass, r - com);
  sum.mass = mass;
  sum.com = com;
}

RigidInertia Reader::read_inertial(const Element& e) const {
  RigidInertia inertia;
  inertia.mass = e.required_number("mass");
  if (!(inertia.mass >= 0))
    throw e.error("mass", fmt::format("expected a mass >= 0, got {}", inertia.mass));
  const SE3 frame = read_pose(Styled(e), compiler);
  inertia.com = frame.r;
  const auto full = e.numbers("fullinertia", 6, 6);
  const auto diagonal = e.vec3("diaginertia");
  if (full && diagonal) throw e.error("expected either diaginertia or fullinertia, got both");
  if (full) inertia.about_com = symmetric(*full);
  if (diagonal) {
    const Mat3 J = frame.R * diagonal->asDiagonal() * frame.R.transpose();
    inertia.about_com = 0.5 * (J + J.transpose());
  }
  if (full && !frame.R.isIdentity(0))
    throw e.error("fullinertia", "expected no rotation beside it: it is given in the body's axes");
  return inertia;
}

RigidInertia Reader::bounded(const Element& e, RigidInertia inertia) const {
  inertia.mass = std::max(inertia.mass, compiler.least_mass);
  Mat3& J = inertia.about_com;
  const Eigen::SelfAdjointEigenSolver<Mat3> axes(J);
  Vec3 moments = axes.eigenvalues();
  const auto put = [&](const Vec3& x) {
    moments = x;
    const Mat3& R = axes.eigenvectors();
    const Mat3 turned = R * moments.asDiagonal() * R.transpose();
    J = 0.5 * (turned + turned.transpose());
  };
  if (moments.minCoeff() < compiler.least_inertia) put(moments.cwiseMax(compiler.least_inertia));
  if (physical(J)) return inertia;
  // MuJoCo's remedy for moments that no body has.
  if (compiler.balance && moments.minCoeff() >= 0) {
    put(Vec3::Constant(moments.mean()));
    return inertia;
  }
  throw e.error(
      fmt::format("expected principal moments A <= B <= C with 0 <= A and A + B >= C, got "
                  "{:.6g} {:.6g} {:.6g}; balanceinertia would make them equal",
                  moments[0], moments[1], moments[2]));
}

namespace {

constexpr double least = 1e-15;  // MuJoCo's mjMINVAL

bool has_inertia(const RigidInertia& inertia) {
  if (!(inertia.mass >= least)) return false;
  return Eigen::SelfAdjointEigenSolver<Mat3>(inertia.about_com).eigenvalues()[0] >= least;
}

}  // namespace

void Reader::finish_masses() {
  double total = 0;
  for (const BodyScene& b : robot.bodies) total += b.inertia.mass;
  if (compiler.total_mass > 0 && total > 0)
    for (BodyScene& b : robot.bodies) {
      b.inertia.mass *= compiler.total_mass / total;
      b.inertia.about_com *= compiler.total_mass / total;
    }
  std::vector<char> carried(bodies.size(), 0);  // by the bodies that move as one
  for (std::size_t i = 1; i < bodies.size(); ++i)
    if (has_inertia(robot.bodies[bodies[i].index].inertia)) carried[bodies[i].weld] = 1;
  for (std::size_t i = 1; i < bodies.size(); ++i)
    if (bodies[i].moves && !carried[i])
      throw bodies[i].element.error(
          "a body that moves needs mass and inertia: an <inertial>, or geoms (a mesh that is "
          "absent gives none)");
}

}  // namespace saltus::mjcf
