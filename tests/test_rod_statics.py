"""Rods of scenes at rest against shooting (scipy), which shares nothing with the engine; a rod over a cylinder."""
import json
import math

import pytest

np = pytest.importorskip("numpy")
integrate = pytest.importorskip("scipy.integrate")
optimize = pytest.importorskip("scipy.optimize")
Rotation = pytest.importorskip("scipy.spatial.transform").Rotation

G = np.array([0, 0, -9.81])
FORCE = np.array([.02, -.03, .01])  # at the tip [N]
AT = (.3, -.4, .5)  # roll, pitch, yaw of the clamp


class Piece:
    def __init__(self, length, radius, end, E, nu, rho, rest=(0, 0, 0)):
        self.length, self.radii, self.E, self.nu, self.rho, self.rest = length, (radius, end), E, nu, rho, np.array(rest)

    def radius(self, X):
        return self.radii[0] + (self.radii[1] - self.radii[0]) * X / self.length

    def strain(self, X, moment):
        I = math.pi * self.radius(X)**4 / 4
        return moment / (self.E * I * np.array([1 / (1 + self.nu), 1, 1])) + self.rest

    def mass(self, X):  # of what follows: the integral of a square of a linear function
        a, b = self.radius(X), self.radii[1]
        return self.rho * math.pi * (self.length - X) * (a * a + a * b + b * b) / 3

    def text(self, name, parent, rpy, functions):
        return (f"  - {{name: {name}, parent: {parent}, at: {{rpy: {list(rpy)}}}, length: {self.length}, functions: {functions}, "
                f"points: {5 * functions}, radius: {self.radii[0]}, radius_end: {self.radii[1]}, "
                f"curvature: {[float(k) for k in self.rest]}, material: {{E: {self.E}, nu: {self.nu}, rho: {self.rho}}}}}\n")


def shoot(pieces, turns):
    """The tip of inextensible rods end to end, each turned against the one before, under their weight and FORCE."""
    def end(moment, share):
        r, turn, m = np.zeros(3), Rotation.identity(), np.array(moment)
        for i, p in enumerate(pieces):
            turn = turn * turns[i]
            after = share * (FORCE + G * sum(q.mass(0) for q in pieces[i + 1:]))

            def slope(X, y, p=p, after=after):
                v, w, R = y[3:6], y[6], Rotation.from_quat(y[3:7]).as_matrix()
                k, t = p.strain(X, R.T @ y[7:]), R[:, 0]
                return np.concatenate([t, 0.5 * (w * k + np.cross(v, k)), [-0.5 * v @ k],
                                       -np.cross(t, after + share * p.mass(X) * G)])
            y = integrate.solve_ivp(slope, (0, p.length), np.concatenate([r, turn.as_quat(), m]), rtol=1e-9, atol=1e-11,
                                    method="DOP853").y[:, -1]
            r, turn, m = y[:3], Rotation.from_quat(y[3:7]), y[7:]
        return r, m

    moment, last = np.zeros(3), 1
    for share in (.05, .15, .3, .5, .75, 1):  # loads rise, or Newton goes astray
        moment = optimize.fsolve(lambda x, s=share: end(x, s)[1], moment * share / last, xtol=1e-12 if share == 1 else 1e-5)
        last = share
    r, left = end(moment, 1)
    assert np.abs(left).max() < 1e-12
    return r


CONE = Piece(.7, .012, .004, 2e6, .4, 1200)
BENT = Piece(.7, .012, .004, 2e6, .4, 1200, (.5, 1.2, -2))
FIRST, SECOND = Piece(.5, .01, .01, 1e7, .3, 1000), Piece(.4, .006, .006, 3e6, .5, 1500, (0, 0, 3))


