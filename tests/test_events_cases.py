"""Event-driven runs of shipped scenes against VERIFY.md: rocking block, rimless wheel, simplest
walker, bouncing ball; figures beside references (pytest -s)."""
import json
import math

import h5py
import numpy as np
import pytest


def figure(what, value, reference, tolerance):
    print(f"    {what:<52} {value:>17.11g}  reference {reference:>15.10g}  off "
          f"{abs(value - reference):.1e} of {tolerance:.0e}")
    assert abs(value - reference) <= tolerance, what


@pytest.fixture
def modes(run, scenes, tmp_path):
    """modes(scene, settings...) -> (summary, mode changes with their causes by name)."""

    def go(scene, *settings):
        out = tmp_path / "run.h5"
        sets = [x for s in settings for x in ("--set", s)]
        done = run("run", scenes / f"{scene}.yaml", "--json", "-o", out, *sets, timeout=600)
        assert done.code == 0, done.err
        with h5py.File(out) as f:
            names = json.loads(bytes(f["header"][...]).decode())["causes"]
            table = {k: v[...] for k, v in f["modes"].items()}
            causes = [(names[c], v) for c, v in zip(f["causes/cause"][...], f["causes/value"][...])]
            status = f["members/status"][...]
            last = {k: f["frames"][k][-1] for k in ("q", "v", "kinetic")}
        ends = zip(np.r_[0, table["cause_end"]], table["cause_end"])
        table["causes"] = [causes[a:b] for a, b in ends]
        ends = zip(np.r_[0, table["member_end"]], table["member_end"])
        table["status"] = [status[a:b] for a, b in ends]
        return json.loads(done.out), table, last

    return go


def impacts(table):
    """Times and kinetic energies before and after the impacts."""
    hit = table["impact"] == 1
    return table["t"][hit], table["kinetic_before"][hit], table["kinetic_after"][hit]


def ends(table):
    """Ends of the accumulations that were passed."""
    return [v for c in table["causes"] for name, v in c if name == "accumulation"]


def test_rocking_block(modes):
    """Housner: omega+/omega- = 1 - 1.5 sin^2 alpha at every impact, as long as the speed is far
    above that at which an accumulation is passed; then the block stands on all corners."""
    _, table, last = modes("rocking-block")
    alpha = math.atan(0.1 / 0.4)
    ratio = 1 - 1.5 * math.sin(alpha) ** 2
    _, before, after = impacts(table)
    figure("omega+/omega-, VERIFY.md", math.sqrt(after[0] / before[0]), 0.911764706, 1e-9)
    worst = max(np.sqrt(after[:20] / before[:20]), key=lambda r: abs(r - ratio))
    figure("the worst of 20 impacts", worst, ratio, 1e-7)
    # Half a swing from edge to edge, by the energy integral: theta'^2 = 2 p^2 (cos(alpha -
    # theta_m) - cos(alpha - theta)), theta = theta_m - s^2.
    p2 = 3 * 9.81 / (4 * math.hypot(0.1, 0.4))
    x, weight = np.polynomial.legendre.leggauss(40)

    def quarter(theta_m):
        s = 0.5 * math.sqrt(theta_m) * (x + 1)
        # cos a - cos b by a product: no cancellation where s -> 0
        fall = 2 * np.sin(alpha - theta_m + 0.5 * s**2) * np.sin(0.5 * s**2)
        return 0.5 * math.sqrt(theta_m) * np.sum(weight * 2 * s / np.sqrt(2 * p2 * fall))

    theta, rest = 0.1, quarter(0.1)
    for _ in range(2000):
        # cos(alpha - theta) - cos(alpha) is the energy over p^2; ratio^2 of it is left
        energy = 2 * math.sin(alpha - 0.5 * theta) * math.sin(0.5 * theta) * ratio**2
        # its root by Newton, from the small-angle value
        theta = energy / math.sin(alpha)
        for _ in range(20):
            f = 2 * math.sin(alpha - 0.5 * theta) * math.sin(0.5 * theta) - energy
            theta -= f / math.sin(alpha - theta)
        rest += 2 * quarter(theta)
        if theta < 1e-40:
            break
    found = ends(table)
    assert found, "the accumulation of impacts is not in the record"
    # The last swings' times are extrapolated geometrically from 1e-6 of the speed on.
    figure("the last impact (energy integral)", found[-1], rest, 1e-6)
    assert len(table["status"][-1]) == 4 and (table["status"][-1] == 1).all()
    figure("kinetic energy at the end", last["kinetic"], 0, 1e-20)
    figure("height at the end", last["q"][2], 0.4, 1e-12)


