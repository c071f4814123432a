"""Ground: height fields, friction maps, belts and moving tables from YAML, and bad input with its line.

Closed forms: each test states its own."""
import json
import math
import shutil
import struct
import zlib

import h5py
import numpy as np
import pytest
import yaml

G = 9.81


def png(path, pixels, bits=8, cut=None, colour=0):
    """A gray PNG of rows of numbers, written by hand."""
    rows = b"".join(b"\0" + b"".join(struct.pack(">B" if bits == 8 else ">H", v) for v in row)
                    for row in pixels)

    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data
                + struct.pack(">I", zlib.crc32(kind + data)))

    head = struct.pack(">IIBBBBB", len(pixels[0]), len(pixels), bits, colour, 0, 0, 0)
    data = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows))
            + chunk(b"IEND", b""))
    path.write_bytes(data[:cut])


def block(shape, q, v=(0,) * 6, mass=1.0, name="body"):
    return {"bodies": [{"name": name, "mass": mass, "inertia": [0.01, 0.01, 0.01],
                        "joint": {"type": "floating"}, "shapes": [shape]}],
            "initial": {name: {"q": [*q, 1, 0, 0, 0], "v": list(v)}}}


def scene(ground, body, friction, end, step=1e-3, **more):
    return {"saltus": 1, **body, "obstacles": [{"name": "ground", **ground}],
            "contacts": [{"between": ["ground", "*"], **friction}],
            "time": {"step": step, "end": end}, **more}


@pytest.fixture
def go(run, tmp_path):
    def play(what, *args, code=0):
        path = tmp_path / "scene.yaml"
        if isinstance(what, dict):
            path.write_text(yaml.safe_dump(what))
        else:
            path = what
        out = tmp_path / "run.h5"
        out.unlink(missing_ok=True)
        done = run("run", path, "--json", "-o", out, *args, timeout=600)
        assert done.code == code, done.err + done.out
        return (json.loads(done.out), out) if code == 0 else (done.err, out)

    return play


def header(file):
    text = file["header"][()]
    return json.loads(text.tobytes() if isinstance(text, np.ndarray) else text)


def frames(path, *names):
    with h5py.File(path, "r") as f:
        return [f[f"frames/{n}"][:] for n in names]


def poses(path, body=0):
    t, pose = frames(path, "t", "pose")
    return t, pose.reshape(len(t), -1, 7)[:, body]


FLAT = {"type": "height-field", "spacing": 0.1, "heights": [[0.0] * 31] * 31}
SHAPES = {"sphere": ({"type": "sphere", "radius": 0.05}, 0.05),
          "box": ({"type": "box", "size": [0.2, 0.16, 0.1]}, 0.05),
          "capsule": ({"type": "capsule", "radius": 0.05, "half_length": 0.1}, 0.05),
          "cylinder": ({"type": "cylinder", "radius": 0.05, "half_length": 0.1}, 0.05),
          "ellipsoid": ({"type": "ellipsoid", "semi_axes": [0.1, 0.08, 0.05]}, 0.05)}


@pytest.mark.parametrize("kind", SHAPES)
def test_sliding_over_a_flat_field_is_sliding_over_the_plane(go, kind):
    """Across cells and diagonals no step is felt: the same motion to 1e-12 m."""
    shape, height = SHAPES[kind]
    body = block(shape, (-0.9, -0.7, height), (2, 1.3, 0, 0, 0, 0.4))
    runs = []
    for ground in (FLAT, {"type": "half-space"}):
        summary, out = go(scene(ground, body, {"friction": 0.1}, 0.8))
        assert summary["unconverged_steps"] == 0
        runs.append(poses(out)[1])
    print(f"    {kind}: {np.abs(runs[0] - runs[1]).max():.1e} m")
    assert np.abs(runs[0] - runs[1]).max() < 1e-12


