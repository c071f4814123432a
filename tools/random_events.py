#!/usr/bin/env python3
"""Random event-driven scenes, to see whether the exact integrator ever gives up.

    tools/random_events.py --count 50 [--first SEED] [--end 2] [--binary build/release/bin/saltus]
    tools/random_events.py --print SEED

Scene k is made from seed k alone, of class k mod 6: a chain of links that falls on the floor, boxes that
are thrown on it, a four-legged robot whose joints swing, a worm with scales, a snake among pegs, a ring of
links (a closed loop, three of its rows redundant). mu is 0 to 2 and restitution 0 to 1. Chains, boxes,
robots and rings, four of the six classes, have four contacts or more, 85 % of them with friction.
Prints a line for each scene that does not finish, then counts by class. Exit code 1 below 99.5 %.
"""

import argparse
import json
import math
import random
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CLASSES = ("chain", "boxes", "robot", "worm", "pegs", "ring")
FLOOR = "obstacles: [{name: floor, type: half-space}]\n"


def contact(draw, between):
    mu = 0 if draw.random() < 0.15 else draw.choice([draw.uniform(0, 0.5), draw.uniform(0.5, 2)])
    e = draw.choice([0, 0, draw.uniform(0, 0.8), draw.uniform(0, 1)])
    return f"contacts: [{{between: {between}, friction: {mu:.6f}, restitution: {e:.6f}}}]\n"


def quaternion(draw, tilt):
    """A turn by up to `tilt` about a random axis."""
    axis = [draw.gauss(0, 1) for _ in range(3)]
    n = math.sqrt(sum(x * x for x in axis))
    half = 0.5 * draw.uniform(-tilt, tilt)
    return [math.cos(half), *(math.sin(half) * x / n for x in axis)]


def numbers(values):
    return "[" + ", ".join(f"{x:.12g}" for x in values) + "]"


def chain(draw):
    """Links with a sphere at each end, thrown on the floor."""
    n = draw.randint(3, 6)
    bodies, initial = "bodies:\n", "initial:\n"
    for i in range(n):
        where = "type: floating" if i == 0 else (
            f"type: revolute, parent: link{i - 1}, axis: [0, 1, 0], at: {{position: [0.2, 0, 0]}}, "
            f"damping: {draw.choice([0, draw.uniform(0, 0.02)]):.6f}")
        bodies += (f"  - name: link{i}\n    mass: {draw.uniform(0.1, 0.5):.6f}\n    com: [0.1, 0, 0]\n"
                   f"    solid: {{shape: box, size: [0.2, 0.04, 0.04]}}\n    joint: {{{where}}}\n"
                   "    shapes:\n"
                   f"      - {{type: sphere, name: near{i}, radius: 0.03}}\n"
                   f"      - {{type: sphere, name: far{i}, radius: 0.03, at: {{position: [0.2, 0, 0]}}}}\n")
        if i == 0:
            q = [0, 0, draw.uniform(0.3, 0.6) * n / 3 + 0.1, *quaternion(draw, 0.3)]
            v = [draw.uniform(-1, 1) for _ in range(6)]
            initial += f"  link0: {{q: {numbers(q)}, v: {numbers(v)}}}\n"
        else:
            initial += f"  link{i}: {draw.uniform(-0.3, 0.3):.6f}\n"
    return bodies + FLOOR + contact(draw, "[floor, 'near*|far*']") + initial


def boxes(draw):
    """One to three boxes that are thrown on the floor, apart from each other."""
    bodies, initial = "bodies:\n", "initial:\n"
    for i in range(draw.randint(1, 3)):
        size = [draw.uniform(0.1, 0.4) for _ in range(3)]
        bodies += (f"  - name: box{i}\n    mass: {draw.uniform(0.5, 3):.6f}\n"
                   f"    solid: {{shape: box, size: {numbers(size)}}}\n    joint: {{type: floating}}\n"
                   f"    shapes: [{{type: box, name: box{i}, size: {numbers(size)}}}]\n")
        q = [1.5 * i, 0, draw.uniform(0.4, 0.8), *quaternion(draw, draw.choice([0, 0.05, 1]))]
        v = [draw.uniform(-1, 1) for _ in range(6)]
        initial += f"  box{i}: {{q: {numbers(q)}, v: {numbers(v)}}}\n"
    return bodies + FLOOR + contact(draw, "[floor, 'box*']") + initial