def test_rimless_wheel(modes):
    """With inertia I about the hub cos 45 deg becomes k = (I + m l^2 cos 45 deg)/(I + m l^2) and
    omega^2 gains 4 m g l sin(22.5 deg) sin(slope)/(I + m l^2) a step: exactly so for any I, and the
    figures of VERIFY.md as I -> 0, by Richardson's extrapolation (remainder I^2)."""
    gain = 4 * 9.81 * math.sin(math.pi / 8) * math.sin(0.08)
    omega, step = [], []
    sizes = (1e-4, 2e-4, 4e-4)
    for inertia in sizes:
        start = "initial.wheel.v=[0.9238795325112867, 0.3826834323650898, -1]"
        _, table, _ = modes("rimless-wheel", f"bodies[wheel].inertia=[1,1,{inertia}]",
                            "time.step=0.1", "time.end=20", start)
        t, before, after = impacts(table)
        w = 2 * after / (1 + inertia)  # omega^2
        k = (inertia + math.sqrt(0.5)) / (1 + inertia)
        fixed = k * k / (1 - k * k) * gain / (1 + inertia)
        drops = (w[1:5] - fixed) / (w[:4] - fixed)
        figure(f"I = {inertia}: eigenvalue", drops[0], k * k, 1e-7)
        assert np.abs(drops - k * k).max() < 1e-6
        # What is left of the start halves at every impact: take it off.
        omega.append(math.sqrt(w[-1]) - (math.sqrt(w[-1]) - math.sqrt(w[-2])) * k * k / (k * k - 1))
        figure(f"I = {inertia}: omega+", omega[-1], math.sqrt(fixed), 1e-7)
        steps = np.diff(t)
        step.append(steps[-1] - (steps[-1] - steps[-2]) * k * k / (k * k - 1))
    def limit(x):  # of three values at I, 2 I, 4 I: remainder I^3
        return (8 * x[0] - 6 * x[1] + x[2]) / 3
    figure("omega+, I -> 0", limit(omega), 1.095462840, 1e-7)
    figure("step, I -> 0", limit(step), 1.03454981, 1e-7)


def test_simplest_walker(modes):
    """One step from the fixed point leads back to it. Feet of mass beta change the step by O(beta):
    extrapolated from beta, 2 beta and 4 beta to 0."""
    rows = []
    for beta in (1e-5, 2e-5, 4e-5):
        _, table, last = modes("simplest-walker", f"bodies[left].mass={beta}", "time.end=7",
                               f"bodies[right].mass={beta}", "time.step=0.05")
        t, _, after = impacts(table)
        assert len(t) == 1
        x, _, _, right = last["q"]  # the right foot stands where it landed, 2 sin theta* ahead
        rows.append((t[0], after[0], math.asin(0.5 * (x + math.sin(right)))))
    t, energy, theta = (8 * np.array(rows[0]) - 6 * np.array(rows[1]) + np.array(rows[2])) / 3
    figure("step", t, 3.8824637528, 1e-7)
    # Just after heel strike the hip turns about the new stance foot: T = theta'^2/2.
    figure("rate after heel strike", -math.sqrt(2 * energy), -0.1998324730, 1e-7)
    figure("theta at heel strike", theta, 0.2003109005, 1e-7)


@pytest.mark.parametrize("e", [0.5, 0.75, 0.9])
def test_bouncing_ball(modes, e):
    _, table, last = modes("bouncing-ball", "integrator={type: event-driven}", "time.step=0.05",
                           f"contacts[0].restitution={e}", "time.end=10")
    rest = math.sqrt(2 / 9.81) * (1 + e) / (1 - e)
    figure(f"e = {e}: rest", ends(table)[-1], rest, 1e-9)
    _, before, after = impacts(table)
    worst = max(np.sqrt(after[:15] / before[:15]), key=lambda r: abs(r - e))
    figure(f"e = {e}: the worst of 15 bounces", worst, e, 1e-9)
    assert last["kinetic"] == 0
    figure(f"e = {e}: height at rest", last["q"][2], 0.1, 1e-12)


