// A primal-dual interior-point method for all laws whose impulses lie in products of cones, over
// any backend (backend.h): the robust link where Newton's method on the natural map and sweeps
// stand still.
//
// In rows scaled by the semi-axes (y = S^-1 Lambda, eta = S xi) a set is one or two cones of the
// second order, s = A y + a in K: the normal with its disc (y_N, y_T), a disc of given load
// (1, y_T), a bound (y - lower), (upper - y). With the slip speeds sigma = sum |eta_T| beside the
// normal rows (De Saxce) the law is
//     eta + sigma e_N = sum A' z,    s o z = 0,    s, z in K.
// A step linearises this with s o z = mu 1 in the scaling of Nesterov and Todd, W z = W^-1 s:
//     H dy = sum A' W^-1 q - rho - d(eta + sigma e_N),   H = sum A' W^-2 A + S C S + delta,
// where q is what the centre and Mehrotra's corrector ask and rho the miss of the first equation;
// so dLambda = g - K dxi with K finite and definite. delta is proximal: it moves no solution.
// With `coupling` 0 sigma is taken from the iterate before, and K is symmetric; with 1 its
// derivative is in K, which converges where friction couples strongly.
//
// It comes near from anywhere, in 10 to 40 steps that hardly depend on the size; the last digits
// are Newton's.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "saltus/solvers/backend.h"
#include "saltus/solvers/newton.h"

