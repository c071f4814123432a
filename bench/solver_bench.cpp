// One assembled inclusion: a raft of n contacts on one body (redundant for n > 2), and n bodies in
// a row with a contact each. Cold start, tolerance 1e-8 m/s.
#include <Eigen/Core>
#include <cmath>

#include "bench/register.h"
#include "saltus/solvers/prox.h"

namespace saltus::bench {
namespace {

// G = W' W / m of n contacts (normal, two tangents), coupled by `coupling` to their neighbours.
Inclusion row_of_contacts(int n, double coupling) {
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

template <class Options>
void add_solver(int n, double coupling, const char* label) {
  add("solvers/" + std::string(label) + "/saltus-" + std::string(Options::name),
      [n, coupling](benchmark::State& timer) {
        const Inclusion p = row_of_contacts(n, coupling);
        SolverWorkspace work;
        work.reserve(3 * n, n, 3 * n);
        Options options;
        options.tolerance = 1e-8;
        Vec Lambda = Vec::Zero(3 * n);
        SolveReport report;
        for (auto _ : timer) {
          Lambda.setZero();
          report = solve(p, Lambda, options, work);
        }
        timer.counters["iterations"] = report.iterations;
        timer.counters["unconverged"] = !report.converged;
      });
}

}  // namespace
}  // namespace saltus::bench

int main(int argc, char** argv) {
  using namespace saltus::bench;
  add_solver<saltus::ProxGaussSeidel>(20, 0.5, "row of 20");
  add_solver<saltus::ProxJacobi>(20, 0.5, "row of 20");
  add_solver<saltus::ProxGaussSeidel>(100, 0.9, "row of 100");
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
