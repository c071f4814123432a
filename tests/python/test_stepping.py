"""Stepping: bits, checkpoints, views, callbacks, the GIL."""
import gc
import math
import sys
import threading
import time
import warnings
import weakref

import numpy as np
import pytest

import saltus


def snake(**overrides) -> saltus.Simulation:
    return saltus.Simulation(saltus.Scene(saltus.scene_path("p0/pegs"), overrides or None))


def ball(**law) -> saltus.Simulation:
    builder = saltus.ModelBuilder()
    builder.body("ball", saltus.RigidInertia(2.0, about_com=saltus.solid_sphere(2.0, 0.1)),
                 saltus.JointSpec(saltus.Floating()))
    builder.shape("ball", "ball", saltus.Sphere(0.1)).shape("floor", "world", saltus.HalfSpace())
    builder.contact("floor", "ball", saltus.ContactLaw(**law))
    model = builder.build()
    state = saltus.State(model)
    state.q[2] = 1.0
    return saltus.Simulation(model, state=state)


def test_gap_contact_is_the_contact_of_shapes():
    """A mass that falls on a floor and rubs: the contact by its gap, and by shapes."""
    ends = []
    for by_gap in (True, False):
        builder = saltus.ModelBuilder()
        builder.body("x", saltus.RigidInertia(1.0), saltus.JointSpec(saltus.Prismatic([1, 0, 0])))
        builder.body("z", saltus.RigidInertia(1.0),
                     saltus.JointSpec(saltus.Prismatic([0, 0, 1]), parent="x"))
        if by_gap:
            builder.gap_contact("floor", {"z": (1, 0), "x": (0, 1)}, offset=-0.1, friction=0.2,
                                restitution=0.5)
        else:
            builder.shape("ball", "z", saltus.Ellipsoid([0.1, 0.1, 0.1]))
            builder.shape("floor", "world", saltus.HalfSpace())
            builder.contact("floor", "ball", saltus.ContactLaw(0.2, restitution=0.5))
        model = builder.build()
        state = saltus.State(model)
        state.q[:] = 0, 0.5
        state.v[:] = 2, 0
        sim = saltus.Simulation(model, state=state)
        sim.step(1000)
        ends.append([*sim.state.q, *sim.state.v])
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)
    assert ends[0][2] < 2


def test_n_steps_are_n_times_one_step():
    a, b = snake(), snake()
    a.step(300)
    for _ in range(300):
        b.step()
    assert a.state.to_bytes() == b.state.to_bytes()
    assert a.t == pytest.approx(0.3, abs=1e-15) and a.state.step == 300


def test_free_function_is_the_simulation():
    sim = snake()
    sim.step(50)
    scene = saltus.Scene(saltus.scene_path("p0/pegs"))
    model, actuation, state = scene.build()
    work = saltus.StepWorkspace(model)
    report = saltus.step(model, actuation, state, work, scene.options, 50)
    assert report.steps == 50 and report.converged and report.residual <= 1e-10
    assert state.to_bytes() == sim.state.to_bytes()
    assert np.array_equal(work.work.r, sim.work.r)


def test_checkpoint():
    sim = snake()
    sim.step(200)
    saved = sim.state.copy()
    bytes_ = sim.state.to_bytes()
    sim.step(150)
    after = sim.state.copy()
    assert after != saved
    sim.reset(saved)
    assert sim.state == saved
    sim.step(150)
    assert sim.state == after
    sim.reset(saltus.State.from_bytes(sim.model, bytes_))
    sim.step(150)
    assert sim.state.to_bytes() == after.to_bytes()
    sim.reset()
    assert sim.t == 0 and sim.state.step == 0 and not sim.contacts()


