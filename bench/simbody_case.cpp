#include "bench/simbody_case.h"

#include <Simbody.h>

namespace saltus::bench {

namespace {

SimTK::Vec3 vector(const Eigen::Vector3d& v) { return {v[0], v[1], v[2]}; }

SimTK::Body::Rigid rigid(const SimbodyBody& body) {
  const Eigen::Matrix3d& I = body.about_com;
  const SimTK::Inertia about_com(I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2));
  const SimTK::Vec3 com = vector(body.com);
  return SimTK::Body::Rigid(
      SimTK::MassProperties(body.mass, com, about_com.shiftFromMassCenter(com, body.mass)));
}

}  // namespace

struct SimbodyCase::Parts {
  SimTK::MultibodySystem system;
  SimTK::SimbodyMatterSubsystem matter{system};
  SimTK::GeneralForceSubsystem forces{system};
  SimTK::Force::Gravity gravity;
  SimTK::State state;
  SimTK::Vector in, out, none;
  SimTK::Vector_<SimTK::SpatialVec> spatial;
  SimTK::Matrix M;
  std::vector<int> order;  // of each velocity of ours its place in theirs

  explicit Parts(const Eigen::Vector3d& g) : gravity(forces, matter, vector(g)) {}
  SimTK::MobilizedBodyIndex add(const SimbodyBody& body, SimTK::MobilizedBodyIndex parent) {
    SimTK::MobilizedBody& above = matter.updMobilizedBody(parent);
    if (body.floating)
      return SimTK::MobilizedBody::Free(above, SimTK::Transform(vector(body.at)), rigid(body),
                                        SimTK::Transform())
          .getMobilizedBodyIndex();
    // A pin turns about z of its frames.
    const SimTK::Rotation turned(SimTK::UnitVec3(vector(body.axis)), SimTK::ZAxis);
    return SimTK::MobilizedBody::Pin(above, SimTK::Transform(turned, vector(body.at)), rigid(body),
                                     SimTK::Transform(turned))
        .getMobilizedBodyIndex();
  }
  [[nodiscard]] Eigen::VectorXd in_our_order(const SimTK::Vector& x) const {
    Eigen::VectorXd result(x.size());
    for (int i = 0; i < x.size(); ++i) result[i] = x[order[i]];
    return result;
  }
};

SimbodyCase::SimbodyCase(const std::vector<SimbodyBody>& bodies, const Eigen::Vector3d& gravity,
                         const Eigen::VectorXd& angles, const Eigen::VectorXd& v)
    : parts_(std::make_unique<Parts>(gravity)) {
  Parts& p = *parts_;
  std::vector<SimTK::MobilizedBodyIndex> mobilized;
  for (const SimbodyBody& body : bodies)
    mobilized.push_back(p.add(body, body.parent < 0 ? SimTK::GroundIndex : mobilized[body.parent]));
  p.system.realizeTopology();
  p.state = p.system.getDefaultState();
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const SimTK::MobilizedBody& m = p.matter.getMobilizedBody(mobilized[i]);
    const int first = m.getFirstUIndex(p.state), at = static_cast<int>(p.order.size());
    if (!bodies[i].floating) m.setOneQ(p.state, 0, angles[at]);
    for (int k = 0; k < m.getNumU(p.state); ++k) {
      const int there = bodies[i].floating ? (k + 3) % 6 : k;  // theirs is (angular, linear)
      m.setOneU(p.state, there, v[at + k]);
      p.order.push_back(first + there);
    }
  }
  p.in = SimTK::Vector(static_cast<int>(v.size()));
  for (int i = 0; i < p.in.size(); ++i) p.in[i] = std::cos(0.7 * i);
}

SimbodyCase::~SimbodyCase() = default;

void SimbodyCase::kinematics() {
  parts_->state.updQ();  // all that follows from q is out of date
  parts_->system.realize(parts_->state, SimTK::Stage::Velocity);
}

void SimbodyCase::inverse() {
  kinematics();
  Parts& p = *parts_;
  p.matter.calcResidualForceIgnoringConstraints(p.state, p.none, p.gravity.getBodyForces(p.state),
                                                p.in, p.out);
}

void SimbodyCase::forward() {
  kinematics();
  Parts& p = *parts_;
  p.system.realize(p.state, SimTK::Stage::Dynamics);
  p.matter.calcAccelerationIgnoringConstraints(p.state, p.in, p.gravity.getBodyForces(p.state),
                                               p.out, p.spatial);
}

void SimbodyCase::mass_matrix() {
  Parts& p = *parts_;
  p.state.updQ();
  p.system.realize(p.state, SimTK::Stage::Position);
  p.matter.calcM(p.state, p.M);
}

Eigen::VectorXd SimbodyCase::in() const { return parts_->in_our_order(parts_->in); }
Eigen::VectorXd SimbodyCase::out() const { return parts_->in_our_order(parts_->out); }

}  // namespace saltus::bench
