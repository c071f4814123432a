#!/usr/bin/env python3
"""The named scenes of the energy bound (docs/energy.md): chains on a peg and the net by rule, the rest by hand.

    tools/energy_scenes.py --write                       refreshes the generated files of scenes/energy
    tools/energy_scenes.py --chain 60 --self-contact     prints a chain of any length
    tools/energy_scenes.py --list                        the cases that tools/energy_bed.py --named runs
"""

import argparse
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "scenes" / "energy"


def chain(links: int, self_contact: bool = True, coordinates: str = "minimal") -> str:
    """Links of 20 g and 5 cm on spherical joints, level 0.3 m over a peg and a little off its middle."""
    link = ("mass: 20 g, solid: {shape: cylinder, radius: 1.2 cm, length: 5 cm}, joint: {%s},\n"
            "     shapes: [{type: capsule, radius: 1.2 cm, half_length: 1.3 cm}]")
    lines = [f"# tools/energy_scenes.py --chain {links}" + (" --self-contact" if self_contact else ""),
             "# A chain falls on a peg of radius 5 cm along y, 1 m above a floor. Capsules of radius 1.2 cm; neighbours",
             "# do not touch each other. Lengths [m] without a unit.",
             "saltus: 1", f"title: A chain of {links} links falls on a peg", f"coordinates: {coordinates}", "bodies:"]
    for i in range(links):
        joint = "type: floating" if i == 0 else (f"type: spherical, parent: l{i - 1}, at: {{position: [0.025, 0, 0]}}, "
                                                 "in_body: {position: [-0.025, 0, 0]}")
        lines.append(f"  - {{name: l{i}, " + link % joint + "}")
    start = -0.05 * (links - 1) / 2 + 0.035
    lines += ["obstacles:",
              "  - {name: peg, type: peg, radius: 5 cm, at: {rpy: [90 deg, 0, 0]}}",
              "  - {name: floor, type: half-space, at: {position: [0, 0, -1]}}",
              "contacts:", '  - {between: ["l*", "peg|floor"], friction: 0.4}']
    if self_contact:
        lines.append('  - {between: ["l*", "l*"], friction: 0.3}')
    lines += [f"initial: {{l0: {{q: [{start:.6g}, 0, 0.3, 1, 0, 0, 0]}}}}", "time: {step: 1 ms, end: 2}",
              "probes: [{name: com, body: centre-of-mass}]",
              "metrics: [{name: z, type: position, probe: com, axis: z, at: 2}]"]
    return "\n".join(lines) + "\n"


def net(n: int = 10) -> str:
    """n x n knots; cords of 5 cm along rows (r) and columns (c) are links that meet in the knots by spherical
    joints: a comb of column 0 and the rows is the tree, each other column cord closes a loop at its far end, (n - 1)^2
    in all. It falls on a ball and from there on the floor."""
    begin, end = "{position: [-0.025, 0, 0]}", "{position: [0.025, 0, 0]}"
    turned = "{position: [%s0.025, 0, 0], rpy: [0, 0, %s90 deg]}"
    lines = [f"# tools/energy_scenes.py --net {n}",
             f"# A net of {n} x {n} knots falls on a ball of radius 15 cm and a floor 40 cm below its middle: {2 * n * (n - 1)} cords",
             f"# (5 g, 5 cm, radius 4 mm), {(n - 1) * (n - 1)} loops. Lengths [m].",
             "saltus: 1", f"title: A net of {n} x {n} knots falls on a ball", "bodies:"]

    def cord(name, parent, at):
        joint = f"type: spherical, parent: {parent}, at: {at}, in_body: {begin}" if parent else "type: floating"
        lines.append(f"  - {{name: {name}, mass: 5 g, solid: {{shape: cylinder, radius: 4 mm, length: 5 cm}}, joint: {{{joint}}},\n"
                     "     shapes: [{type: capsule, radius: 4 mm, half_length: 2 cm}]}")

    for i in range(n):
        for j in range(n - 1):  # row i
            if j:
                cord(f"r{i}-{j}", f"r{i}-{j - 1}", end)
            elif i:
                cord(f"r{i}-0", f"c{i - 1}-0", turned % ("", "-"))
            else:
                cord("r0-0", "", "")
        for j in range(n if i + 1 < n else 0):  # columns, from row i to row i + 1
            if j:
                cord(f"c{i}-{j}", f"r{i}-{j - 1}", turned % ("", ""))
            elif i:
                cord(f"c{i}-0", f"c{i - 1}-0", end)
            else:
                cord("c0-0", "r0-0", turned % ("-", ""))
    lines.append("loops:")
    lines += [f"  - {{name: k{i}-{j}, between: [c{i - 1}-{j}, r{i}-{j - 1}], type: spherical, at: {end}, in_body: {end}}}"
              for i in range(1, n) for j in range(1, n)]
    middle = 0.05 * (n - 1) / 2
    lines += ["obstacles:", "  - {name: ball, type: sphere, radius: 15 cm}",
              "  - {name: floor, type: half-space, at: {position: [0, 0, -0.4]}}",
              'contacts: [{between: ["*", "ball|floor"], friction: 0.4}]',
              f"initial: {{r0-0: {{q: [{0.045 - middle:.6g}, {-0.01 - middle:.6g}, 0.4, 1, 0, 0, 0]}}}}",
              "time: {step: 1 ms, end: 1}"]
    return "\n".join(lines) + "\n"


WRITTEN = {"chain.yaml": lambda: chain(20), "net.yaml": net}
BY_HAND = ["ragdoll", "top", "rattleback", "dice", "hinges", "stairs-energetic"]


def cases() -> list[tuple[str, str, list[str]]]:
    """(name, text of the scene, settings): chains at 1 ms, one of them from 2 ms to 0.05 ms, and the others."""
    out = []
    for links in (10, 20, 30, 60):
        for coordinates in ("minimal", "maximal"):
            for touch in (True, False):
                name = f"chain {links} {coordinates}{' self' if touch else ''}"
                out.append((name, chain(links, touch, coordinates), []))
    for dt in (2e-3, 5e-4, 2e-4, 1e-4, 5e-5):
        out.append((f"chain 20 minimal self {dt:g}", chain(20), [f"time.step={dt:g}"]))
    out.append(("net", net(), []))
    out += [(name, (FOLDER / f"{name}.yaml").read_text(), []) for name in BY_HAND]
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description="the named scenes of the energy bound")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--chain", type=int, metavar="LINKS")
    parser.add_argument("--net", type=int, metavar="N")
    parser.add_argument("--self-contact", action="store_true")
    parser.add_argument("--coordinates", choices=["minimal", "maximal"], default="minimal")
    options = parser.parse_args()
    if options.write:
        for name, text in WRITTEN.items():
            (FOLDER / name).write_text(text())
    if options.list:
        print("\n".join(name for name, _, _ in cases()))
    if options.chain:
        sys.stdout.write(chain(options.chain, options.self_contact, options.coordinates))
    if options.net:
        sys.stdout.write(net(options.net))
    return 0


if __name__ == "__main__":
    sys.exit(main())
