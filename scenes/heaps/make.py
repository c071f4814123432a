#!/usr/bin/env python3
"""Prints a scene of many bodies: too long to keep as a file, and made the same everywhere.

usage: scenes/heaps/make.py hopper [SPHERES]     spheres that run out of a funnel into a box
       scenes/heaps/make.py tower [BOXES]        boxes on each other
       scenes/heaps/make.py dominoes [DOMINOES]  a row of dominoes, the first pushed over
       scenes/heaps/make.py rings [RINGS]        a hanging chain, each ring eight capsules
       scenes/heaps/make.py stones [STONES]      the quadruped of P2 trots over loose stones
       scenes/heaps/make.py snake [LINKS]        a snake robot in space on the ground, links of capsules
       scenes/heaps/make.py box-snake [LINKS]    the same of boxes
       scenes/heaps/make.py rough-snake [LINKS]  the same of capsules on a height field
"""
import math
import sys
from pathlib import Path


class Dice:
    """A small generator of our own: the same numbers everywhere."""

    def __init__(self):
        self.x = 1

    def __call__(self, spread):
        self.x = (self.x * 6364136223846793005 + 1442695040888963407) % 2**64
        return ((self.x >> 33) / 2**31 - 0.5) * spread


def head(title, end, step="1 ms", tolerance="1e-6"):
    return ["saltus: 1", f"title: {title}", f"time: {{step: {step}, end: {end}}}",
            f"solver: {{type: auto, tolerance: {tolerance}}}"]


def body(name, mass, solid, shapes, position, quaternion=(1, 0, 0, 0)):
    q = ", ".join(f"{x:.9g}" for x in (*position, *quaternion))
    text = (f"  - {{name: {name}, mass: {mass:.9g}, solid: {solid}, joint: {{type: floating}}, "
            f"shapes: {shapes}}}")
    return text, f"  {name}: {{q: [{q}]}}"


def scene(lines, bodies, more):
    return "\n".join([*lines, "bodies:", *(b for b, _ in bodies), "initial:", *(q for _, q in bodies), *more])


def hopper(count):
    """Spheres of 2 cm above four slopes of 45 degrees that leave a square hole, walls around."""
    radius, density, dice = 0.02, 1000, Dice()
    mass = density * 4 / 3 * math.pi * radius**3
    wide = max(3, round((count / 2.2) ** (1 / 3)))
    pitch, half = 2.15 * radius, 0.5 * 2.15 * radius * wide + 0.02
    hole = 0.3 * half
    depth = half - hole
    bodies = []
    for i in range(count):
        a, b, c = i % wide, i // wide % wide, i // wide**2
        at = [(k - 0.5 * (wide - 1)) * pitch + dice(0.1 * radius) for k in (a, b)]
        bodies.append(body(f"s{i}", mass, f"{{shape: sphere, radius: {radius}}}",
                           f"[{{type: sphere, radius: {radius}}}]",
                           (*at, depth + 2 * radius + c * pitch)))
    more = ["obstacles:", f"  - {{name: floor, type: half-space, at: {{position: [0, 0, {-2 * half:.9g}]}}}}"]
    slope, length = depth * math.sqrt(2), 2 * half + 0.2
    for k, (x, y) in enumerate([(1, 0), (0, 1), (-1, 0), (0, -1)]):
        middle = 0.5 * (half + hole) + 0.02 / math.sqrt(2)
        rpy = f"[0, {-x * 45} deg, 0]" if x else f"[{y * 45} deg, 0, 0]"
        size = (slope + 0.02, length) if x else (length, slope + 0.02)
        more.append(f"  - {{name: slope{k}, type: box, size: [{size[0]:.9g}, {size[1]:.9g}, 0.04], at: "
                    f"{{position: [{x * middle:.9g}, {y * middle:.9g}, {0.5 * depth - 0.02 / math.sqrt(2):.9g}], rpy: {rpy}}}}}")
        rpy = f"[0, {-x * 90} deg, 0]" if x else f"[{y * 90} deg, 0, 0]"
        more.append(f"  - {{name: wall{k}, type: half-space, at: {{position: [{x * half:.9g}, {y * half:.9g}, 0], rpy: {rpy}}}}}")
    more += ["contacts:", '  - {between: ["s*", "floor|slope*|wall*"], friction: 0.4}',
             '  - {between: ["s*", "s*"], friction: 0.4}']
    return scene(head(f"{count} spheres in a hopper", 2), bodies, more)