def test_bodies_rest_on_rough_ground(go, scenes):
    """A ball, a box and a capsule: converged, no creep over 1e-9 m in 10 s, no penetration."""
    end, settled = 20, 10
    summary, out = go(scenes / "ground/rough.yaml", "--set", f"time.end={end}")
    t, pose = frames(out, "t", "pose")
    late = pose[t >= settled]
    creep = np.abs(late - late[0]).max()
    print(f"    {end - settled} s: creep {creep:.1e} m, penetration {summary['max_penetration']:.1e} m "
          f"({summary['max_raw_penetration']:.1e} before the correction), worst residual "
          f"{summary['worst_residual']:.1e} m/s, {1e3 * summary['wall_s'] / summary['steps']:.3f} ms a step")
    assert summary["unconverged_steps"] == 0
    assert creep < 1e-9
    assert summary["max_penetration"] < 1e-6


@pytest.mark.parametrize("seed", range(1, 7))
def test_a_box_rests_on_any_noise(go, seed):
    ground = {"type": "height-field", "spacing": 0.05,
              "generator": {"type": "noise", "points": [61, 61], "amplitude": 0.06, "length": 0.5,
                            "octaves": 4, "seed": seed}}
    body = block({"type": "box", "size": [0.4, 0.3, 0.2]}, (0.1, 0, 0.35))
    body["bodies"][0].pop("inertia")
    body["bodies"][0]["solid"] = {"shape": "box", "size": [0.4, 0.3, 0.2]}
    summary, out = go(scene(ground, body, {"friction": 0.9}, 20))
    t, pose = poses(out)
    late = pose[t >= 14]  # one of them rocks until 12 s
    creep = np.abs(late - late[0]).max()
    print(f"    seed {seed}: creep {creep:.1e} m, penetration {summary['max_penetration']:.1e} m")
    assert summary["unconverged_steps"] == 0
    assert creep < 1e-9 and summary["max_penetration"] < 1e-6


def test_a_ball_rolls_down_a_slope(go):
    """Rolling without slip: a = 5/7 g sin(angle)."""
    angle = 0.3
    ground = {"type": "height-field", "spacing": 0.1,
              "generator": {"type": "slope", "points": [61, 11], "angle": -angle}}
    r = 0.1
    start = (-2 + r * math.sin(angle), 0, 2 * math.tan(angle) + r * math.cos(angle))
    body = block({"type": "sphere", "radius": r}, start)
    body["bodies"][0].update(inertia=[0.4 * r * r] * 3)
    summary, out = go(scene(ground, body, {"friction": 0.8}, 1))
    t, pose = poses(out)
    along = (pose[-1, 0] - pose[0, 0]) / math.cos(angle)
    exact = 0.5 * 5 / 7 * G * math.sin(angle)
    # The mid-point rule has constant accelerations exactly.
    assert along == pytest.approx(exact, abs=1e-9)
    assert summary["max_penetration"] < 1e-9


def test_a_block_on_a_shaking_table(go, scenes):
    """It sticks while A w^2 < mu g, and slips beyond."""
    mu, amplitude = 0.3, 0.05
    for omega in (7.0, 7.6):
        assert amplitude * omega**2 < mu * G
        _, out = go(scenes / "ground/shaking-table.yaml", "--set",
                    f"bodies[table].joint.prescribed.omega={omega}", "--set",
                    f"initial.block.v=[{amplitude * omega},0,0,0,0,0]")
        t, table = poses(out, 0)
        block_x = poses(out, 1)[1][:, 0]
        # The scheme sums mean velocities: off the sine by A w^2 dt^2/12 and no more, however long.
        assert np.abs(block_x - table[:, 0]).max() < amplitude * omega**2 * 1e-6 / 10, omega
    # Beyond: from rest the block is dragged at mu g while the table is faster.
    omega = 12.0
    _, out = go(scenes / "ground/shaking-table.yaml", "--set", "time.end=0.05", "--set",
                f"bodies[table].joint.prescribed.omega={omega}", "--set", "initial.block.v=[0,0,0,0,0,0]")
    t, block_pose = poses(out, 1)
    assert np.abs(block_pose[:, 0] - 0.5 * mu * G * t**2).max() < 1e-9


