#include "saltus/contact/compliant.h"

#include <algorithm>

#include "saltus/solvers/inclusion.h"

namespace saltus {

namespace {

double spring_energy(double stiffness, const Vec3& stretch) {
  return 0.5 * stiffness * stretch.squaredNorm();
}

}  // namespace

CompliantForce compliant_force(const Compliance& law, const CompliantInput& in) {
  CompliantForce out;
  const double spring = -law.normal_stiffness * in.gap;
  out.normal = std::max(spring - law.normal_damping * in.approach, 0.0);
  out.damper = out.normal - spring;
  const double most = in.mu * out.normal, speed = in.slip.norm();
  const bool goes_on = in.slipped && speed > 0 && in.slip.dot(in.memory) > 0;
  if (!goes_on) {
    if (!in.slipped) out.memory = in.memory;  // else P_0 is reset
    out.tangential_damper = -law.tangential_damping * in.slip;
    out.friction = out.tangential_damper - law.tangential_stiffness * out.memory;
    if (out.friction.norm() <= most || speed == 0) {
      // At rest on the boundary there is no direction to slip in: the spring gives way.
      if (const double f = out.friction.norm(); f > most) out.friction *= most / f;
      return out;
    }
    out.released = spring_energy(law.tangential_stiffness, out.memory);
    out.tangential_damper.setZero();
  }
  out.slips = true;
  out.memory = in.slip / speed;
  out.friction = -most * out.memory;
  return out;
}

const ContactLaw* compliant_law(const Model& model, const ContactKey& key) {
  int a = key.a, b = key.b;
  const int law = model.law_between(a, b);
  return law >= 0 && model.contact_laws[law].compliant() ? &model.contact_laws[law] : nullptr;
}

double stored_energy(const Model& model, const State& state, const Workspace& work,
                     ContactFinder& finder, std::vector<Contact>& found) {
  finder.find(model, work, contact_margin(model), found);
  double U = 0;
  for (const Contact& c : found)
    if (const ContactLaw& law = model.contact_laws[c.law]; law.compliant() && c.point.gap < 0)
      U += 0.5 * law.soft.normal_stiffness * c.point.gap * c.point.gap;
  for (const ContactImpulse& c : state.contacts) {
    const ContactLaw* law = compliant_law(model, c.key);
    if (law && static_cast<Mode>(c.mode) == Mode::stick)
      U += spring_energy(law->soft.tangential_stiffness, {c.Lambda[3], c.Lambda[4], c.Lambda[5]});
  }
  return U;
}

}  // namespace saltus