namespace saltus {

// A cone of the second order of up to three rows, or a half line.
struct InteriorCone {
  int rows = 1;
  bool normal = false;          // row 0 is the block's row 0; else the constant 1
  int first = 0;                // of the block: the rows after it, or the one of a half line
  double sign = 1, offset = 0;  // of a half line: s = sign y + offset
  Vec3 s = Vec3::Zero(), z = Vec3::Zero(), ds = Vec3::Zero(), dz = Vec3::Zero();
  Vec3 w = Vec3::Zero(), lambda = Vec3::Zero();  // W = scale (w), W z = W^-1 s = lambda
  double scale = 1;
};

struct InteriorScratch {
  std::vector<InteriorCone> cones;
  std::vector<int> begin;  // of each block's cones; one more at the end
  BlockMatrices H;         // its inverse
  Vec S, y, eta, slip, start;
  double coupling = 0;
  double reach = 1;  // how far inside it begins: times the residual of its start
  static constexpr double delta = 1e-7;          // of each row's own G
  static constexpr double neighbourhood = 1e-3;  // least product of a cone, of the mean
  static constexpr double least_share = 1e-6;    // of mu that a step aims at
  // After a step shorter than this the next one aims at a larger share: back to the centre.
  static constexpr double crowded_step = 0.1, recentring = 0.8;
  static constexpr int patience = 10;  // steps that bring no tenth of the residual
};

// Searches of the method, one after the other: where a path bends back before its end, another one
// may not. From the warm start or from zero, with a coupling and a reach.
struct InteriorPath {
  bool warm;
  double coupling, reach;
};
inline constexpr std::array<InteriorPath, 4> interior_paths{
    {{false, 1, 1}, {false, 1, 10}, {true, 1, 10}, {true, 0, 1}}};

namespace interior_detail {

// Cones of all blocks; false where a law has none (Hu's rule).
[[nodiscard]] bool open(std::span<const Block> blocks, VecIn Lambda, VecIn xi,
                        const NewtonWorkspace& w, InteriorScratch& p);
// Lambda to the inside by impulses that make `speed` of each row.
void push_inside(std::span<const Block> blocks, double speed, VecRef Lambda,
                 const NewtonWorkspace& w, InteriorScratch& p);
void start_duals(std::span<const Block> blocks, VecIn Lambda, VecIn xi, double speed,
                 const NewtonWorkspace& w, InteriorScratch& p);
// The scaling and K; returns mu.
double scale(std::span<const Block> blocks, VecIn Lambda, VecIn xi, NewtonWorkspace& w,
             InteriorScratch& p);
// g for a target of s o z; with Mehrotra's second-order term of ds, dz at hand.
void right_side(std::span<const Block> blocks, double target, bool corrector, NewtonWorkspace& w,
                InteriorScratch& p);
// ds, dz of dLambda; the longest step.
double directions(std::span<const Block> blocks, double target, bool corrector,
                  const NewtonWorkspace& w, InteriorScratch& p);
double gap_at(double t, const InteriorScratch& p);
// Whether no cone's product at t is below that share of the mean.
bool central(double t, double share, const InteriorScratch& p);
// What the slip speed's bend adds to the step's line goes to z, which it only leads inwards.
void move(std::span<const Block> blocks, double t, const NewtonWorkspace& w, InteriorScratch& p);

}  // namespace interior_detail

// Lambda: warm start, then the best met; returns its residual.
template <NewtonBackend Backend>
Residual interior_point(std::span<const Block> blocks, int rows, const ProxOptions& o,
                        int most_iterations, Backend& backend, NewtonWorkspace& w,
                        InteriorScratch& p, VecRef Lambda, int& iterations,
                        std::vector<double>* history = nullptr) {
  using namespace interior_detail;
  const auto head = [&](Vec& x) { return x.head(rows); };
  if (w.diagonal.size() < rows) w.diagonal.setZero(rows);
  backend.diagonal(head(w.diagonal));
  newton_detail::prepare(blocks, rows, 0, w);
  if (p.start.size() < rows) p.start.setZero(rows);
  head(p.start) = Lambda;
  newton_detail::restore(blocks, head(p.start));
  backend.velocity(head(p.start), head(w.xi));
  Residual best = newton_detail::judge(blocks, head(p.start), head(w.xi), w);
  head(w.best) = head(p.start);
  if (!std::isfinite(best.value)) {
    head(p.start).setZero();
    head(w.best).setZero();
    backend.velocity(head(p.start), head(w.xi));
    best = newton_detail::judge(blocks, head(p.start), head(w.xi), w);
  }
  if (best.value <= o.tolerance || !open(blocks, head(p.start), head(w.xi), w, p)) {
    Lambda = head(w.best);
    return best;
  }
  const double speed = p.reach * best.value;
  push_inside(blocks, speed, head(p.start), w, p);
  backend.velocity(head(p.start), head(w.xi));
  start_duals(blocks, head(p.start), head(w.xi), speed, w, p);
  int idle = 0;
  bool crowded = false;  // a cone next to its boundary stopped the last step
  double mark = std::numeric_limits<double>::infinity();
  for (int k = 0; k < most_iterations; ++k) {
    const double mu = scale(blocks, head(p.start), head(w.xi), w, p);
    if (!std::isfinite(mu)) break;
    right_side(blocks, 0, false, w, p);
    backend.linear(w.K, head(w.g), head(w.dLambda), head(w.dxi));
    ++iterations;
    if (!w.dLambda.head(rows).allFinite()) break;
    double t = directions(blocks, 0, false, w, p);
    const double ahead = gap_at(std::min(1.0, t), p) / mu;
    const double least = crowded ? p.recentring : p.least_share;
    const double share = std::clamp(ahead * ahead * ahead, least, 1.0);
    right_side(blocks, share * mu, true, w, p);
    backend.linear(w.K, head(w.g), head(w.dLambda), head(w.dxi));
    if (!w.dLambda.head(rows).allFinite()) break;
    t = directions(blocks, share * mu, true, w, p);
    t = std::min(1.0, 0.99 * t);
    for (int i = 0; i < 40 && !central(t, p.neighbourhood, p); ++i) t *= 0.9;
    crowded = t < p.crowded_step;
    move(blocks, t, w, p);
    head(p.start) += t * head(w.dLambda);
    backend.velocity(head(p.start), head(w.xi));
    // Judged on its sets: small impulses of open contacts then count as what they are.
    head(w.trial) = head(p.start);
    newton_detail::restore(blocks, head(w.trial));
    const Residual now = newton_detail::judge(blocks, head(w.trial), head(w.xi), w);
    if (history) history->push_back(now.value);
    if (now.value < best.value) {
      best = now;
      head(w.best) = head(w.trial);
    }
    if (best.value <= o.tolerance) break;
    idle = now.value < 0.9 * mark ? 0 : idle + 1;
    mark = std::min(mark, now.value);
    if (idle >= p.patience || t < 1e-10) break;
  }
  Lambda = head(w.best);
  // The judgement above took the velocity of the impulses before they were put on their sets.
  backend.velocity(Lambda, head(w.xi));
  return newton_detail::judge(blocks, Lambda, head(w.xi), w);
}

}  // namespace saltus