@pytest.mark.parametrize("shape", ["half-space", "box", "height-field"])
def test_ground_that_rises_lifts_what_lies_on_it(go, shape):
    """A prescribed body may carry any ground: N = m (g + a) and the block follows."""
    top = {"half-space": {"type": "half-space"},
           "box": {"type": "box", "size": [1, 1, 0.2], "at": {"position": [0, 0, -0.1]}},
           "height-field": FLAT}[shape]
    what = block({"type": "box", "size": [0.2, 0.2, 0.1]}, (0.013, 0.007, 0.05))
    what["bodies"].insert(0, {"name": "lift", "mass": 5, "inertia": [1, 1, 1], "joint": {
        "type": "prismatic", "axis": [0, 0, 1],
        "prescribed": {"type": "sine", "amplitude": 0.02, "omega": 10}}, "shapes": [{"name": "top", **top}]})
    what["initial"]["body"]["v"] = [0, 0, 0.2, 0, 0, 0]
    what = {"saltus": 1, **what, "contacts": [{"between": ["top", "body"], "friction": 0.5}],
            "time": {"step": 1e-3, "end": 1}}
    summary, out = go(what)
    lift, body = poses(out, 0)[1][:, 2], poses(out, 1)[1][:, 2]
    assert summary["unconverged_steps"] == 0
    assert np.abs(body - lift - 0.05).max() < 1e-9  # A w^2 = 2 < g: it never leaves


def test_a_conveyor_belt(go, scenes):
    """Dropped on a belt a block has its speed after v/(mu g); friction loses m v^2/2, the belt's drive
    gives twice that, and the ledger is closed."""
    mass, speed, mu = 2, 1.0, 0.4
    summary, out = go(scenes / "ground/conveyor.yaml")
    t, v, pose, kinetic, friction, drive, integrator = frames(
        out, "t", "v", "pose", "kinetic", "work_friction", "work_prescribed", "work_integrator")
    reached = speed / (mu * G)
    early, late = t < reached - 2e-3, t > reached + 2e-3
    assert np.abs(v[early, 0] - mu * G * t[early]).max() < 1e-9
    assert np.abs(v[late, 0] - speed).max() < 1e-9
    # The step in which slip ends is linear: off by at most half of what a step changes.
    assert pose[-1, 0] == pytest.approx(speed * (1 - 0.5 * reached), abs=mu * G * 1e-6)
    energy = 0.5 * mass * speed**2
    assert kinetic[-1] == pytest.approx(energy, rel=1e-9)
    assert friction[-1] == pytest.approx(-energy, rel=0.01)
    assert drive[-1] == pytest.approx(2 * energy, rel=0.01)
    assert abs(friction[-1] + drive[-1] - energy) < 1e-9 and abs(integrator[-1]) < 1e-9
    assert summary["unconverged_steps"] == 0


def test_a_block_stops_against_a_belt_that_runs_backwards(go):
    """A sphere that may not turn... a point, thrown along: slip v + u, so a = -mu g until -u."""
    ground = {"type": "height-field", "spacing": 1, "heights": [[0, 0, 0]] * 3,
              "surface_velocity": [-0.5, 0, 0]}
    _, out = go(scene(ground, block({"type": "point"}, (0, 0, 0), (0.5, 0, 0, 0, 0, 0)),
                      {"friction": 0.5}, 0.5))
    t, v = frames(out, "t", "v")
    assert np.abs(v[:, 0] - np.maximum(0.5 - 0.5 * G * t, -0.5)).max() < 0.5 * G * 1e-3
    assert abs(v[-1, 0] + 0.5) < 1e-12


