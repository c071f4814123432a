// What a ModelBuilder refuses: InputError with the path of the culprit and what was expected.
#pragma once
#include <string>

#include "saltus/model/builder.h"

namespace saltus {

void require(bool ok, const std::string& path, const std::string& expected);

// Without mass there is no inertia either, unless `fixed` to what has some.
void check_inertia(const RigidInertia& inertia, bool fixed, const std::string& path);
void check_dof(const JointDof& dof, const std::string& path);
void check_dofs(const JointSpec& joint, const std::string& path);
void check_frame(const SE3& frame, const std::string& path);
void check_shape(const Shape& shape, const std::string& path);
void check_support(const SupportFriction& friction, const std::string& path);
// Coefficients of a contact or a support.
void check_surface(const Shape& shape, const Surface& surface, const std::string& path);
void check_friction(double mu1, double mu2, double mu_back, SlipRule rule, const std::string& path);
// Throws InputError at path + ".compliant" and its neighbours.
void check_compliance(const Compliance& compliance, const std::string& path);
void check_compliance(const ContactLaw& law, const std::string& path);
void check_dynamic(double dynamic, double mu_back, SlipRule rule, const std::string& path);
// The share of friction that is left in sliding, of coefficients at rest and in sliding, direction
// by direction: one share serves all. Complains about `friction_dynamic`.
struct FrictionPair {
  double at_rest = 0, sliding = 0;
};
[[nodiscard]] double dynamic_share(const std::vector<FrictionPair>& directions);
void check_runner(const Runner& runner, bool planar, const std::string& path);
void check_cable(const Cable& cable, const std::string& path);
void check_spring(const Spring& spring, bool planar, const std::string& path);
void check_gap_contact(const GapContact& contact, const std::string& path);
void check_drag(const Drag& drag, const std::string& path);
// A planar model moves in x-y and turns about z.
void check_planar(const JointSpec& joint, const std::string& path);
// The joint's kind with its axis of unit length.
[[nodiscard]] Joint with_unit_axis(const Joint& joint, const std::string& path);

}  // namespace saltus