@pytest.mark.parametrize("pieces", [[CONE], [BENT], [FIRST, SECOND]], ids=["cone", "bent-cone", "rod-on-rod"])
def test_heavy_rods_in_space(run, tmp_path, pieces):
    turns = [AT, (.2, .7, 1.1)][:len(pieces)]
    text, parent = "saltus: 1\nrods:\n", "world"
    for i, (piece, rpy) in enumerate(zip(pieces, turns)):
        text += piece.text(f"rod{i}", parent, rpy, 12)
        parent = f"rod{i}.tip"
    size = np.linalg.norm(FORCE)  # a spring so long and soft that it pulls with the same force anywhere
    text += (f"springs: [{{name: load, between: [world, {parent}], axis: {(FORCE / size).tolist()}, stiffness: {size * 1e-9}, "
             f"length: 1e9}}]\ntime: {{step: 0.01, end: 1}}\nprobes: [{{name: tip, body: {parent}}}]\n")
    scene = tmp_path / "scene.yaml"
    scene.write_text(text)
    done = run("equilibrium", scene, "--json", timeout=600)
    assert done.code == 0, done.err
    tip, reference = json.loads(done.out)["probes"]["tip"], shoot(pieces, [Rotation.from_euler("xyz", t) for t in turns])
    off = np.abs(tip - reference).max()
    print(f"    tip {tip}, by shooting {reference.tolist()}: {off:.1e} m apart")
    assert off < 2e-7


def test_over_a_cylinder(run, tmp_path):
    """VERIFY-P4 section 9: half of a rod laid over a frictionless cylinder of radius 1, 2 long, clamped level at the top: an
    arc of 0.3826 lies, at its lift-off is a point force. Linear pieces; the curvature of the arc is that of the cylinder."""
    off = []
    for segments in (10, 40):
        scene = tmp_path / "scene.yaml"
        scene.write_text(f"""saltus: 1
planar: true
gravity: [0, -1, 0]
rods:
  - {{name: rod, length: 2, segments: {segments}, components: [bend_z], basis: linear, functions: 1, points: 4, touches: 0,
      stiffness: [0, 0, 0, 0, 0, 1], inertia: [1, 0, 0, 0], shapes: [{{type: point}}]}}
obstacles: [{{name: log, type: peg, radius: 1, at: {{position: [0, -1, 0]}}}}]
contacts: [{{between: ["rod.*", log]}}]
time: {{step: 0.01, end: 1}}
probes: [{{name: tip, body: rod.tip}}]
""")
        done = run("equilibrium", scene, "--json", timeout=600)
        assert done.code == 0, done.err
        found = json.loads(done.out)
        off.append(math.dist(found["probes"]["tip"][:2], (1.5343889413, -1.1761282945)))
        assert abs(found["q"][0] + 1) < 1e-9
        lies = max(math.atan2(h["point"][0], h["point"][1] + 1) for h in found["held"])
        print(f"    {segments} segments: tip off by {off[-1]:.1e} m, the last contact at {lies:.4f}")
        assert abs(lies - .3825969385) < 2 / segments
    assert off[0] < 4e-4 and off[1] < 3e-5


