"""Random actions in the Gymnasium environment: the same seed gives the same trajectory."""
import gymnasium
import numpy as np

import saltus.env  # noqa: F401  registers Saltus/SnakePegs-v0


def rollout(seed: int) -> tuple[np.ndarray, float]:
    env = gymnasium.make("Saltus/SnakePegs-v0", duration=3.0)
    env.action_space.seed(seed)
    observation, _ = env.reset(seed=seed)
    seen, total, over = [observation], 0.0, False
    while not over:
        observation, reward, terminated, truncated, _ = env.step(0.3 * env.action_space.sample())
        seen.append(observation)
        total += float(reward)
        over = terminated or truncated
    return np.array(seen), total


first, total = rollout(7)
again, _ = rollout(7)
other, _ = rollout(8)
print(f"{len(first) - 1} actions, return {total:.3f}")
assert first.tobytes() == again.tobytes()
assert first.tobytes() != other.tobytes()
assert 0.2 < total < 0.8
