// Fluids in a step: their wrench F belongs to the mean velocity, as the quadratic terms do, so that
// its work is F . V dt without a rest. With the gain G = dt/2 K'(V_S) of each body in the factor,
//
//   (M + G)(v_E - v_S) = dt F(V) + 2 G (V - V_S),    V = (V_S + V_E)/2
//
// is M (v_E - v_S) = dt F(V) at the fixed point, which Stokes drag reaches at once, however stiff
// it is: dt F(V) + 2 G (V - V_S) = dt F(V_S) does not depend on V. What flows and ends add to drag
// is no stiffer than the added mass they go with: of it the fixed point contracts by O(dt).
#include "saltus/dynamics/mass.h"
#include "saltus/forces/fluid.h"
#include "saltus/integrators/moreau/stepper.h"

namespace saltus {

namespace {

Vec6 in_body(const SE3& X, const Vec6& inertial) {
  return join(X.R.transpose() * inertial.head<3>(), X.R.transpose() * inertial.tail<3>());
}

Vec6 in_space(const SE3& X, const Vec6& body) {
  return join(X.R * body.head<3>(), X.R * body.tail<3>());
}

}  // namespace

// The factor of M, gains of joints and fluids included.
bool Stepper::factor_mass(int& culprit) {
  if (m.fluids.empty()) return mech.factor(w.extra, culprit);
  FluidTerms& f = w.fluids;
  std::fill(f.gain.begin(), f.gain.end(), Mat6::Zero());
  for (const Fluid& fluid : m.fluids)
    f.gain[fluid.body] +=
        0.5 * o.dt *
        fluid_force(fluid, m.gravity, t.M, out.work.X[fluid.body], f.start[fluid.body]).slope;
  Forest& mass = mech.forest().mass;
  load_mass(out.work, w.extra, mass, f.gain.data());
  if (mass.factor()) return true;
  culprit = mass.culprit();
  return false;
}

// Twists at the start velocity; needs the kinematics of the mid-point with v_S.
void Stepper::start_fluids() {
  for (const Fluid& fluid : m.fluids) w.fluids.start[fluid.body] = out.work.V[fluid.body];
}

// Impulses of the fluids at a mean velocity, in the velocities.
void Stepper::add_fluids(VecIn v_mean, Vec& impulse) {
  if (m.fluids.empty()) return;
  FluidTerms& f = w.fluids;
  Forest& mass = mech.forest().mass;
  mass.twists(v_mean, f.mean);
  std::fill(f.wrench.begin(), f.wrench.end(), Vec6::Zero());
  for (const Fluid& fluid : m.fluids) {
    const int b = fluid.body;
    const SE3& X = out.work.X[b];
    const FluidForce force = fluid_force(fluid, m.gravity, t.M, X, in_body(X, f.mean[b]));
    f.wrench[b] += in_space(X, o.dt * force.wrench);
    add_stretch(m, fluid, force, w.q_M, o.dt, impulse);
  }
  for (const int b : f.bodies) {
    const SE3& X = out.work.X[b];
    f.wrench[b] += in_space(X, 2 * (f.gain[b] * (in_body(X, f.mean[b]) - f.start[b])));
  }
  mass.gather(f.wrench, f.gathered);
  impulse += f.gathered;
}

void Stepper::fluid_work(EnergyTerms& e) {
  if (m.fluids.empty()) return;
  w.v_mean = 0.5 * (w.v_S + w.v_E);
  mech.forest().mass.twists(w.v_mean, w.fluids.mean);
  for (const Fluid& fluid : m.fluids) {
    const SE3& X = out.work.X[fluid.body];
    const FluidForce f =
        fluid_force(fluid, m.gravity, t.M, X, in_body(X, w.fluids.mean[fluid.body]));
    e.dampers += o.dt * f.lost;
    e.external += o.dt * f.given;
    e.external += o.dt * stretch_power(m, fluid, f, w.q_M, w.v_mean);
  }
}

}  // namespace saltus
