"""A soft rod falls on the ground and lies: Saltus beside PyElastica and MuJoCo's cable, with the processor time of each.

    python bench/rod_ground.py [--segments 100] [--E 1e6] [--end 0.3] [--binary build/release/bin/saltus] [--only NAME]

A round rod of 1 m, radius 1 cm and 1000 kg/m^3, clamped level 2 cm over the ground, is let go; it hits the ground and lies
on all of its length but the first 20 cm or so. No friction: PyElastica's contact with a plane has none and MuJoCo's is told
to have none. Ours is hard contact without restitution, every step to 1e-8 m/s, at 1 ms; the others have springs and
dampers at their contacts and run at the largest step of a list at which the motion stays finite and the tip ends where it
does at half the step, within 1 mm; MuJoCo has a cable before version 4 only. Processor time of stepping a second of physical time (the scene read, the programs
compiled and warm), how deep it sank, and where the tip ends. Needs what `make peers` installs, of each engine that is to be
in the table (`build/peers/bin/python bench/rod_ground.py`); an engine that is missing is named.
"""
import argparse
import json
import math
import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
LENGTH, RADIUS, RHO, HEIGHT, G = 1.0, 0.01, 1000.0, 0.02, 9.81
STEPS = [2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 1e-5, 5e-6, 2e-6]
SCENE = """saltus: 1
rods:
  - name: rod
    at: {{position: [0, 0, {z}]}}
    length: {length}
    segments: {segments}
    radius: {radius}
    material: {{E: {E}, nu: 0.5, rho: {rho}}}
    components: {components}
    basis: {basis}
    functions: 1
    points: {points}
    touches: 0
    shapes: [{{type: sphere, radius: {radius}}}]
obstacles: [{{name: ground, type: half-space}}]
contacts: [{{between: ["rod.*", ground]}}]
solver: {{tolerance: 1e-8}}
time: {{step: {dt}, end: {end}}}
output: {{interval: {end}}}
probes: [{{name: tip, body: rod.tip}}]
metrics:
  - {{name: x, type: position, probe: tip, axis: x, at: {end}}}
  - {{name: z, type: position, probe: tip, axis: z, at: {end}}}
"""


