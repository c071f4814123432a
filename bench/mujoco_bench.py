"""MuJoCo (CG): the snake with a sphere contact a link, and the sphere pile.

Prints the same JSON as the C++ programs: the least time of a step over repetitions, in ns.
"""
import json
import math
import sys
import time

import mujoco
import numpy as np

LENGTH, RADIUS, MASS, MU = 0.122, 0.0525, 7.5 / 11, 0.2
OPTION = ('<option timestep="0.001" solver="CG" tolerance="1e-8" iterations="200" '
          'integrator="implicitfast"/>')


def snake(links):
    """By MjSpec: the XML reader stops at a nesting of 500."""
    spec = mujoco.MjSpec.from_string(
        f'<mujoco>{OPTION}<size memory="1G"/><worldbody><geom type="plane" size="0 0 1" '
        f'contype="2" conaffinity="1" friction="{MU}"/></worldbody></mujoco>')
    body = spec.worldbody
    for i in range(links):
        body = body.add_body(pos=[0, 0, RADIUS] if i == 0 else [LENGTH, 0, 0])
        if i == 0:
            body.add_freejoint()
        else:
            body.add_joint(name=f"j{i}", type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1],
                           pos=[-LENGTH / 2, 0, 0])
            drive = spec.add_actuator(name=f"m{i}", target=f"j{i}",
                                      trntype=mujoco.mjtTrn.mjTRN_JOINT)
            # P0's stiffness of 800 N m/rad is not stable here at 1 ms: the spring is explicit.
            drive.set_to_position(kp=20, kv=2)
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[RADIUS, 0, 0], mass=MASS,
                      contype=1, conaffinity=2, friction=[MU, 0.005, 0.0001])
    return spec.compile()


def pile(spheres):
    r, wide, state, bodies = 0.05, 9, 1, ""

    def jitter():  # as bench/peer_scenes.h
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return ((state >> 33) / 2147483648.0 - 0.5) * 0.08 * r

    for i in range(spheres):
        a, b, c = i % wide, i // wide % wide, i // (wide * wide)
        x = (a - 0.5 * (wide - 1)) * 2.2 * r * 0.98 + jitter()
        y = (b - 0.5 * (wide - 1)) * 2.2 * r * 0.98 + jitter()
        z = 1.1 * r + c * 2.2 * r + jitter()
        bodies += (f'<body pos="{x} {y} {z}"><freejoint/>'
                   f'<geom type="sphere" size="{r}" density="1000" friction="0.5"/></body>')
    d = 10 * r
    walls = "".join(
        f'<geom type="plane" size="0 0 1" pos="{p}" zaxis="{n}" friction="0.5"/>'
        for p, n in (("0 0 0", "0 0 1"), (f"{-d} 0 0", "1 0 0"), (f"{d} 0 0", "-1 0 0"),
                     (f"0 {-d} 0", "0 1 0"), (f"0 {d} 0", "0 -1 0")))
    return mujoco.MjModel.from_xml_string(
        f'<mujoco>{OPTION}<size memory="2G"/><worldbody>{walls}{bodies}</worldbody></mujoco>')


def time_steps(model, warm_up, steps, repetitions):
    """The least time of a step [ns] and the number of contacts; a snake follows P0's gait."""
    data = mujoco.MjData(model)

    def run(count):
        used = 0
        for first in range(0, count, 10):  # the gait is slow: a new reference every 10 ms
            data.ctrl[:] = math.radians(40) * np.sin(
                math.radians(80) * data.time - math.radians(50) * np.arange(model.nu))
            start = time.process_time_ns()
            mujoco.mj_step(model, data, min(10, count - first))  # the loop is in C
            used += time.process_time_ns() - start
        return used / count

    data.qpos[7:7 + model.nu] = math.radians(40) * np.sin(-math.radians(50) * np.arange(model.nu))
    run(warm_up)
    return min(run(steps) for _ in range(repetitions)), data.ncon


def main():
    wanted = sys.argv[1:] or ["snake", "pile"]
    rows = []
    if "snake" in wanted:
        for links, steps in ((11, 500), (50, 100), (200, 20), (1000, 2)):
            rows.append((f"snake/N={links}/mujoco", *time_steps(snake(links), 30, steps, 4)))
    if "pile" in wanted:
        rows.append(("pile/1000 spheres/mujoco", *time_steps(pile(1000), 300, 10, 3)))
    print(json.dumps({"version": mujoco.__version__, "benchmarks": [
        {"name": f"{n}_min", "run_name": n, "aggregate_name": "min", "cpu_time": t,
         "time_unit": "ns", "contacts": contacts} for n, t, contacts in rows]}))


main()
