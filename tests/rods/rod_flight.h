// Runs a rod by the classical Runge-Kutta method, the base's pose in a chart about the step's
// start.
#pragma once
#include <Eigen/Eigenvalues>
#include <cmath>
#include <cstdio>
#include <functional>
#include <stdexcept>

#include "saltus/rods/rod.h"

namespace saltus::test {

struct Flight {
  Rod rod;
  RodState state;
  RodLoads loads;
  Mat6X base;                                           // columns of its free twists
  std::function<Vec6(double t, const SE3& base)> push;  // a wrench on the base, in its frame
  std::function<Vec6(double t)> drive;                  // or its acceleration, given
  double t = 0;
  RodWork work;

  // (Theta, V, q, v): the base's pose is that of `start` moved by exp(Theta).
  [[nodiscard]] Vec rate(double time, const SE3& start, const Vec& y) {
    const int n = rod.size;
    RodState x{start * exp_se3(y.head<6>()), y.segment<6>(6), y.segment(12, n), y.tail(n)};
    rod_motion(rod, x, work);
    rod_wrenches(rod, loads, work);
    Vec6 a = drive ? drive(time) : Vec6(Vec6::Zero());
    Vec dv(n);
    const Vec6 f = push ? push(time, x.base) : Vec6(Vec6::Zero());
    const Mat6X* free = drive || base.cols() == 0 ? nullptr : &base;
    if (!rod_articulated(rod, x, work, free, f, a, dv)) throw std::runtime_error("no acceleration");
    Vec rate(y.size());
    rate << dexp_inv_se3(y.head<6>()) * x.V, a, x.v, dv;
    return rate;
  }
  void step(double dt) {
    const int n = rod.size;
    Vec y(12 + 2 * n);
    y << Vec6::Zero(), state.V, state.q, state.v;
    const Vec k1 = rate(t, state.base, y);
    const Vec k2 = rate(t + dt / 2, state.base, y + dt / 2 * k1);
    const Vec k3 = rate(t + dt / 2, state.base, y + dt / 2 * k2);
    const Vec k4 = rate(t + dt, state.base, y + dt * k3);
    y += dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    state = {state.base * exp_se3(y.head<6>()), y.segment<6>(6), y.segment(12, n), y.tail(n)};
    t += dt;
  }
  void run(double until, int steps) {
    work.resize(rod);
    const double dt = (until - t) / steps;
    for (int k = 0; k < steps; ++k) step(dt);
    rod_motion(rod, state, work);
  }
  void begin() {
    state.q = state.v = Vec::Zero(rod.size);
    work.resize(rod);
    rod_motion(rod, state, work);
  }
  // Runs with the longest step at which the method is stable for every mode of the present shape:
  // 2.8 over the largest frequency, less a tenth.
  void run_stably(double until) {
    const double omega = frequencies(rod, state, base)[0];
    const int steps = static_cast<int>(std::ceil((until - t) * omega / 2.5));
    std::printf("[  FIGURE  ] largest frequency %.0f rad/s, %d steps\n", omega, steps);
    run(until, steps);
  }
  // Of small motions about a shape at rest, the largest first: K against M.
  [[nodiscard]] static Vec frequencies(const Rod& of, const RodState& at, const Mat6X& twists) {
    const int n = of.size;
    RodWork own;
    own.resize(of);
    rod_motion(of, {at.base, Vec6::Zero(), at.q, Vec::Zero(n)}, own);
    Mat M(6 + n, 6 + n);
    rod_mass(of, own, M);
    const auto k = twists.cols();
    Mat P = Mat::Zero(6 + n, k + n), K = Mat::Zero(k + n, k + n);
    P.topLeftCorner(6, k) = twists;
    P.bottomRightCorner(n, n).setIdentity();
    for (std::size_t s = 0; s < of.segments.size(); ++s) {
      const int size = of.segments[s].size;
      K.block(k + of.first[s], k + of.first[s], size, size) = of.segments[s].K;
    }
    const Mat reduced = P.transpose() * M * P;
    const Eigen::GeneralizedSelfAdjointEigenSolver<Mat> solver(K, reduced, Eigen::EigenvaluesOnly);
    return solver.eigenvalues().reverse().cwiseMax(0).cwiseSqrt();
  }
  [[nodiscard]] RodEnergy energy() const { return rod_energy(rod, state, work, loads.gravity); }
  [[nodiscard]] Vec6 momentum() const { return rod_momentum(rod, work); }
};

}  // namespace saltus::test
