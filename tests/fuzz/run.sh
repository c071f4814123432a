#!/usr/bin/env bash
# Runs the libFuzzer targets of build/fuzz, one after the other: run.sh [RUNS [FORMAT ...]]
# What they learn stays in build/fuzz/corpus, what they find in build/fuzz/found; so a run that was
# stopped goes on from where it was. An input may take FUZZ_TIMEOUT seconds (10) of wall time. Counts
# and speed are at the end of build/fuzz/FORMAT.log. Without the entropic schedule: its bookkeeping
# takes two thirds of the time here. Stacks of allocations are kept short for the same reason; run a
# finding again by itself to see all of them.
set -euo pipefail
cd "$(dirname "$0")/../.."
runs=${1:-10000000}
formats=("${@:2}")
((${#formats[@]})) || formats=(urdf mjcf sdf scene mesh grid problem run)
failed=0
export ASAN_OPTIONS=${ASAN_OPTIONS:-malloc_context_size=2:quarantine_size_mb=32}
for format in "${formats[@]}"; do
  learnt=$PWD/build/fuzz/corpus/$format found=$PWD/build/fuzz/found/$format
  mkdir -p "$learnt" "$found" build/fuzz/empty
  log=$PWD/build/fuzz/$format.log
  printf 'fuzz: %s: %d inputs\n' "$format" "$runs"
  # In an empty folder: names of files in an input lead nowhere.
  if (cd build/fuzz/empty && "../${format}_fuzz" -runs="$runs" -entropic=0 -max_len=4096 -timeout="${FUZZ_TIMEOUT:-10}" \
    -rss_limit_mb=2048 -dict="../../../tests/fuzz/$format.dict" -artifact_prefix="$found/" \
    -print_final_stats=1 -verbosity=1 "$learnt" "../../../tests/fuzz/corpus/$format") >"$log" 2>&1; then
    grep -E 'number_of_executed_units|average_exec_per_sec|peak_rss_mb' "$log"
  else
    tail -n 60 "$log"
    printf 'fuzz: %s: FAILED; the input is in %s, the log is %s\n' "$format" "$found" "$log" >&2
    failed=1
  fi
done
exit $failed
