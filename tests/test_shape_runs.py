"""Runs of P4's creatures: `integrator: connection`, fluids, wheels, axles that slip, spherical joints that
follow a gait. Reference values: VERIFY-P4.md, the section in each test."""
import json
import math

import h5py
import numpy as np
import pytest

CIRCLE = 2 * math.pi


@pytest.fixture(scope="module")
def metrics(run, scenes):
    def go(name, *sets, code=0):
        options = [x for s in sets for x in ("--set", s)]
        done = run("run", scenes / f"p4/{name}.yaml", "--json", *options)
        assert done.code == code, done
        return json.loads(done.out)

    return go


def expect_pose(summary, x, y, turn, tolerance):
    m = summary["metrics"]
    assert [m["x"], m["y"], m["turn"]] == pytest.approx([x, y, turn], abs=tolerance)


# The integrator's own tolerance is 1e-12 a step; 600 steps, and the digits of the references.
def test_connection_of_axles_passes_removable_singularities(metrics):  # section 3
    summary = metrics("acm-3")
    assert summary["integrator"] == "connection"
    expect_pose(summary, 3.8325578566662, -1.3680780745987, 0, 1e-9)


def test_connection_lands_on_a_singular_instant(metrics):  # section 3: t = 7 pi/10 itself is a stage
    summary = metrics("acm-3", f"time.step={0.7 * math.pi / 100}", f"time.end={0.7 * math.pi}",
                      "metrics[x].type=rate", "metrics[turn].type=rate")
    # At theta V of the head is along its own x.
    theta = metrics("acm-3", f"time.step={0.7 * math.pi / 100}", f"time.end={0.7 * math.pi}")["metrics"]["turn"]
    assert summary["metrics"]["x"] / math.cos(theta) == pytest.approx(0.6881909602356, abs=1e-7)
    assert summary["metrics"]["turn"] == pytest.approx(-0.1291128854238, abs=1e-7)


def test_other_gaits_by_connection(metrics):  # section 3: G1
    sets = ["gaits[G1].drive=true", "gaits[serpenoid].drive=false"]
    expect_pose(metrics("acm-3", *sets), -0.21717303612214, -0.12801531131089, 0, 1e-11)


def test_a_true_singularity_is_reported(metrics):  # must-show 3
    summary = metrics("acm-3", "gaits[serpenoid].drive=false", "gaits[G1].drive=true", "gaits[G1].sine=[0, 0]",
                      "gaits[G1].centre=[0.3, 0.5]", code=1)
    # r1 = .3 + .3 cos t meets r2 = .5 at cos t = 2/3.
    assert "at t = 0.84106867" in summary["message"], summary["message"]  # 0.8410686706
    assert "axle1, axle2, axle3 would slip by" in summary["message"]
    assert summary["t"] == pytest.approx(math.acos(2 / 3), abs=0.011)


def test_axles_with_a_grip_go_on(metrics):  # must-show 3: where the axles have finite mu
    summary = metrics("acm-slip")
    assert summary["t"] == pytest.approx(CIRCLE, abs=2e-3)
    assert summary["energy"]["friction"] < -0.1


def test_a_gait_beyond_its_limits_stops_the_connection(run, scenes, tmp_path):
    """acm-3's serpenoid: r1 = .5 sin t reaches .49 at t = 1.3705 s, a step of 0.0105 s later the run stops."""
    text = (scenes / "p4/acm-3.yaml").read_text().replace("type: revolute", "type: revolute, limits: [-0.49, 0.49]")
    (tmp_path / "limited.yaml").write_text(text)
    done = run("run", tmp_path / "limited.yaml")
    assert done.code == 1
    assert "'r1' leaves its limits -0.49 .. 0.49: at t = 1.37183 s" in done.err