# A thin disc (radius R, inertia It across, Ia along its axis) that leans by the angle a to the floor and
# rolls on its edge. With the precession W its axis goes round; d/dt of the angular momentum about the
# contact point, W x L, is the moment of gravity m g R cos a:
#   (Ia + m R^2) w3 W sin a - It W^2 sin a cos a = -m g R cos a,
# which gives the spin w3 about the axis for any W; the centre moves on a circle of radius R |w3| / W.
DISC = """\
saltus: 1
bodies:
  - name: disc
    mass: 1
    inertia: [0.01, 0.01, 0.02]
    joint: {{type: floating}}
    shapes: [{{type: cylinder, radius: 0.2, half_length: 1e-9, at: {{rpy: [0, 90 deg, 0]}}}}]
obstacles: [{{name: floor, type: half-space}}]
contacts: [{{between: [floor, disc], friction: 20}}]
initial:
  disc: {{q: [0, 0, {z!r}, {c!r}, {s!r}, 0, 0], v: [{vx!r}, 0, 0, 0, {w2!r}, {w3!r}]}}
integrator: {{type: {kind}}}
time: {{step: {step!r}, end: {end!r}}}
probes: [{{name: centre, body: disc}}, {{name: axis, body: disc, point: [0, 0, 1]}}]
metrics:
  - {{name: x, type: position, probe: axis, axis: x, at: {end!r}}}
  - {{name: y, type: position, probe: axis, axis: y, at: {end!r}}}
  - {{name: centre_x, type: position, probe: centre, axis: x, at: {end!r}}}
  - {{name: centre_y, type: position, probe: centre, axis: y, at: {end!r}}}
  - {{name: z, type: position, probe: centre, axis: z, at: {end!r}}}
"""


def roll(run, folder, a, W, turns, step, kind):
    """How far the axis' azimuth is off after so many turns, as a share; the height's error; the summary."""
    m, R, It, Ia, g = 1, 0.2, 0.01, 0.02, 9.81
    w3 = (It * W * W * math.sin(a) - m * g * R) * math.cos(a) / (W * math.sin(a) * (Ia + m * R * R))
    end = 2 * math.pi / W * turns
    (folder / "disc.yaml").write_text(DISC.format(
        z=R * math.sin(a), c=math.cos(a / 2), s=math.sin(a / 2), vx=-R * w3, w2=W * math.sin(a), w3=w3,
        kind=kind, step=end / round(end / step), end=end))
    done = run("run", folder / "disc.yaml", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    x = found["metrics"]
    azimuth = math.atan2(x["x"] - x["centre_x"], -(x["y"] - x["centre_y"]))
    return azimuth / (2 * math.pi * turns), x["z"] - R * math.sin(a), found


@pytest.mark.parametrize("a, W", [(1.2, 2), (0.5, 0), (0.2, 0)])  # 0: the centre at rest, w3 = 0
def test_a_thin_disc_precesses_on_its_edge(run, tmp_path, a, W):
    W = W or math.sqrt(9.81 * 0.2 / (0.01 * math.sin(a)))
    share, height, found = roll(run, tmp_path, a, W, 2, 0.01, "event-driven")
    print(f"a = {a}, W = {W:.4g}: azimuth off by {share:.1e}, height by {height:.1e} m")
    assert abs(share) < 1e-7 and abs(height) < 1e-8
    assert abs(found["energy"]["integrator"]) < 1e-8


def test_why_time_stepping_of_that_disc_is_slow_to_converge(run, tmp_path):
    """The rows of a contact are those of the mid-point and rest at the end of a step, when the contact has
    moved on along the rim: the normal force works on dt/2 of the change of its row, a loss of first order
    in dt (docs/events.md). Height and rate follow the energy."""
    a, found = 0.2, {}
    W = math.sqrt(9.81 * 0.2 / (0.01 * math.sin(a)))
    for dt in (2e-4, 1e-4):
        share, _, s = roll(run, tmp_path, a, W, 2, dt, "moreau")
        lost = s["energy"]["contacts"]
        assert lost < 0 and abs(lost) > 20 * abs(s["energy"]["friction"])
        assert s["energy"]["change"] == pytest.approx(lost, rel=0.05)
        found[dt] = (share, lost)
        print(f"dt = {dt:g}: rate off by {100 * share:.2g} %, the normal force lost {-lost:.3g} J")
    for first, second in zip(found[2e-4], found[1e-4]):
        assert math.log2(first / second) == pytest.approx(1, abs=0.15)


def test_compare_has_an_order_for_the_rocking_block(run, scenes):
    """Gaps of half a millimetre are no rounding, and they fall with the step: about first order, with the
    scatter of impacts that fall anywhere in their steps."""
    done = run("compare", scenes / "rocking-block.yaml", "--json", "--dt", "0.004,0.002,0.001,0.0005")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    means = [r["position_gap"]["mean"] for r in found["runs"]]
    print(f"order {found['position_order']:.2f}, mean gaps {means}")
    assert all(m > 1e-5 for m in means)
    assert 0.4 < found["position_order"] < 1.6
    assert found["coordinate_order"] is None  # it has no joint coordinates
