"""Threads that do not change a bit, long snakes, and the dump of a step that fails."""
import json
import math
import time

import pytest
from test_runs import assert_same_run, sets

BALLS = """
saltus: 1
title: columns of balls
gravity: [0, 0, -9.81]
bodies:
{bodies}
obstacles: [{{name: ground, type: half-space}}]
contacts:
  - {{between: [ground, "ball*"], friction: 0.4}}
  - {{between: ["ball*", "ball*"], friction: 0.4, rolling: 1 mm}}
initial:
{initial}
time: {{step: 1e-3, end: 0.2}}
"""


def columns(tmp_path, count, high):
    names = [(i, k) for i in range(count) for k in range(high)]
    body = "  - {{name: ball{0}-{1}, mass: 1, solid: {{shape: sphere, radius: 0.05}}, joint: {{type: floating}}, " \
           "shapes: [{{type: sphere, radius: 0.05}}]}}"
    start = "  ball{0}-{1}: {{q: [{2}, {3}, {4}, 1, 0, 0, 0]}}"
    path = tmp_path / "columns.yaml"
    path.write_text(BALLS.format(
        bodies="\n".join(body.format(*n) for n in names),
        initial="\n".join(start.format(i, k, 0.3 * i + 1e-3 * k, 0, 0.0501 + 0.1003 * k)
                          for i, k in names)))
    return path


def test_threads_do_not_change_a_bit(run, tmp_path):
    scene = columns(tmp_path, 6, 3)
    for threads in (1, 2, 5):
        outcome = run("run", scene, "-o", tmp_path / f"{threads}.h5", "-q", "--threads", str(threads))
        assert outcome.code == 0, outcome.err
        assert_same_run(tmp_path / "1.h5", tmp_path / f"{threads}.h5")


def test_a_failing_step_is_dumped_and_solved_again(run, scenes, tmp_path):
    dump = tmp_path / "step.json"
    outcome = run("run", scenes / "p0/pegs.yaml", "--json", "--dump", dump,
                  *sets(solver__type="jor", solver__max_iterations=2, time__end=0.1))
    assert outcome.code == 1
    assert json.loads(outcome.out)["dumped"] == str(dump)
    outcome = run("solve", dump, "--json", "--solver", "auto")
    assert outcome.code == 0, outcome.err
    solved = json.loads(outcome.out)
    print({k: solved[k] for k in solved if k in ("rows", "solver", "iterations", "residual")})
    assert "pegs.yaml" in solved["title"]


def test_nothing_is_dumped_when_all_converges(run, scenes, tmp_path):
    outcome = run("run", scenes / "p0/pegs.yaml", "-q", "--dump", tmp_path / "no.json",
                  *sets(time__end=0.05))
    assert outcome.code == 0 and not (tmp_path / "no.json").exists()


@pytest.mark.parametrize("links", [11, 100, 1000])
def test_a_long_snake_converges(run, scenes, links, soak):
    """P0's snake of N links, matrix-free from 24 velocities on; its speed is in `saltus bench`."""
    began = time.monotonic()
    outcome = run("run", scenes / "p0/flat.yaml", "--json",
                  *sets(snake__links=links, coordinates="minimal", solver__type="auto",
                        solver__tolerance=1e-8, time__end=0.5 if soak else 0.05))
    assert outcome.code == 0, outcome.err
    s = json.loads(outcome.out)
    print(f"{links} links: {1e3 / s['steps_per_s']:.3f} ms a step, {s['mean_iterations']:.2f} "
          f"iterations, worst residual {s['worst_residual']:.1e} m/s, {time.monotonic() - began:.1f} s")
    assert s["unconverged_steps"] == 0 and s["worst_residual"] <= 1e-8
    assert math.isfinite(s["energy"]["kinetic"])