def test_passive_joints_follow(scenes, tmp_path, run):  # section 3: r3', r4' of five modules
    text = (scenes / "p4/acm-5.yaml").read_text()
    text = text[:text.index("time:")] + """
gaits:
  - {name: lead, joints: [r1, r2], type: signals, drive: true,
     signals: [{type: table, times: [0, 1], values: [0.5, 0.8]}, {type: table, times: [0, 1], values: [-0.3, -0.8]}]}
integrator: {type: connection}
time: {step: 0.01, end: 0.1}
"""
    (tmp_path / "five.yaml").write_text(text)
    done = run("run", tmp_path / "five.yaml", "-o", tmp_path / "five.h5")
    assert done.code == 0, done
    v = h5py.File(tmp_path / "five.h5")["frames/v"][0]
    assert v[:3] == pytest.approx([-0.1563036673508, 0, -0.0799581670794], abs=1e-12)
    assert v[3:] == pytest.approx([0.3, -0.5, 0.6002938834564, -0.6265873002125], abs=1e-12)


def test_connection_of_drag(metrics, run, scenes):  # section 6
    expect_pose(metrics("purcell-five"), -0.2939484379995, -0.0341027858900, 0, 1e-11)
    summary = metrics("purcell")
    done = run("shape", scenes / "p4/purcell.yaml", "--json")
    g = next(g for g in json.loads(done.out)["gaits"] if g["name"] == "circle")
    expect_pose(summary, *g["position"][:2], g["turn"], 1e-11)
    assert summary["energy"]["prescribed"] == pytest.approx(-summary["energy"]["dampers"], rel=1e-12)


def test_drag_wins_where_inertia_is_small(metrics):
    """Three ways: the full equations of a light swimmer near the connection, in proportion to its mass."""
    exact = metrics("purcell")["metrics"]
    errors = []
    for mass in (1e-3, 5e-4):
        sets = [f"bodies[{i}].mass={mass}" for i in range(3)]
        sets += [f"bodies[{i}].inertia=[{mass / 24}, {mass / 24}, {mass / 12}]" for i in range(3)]
        light = metrics("purcell", "integrator.type=moreau", f"time.step={CIRCLE / 3000}", *sets)["metrics"]
        errors.append(math.hypot(light["x"] - exact["x"], light["y"] - exact["y"]))
    assert errors[0] < 2e-3
    assert errors[0] / errors[1] == pytest.approx(2, abs=0.2)


def test_viscous_chain(metrics):  # section 8
    end = (-0.0692927877139, 0.0920995999679, 0.1671368898463)
    expect_pose(metrics("viscous-chain", "integrator.type=event-driven"), *end, 1e-10)
    errors = []
    for steps in (150, 300, 600):
        m = metrics("viscous-chain", f"time.step={CIRCLE / steps}")["metrics"]
        errors.append(math.dist([m["x"], m["y"], m["turn"]], end))
    assert errors[-1] < 1e-5
    for coarse, fine in zip(errors, errors[1:]):
        assert math.log2(coarse / fine) == pytest.approx(2, abs=0.15)


def test_isotropic_drag_keeps_zero_momentum(metrics):  # section 8: the pose of section 2, whatever c
    for c in (0.3, 5):
        summary = metrics("viscous-chain", "integrator.type=event-driven", f"fluids[0].slender.tangential={c}",
                          f"fluids[0].slender.normal={c}", "gaits[circle].centre=[1, 1]", "gaits[circle].radius=0.5",
                          "initial.link2={v: [0.031263723567350014, -0.035102896569838386, -0.12678491860337907]}")
        expect_pose(summary, -0.0171766214049, 0.0049064920844, -0.0564793909203, 1e-9)


def test_coulomb_friction_moves_the_centre_of_mass(run, scenes, tmp_path):
    """Section 8's contrast, the same gait from zero momentum: isotropic viscous drag never moves it, Coulomb's friction does."""
    start = ["gaits[circle].centre=[1, 1]", "gaits[circle].radius=0.5",
             "initial.link2={v: [0.031263723567350014, -0.035102896569838386, -0.12678491860337907]}"]
    viscous = ["fluids[0].slender.tangential=2", "fluids[0].slender.normal=2", "integrator.type=event-driven"]
    coulomb = ["fluids=[]", "supports=[{bodies: ['link*'], friction: 0.3, load: 1}]"]

    def moved(sets):
        out = tmp_path / "chain.h5"
        done = run("run", scenes / "p4/viscous-chain.yaml", "-o", out, *[x for s in start + sets for x in ("--set", s)])
        assert done.code == 0, done
        com = h5py.File(out)["frames/com"][:]
        return np.linalg.norm(com - com[0], axis=1).max()

    assert moved(viscous) < 1e-12
    assert moved(coulomb) > 0.02  # 0.046 m at 10 ms


