#include "saltus/simulate/rollout.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "saltus/base/error.h"
#include "saltus/base/parallel.h"
#include "saltus/dynamics/preconditions.h"

namespace saltus {

namespace {

constexpr std::int64_t steps_between_questions = 64;

struct Rollout {
  const Model& m;
  const Actuation& act;
  const MoreauMidpoint& o;
  const RolloutPlan& plan;
  double *q, *v;
  std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> stopped = false;

  void keep(const State& s, std::int64_t copy, std::int64_t row) const {
    const std::int64_t at = copy * plan.rows() + row;
    std::copy_n(s.q.data(), m.nq, q + at * m.nq);
    std::copy_n(s.v.data(), m.nv, v + at * m.nv);
  }

  bool ask() {
    if (plan.go_on && std::this_thread::get_id() == caller && !plan.go_on()) stopped = true;
    return !stopped;
  }

  void run(State& s, int copy, RolloutReport& report) {
    StepWorkspace work(m);
    Actuation own = act;
    std::int64_t i = 0;
    if (plan.forces)
      own.user = [&](const Model&, const Workspace&, double, VecIn, VecIn, VecRef tau,
                     std::vector<Vec6>&) {
        tau += Eigen::Map<const Vec>(plan.forces + (copy * plan.steps + i) * m.nv, m.nv);
      };
    keep(s, copy, 0);
    for (; i < plan.steps; ++i) {
      if (i % steps_between_questions == 0 && !ask()) return;
      const StepReport r = step(m, own, s, work, o);
      if (r.diverged || r.singular) {
        report.diverged = true;
        return;
      }
      ++report.steps;
      report.unconverged += !r.solve().converged;
      report.residual = std::max(report.residual, r.solve().residual);
      report.penetration = std::max(report.penetration, r.projection.penetration);
      if ((i + 1) % plan.every == 0) keep(s, copy, (i + 1) / plan.every);
    }
  }
};

}  // namespace

std::vector<RolloutReport> rollout(const Model& model, const Actuation& actuation,
                                   std::vector<State>& states, const MoreauMidpoint& options,
                                   const RolloutPlan& plan, double* q, double* v) {
  SALTUS_ASSERT(plan.steps >= 1 && plan.every >= 1);
  SALTUS_ASSERT(
      std::all_of(states.begin(), states.end(), [&](const State& s) { return fits(model, s); }));
  if (actuation.user)
    throw InputError("a rollout takes no force callback: its copies run side by side");
  MoreauMidpoint one = options;
  one.poses = false;
  one.threads = 1;  // the copies are the turns
  std::vector<RolloutReport> reports(states.size());
  Rollout r{model, actuation, one, plan, q, v};
  parallel_for(static_cast<int>(states.size()), plan.threads,
               [&](int i) { r.run(states[i], i, reports[i]); });
  return reports;
}

}  // namespace saltus