def saltus(a, segments, points, basis, components, dt=1e-3):
    """Processor time a second of the second half of a run [s], depth [m], tip; the rest is the start of the program."""
    text = {"z": HEIGHT + RADIUS, "length": LENGTH, "radius": RADIUS, "E": a.E, "rho": RHO, "segments": segments,
            "points": points, "basis": basis, "components": components, "dt": dt}
    with tempfile.TemporaryDirectory() as folder:
        scene = Path(folder) / "scene.yaml"

        def run(end):
            scene.write_text(SCENE.format(end=end, **text))
            child = subprocess.Popen([a.binary, "run", scene, "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            out = child.stdout.read()
            _, _, used = os.wait4(child.pid, 0)
            return used.ru_utime + used.ru_stime, json.loads(out)

        short, _ = run(dt)
        whole, found = run(a.end)
    assert found["status"] == "completed", found["status"]
    m = found["metrics"]
    return (whole - short) / a.end, found["max_penetration"], (m["x"], m["z"])


def elastica(a, n, dt):
    import elastica as ea

    class Simulator(ea.BaseSystemCollection, ea.Constraints, ea.Forcing, ea.Contact):
        pass

    def run(end):
        sim = Simulator()
        rod = ea.CosseratRod.straight_rod(
            n, np.array([0, 0, HEIGHT + RADIUS]), np.array([1.0, 0, 0]), np.array([0, 0, 1.0]), LENGTH, RADIUS, RHO,
            youngs_modulus=a.E, shear_modulus=a.E / 3)
        plane = ea.Plane(np.zeros(3), np.array([0, 0, 1.0]))
        sim.append(rod)
        sim.append(plane)
        sim.constrain(rod).using(ea.OneEndFixedBC, constrained_position_idx=(0,), constrained_director_idx=(0,))
        sim.add_forcing_to(rod).using(ea.GravityForces, acc_gravity=np.array([0, 0, -G]))
        # Near critical for an element of 3 g on a spring that its weight presses in by some micrometres.
        mass = RHO * math.pi * RADIUS**2 * LENGTH / n
        stiffness = mass * G / 3e-6
        sim.detect_contact_between(rod, plane).using(ea.RodPlaneContact, k=stiffness, nu=2 * math.sqrt(stiffness * mass))
        sim.finalize()
        stepper, t, deep = ea.PositionVerlet(), np.float64(0), 0.0
        begin = time.process_time()
        for i in range(round(end / dt)):
            t = stepper.step(sim, t, np.float64(dt))
            if i % 100 == 0:
                deep = max(deep, RADIUS - rod.position_collection[2].min())
        used = time.process_time() - begin
        x, _, z = rod.position_collection[:, -1]
        good = np.isfinite(rod.position_collection).all()
        return (used / end, deep, (float(x), float(z))) if good else None

    run(5 * dt)  # it compiles
    return run(a.end)


def mujoco(a, n, dt):
    import mujoco as mj
    h = LENGTH / n
    bodies = ""
    for i in range(n):  # the first is clamped
        joint = '<joint type="ball" damping="0" armature="0"/>' if i else ""
        bodies += (f'<body pos="{h if i else 0} 0 {0 if i else HEIGHT + RADIUS}">{joint}<geom type="capsule" size="{RADIUS}" '
                   f'fromto="0 0 0 {h} 0 0" mass="{RHO * math.pi * RADIUS**2 * h}" contype="1" conaffinity="2" condim="1"/>'
                   '<plugin instance="cable"/>')
    model = mj.MjModel.from_xml_string(f"""<mujoco>
  <extension><plugin plugin="mujoco.elasticity.cable"><instance name="cable"><config key="twist" value="{a.E / 3}"/>
    <config key="bend" value="{a.E}"/></instance></plugin></extension>
  <option timestep="{dt}" gravity="0 0 -{G}" integrator="implicitfast" tolerance="1e-8"/>
  <size memory="256M"/>
  <worldbody><geom type="plane" size="0 0 1" contype="2" conaffinity="1" condim="1"/>{bodies}{"</body>" * n}</worldbody>
</mujoco>""")
    data, deep = mj.MjData(model), 0.0
    mj.mj_forward(model, data)
    begin = time.process_time()
    for _ in range(round(a.end / dt / 10)):
        mj.mj_step(model, data, 10)
        deep = max(deep, -min(data.contact.dist, default=0))
    used = time.process_time() - begin
    tip = data.geom_xpos[-1] + data.geom_xmat[-1].reshape(3, 3)[:, 2] * model.geom_size[-1][1]
    if not np.isfinite(tip).all() or np.abs(tip).max() > 10:
        return None
    return used / a.end, deep, (float(tip[0]), float(tip[2]))


def largest_step(engine, a, n):
    """The largest step of the list that is stable, and what was found with it."""
    steps = [s for s in STEPS if s < a.end / 20]
    found = [engine(a, n, steps[0])]
    for dt, half in zip(steps, steps[1:]):
        found.append(engine(a, n, half))
        if found[-2] and found[-1] and math.dist(found[-2][2], found[-1][2]) < 1e-3:
            return dt, found[-2]
    return None, None


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--segments", type=int, default=100)
    p.add_argument("--E", type=float, default=1e6)
    p.add_argument("--end", type=float, default=0.3)
    p.add_argument("--binary", default=str(ROOT / "build/release/bin/saltus"))
    p.add_argument("--only", help="saltus, PyElastica or MuJoCo")
    a = p.parse_args()
    n = a.segments
    print(f"E = {a.E:g} Pa, {n} segments, {a.end:g} s\n{'':<44} {'step [s]':>9} {'s/s':>9} {'deepest':>9}  tip x, z [m]")

    def row(name, dt, found):
        time_s, deep, (x, z) = found
        print(f"{name:<44} {dt:>9.0e} {time_s:>9.3f} {deep:>9.1e}  {x:.6f} {z:.6f}", flush=True)

    if a.only in (None, "saltus"):
        for name, count, points, basis, components in (
                (f"Saltus, {n} pieces, bending and torsion", n, 1, "constant", "[torsion, bend_y, bend_z]"),
                (f"Saltus, {2 * n} pieces, the same", 2 * n, 1, "constant", "[torsion, bend_y, bend_z]"),
                (f"Saltus, {n // 5} linear pieces, {n} stations", n // 5, 5, "linear", "[torsion, bend_y, bend_z]"),
                (f"Saltus, {n} pieces, all six strains", n, 1, "constant",
                 "[stretch, shear_y, shear_z, torsion, bend_y, bend_z]")):
            row(name, 1e-3, saltus(a, count, points, basis, components))
    for name, engine in (("PyElastica", elastica), ("MuJoCo", mujoco)):
        if a.only not in (None, name):
            continue
        try:
            dt, found = largest_step(engine, a, n)
        except ImportError:
            print(f"{name:<44} not installed")
            continue
        except ValueError as e:  # MuJoCo 4: no plugin of that name
            print(f"{name:<44} {str(e).splitlines()[0]}")
            continue
        if found:
            row(f"{name}, {n} elements", dt, found)
        else:
            print(f"{name:<44} no step of the list is stable")


if __name__ == "__main__":
    main()
