// Compliant contacts in a step: forces at (q_M, v_S), their memory and their work (theory.md,
// section 8). With q_M half a step ahead of v_S the spring is integrated by the leapfrog rule.
#include <algorithm>

#include "saltus/contact/surface.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/integrators/moreau/stepper.h"

namespace saltus {

namespace {

Vec3 along(const Vec3& x, const Vec3& normal) { return x - normal.dot(x) * normal; }

// Velocity of b against a at a point, by the kinematics or by twists at the bodies' origins.
Vec3 relative_rate(const Workspace& w, const CompliantContact& k) {
  Vec3 rate = Vec3::Zero();
  if (k.b.valid()) rate += point_velocity(w, k.b, k.point);
  if (k.a.valid()) rate -= point_velocity(w, k.a, k.point);
  return rate;
}
Vec3 relative_rate(const Workspace& w, const std::vector<Vec6>& twists, const CompliantContact& k) {
  const auto of = [&](BodyIndex body) -> Vec3 {
    if (!body.valid()) return Vec3::Zero();
    const Vec6& V = twists[body];
    return V.head<3>() + V.tail<3>().cross(k.point - w.X[body].r);
  };
  return of(k.b) - of(k.a);
}

}  // namespace

double Stepper::stored_energy() {
  if (!m.has_compliant) return 0;
  const double U = saltus::stored_energy(m, s, out.work, w.finder, w.compliant.contacts);
  double& sinking = w.compliant.sinking = 0;
  for (const Contact& c : w.compliant.contacts)
    if (m.contact_laws[c.law].compliant()) sinking = std::max(sinking, -c.point.gap);
  return U;
}

void Stepper::compliant_forces() {
  CompliantTerms& terms = w.compliant;
  std::vector<Contact>& found = out.assembly.contacts;
  w.finder.threads = o.threads;
  w.finder.find(m, out.work, contact_margin(m), found);
  terms.closed.clear();
  terms.released = 0;
  for (const ContactImpulse& c : s.contacts) {  // what a contact that opens still holds
    const ContactLaw* law = compliant_law(m, c.key);
    if (!law || static_cast<Mode>(c.mode) != Mode::stick) continue;
    const Contact* at = find_contact(found, c.key);
    if (at && at->point.gap < 0) continue;
    const Vec3 stretch{c.Lambda[3], c.Lambda[4], c.Lambda[5]};
    terms.released += 0.5 * law->soft.tangential_stiffness * stretch.squaredNorm();
  }
  for (int i = 0; i < static_cast<int>(found.size()); ++i) {
    Contact& c = found[i];
    const ContactLaw& law = m.contact_laws[c.law];
    if (!law.compliant() || !(c.point.gap < 0)) continue;
    const Vec3& n = c.point.normal;
    CompliantContact k;
    k.contact = i;
    k.a = m.shapes[c.key.a].body;
    k.b = m.shapes[c.key.b].body;
    k.point = 0.5 * (c.point.on_a + c.point.on_b);
    k.rate = relative_rate(out.work, k);
    k.belt = belt_velocity(m, out.work, c);
    CompliantInput in{c.point.gap, n.dot(k.rate), along(k.rate + k.belt, n)};
    in.mu = law.mu1 * friction_share(m, out.work, c);
    if (const ContactImpulse* last = find_contact(s, c.key)) {
      in.slipped = static_cast<Mode>(last->mode) == Mode::slip;
      in.memory = along({last->Lambda[3], last->Lambda[4], last->Lambda[5]}, n);
      if (!in.slipped) in.memory += 0.5 * o.dt * in.slip;  // the state's is that of q_S
    }
    k.force = compliant_force(law.soft, in);
    const Vec3 impulse = o.dt * (k.force.normal * n + k.force.friction);
    if (k.b.valid()) w.wrenches[k.b] += join(impulse, (k.point - out.work.X[k.b].r).cross(impulse));
    if (k.a.valid()) w.wrenches[k.a] -= join(impulse, (k.point - out.work.X[k.a].r).cross(impulse));
    w.cut_impulses = true;
    terms.closed.push_back(k);
  }
}

void Stepper::keep_compliant() {
  for (const CompliantContact& k : w.compliant.closed) {
    Contact& c = out.assembly.contacts[k.contact];
    const Vec3& n = c.point.normal;
    c.tangent = tangent_of(m, out.work, c);
    c.mode = static_cast<unsigned char>(k.force.slips ? Mode::slip : Mode::stick);
    c.Lambda = {o.dt * k.force.normal, o.dt * c.tangent.dot(k.force.friction),
                o.dt * n.cross(c.tangent).dot(k.force.friction)};
    Vec3 memory = k.force.memory;
    if (!k.force.slips)
      memory += 0.5 * o.dt * along(relative_rate(out.work, w.twists_E, k) + k.belt, n);
    ContactImpulse kept{c.key, c.mode, c.Lambda};
    std::copy_n(memory.data(), 3, kept.Lambda.begin() + 3);
    s.contacts.push_back(kept);
  }
  std::sort(s.contacts.begin(), s.contacts.end(),
            [](const ContactImpulse& x, const ContactImpulse& y) { return x.key < y.key; });
}

// Springs are in the potential energy; what they let go where a contact slips or opens is lost to
// friction. Belts give what the surfaces take.
void Stepper::compliant_work(EnergyTerms& e) const {
  e.friction -= w.compliant.released;
  for (const CompliantContact& k : w.compliant.closed) {
    const Contact& c = out.assembly.contacts[k.contact];
    const Vec3& n = c.point.normal;
    const Vec3 mean = 0.5 * (k.rate + relative_rate(out.work, w.twists_E, k));
    const Vec3 slip = along(mean + k.belt, n);
    e.dampers += o.dt * (k.force.damper * n.dot(mean) + k.force.tangential_damper.dot(slip));
    e.prescribed -= o.dt * k.force.friction.dot(k.belt);
    e.friction -= k.force.released;
    if (k.force.slips) e.friction += o.dt * k.force.friction.dot(slip);
  }
}

}  // namespace saltus