def robot(draw):
    """A trunk on four legs of two joints, which swing."""
    bodies = ("bodies:\n  - name: trunk\n    mass: 8\n    solid: {shape: box, size: [0.5, 0.3, 0.1]}\n"
              "    joint: {type: floating}\n")
    motors, initial = "motors:\n", f"initial:\n  trunk: {{q: [0, 0, 0.42, 1, 0, 0, 0]}}\n"
    omega, swing = draw.uniform(2, 8), draw.uniform(0, 0.4)
    for i, (x, y) in enumerate([(0.2, 0.15), (0.2, -0.15), (-0.2, 0.15), (-0.2, -0.15)]):
        bodies += (f"  - name: thigh{i}\n    mass: 0.8\n    com: [0, 0, -0.1]\n"
                   "    solid: {shape: box, size: [0.05, 0.05, 0.2]}\n"
                   f"    joint: {{type: revolute, name: hip{i}, parent: trunk, axis: [0, 1, 0], "
                   f"at: {{position: [{x}, {y}, 0]}}, damping: 1}}\n"
                   f"  - name: shank{i}\n    mass: 0.3\n    com: [0, 0, -0.1]\n"
                   "    solid: {shape: box, size: [0.03, 0.03, 0.2]}\n"
                   f"    joint: {{type: revolute, name: knee{i}, parent: thigh{i}, axis: [0, 1, 0], "
                   "at: {position: [0, 0, -0.2]}, damping: 1}\n"
                   f"    shapes: [{{type: sphere, name: foot{i}, radius: 0.02, at: {{position: [0, 0, -0.2]}}}}]\n")
        phase = draw.choice([0, 180]) if i in (0, 1) else 0
        motors += (f"  - joints: [hip{i}]\n    kp: 120\n    reference: {{type: sine, amplitude: {swing:.6f}, "
                   f"omega: {omega:.6f}, phase: {phase} deg, offset: 0.5}}\n"
                   f"  - {{joints: [knee{i}], kp: 120, reference: -1.0}}\n")
        initial += f"  hip{i}: 0.5\n  knee{i}: -1.0\n"
    return bodies + FLOOR + contact(draw, "[floor, 'foot*']") + motors + initial


def worm(draw):
    """Masses with scales on a line, springs between them, one of them driven."""
    n = draw.randint(2, 6)
    lengths = [f"{{type: sine, amplitude: {draw.uniform(0.1, 0.6):.6f}, omega: {draw.uniform(0.5, 3):.6f}, "
               "offset: 1}" if i == 0 or draw.random() < 0.5 else "1" for i in range(n - 1)]
    return ("gravity: [0, 0, 0]\nworm:\n"
            f"  masses: {numbers(draw.uniform(0.3, 2) for _ in range(n))}\n"
            f"  stiffness: {numbers(draw.uniform(1, 9) for _ in range(n - 1))}\n"
            f"  damping: {numbers(draw.choice([0, 0.3]) for _ in range(n - 1))}\n"
            f"  friction: {draw.choice([0, draw.uniform(0, 0.2)]):.6f}\n"
            f"  lengths: [{', '.join(lengths)}]\n")


def pegs(draw):
    """A snake on supports with friction, between pegs on both sides."""
    text = ("planar: true\nsnake:\n  links: 5\n  link_length: 0.122\n  radius: 0.0525\n  half_length: 0.0393\n"
            f"  mass: 0.68\n  inertia: 1.32e-3\n  friction: {draw.uniform(0.05, 0.4):.6f}\n"
            "  motor: {kp: 200, kd: 2}\n"
            f"  gait: {{amplitude: {draw.uniform(20, 45):.6f} deg, omega: {draw.uniform(60, 200):.6f} deg/s, "
            f"delta: -{draw.uniform(40, 80):.6f} deg}}\nobstacles:\n")
    for i in range(4):
        side = 1 if i % 2 else -1
        text += (f"  - {{name: peg{i}, type: peg, radius: 0.08, at: {{position: "
                 f"[{0.25 * i - 0.1:.6f}, {side * draw.uniform(0.2, 0.26):.6f}, 0]}}}}\n")
    return text + contact(draw, "['peg*', 'link*']")


