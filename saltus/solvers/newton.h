// A globalised semismooth Newton method for all laws, written once over a backend (backend.h).
//
// In rows scaled by the semi-axes of their sets (S: mu for friction, 1 else; y = S^-1 Lambda, eta =
// S xi) every friction set is a ball, and so is every projection in closed form. Two maps:
//
// Natural map (Alart-Curnier): one r per convex set (P2 eq. 13-16),
//     F(y) = y - proj(y - r eta),      the balls of radius n^ = max(0, n - r_N xi_N).
//   With P its derivative, regularised by rho r^-1 (y - y_k) at y_k, the Newton step is, a block,
//     (1 - P + P (rho + r S C S)) dy = -F - P r S dxi     =>   dLambda = g - K dxi,
//   K = S T^-1 P r S, g = -S T^-1 F: finite, whatever the rank of G. Steps are accepted by a
//   non-monotone search on sum |F|^2 / r [J]. Quadratic near a solution; may stall far from it.
//
// Proximal map: with s = sum mu |xi_T| frozen, Coulomb's law is the optimality of a convex cone
//   program (De Saxce). Its proximal step  min 1/2 L'(G + C) L + (c + s)'L + rho/2 |L - L_k|^2  has
//   the smooth convex dual whose gradient vanishes where
//     Lambda = proj_K(y_k - eta^ / rho) =: Lambda^(xi),
//   solved by Newton, dLambda = (Lambda^ - Lambda) - K dxi with K = S J S / rho symmetric, and an
//   exact line search on a monotone scalar function: it cannot fail for convex laws. s and L_k are
//   renewed after every step; the natural map's Newton polishes as soon as it can.
//
// Impulses that G does not determine: every step changes them least (in the scaled norm). With
// least_norm a first solve with a compliance of 1e-8 of each row's own G picks the smallest.
#pragma once
#include <span>

#include "saltus/solvers/backend.h"
#include "saltus/solvers/prox.h"

namespace saltus {

struct Newton : ProxOptions {
  static constexpr std::string_view name = "newton";
};

[[nodiscard]] SolveReport solve(const Inclusion& problem, VecRef Lambda, const Newton& options,
                                SolverWorkspace& work);

namespace newton_detail {

constexpr double least_norm_weight = 1e-8;

// Sizes, sets, scales and step lengths from w.diagonal; `extra` adds that share of each row's own
// G as compliance.
void prepare(std::span<const Block> blocks, int rows, double extra, NewtonWorkspace& w);
// The residual of the problem with w.compliance; xi without compliance.
Residual judge(std::span<const Block> blocks, VecIn Lambda, VecIn xi, const NewtonWorkspace& w);
// Lambda onto the sets, block by block.
void restore(std::span<const Block> blocks, VecRef Lambda);

// The merit of F [J]; xi without compliance.
double natural_merit(std::span<const Block> blocks, VecIn Lambda, VecIn xi,
                     const NewtonWorkspace& w);
// K and g of its Newton step, and the merit.
double natural_step(std::span<const Block> blocks, VecIn Lambda, VecIn xi, double rho,
                    NewtonWorkspace& w);
// About the merit of impulses whose residual is `tolerance` in every set: a larger one is not
// worth a look.
double merit_at(double tolerance, std::span<const Block> blocks, const NewtonWorkspace& w);

// w.shift moves towards s by `weight` of the way.
void freeze_slip(std::span<const Block> blocks, VecIn Lambda, VecIn xi, double weight,
                 NewtonWorkspace& w);
// hat = Lambda^(xi + compliance part); with `derivative` also K (compliance not folded in).
void proximal_map(std::span<const Block> blocks, VecIn xi, double rho, bool derivative,
                  NewtonWorkspace& w);
// g = hat - Lambda, then K and g for dxi without compliance.
void proximal_step(std::span<const Block> blocks, VecIn Lambda, NewtonWorkspace& w);
double scaled_norm(std::span<const Block> blocks, VecIn x, const NewtonWorkspace& w);

}  // namespace newton_detail

}  // namespace saltus
