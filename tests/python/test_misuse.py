"""Misuse raises typed exceptions and never crashes; what Python holds stays alive."""
import copy
import gc
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import saltus

PEGS = saltus.scene_path("p0/pegs")
FUZZER = Path(__file__).with_name("misuse_fuzzer.py")


@pytest.fixture(scope="module")
def pair():
    """Two models of the same scene: equal, and yet not the same."""
    return [saltus.Scene(PEGS).build() for _ in range(2)]


def hinge(**dof) -> saltus.Model:
    builder = saltus.ModelBuilder()
    builder.body("rod", saltus.RigidInertia(1, [0.3, 0, 0], saltus.solid_sphere(1, 0.1)),
                 saltus.JointSpec(saltus.Revolute([0, 1, 0]), dofs=[saltus.JointDof(**dof)]))
    return builder.build()


@pytest.mark.parametrize("q", [[], [1], np.zeros(34), np.zeros((33, 1)), np.zeros((1, 33)), "abc",
                               None, object(), [[1], [1, 2]], np.full(33, np.nan),
                               np.full(33, np.inf), np.zeros(33, complex) + 1j, 3.0, {}, b"xyz"])
def test_bad_vectors(pair, q):
    model, actuation, state = pair[0]
    work = saltus.Workspace(model)
    for call in (lambda: saltus.forward_kinematics(model, q, state.v, work),
                 lambda: saltus.forward_kinematics(model, state.q, q, work),
                 lambda: setattr(state, "q", q), lambda: setattr(state, "v", q)):
        with pytest.raises((saltus.InputError, TypeError)) as e:
            call()
        print(e.value)
    saltus.forward_kinematics(model, state, work)
    for call in (lambda: saltus.rnea(model, q, work), lambda: saltus.aba(model, q, work),
                 lambda: saltus.kinetic_energy(model, q, work)):
        with pytest.raises((saltus.InputError, TypeError)):
            call()


def test_the_message_names_argument_and_shape(pair):
    model, _, state = pair[0]
    with pytest.raises(saltus.InputError) as e:
        saltus.forward_kinematics(model, np.zeros((3, 4)), state.v, saltus.Workspace(model))
    assert str(e.value) == "q: expected 33 numbers, got an array of shape (3, 4)"
    bad = state.q.copy()
    bad[7] = np.nan
    with pytest.raises(ValueError, match=r"q\[7\]: expected a finite number, got nan"):
        state.q = bad


def test_parts_of_another_model(pair):
    (model, actuation, state), (other, other_actuation, other_state) = pair
    work, other_work = saltus.Workspace(model), saltus.StepWorkspace(other)
    options = saltus.MoreauMidpoint()
    calls = [
        lambda: saltus.forward_kinematics(model, other_state, work),
        lambda: saltus.forward_kinematics(model, state, other_work.work),
        lambda: saltus.crba(model, other_work.work),
        lambda: saltus.step(model, actuation, other_state, saltus.StepWorkspace(model), options),
        lambda: saltus.step(model, other_actuation, state, saltus.StepWorkspace(model), options),
        lambda: saltus.step(model, actuation, state, other_work, options),
        lambda: saltus.step(other, actuation, state, other_work, options),
        lambda: saltus.Simulation(model, other_actuation),
        lambda: saltus.Simulation(model, state=other_state),
        lambda: saltus.Simulation(model).reset(other_state),
        lambda: state.assign(other_state),
        lambda: saltus.State.from_bytes(hinge(), state.to_bytes()),
    ]
    for call in calls:
        with pytest.raises(saltus.InputError):
            call()
    assert state != other_state and state == state.copy()


def test_nan_through_a_view(pair):
    sim = saltus.Simulation(saltus.Scene(PEGS))
    for array, name in ((sim.state.q, "q"), (sim.state.v, "v"), (sim.state.Lambda, "Lambda")):
        before = array[3]
        array[3] = np.nan
        with pytest.raises(saltus.InputError, match=rf"state.{name}\[3\]"):
            sim.step()
        array[3] = before
    sim.step()
    sim.state.v[:] = 1e300
    with pytest.raises(saltus.DivergenceError):
        sim.step(10)