def test_contacts_of_a_state():
    sim = snake()
    assert len(sim.state.contacts) == 0
    sim.step(200)
    kept = sim.state.contacts
    assert kept.dtype.names == ("a", "b", "feature", "mode", "Lambda") and len(kept) > 0
    assert not kept.flags.writeable
    keys = [tuple(int(c[k]) for k in ("a", "b", "feature")) for c in kept]
    assert keys == sorted(set(keys))
    shapes = sim.model.shapes
    seen = {(c.a, c.b, c.feature): c for c in sim.contacts()}
    assert len(seen) == len(kept)
    for key, c in zip(keys, kept):
        found = seen[shapes[key[0]].name, shapes[key[1]].name, key[2]]
        assert c["mode"] == found.mode
        assert c["Lambda"][0] / sim.dt == pytest.approx(found.force @ found.normal)
        assert np.hypot(*c["Lambda"][1:3]) / sim.dt == pytest.approx(
            np.linalg.norm(found.force - found.force @ found.normal * found.normal), abs=1e-9)
        assert not c["Lambda"][3:].any()
    assert np.array_equal(sim.state.copy().contacts, kept)
    sim.reset()
    assert len(sim.state.contacts) == 0 and len(kept) == len(keys)


def test_views_are_views():
    sim = ball()
    q, v, Lambda = sim.state.q, sim.state.v, sim.state.Lambda
    sim.step()
    assert sim.work.M.shape == (0, 0)  # a step needs no mass matrix; crba fills it
    saltus.crba(sim.model, sim.work)
    r, M = sim.work.r, sim.work.M
    assert M.shape == (6, 6)
    sim.step(10)
    assert q[2] < 1.0 and v[2] < 0
    assert np.shares_memory(q, sim.state.q) and np.shares_memory(M, sim.work.M)
    assert r[0, 2] == q[2]
    q[2] = 5.0
    assert sim.state.q[2] == 5.0
    sim.reset()
    assert q[2] == 1.0 and not Lambda.any()
    for array in (r, M, sim.work.S, sim.work.V, sim.state.mode, sim.state.turns):
        assert not array.flags.writeable
        with pytest.raises(ValueError):
            array[...] = 0


def test_state_setters():
    sim = ball()
    sim.state.q = [1, 2, 3, 1, 0, 0, 0]
    sim.state.v = np.arange(6)
    sim.state.t = 4.0
    sim.step()
    assert sim.t == pytest.approx(4.001, abs=1e-12)
    sim.options = saltus.MoreauMidpoint(dt=0.01)
    sim.step(2)
    assert sim.t == pytest.approx(4.021, abs=1e-12)


def test_fall_and_rebound():
    sim = ball(restitution=0.5)
    report = sim.step(1)
    assert report.energy.kinetic + report.energy.potential == pytest.approx(2 * 9.81 * 1.0)
    fall = math.sqrt(2 * 0.9 / 9.81)
    sim.step(round(0.8 / sim.dt))
    # After the impact at `fall` the ball flies up with half its speed.
    after = sim.t - fall
    expected = 0.1 + 0.5 * 9.81 * fall * after - 0.5 * 9.81 * after**2
    assert sim.state.q[2] == pytest.approx(expected, abs=3e-3)
    sim.step(2000)
    contact, = sim.contacts()
    assert contact.a == "floor" and contact.b == "ball" and contact.body_b == 0
    assert contact.force == pytest.approx([0, 0, 2 * 9.81], abs=1e-6)
    assert sim.contact_forces() == pytest.approx(np.array([[0, 0, 2 * 9.81]]), abs=1e-6)


def test_ledger_is_whole_after_a_change_of_the_state():
    sim = ball()
    sim.step(5)
    sim.state.v[0] = 3.0
    before = 0.5 * 2 * sim.state.v[:3] @ sim.state.v[:3] + 2 * 9.81 * sim.state.q[2]
    e = sim.step().energy
    assert abs(e.integrator) < 1e-9
    assert e.kinetic + e.potential == pytest.approx(before, abs=1e-9)


