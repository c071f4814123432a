"""The scenes that scenes/heaps/make.py prints, in small: they are read, they run, every step converges."""
import json
import subprocess
import sys

import pytest

KINDS = {"hopper": (60, 0.1), "tower": (6, 0.02), "dominoes": (4, 0.1), "rings": (5, 0.02), "stones": (30, 0.02),
         "snake": (6, 0.05), "box-snake": (4, 0.05), "rough-snake": (5, 0.05)}


def printed(scenes, *arguments):
    return subprocess.run([sys.executable, scenes / "heaps/make.py", *arguments],
                          capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("kind", KINDS)
def test_scene_runs(run, scenes, tmp_path, kind):
    count, end = KINDS[kind]
    text = printed(scenes, kind, str(count)).stdout
    assert text == printed(scenes, kind, str(count)).stdout  # the same every time
    path = tmp_path / "scene.yaml"
    path.write_text(text)
    done = run("run", path, "--json", "--allow-gain", "--set", f"time.end={end}", timeout=120)
    assert done.code == 0, done.err
    s = json.loads(done.out)
    assert s["steps"] == round(end / 1e-3) and s["unconverged_steps"] == 0
    assert s["max_penetration"] < 1e-6


@pytest.mark.parametrize("kind, count", [("snake", 40), ("snake", 100), ("box-snake", 20)])
def test_flat_starts_converge(run, scenes, tmp_path, kind, count):
    """The first steps of a snake that lies flat have many more rows than freedom; of 45 velocities along
    paths, of 105 on the tree, of boxes in velocities."""
    path = tmp_path / "scene.yaml"
    path.write_text(printed(scenes, kind, str(count)).stdout)
    done = run("run", path, "--json", "--allow-gain", "--set", "time.end=0.02", timeout=120)
    assert done.code == 0, done.err
    s = json.loads(done.out)
    assert s["unconverged_steps"] == 0 and s["worst_residual"] <= 1e-8
    assert s["storage"] == ("forest" if count == 100 else "paths")


def test_dominoes_that_fall_converge(run, scenes, tmp_path):
    """Slip dies out along the row: several contacts each, hard to tell whether they stick."""
    path = tmp_path / "scene.yaml"
    path.write_text(printed(scenes, "dominoes", "8").stdout)
    done = run("run", path, "--json", "--allow-gain", "--set", "time.end=0.5", timeout=120)
    assert done.code == 0, done.err
    s = json.loads(done.out)
    assert s["unconverged_steps"] == 0 and s["worst_residual"] <= 1e-8


def test_the_usage_is_told(scenes):
    done = printed(scenes, "pyramid")
    assert done.returncode == 1
    for kind in KINDS:
        assert f"make.py {kind} " in done.stderr
