"""saltus.shape: what `saltus shape --json` prints, as a dictionary; the spline signal."""
import math

import pytest

import saltus


def test_wheeled_snake():  # VERIFY-P4.md section 3
    found = saltus.shape(saltus.scene_path("p4/acm-3"), at=[0.3, -0.8])
    assert found["class"] == "fully constrained"
    assert found["A"][2] == pytest.approx([0.6232539006215, 0.1552033732753], abs=1e-12)
    g1 = next(g for g in found["gaits"] if g["name"] == "G1")
    assert g1["position"][:2] == pytest.approx([-0.21717303612214, -0.12801531131089], abs=1e-11)


def test_grid():  # singular where both joints are equal (section 3)
    grid = saltus.shape(saltus.scene_path("p4/acm-3"), grid=5)["grid"]
    assert [grid["rank"][k][k] for k in range(5)] == [2] * 5
    assert grid["F"]["Om"][0][0] is None and grid["F"]["Om"][0][1] is not None
    for cells, message in ((-1, "expected 0 to 1000 cells"), (5, "a grid of shapes needs two shape variables")):
        with pytest.raises(saltus.InputError, match=message):
            saltus.shape(saltus.scene_path("p4/acm-5"), grid=cells)


def test_overrides_and_errors():
    scene = saltus.scene_path("p4/free-chain")
    assert saltus.shape(scene, {"shape.reference": "link1"})["reference"] == "link1"
    with pytest.raises(saltus.InputError, match="expected 2 numbers, one a shape variable, got 1"):
        saltus.shape(scene, at=[1])


def test_spline():
    times = [k / 16 for k in range(17)]
    wave = saltus.Spline(times, [math.sin(2 * math.pi * (k % 16) / 16) for k in range(17)], closed=True)
    assert wave.value(0.25) == pytest.approx(1, abs=1e-14)
    assert wave.value(3.03) == pytest.approx(math.sin(2 * math.pi * 0.03), abs=2e-4)  # fourth order: (1/16)^4
    with pytest.raises(saltus.InputError):
        saltus.Spline([0, 1, 2, 3], [0, 1, 0, 1], closed=True)