def test_callback_forces():
    """A joint force and a wrench in the body's frame: uniform acceleration."""
    sim = ball()
    seen = []

    def force(t, q, v, tau, work):
        seen.append((t, q, v))
        tau[0] += 4.0
        work.external[0, :3] += work.R[0].T @ [0, 6.0, 2 * 9.81]

    sim.actuation.force = force
    report = sim.step(100)
    assert sim.actuation.force is force
    assert sim.state.v[:3] == pytest.approx([4 / 2 * 0.1, 6 / 2 * 0.1, 0], abs=1e-12)
    assert len(seen) == 100 and seen[0][0] == pytest.approx(0.5e-3)
    assert seen[0][1] is not seen[1][1] and seen[1][2][0] == pytest.approx(0.002)
    work = 4 * sim.state.q[0] + 6 * sim.state.q[1] + 2 * 9.81 * (sim.state.q[2] - 1)
    assert report.energy.external == pytest.approx(work, rel=1e-9)
    sim.actuation.force = None
    sim.step()
    assert len(seen) == 100


def test_callback_equals_motor():
    """The same torque by a motor and by a callback: the same motion."""
    def sims():
        builder = saltus.ModelBuilder()
        builder.body("rod", saltus.RigidInertia(1, [0.3, 0, 0], saltus.solid_sphere(1, 0.1)),
                     saltus.JointSpec(saltus.Revolute([0, 1, 0]), name="hinge"))
        model = builder.build()
        return saltus.Simulation(model), saltus.Simulation(model)

    a, b = sims()
    a.actuation.motor("hinge", torque=saltus.Sine(2.0, 5.0, 0.1))

    def torque(t, q, v, tau, work):
        tau[0] += 2 * math.sin(5 * t + 0.1)

    b.actuation.force = torque
    a.step(500)
    b.step(500)
    assert a.state.q == pytest.approx(b.state.q, abs=1e-12)
    assert a.step_work.motor_force[0] == pytest.approx(2 * math.sin(5 * 0.4995 + 0.1))


def test_signals():
    signal = saltus.Sum([saltus.Sine(2, 3, 0.5, 1), 4, saltus.Table([0, 1], [0, 2])])
    assert signal.value(0.5) == pytest.approx(2 * math.sin(2) + 1 + 4 + 1)
    assert signal.rate(0.5) == pytest.approx(6 * math.cos(2) + 2)
    assert saltus.BangBang([0, 1], [3, 5]).value(1.5) == 5
    assert saltus.Table([0, 1], [3, 5], hold=True).value(0.9) == 3
    assert saltus.Move(1, 3, 0, 2).value(1.0) == pytest.approx(2)
    sim = snake()
    sine = sim.actuation.reference("joint2")
    assert sine.amplitude == pytest.approx(math.radians(40))
    assert sim.actuation.motors == [f"joint{i}" for i in range(1, 11)]
    sim.actuation.set_reference("joint2", saltus.Sum([sine, 0.1]))
    sim.step(10)


def test_prescribed_motion():
    builder = saltus.ModelBuilder([0, 0, 0])
    builder.body("cart", saltus.RigidInertia(2), saltus.JointSpec(
        saltus.Prismatic(), dofs=[saltus.JointDof(prescribed=True)]))
    model = builder.build()
    with pytest.raises(saltus.InputError, match="prescribed"):
        saltus.Simulation(model)
    actuation = saltus.Actuation(model).prescribe("cart", saltus.Move(0, 1, 0, 1))
    sim = saltus.Simulation(model, actuation)
    sim.step(250)
    a = 2 * math.pi * math.sin(2 * math.pi * 0.2495)
    assert sim.step_work.drive[0] == pytest.approx(2 * a, rel=1e-3)
    sim.step(750)
    assert sim.state.q[0] == pytest.approx(1)


def test_the_gil_is_released():
    """Another thread works on while a long step runs."""
    sim = snake()
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(1e-3)

    thread = threading.Thread(target=count)
    interval = sys.getswitchinterval()
    thread.start()
    try:
        before = counted[0]
        sim.step(3000)
        during = counted[0] - before
    finally:
        done.set()
        thread.join()
        sys.setswitchinterval(interval)
    assert during > 10


def test_unconverged_steps_warn():
    sim = snake(**{"solver.max_iterations": 1, "solver.tolerance": 1e-14})
    with pytest.warns(saltus.UnconvergedWarning, match="tolerance"):
        report = sim.step(100)
    assert report.unconverged > 0 and not report.converged
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(saltus.UnconvergedWarning):
            sim.step(100)


