"""A pendulum built in Python, released at 1 rad: its period beside the elliptic integral."""
import math

import numpy as np

import saltus

length, mass, start = 0.5, 1.2, 1.0  # [m], [kg], [rad]
inertia = saltus.solid_cylinder(mass, 0.01, length)  # along x
hinge = saltus.JointSpec(saltus.Revolute([0, 1, 0]), in_body=saltus.SE3([-length / 2, 0, 0]))
model = (saltus.ModelBuilder(gravity=[0, 0, -9.81])
         .body("rod", saltus.RigidInertia(mass, about_com=inertia), hinge)
         .build())

state = saltus.State(model)
state.q[0] = math.pi / 2 - start  # a turn by pi/2 about y lets the rod hang down
sim = saltus.Simulation(model, state=state, options=saltus.MoreauMidpoint(dt=1e-3))
turns = []  # times at which the rod stands still [s]
for _ in range(4000):
    t, before = sim.t, sim.state.v[0]
    sim.step()
    after = sim.state.v[0]
    if t > 0 and before * after < 0:
        turns.append(t + sim.dt * before / (before - after))

omega = math.sqrt(mass * 9.81 * length / 2 / (inertia[1, 1] + mass * length**2 / 4))
a, b = 1.0, math.cos(start / 2)
while abs(a - b) > 1e-15:
    a, b = (a + b) / 2, math.sqrt(a * b)  # arithmetic-geometric mean
exact = 2 * math.pi / omega / a
period = 2 * np.mean(np.diff(turns))
print(f"period {period:.6f} s, exact {exact:.6f} s")
assert abs(period / exact - 1) < 1e-5
