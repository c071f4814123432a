#!/usr/bin/env python3
"""Observed orders of convergence of the named scenes (docs/energy.md), before their motion is chaos.

    tools/energy_orders.py                                        the cases of CASES, below
    tools/energy_orders.py scenes/tumbling-body.yaml --end 0.5    a scene; steps: --step 1e-3 and halves of it

Of the centre of mass and of the energy at the end, from runs with the step and its halves: with no reference,
order k is log2 |x(dt) - x(dt/2)| / |x(dt/2) - x(dt/4)|. Impacts are found a step late at most, so that single
figures scatter about 1 where something strikes; past the onset of chaos there is no order.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from math import log2
from pathlib import Path

import h5py
import numpy as np

import energy_scenes

ROOT = Path(__file__).resolve().parent.parent
# Where the first contacts have acted and trajectories have not yet parted [s].
CASES = {"chain 10 minimal": 0.3, "chain 10 maximal": 0.3, "chain 20 minimal self": 0.3, "ragdoll": 0.5, "top": 1,
         "rattleback": 0.5, "dice": 0.08, "hinges": 0.3, "stairs-energetic": 0.25}


def end_state(binary, scene, sets, step, end, folder):
    """Centre of mass [m] and energy [J] at the end."""
    out = folder / "run.h5"
    command = [binary, "run", str(scene), "-q", "-o", str(out)]
    for s in [*sets, f"time.step={step:.9g}", f"time.end={end}", f"output.interval={end}", "metrics=[]"]:
        command += ["--set", s]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise RuntimeError(f"{scene}, step {step:g} s: {done.stderr.strip()}")
    with h5py.File(out) as f:
        energy = f["frames/kinetic"][-1] + f["frames/potential"][-1]
        return np.array(f["frames/com"][-1], float).ravel()[:3], float(energy)


def differences(states):
    """Of neighbours: distance of the centres of mass, difference of the energies."""
    pairs = list(zip(states, states[1:]))
    return ([float(np.linalg.norm(a[0] - b[0])) for a, b in pairs], [abs(a[1] - b[1]) for a, b in pairs])


def orders(d):
    return [log2(a / b) if a > 0 and b > 0 else float("nan") for a, b in zip(d, d[1:])]


def main() -> int:
    parser = argparse.ArgumentParser(description="observed orders of convergence before chaos")
    parser.add_argument("scenes", nargs="*", type=Path)
    parser.add_argument("--end", type=float, help="[s]; needed with scenes")
    parser.add_argument("--step", type=float, default=1e-3, help="the longest [s]")
    parser.add_argument("--halves", type=int, default=4)
    parser.add_argument("--binary", default=os.environ.get("SALTUS_BIN", str(ROOT / "build/release/bin/saltus")))
    options = parser.parse_args()
    if options.scenes and options.end is None:
        parser.error("--end: expected the time of the comparison [s]")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        work = [(p.stem, p, [], options.end) for p in options.scenes]
        if not work:
            texts = {name: (text, sets) for name, text, sets in energy_scenes.cases()}
            for i, (name, end) in enumerate(CASES.items()):
                path = folder / f"{i}.yaml"
                path.write_text(texts[name][0])
                work.append((name, path, texts[name][1], options.end or end))
        steps = [options.step / 2**k for k in range(options.halves + 1)]
        print("steps [ms]: " + ", ".join(f"{1e3 * s:g}" for s in steps))
        for name, path, sets, end in work:
            com, energy = differences([end_state(options.binary, path, sets, s, end, folder) for s in steps])
            figure = lambda xs: ", ".join(f"{x:.2g}" for x in xs)
            print(f"{name}, t = {end:g} s: centre of mass [m] {figure(com)}, orders {figure(orders(com))}; "
                  f"energy [J] {figure(energy)}, orders {figure(orders(energy))}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
