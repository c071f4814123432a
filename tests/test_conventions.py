"""The conversions of docs/from-drake-pinocchio.md, against Pinocchio and Drake where they are
installed (`pip install pin drake`); dynamics of the same file from three engines."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

A1 = Path(__file__).resolve().parents[2] / "shared/robots/urdf/unitree_a1.urdf"
# Three recursions that order their sums differently: some tens of roundings of numbers of order 1.
TOLERANCE = 1e-13


def states(count=20):
    random = np.random.default_rng(1)
    for _ in range(count):
        q = np.concatenate([random.normal(size=7), random.uniform(-1, 1, 12)])
        q[3:7] /= np.linalg.norm(q[3:7])
        yield q, random.normal(size=18)


def rotation(quaternion):
    w, x, y, z = quaternion
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


@pytest.fixture
def ours(run):
    """dynamics(q, v) and the joints as (name, place in q, place in v)."""
    if not A1.exists():
        pytest.skip(f"no {A1}")

    def ask(*more):
        done = run("import", A1, "--base", "floating", "--json", "--dynamics", *more)
        assert done.code == 0, done.err
        return json.loads(done.out)

    def dynamics(q, v):
        text = [",".join(repr(float(x)) for x in vector) for vector in (q, v)]
        return ask(f"--q={text[0]}", f"--v={text[1]}")["dynamics"]

    info = ask()
    joint = {body["name"]: body["joint"]["name"] for body in info["bodies"]}
    places = [(joint[j["body"]], j["q0"], j["v0"]) for j in info["dynamics"]["joints"] if j["nv"] == 1]
    assert len(places) == 12
    return dynamics, places


def compare(dynamics, q, v, T, M, bias, com):
    expected = dynamics(q, v)
    for found, name in ((T.T @ M @ T, "M"), (T.T @ bias, "bias"), (com, "com")):
        wanted = np.array(expected[name])
        assert abs(found - wanted).max() < TOLERANCE * abs(wanted).max(), name


def test_pinocchio(ours):
    pin = pytest.importorskip("pinocchio")
    dynamics, places = ours
    model = pin.buildModelFromUrdf(str(A1), pin.JointModelFreeFlyer())
    data = model.createData()
    for q, v in states():
        there, T = np.zeros(model.nq), np.zeros((model.nv, model.nv))
        there[:7] = [*q[:3], *q[4:7], q[3]]
        T[:3, :3], T[3:6, 3:6] = rotation(q[3:7]).T, np.eye(3)
        for name, q0, v0 in places:
            joint = model.joints[model.getJointId(name)]
            there[joint.idx_q], T[joint.idx_v, v0] = q[q0], 1
        u = T @ v
        c = np.zeros(model.nv)
        c[:3] = -np.cross(u[3:6], u[:3])
        M = np.triu(pin.crba(model, data, there))
        M += np.triu(M, 1).T
        bias = pin.rnea(model, data, there, u, c).copy()
        compare(dynamics, q, v, T, M, bias, pin.centerOfMass(model, data, there))


def test_drake(ours):
    tree = pytest.importorskip("pydrake.multibody.plant")
    parsing = pytest.importorskip("pydrake.multibody.parsing")
    dynamics, places = ours
    # The meshes are not there, and Drake insists on them.
    text = re.sub(r"<(visual|gazebo).*?</\1>", "", A1.read_text(), flags=re.S)
    plant = tree.MultibodyPlant(0.0)
    parsing.Parser(plant).AddModelsFromString(text, "urdf")
    plant.Finalize()
    context = plant.CreateDefaultContext()
    for q, v in states():
        there, T = np.zeros(plant.num_positions()), np.zeros((18, 18))
        there[:7] = [*q[3:7], *q[:3]]
        T[:3, 3:6], T[3:6, :3] = rotation(q[3:7]), np.eye(3)
        for name, q0, v0 in places:
            joint = plant.GetJointByName(name)
            there[joint.position_start()], T[joint.velocity_start(), v0] = q[q0], 1
        plant.SetPositions(context, there)
        plant.SetVelocities(context, T @ v)
        bias = plant.CalcBiasTerm(context) - plant.CalcGravityGeneralizedForces(context)
        compare(dynamics, q, v, T, plant.CalcMassMatrix(context), bias,
                plant.CalcCenterOfMassPositionInWorld(context))