def test_quaternions_have_unit_length():
    _, _, state = saltus.Scene(saltus.scene_path("tumbling-body")).build()
    model = state.model
    state.q[3:] *= 2
    with pytest.raises(saltus.InputError, match="unit quaternion"):
        saltus.forward_kinematics(model, state, saltus.Workspace(model))
    state.q[3:] = 0
    with pytest.raises(saltus.InputError, match="unit quaternion"):
        saltus.Simulation(model, state=state)


def test_an_empty_workspace(pair):
    model, _, state = pair[0]
    work = saltus.Workspace(model)
    for call in (lambda: saltus.crba(model, work), lambda: saltus.momentum(model, work),
                 lambda: saltus.solve_mass(model, state.v, work), lambda: saltus.jacobian(model, work, 0)):
        with pytest.raises(saltus.InputError, match="forward_kinematics"):
            call()
    saltus.forward_kinematics(model, state, work)
    for bad in (-1, 11, 10**6, "link0", ""):
        with pytest.raises(saltus.InputError):
            saltus.jacobian(model, work, bad)
    with pytest.raises(TypeError):
        saltus.jacobian(model, work, None)


def test_bad_bytes(pair):
    model, _, state = pair[0]
    good = state.to_bytes()
    assert saltus.State.from_bytes(model, good) == state
    for bad in (b"", good[:-1], good[:-8], good + b"x", b"\xff" * len(good)):
        with pytest.raises(saltus.InputError):
            saltus.State.from_bytes(model, bad)
    with pytest.raises(TypeError):
        saltus.State.from_bytes(model, "text")


@pytest.mark.parametrize("make", [
    lambda: saltus.Revolute([0, 0, 0]), lambda: saltus.Revolute([0, 1]),
    lambda: saltus.SE3([0, 0, np.nan]), lambda: saltus.SE3(quaternion=[0, 0, 0, 0]),
    lambda: saltus.SE3(R=np.ones((3, 3))), lambda: saltus.SE3(R=np.diag([1, 1, -1])),
    lambda: saltus.SE3(rpy=[0, 0, 0], quaternion=[1, 0, 0, 0]),
    lambda: saltus.Sphere(-1), lambda: saltus.Sphere(float("nan")), lambda: saltus.Box([1, 1, 0]),
    lambda: saltus.Capsule(1, float("inf")), lambda: saltus.Peg(0), lambda: saltus.Cylinder(1, -1),
    lambda: saltus.ConvexHull([[0, 0, 0]]), lambda: saltus.ConvexHull("abc"),
    lambda: saltus.solid_sphere(-1, 1), lambda: saltus.solid_box(1, [1, 2]),
    lambda: saltus.Table([0, 0], [1, 2]), lambda: saltus.Table([0, 1], [1]),
    lambda: saltus.Table([], []), lambda: saltus.BangBang([1, 0], [1, 2]),
    lambda: saltus.Move(0, 1, 0, 0), lambda: saltus.Sine(1, float("nan")),
    lambda: saltus.MoreauMidpoint(0), lambda: saltus.MoreauMidpoint(1e-3, solver="best"),
    lambda: saltus.MoreauMidpoint(1e-3, alpha=2), lambda: saltus.ContactLaw(axes="c"),
    lambda: saltus.ModelBuilder([0, 0]), lambda: saltus.ModelBuilder(coordinates="all"),
    lambda: saltus.ModelBuilder().body("a", saltus.RigidInertia(-1), saltus.JointSpec(
        saltus.Floating())),
    lambda: saltus.ModelBuilder().body("a", saltus.RigidInertia(1, about_com=np.diag([1, 1, 9])),
                                       saltus.JointSpec(saltus.Floating())),
    lambda: saltus.ModelBuilder().body("a", saltus.RigidInertia(1), saltus.JointSpec(
        saltus.Revolute(), "nobody")).build(),
    lambda: saltus.ModelBuilder().shape("s", "nobody", saltus.Sphere(1)).build(),
    lambda: saltus.ModelBuilder().contact("a", "b").build(),
    lambda: saltus.ModelBuilder().contact("a", "b", saltus.ContactLaw(-1)),
    lambda: saltus.ModelBuilder().contact("a", "b", saltus.ContactLaw(0, 2)),
    lambda: saltus.ModelBuilder().support("a", 0.1, float("inf")),
    lambda: saltus.ModelBuilder().snake(links=0), lambda: saltus.ModelBuilder().snake(mass=-1),
    lambda: saltus.ModelBuilder().added_inertia("a", np.eye(5)),
    lambda: hinge(limits=(1, 0)), lambda: hinge(damping=-1), lambda: hinge(armature=float("nan")),
    lambda: saltus.Actuation(hinge()).motor("nobody"),
    lambda: saltus.Actuation(hinge()).motor("rod", kp=-1),
    lambda: saltus.Actuation(hinge()).motor("rod", limit=float("nan")),
    lambda: saltus.Actuation(hinge()).motor("rod", reference=float("nan")),
    lambda: saltus.Actuation(hinge()).set_reference("rod", 1),
    lambda: saltus.Actuation(hinge()).prescribe("rod", 1),
    lambda: setattr(saltus.Actuation(hinge()), "force", 3),
    lambda: saltus.Simulation(hinge()).step(0), lambda: saltus.Simulation(hinge()).step(-5),
    lambda: saltus.scene_path("../../etc/passwd"), lambda: saltus.State(hinge()).set_posture(
        {"rod": [1, 2]}),
    lambda: setattr(saltus.State(hinge()), "t", float("nan")),
])
def test_bad_arguments(make):
    with pytest.raises(saltus.InputError) as e:
        make()
    print(e.value)


