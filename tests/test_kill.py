"""A run that is killed leaves a readable file, and a file is readable while it is written."""
import csv
import io
import json
import os
import random
import shutil
import signal
import time

import h5py
import numpy as np
import pytest

from test_runs import TABLES, assert_same_run, datasets, sets

KILLS = 50


def consistent(path) -> dict[str, int]:
    """Opens a run as any reader would and checks that its tables fit each other."""
    with h5py.File(path, "r", swmr=True) as f:
        # Columns of a table are written one after the other: a reader counts the shortest. Tables
        # are written in the order contacts, frames, steps, those of impacts, checkpoint_data, checkpoints:
        # counted the other way round.
        rows = {t: min(f[t][c].shape[0] for c in columns) for t, columns in
                {"checkpoints": ["step", "end"], "checkpoint_data": ["bytes"],
                 **dict(reversed(TABLES.items()))}.items()}
        for table, columns in TABLES.items():
            for c in columns:
                x = f[table][c][: rows[table]]
                # P1's mu_f is not a number where the law computes none
                assert c == "feasible" or np.isfinite(x).all(), f"{table}/{c}"
        t = f["steps/t"][: rows["steps"]]
        np.testing.assert_allclose(t, np.arange(1, len(t) + 1) * 1e-3, atol=1e-9)
        assert (f["steps/iterations"][: rows["steps"]] > 0).all(), "no row of zeros"
        step = f["frames/step"][: rows["frames"]]
        np.testing.assert_array_equal(step, np.arange(len(step)) * 10)
        np.testing.assert_allclose(f["frames/t"][: rows["frames"]], step * 1e-3, atol=1e-9)
        if rows["frames"]:
            pose = f["frames/pose"][: rows["frames"]].reshape(rows["frames"], -1, 7)
            np.testing.assert_allclose(np.linalg.norm(pose[:, :, 3:], axis=2), 1, atol=1e-9)
        end = f["frames/contact_end"][: rows["frames"]]
        assert (np.diff(end) >= 0).all()
        if len(end):
            assert end[-1] <= rows["contacts"], "the contacts of every frame are there"
        end = f["impacts/contact_end"][: rows["impacts"]]
        assert len(end) == 0 or end[-1] <= rows["impact_contacts"], "and those of every impact"
        normal = f["contacts/normal"][: rows["contacts"]]
        np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1, atol=1e-12)
        # nobody sees a checkpoint before the rows it follows
        checkpoint = f["checkpoints/step"][: rows["checkpoints"]]
        if len(checkpoint):
            assert checkpoint[-1] <= rows["steps"]
            assert checkpoint[-1] // 10 + 1 <= rows["frames"]
            assert (np.diff(checkpoint) > 0).all()
            end = f["checkpoints/end"][: rows["checkpoints"]]
            assert end[0] > 0 and (np.diff(end) > 0).all() and end[-1] <= rows["checkpoint_data"]
        json.loads(bytes(f["header"][:]))
        assert b"saltus: 1" in bytes(f["scene"][:])
    return rows


def readable(run, path):
    """By h5py, by info and by csv; the number of rows each sees."""
    rows = consistent(path)
    info = run("info", path, timeout=20)
    assert info.code == 0, info.err
    for table in TABLES:
        assert f"  {table}: {rows[table]} rows" in info.out
    outcome = run("csv", path, "-t", "steps", timeout=20)
    assert outcome.code == 0, outcome.err
    values = list(csv.reader(io.StringIO(outcome.out)))
    assert len(values) == rows["steps"] + 1
    return rows


@pytest.fixture(scope="module")
def scene_args(scenes, soak):
    return [scenes / "p0/pegs.yaml", *sets(time__end=12 if soak else 3, output__checkpoint=0.2)]


