#!/usr/bin/env python3
"""Random scenes by seed, for the energy bound of docs/energy.md: trees of 2 to 30 bodies thrown at a floor.

    tools/random_scenes.py 17            prints the scene of seed 17
    tools/random_scenes.py 0:100 -d DIR  writes DIR/seed-0.yaml ... seed-99.yaml

The same seed is the same text on every machine and Python: only `random.Random(seed).random()` is drawn
from, and only + - * / and sqrt, which IEEE 754 rounds in one way, stand between it and the numbers that
are printed. No angle is ever turned into a sine: rotations are quaternions.

What is drawn: docs/energy.md. The generator and its seeds stood before the code that is judged by them;
seeds that fail stay as they are.
"""

import argparse
import random
import sys
from math import sqrt
from pathlib import Path

STEPS = [5e-4, 8e-4, 1e-3, 1.25e-3, 2e-3, 2.5e-3, 4e-3, 5e-3]  # [s], whole numbers of them in END
END = 2  # [s]
MARGIN = 1.02  # between shapes at the start: of the sum of their radii
FASTEST = 60  # [m/s], spin times extent: long trees spin slower
TRIES = 24  # places for a body before it is excluded from touching what it overlaps


# --- vectors and quaternions (w, x, y, z) -----------------------------------------------------------


def add(a, b):
    return [a[0] + b[0], a[1] + b[1], a[2] + b[2]]


def sub(a, b):
    return [a[0] - b[0], a[1] - b[1], a[2] - b[2]]


def mul(s, a):
    return [s * a[0], s * a[1], s * a[2]]


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def turn(q, a):
    """The vector a turned by the unit quaternion q."""
    w, x, y, z = q
    t = [2 * (y * a[2] - z * a[1]), 2 * (z * a[0] - x * a[2]), 2 * (x * a[1] - y * a[0])]
    return [a[0] + w * t[0] + y * t[2] - z * t[1],
            a[1] + w * t[1] + z * t[0] - x * t[2],
            a[2] + w * t[2] + x * t[1] - y * t[0]]


def qmul(p, q):
    a, b, c, d = p
    w, x, y, z = q
    return [a * w - b * x - c * y - d * z, a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x, a * z + b * y - c * x + d * w]


def conjugate(q):
    return [q[0], -q[1], -q[2], -q[3]]


def compose(X, Y):
    """Poses (position, quaternion)."""
    return add(X[0], turn(X[1], Y[0])), qmul(X[1], Y[1])


def inverse(X):
    q = conjugate(X[1])
    return mul(-1, turn(q, X[0])), q


IDENTITY = ([0, 0, 0], [1, 0, 0, 0])


def segment_distance_squared(p1, q1, p2, q2):
    """Of two segments (Ericson, Real-Time Collision Detection, 5.1.9)."""
    clamp = lambda x: min(max(x, 0.0), 1.0)
    d1, d2, r = sub(q1, p1), sub(q2, p2), sub(p1, p2)
    a, e, f = dot(d1, d1), dot(d2, d2), dot(d2, r)
    if a <= 1e-18 and e <= 1e-18:
        s = t = 0.0
    elif a <= 1e-18:
        s, t = 0.0, clamp(f / e)
    else:
        c = dot(d1, r)
        if e <= 1e-18:
            s, t = clamp(-c / a), 0.0
        else:
            b = dot(d1, d2)
            determinant = a * e - b * b
            s = clamp((b * f - c * e) / determinant) if determinant > 1e-12 * a * e else 0.0
            t = (b * s + f) / e
            if t < 0:
                s, t = clamp(-c / a), 0.0
            elif t > 1:
                s, t = clamp((b - c) / a), 1.0
    d = sub(add(p1, mul(s, d1)), add(p2, mul(t, d2)))
    return dot(d, d)


# --- chance -----------------------------------------------------------------------------------------