def test_deep_sums_do_not_overflow_the_stack():
    signal = saltus.Constant(1)
    with pytest.raises(saltus.InputError, match="nested"):
        for _ in range(100):
            signal = saltus.Sum([signal])


def test_nothing_that_moves():
    builder = saltus.ModelBuilder()
    builder.body("rock", saltus.RigidInertia(1), saltus.JointSpec(saltus.Fixed()))
    model = builder.build()
    assert model.nv == 0
    work = saltus.Workspace(model)
    saltus.forward_kinematics(model, [], [], work)
    assert saltus.crba(model, work).shape == (0, 0) and work.S.shape == (6, 0)
    assert saltus.State(model).q.shape == (0,)
    with pytest.raises(saltus.InputError, match="nothing moves"):
        saltus.Simulation(model).step()
    empty = saltus.ModelBuilder().build()
    assert saltus.Workspace(empty).r.shape == (0, 3)


def test_a_singular_mass_matrix():
    builder = saltus.ModelBuilder()
    builder.body("point", saltus.RigidInertia(1), saltus.JointSpec(saltus.Revolute()))
    model = builder.build()
    work = saltus.Workspace(model)
    saltus.forward_kinematics(model, [0], [0], work)
    with pytest.raises(saltus.DivergenceError, match="singular"):
        saltus.solve_mass(model, [1], work)
    with pytest.raises(saltus.DivergenceError, match="singular"):
        saltus.Simulation(model).step()


def test_views_outlive_their_owners():
    def parts():
        sim = saltus.Simulation(saltus.Scene(PEGS))
        sim.step(3)
        yield sim.state.q
        yield sim.state.Lambda
        yield sim.work.M
        yield sim.work.R
        yield sim.step_work.motor_force
        yield saltus.Scene(PEGS).build()[2].q
        yield saltus.StepWorkspace(hinge()).work.external
        yield saltus.State(hinge()).mode
        yield hinge().gravity

    arrays = list(parts())
    before = [a.copy() for a in arrays]
    for _ in range(20):
        gc.collect()
        [saltus.Simulation(saltus.Scene(PEGS)) for _ in range(3)]
    for a, b in zip(arrays, before):
        assert np.array_equal(a, b)
        if a.flags.writeable:
            a[...] = 1
    body = saltus.Scene(PEGS).build()[0].bodies[3]
    gc.collect()
    assert body.name == "link4" and body.inertia.mass == pytest.approx(7.5 / 11)


