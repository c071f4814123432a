// What Newton's method asks of a problem, and the two dense answers.
//
// A backend knows c and G = W' M^-1 W in some form and the blocks' rows, and offers
//   velocity(Lambda, xi)             xi = c + G Lambda, without compliance
//   linear(K, g, dLambda, dxi)       dLambda_i = g_i - K_i dxi_i with dxi = G dLambda
//   diagonal(d)                      the diagonal of G
// K_i is finite, generally unsymmetric, zero for an open contact, about 1/rho where it sticks.
//
// Dual:    (1 + K G) dLambda = g                       in the rows with K != 0;
// primal:  (M + W K W') dv = W g,  dxi = W' dv,  dLambda = g - K dxi      in nv velocities,
//          or (1 + Y K W') dv = Y g where only Y = M^-1 W is known. Contacts with the world add to
//          the inertia of their body: on a tree the same step is one articulated sweep.
// Both keep their factor while K stays the same.
#pragma once
#include <concepts>
#include <span>

#include "saltus/solvers/inclusion.h"

namespace saltus {

template <class B>
concept NewtonBackend = requires(B& backend, VecIn x, VecRef y, VecRef z, const BlockMatrices& K) {
  backend.velocity(x, y);
  backend.linear(K, x, y, z);
  backend.diagonal(y);
};

// Whether a factor made of b is one of a.
[[nodiscard]] bool same_blocks(const BlockMatrices& a, const BlockMatrices& b,
                               std::span<const Block> blocks);

class DualBackend {
 public:
  DualBackend(const Inclusion& problem, NewtonWorkspace& work);
  void velocity(VecIn Lambda, VecRef xi) const;
  void linear(const BlockMatrices& K, VecIn g, VecRef dLambda, VecRef dxi);
  void diagonal(VecRef d) const;

 private:
  void factor(const BlockMatrices& K);
  const Inclusion& p_;
  NewtonWorkspace& w_;
};

class PrimalBackend {
 public:
  PrimalBackend(const Inclusion& problem, NewtonWorkspace& work);
  void velocity(VecIn Lambda, VecRef xi);
  void linear(const BlockMatrices& K, VecIn g, VecRef dLambda, VecRef dxi);
  void diagonal(VecRef d) const;

 private:
  void factor(const BlockMatrices& K);
  const Inclusion& p_;
  NewtonWorkspace& w_;
};

static_assert(NewtonBackend<DualBackend> && NewtonBackend<PrimalBackend>);

}  // namespace saltus
