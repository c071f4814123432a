// The contact problems that the solvers are timed on, in Delassus form: for us and for Siconos.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "bench/peer_scenes.h"
#include "bench/register.h"
#include "saltus/integrators/moreau/moreau.h"
#include "saltus/model/builder.h"

namespace saltus::bench {

struct ProblemSet {
  std::string name;
  std::vector<Inclusion> problems;
};

// n bodies in a row with a contact each (normal, two tangents), coupled to their neighbours.
inline Inclusion row_of_contacts(int n, double coupling) {
  Inclusion p;
  p.reserve(3 * n, n, 3 * n);
  p.clear();
  for (int i = 0; i < n; ++i) p.add(Coulomb{0.5, 0.5}, 0, 1);
  p.has_G = true;
  p.G.setZero();
  for (int i = 0; i < 3 * n; ++i) {
    p.G(i, i) = 1 + coupling;
    if (i >= 3) p.G(i, i - 3) = p.G(i - 3, i) = -0.5 * coupling;
  }
  for (int i = 0; i < n; ++i) p.c.segment<3>(3 * i) << -1, 0.6 * std::sin(i), 0.6 * std::cos(i);
  return p;
}

// The snake in space with one sphere contact a link, as the peers of the snake group have it.
struct SpatialSnake {
  Model model;
  State state;
  Actuation actuation;

  explicit SpatialSnake(int links) : model(build(links)), state(make_state(model)) {
    state.q[model.bodies[0].q0 + 2] = SnakeNumbers::radius;
    for (int i = 1; i < links; ++i) {
      Motor motor;
      motor.coordinate = model.coordinate(link(i));
      motor.reference = serpenoid(
          {40 * SnakeNumbers::degree, 80 * SnakeNumbers::degree, -50 * SnakeNumbers::degree}, i);
      motor.kp = SnakeNumbers::kp;
      motor.kd = SnakeNumbers::kd;
      actuation.motors.push_back(motor);
    }
  }

 private:
  static std::string link(int i) { return fmt::format("link{}", i); }
  static Model build(int links) {
    using Snake = SnakeNumbers;
    ModelBuilder builder;
    std::vector<std::string> balls;
    const RigidInertia ball{Snake::mass, Vec3::Zero(), solid_sphere(Snake::mass, Snake::radius)};
    for (int i = 0; i < links; ++i) {
      JointSpec joint;
      joint.kind = Floating{};
      if (i > 0) {
        joint.kind = Revolute{Vec3::UnitZ()};
        joint.parent = link(i - 1);
        joint.placement = SE3::translation({0.5 * Snake::length, 0, 0});
        joint.in_body = SE3::translation({-0.5 * Snake::length, 0, 0});
      }
      balls.push_back(link(i));
      builder.body(link(i), ball, joint);
      builder.shape(link(i), link(i), SE3{}, Sphere{Snake::radius});
    }
    builder.shape("ground", "world", SE3{}, HalfSpace{});
    ContactLaw law;
    law.mu1 = law.mu2 = Snake::mu;
    builder.contact(balls, {"ground"}, law);
    return builder.build();
  }
};

// The problems of steps 50, 100, ... of the snake: many more normals (one a link) than rigid
// motions that feel them, so their impulses are indeterminate.
inline std::vector<Inclusion> snake_problems(int links, int count) {
  SpatialSnake snake(links);
  StepWorkspace work(snake.model), scratch(snake.model);
  MoreauMidpoint options, dense;
  AutoSolver solver;
  solver.tolerance = 1e-8;
  options.solver = solver;
  ProxGaussSeidel one_sweep;  // a solver by this name is handed the dense problem
  one_sweep.max_iterations = 1;
  dense.solver = one_sweep;
  std::vector<Inclusion> result;
  for (int k = 1; k <= 50 * count; ++k) {
    if (k % 50 == 0) {
      State copy = snake.state;
      (void)step(snake.model, snake.actuation, copy, scratch, dense);
      Inclusion p = scratch.result.problems.at(0).problem;
      if (!p.has_G) p.G = p.W.leftCols(p.rows).transpose() * p.Y.leftCols(p.rows);
      p.has_G = true;
      result.push_back(std::move(p));
    }
    (void)step(snake.model, snake.actuation, snake.state, work, options);
  }
  return result;
}

inline std::vector<ProblemSet> problem_sets() {
  return {{"row of 20", {row_of_contacts(20, 0.5)}},
          {"row of 100", {row_of_contacts(100, 0.9)}},
          {"snake contacts N=50", snake_problems(50, 20)}};
}

// Times `solve(k, Lambda)` over the problems of a set in turn, from Lambda = 0: the mean time of
// one, how many the solver says it did not solve and the worst residual [m/s], ours, that is
// finite.
template <class Solve>
void time_set(benchmark::State& timer, const ProblemSet& set, Solve solve) {
  const int count = static_cast<int>(set.problems.size());
  std::vector<Vec> Lambda;
  for (const Inclusion& p : set.problems) Lambda.push_back(Vec::Zero(p.rows));
  std::vector<char> solved(count, 1);
  int next = 0;
  for (auto _ : timer) {
    Lambda[next].setZero();
    solved[next] = solve(next, Lambda[next]);
    next = (next + 1) % count;
  }
  double worst = 0;
  int missed = 0;
  for (int k = 0; k < count; ++k) {
    const Inclusion& p = set.problems[k];
    SolverWorkspace work;
    work.reserve(p.rows, static_cast<int>(p.blocks.size()), static_cast<int>(p.W.rows()));
    missed += !solved[k];
    const double r = residual(p, Lambda[k], work).value;
    if (std::isfinite(r)) worst = std::max(worst, r);
  }
  timer.counters["problems"] = count;
  timer.counters["unconverged"] = missed;
  timer.counters["residual"] = worst;
}

}  // namespace saltus::bench