class Chance:
    def __init__(self, seed, planar=False):
        self.draw = random.Random(seed).random
        self.planar = planar

    def uniform(self, a, b):
        return a + (b - a) * self.draw()

    def integer(self, a, b):
        return a + int((b - a + 1) * self.draw())

    def hit(self, p):
        return self.draw() < p

    def choose(self, weighted):
        """Of {value: weight}."""
        left = self.draw() * sum(weighted.values())
        for value, weight in weighted.items():
            left -= weight
            if left < 0:
                return value
        return value

    def octaves(self, least, n):
        """About evenly in the logarithm, least to least 2^n."""
        return least * (1 << self.integer(0, n - 1)) * (1 + self.draw())

    def direction(self):
        while True:
            a = [self.uniform(-1, 1), self.uniform(-1, 1), 0 if self.planar else self.uniform(-1, 1)]
            n = dot(a, a)
            if 0.01 < n <= 1:
                return mul(1 / sqrt(n), a)

    def rotation(self, reach=1.0):
        """A unit quaternion; reach < 1 keeps it near the identity."""
        while True:
            q = [self.uniform(-1, 1) for _ in range(4)]
            if self.planar:
                q[1] = q[2] = 0
            n = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]
            if 0.01 < n <= 1:
                break
        q = [(abs(q[0]) + (1 - reach) * 2), reach * q[1], reach * q[2], reach * q[3]]
        n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
        return [x / n for x in q]


# --- text -------------------------------------------------------------------------------------------


def number(x):
    text = f"{x:.9g}"
    return "0" if text == "-0" else text


def value(x):
    if isinstance(x, dict):
        return "{" + ", ".join(f"{k}: {value(v)}" for k, v in x.items()) + "}"
    if isinstance(x, (list, tuple)):
        return "[" + ", ".join(value(v) for v in x) + "]"
    if isinstance(x, bool):
        return "true" if x else "false"
    return x if isinstance(x, str) else number(x)


def frame(position, quaternion=None):
    at = {"position": position}
    if quaternion is not None and quaternion != [1, 0, 0, 0]:
        at["quaternion"] = quaternion
    return at


# --- bodies -----------------------------------------------------------------------------------------


class Part:
    """A rigid body before it is hung up: shape, inertia, and a capsule along x that holds the shape."""

    def __init__(self, chance, size):
        kinds = {"capsule": 24, "box": 20, "sphere": 14, "cylinder": 14, "ellipsoid": 10, "hull": 8, "point": 5}
        if chance.planar:
            kinds = {"capsule": 30, "sphere": 20, "ellipsoid": 10, "box": 20}
        self.kind = kind = chance.choose(kinds)
        a = size * chance.uniform(0.6, 1.4) / 2  # half the length along x
        slim = chance.uniform(0.15, 0.6)
        b, c = a * slim, a * slim * chance.uniform(0.6, 1.4)
        self.half, self.radius = a, b  # of the capsule around: half length of its axis + radius = half
        shape = {"type": kind}
        if kind == "sphere":
            b = c = a = a * 0.6
            self.half = self.radius = a
            shape["radius"] = a
            solid, volume = {"shape": "sphere", "radius": a}, 4.19 * a * a * a
        elif kind in ("capsule", "cylinder"):
            c = b
            shape |= {"radius": b, "half_length": a - b if kind == "capsule" else a}
            solid, volume = {"shape": "cylinder", "radius": b, "length": 2 * a}, 6.28 * b * b * a
            if kind == "cylinder":
                self.half = a + b
        elif kind == "box":
            shape["size"] = [2 * a, 2 * b, 2 * c]
            solid, volume = {"shape": "box", "size": [2 * a, 2 * b, 2 * c]}, 8 * a * b * c
            self.radius = sqrt(b * b + c * c)
            self.half = a + self.radius
        elif kind == "ellipsoid":
            shape["semi_axes"] = [a, b, c]
            solid, volume = {"shape": "ellipsoid", "semi_axes": [a, b, c]}, 4.19 * a * b * c
            self.radius = max(b, c)
            self.half = a + self.radius / 2
        elif kind == "hull":
            points = [[a, 0, 0], [-a, 0.3 * b, 0.2 * c], [0, b, -0.4 * c], [0, -b, -0.5 * c], [0.1 * a, 0, c]]
            for _ in range(chance.integer(1, 7)):
                d = chance.direction()
                points.append([a * d[0], b * d[1], c * d[2]])
            shape["vertices"] = [x for p in points for x in p]
            solid, volume = {"shape": "hull", "vertices": shape["vertices"]}, 1.6 * a * b * c
            self.radius = sqrt(b * b + c * c)
            self.half = a + self.radius
        else:  # two points, the feet of a rod
            solid, volume = {"shape": "cylinder", "radius": b, "length": 2 * a}, 6.28 * b * b * a
            self.radius = 0.1 * b
            self.half = a + self.radius
        self.shapes = ([{"name": None, "type": "point", "at": frame([s * a, 0, 0])} for s in (1, -1)]
                       if kind == "point" else [shape])
        self.axis = max(self.half - self.radius, 0.0)  # half length of the axis of the capsule around
        self.reach = a
        density = 1000 * chance.uniform(0.3, 3)
        self.mass = max(density * volume, 1e-4)
        self.inertia = {"solid": solid}
        if chance.hit(0.15) and kind != "hull":  # uneven: inertia of a box of its own, off the centre
            x, y, z = (2 * a * chance.uniform(0.5, 1), 2 * b * chance.uniform(0.5, 1), 2 * c * chance.uniform(0.5, 1))
            m = self.mass / 12
            off = [0.4 * a * chance.uniform(-1, 1), 0.4 * b * chance.uniform(-1, 1), 0.4 * c * chance.uniform(-1, 1)]
            if chance.planar:
                off[2] = 0
            self.inertia = {"com": off, "inertia": [m * (y * y + z * z), m * (x * x + z * z), m * (x * x + y * y)]}

    def capsule(self, pose):
        d = turn(pose[1], [self.axis, 0, 0])
        return sub(pose[0], d), add(pose[0], d), self.radius