def test_divergence_keeps_the_last_good_state():
    sim = snake(**{"integrator.motors": "explicit", "time.step": 1e-2, "snake.motor.kd": 200})
    with pytest.raises(saltus.DivergenceError, match="diverged"):
        sim.step(1000)
    assert np.isfinite(sim.state.q).all() and np.isfinite(sim.state.v).all()
    assert 0 <= sim.state.step < 1000


def test_a_cycle_through_the_callback_is_collected():
    sim = snake()

    def force(t, q, v, tau, work):
        sim.t  # refers back to the simulation

    sim.actuation.force = force
    sim.step(2)
    gone = weakref.ref(force)
    del sim, force
    gc.collect()
    assert gone() is None


def test_a_ball_rests_on_a_height_field():
    ground = saltus.HeightField(np.zeros((5, 7)), [0.5, 0.5])
    assert ground.heights.shape == (5, 7) and list(ground.origin) == [-1.5, -1.0]
    with pytest.raises(saltus.InputError):
        saltus.HeightField([[0.0, 0.0]], [0.5, 0.5])
    with pytest.raises(saltus.InputError):
        saltus.HeightField([[0.0, np.nan], [0.0, 0.0]], [0.5, 0.5])


BOUNCES = """\
saltus: 1
bodies: [{name: ball, mass: 1, solid: {shape: sphere, radius: 0.1}, joint: {type: floating}, shapes: [{type: sphere, radius: 0.1}]}]
obstacles: [{name: floor, type: half-space}]
contacts: [{between: [floor, ball], friction: 0.2, restitution: 0.5}]
initial: {ball: {q: [0, 0, 1.1, 1, 0, 0, 0], v: [1, 0, 0, 0, 0, 0]}}
integrator: {type: event-driven}
time: {step: 0.05, end: 2}
"""


def test_event_driven_scenes_are_stepped_by_events(tmp_path):
    """A ball from 1 m with restitution 1/2: the same bits as a run's, in one call or in many, also from a checkpoint; before
    the second bounce the closed form."""
    path = tmp_path / "ball.yaml"
    path.write_text(BOUNCES)
    scene = saltus.Scene(path)
    whole, parts = saltus.Simulation(scene), saltus.Simulation(scene)
    assert whole.integrator == "event-driven" and snake().integrator == "moreau"
    report = whole.step(40)
    assert report.steps == 40 and report.impacts > 3
    for _ in range(20):
        parts.step()
    kept = parts.state.copy()
    parts.step(7)
    parts.reset(kept)
    parts.step(20)
    run = saltus.run(path, record=False)
    for one in (parts.state, run.state):
        assert np.array_equal(one.q, whole.state.q) and np.array_equal(one.v, whole.state.v)
    whole.reset()
    whole.step(16)  # 0.8 s
    fall = math.sqrt(2 / 9.81)
    after = 0.8 - fall
    height = 0.1 + 0.5 * 9.81 * fall * after - 0.5 * 9.81 * after**2
    assert whole.state.q[2] == pytest.approx(height, abs=1e-11)  # the integrator's tolerance is 1e-12
    with pytest.raises(saltus.InputError, match="event-driven"):
        whole.options = saltus.MoreauMidpoint()


def test_a_report_names_its_solver():
    """A box at rest on four corners sticks; a solver with one sweep says why it ends."""
    ends = []
    for solver, most in (("auto", 10000), ("sor", 1)):
        simulation = saltus.Simulation(saltus.Scene(saltus.scene_path("contact/tower")))
        options = saltus.MoreauMidpoint(1e-3, solver=solver, max_iterations=most)
        work = saltus.StepWorkspace(simulation.model)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", saltus.UnconvergedWarning)
            report = saltus.step(simulation.model, simulation.actuation, simulation.state, work,
                                 options)
        ends.append((report.finished_by, report.gave_up, report.converged))
    print(ends)
    assert ends[0][0] in ("stick", "sor", "newton", "warm start", "interior point") and ends[0][2]
    assert ends[1] == ("sor", "sor: most iterations", False)
