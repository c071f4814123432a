"""Robots of files: the same from URDF and MJCF, and every one of them stands or rests on flat and on
rough ground: all steps converged, no creep, no drift, no penetration."""
import json
from pathlib import Path

import numpy as np
import pytest
import yaml

ROBOTS = Path(__file__).resolve().parent.parent.parent / "shared/robots"


# --- the same robot twice -------------------------------------------------------------------------

def text(x):
    return " ".join(repr(float(v)) for v in np.ravel(x))


def turned(rpy):
    """URDF: about the fixed x, then y, then z."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    return z @ y @ x


def random_links(rng, count):
    links = []
    for i in range(count):
        # Principal moments of a cloud of points obey the triangle inequality.
        a, b, c = rng.uniform(0.5, 2, 3) * 1e-2
        J = np.diag([b + c, a + c, a + b])
        R = turned(rng.uniform(-3, 3, 3))
        axis = rng.normal(size=3)
        links.append({
            "name": f"link{i}", "parent": rng.integers(0, i) if i else None,
            "kind": "floating" if i == 0 else rng.choice(["revolute", "prismatic", "fixed"]),
            "xyz": rng.uniform(-0.3, 0.3, 3), "rpy": rng.uniform(-3, 3, 3),
            "axis": axis / np.linalg.norm(axis), "mass": rng.uniform(0.1, 2),
            "com": rng.uniform(-0.1, 0.1, 3), "com_rpy": rng.uniform(-3, 3, 3), "J": R @ J @ R.T,
            "damping": rng.uniform(0, 1)})
    return links


def urdf(links):
    out = ['<robot name="twin">']
    for k in links:
        J = k["J"]
        out.append(f'''<link name="{k["name"]}"><inertial><origin xyz="{text(k["com"])}"
          rpy="{text(k["com_rpy"])}"/><mass value="{float(k["mass"])!r}"/><inertia ixx="{float(J[0, 0])!r}"
          iyy="{float(J[1, 1])!r}" izz="{float(J[2, 2])!r}" ixy="{float(J[0, 1])!r}" ixz="{float(J[0, 2])!r}"
          iyz="{float(J[1, 2])!r}"/></inertial></link>''')
        if k["parent"] is None:
            continue
        kind = "continuous" if k["kind"] == "revolute" else k["kind"]
        limit = '<limit lower="-9" upper="9" effort="1" velocity="1"/>' if kind == "prismatic" else ""
        out.append(f'''<joint name="joint_{k["name"]}" type="{kind}"><parent
          link="link{k["parent"]}"/><child link="{k["name"]}"/><origin xyz="{text(k["xyz"])}"
          rpy="{text(k["rpy"])}"/><axis xyz="{text(k["axis"])}"/>{limit}
          <dynamics damping="{float(k["damping"])!r}"/></joint>''')
    return "\n".join(out + ["</robot>"])


def mjcf(links):
    def body(i):
        k = links[i]
        # Euler angles of MuJoCo: small letters turn with the body; about fixed axes in URDF's order.
        place = "" if k["parent"] is None else f'pos="{text(k["xyz"])}" euler="{text(k["rpy"])}"'
        R = turned(k["com_rpy"])
        J = R @ k["J"] @ R.T  # fullinertia has the axes of the body
        inertia = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
        joint = {"floating": "<freejoint/>", "fixed": ""}.get(k["kind"]) if k["kind"] in (
            "floating", "fixed") else (
            f'<joint name="joint_{k["name"]}" type="{dict(revolute="hinge", prismatic="slide")[k["kind"]]}" '
            f'axis="{text(k["axis"])}" damping="{float(k["damping"])!r}"'
            + (' range="-9 9" limited="true"' if k["kind"] == "prismatic" else "") + "/>")
        inside = "".join(body(c) for c in range(len(links)) if links[c]["parent"] == i)
        return (f'<body name="{k["name"]}" {place}>{joint}<inertial pos="{text(k["com"])}" '
                f'mass="{float(k["mass"])!r}" fullinertia="{text(inertia)}"/>{inside}</body>')

    return ('<mujoco model="twin"><compiler angle="radian" eulerseq="XYZ"/><worldbody>'
            + body(0) + "</worldbody></mujoco>")


@pytest.mark.parametrize("seed", range(8))
def test_urdf_and_mjcf_of_one_robot_are_the_same(run, tmp_path, seed):
    rng = np.random.default_rng(seed)
    links = random_links(rng, 8)
    reports = []
    for name, content in (("twin.urdf", urdf(links)), ("twin.xml", mjcf(links))):
        (tmp_path / name).write_text(content)
        plain = run("import", tmp_path / name, "--json", "--dynamics")
        assert plain.code == 0, plain.err
        d = json.loads(plain.out)["dynamics"]
        place = {j["body"]: j for j in d["joints"]}
        values = np.random.default_rng(seed + 100)
        q, v, order = np.array(d["q"]), np.zeros(len(d["bias"])), []
        for k in links:
            if k["kind"] == "fixed":
                continue
            at = place[k["name"]]
            if k["kind"] == "floating":
                turn = values.normal(size=4)
                q[at["q0"]:at["q0"] + 7] = [*values.normal(size=3), *(turn / np.linalg.norm(turn))]
            else:
                q[at["q0"]] = values.uniform(-1, 1)
            v[at["v0"]:at["v0"] + at["nv"]] = values.normal(size=at["nv"])
            order += range(at["v0"], at["v0"] + at["nv"])
        comma = [",".join(repr(float(y)) for y in x) for x in (q, v)]
        full = run("import", tmp_path / name, "--json", f"--q={comma[0]}", f"--v={comma[1]}")
        assert full.code == 0, full.err
        d = json.loads(full.out)["dynamics"]
        reports.append((np.array(d["M"])[np.ix_(order, order)], np.array(d["bias"])[order]))
    for ours, theirs in zip(*reports):
        # Angles and tensors are turned by different code: a few roundings.
        assert np.abs(ours - theirs).max() <= 1e-13 * np.abs(ours).max()


# --- at rest --------------------------------------------------------------------------------------

ROUGH = {"name": "ground", "type": "height-field", "spacing": 0.1,
         "generator": {"type": "noise", "points": [61, 61], "amplitude": 0.03, "length": 0.6,
                       "octaves": 3, "seed": 3}}
FLAT = {"name": "ground", "type": "half-space"}
LEGS = ("FR", "FL", "RR", "RL")
# rolling: a round body on three supports rolls to and fro for minutes without it.
CASES = {
    "unitree_a1.urdf": {
        "folder": "urdf", "height": {"flat": 0.32, "rough": 0.38}, "probes": ["trunk", "FR_foot"],
        "scene": {"motors": [{"joints": [f"*_{joint}_joint"], "kp": 100, "kd": 2, "limit": 33.5,
                              "reference": angle}
                             for joint, angle in (("hip", 0), ("thigh", 0.8), ("calf", -1.6))],
                  "initial": {f"{leg}_{joint}_joint": angle for leg in LEGS
                              for joint, angle in (("thigh", 0.8), ("calf", -1.6))}}},
    "unitree_a1.xml": {"folder": "mjcf", "height": {"flat": 0.27, "rough": 0.34}, "keyframe": "home",
                       "probes": ["trunk", "FR_calf"], "scene": {}},
    "cmu_rsnake.urdf": {
        "folder": "urdf", "height": {"flat": 0.1, "rough": 0.2}, "probes": ["module_0", "module_14"],
        "law": {"rolling": 0.001},
        "scene": {"motors": [{"joints": ["module_*"], "kp": 20, "kd": 1}]}},
    "gym_swimmer.xml": {"folder": "mjcf", "probes": ["torso", "back"], "scene": {}},
}


@pytest.mark.parametrize("ground", ["flat", "rough"])
@pytest.mark.parametrize("name", CASES)
def test_stands_or_rests(run, tmp_path, name, ground):
    if not ROBOTS.is_dir():
        pytest.skip(f"{ROBOTS} is not there: no robots of others")
    case = CASES[name]
    robot = {"file": str(ROBOTS / case["folder"] / name), "package_paths": [str(ROBOTS)]}
    scene = {"saltus": 1, "time": {"step": 0.002, "end": 20}, **case["scene"],
             "obstacles": [FLAT if ground == "flat" else ROUGH],
             "probes": [{"name": f"p{i}", "body": b} for i, b in enumerate(case["probes"])],
             # Fallen and come to rest in the first half; then nothing moves any more.
             "metrics": [{"name": f"moved{i}", "type": "travel", "probe": f"p{i}", "from": 10,
                          "to": 20} for i in range(2)]}
    if "height" in case:  # the swimmer touches nothing, by its file
        robot["at"] = {"position": [0 if "a1" in name else -0.5, 0, case["height"][ground]]}
        scene["contacts"] = [{"between": ["ground", "*"], "friction": 0.6, **case.get("law", {})}]
    else:
        scene["obstacles"][0] = dict(scene["obstacles"][0], name="floor2")
    if "keyframe" in case:
        robot["keyframe"] = case["keyframe"]
    scene["robots"] = [robot]
    (tmp_path / "scene.yaml").write_text(yaml.safe_dump(scene))
    outcome = run("run", tmp_path / "scene.yaml", "--json", "-o", tmp_path / "run.h5", timeout=300)
    assert outcome.code == 0, outcome.err
    summary = json.loads(outcome.out)
    assert summary["unconverged_steps"] == 0
    assert summary["max_penetration"] <= 1e-6
    # The path of 10 s: what the solver's tolerance of 1e-10 m/s may leave, both points, and as much
    # again for a motion that has not quite died away.
    assert max(summary["metrics"][f"moved{i}"] for i in range(2)) <= 2e-9


def test_tendons_of_mjcf_hold_and_pull(run, repo, tmp_path):
    """tests/robots/files/strings.xml: a bob on a rope of 0.75 m that starts level with its hook stays that far, and a geared
    spring of two joints comes to where the weights of their links let it."""
    scene = tmp_path / "strings.yaml"
    scene.write_text(yaml.safe_dump({
        "saltus": 1, "robots": [{"file": str(repo / "tests/robots/files/strings.xml"), "motors": False,
                                 "package_paths": [str(repo / "tests/robots/files")]}],
        "time": {"step": 2e-4, "end": 0.43}, "probes": [{"name": "bob", "body": "bob"}],
        "metrics": [{"name": a, "type": "position", "probe": "bob", "axis": a, "at": 0.43} for a in "xyz"]}))
    done = run("run", scene, "--json", "-o", tmp_path / "run.h5")
    assert done.code == 0, done.err
    summary = json.loads(done.out)
    m = summary["metrics"]
    assert np.hypot(m["x"], m["z"] - 1) == pytest.approx(0.75, abs=1e-9) and m["z"] < 0.4
    assert abs(summary["energy"]["integrator"]) < 1e-9
    # The run file has the robot written out, cables and all.
    import h5py
    with h5py.File(tmp_path / "run.h5") as file:
        kept = yaml.safe_load(json.loads(file["header"][()].tobytes())["complete_scene"])
    assert [c["name"] for c in kept["cables"]] == ["gear longest", "gear shortest", "gear spring", "rope longest",
                                                   "bungee spring"]