@pytest.mark.parametrize("ground", ["half-space", "height-field"])
def test_a_friction_map_stops_a_block_by_energy(go, scenes, ground):
    """v^2/2 = g (mu_rough x_rough + mu_ice x_ice)."""
    text = yaml.safe_load((scenes / "ground/friction-map.yaml").read_text())
    if ground == "height-field":
        text["obstacles"][0].update(type="height-field", spacing=0.5, heights=[[0.0] * 11] * 5)
    errors = []
    for step in (1e-3, 2.5e-4):
        text["time"]["step"] = step
        summary, out = go(text)
        rough = 2.5**2 / (2 * G * 0.5) - 0.2 * 0.8  # on rough ground alone, less what ice takes
        errors.append(abs(poses(out)[1][-1, 0] - (0.8 + rough)))
    print(f"    {ground}: off by {errors[0]:.1e} and {errors[1]:.1e} m")
    # A step lies on one side of a border: off by at most v dt times the difference of both mu.
    assert errors[0] < 2.5 * 1e-3 and errors[1] < errors[0] / 2


def test_a_checkerboard_and_a_bilinear_map(go):
    """mu = mu0 (1 + k x) between nodes: v^2/2 = mu0 g (x + k x^2/2)."""
    mu, k, v = 0.4, 0.5, 2.0
    ground = {"type": "half-space",
              "friction_map": {"between": "bilinear", "origin": [0, 0], "spacing": [4, 1],
                               "factors": [[1, 1 + 4 * k]]}}
    _, out = go(scene(ground, block({"type": "point"}, (0, 0, 0), (v, 0, 0, 0, 0, 0)),
                      {"friction": mu}, 1))
    exact = (-1 + math.sqrt(1 + k * v**2 / (mu * G))) / k
    assert poses(out)[1][-1, 0] == pytest.approx(exact, abs=1e-6)
    board = {"type": "half-space", "friction_map": {
        "generator": {"type": "checkerboard", "length": 0.1, "points": [40, 40], "factors": [0, 1]}}}
    _, out = go(scene(board, block({"type": "point"}, (0, 0.05, 0), (v, 0, 0, 0, 0, 0)),
                      {"friction": mu}, 0.8))
    # Half of the way is without friction: it goes twice as far, to within one square.
    assert poses(out)[1][-1, 0] == pytest.approx(v**2 / (mu * G), abs=0.1)


