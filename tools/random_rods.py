#!/usr/bin/env python3
"""Random rods dropped on random ground, by seed, and what must hold of every one of them.

    tools/random_rods.py --count 100 [--first SEED] [--end 1] [--binary build/release/bin/saltus]
    tools/random_rods.py --print SEED

Scene k is made from seed k alone (`random_scenes.Chance`: the same text everywhere): one or two free rods of
1 to 6 segments, straight or curved, of any basis, some that stretch and shear, some that taper, from soft to
stiff, thrown at a floor, a slope, rough ground, pegs, boxes, logs or balls; friction 0 to 1.5, on some
different along the rod, across it and backwards; restitution 0 to 0.9.

Of every run: it ends, or says at once when and why it does not; no number is none; no step missed its
tolerance unsaid; after correction nothing is deeper than 1e-6 m; energy is within the bound of
docs/energy.md. Prints a line for each scene of which that is not so, then counts, among them steps that missed
the tolerance and said so. Exit code 1 if there is a scene that does not hold.
The generator stood before the code was first run on it; seeds that fail stay as they are.
"""

import argparse
import json
import math
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from random_scenes import Chance, frame, seeds, value  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
DEEPEST = 1e-6  # [m] after correction, beyond what a rod began with
STEPS = [5e-4, 1e-3, 2e-3]
GROUND = {"floor": 30, "slope": 12, "field": 12, "pegs": 14, "boxes": 10, "logs": 14, "balls": 8}


def obstacles(c, size):
    """What they fall on; its highest point."""
    kind = c.choose(GROUND)
    if kind == "field":
        n = 2 * c.integer(3, 7)
        cell, high = size * c.uniform(0.05, 0.3), 0.1 * size
        heights = [[high * c.draw() for _ in range(n)] for _ in range(n)]
        return [{"name": "field", "type": "height-field", "spacing": [cell, cell], "heights": heights}], high
    tilt = [1, 0, 0, 0]
    if kind == "slope":
        a = c.uniform(0.03, 0.2)
        tilt = [1 / math.sqrt(1 + a * a), 0, a / math.sqrt(1 + a * a), 0]
    found = [{"name": "floor", "type": "half-space", "at": frame([0, 0, 0], tilt)}]
    top = 0
    for i in range(0 if kind in ("floor", "slope") else c.integer(1, 5)):
        x, y = (size * c.uniform(-0.6, 0.6) for _ in range(2))
        r = size * c.uniform(0.02, 0.15)
        if kind == "pegs":
            found.append({"name": f"peg{i}", "type": "capsule", "radius": r, "half_length": 0.3 * size,
                          "at": frame([x, y, 0.1 * size], [0.70710678118654757, 0, 0.70710678118654757, 0])})
            top = max(top, 0.4 * size + r)
        elif kind == "logs":
            found.append({"name": f"log{i}", "type": "capsule", "radius": r, "half_length": size,
                          "at": frame([x, y, r * c.uniform(0, 1)], [c.uniform(-1, 1), 0, 0, 1.5])})
            q = found[-1]["at"]["quaternion"]
            n = math.sqrt(q[0] * q[0] + q[3] * q[3])
            found[-1]["at"]["quaternion"] = [q[0] / n, 0, 0, q[3] / n]
            top = max(top, 2 * r)
        elif kind == "balls":
            found.append({"name": f"ball{i}", "type": "sphere", "radius": r, "at": frame([x, y, r])})
            top = max(top, 2 * r)
        else:
            b = [size * c.uniform(0.05, 0.3) for _ in range(3)]
            q = c.rotation(0.3)
            found.append({"name": f"box{i}", "type": "box", "size": b, "at": frame([x, y, 0.3 * b[2]], q)})
            top = max(top, 0.3 * b[2] + 0.5 * (b[0] + b[1] + b[2]))
    return found, top


def rod(c, name, size, place):
    """A rod and how it begins; `place`: where its middle is."""
    segments = c.integer(1, 6)
    length = size * c.uniform(0.6, 1.4)
    radius = length * c.uniform(0.005, 0.03)
    E = 1e5 * (1 << c.integer(0, 13)) * (1 + c.draw())
    kind = c.choose({"legendre": 40, "linear": 25, "constant": 35})
    functions = c.integer(1, 6 if segments == 1 else 2)
    found = {"name": name, "joint": {"type": "floating"}, "length": length, "segments": segments,
             "basis": kind, "functions": functions}
    if c.hit(0.2):
        found["rectangle"] = [2 * radius, radius * c.uniform(0.5, 2)]
    else:
        found["radius"] = radius
        if c.hit(0.3):
            found["radius_end"] = radius * c.uniform(0.3, 1)
    found["material"] = {"E": E, "nu": c.uniform(0, 0.5), "rho": 1000 * c.uniform(0.5, 3),
                         "viscosity": E * c.choose({0: 3, 0.0005: 3, 0.005: 3, 0.05: 1})}
    components = ["torsion", "bend_y", "bend_z"]
    if c.hit(0.15):
        components += ["stretch"]
    if c.hit(0.1):
        components += ["shear_y", "shear_z"]
    if c.hit(0.2):
        components.remove("torsion")
    found["components"] = components
    if c.hit(0.3):
        found["curvature"] = [c.uniform(-1, 1) / length for _ in range(3)]
    if c.hit(0.3):
        found["theta"] = c.uniform(0.5, 1)
    found["shapes"] = [{"type": "sphere", "radius": radius} if c.hit(0.8) else {"type": "point"}]
    q = c.rotation()
    # Its axis, turned: the base is half of it behind the middle.
    w, x, y, z = q
    along = [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)]
    base = [p - 0.5 * length * a for p, a in zip(place, along)]
    v = [c.uniform(-1, 1) * size * 5 for _ in range(3)] + [c.uniform(-4, 4) for _ in range(3)]
    return found, {f"{name}.base": {"q": base + q, "v": v}}


