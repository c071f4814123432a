"""Stepping from Python beside stepping in C++: the snake among the pegs.

    make build python && .venv/bin/python bench/python_step.py [--steps N] [--rounds N]

Each way steps the same N steps; processor time is counted, the rounds alternate and the fastest of
each counts, so that other work on the machine disturbs little. The last states are equal in every
bit."""
import argparse
import json
import subprocess
import time
from pathlib import Path

import numpy as np

import saltus

ROOT = Path(__file__).resolve().parent.parent
SCENE = ROOT / "scenes/p0/pegs.yaml"


def in_cpp(steps):
    tool = ROOT / "build/release/bin/step_rate"
    out = subprocess.run([tool, SCENE, str(steps)], capture_output=True, check=True, text=True)
    result = json.loads(out.stdout)
    return result["seconds"], np.array(result["q"])


def timed(step):
    def go(steps):
        sim = saltus.Simulation(saltus.Scene(SCENE))
        start = time.process_time()
        step(sim, steps)
        return time.process_time() - start, sim.state.q.copy()

    return go


def one_call(sim, steps):
    sim.step(steps)


def call_a_step(sim, steps):
    for _ in range(steps):
        sim.step()


def callback(sim, steps):
    sim.actuation.force = lambda t, q, v, tau, work: None
    sim.step(steps)


def run(steps):
    start = time.process_time()
    result = saltus.run(SCENE, {"time.end": steps * 1e-3}, record=False)
    return time.process_time() - start, result.state.q.copy()


WAYS = {
    "C++ loop": in_cpp,
    "Python: sim.step(N)": timed(one_call),
    "Python: saltus.run, metrics, not recorded": run,
    "Python: N times sim.step()": timed(call_a_step),
    "Python: sim.step(N), empty force callback": timed(callback),
}


def measure(steps: int, rounds: int) -> dict[str, float]:
    """Microseconds a step, the best of all rounds."""
    best = dict.fromkeys(WAYS, float("inf"))
    states = {}
    for _ in range(rounds):
        for name, way in WAYS.items():
            seconds, states[name] = way(steps)
            best[name] = min(best[name], 1e6 * seconds / steps)
    reference = states["C++ loop"]
    assert all(q.tobytes() == reference.tobytes() for q in states.values())
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    best = measure(given.steps, given.rounds)
    print(f"snake among pegs, maximal coordinates, {given.steps} steps, best of {given.rounds}")
    for name, us in best.items():
        print(f"  {name:<44} {us:8.2f} us a step  {100 * (us / best['C++ loop'] - 1):+6.2f} %")


if __name__ == "__main__":
    main()
