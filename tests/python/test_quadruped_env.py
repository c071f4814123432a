"""The locomotion controller from Python, and the environment Saltus/Quadruped-v0."""
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import saltus
import saltus.env

STEPS = 4000  # of 1 ms


def trotting(**command):
    sim = saltus.Simulation(saltus.Scene(saltus.scene_path("p2/trot-controlled")))
    sim.actuation.command(**command)
    return sim


def test_commands_lead_the_scene_s_controller():
    sim = trotting(forward=0.3, yaw_rate=0.3)
    assert sim.locomotion is None  # before the first step nothing is known
    sim.step(STEPS)
    report = sim.locomotion
    assert report["fell"] is None
    start = sim.state.q[:2].copy()
    sim.step(2000)
    assert np.hypot(*(sim.state.q[:2] - start)) > 0.4
    assert sim.state.q[6] > 0.2  # it has turned to the left
    with pytest.raises(saltus.InputError, match="no locomotion controller"):
        saltus.Actuation(sim.model).command(forward=1.0)


def test_a_push_and_a_fall():
    sim = trotting(forward=0.0)
    sim.actuation.push("trunk", at=2.0, impulse=[0, 120, 0])
    sim.step(STEPS)
    assert 2.0 < sim.locomotion["fell"] < 4.0 and sim.locomotion["why"]
    with pytest.raises(saltus.InputError, match="duration"):
        sim.actuation.push("trunk", at=2.0, impulse=[0, 1, 0], duration=-1)


def test_a_copy_of_the_state_goes_on_bit_for_bit():
    sim = trotting(forward=0.3)
    sim.step(1234)
    kept = sim.state.copy()
    sim.step(500)
    q = sim.state.q.copy()
    sim.reset(kept)
    sim.step(500)
    assert q.tobytes() == sim.state.q.tobytes()


def test_locomote_leads_a_model_without_a_controller():
    model, actuation, state = saltus.Scene(saltus.scene_path("p2/trot")).build()
    gaits = [saltus.Gait("stand"), saltus.Gait("trot", start=0.5)]
    actuation.locomote(state, gaits, forward=0.2, limit=60.0)
    assert actuation.feet == ["LF_foot", "RF_foot", "LH_foot", "RH_foot"]
    assert actuation.leg_joints[:3] == ["LF_HAA", "LF_HFE", "LF_KFE"]
    sim = saltus.Simulation(model, actuation, state)
    sim.step(STEPS)
    assert sim.locomotion["fell"] is None
    assert sim.state.q[0] > 0.3


def test_bad_input_is_told():
    model, actuation, state = saltus.Scene(saltus.scene_path("p2/trot")).build()
    with pytest.raises(saltus.InputError, match="standing takes"):
        actuation.locomote(state, limit=2.0)
    with pytest.raises(saltus.InputError, match="height"):
        actuation.locomote(state, height=0.9)
    with pytest.raises(saltus.InputError, match="expected 'stand', 'walk'"):
        saltus.Gait("gallop")
    with pytest.raises(saltus.InputError, match="duty"):
        saltus.Gait("trot", duty=0.0)


def test_the_robot_file_is_the_robot_of_the_open_loop_trot():
    """starleth.urdf and trot.yaml: the same mass matrix and bias to rounding."""
    both = []
    folder = saltus.scene_path("p2/trot")
    for scene in (saltus.load(str(folder).replace("trot.yaml", "starleth.urdf"), base="floating"),
                  saltus.Scene(folder, {"coordinates": "minimal"})):
        model, _, state = scene.build()
        work = saltus.Workspace(model)
        state.q[:] = [0.1, -0.2, 0.4, 1, 0, 0, 0] + [0.1 * np.sin(3 * i + 1) for i in range(12)]
        state.v[:] = [np.cos(2 * i) for i in range(18)]
        saltus.forward_kinematics(model, state.q, state.v, work)
        both.append((saltus.crba(model, work).copy(), saltus.bias_force(model, work).copy()))
    for a, b in zip(*both):
        assert abs(a - b).max() < 1e-12 * abs(a).max()


# --- the environment ------------------------------------------------------------------------------

@pytest.mark.parametrize("control", ["joint", "velocity"])
def test_checker(control):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        env = gymnasium.make("Saltus/Quadruped-v0", control=control)
        check_env(env.unwrapped)
    remarks = [str(w.message) for w in caught]
    assert all("infinity" in r or "render" in r for r in remarks), remarks


def rollout(seed, n=50, scale=0.3, **options):
    env = gymnasium.make("Saltus/Quadruped-v0", **options)
    rng = np.random.default_rng(seed)
    observation, info = env.reset(seed=seed)
    seen, rewards = [observation], []
    for _ in range(n):
        action = scale * rng.uniform(-1, 1, env.action_space.shape)
        observation, reward, terminated, truncated, info = env.step(action)
        seen.append(observation)
        rewards.append(reward)
        assert reward == pytest.approx(sum(info["reward_terms"].values()), abs=1e-12)
        if terminated or truncated:
            break
    return np.array(seen), np.array(rewards), terminated, info


@pytest.mark.parametrize("control", ["joint", "velocity"])
def test_the_same_seed_gives_the_same_trajectory(control):
    a, b, c = (rollout(seed, control=control) for seed in (3, 3, 4))
    assert a[0].tobytes() == b[0].tobytes() and a[1].tobytes() == b[1].tobytes()
    assert a[0].tobytes() != c[0].tobytes()


def test_without_actions_it_stands():
    seen, rewards, terminated, _ = rollout(0, n=200, scale=0.0, command=(0, 0, 0))
    assert not terminated and len(rewards) == 200
    assert abs(seen[-1, 0] - 0.34) < 0.02  # the height of the trunk
    assert seen[-1, 3] < -0.99             # upright: gravity points down its z
    # The command, no motion, is followed: 1 and 0.5 a second but for the torques' cost.
    assert rewards[-50:].sum() == pytest.approx(1.5 * 50 * 0.02, rel=0.1)


def test_the_velocity_controller_follows_its_command():
    seen, rewards, terminated, info = rollout(1, n=300, scale=0.0, control="velocity",
                                              command=(0.3, 0, 0))
    assert not terminated and info["t"] == pytest.approx(6.0)
    assert seen[-100:, 4].mean() == pytest.approx(0.3, abs=0.06)
    print(f"{rewards.sum():.2f} of at most {1.5 * 6:.2f}")


def test_a_fall_ends_the_episode():
    env = gymnasium.make("Saltus/Quadruped-v0", action_scale=2.0)
    env.reset(seed=0)
    for k in range(300):
        *_, terminated, truncated, info = env.step(np.tile([1.0, 1.0, -1.0], 4) * (-1) ** (k // 5))
        if terminated:
            break
    assert terminated and info["t"] < 6


def test_observation_has_the_documented_parts():
    env = gymnasium.make("Saltus/Quadruped-v0", command=(0.1, 0.2, 0.3)).unwrapped
    observation, _ = env.reset(seed=2)
    assert observation.shape == (53,) == env.observation_space.shape
    assert observation[10:13] == pytest.approx([0.1, 0.2, 0.3])
    assert abs(observation[13:25]).max() <= 0.02  # the noise of the start
    with pytest.raises(saltus.InputError, match="12 finite numbers"):
        env.step(np.zeros(3))
    with pytest.raises(saltus.InputError, match="control"):
        saltus.env.Quadruped(control="thought")
