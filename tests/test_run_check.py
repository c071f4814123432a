"""`saltus run --check`: the exact run beside a stepped one, in windows."""
import json
import math

import pytest


def check(run, scene, *arguments):
    done = run("run", scene, "--check", "--json", *arguments, timeout=300)
    assert done.code == 0, done.err
    return json.loads(done.out)["check"]


def test_a_ball_is_off_by_what_one_step_does_to_its_impact(run, scenes):
    """Free fall is exact in the mid-point scheme. The step of the impact, from t_S on, has the end
    velocity e g t_S and the mean of both velocities; what is below the floor then is lifted onto it."""
    dt, window, e, g = 1e-4, 0.02, 0.5, 9.81
    c = check(run, scenes / "bouncing-ball.yaml", "--set", f"time.step={dt}", "--check-window", str(window),
              "--set", "time.end=0.5")
    assert c["failed"] == 0 and c["parted"] == 0
    assert c["windows"] == 25 and c["checked_s"] == pytest.approx(0.5)
    hit = math.sqrt(2 / g)  # it falls 1 m
    end = window * (int(hit / window) + 1)
    exact = e * g * hit * (end - hit) - 0.5 * g * (end - hit) ** 2

    def stepped(t):
        after = max(0, 1 - 0.5 * g * t * t + 0.5 * dt * (e - 1) * g * t)
        left = end - t - dt
        return after + e * g * t * left - 0.5 * g * left**2

    # Which step that is decides the predicted gap: the one of the impact, or the one before.
    off = [abs(stepped((int(hit / dt) - k) * dt) - exact) for k in (0, 1)]
    found = c["worst_per_s"]["position"] * window
    print(f"    off by {found:.9e} m; by hand {off[0]:.9e} or {off[1]:.9e}")
    assert c["worst_per_s"]["of"] == "ball"
    assert c["worst_from"] == pytest.approx(end - window)
    # Rows rest within the solver's 1e-10 m/s; 0.5 s of it.
    assert min(abs(found - x) for x in off) < 1e-10
    # All else is exact: the mean is the one impact's.
    assert c["mean_per_s"]["position"] == pytest.approx(found / 0.5, rel=1e-6)


def test_what_a_step_costs_falls_with_its_size(run, scenes):
    """A pendulum is smooth: of second order."""
    def cost(dt):
        return check(run, scenes / "p1/pendulum-3-6-1.yaml", "--set", "integrator.type=moreau",
                     "--set", f"time.step={dt}", "--set", "time.end=0.4", "--check-window", "0.1",
                     )["mean_per_s"]["coordinate"]
    ratio = cost(2e-3) / cost(1e-3)
    print(f"    half the step, {ratio:.3f} times less")
    assert 3.8 < ratio < 4.2


def test_what_it_needs_is_said_at_reading(run, scenes, tmp_path):
    done = run("run", scenes / "p3/fig-4-5.yaml", "--check")
    assert done.code == 2
    assert "integrator.type: --check judges time stepping (moreau), got event-driven" in done.err
    done = run("run", scenes / "bouncing-ball.yaml", "--check-window", "1")
    assert done.code == 2 and "--check" in done.err
    done = run("run", "--resume", "none.h5", "--check")
    assert done.code == 2 and "expected a scene, got --resume" in done.err
    soft = tmp_path / "soft.yaml"
    text = (scenes / "ground/conveyor.yaml").read_text()
    soft.write_text(text.replace("friction: 0.4", "friction: 0.4, compliant: {stiffness: 1e5}"))
    done = run("run", soft, "--check")
    assert done.code == 2
    assert "--check needs an event-driven run beside the scene's" in done.err and "compliant" in done.err