def joint_keys(chance, kind, size, mass):
    """Springs, dampers, limits and dry friction of joints with scalar coordinates."""
    keys = {}
    if kind not in ("revolute", "prismatic", "planar", "carrier", "bend"):
        return keys
    sliding = kind in ("prismatic", "carrier", "planar")
    weight = 9.81 * mass * (1 if sliding else size)  # [N] or [N m]
    if chance.hit(0.85 if sliding else 0.5):
        least, most = chance.uniform(0.1, 1), chance.uniform(0.1, 1)
        unit = size if sliding else 2
        keys["limits"] = [-least * unit, most * unit]
    if chance.hit(0.2):
        keys["stiffness"] = weight * chance.octaves(0.5, 6) / (size if sliding else 1)
    if chance.hit(0.2):
        keys["damping"] = weight * 0.05 * chance.draw()
    if chance.hit(0.15):
        keys["friction"] = weight * chance.draw()
    if chance.hit(0.1) and kind != "bend":
        keys["armature"] = mass * (1 if sliding else size * size) * chance.draw()
    return keys


class Builder:
    """One scene; `text()` is the YAML."""

    def __init__(self, seed):
        self.seed = seed
        c = self.chance = Chance(seed)
        self.planar = c.planar = c.hit(1 / 16)
        self.up = [0, 1, 0] if self.planar else [0, 0, 1]
        u = c.draw()
        self.count = 2 + int(29 * u * u)
        self.size = c.octaves(0.04, 3)  # [m], 4 to 32 cm
        self.spin = c.octaves(0.39, 8) if c.hit(0.9) else 0  # [rad/s], up to 100
        self.dt = STEPS[c.integer(0, len(STEPS) - 1)]
        self.self_contact = c.hit(0.4)
        self.coordinates = c.choose({"minimal": 70, "as-marked": 15, "maximal": 15})
        self.bends_allowed = self.coordinates != "maximal" and c.hit(0.15)
        self.bodies, self.bends, self.initial, self.exclusions = [], [], {}, []
        self.placed = []  # name, pose and capsule around, in the order of their birth
        self.ground()
        trees = c.choose({1: 80, 2: 14, 3: 6}) if self.count >= 4 else 1
        for k in range(trees):
            self.tree(k, self.count // trees + (1 if k < self.count % trees else 0))
        self.laws()

    # --- what they fall on

    def ground(self):
        c, s = self.chance, self.size
        flat = [0.70710678118654757, -0.70710678118654757, 0, 0] if self.planar else [1, 0, 0, 0]
        kinds = {"floor": 45, "slope": 12, "field": 15, "pegs": 14, "boxes": 9, "wall": 5}
        if self.planar:
            kinds = {"floor": 50, "slope": 20, "pegs": 30}
        self.floor = c.choose(kinds)
        self.normal, self.top, self.obstacles, self.room = self.up, 0.0, [], 100.0
        if self.floor == "field":
            self.obstacles.append(self.field())
            return
        tilt = [1, 0, 0, 0]
        if self.floor == "slope":
            a = c.uniform(0.03, 0.25)  # tangent of half the angle: up to 28 degrees
            d = [0, 0, 1] if self.planar else c.direction()
            if not self.planar:
                n = sqrt(d[0] * d[0] + d[1] * d[1]) or 1.0
                d = [d[0] / n, d[1] / n, 0]
            n = sqrt(1 + a * a)
            tilt = [1 / n, a * d[0] / n, a * d[1] / n, a * d[2] / n]
            self.normal = turn(tilt, self.up)
        self.obstacles.append({"name": "floor", "type": "half-space", "at": frame([0, 0, 0], qmul(tilt, flat))})
        if self.floor == "wall":  # leans on the y-z plane at x = 2 m, its normal towards -x
            self.obstacles.append({"name": "wall", "type": "half-space",
                                   "at": frame([2.0 + 10 * s, 0, 0], [0.70710678118654757, 0, -0.70710678118654757, 0])})
        if self.floor == "pegs":
            for i in range(c.integer(1, 4)):
                r = s * c.uniform(0.2, 1.5)
                h = r + s * c.uniform(0, 2)
                x = s * c.uniform(-6, 6)
                q = [1, 0, 0, 0]
                if not self.planar:  # its axis z laid down along a horizontal line
                    n = sqrt(2)
                    q = [1 / n, 1 / n, 0, 0] if c.hit(0.5) else [1 / n, 0, 1 / n, 0]
                at = [x, h, 0] if self.planar else [x, s * c.uniform(-6, 6), h]
                self.obstacles.append({"name": f"peg{i}", "type": "peg", "radius": r, "at": frame(at, q)})
                self.top = max(self.top, h + r)
        if self.floor == "boxes":  # stairs of boxes, or blocks that lie about
            stairs = c.hit(0.5)
            for i in range(c.integer(2, 6)):
                edge = [s * c.uniform(0.5, 3), s * c.uniform(0.5, 3), s * c.uniform(0.2, 2)]
                at, q = [s * c.uniform(-5, 5), s * c.uniform(-5, 5), edge[2] / 2], [1, 0, 0, 0]
                if stairs:
                    edge = [2 * s, 20 * s, 0.6 * s * (i + 1)]
                    at = [2 * s * i, 0, edge[2] / 2]
                else:
                    q = c.rotation()
                self.obstacles.append({"name": f"block{i}", "type": "box", "size": edge, "at": frame(at, q)})
                self.top = max(self.top, at[2] + sqrt(dot(edge, edge)) / 2)

    def field(self):
        c, s = self.chance, self.size
        kind = c.choose({"stairs": 3, "steps": 3, "noise": 4, "stones": 2, "pyramid": 2, "slope": 1})
        n, spacing = 81, 0.6 * s
        half = 40 * spacing
        self.room = half  # beside the field there is no ground
        keys = {"type": kind, "points": [n, n]}
        if kind == "slope":
            keys |= {"angle": c.uniform(0.05, 0.4), "heading": c.uniform(-3, 3)}
            self.top = half * 0.6
        elif kind == "stairs":
            rise, count = s * c.uniform(0.2, 1), c.integer(3, 8)
            keys |= {"rise": -rise, "tread": s * c.uniform(1, 3), "count": count, "start": -half / 2}
        elif kind == "pyramid":
            keys |= {"rise": s * c.uniform(0.2, 1), "tread": s * c.uniform(1, 3), "count": 4, "top": 3 * s}
            self.top = 4 * s
        elif kind == "steps":
            keys |= {"length": 2 * s, "amplitude": s * c.uniform(0.1, 1), "seed": c.integer(0, 9999)}
            self.top = s
        elif kind == "stones":
            keys |= {"length": 2 * s, "gap": 0.5 * s, "depth": s, "amplitude": 0.3 * s, "seed": c.integer(0, 9999)}
            self.top = s
        else:
            keys |= {"amplitude": s * c.uniform(0.3, 2), "length": s * c.uniform(2, 8), "octaves": c.integer(1, 4),
                     "seed": c.integer(0, 9999)}
            self.top = 4 * s
        return {"name": "floor", "type": "height-field", "spacing": spacing, "generator": keys}

    # --- trees

    def tree(self, k, count):
        c = self.chance
        first = len(self.placed)
        parts = []  # (name, pose, part)
        for i in range(count):
            name = f"b{len(self.placed)}"
            part = Part(c, self.size)
            if i == 0:
                pose = ([0, 0, 0], c.rotation())
                self.place(name, pose, part)
                parts.append((name, pose, part))
                continue
            if self.bends_allowed and i + 1 < count and c.hit(0.15):
                parts.append(self.bend(name, parts, first))
                continue
            parts.append(self.body(name, part, parts, first))
        self.throw(k, *parts[0], first)

    def place(self, name, pose, part):
        self.placed.append({"name": name, "pose": pose, "capsule": part.capsule(pose)})

    def overlaps(self, capsule, parent, first):
        """Bodies of the tree that a capsule at this place is not surely clear of; its parent aside."""
        hits = []
        for other in self.placed[first:]:
            if other["name"].removesuffix(".*") == parent.removesuffix(".tip"):
                continue
            p, q, r = other["capsule"]
            reach = MARGIN * (r + capsule[2])
            if segment_distance_squared(p, q, capsule[0], capsule[1]) < reach * reach:
                hits.append(other["name"])
        return hits

    def parent_of(self, parts):
        c = self.chance
        return parts[-1] if c.hit(0.6) else parts[c.integer(0, len(parts) - 1)]

    def hang(self, parent, part, kind):
        """A place in the parent, the joint's frame in the body, q as text values and as a pose."""
        c = self.chance
        side = c.choose({1: 4, -1: 2})
        where = [side * parent[2].reach, 0, 0]
        if c.hit(0.2):
            d = c.direction()
            where = mul(parent[2].radius, d)
        q = c.rotation(1.0 if c.hit(0.4) else 0.5)
        if side < 0:  # away from the parent: half a turn about z
            q = qmul([0, 0, 0, 1], q)
        at = (where, q)
        own = (mul(-1, [part.reach, 0, 0]), c.rotation() if kind not in ("planar", "carrier") and c.hit(0.3)
               else [1, 0, 0, 0])
        return at, own

    def body(self, name, part, parts, first):
        c = self.chance
        kinds = {"revolute": 34, "spherical": 26, "prismatic": 12, "fixed": 7, "planar": 6, "carrier": 5, "floating": 4}
        if self.planar:
            kinds = {"revolute": 50, "prismatic": 18, "fixed": 6, "planar": 8, "carrier": 6}
        kind = c.choose(kinds)
        parent = self.parent_of(parts)
        axis = c.direction()
        if self.planar and kind == "revolute":
            axis = [0, 0, 1]
        for _ in range(TRIES):
            at, own = self.hang(parent, part, kind)
            start, moved = {}, IDENTITY
            if kind == "spherical":
                moved = ([0, 0, 0], c.rotation(0.5))
                start = {"q": moved[1]}
            elif kind == "floating":  # beside its parent
                gap = parent[2].half + part.half + 0.2 * self.size
                moved = (mul(gap, [1, 0, 0]), c.rotation())
                start = {"q": moved[0] + moved[1]}
            pose = compose(compose(compose(parent[1], at), moved), inverse(own))
            hits = self.overlaps(part.capsule(pose), parent[0], first)
            if not hits:
                break
        if self.self_contact:
            self.exclusions += [[other, name] for other in hits if other[0] == "b"]
        keys = joint_keys(c, kind, self.size, part.mass)
        joint = {"type": kind, "parent": parent[0]}
        if kind in ("revolute", "prismatic"):
            joint["axis"] = axis
        joint |= {"at": frame(*at), "in_body": frame(*own)} | keys
        if self.coordinates == "as-marked" and c.hit(0.3):
            joint["cut"] = True
        rate = 0.2 * self.spin * c.draw()
        n = {"revolute": 1, "spherical": 3, "prismatic": 1, "fixed": 0, "planar": 3, "carrier": 3, "floating": 6}[kind]
        if self.planar and kind == "carrier":
            n = 2
        if n:
            v = [rate * c.uniform(-1, 1) for _ in range(n)]
            for i in range(n):  # lengths
                if kind in ("prismatic", "carrier") or kind in ("planar", "floating") and i < (2 if kind == "planar" else 3):
                    v[i] *= 0.3 * self.size
            self.initial[name] = start | {"v": v}
        self.add(name, part, joint)
        self.place(name, pose, part)
        return name, pose, part

    def bend(self, name, parts, first):
        """A link of constant curvature with balls at its stations; what follows hangs on its tip. It touches
        the ground only, for `exclusions` cannot name stations; so its name begins with an a."""
        c = self.chance
        name = f"a{name[1:]}"
        parent = self.parent_of(parts)
        length, radius = self.size * c.uniform(0.8, 2), self.size * c.uniform(0.05, 0.15)
        part = Part.__new__(Part)
        part.kind, part.radius, part.reach, part.axis = "sphere", radius, 0, length / 2
        part.half, part.mass = length / 2 + radius, 3.14 * radius * radius * length * 1000
        for _ in range(TRIES):
            at, _ = self.hang(parent, part, "revolute")  # reach 0: its base is its frame
            base = compose(parent[1], at)
            middle = compose(base, ([length / 2, 0, 0], [1, 0, 0, 0]))
            if not self.overlaps(part.capsule(middle), parent[0], first):
                break
        keys = joint_keys(c, "bend", self.size, part.mass)
        keys.setdefault("stiffness", part.mass * 9.81 * length * c.octaves(0.5, 4))
        keys["limits"] = [-2, 2]
        stations = c.integer(2, 5)
        self.bends.append({"name": name, "parent": parent[0], "at": frame(*at), "axis": [0, 0, 1] if self.planar else [0, 1, 0],
                           "length": length, "mass": part.mass, "radius": radius, "stations": stations,
                           "shapes": [{"type": "sphere", "radius": radius}]} | keys)
        tip = compose(base, ([length, 0, 0], [1, 0, 0, 0]))
        self.place(f"{name}.*", middle, part)
        return f"{name}.tip", tip, part

    def add(self, name, part, joint):
        self.bodies.append({"name": name, "mass": part.mass} | part.inertia
                           | {"joint": joint, "shapes": self.named(name, part)})

    def named(self, name, part):
        """Ellipsoids have names of their own, for they do not touch everything."""
        if part.kind == "ellipsoid":
            return [{"name": f"e{name[1:]}"} | part.shapes[0]]
        if part.kind == "point":
            return [shape | {"name": f"{name}-{k}"} for k, shape in enumerate(part.shapes)]
        return part.shapes

    def throw(self, k, root, pose, part, first):
        """Puts the tree over the ground and gives its root a joint and a velocity."""
        c = self.chance
        capsules = [b["capsule"] for b in self.placed[first:]]
        lowest = min(min(dot(self.normal, p), dot(self.normal, q)) - r for p, q, r in capsules)
        n = dot(self.normal, self.up)
        lift = (self.top * n - lowest) / n + c.uniform(0.02, 0.6)
        if k:  # over the tree before, which ends at self.ceiling
            bottom = min(min(dot(self.up, p), dot(self.up, q)) - r for p, q, r in capsules)
            lift = max(lift, self.ceiling - bottom + 0.05)
        highest = max(max(dot(self.up, p), dot(self.up, q)) + r for p, q, r in capsules)
        self.ceiling = highest + lift
        place = mul(lift, self.up)
        velocity = mul(c.uniform(0, min(6, self.room)), c.direction())
        velocity = sub(velocity, mul(c.uniform(0, 4), self.up))
        extent = max(sqrt(max(dot(sub(p, o), sub(p, o)) for p in x[:2])) + x[2] for o in [pose[0]] for x in capsules)
        slower = min(1.0, FASTEST / (self.spin * extent)) if self.spin else 1.0
        for body in self.placed[first:]:
            if body["name"] in self.initial:
                self.initial[body["name"]]["v"] = [slower * x for x in self.initial[body["name"]]["v"]]
        spin = mul(slower * self.spin, c.direction())
        kind = "floating"
        if not self.planar and c.hit(0.1):
            kind = c.choose({"spherical": 3, "revolute": 3, "planar": 2, "carrier": 2, "prismatic": 2})
        if self.planar:
            kind = "planar" if c.hit(0.9) else "carrier"
        joint, start = {"type": kind}, {}
        if kind == "floating":
            start = {"q": place + pose[1], "v": velocity + spin}
        else:
            joint["at"] = frame(place, pose[1])
            if kind in ("revolute", "prismatic"):
                joint["axis"] = c.direction()
            rate = slower * self.spin * c.uniform(-1, 1)
            start["v"] = {"spherical": spin, "revolute": [rate], "planar": velocity[:2] + [rate],
                          "carrier": velocity[:2] if self.planar else velocity, "prismatic": [velocity[2]]}[kind]
        self.initial[root] = start
        self.add(root, part, joint)
        for body in self.placed[first:]:
            p, q, r = body["capsule"]
            body["pose"] = (add(body["pose"][0], place), body["pose"][1])
            body["capsule"] = (add(p, place), add(q, place), r)

    # --- how they touch

    def laws(self):
        c = self.chance
        law = lambda: {"friction": 0 if c.hit(0.12) else 1.5 * c.draw(),
                       "restitution": c.choose({0: 25, 1: 5, c.draw(): 70})}
        names = "|".join(o["name"] for o in self.obstacles)
        smooth = "|".join(o["name"] for o in self.obstacles if o["type"] != "box")
        self.contacts = [{"between": ["b*", names]} | law()]
        one = self.contacts[0]
        if one["friction"] > 0 and c.hit(0.12):
            one["friction_dynamic"] = one["friction"] * c.uniform(0.3, 1)
        elif one["friction"] > 0 and c.hit(0.1):
            one |= {"rolling": 0.05 * self.size * c.draw(), "drilling": 0.05 * self.size * c.draw()}
        if self.bends:
            self.contacts.append({"between": ["a*", names]} | {k: v for k, v in one.items() if k != "between"})
        self.contacts.append({"between": ["e*", smooth]} | {k: v for k, v in one.items() if k != "between"})
        if self.self_contact:
            self.contacts.append({"between": ["b*", "b*"]} | law())
        self.impact = "moreau" if c.hit(0.1) else "capped"

    def text(self):
        kinds = sorted({b["joint"]["type"] for b in self.bodies} | ({"bend"} if self.bends else set()))
        lines = [f"# tools/random_scenes.py {self.seed}", "saltus: 1", f"title: random scene {self.seed}"]
        lines.append(f"description: {self.count} bodies ({' '.join(kinds)}), {self.floor}, spin {number(self.spin)} rad/s")
        if self.planar:
            lines += ["planar: true", "gravity: [0, -9.81, 0]"]
        lines.append(f"coordinates: {self.coordinates}")
        groups = [("bodies", self.bodies), ("bends", self.bends), ("obstacles", self.obstacles)]
        shapes = [b["shapes"][0].get("name", b["name"])[0] for b in self.bodies] + ["a" for _ in self.bends]
        contacts = [x for x in self.contacts if x["between"][0][0] in shapes
                    and (x["between"][1] != "b*" or shapes.count("b") > 1)]
        for entry in contacts:
            entry["between"] = [f'"{p}"' for p in entry["between"]]
        groups.append(("contacts", contacts))
        groups.append(("exclusions", [{"bodies": [f'"{b}"' for b in pair]} for pair in self.exclusions]))
        for name, entries in groups:
            if entries:
                lines.append(f"{name}:")
                lines += [f"  - {value(e)}" for e in entries]
        lines.append("initial:")
        lines += [f"  {name}: {value(start)}" for name, start in self.initial.items()]
        lines.append(f"time: {{step: {number(self.dt)}, end: {END}}}")
        lines.append(f"integrator: {{impact: {self.impact}}}")
        return "\n".join(lines) + "\n"


def scene(seed: int) -> str:
    return Builder(seed).text()


def seeds(text: str) -> range:
    first, _, last = text.partition(":")
    return range(int(first), int(last) if last else int(first) + 1)


def main() -> int:
    parser = argparse.ArgumentParser(description="random scenes by seed")
    parser.add_argument("seeds", help="one seed, or FIRST:LAST without the last")
    parser.add_argument("-d", "--directory", type=Path, help="write files there, not to stdout")
    options = parser.parse_args()
    for seed in seeds(options.seeds):
        if options.directory:
            options.directory.mkdir(parents=True, exist_ok=True)
            (options.directory / f"seed-{seed}.yaml").write_text(scene(seed))
        else:
            sys.stdout.write(scene(seed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