def test_a_heap_over_a_large_field_costs_what_it_touches(go):
    """Balls far apart on 300 x 300 cells: a step costs no more than on a plane with as many contacts."""
    bodies, initial = [], {}
    for k in range(100):
        bodies.append({"name": f"b{k}", "mass": 1, "inertia": [0.004] * 3, "joint": {"type": "floating"},
                       "shapes": [{"type": "sphere", "radius": 0.1}]})
        initial[f"b{k}"] = {"q": [k % 10 - 4.5 + 0.01, k // 10 - 4.5, 0.1, 1, 0, 0, 0]}
    cost = {}
    for name, ground in (("field", {"type": "height-field", "size": [15, 15],
                                    "generator": {"type": "noise", "points": [301, 301], "amplitude": 0,
                                                  "length": 1}}),
                         ("plane", {"type": "half-space"})):
        what = {"saltus": 1, "bodies": bodies, "initial": initial,
                "obstacles": [{"name": "ground", **ground}],
                "contacts": [{"between": ["ground", "b*"], "friction": 0.5}],
                "time": {"step": 1e-3, "end": 0.2}}
        summary, _ = go(what)
        cost[name] = summary["wall_s"] / summary["steps"]
    print(f"    {1e6 * cost['field']:.0f} us a step, plane {1e6 * cost['plane']:.0f} us")
    assert cost["field"] < 3 * cost["plane"] + 1e-4


def test_event_driven_over_a_height_field(go):
    """Guards use the gap: a ball bounces on the field as on the plane, to the last bit of the integrator;
    and one that rolls over a bend keeps its energy."""
    body = block({"type": "sphere", "radius": 0.1}, (0.013, 0.02, 0.5), (0.3, 0, 0, 0, 0, 0))
    ends = []
    for ground in (FLAT, {"type": "half-space"}):
        what = scene(ground, body, {"friction": 0.3, "restitution": 0.5}, 1.0, step=0.01)
        what["integrator"] = {"type": "event-driven"}
        go(what)
        ends.append(poses(go(what)[1])[1][-1])
    assert np.abs(ends[0] - ends[1]).max() < 1e-9
    roof = {"type": "height-field", "spacing": 0.5,
            "heights": [[0.0, 0.0, 0.0, -0.05, -0.1]] * 3}
    rolling = block({"type": "sphere", "radius": 0.1}, (-0.5, 0.02, 0.1), (0.6, 0, 0, 0, 6, 0))
    rolling["bodies"][0]["inertia"] = [0.004] * 3
    what = scene(roof, rolling, {"friction": 0.6}, 1.2, step=0.01)
    what["integrator"] = {"type": "event-driven"}
    out, run = go(what)
    t, pose = poses(run)
    end = pose[-1]
    # Time stepping goes over the two ends of the ridge, for less than a microsecond.
    assert abs(out["energy"]["integrator"]) < 1e-11 and abs(out["energy"]["friction"]) < 1e-11
    # Over the ridge and down the slope of 0.1, where it rolls: 7/10 m v^2 + m g z is kept.
    slope = math.atan(0.1)
    assert end[0] > 0.1 and end[2] == pytest.approx(0.1 / math.cos(slope) - 0.1 * end[0], abs=1e-9)
    speed = math.sqrt(0.6**2 + 2 * G / 1.4 * (0.1 - end[2]))
    down = (pose[-1] - pose[-2])[:3]
    # From one frame to the next it gains g sin(slope) 5/7 of speed.
    mean = np.linalg.norm(down) / (t[-1] - t[-2])
    assert mean + 0.5 * (t[-1] - t[-2]) * G * math.sin(slope) / 1.4 == pytest.approx(speed, abs=1e-6)


def test_event_driven_takes_belts(run, scenes):
    """A block on a conveyor: the belt's speed after v/(mu g), to the integrator's tolerance, and the books."""
    done = run("run", scenes / "ground/conveyor.yaml", "--json", "--set", "integrator.type=event-driven",
               "--set", "time.step=0.1")
    assert done.code == 0, done.err
    out = json.loads(done.out)
    assert out["metrics"]["x_end"] == pytest.approx(1 - 0.5 / (0.4 * G), abs=1e-9)
    energy = out["energy"]
    # A slip ends at a speed of 1e-9 of the scale, not at zero.
    assert energy["friction"] == pytest.approx(-1, abs=4e-9)
    assert energy["prescribed"] == pytest.approx(2, abs=4e-9)
    assert abs(energy["integrator"]) < 4e-9


def test_a_point_thrown_on_a_belt_event_driven(run, tmp_path):
    """Down onto a belt and along it: the impact takes mu times its impulse from the slip, friction the rest."""
    mu, speed, drop, along = 0.3, -0.5, 0.2, 1.0
    what = scene({"type": "half-space", "surface_velocity": [speed, 0, 0]},
                 block({"type": "point"}, (0, 0, drop), (along, 0, 0, 0, 0, 0)), {"friction": mu}, 1, step=0.1)
    what["integrator"] = {"type": "event-driven"}
    path = tmp_path / "scene.json"
    path.write_text(json.dumps(what))
    done = run("run", path, "--json", "-o", tmp_path / "out.h5")
    assert done.code == 0, done.err
    fall = math.sqrt(2 * drop / G)
    v1 = along - mu * G * fall
    slides = (v1 - speed) / (mu * G)
    rest = 1 - fall - slides
    assert rest > 0
    x = along * fall + v1 * slides - 0.5 * mu * G * slides**2 + speed * rest
    with h5py.File(tmp_path / "out.h5") as f:
        assert f["frames/pose"][-1].ravel()[0] == pytest.approx(x, abs=1e-8)
    out = json.loads(done.out)
    turned = sum(abs(out["energy"][k]) for k in ("friction", "prescribed", "impacts") if k in out["energy"])
    assert abs(out["energy"]["integrator"]) < 1e-10 * max(turned, 1)


def test_event_driven_over_the_edges_of_a_friction_map(go, scenes):
    """From rough ground onto ice and off it: exact at the edges, by energy; no step sees them but as events."""
    out, run = go(scenes / "ground/friction-map.yaml", "--set", "integrator.type=event-driven",
                  "--set", "time.step=0.1")
    on_ice = 1.1 - 0.3
    stop = (2.5**2 / (2 * G) - 0.1 * on_ice) / 0.5 + on_ice
    assert out["metrics"]["x_end"] == pytest.approx(stop, abs=1e-9)
    assert out["energy"]["friction"] == pytest.approx(-0.5 * 2.5**2, abs=1e-8)


@pytest.mark.parametrize("turned", [0.0, 0.7])
def test_event_driven_over_a_bilinear_map(go, turned):
    """mu grows by x and falls again, with a bend at the node between: x stops where the energy is used up. The
    map lies in its shape's frame, which is turned."""
    mu, v0 = 0.1, 2.6
    ground = {"type": "half-space", "at": {"rpy": [0, 0, turned]},
              "friction_map": {"factors": [[1, 3, 1], [1, 3, 1]], "spacing": 1, "origin": [0, -1],
                               "between": "bilinear"}}
    c, s = math.cos(turned), math.sin(turned)
    what = scene(ground, block({"type": "point"}, (0, 0, 0), (v0 * c, v0 * s, 0, 0, 0, 0)), {"friction": mu},
                 3, step=0.25)
    what["integrator"] = {"type": "event-driven"}
    out, run = go(what)
    # v^2 / (2 mu g) is used up by x + x^2 up to the node, then by 3 y - y^2.
    left = v0**2 / (2 * mu * G) - 2
    assert 0 < left < 2
    stop = 1 + (3 - math.sqrt(9 - 4 * left)) / 2
    end = poses(run)[1][-1].ravel()
    assert end[:2] == pytest.approx([stop * c, stop * s], abs=1e-8)
    assert abs(out["energy"]["integrator"]) < 1e-9
    # The first stretch is a harmonic motion about x = -1/2 with w^2 = 2 mu g.
    w = math.sqrt(2 * mu * G)
    times, all_poses = poses(run)
    x = all_poses[1].ravel()[:2] @ [c, s]
    assert x < 1 and times[1] == 0.25
    assert x == pytest.approx(-0.5 + 0.5 * math.cos(w * 0.25) + v0 / w * math.sin(w * 0.25), abs=1e-11)


def test_event_driven_sticks_on_rough_cells_only(go):
    """A slope of 0.3 rad: mu tan holds on the cells with 2, not on those with 1; what starts on the edge slides
    down from there, and stops where it has run onto the rough ground."""
    angle, mu = 0.3, 0.25
    ground = {"type": "half-space", "friction_map": {"factors": [[1, 2.5]], "spacing": [0.5, 10],
                                                    "origin": [-0.5, -5]}}
    what = scene(ground, block({"type": "point"}, (-0.4, 0, 0)), {"friction": mu}, 4, step=0.5)
    what["gravity"] = [G * math.sin(angle), 0, -G * math.cos(angle)]
    what["integrator"] = {"type": "event-driven"}
    out, run = go(what)
    gain = math.sin(angle) - mu * math.cos(angle)
    loss = 2.5 * mu * math.cos(angle) - math.sin(angle)
    assert gain > 0 and loss > 0
    assert poses(run)[1][-1].ravel()[0] == pytest.approx(0.4 * gain / loss, abs=1e-8)


def test_images_and_csv_are_the_same_ground(go, tmp_path):
    """Heights from a list, an 8-bit and a 16-bit PNG, a PGM and a CSV: a point rests at each height."""
    pixels = [[0, 51, 102], [153, 204, 255]]  # top row: the greatest y
    png(tmp_path / "a.png", pixels)
    png(tmp_path / "b.png", [[257 * v for v in row] for row in pixels], bits=16)
    (tmp_path / "c.pgm").write_text("P2 3 2 255\n" + "\n".join(" ".join(map(str, r)) for r in pixels))
    heights = [[0.2 * v / 255 + 0.1 for v in row] for row in reversed(pixels)]
    (tmp_path / "d.csv").write_text("\n".join(",".join(map(repr, r)) for r in heights))
    found = []
    for key in ({"heights": heights}, {"file": "a.png", "scale": 0.2, "offset": 0.1},
                {"file": "b.png", "scale": 0.2, "offset": 0.1}, {"file": "c.pgm", "scale": 0.2, "offset": 0.1},
                {"file": "d.csv"}):
        ground = {"type": "height-field", "spacing": 0.5, "origin": [0, 0], **key}
        _, out = go(scene(ground, block({"type": "point"}, (0.6, 0.2, 1)), {}, 0.02))
        with h5py.File(out, "r") as f:
            shape = header(f)["shapes"][-1]
        assert shape["points"] == [3, 2] and shape["origin"] == [0, 0]
        found.append(shape["heights"])
    assert np.abs(np.array(found) - found[0]).max() < 1e-15
    assert np.abs(np.array(found[0]) - np.array(heights).ravel()).max() < 1e-15


def test_a_run_that_names_files_is_resumed_from_another_folder(run, tmp_path):
    folder = tmp_path / "scene"
    folder.mkdir()
    (folder / "d.csv").write_text("0 0\n0 0\n")
    what = scene({"type": "height-field", "spacing": 2, "file": "d.csv"},
                 block({"type": "sphere", "radius": 0.1}, (0, 0, 0.3)), {"friction": 0.1}, 0.4)
    (folder / "s.yaml").write_text(yaml.safe_dump(what))
    whole, on = tmp_path / "whole.h5", tmp_path / "on.h5"
    assert run("run", folder / "s.yaml", "-q", "-o", whole).code == 0
    shutil.copy(whole, on)
    done = run("run", "--resume", on, "-q", cwd="/")  # reads the scene, and so the file, again
    assert done.code == 0, done.err
    assert (poses(whole)[1][-1] == poses(on)[1][-1]).all()
    (folder / "d.csv").unlink()
    done = run("run", "--resume", on, "-q", cwd="/")
    assert done.code == 2 and "d.csv: cannot read" in done.err


CUBE = "".join(f"v {x} {y} {z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1)) + (
    "f 1 2 4 3\nf 5 7 8 6\nf 1 5 6 2\nf 3 4 8 7\nf 1 3 7 5\nf 2 6 8 4\n")


def test_a_mesh_rests_as_its_hull(go, tmp_path):
    (tmp_path / "cube.obj").write_text(CUBE)
    shape = {"type": "mesh", "file": "cube.obj", "scale": 0.2, "at": {"position": [-0.1, -0.1, -0.1]}}
    _, out = go(scene(FLAT, block(shape, (0.01, 0.02, 0.1)), {"friction": 0.5}, 0.5))
    pose = poses(out)[1]
    assert np.abs(pose - pose[0]).max() < 1e-9
    with h5py.File(out, "r") as f:
        mesh = header(f)["shapes"][0]["mesh"]
    assert len(mesh["vertices"]) == 8 and len(mesh["triangles"]) == 36


def test_report_and_csv_take_the_new_shapes(run, go, scenes, tmp_path):
    _, out = go(scenes / "ground/rough.yaml", "--set", "time.end=0.1")
    assert run("report", out, "-o", tmp_path / "r.html").code == 0
    assert run("csv", out, "-t", "frames", "-c", "t").code == 0


BAD = {
    "ragged": ("heights: [[0, 0], [0]]", "heights[1]: expected a row of 2 numbers, got 1"),
    "flat list": ("heights: [0, 0]", "heights[0]"),
    "one row": ("heights: [[0, 0]]", "at least 2 rows"),
    "nan": ("heights: [[0, 0], [0, .nan]]", "heights[1][1]: expected a number"),
    "no heights": ("scale: 2", "belongs to a file"),
    "nothing": ("origin: [0, 0]", "expected heights, a file or a generator"),
    "both": ("heights: [[0, 0], [0, 0]]\n    file: a.png", "either heights or a file"),
    "generator": ("generator: {type: dunes, points: [3, 3]}", "expected one of slope, steps"),
    "points": ("generator: {type: slope, angle: 0.1, points: [1, 3]}", "at least 2 x 2 samples"),
    "half points": ("generator: {type: slope, angle: 0.1, points: [2.5, 3]}", "whole numbers"),
    "missing": ("file: none.png", "none.png: cannot read: there is no such file"),
    "truncated": ("file: cut.png", "cannot read the image"),
    "no image": ("file: text.png", "text.png:1: expected finite numbers"),
    "colours": ("file: rgb.png", "expected a gray image"),
    "folder": ("file: .", "it is no plain file"),
    "map": ("heights: [[0, 0], [0, 0]]\n    friction_map: {factors: [[1, -1]], spacing: 1}",
            "expected factors >= 0, got -1 in row 1, column 2"),
    "map file": ("heights: [[0, 0], [0, 0]]\n    friction_map: {file: none.csv, spacing: 1}",
                 "none.csv: cannot read"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_ground_is_refused_with_its_line(run, tmp_path, name):
    text, message = BAD[name]
    png(tmp_path / "cut.png", [[0, 1, 2]] * 50, cut=60)
    (tmp_path / "text.png").write_text("no picture\n")
    png(tmp_path / "rgb.png", [[1, 2, 3]], colour=2)
    path = tmp_path / "scene.yaml"
    path.write_text("saltus: 1\nbodies: [{name: b, mass: 1, inertia: [1, 1, 1], joint: {type: floating},"
                    " shapes: [{type: point}]}]\ntime: {end: 0.1}\nobstacles:\n  - name: ground\n"
                    f"    type: height-field\n    spacing: 1\n    {text}\n"
                    "contacts: [{between: [ground, b]}]\n")
    done = run("run", path, "-q")
    assert done.code == 2, done.err
    assert message in done.err
    line = int(done.err.split("scene.yaml:")[1].split(":")[0])
    assert 5 <= line <= 10, done.err


@pytest.mark.parametrize("text,message", [
    ("file: none.stl", "none.stl: cannot read"), ("file: bad.obj", "bad.obj:1: expected three finite"),
    ("file: bad.stl", "bad.stl: byte 3"), ("file: flat.obj", "at least 4 points of a hull"),
    ("file: cube.obj\n    scale: 0", "expected factors other than 0"),
    ("file: cube.obj\n    scale: [1, 2]", "one factor or three")])
def test_bad_meshes_are_refused_with_their_line(run, tmp_path, text, message):
    (tmp_path / "bad.obj").write_text("v 1 2 x\n")
    (tmp_path / "bad.stl").write_text("xyz")
    (tmp_path / "flat.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    (tmp_path / "cube.obj").write_text(CUBE)
    path = tmp_path / "scene.yaml"
    path.write_text("saltus: 1\nbodies: [{name: b, mass: 1, inertia: [1, 1, 1], joint: {type: floating}}]\n"
                    f"time: {{end: 0.1}}\nobstacles:\n  - name: m\n    type: mesh\n    {text}\n")
    done = run("run", path, "-q")
    assert done.code == 2 and message in done.err, done.err
    assert f"{path}:" in done.err