def ring(draw):
    """A closed chain of links, a regular polygon at first, with a sphere at each joint."""
    n, length = draw.randint(4, 6), 0.2
    turn = 2 * math.pi / n
    bodies, initial = "bodies:\n", "initial:\n"
    for i in range(n):
        where = "type: floating" if i == 0 else (
            f"type: revolute, parent: link{i - 1}, axis: [0, 1, 0], at: {{position: [{length}, 0, 0]}}, "
            f"damping: {draw.choice([0, draw.uniform(0, 0.02)]):.6f}")
        bodies += (f"  - name: link{i}\n    mass: {draw.uniform(0.1, 0.5):.6f}\n    com: [0.1, 0, 0]\n"
                   f"    solid: {{shape: box, size: [{length}, 0.06, 0.04]}}\n    joint: {{{where}}}\n"
                   "    shapes:\n"
                   f"      - {{type: sphere, name: left{i}, radius: 0.03, at: {{position: [0, 0.05, 0]}}}}\n"
                   f"      - {{type: sphere, name: right{i}, radius: 0.03, at: {{position: [0, -0.05, 0]}}}}\n")
        if i == 0:
            q = [0, 0, draw.uniform(0.6, 0.9), *quaternion(draw, draw.choice([0, 0.3, 2]))]
            initial += f"  link0: {{q: {numbers(q)}, v: {numbers(draw.uniform(-1, 1) for _ in range(6))}}}\n"
        else:
            initial += f"  link{i}: {turn:.17g}\n"
    loop = (f"loops: [{{name: closing, between: [link{n - 1}, link0], type: revolute, axis: [0, 1, 0], "
            f"at: {{position: [{length}, 0, 0]}}}}]\n")
    return bodies + loop + FLOOR + contact(draw, "[floor, 'left*|right*']") + initial


def scene(seed, end):
    draw = random.Random(seed)
    kind = CLASSES[seed % len(CLASSES)]
    return kind, (f"# seed {seed}: {kind}\nsaltus: 1\n" + globals()[kind](draw) +
                  f"time: {{step: 0.01, end: {end:g}}}\nintegrator: {{type: event-driven, tolerance: 1e-10}}\n")


def run(binary, seed, end, limit):
    """(class, what it came to, summary or message, seconds of processor time)"""
    def spent():
        r = resource.getrusage(resource.RUSAGE_CHILDREN)
        return r.ru_utime + r.ru_stime
    kind, text = scene(seed, end)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scene.yaml"
        path.write_text(text)
        began = spent()
        done = subprocess.run([binary, "run", path, "--json"], capture_output=True, text=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1)))
        cpu = spent() - began
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return kind, "slow", f"more than {limit} s", cpu
    if done.returncode == 0:
        return kind, "finished", json.loads(done.stdout), cpu
    return kind, "refused" if done.returncode == 2 else "stopped", done.stderr.strip(), cpu


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seeds", type=int, nargs="+", help="these alone")
    parser.add_argument("--end", type=float, default=2)
    parser.add_argument("--limit", type=int, default=60, help="seconds of processor time for one scene")
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/saltus"))
    parser.add_argument("--print", type=int, metavar="SEED", dest="show")
    a = parser.parse_args()
    a.count = len(a.seeds) if a.seeds else a.count
    if a.show is not None:
        print(scene(a.show, a.end)[1], end="")
        return 0
    counts, worst, slowest = {}, (0, None), 0
    for seed in a.seeds or range(a.first, a.first + a.count):
        kind, outcome, what, cpu = run(a.binary, seed, a.end, a.limit)
        counts[kind, outcome] = counts.get((kind, outcome), 0) + 1
        slowest = max(slowest, cpu)
        if outcome != "finished":
            print(f"seed {seed} ({kind}) {outcome}: {what}", flush=True)
            continue
        e = what["energy"]
        turned = sum(abs(e[k]) for k in e if k not in ("integrator", "change")) or 1
        worst = max(worst, (abs(e["integrator"]) / turned, seed))
    finished = sum(n for (_, outcome), n in counts.items() if outcome == "finished")
    for kind in CLASSES:
        print(f"{kind:>6}: " + ", ".join(f"{n} {o}" for (k, o), n in sorted(counts.items()) if k == kind))
    print(f"{finished} of {a.count} finished; energy open by {worst[0]:.1e} of what was turned over "
          f"(seed {worst[1]}); the slowest took {slowest:.1f} s")
    return 0 if finished >= 0.995 * a.count else 1


if __name__ == "__main__":
    sys.exit(main())
