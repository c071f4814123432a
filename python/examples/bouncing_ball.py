"""A ball dropped from 1 m with restitution 0.5, beside its closed form."""
import math

import saltus

run = saltus.run(saltus.scene_path("bouncing-ball"))
g, h, e = 9.81, 1.0, 0.5
first = math.sqrt(2 * h / g)  # first impact [s]
z = run["frames/pose"][:, 2] - 0.1  # height of the ball above the floor [m]
t = run["frames/t"][:]

rebound = run.metrics["rebound"] - 0.1
print(f"rebound {rebound:.5f} m, closed form {e * e * h:.5f} m")
assert abs(rebound - e * e * h) < 1e-3

rest = first * (1 + e) / (1 - e)  # all bounces are over [s]
print(f"at rest after {rest:.4f} s: height then {abs(z[t > rest + 0.01]).max():.1e} m")
assert abs(z[t > rest + 0.01]).max() < 1e-6
