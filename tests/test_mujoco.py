"""Mass matrix and bias force of random trees against MuJoCo.

`random_tree SEED` prints a tree as MJCF, a state of it, and what Saltus computes there; MuJoCo
computes the same from the MJCF.
"""

import json
import os
import subprocess
from pathlib import Path

import mujoco
import numpy as np
import pytest

BIN_DIR = Path(
    os.environ.get("SALTUS_BIN_DIR", Path(__file__).resolve().parents[1] / "build/release/bin")
)
SEEDS = range(1, 201)
# Both sides round in 1e-15 a body. MuJoCo takes an inertia apart into axes and moments, which was
# seen to cost a digit; 1e-12 leaves room for other versions of it.
TOLERANCE = 1e-12


def saltus(seed):
    done = subprocess.run(
        [BIN_DIR / "random_tree", str(seed)], check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)


def mujoco_terms(tree):
    model = mujoco.MjModel.from_xml_string(tree["mjcf"])
    data = mujoco.MjData(model)
    assert model.nq == len(tree["q"]) and model.nv == len(tree["v"])
    data.qpos[:] = tree["q"]
    data.qvel[:] = tree["v"]
    mujoco.mj_forward(model, data)
    mass = np.zeros((model.nv, model.nv))
    try:
        mujoco.mj_fullM(model, mass, data.qM)
    except (AttributeError, TypeError):  # newer versions take the data
        mujoco.mj_fullM(model, data, mass)
    return mass, np.array(data.qfrc_bias)


@pytest.fixture(scope="module")
def trees():
    print(f"\nseeds {SEEDS.start}..{SEEDS.stop - 1}, mt19937_64, MuJoCo {mujoco.__version__}")
    return [tree for tree in map(saltus, SEEDS) if tree["v"]]


def test_every_kind_of_joint_occurs(trees):
    kinds = {kind for tree in trees for kind in tree["kinds"]}
    assert kinds == {
        "fixed", "revolute", "prismatic", "planar", "spherical", "floating", "carrier",
    }


def test_mass_matrix_and_bias(trees, capsys):
    worst = {"M": (0.0, 0), "bias": (0.0, 0)}
    for tree in trees:
        mass, bias = mujoco_terms(tree)
        ours_mass, ours_bias = np.array(tree["M"]), np.array(tree["bias"])
        # A bias may cancel to nothing: it is weighed against the terms it is made of.
        size = np.linalg.norm(bias) + np.linalg.norm(mass) * np.linalg.norm(tree["v"])
        errors = {
            "M": np.linalg.norm(ours_mass - mass) / np.linalg.norm(mass),
            "bias": np.linalg.norm(ours_bias - bias) / size,
        }
        for name, error in errors.items():
            worst[name] = max(worst[name], (error, tree["seed"]))
    with capsys.disabled():
        for name, (error, seed) in worst.items():
            print(f"\n  {name}: worst {error:.2e} (tolerance {TOLERANCE:.0e}), seed {seed}", end="")
    for name, (error, seed) in worst.items():
        assert error <= TOLERANCE, f"{name}, seed {seed}"
