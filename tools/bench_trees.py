#!/usr/bin/env python3
"""Speed of two trees of Saltus beside each other: the benchmarks of both in turn, several times, on one machine.

    tools/bench_trees.py BEFORE AFTER [--repeats 5] [--min-time 0.05] [--only dynamics snake robot quadruped]

BEFORE and AFTER are build folders with the benchmarks in bench/, each made in its own checkout by

    cmake --preset release -B build/bench -DSALTUS_BENCH=ON -DSALTUS_TESTS=OFF
    cmake --build build/bench --target dynamics_bench snake_bench robot_bench quadruped_saltus

Processor time: the least of the repeats, and in brackets how far the largest is above it. A row is slower where
its least time is above the least one before by more than the larger of the two spreads."""
import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

GROUPS = ["dynamics", "snake", "robot", "quadruped"]
UNIT = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}


def times_of(build, group, min_time):
    """Case -> microseconds of one run of a group's program."""
    program = build / "bench" / ("quadruped_saltus" if group == "quadruped" else f"{group}_bench")
    if not program.exists():
        sys.exit(f"bench_trees: no {program}: build it as the head of this file says")
    if group == "quadruped":
        rates = json.loads(output([program, "time"]))
        one = rates[0] if isinstance(rates, list) else rates
        rows = one.get("time", one)
        return {f"quadruped/{name}": 1e6 / max(values) for name, values in rows.items() if isinstance(values, list)}
    # Google Benchmark writes the spread of a counter that is always zero as NaN, which is no JSON.
    text = re.sub(r": -?NaN", ": null", output(
        [program, "--benchmark_format=json", f"--benchmark_min_time={min_time}", "--benchmark_filter=/saltus"]))
    return {re.sub(r"/iterations:.*", "", b["run_name"]): b["cpu_time"] * UNIT[b["time_unit"]]
            for b in json.loads(text)["benchmarks"] if b.get("run_type") == "iteration"}


def output(command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"bench_trees: {' '.join(map(str, command))} ended with status {done.returncode}:\n{done.stderr}")
    return done.stdout


def spread(values):
    return max(values) / min(values) - 1


def compare(before, after, repeats, min_time, groups):
    """Group by group, the two trees in turn: case -> (times before, times after)."""
    found = {}
    for group in groups:
        for _ in range(repeats):
            for side, build in enumerate((before, after)):
                for case, us in times_of(build, group, min_time).items():
                    found.setdefault(case, ([], []))[side].append(us)
    return {case: sides for case, sides in found.items() if all(sides)}


def verdict(before, after):
    ratio, limit = min(after) / min(before), max(spread(before), spread(after))
    return "slower" if ratio > 1 + limit else "faster" if ratio < 1 / (1 + limit) else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--min-time", type=float, default=0.05, help="of each benchmark [s]")
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=GROUPS)
    a = parser.parse_args()
    found = compare(a.before, a.after, a.repeats, a.min_time, a.only)
    print("| case | before [us] | after [us] | after / before | |\n|---|---|---|---|---|")
    for case, (before, after) in found.items():
        print(f"| {case} | {min(before):.4g} (+{100 * spread(before):.0f} %) | {min(after):.4g} "
              f"(+{100 * spread(after):.0f} %) | {min(after) / min(before):.2f} | {verdict(before, after)} |")


if __name__ == "__main__":
    main()
