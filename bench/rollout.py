"""Throughput of saltus.rollout: copies of P2's trotting robot on all cores.

    make python && .venv/bin/python bench/rollout.py [--copies 1000] [--seconds 10] [--check 8]

Each copy starts a little elsewhere. The first --check copies are also stepped one by one and have to
end in the same bits."""
import argparse
import os
import time

import numpy as np

import saltus


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--copies", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--check", type=int, default=8)
    given = parser.parse_args()
    sim = saltus.Simulation(saltus.Scene(saltus.scene_path("p2/trot"), {"time.step": 2.5e-3}))
    random = np.random.default_rng(1)
    states = np.tile(np.concatenate([sim.state.q, sim.state.v]), (given.copies, 1))
    states[:, 2] += 2e-3 * random.random(given.copies)
    states[:, sim.model.nq:sim.model.nq + 3] += 0.2 * (random.random((given.copies, 3)) - 0.5)
    steps = round(given.seconds / sim.dt)
    start, used = time.perf_counter(), time.process_time()
    result = saltus.rollout(sim, states, steps, every=40, threads=given.threads)
    wall, cpu = time.perf_counter() - start, time.process_time() - used
    total = given.copies * steps
    print(f"{given.copies} copies of the trotting robot, {given.seconds:g} s each in steps of 2.5 ms, "
          f"{given.threads} threads: {wall:.1f} s, {total / wall:.0f} steps/s "
          f"({total / cpu:.0f} per second of CPU), {given.copies * given.seconds / wall:.0f} x real "
          f"time; {int(result.unconverged.sum())} steps unconverged, {int(result.diverged.sum())} "
          f"copies diverged, penetration {result.penetration.max():.1e} m")
    for i in range(min(given.check, given.copies)):
        one = saltus.Simulation(sim.model, sim.actuation, sim.state, sim.options)
        one.state.q, one.state.v = states[i, :sim.model.nq], states[i, sim.model.nq:]
        one.step(steps)
        assert one.state.q.tobytes() == result.states[i].q.tobytes(), f"copy {i} differs"
    print(f"the first {given.check} copies end in the same bits as single runs")


if __name__ == "__main__":
    main()