def tower(count):
    bodies = [body(f"box{i}", 1, "{shape: box, size: [0.2, 0.2, 0.1]}", "[{type: box, size: [0.2, 0.2, 0.1]}]",
                   (0, 0, 0.05 + 0.1 * i)) for i in range(count)]
    more = ["obstacles: [{name: floor, type: half-space}]", 'contacts: [{between: ["*", "*"], friction: 0.5}]']
    return scene(head(f"Tower of {count} boxes", 1), bodies, more)


def dominoes(count):
    """Of 7.5 x 24 x 48 mm, 2 cm apart; the first turns about its front edge, a little faster than it must to fall."""
    size, pitch, rate, density = (0.0075, 0.024, 0.048), 0.02, 4, 800
    edges = "[" + ", ".join(f"{x}" for x in size) + "]"
    solid = f"{{shape: box, size: {edges}}}"
    bodies = [body(f"d{i}", density * math.prod(size), solid, f"[{{type: box, size: {edges}}}]",
                   (pitch * i, 0, 0.5 * size[2])) for i in range(count)]
    name, start = bodies[0][1].rsplit("}", 1)[0].strip(), (0.5 * rate * size[2], 0, 0.5 * rate * size[0], 0, rate, 0)
    bodies[0] = (bodies[0][0], f"  {name}, v: [{', '.join(f'{x:.9g}' for x in start)}]}}")
    more = ["obstacles: [{name: floor, type: half-space}]", 'contacts: [{between: ["*", "*"], friction: 0.4}]']
    return scene(head(f"A row of {count} dominoes", 1, tolerance="1e-8"), bodies, more)


def rings(count):
    """Rings of 4 cm, round about y and x in turn, the first around a fixed bar: a chain that swings."""
    big, small, sides, tilt = 0.04, 0.006, 8, math.radians(60)
    pitch = 2 * (big - small)
    half = big * math.tan(math.pi / sides)
    volume = sides * math.pi * small**2 * 2 * half
    bodies = []
    for i in range(count):
        shapes = []
        for k in range(sides):
            angle = 2 * math.pi * k / sides
            x, z, turn = big * math.cos(angle), big * math.sin(angle), -(angle + math.pi / 2)
            shapes.append(f"{{type: capsule, name: r{i}_{k}, radius: {small}, half_length: {half:.9g}, at: "
                          f"{{position: [{x:.9g}, 0, {z:.9g}], rpy: [0, {turn:.9g}, 0]}}}}")
        c, s = math.cos(tilt / 2), math.sin(tilt / 2)  # about y, and before it about z by 0 or 90 deg
        quaternion = (c, 0, s, 0) if i % 2 == 0 else [x * math.sqrt(0.5) for x in (c, s, s, c)]
        solid = f"{{shape: cylinder, radius: {big}, length: {2 * small}}}"
        bodies.append(body(f"r{i}", 7800 * volume, solid, "[" + ", ".join(shapes) + "]",
                           (-i * pitch * math.sin(tilt), 0, -i * pitch * math.cos(tilt)), quaternion))
    bar = big - 2 * small
    more = ["obstacles:",
            f"  - {{name: bar, type: capsule, radius: {small}, half_length: 0.1, at: "
            f"{{position: [{bar * math.sin(tilt):.9g}, 0, {bar * math.cos(tilt):.9g}], rpy: [0, 0, 90 deg]}}}}",
            'contacts: [{between: ["r*", "bar|r*"], friction: 0.3}]']
    return scene(head(f"A chain of {count} rings", 1), bodies, more)