def test_unicycle(metrics, run, scenes):  # section 3
    expect_pose(metrics("unicycle"), 0, 0.07345046286577639, 0, 1e-13)
    report = json.loads(run("shape", scenes / "p4/unicycle.yaml", "--json").out)
    arc = next(g for g in report["gaits"] if g["name"] == "arc")
    assert arc["position"][:2] == pytest.approx([-0.05717038886265, 0.59450220141332], abs=3e-12)
    # The last 3e-12 s of a piece keep its rates.
    assert arc["turn"] == pytest.approx(10 / 3, abs=3e-12)


def test_unicycle_with_multipliers(metrics):
    """The full equations, wheels as bodies, redundant side rows: the arc at constant rates."""
    start = "initial={chassis: {v: [0.2, 0, 0.6666666666666666]}}"
    sets = ["gaits[loop].drive=false", "gaits[arc].drive=true", "time.end=4", start]
    end = (0.3 * math.sin(8 / 3), 0.3 * (1 - math.cos(8 / 3)), 8 / 3)  # V = .2, Om = 2/3
    expect_pose(metrics("unicycle", "integrator.type=event-driven", *sets), *end, 1e-10)
    expect_pose(metrics("unicycle", "integrator.type=moreau", *sets), *end, 2e-5)


def test_a_leaning_disc_rolls_in_a_circle(metrics):
    m = metrics("rolling-disc")["metrics"]  # steady for ever: closed form in the scene's comment
    height = 0.2 * math.sin(1.2)
    assert [m["x"], m["y"], m["height"]] == pytest.approx([0, 0.2 * math.cos(1.2), height], abs=1e-10)
    assert m["lowest"] == pytest.approx(height, abs=1e-10)
    errors = [abs(metrics("rolling-disc", "integrator.type=moreau", f"time.step={math.pi / n}")["metrics"]["x"])
              for n in (150, 300, 600)]
    for coarse, fine in zip(errors, errors[1:]):
        assert math.log2(coarse / fine) == pytest.approx(2, abs=0.2)


def test_a_cat_falls_on_its_feet_in_a_run(run, scenes, tmp_path):  # section 2: spherical joint, both integrators
    expected = {(0, 0): -1, (1, 1): -0.50864387757156, (1, 2): -0.86097700655068}
    for integrator, tolerance in (("event-driven", 1e-10), ("moreau", 2e-4)):
        out = tmp_path / f"{integrator}.h5"
        done = run("run", scenes / "p4/falling-cat.yaml", "-o", out, "--set", f"integrator.type={integrator}")
        assert done.code == 0, done
        w, x, y, z = h5py.File(out)["frames/q"][-1][3:7]
        R = {(0, 0): 1 - 2 * (y * y + z * z), (1, 1): 1 - 2 * (x * x + z * z), (1, 2): 2 * (y * z - w * x)}
        for at, value in expected.items():
            assert R[at] == pytest.approx(value, abs=tolerance)


def test_a_snake_pressed_between_pegs_holds(run, scenes, metrics):
    """Must-show 6: free joints, constant torques. Under tau_kin it slides down, under tau_kin + tau_stat it holds."""
    stress = json.loads(run("shape", scenes / "p4/peg-snake.yaml", "--json").out)["stress"]
    names = json.loads(run("shape", scenes / "p4/peg-snake.yaml", "--json").out)["variables"]

    def fall(tau):
        by_name = dict(zip(names, tau))
        sets = [f"motors[{i}].torque={by_name[name]}" for i, name in enumerate(("a1", "a2"))]
        return metrics("peg-snake", *sets)["metrics"]["x"]

    assert fall(stress["tau_kin"]) < -0.05
    assert abs(fall(stress["tau"])) < 1e-6


