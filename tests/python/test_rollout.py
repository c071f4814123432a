"""saltus.rollout: many copies on all cores, with the bits of single runs."""
import numpy as np
import pytest

import saltus


@pytest.fixture(scope="module")
def sim():
    return saltus.Simulation(saltus.Scene(saltus.scene_path("p2/trot"), {"time.step": 2.5e-3}))


def starts(sim, copies):
    """Lifted by up to 2 mm and pushed by up to 0.1 m/s."""
    random = np.random.default_rng(1)
    states = np.tile(np.concatenate([sim.state.q, sim.state.v]), (copies, 1))
    states[:, 2] += 2e-3 * random.random(copies)
    states[:, 19:22] += 0.2 * (random.random((copies, 3)) - 0.5)
    return states


def alone(sim, start, steps, every):
    """The same trajectory by steps of one simulation."""
    one = saltus.Simulation(sim.model, sim.actuation, sim.state, sim.options)
    one.state.q, one.state.v = start[:sim.model.nq], start[sim.model.nq:]
    rows = [np.concatenate([one.state.q, one.state.v])]
    for _ in range(steps // every):
        one.step(every)
        rows.append(np.concatenate([one.state.q, one.state.v]))
    return np.array(rows)


def test_bits_are_those_of_single_runs_on_any_number_of_threads(sim):
    states = starts(sim, 12)
    runs = [saltus.rollout(sim, states, 700, every=20, threads=n) for n in (1, 2, 5)]
    for r in runs:
        assert r.q.shape == (12, 36, 19) and r.v.shape == (12, 36, 18)
        assert r.q.tobytes() == runs[0].q.tobytes() and r.v.tobytes() == runs[0].v.tobytes()
    for i in range(12):
        one = alone(sim, states[i], 700, 20)
        assert np.concatenate([runs[1].q[i], runs[1].v[i]], axis=1).tobytes() == one.tobytes()
    assert sim.t == 0  # the simulation stays where it was
    assert np.all(runs[0].steps == 700) and not runs[0].unconverged.any()
    assert runs[0].penetration.max() <= 1e-6
    assert runs[0].t[-1] == pytest.approx(700 * 2.5e-3)


def test_it_goes_on_from_its_last_states(sim):
    states = starts(sim, 3)
    whole = saltus.rollout(sim, states, 400, every=100)
    half = saltus.rollout(sim, states, 200, every=100)
    rest = saltus.rollout(sim, half.states, 200, every=100)
    assert rest.q.tobytes() == np.ascontiguousarray(whole.q[:, 2:]).tobytes()


def test_forces_of_each_copy(sim):
    states = np.tile(starts(sim, 1), (2, 1))
    forces = np.zeros((2, 100, 18))
    forces[1, 50:, 0] = 20  # N on the trunk, from the 50th step on
    r = saltus.rollout(sim, states, 100, forces=forces)
    assert r.q[0, :51].tobytes() == r.q[1, :51].tobytes()
    assert r.q[1, 100, 0] > r.q[0, 100, 0] + 1e-4
    none = saltus.rollout(sim, states[:1], 100)
    assert none.q[0].tobytes() == r.q[0].tobytes()


def test_bad_input(sim):
    states = starts(sim, 2)
    with pytest.raises(saltus.InputError, match="states"):
        saltus.rollout(sim, states[:, :-1], 10)
    with pytest.raises(saltus.InputError, match="steps"):
        saltus.rollout(sim, states, 0)
    with pytest.raises(saltus.InputError, match="every"):
        saltus.rollout(sim, states, 10, every=0)
    with pytest.raises(saltus.InputError, match=r"forces: expected an array of shape \(2, 10, 18\)"):
        saltus.rollout(sim, states, 10, forces=np.zeros((2, 9, 18)))
    bad = states.copy()
    bad[1, 3:7] = 0
    with pytest.raises(saltus.InputError, match=r"states\[1\]"):
        saltus.rollout(sim, bad, 10)
    bad[1, 3] = np.nan
    with pytest.raises(saltus.InputError, match="states"):
        saltus.rollout(sim, bad, 10)
    own = saltus.Simulation(saltus.Scene(saltus.scene_path("p2/trot")))
    own.actuation.force = lambda t, q, v, tau, work: None
    with pytest.raises(saltus.InputError, match="callback"):
        saltus.rollout(own, states, 10)


def test_a_copy_that_diverges_says_so(sim):
    states = starts(sim, 2)
    states[1, 19:22] = 2e7  # beyond divergence_speed
    with pytest.warns(saltus.UnconvergedWarning, match="1 of 2 copies diverged"):
        r = saltus.rollout(sim, states, 10)
    assert list(r.diverged) == [False, True] and np.isnan(r.q[1, -1]).all()
    assert np.isfinite(r.q[0]).all()
