"""Rods of a run as arrays: of a rod held in an arc all is known."""
import numpy as np
import pytest

import saltus

ARC = """
saltus: 1
gravity: [0, 0, 0]
rods:
  - name: rod
    length: 1
    segments: 2
    radius: 0.01
    radius_end: 0.005
    material: {E: 1e7, nu: 0.25, rho: 1000, viscosity: 1e4}
    components: [bend_z]
    basis: linear
    functions: 1
    prescribed: {s1.bend_z.0: 1, s1.bend_z.1: 1, s2.bend_z.0: 1, s2.bend_z.1: {type: sine, amplitude: 2, omega: 1}}
    shapes: [{type: sphere, radius: 0.01}]
obstacles: [{name: ground, type: half-space, at: {position: [0, 0, -1]}}]
contacts: [{between: ["rod.*", ground]}]
time: {step: 0.01, end: 0.1}
output: {interval: 0.01}
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rods")
    (folder / "arc.yaml").write_text(ARC)
    return saltus.run(folder / "arc.yaml", output=folder / "arc.h5")


def test_places_and_shapes(run):
    rod = run.rods["rod"]
    assert list(run.rods) == ["rod"] and len(rod) == len(rod.at) == len(rod.radii)
    assert rod.at[0] == 0 and rod.at[-1] == 1 and np.all(np.diff(rod.at) > 0)
    assert rod.radii[0] == pytest.approx(0.01) and rod.radii[-1] == pytest.approx(0.005)
    rows = run.rows("frames")
    assert rod.poses().shape == (rows, len(rod), 7)
    assert rod.positions(3).shape == (len(rod), 3)
    first = rod.at <= 0.5  # an arc of radius 1 about z
    arc = np.column_stack([np.sin(rod.at), 1 - np.cos(rod.at), 0 * rod.at])[first]
    assert np.abs(rod.positions(-1)[first] - arc).max() < 1e-12


def test_strains_and_stresses(run):
    rod = run.rods["rod"]
    t = run["frames/t"][:]
    strain, rate, stress = rod.strains(), rod.strain_rates(), rod.stresses()
    share = np.clip(2 * rod.at - 1, 0, 1)  # of the last hat
    bent = 1 - share + share * 2 * np.sin(t)[:, None]
    bent[:, rod.at <= 0.5] = 1
    assert np.abs(strain[:, :, 5] - bent).max() < 1e-12
    assert np.all(strain[:, :, 0] == 1) and np.all(strain[:, :, 1:5] == 0)
    # dq/dt of a step's end is that of the signal there.
    assert np.abs(rate[1:, :, 5] - (share * 2 * np.cos(t)[:, None])[1:]).max() < 1e-9
    EI = 1e7 * np.pi / 4 * rod.radii ** 4
    expected = EI * (strain[:, :, 5] + 1e-3 * rate[:, :, 5])
    assert np.allclose(stress[:, :, 5], expected, rtol=1e-12)
    assert np.all(np.isnan(stress[:, :, :5]))  # rigid: no strain tells
    assert rod.free.tolist() == [False] * 5 + [True]


def test_one_row_is_that_row(run):
    rod = run.rods["rod"]
    assert np.array_equal(rod.strains(4), rod.strains()[4])
    assert np.array_equal(rod.stresses(slice(2, 5))[1], rod.stresses(3), equal_nan=True)