def test_a_quadruped_turns_in_flight(run, scenes, metrics):
    """Any robot is a falling cat: the connection against the full equations, event-driven, from zero momentum."""
    report = json.loads(run("shape", scenes / "p4/quadruped.yaml", "--json").out)
    turn = next(g for g in report["gaits"] if g["name"] == "turn")
    rates = [0.5 * math.pi if name.endswith("pitch") else 0 for name in report["variables"]]
    at = ["--at", ",".join(str(0.5 if n.endswith("roll") else 0.6 if n.endswith("pitch") else -1.2) for n in report["variables"])]
    A = json.loads(run("shape", scenes / "p4/quadruped.yaml", "--json", *at).out)["A"]
    eta = [-sum(a * r for a, r in zip(row, rates)) for row in A]
    m = metrics("quadruped", f"initial.trunk={{v: {eta}}}")["metrics"]
    assert [m["x"], m["y"], m["z"]] == pytest.approx(turn["position"], abs=1e-8)
    assert max(abs(x) for x in turn["rotation_vector"]) > 0.01


def test_a_skater_jumps_turns_and_lands(run, scenes, tmp_path):
    """P4's contact that comes and goes. In the air momentum decides: skates turn by -1/2 of the twist (equal inertias), and
    the centre of mass falls freely; after landing the ice has stopped what goes across the blades."""
    out = tmp_path / "skater.h5"
    done = run("run", scenes / "p4/skater.yaml", "-o", out)
    assert done.code == 0, done
    file = h5py.File(out)
    t, q, v, com = (file["frames"][k][:] for k in ("t", "q", "v", "com"))
    assert file["steps/converged"][:].all()
    yaw = 2 * np.arctan2(q[:, 6], q[:, 3])
    air = (t > 0.9) & (t < 1.2)
    assert yaw[air] == pytest.approx(-0.5, abs=1e-6)
    fall = np.diff(com[:, 2], 2) / 0.01**2
    still = (t[1:-1] > 1.12) & (t[1:-1] < 1.2)  # the legs rest
    assert fall[still] == pytest.approx(-9.81, abs=1e-6)
    assert fall[air[1:-1]] == pytest.approx(-9.81, abs=5e-3)  # they move: second order in the step
    # Along the blades before and after, also in the new direction.
    for when in (0.4, 1.45):
        k = np.argmin(abs(t - when))
        across = -math.sin(yaw[k]) * v[k, 0] + math.cos(yaw[k]) * v[k, 1]
        along = math.cos(yaw[k]) * v[k, 0] + math.sin(yaw[k]) * v[k, 1]
        assert along > 1.5 and abs(across) < 0.03 * along
    assert json.loads(bytes(file["summary"][:]))["energy"]["friction"] < 0


@pytest.mark.parametrize("scene, sets, message", [
    ("p4/free-chain.yaml", ["integrator.type=connection"], "nothing but momentum decides"),
    ("p4/acm-slip.yaml", ["integrator.type=connection"], "runner 'axle1' with scales, friction or a grip"),
    ("water/eel-soft.yaml", ["integrator.type=connection", "fluids=[]"], "an elastic rod: '"),
    ("p4/unicycle.yaml", ["wheels[0].radius=-1"], "wheels[0].radius"),
    ("p4/free-chain.yaml", ["gaits[aside].joints=[a1, a2, zz]"], "gaits[0].joints: no joint matches zz"),
    ("p4/unicycle.yaml", ["planar=true"], "planar"),
    ("p4/unicycle.yaml", ["integrator.type=moreau"], "rolls without sliding"),
    ("p4/rolling-disc.yaml", ["wheels[0].height=0.1"], "off its plane"),
    ("p4/viscous-chain.yaml", ["fluids[0].bodies=[fin*]"], "no body matches fin*"),
    ("p4/viscous-chain.yaml", ["fluids[0].matrix=[1, 1, 1, 1, 1, -9]"], "expected no negative eigenvalue"),
    ("p4/viscous-chain.yaml", ["fluids[0].matrix=[1, 1, 1, 1, 1, 1, 1]"], "expected 6 or 36 numbers"),
])
def test_bad_input(run, scenes, scene, sets, message):
    options = [x for s in sets for x in ("--set", s)]
    done = run("run", scenes / scene, *options)
    assert done.code == 2, done
    assert message in done.err
