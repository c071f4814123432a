"""Run.modes and Run.plot_modes."""
import math

import pytest

import saltus

EVENTS = {"integrator.type": "event-driven", "time.step": 0.01}


@pytest.fixture(scope="module")
def worm(tmp_path_factory):
    path = tmp_path_factory.mktemp("modes") / "worm.h5"
    return saltus.run(saltus.scene_path("p3/fig-4-1"), EVENTS, output=path)


def test_the_worm(worm):
    changes = worm.modes()
    assert [c["holds"] for c in changes] == \
        [["runner runner1"], [], ["runner runner2"], [], ["runner runner2"], []]
    assert abs(changes[1]["t"] - math.pi / 2) < 1e-10
    for change, t in zip(changes[2:], (4.027405, 4.682574, 12.963180, 13.073134)):
        assert abs(change["t"] - t) < 1e-6  # VERIFY.md prints six digits
    assert changes[0]["causes"] == [{"cause": "start", "at": None}]
    assert changes[1]["causes"] == [{"cause": "stick", "at": "runner runner1"}]
    assert changes[1]["slips"] == ["runner runner1", "runner runner2"]
    assert not any(c["impact"] for c in changes)


def test_the_ball():
    ball = saltus.run(saltus.scene_path("bouncing-ball"), EVENTS)
    changes = ball.modes()
    impacts = [c for c in changes if c["impact"]]
    assert abs(impacts[0]["kinetic_after"] / impacts[0]["kinetic_before"] - 0.25) < 1e-9
    assert impacts[0]["causes"] == [{"cause": "gap", "at": "contact floor - ball"}]
    last = changes[-1]["causes"][-1]
    assert last["cause"] == "accumulation" and abs(last["end"] - 3 * impacts[0]["t"]) < 1e-9
    assert changes[-1]["holds"] == ["contact floor - ball"]


def test_the_plot(worm):
    pytest.importorskip("matplotlib").use("Agg")
    ax = worm.plot_modes()
    assert [t.get_text() for t in ax.get_yticklabels()] == ["runner runner1", "runner runner2"]
    held = [p.get_extents() for c in ax.collections if c.get_label() == "holds"
            for p in c.get_paths()]
    assert len(held) == 1 and abs(held[0].x1 - math.pi / 2) < 1e-9  # the row of runner1


def test_a_run_without_modes():
    run = saltus.run(saltus.scene_path("bouncing-ball"), {"time.end": 0.1, "metrics": []})
    with pytest.raises(saltus.InputError, match="output.modes=true"):
        run.modes()