def stones(count):
    """The robot of scenes/p2/trot.yaml on a bed of spheres of 1.5 to 2.5 cm between boards."""
    robot = (Path(__file__).parent.parent / "p2" / "trot.yaml").read_text()
    dice, density, pitch = Dice(), 2500, 0.052
    rows = max(1, round(math.sqrt(count / 2 * 0.3)))
    columns = math.ceil(count / 2 / rows)
    top, bodies = 0, []
    for i in range(count):
        layer, at = divmod(i, rows * columns)
        a, b = divmod(at, rows)
        radius = 0.02 + dice(0.01)
        position = ((a + 0.5) * pitch - 0.5, (b - 0.5 * (rows - 1)) * pitch + dice(0.004), 0.026 + layer * pitch)
        top = max(top, position[2] + radius)
        bodies.append(body(f"stone{i}", density * 4 / 3 * math.pi * radius**3, f"{{shape: sphere, radius: {radius:.9g}}}",
                           f"[{{type: sphere, radius: {radius:.9g}}}]", position))
    lines = robot.splitlines()
    lines = [line for line in lines if not line.startswith(("contacts:", "obstacles:", "title:", "time:", "solver:"))]
    first = lines.index("bodies:")
    lines[first + 1:first + 1] = [b for b, _ in bodies]
    start = lines.index("initial:")
    lines[start + 1:start + 1] = [q for _, q in bodies]
    lines = [line.replace("q: [0, 0, 0.35, 1, 0, 0, 0]", f"q: [0, 0, {0.35 + top:.9g}, 1, 0, 0, 0]") for line in lines]
    width, length = 0.5 * rows * pitch + 0.02, columns * pitch
    lines += [f"title: The quadruped of P2 over {count} loose stones", "time: {step: 1 ms, end: 6}",
              "solver: {type: auto, tolerance: 1e-6}", "obstacles:", "  - {name: ground, type: half-space}"]
    for name, x, y, turn in [("left", 0, width, "[90 deg, 0, 0]"), ("right", 0, -width, "[-90 deg, 0, 0]"),
                             ("back", -0.5, 0, "[0, 90 deg, 0]"), ("front", length - 0.5, 0, "[0, -90 deg, 0]")]:
        lines.append(f"  - {{name: {name}, type: half-space, at: {{position: [{x:.9g}, {y:.9g}, 0], rpy: {turn}}}}}")
    lines += ["contacts:", '  - {between: ["stone*", "ground|left|right|back|front"], friction: 0.6}',
              '  - {between: ["stone*", "stone*"], friction: 0.6}',
              '  - {between: ["stone*|ground", "*_foot"], friction: 0.8}',
              '  - {between: ["stone*", "*_shank"], friction: 0.5}']
    return "\n".join(lines)


def snake(count, box=False, rough=False):
    """Links of 10 cm and 0.3 kg, hinges about y and z in turn, PD 40/0.5 on a wave that travels."""
    shape = "{type: box, size: [0.1, 0.06, 0.06]}" if box else "{type: capsule, radius: 0.03, half_length: 0.025}"
    lines = [f"title: Space snake of {count} links", "saltus: 1", "time: {step: 1 ms, end: 4}",
             "solver: {type: auto, tolerance: 1e-8}", "bodies:"]
    for i in range(count):
        joint = "{type: floating}" if i == 0 else (
            f"{{type: revolute, name: j{i}, axis: {'[0, 0, 1]' if i % 2 else '[0, 1, 0]'}, parent: c{i - 1}, "
            "at: {position: [0.05, 0, 0]}, in_body: {position: [-0.05, 0, 0]}}")
        lines.append(f"  - {{name: c{i}, mass: 0.3, solid: {{shape: cylinder, radius: 0.03, length: 0.1}}, "
                     f"joint: {joint}, shapes: [{shape}]}}")
    if rough:
        points = 40 * math.ceil(count / 10 + 2)
        floor = (f"{{name: floor, type: height-field, size: [{0.05 * points:.9g}, 4], generator: {{type: noise, "
                 f"points: [{points}, 80], amplitude: 0.01, length: 0.5, octaves: 2, seed: 1}}}}")
    else:
        floor = "{name: floor, type: half-space}"
    lines += [f"obstacles: [{floor}]", 'contacts: [{between: ["c*", floor], friction: 0.5}]',
              f"initial: {{c0: {{q: [0, 0, {0.045 if rough else 0.03}, 1, 0, 0, 0]}}}}", "motors:"]
    for i in range(1, count):
        amplitude, phase = (0.3, 0.4 * (i - 1)) if i % 2 else (0.15, 1.5 + 0.4 * (i - 2))
        lines.append(f"  - {{joints: j{i}, kp: 40, kd: 0.5, reference: {{type: sine, amplitude: {amplitude}, "
                     f"omega: 4, phase: {phase:.9g}}}}}")
    return "\n".join(lines)


KINDS = {"hopper": (hopper, 10000), "tower": (tower, 500), "dominoes": (dominoes, 20), "rings": (rings, 200), "stones": (stones, 2000),
         "snake": (snake, 20), "box-snake": (lambda n: snake(n, box=True), 20),
         "rough-snake": (lambda n: snake(n, rough=True), 20)}

if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in KINDS:
        sys.exit(__doc__)
    make, usual = KINDS[sys.argv[1]]
    print(make(int(sys.argv[2]) if len(sys.argv) == 3 else usual))
