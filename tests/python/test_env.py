"""The Gymnasium environments: the checker, seeds, actions, ends."""
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import saltus
import saltus.env


@pytest.mark.parametrize("control", ["reference", "torque"])
def test_checker(control):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        env = gymnasium.make("Saltus/SnakePegs-v0", control=control)
        check_env(env.unwrapped)
    # As the environments of MuJoCo do, an observation has no bounds; nothing else is remarked.
    remarks = [str(w.message) for w in caught]
    assert all("infinity" in r or "render" in r for r in remarks), remarks


def rollout(seed, n=40, scale=0.5, **options):
    env = gymnasium.make("Saltus/SnakePegs-v0", **options)
    rng = np.random.default_rng(seed)
    observation, info = env.reset(seed=seed)
    seen, rewards = [observation], []
    for _ in range(n):
        observation, reward, terminated, truncated, info = env.step(scale * rng.uniform(-1, 1, 10))
        seen.append(observation)
        rewards.append(reward)
        if terminated or truncated:
            break
    return np.array(seen), np.array(rewards), info


@pytest.mark.parametrize("control", ["reference", "torque"])
def test_the_same_seed_gives_the_same_trajectory(control):
    a, b, c = (rollout(seed, control=control) for seed in (3, 3, 4))
    assert a[0].tobytes() == b[0].tobytes() and a[1].tobytes() == b[1].tobytes()
    assert a[0].tobytes() != c[0].tobytes()


def test_reset_starts_anew():
    env = gymnasium.make("Saltus/SnakePegs-v0")
    first, _ = env.reset(seed=5)
    for _ in range(10):
        env.step(env.action_space.sample())
    again, info = env.reset(seed=5)
    assert first.tobytes() == again.tobytes() and info["t"] == 0
    other, _ = env.reset()  # goes on with the generator
    assert other.tobytes() != again.tobytes()


def test_the_gait_moves_forwards():
    """Without actions the scene's gait drives: P0's snake moves at about 0.16 m/s."""
    _, rewards, info = rollout(0, 120, scale=0.0)
    assert info["t"] == pytest.approx(6.0)
    assert rewards.sum() / info["t"] == pytest.approx(0.16, rel=0.05)
    print(f"{rewards.sum() / info['t']:.4f} m/s")


def test_actions_act():
    still, _, _ = rollout(1, 20, scale=0.0)
    moved, rewards, _ = rollout(1, 20, scale=1.0)
    assert abs(still[-1, :10] - moved[-1, :10]).max() > 0.01
    env = gymnasium.make("Saltus/SnakePegs-v0", control="torque").unwrapped
    env.reset(seed=0)
    action = np.zeros(10)
    action[4] = 0.5
    env.step(action)
    assert env.sim.step_work.motor_force[-10:] == pytest.approx(2.5 * (np.arange(10) == 4))


def test_observation():
    env = gymnasium.make("Saltus/SnakePegs-v0").unwrapped
    observation, _ = env.reset(seed=2)
    assert observation.shape == (51,) == env.observation_space.shape
    assert not observation[27:49].any()  # no contact force yet
    for _ in range(20):
        observation, *_ = env.step(np.zeros(10))
    state = env.sim.state
    assert np.array_equal(observation[:10], state.q[3:])
    assert np.array_equal(observation[10:20], state.v[3:])
    assert np.allclose(observation[20:22], state.q[:2])
    assert observation[22] > 0.7  # it looks along x
    assert np.linalg.norm(observation[22:24]) == pytest.approx(1)
    forces = observation[27:49].reshape(11, 2)
    assert 0.1 < np.linalg.norm(forces, axis=1).max() < 200
    total = env.sim.contact_forces()[:, :2]
    assert np.allclose(np.linalg.norm(forces, axis=1), np.linalg.norm(total, axis=1))


def test_an_episode_is_cut():
    seen, rewards, info = rollout(0, 1000, duration=0.5)
    assert len(rewards) == 10 and info["t"] == pytest.approx(0.5)


def test_misuse():
    for bad in ({"control": "mind"}, {"period": 0}, {"duration": float("nan")},
                {"time_step": -1.0}):
        with pytest.raises(saltus.InputError):
            saltus.env.SnakePegs(**bad)
    env = saltus.env.SnakePegs()
    env.reset(seed=0)
    for action in (np.zeros(3), np.full(10, np.nan), np.zeros((10, 1))):
        with pytest.raises(saltus.InputError):
            env.step(action)


def test_vectorised():
    envs = gymnasium.make_vec("Saltus/SnakePegs-v0", num_envs=3, vectorization_mode="sync")
    observations, _ = envs.reset(seed=1)
    assert observations.shape == (3, 51)
    envs.step(envs.action_space.sample())
    envs.close()