@pytest.mark.parametrize("pieces", [10, 40])
def test_on_a_peg_between_stations(run, tmp_path, pieces):
    """A clamped heavy rod on a frictionless peg, met between two stations, against shooting: EI = w = L = 1."""
    x0, y0, r = .55, -.12, .1

    def bent(u):
        moment, force, angle, at = u
        normal = np.array([math.cos(angle), math.sin(angle)])

        def slope(pushed):
            def f(s, y):
                n = (force * normal if pushed else 0) - np.array([0, 1 - s])
                return [math.cos(y[2]), math.sin(y[2]), y[3], math.sin(y[2]) * n[0] - math.cos(y[2]) * n[1]]
            return f
        opts = {"rtol": 1e-12, "atol": 1e-13}
        there = integrate.solve_ivp(slope(True), (0, at), [0, 0, 0, moment], **opts).y[:, -1]
        tip = integrate.solve_ivp(slope(False), (at, 1), there, **opts).y[:, -1]
        return there, tip, normal

    def off(u):
        there, tip, normal = bent(u)
        return [*(there[:2] - np.array([x0, y0]) - r * normal), math.cos(there[2]) * normal[0] + math.sin(there[2]) * normal[1],
                tip[3]]

    u, _, found, message = optimize.fsolve(off, [-.2, .7, 1.6, .55], xtol=1e-13, full_output=True)
    assert found == 1, message
    tip = bent(u)[1]
    scene = tmp_path / "scene.yaml"
    scene.write_text(f"""saltus: 1
planar: true
gravity: [0, -1, 0]
rods:
  - {{name: rod, length: 1, components: [bend_z], basis: linear, functions: {pieces}, cells: {pieces}, points: 2, touches: 2,
      stiffness: [0, 0, 0, 0, 0, 1], inertia: [1, 0, 0, 0], shapes: [{{type: point}}]}}
obstacles: [{{name: peg, type: peg, radius: {r}, at: {{position: [{x0}, {y0}, 0]}}}}]
contacts: [{{between: ["rod.*", peg]}}]
time: {{step: 0.01, end: 1}}
probes: [{{name: tip, body: rod.tip}}]
""")
    done = run("equilibrium", scene, "--json")
    assert done.code == 0, done.err
    rest = json.loads(done.out)
    held = [h for h in rest["held"] if h["contact"]]
    gone = math.dist(rest["probes"]["tip"][:2], tip[:2])
    print(f"    {pieces} pieces: tip off by {gone:.1e} m, force {held[0]['force']:.9f} ({u[1]:.9f}) at {held[0]['name']}")
    assert len(held) == 1 and "touch" in held[0]["name"] and rest["stable"]
    # The moment has a kink within a piece: third order.
    assert gone < .02 * pieces**-3 and abs(held[0]["force"] / u[1] - 1) < .3 * pieces**-3


@pytest.mark.parametrize("points", [4, 8])
def test_a_rocker_rolls_on_its_curve(run, tmp_path, points):
    """A rigid arc of radius 1 and half angle a on a smooth floor, its end on a vertical rail: where it touches moves along it.
    Its centre of mass is d = sin(a)/a under the arc's, so the stiffness is m g d, whatever station is near; inertia
    m (1 - d^2) and m h^2 for the way of the centre over the end's height, h = d - cos(a)."""
    a, g = .5, 9.81
    d = math.sin(a) / a
    h = d - math.cos(a)
    exact = g * d / (1 - d * d + h * h)
    scene = tmp_path / "scene.yaml"
    scene.write_text(f"""saltus: 1
planar: true
gravity: [0, -{g}, 0]
bodies: [{{name: cart, mass: 1e-12, inertia: [0, 1e-12, 1e-12], joint: {{type: prismatic, axis: [0, 1, 0]}}}}]
rods:
  - {{name: rod, parent: cart, joint: {{type: revolute}}, length: {2 * a}, components: [bend_z], basis: constant, functions: 1,
      points: {points}, touches: 2, curvature: [0, 0, 1], stiffness: [0, 0, 0, 0, 0, 1], inertia: [1, 0, 0, 0],
      prescribed: {{bend_z.0: 0}}, shapes: [{{type: point}}]}}
obstacles: [{{name: floor, type: half-space, at: {{rpy: [-1.5707963267948966, 0, 0]}}}}]
contacts: [{{between: ["rod.*", floor]}}]
initial: {{cart: {1 - math.cos(a)}, rod.base: {-a + .05}}}
time: {{step: 0.01, end: 1}}
probes: [{{name: base, body: rod.base}}]
""")
    done = run("equilibrium", scene, "--json")
    assert done.code == 0, done.err
    rest = json.loads(done.out)
    off = rest["least_eigenvalue"] / exact - 1
    print(f"    {points} points: {rest['held'][0]['name']} pushes {rest['held'][0]['force']:.9f} N, "
          f"square of the frequency {rest['least_eigenvalue']:.8f} ({exact:.8f}), angle {rest['q'][1] + a:.1e}")
    assert abs(rest["held"][0]["force"] - g) < 1e-9 and abs(rest["q"][1] + a) < 1e-6
    # Differences of 1e-5 in forces of the size of the weight.
    assert abs(off) < 1e-7