def test_copies():
    state = saltus.State(hinge())
    for other in (state.copy(), copy.copy(state), copy.deepcopy(state)):
        other.q[0] = 1
        assert state.q[0] == 0 and other.model is state.model
    with pytest.raises(TypeError):
        import pickle
        pickle.dumps(state)


def test_bad_callbacks():
    sim = saltus.Simulation(hinge())
    before = sim.state.to_bytes()

    def run_with(force, error, match=None):
        sim.actuation.force = force
        with pytest.raises(error, match=match):
            sim.step(5)

    run_with(lambda: None, TypeError)
    run_with(lambda t, q, v, tau, work: 1.0, saltus.InputError, "returned a float")
    run_with(lambda t, q, v, tau, work: tau.fill(np.nan), saltus.InputError, "not finite")
    run_with(lambda t, q, v, tau, work: work.external.fill(np.inf), saltus.InputError, "not finite")
    run_with(lambda t, q, v, tau, work: tau.resize(100), ValueError)
    run_with(lambda t, q, v, tau, work: 1 / 0, ZeroDivisionError)
    run_with(lambda t, q, v, tau, work: sys.exit(3), SystemExit)
    for again in (lambda: sim.step(), lambda: sim.reset(), lambda: sim.state.copy(),
                  lambda: setattr(sim.actuation, "force", None),
                  lambda: sim.actuation.motor("rod"), lambda: sim.contacts(),
                  lambda: setattr(sim.state, "q", [0]), lambda: sim.state.to_bytes(),
                  lambda: saltus.crba(sim.model, sim.work),
                  lambda: saltus.Simulation(sim.model, sim.actuation).step(),
                  lambda: setattr(sim, "options", saltus.MoreauMidpoint(1e-2))):
        run_with(lambda t, q, v, tau, work, again=again: again(), saltus.BusyError)
    assert sim.state.to_bytes() == before
    sim.actuation.force = None
    sim.step()


def test_what_a_callback_keeps_stays_valid():
    kept = []

    def keep(t, q, v, tau, work):
        kept.append((q, v, tau, work.r, work))

    saltus.run(PEGS, {"time.end": 0.05}, record=False, force=keep)
    gc.collect()
    for q, v, tau, r, work in kept:
        assert np.isfinite(q).all() and np.isfinite(r).all() and not tau.any()
        tau += 1
        work.external[:] = 3
        saltus.crba(work.model, work)


def test_two_threads_on_one_simulation():
    sim = saltus.Simulation(saltus.Scene(PEGS))
    done = threading.Event()
    thread = threading.Thread(target=lambda: (sim.step(8000), done.set()))
    thread.start()
    refused = 0
    while not done.is_set():
        try:
            sim.step()
            sim.state.copy()
        except saltus.BusyError:
            refused += 1
        time.sleep(1e-3)
    thread.join()
    assert refused > 0 and np.isfinite(sim.state.q).all()


def test_uninitialised_objects():
    for cls in (saltus.State, saltus.Simulation, saltus.Model, saltus.Actuation, saltus.Workspace):
        with pytest.raises((TypeError, RuntimeError)), pytest.warns(RuntimeWarning):
            repr(cls.__new__(cls).model if cls is not saltus.Model else cls.__new__(cls).nq)
        gc.collect()
    with pytest.raises(TypeError):
        saltus.Model()


@pytest.mark.parametrize("seed", range(4))
def test_random_misuse(seed, tmp_path, soak):
    """Random calls with random arguments in a process of its own: typed exceptions, no crash."""
    calls = 40000 if soak else 4000
    done = subprocess.run([sys.executable, FUZZER, str(seed), str(calls)], cwd=tmp_path, text=True,
                          capture_output=True, timeout=600,
                          env={**os.environ, "PYTHONFAULTHANDLER": "1"})
    assert done.returncode == 0, f"seed {seed}: {done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    print(done.stdout.splitlines()[-1])
