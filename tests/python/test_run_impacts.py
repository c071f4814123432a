"""Run.impacts and Run.plot_impacts."""
import math

import numpy as np
import pytest

import saltus

EVENTS = {"integrator.type": "event-driven", "time.step": 0.01}
WORKS = ["work_normal", "work_tangential", "work_joints", "work_drives", "work_forces",
         "attenuated", "accumulated"]


@pytest.fixture(scope="module")
def ball():
    return saltus.run(saltus.scene_path("bouncing-ball"), {**EVENTS, "output.impacts": 3})


def test_the_ball(ball):
    impacts = ball.impacts()
    first = impacts[0]
    assert abs(first["t"] - math.sqrt(2 / 9.81)) < 1e-10
    assert abs(first["kinetic_after"] / first["kinetic_before"] - 0.25) < 1e-12
    assert first["path"] == "inclusion" and first["gained"] == 0 and first["contact_count"] == 1
    contact, = first["contacts"]
    assert contact["at"] == "contact floor - ball" and contact["restitution"] == 0.5
    assert np.allclose(contact["after"], -0.5 * contact["before"], atol=1e-12)
    assert math.isnan(contact["feasible"])
    for i in impacts:
        assert abs(i["kinetic_after"] - i["kinetic_before"] - sum(i[w] for w in WORKS)) < 1e-13
    assert [("q" in i) for i in impacts] == [True] * 3 + [False] * (len(impacts) - 3)
    assert first["v_after"][2] == pytest.approx(-0.5 * first["v_before"][2])
    assert len(impacts) == ball.summary["impacts"] and ball.summary["impacts_that_gained"] == 0


def test_a_gain_is_told_and_drawn():
    plt = pytest.importorskip("matplotlib.pyplot")
    rod = saltus.run(saltus.scene_path("slanting-rod"))
    impact, = rod.impacts()
    assert impact["gained"] > 0.1 and rod.summary["impacts_that_gained"] == 1
    capped = saltus.run(saltus.scene_path("slanting-rod"), {"integrator.impact": "capped"})
    assert capped.impacts()[0]["gained"] == 0
    ax = rod.plot_impacts()
    assert [c.get_label() for c in ax.containers] == ["T after", "gained", "T before"]
    assert ax.containers[1][0].get_height() == pytest.approx(impact["gained"], rel=1e-9)
    assert [c.get_label() for c in capped.plot_impacts().containers] == ["T after", "T before"]
    plt.close("all")


def test_without_a_table(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "old.h5"
    saltus.run(saltus.scene_path("bouncing-ball"), EVENTS, output=path).close()
    with h5py.File(path, "r+") as f:
        del f["impacts"]
    with pytest.raises(saltus.InputError, match="no table of impacts"):
        saltus.Run(path).impacts()
    with pytest.raises(saltus.InputError, match="not recorded"):
        saltus.run(saltus.scene_path("bouncing-ball"), EVENTS, record=False).impacts()
