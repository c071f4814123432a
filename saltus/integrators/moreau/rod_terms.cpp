// Rods in a step: stiffness and damping of their coefficients, implicitly, as a block on the node.
//
//   q_E - q_S = dt (v_S + v_E)/2,   q_theta = (1 - theta) q_S + theta q_E, a_theta likewise
//   impulse = -dt (K (q_theta - a_theta) + D (v_S + v_E)/2)
//
// is linear in v_E: stable at any dt. With x = q - a and dx its change it works
//   -(U_E - U_S) - x_theta' K (a_E - a_S) - (theta - 1/2) dx' K dx - dt v' D v,   v the mean:
// what muscles give, and what the scheme and viscosity take. theta may differ between coefficients
// that K does not couple.
#include <algorithm>

#include "saltus/dynamics/kinematics.h"
#include "saltus/integrators/moreau/stepper.h"
#include "saltus/rods/segment.h"

namespace saltus {

RodTerms::RodTerms(const Model& model) {
  for (Vec* x : {&a_S, &a_E, &x_theta, &change, &rheology}) x->setZero(model.nv);
  for (const RodElement& r : model.rods) block.emplace_back(Mat::Zero(r.size, r.size));
}

// Where rods touch between their stations at the mid-point.
void Stepper::choose_touches() {
  if (w.touches_given || !w.touches.choose(m, out.work, w.q_W, contact_margin(m), s)) return;
  put_touches(m, s.touches, out.work);
  mech.place(w.q_W, s.v);
}

// Places at which they are too deep at the end.
bool Stepper::touches_missing(Vec& touches, double& deepest) {
  return w.touches.add_missing(m, out.work, s, touches, deepest);
}

// What v_E does to the impulses; the position correction uses it too, so that it does not strain a
// rod as if it were soft.
void Stepper::rod_blocks() {
  for (std::size_t i = 0; i < m.rods.size(); ++i) {
    const RodElement& r = m.rods[i];
    Mat& block = w.rods.block[i];
    for (int c = 0; c < r.size; ++c)
      block.col(c) = 0.5 * o.dt * (o.dt * r.theta[c] * r.segment->K.col(c) + r.segment->D.col(c));
    mech.forest().mass.set_block(r.first, block);
  }
}

void Stepper::rod_terms() {
  RodTerms& k = w.rods;
  strain_offsets(m, act, t.S, k.a_S);
  strain_offsets(m, act, t.E, k.a_E);
  k.no_stress = -1;
  for (const RodElement& r : m.rods) {
    if (r.segment->rheology.empty()) continue;
    auto own = k.rheology.segment(r.v0, r.size);
    own.setZero();
    if (!add_rheology(*r.segment, w.q_M.segment(r.q0, r.size), s.v.segment(r.v0, r.size), own))
      k.no_stress = r.v0;
    w.start_impulse.segment(r.v0, r.size) += o.dt * own;
  }
  for (const RodElement& r : m.rods) {
    const Mat &K = r.segment->K, &D = r.segment->D;
    for (int c = 0; c < r.size; ++c) {
      const int v = r.v0 + c;
      const double theta = r.theta[c];
      k.x_theta[v] = w.q_M[r.q0 + c] + o.dt * (theta - 0.5) * s.v[v] -
                     ((1 - theta) * k.a_S[v] + theta * k.a_E[v]);
    }
    auto start = w.start_impulse.segment(r.v0, r.size);
    start.noalias() -= o.dt * (K * k.x_theta.segment(r.v0, r.size));
    start.noalias() -= o.dt * (D * s.v.segment(r.v0, r.size));
  }
}

// The first velocity of a segment whose sections would be squeezed to nothing at q_E, or -1: there
// xi[0] <= 0 and strains have no meaning.
int Stepper::first_squeezed() const {
  for (const RodElement& r : m.rods) {
    const RodSegment& segment = *r.segment;
    const auto& component = segment.component;
    if (std::find(component.begin(), component.end(), 0) == component.end()) continue;
    for (const RodStep& step : segment.steps) {
      double first = step.rest1[0], second = step.rest2[0];
      for (int i = step.begin; i < step.end; ++i) {
        const RodEntry& e = segment.entries[i];
        if (e.component != 0) continue;
        const double q = w.q_M[r.q0 + e.coefficient] + 0.5 * o.dt * w.v_E[r.v0 + e.coefficient];
        first += e.first * q;
        second += e.second * q;
      }
      if (!(first > 0 && second > 0)) return r.v0;
    }
  }
  return -1;
}

void Stepper::rod_work(EnergyTerms& e) {
  RodTerms& k = w.rods;
  for (const RodElement& r : m.rods) {
    if (!r.segment->rheology.empty())
      e.external += 0.5 * o.dt *
                    k.rheology.segment(r.v0, r.size)
                        .dot(w.v_S.segment(r.v0, r.size) + w.v_E.segment(r.v0, r.size));
    const Mat &K = r.segment->K, &D = r.segment->D;
    for (int c = 0; c < r.size; ++c) {
      const int v = r.v0 + c;
      const double moved = 0.5 * o.dt * (w.v_S[v] + w.v_E[v]);
      k.change[v] = moved - (k.a_E[v] - k.a_S[v]);
      k.x_theta[v] = w.q_S[r.q0 + c] + r.theta[c] * moved -
                     ((1 - r.theta[c]) * k.a_S[v] + r.theta[c] * k.a_E[v]);
    }
    for (int c = 0; c < r.size; ++c) {
      const int v = r.v0 + c;
      double viscous = 0, elastic = 0, changed = 0;
      for (int j = 0; j < r.size; ++j) {
        viscous += D(c, j) * 0.5 * (w.v_S[r.v0 + j] + w.v_E[r.v0 + j]);
        elastic += K(c, j) * k.x_theta[r.v0 + j];
        changed += K(c, j) * k.change[r.v0 + j];
      }
      e.dampers -= 0.5 * o.dt * (w.v_S[v] + w.v_E[v]) * viscous;
      e.dampers -= (r.theta[c] - 0.5) * k.change[v] * changed;
      e.muscles -= (k.a_E[v] - k.a_S[v]) * elastic;
    }
  }
}

}  // namespace saltus