def scene(seed):
    c = Chance(seed)
    size = c.octaves(0.1, 3)  # [m], 10 to 80 cm
    dt = STEPS[c.integer(0, len(STEPS) - 1)]
    ground, top = obstacles(c, size)
    rods, initial = [], {}
    for k in range(2 if c.hit(0.25) else 1):
        high = top + size * (1.0 + 1.7 * k)  # nothing begins in anything
        one, begin = rod(c, f"rod{k}", size, [size * c.uniform(-0.2, 0.2), size * c.uniform(-0.2, 0.2), high])
        rods.append(one)
        initial |= begin
    mu = c.choose({0: 15, 1: 60, 2: 25})
    friction = 0 if mu == 0 else c.uniform(0.05, 1.5)
    if mu == 2:  # along the rod, across it and, of some, against it
        friction = [0.3 * friction, friction]
        if c.hit(0.5):
            friction = {"forward": friction[0], "backward": 3 * friction[0], "lateral": friction[1]}
    e = c.uniform(0, 0.9) if c.hit(0.3) else 0
    others = [o["name"] for o in ground]
    laws = []
    for r in rods:
        for o in others:
            law = {"between": [f"{r['name']}.*", o], "friction": friction, "restitution": e}
            if mu == 2:
                law["axes"] = "first"
            laws.append(law)
        if c.hit(0.5):
            laws.append({"between": [f"{r['name']}.*", f"{r['name']}.*"], "friction": 0 if mu == 0 else 0.3})
    if len(rods) == 2:
        laws.append({"between": ["rod0.*", "rod1.*"], "friction": 0 if mu == 0 else 0.3})
    text = ["saltus: 1", f"title: Random rods, seed {seed}", "rods:"]
    text += [f"  - {value(r)}" for r in rods]
    text += ["obstacles:"] + [f"  - {value(o)}" for o in ground]
    text += ["contacts:"] + [f"  - {value(law)}" for law in laws]
    text += ["initial:"] + [f"  {k}: {value(v)}" for k, v in initial.items()]
    text += [f"time: {{step: {dt:g}, end: 1}}"]
    return "\n".join(text) + "\n"


def judge(binary, seed, end, limit, folder):
    """What does not hold of a scene, as text, "" if all does; its summary, or {}."""
    path = folder / f"seed-{seed}.yaml"
    path.write_text(scene(seed))

    def restrict():
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))

    done = subprocess.run([binary, "run", path, "--json", "--set", f"time.end={end}"], capture_output=True,
                          text=True, preexec_fn=restrict)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"not done after {limit} s of the processor", {}
    if done.returncode not in (0, 1):
        return f"exit code {done.returncode}: {done.stderr.strip()[-200:]}", {}
    try:
        s = json.loads(done.stdout)
    except json.JSONDecodeError:
        return f"no summary: {done.stderr.strip()[-200:]}", {}
    wrong = []
    if s["status"] not in ("completed", "unconverged", "gained"):
        wrong.append(f"{s['status']}: {done.stderr.strip()[-160:]}")
    if s["status"] == "completed" and s["unconverged_steps"]:
        wrong.append("silent steps")
    if s["status"] == "unconverged" and not s["unconverged_steps"]:
        wrong.append("unconverged, and no step is said to be")
    numbers = [s["max_penetration"], s["worst_residual"], *s["energy"].values()]
    if not all(isinstance(x, (int, float)) and math.isfinite(x) for x in numbers):
        wrong.append("a number that is none")
    elif s["max_penetration"] > DEEPEST:
        wrong.append(f"{s['max_penetration']:.1e} m deep")
    if s["status"] == "gained":
        wrong.append("energy beyond the bound")
    return "; ".join(wrong), s


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--count", type=int, default=100)
    p.add_argument("--first", type=int, default=0)
    p.add_argument("--end", type=float, default=1)
    p.add_argument("--limit", type=int, default=600, help="seconds of the processor a scene")
    p.add_argument("--binary", default=str(ROOT / "build/release/bin/saltus"))
    p.add_argument("--print", type=int, dest="seed")
    a = p.parse_args()
    if a.seed is not None:
        print(scene(a.seed), end="")
        return 0
    bad = steps = missed = runs = 0
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(a.first, a.first + a.count):
            wrong, s = judge(a.binary, seed, a.end, a.limit, Path(folder))
            steps += s.get("steps", 0)
            if s.get("unconverged_steps"):
                runs, missed = runs + 1, missed + s["unconverged_steps"]
                worst = max(worst, s["worst_residual"])
            if wrong:
                bad += 1
                print(f"seed {seed}: {wrong}", flush=True)
    print(f"{a.count - bad} of {a.count} hold; of {steps} steps {missed} in {runs} scenes missed the tolerance and "
          f"said so, by {worst:.1e} m/s at most")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
