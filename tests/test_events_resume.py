"""An event-driven run that is cut off anywhere goes on to the same bits (State::events).

The short form cuts ten finished runs back to a checkpoint drawn by a seed, which is what a kill leaves.
SALTUS_SOAK=1: to five of each, and fifty kills by signal as well, five of each scene at random moments."""

import random
import shutil
import signal
import subprocess
import time

import h5py
import pytest

from test_runs import assert_same_run, sets

EVENTS = {"integrator__type": "event-driven"}
# Ends: until after several changes of mode, some of them in flight or in an accumulation. Steps: the
# integrator lands some thirty times (every landing writes a checkpoint, which takes longer than it).
SCENES = {
    "p3/fig-4-5": {"time__step": 0.37, "time__end": 11.1},
    "p3/fig-4-6": {"time__step": 0.37, "time__end": 11.1},
    "p3/fig-4-7": {"time__step": 0.37, "time__end": 11.1},
    "p3/fig-6-3": {"time__step": 0.25, "time__end": 7.5},
    "p2/trot": {"time__step": 0.05, "time__end": 1.45, "integrator__tolerance": 1e-9},
    "p1/pendulum-3-6-1": {"time__step": 0.3, "time__end": 9},
    "woodpecker": {"time__step": 0.02, "time__end": 0.6},
    "rocking-block": {"time__step": 0.2, "time__end": 6},
    "rimless-wheel": {"time__step": 0.5, "time__end": 15},
    "loops/slider-crank-clearance": {"time__step": 1e-3, "time__end": 0.03},
}


def steps_of(path):
    with h5py.File(path, "r", swmr=True) as f:  # what was killed is still marked as being written
        return f["checkpoints/step"][()]


@pytest.fixture(scope="module", params=SCENES)
def whole(request, run, scenes, tmp_path_factory):
    """A run of the scene with a checkpoint at every landing, and how long it took."""
    path = tmp_path_factory.mktemp("whole") / "run.h5"
    values = EVENTS | SCENES[request.param] | {"output__checkpoint": 1e-9}
    command = ["run", scenes / f"{request.param}.yaml", *sets(**values), "-q", "-o"]
    began = time.monotonic()
    done = run(*command, path, timeout=120)
    assert done.code == 0, done.err
    return path, command, time.monotonic() - began


def cut_back(whole, cut, step):
    """A copy whose last checkpoint is the one after `step`; the rows behind it stay, as after a kill."""
    shutil.copy(whole, cut)
    with h5py.File(cut, "r+") as f:
        kept = int((f["checkpoints/step"][()] <= step).sum())
        end = int(f["checkpoints/end"][kept - 1])
        for column in ("step", "end"):
            f["checkpoints"][column].resize((kept,))
        f["checkpoint_data/bytes"].resize((end,))


def test_a_run_resumed_from_any_checkpoint_has_the_same_bits(whole, run, tmp_path, soak):
    path = whole[0]
    steps = steps_of(path)
    draw = random.Random(19)
    for step in sorted(draw.sample(list(steps[1:-1]), 5 if soak else 1)):
        cut = tmp_path / f"cut{step}.h5"
        cut_back(path, cut, step)
        assert steps_of(cut)[-1] == step
        done = run("run", "--resume", cut, "-q")
        assert done.code == 0, f"from step {step}: {done.err}"
        assert_same_run(path, cut)


def test_a_run_killed_at_a_random_moment_has_the_same_bits(whole, binary, run, tmp_path, soak):
    if not soak:
        pytest.skip("long: make soak")
    path, command, wall = whole
    draw = random.Random(91)
    for kill in range(5):
        cut = tmp_path / f"killed{kill}.h5"
        while True:  # a kill before the first checkpoint leaves nothing to resume
            cut.unlink(missing_ok=True)
            with subprocess.Popen([binary, *map(str, command), str(cut)]) as killed:
                time.sleep(draw.uniform(0, wall))
                killed.send_signal(signal.SIGKILL)
            if cut.exists() and len(steps_of(cut)) > 0:
                break
        done = run("run", "--resume", cut, "-q")
        assert done.code == 0, done.err
        assert_same_run(path, cut)
