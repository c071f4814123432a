"""What a study costs beyond its stepping: `.venv/bin/python bench/study_overhead.py [RUNS]`.

Runs of about 50 ms of stepping, with one process pinned to one core and with two on two. Pure stepping is one long run
of the same scene, its processor time per step; the overhead is the processor time of the whole study, driver and
workers, start and end, over that of as many steps, minus one: it also means something on a machine that others use.
Wall times and the throughput of two cores mean nothing there. Memory is the driver's peak after a tenth of the runs
and after all of them."""
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import saltus

BALL = """saltus: 1
bodies: [{name: ball, mass: 1, solid: {shape: sphere, radius: 0.1}, joint: {type: floating},
          shapes: [{type: sphere, radius: 0.1}]}]
obstacles: [{name: floor, type: half-space}]
contacts: [{between: [floor, ball], friction: 0.2}]
initial: {ball: {q: [0, 0, 0.1, 1, 0, 0, 0], v: [7, 0, 0, 0, 0, 0]}}
time: {step: 1 ms, end: STEPS}
probes: [{name: ball, body: ball}]
metrics: [{name: x, type: position, probe: ball, axis: x, at: 0.5}]
"""
STUDY = """saltus_study: 1
scene: ball.yaml
parameters: [{name: v, path: "initial.ball.v[0]", from: 1, to: 9}]
design: sobol
points: RUNS
metrics: [x]
"""


def measure(folder: Path, workers: int, runs: int) -> tuple[float, float, float]:
    """Wall time [s], processor time [s], peak memory of the driver [MB]."""
    (folder / "study.yaml").write_text(STUDY.replace("RUNS", str(runs)))
    cores = sorted(os.sched_getaffinity(0))[:workers]
    out = folder / f"out{workers}-{runs}"
    began = time.perf_counter()
    child = subprocess.Popen([sys.executable, "-m", "saltus", "sweep", folder / "study.yaml", "-o", out, "-j",
                              str(workers), "--no-report", "-q"],
                             preexec_fn=lambda: os.sched_setaffinity(0, cores))
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - began
    assert status == 0
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def per_step(folder: Path) -> float:
    """Processor time of a step [s]: the least of some long runs."""
    scene = folder / "long.yaml"
    scene.write_text(BALL.replace("STEPS", "100"))
    times = []
    for _ in range(5):
        began = time.process_time()
        steps = saltus.run(scene, record=False).summary["steps"]
        times.append((time.process_time() - began) / steps)
    return min(times)


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        step = per_step(folder)
        steps = round(0.05 / step)
        (folder / "ball.yaml").write_text(BALL.replace("STEPS", f"{steps * 1e-3:.3f}"))
        print(f"{runs} runs of {steps} steps of {step * 1e6:.2f} us")
        small = measure(folder, 1, max(runs // 10, 1))
        one = measure(folder, 1, runs)
        two = measure(folder, 2, runs) if os.cpu_count() > 1 else None
    pure = runs * steps * step
    print(f"one core: {one[0]:.1f} s, processor time {one[1]:.1f} s for {pure:.1f} s of stepping: overhead "
          f"{100 * (one[1] / pure - 1):.1f} %")
    print(f"memory of the driver: {small[2]:.0f} MB after a tenth, {one[2]:.0f} MB after all")
    if two:
        print(f"two cores: {two[0]:.1f} s, {one[0] / two[0]:.2f} times the throughput")


if __name__ == "__main__":
    main()
