// Google Benchmark with our habits: every case is repeated, ours and the peers' take turns at
// random, and the least of the repetitions counts, so that a busy machine does not decide.
// A name is "group/case/engine"; `saltus bench` compares the engines of one group and case.
#pragma once
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

namespace saltus::bench {

template <class F>
benchmark::internal::Benchmark* add(const std::string& name, F&& run) {
  return benchmark::RegisterBenchmark(name.c_str(), std::forward<F>(run))
      ->ComputeStatistics(
          "min",  // of the times
          [](const std::vector<double>& x) { return *std::min_element(x.begin(), x.end()); })
      ->ComputeStatistics("max", [](const std::vector<double>& x) {  // of the counters
        return *std::max_element(x.begin(), x.end());
      });
}

// The rest of main(), once everything is registered.
inline int run_registered(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace saltus::bench
