"""Files of earlier versions: every scene loads and runs, every run file opens; checkpoints go on, or are
refused by version."""

import gzip
import json
import shutil

import h5py
import numpy as np
import pytest
import yaml
from conftest import ROOT

FIXTURES = ROOT / "tests/fixtures"
SCENES = sorted(FIXTURES.glob("*/scenes/**/*.yaml"))
RUNS = sorted(FIXTURES.glob("*/runs/*.h5.gz"))


def name_of(path):
    return path.relative_to(FIXTURES).as_posix()


@pytest.fixture
def old_run(request, tmp_path):
    """The run file, unpacked."""
    path = tmp_path / request.param.stem
    with gzip.open(request.param) as packed, open(path, "wb") as out:
        shutil.copyfileobj(packed, out)
    return path


def few_steps(scene) -> str:
    """Three steps of the scene's own, as --set takes it."""
    step = (yaml.safe_load(scene.read_text()).get("time") or {}).get("step", 1e-3)
    number, unit = (str(step).split() + [""])[:2]
    return f"time.end={3 * float(number)} {unit}".strip()


def test_there_are_fixtures():
    assert len(SCENES) > 80 and len(RUNS) >= 7


@pytest.mark.parametrize("scene", SCENES, ids=name_of)
def test_scene_runs(run, scene):
    done = run("run", scene, "--json", "--set", few_steps(scene), timeout=120)
    assert done.code == 0, done.err
    assert json.loads(done.out)["steps"] == 3


every_run = pytest.mark.parametrize("old_run", RUNS, ids=name_of, indirect=True)


@every_run
def test_run_opens(run, old_run, tmp_path):
    for command in (["info"], ["audit", "--json"], ["csv", "-t", "frames"], ["csv", "-t", "steps"],
                    ["report", "-o", tmp_path / "page.html"]):
        done = run(command[0], old_run, *command[1:], timeout=120)
        assert done.code == 0, f"{command[0]}: {done.err}"
        assert done.out or command[0] == "report"
    assert (tmp_path / "page.html").stat().st_size > 1000


@every_run
def test_run_opens_from_python(old_run):
    pytest.importorskip("saltus._core")  # the folder of the sources is a package of that name, too
    from saltus import Run

    with Run(old_run) as opened:
        assert len(opened["frames/t"]) > 10 and opened.summary["steps"] > 0


@every_run
def test_the_scene_of_a_run_still_means_the_same(run, old_run, tmp_path):
    """Its scene, simulated anew, moves as it did then: no key has changed its meaning silently. To 1e-4 m: later
    versions solve and correct otherwise (p2-stand is 6e-6 m off, p0-pegs 2e-9, the others none or rounding)."""
    with h5py.File(old_run) as f:
        header = json.loads(f["header"][()].tobytes())
        (tmp_path / "scene.yaml").write_text(header.get("complete_scene") or f["scene"][()].tobytes().decode())
        then = f["frames/com"][()]
    done = run("run", tmp_path / "scene.yaml", "-q", "-o", tmp_path / "new.h5", timeout=120)
    assert done.code == 0, done.err
    with h5py.File(tmp_path / "new.h5") as f:
        now = f["frames/com"][()]
    assert now.shape == then.shape
    print(f"{old_run.name}: centre of mass within {abs(now - then).max():.1e} m")
    assert np.ptp(then, axis=0).max() > 1e-4, "nothing moved: this run cannot tell"
    np.testing.assert_allclose(now, then, atol=1e-4)


@every_run
def test_checkpoints_go_on_or_are_refused_by_version(run, old_run):
    """Time stepping and events may differ between versions, so nothing is said of the figures."""
    before = old_run.read_bytes()
    done = run("run", "--resume", old_run, "--json", timeout=120)
    if done.code == 0:
        assert json.loads(done.out)["steps"] > 0
    else:
        assert done.code == 2 and "checkpoints are of version" in done.err and "0.1" in done.err, done.err
        assert old_run.read_bytes() == before


@every_run
def test_checkpoints_of_another_version_are_refused(run, old_run):
    with h5py.File(old_run, "r+") as f:
        f.attrs["checkpoint_version"] = np.int32(99)
    before = old_run.read_bytes()
    done = run("run", "--resume", old_run)
    assert done.code == 2 and "checkpoints are of version 99 (saltus 0.1.0)" in done.err, done.err
    assert old_run.read_bytes() == before
