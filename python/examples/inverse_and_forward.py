"""Forward dynamics undoes inverse dynamics; the mass matrix agrees with both."""
import numpy as np

import saltus

model, _, state = saltus.Scene(saltus.scene_path("p0/pegs"), {"coordinates": "minimal"}).build()
work = saltus.Workspace(model)
rng = np.random.default_rng(1)
q = saltus.advance(model, state.q, rng.normal(size=model.nv), 1.0)
v, a = rng.normal(size=(2, model.nv))

saltus.forward_kinematics(model, q, v, work)
work.external[:] = rng.normal(size=work.external.shape)  # wrenches from outside [N, N m]
tau = saltus.rnea(model, a, work)
back = saltus.aba(model, tau, work)
print(f"aba(rnea(a)) - a: {abs(back - a).max():.1e} m/s^2, rad/s^2")
assert abs(back - a).max() < 1e-9

M, bias = saltus.crba(model, work), saltus.bias_force(model, work)
print(f"M a + bias - tau: {abs(M @ a + bias - tau).max():.1e} N m, N")
assert abs(M @ a + bias - tau).max() < 1e-9