@pytest.fixture(scope="module")
def whole(run, scene_args, tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "whole.h5"
    began = time.monotonic()
    assert run("run", *scene_args, "-o", path, "-q").code == 0
    return path, time.monotonic() - began


def test_killed_at_random_moments(run, start, scene_args, whole, tmp_path, soak):
    whole_path, duration = whole
    seed = int(os.environ.get("SALTUS_SEED", random.SystemRandom().randrange(10**6)))
    rng = random.Random(seed)
    kills = 10 * KILLS if soak else KILLS
    print(f"seed {seed}: {kills} kills of a run of {duration:.2f} s (SALTUS_SEED to repeat)")
    left, absent, ended, resumed = [], 0, 0, 0
    began = time.monotonic()
    while len(left) < kills:
        out = tmp_path / "out.h5"
        p = start("run", *scene_args, "-o", out, "-q")
        # a third of them in the first moments, where the file comes into being
        time.sleep(rng.uniform(0, 0.03) if rng.random() < 0.3 else rng.uniform(0, 0.9 * duration))
        p.send_signal(signal.SIGKILL)
        p.communicate()
        if p.returncode == 0:
            ended += 1
            assert ended < 2 * kills, "the kills come too late"
            continue
        if not out.exists():
            absent += 1
        else:
            try:
                rows = readable(run, out)
            except AssertionError:
                keep = tmp_path.parent / f"killed-{seed}-{len(left)}.h5"
                shutil.copy(out, keep)
                print(f"kill {len(left)}, kept as {keep}")
                raise
            left.append(rows["steps"])
            if rows["checkpoints"] and len(left) >= 10 * (resumed + 1):
                outcome = run("run", "--resume", out, "-q")
                assert outcome.code == 0, outcome.err
                assert_same_run(whole_path, out)
                resumed += 1
        for path in tmp_path.iterdir():
            path.unlink()
    print(f"{len(left)} readable files with {min(left)} to {max(left)} steps, {resumed} resumed to "
          f"the same bits; {absent} kills before there was a file, {ended} after the end; "
          f"{time.monotonic() - began:.1f} s")
    # Kills early and late, whatever the speed of the machine: steps come in the writer's chunks, so
    # how many different lengths there are says little, how far they spread says enough.
    with h5py.File(whole_path) as f:
        total = len(f["steps/t"])
    assert resumed >= 2 and max(left) - min(left) > total / 3 and len(set(left)) > 3


def test_a_kill_leaves_nothing_under_the_final_name_but_a_readable_file(run, start, scene_args,
                                                                       whole, tmp_path):
    """Kills around the creation of the file, with an older run under that name."""
    older = whole[0].read_bytes()
    out = tmp_path / "out.h5"
    replaced = 0
    for i in range(15):
        out.write_bytes(older)
        p = start("run", *scene_args, "-o", out, "-q")
        time.sleep(0.002 * i)
        p.send_signal(signal.SIGKILL)
        p.communicate()
        if out.read_bytes() != older:
            replaced += 1
            consistent(out)
            assert run("info", out).code == 0
        for path in tmp_path.iterdir():
            path.unlink()
    print(f"{replaced} of 15 had replaced the older run when they were killed")


def test_killed_while_resuming(run, start, scene_args, whole, tmp_path):
    """A kill during a resume in place must not cost the progress that was there."""
    seed = int(os.environ.get("SALTUS_SEED", random.SystemRandom().randrange(10**6)))
    rng = random.Random(seed)
    print("seed", seed)
    part, out = tmp_path / "part.h5", tmp_path / "out.h5"
    p = start("run", *scene_args, "-o", part, "-q")
    time.sleep(0.6 * whole[1])
    p.send_signal(signal.SIGKILL)
    p.communicate()
    assert p.returncode == -signal.SIGKILL
    had = consistent(part)
    with h5py.File(part, "r", swmr=True) as f:
        first = int(f["checkpoints/step"][had["checkpoints"] - 1])
    print(f"{had['steps']} steps, the last checkpoint at step {first}")
    for i in range(25):
        shutil.copy(part, out)
        p = start("run", "--resume", out, "-q")
        time.sleep(rng.uniform(0, 0.05))
        p.send_signal(signal.SIGKILL)
        p.communicate()
        rows = readable(run, out) if i % 5 == 0 else consistent(out)
        assert rows["checkpoints"] >= had["checkpoints"], f"kill {i} lost checkpoints"
        assert rows["steps"] >= first, f"kill {i} lost steps"
    assert run("run", "--resume", out, "-q").code == 0
    assert_same_run(whole[0], out)


def test_reading_while_it_is_written(run, start, scenes, tmp_path):
    """A reader sees rows grow and never an inconsistent file; the writer does not notice."""
    out = tmp_path / "out.h5"
    args = [scenes / "p0/pegs.yaml", *sets(time__end=10, output__checkpoint=0.2)]
    p = start("run", *args, "-o", out, "-q")
    seen, by_info = [], []
    while p.poll() is None:
        if out.exists():
            rows = consistent(out)
            seen.append(rows["steps"])
            info = run("info", out)
            assert info.code == 0, info.err
            assert run("csv", out, "-c", "t").code == 0
            by_info.append("the run has not ended" in info.out)
        time.sleep(0.02)
    assert p.returncode == 0
    print(f"read {len(seen)} times: {seen[:3]} ... {seen[-3:]} steps")
    assert len(seen) >= 5 and seen == sorted(seen)
    assert len(set(seen)) >= 4, "the rows are visible soon"
    assert any(by_info), "info says that the run has not ended"
    assert consistent(out)["steps"] == 10000
    quiet = tmp_path / "quiet.h5"
    assert run("run", *args, "-o", quiet, "-q").code == 0
    assert_same_run(out, quiet)


def test_one_open_reader_follows(start, scenes, tmp_path):
    """SWMR proper: opened once, refreshed."""
    out = tmp_path / "out.h5"
    p = start("run", scenes / "p0/pegs.yaml", *sets(time__end=12), "-o", out, "-q")
    while not out.exists():
        assert p.poll() is None
        time.sleep(0.001)
    seen = []
    with h5py.File(out, "r", swmr=True) as f:
        column = f["steps/t"]
        while p.poll() is None:
            column.refresh()
            n = column.shape[0]
            if n:
                assert column[n - 1] == pytest.approx(n * 1e-3, abs=1e-9)
            seen.append(n)
            time.sleep(0.02)
        column.refresh()
        seen.append(column.shape[0])
    assert p.returncode == 0
    print(f"{len(set(seen))} different lengths, up to {seen[-1]}")
    assert seen == sorted(seen) and len(set(seen)) >= 4 and seen[-1] == 12000


def test_stopped_and_continued(start, run, scenes, tmp_path):
    """SIGSTOP, read, SIGCONT: the same bits as without."""
    out, plain = tmp_path / "out.h5", tmp_path / "plain.h5"
    args = [scenes / "p0/pegs.yaml", *sets(time__end=3)]
    p = start("run", *args, "-o", out, "-q")
    for _ in range(5):
        time.sleep(0.03)
        p.send_signal(signal.SIGSTOP)
        if out.exists():
            consistent(out)
            assert run("info", out).code == 0
        p.send_signal(signal.SIGCONT)
    p.communicate(timeout=30)
    assert p.returncode == 0
    assert run("run", *args, "-o", plain, "-q").code == 0
    assert_same_run(out, plain)
    assert datasets(out)["steps/t"].shape[0] == 3000
