"""`saltus frequencies`: small motions about a rest and about a start in motion, against closed forms."""
import json
import math

import pytest

ROD = """saltus: 1
planar: true
gravity: [0, 0, 0]
rods:
  - {{name: rod, joint: {{type: {joint}}}, length: 1, components: [bend_z], functions: 12, points: 120,
      stiffness: [0, 0, 0, 0, 0, 1], inertia: [1, 0, 0, 0]}}
initial: {initial}
time: {{step: 0.01, end: 1}}
"""


def frequencies(run, scene, text, *more):
    scene.write_text(text)
    done = run("frequencies", scene, "--json", "--count", "1000", *more)
    assert done.code == 0, done.err
    return json.loads(done.out)


def vibrations(found):
    """Frequencies other than zero, the slowest first [rad/s]."""
    return [m["frequency"] for m in found["modes"] if m["frequency"] > 1e-2]


def test_a_clamped_and_a_free_rod(run, tmp_path):
    """VERIFY-P4 section 11 and VERIFY: beta L of clamped and of free ends; three motions that nothing drives back."""
    clamped = vibrations(frequencies(run, tmp_path / "s.yaml", ROD.format(joint="fixed", initial="{rod: {q: %s}}" % ([0] * 12))))
    for omega, beta in zip(clamped, (1.8751040687, 4.6940911330, 7.8547574382)):
        print(f"    clamped {omega:.9f}, {beta**2:.9f}")
        assert abs(omega / beta**2 - 1) < 3e-7
    found = frequencies(run, tmp_path / "s.yaml", ROD.format(joint="planar", initial="{rod.base: {q: [-0.5, 0, 0]}}"))
    free = vibrations(found)
    assert len(found["modes"]) - len(free) == 3
    for omega, exact in zip(free, (22.37328545, 61.67282287, 120.90339173)):
        print(f"    free {omega:.9f}, {exact:.9f}")
        # The tip of a rod with twelve functions has next to no inertia of its own: the elimination towards it loses digits.
        assert abs(omega / exact - 1) < 2e-5


def test_a_spinning_rod_is_stiffer(run, tmp_path):
    """VERIFY-P4 section 11: 26.558 at 10 rad/s, inextensible and without rotary inertia; without what the tension does
    it would be 20."""
    found = frequencies(run, tmp_path / "s.yaml",
                        ROD.format(joint="planar", initial="{rod.base: {q: [-0.5, 0, 0], v: [0, -5, 10]}}"))
    print(f"    {vibrations(found)[:4]}, accelerations {found['unsteady']:.1e}")
    assert found["unsteady"] < 1e-9
    assert any(abs(omega - 26.558) < 2e-3 for omega in vibrations(found))
    # The same about another pose: nothing depends on it.
    turned = frequencies(run, tmp_path / "s.yaml",
                         ROD.format(joint="planar", initial="{rod.base: {q: [-0.4, -0.3, %.16g], v: [3, -4, 10]}}"
                                    % math.atan2(.3, .4)))
    assert turned["unsteady"] < 1e-7  # of 100 m/s^2, rounded where the tip has next to no inertia
    first, again = (min(vibrations(x), key=lambda omega: abs(omega - 26.558)) for x in (found, turned))
    assert abs(first / again - 1) < 2e-5  # as above


MODES = """saltus: 1
planar: true
gravity: [0, 0, 0]
rods:
  - {{name: rod, joint: {{type: {joint}}}, length: 1, components: [bend_z], basis: {basis}, functions: {count}, points: 120,
      stiffness: [0, 0, 0, 0, 0, 1], inertia: [1, 0, 0, 0]}}
initial: {initial}
time: {{step: 0.01, end: 1}}
"""


@pytest.mark.parametrize("basis, joint, betas", [
    ("clamped-modes", "fixed", (1.8751040687, 4.6940911330, 7.8547574382)),
    ("free-modes", "planar", (4.7300407449, 7.8532046241, 10.9956078380)),
])
def test_a_flexible_body_by_its_modes(run, tmp_path, basis, joint, betas):
    """A frame that moves and three modes of the rod: three frequencies, those of the full rod."""
    initial = "{rod.base: {q: [-0.5, 0, 0]}}" if joint == "planar" else "{rod: {q: [0, 0, 0]}}"
    found = vibrations(frequencies(run, tmp_path / "s.yaml", MODES.format(basis=basis, joint=joint, count=3, initial=initial)))
    print(f"    {basis}: {found}, {[b * b for b in betas]}")
    assert len(found) == 3
    assert all(abs(omega / b**2 - 1) < 1e-6 for omega, b in zip(found, betas))


def test_by_its_modes_it_stiffens_as_it_spins(run, tmp_path):
    """At 10 rad/s 26.558, as the full rod: the columns of a mode are those of the bent rod, tension does its work on them."""
    initial = "{rod.base: {q: [-0.5, 0, 0], v: [0, -5, 10]}}"
    found = vibrations(frequencies(run, tmp_path / "s.yaml",
                                   MODES.format(basis="free-modes", joint="planar", count=5, initial=initial)))
    print(f"    {found}")
    assert any(abs(omega - 26.558) < 5e-3 for omega in found)


def test_an_oscillator_and_a_pendulum(run, tmp_path):
    """m x'' + d x' + k x = 0: the rates of the damped oscillator; a hanging bar: sqrt(m g l/I) about its hinge."""
    found = frequencies(run, tmp_path / "s.yaml", """saltus: 1
bodies:
  - {name: mass, mass: 2, inertia: [1, 1, 1], joint: {type: prismatic, axis: [1, 0, 0], stiffness: 50, damping: 4}}
  - {name: bar, mass: 3, com: [0, 0, -0.4], inertia: [0.1, 0.2, 0.1], joint: {type: revolute, axis: [0, 1, 0]}}
initial: {bar: 0.3}
time: {step: 0.01, end: 1}
""")
    bar, mass = found["modes"] if found["modes"][0]["largest"] == "bar" else found["modes"][::-1]
    assert abs(mass["frequency"] - math.sqrt(50 / 2 - 1)) < 1e-9 and abs(mass["growth"] + 1) < 1e-9
    assert abs(mass["damping"] - 1 / 5) < 1e-9
    assert abs(bar["frequency"] - math.sqrt(3 * 9.81 * 0.4 / (0.2 + 3 * 0.16))) < 1e-7


def test_a_pendulum_on_its_head_grows(run, tmp_path):
    found = frequencies(run, tmp_path / "s.yaml", """saltus: 1
bodies: [{name: bar, mass: 3, com: [0, 0, 0.4], inertia: [0.1, 0.2, 0.1], joint: {type: revolute, axis: [0, 1, 0]}}]
time: {step: 0.01, end: 1}
""", "--start")
    rate = math.sqrt(3 * 9.81 * 0.4 / (0.2 + 3 * 0.16))
    assert any(abs(m["growth"] - rate) < 1e-7 and m["frequency"] == 0 for m in found["modes"])


def test_a_spinning_top_in_space(run, tmp_path):
    """A free body that spins about its axis 3: it wobbles at n sqrt((C - A)(C - B)/(A B)), whatever it is turned by."""
    A, B, C, n = 1.0, 1.5, 2.0, 3.0
    found = frequencies(run, tmp_path / "s.yaml", f"""saltus: 1
gravity: [0, 0, 0]
bodies: [{{name: top, mass: 1, inertia: [{A}, {B}, {C}], joint: {{type: floating}}}}]
initial: {{top: {{q: [0.1, 0.2, 0.3, 0.8, 0, 0.6, 0], v: [0.5, -0.2, 0.1, 0, 0, {n}]}}}}
time: {{step: 0.01, end: 1}}
""")
    wobble = n * math.sqrt((C - A) * (C - B) / (A * B))
    print(f"    {[m['frequency'] for m in found['modes']]}, {wobble}")
    assert any(abs(m["frequency"] - wobble) < 1e-7 and abs(m["growth"]) < 1e-6 for m in found["modes"])


@pytest.mark.parametrize("change, message", [
    (("time:", "pushes: [{body: bar, impulse: [1, 0, 0], at: 0.5}]\ntime:"), "got pushes"),
    (("time:", "motors: [{joints: bar, kp: 10, lag: 0.1}]\ntime:"), "a motor of 'bar' with a lag or backlash"),
])
def test_bad_input(run, tmp_path, change, message):
    scene = tmp_path / "s.yaml"
    scene.write_text("""saltus: 1
bodies: [{name: bar, mass: 3, com: [0, 0, -0.4], inertia: [0.1, 0.2, 0.1], joint: {type: revolute, axis: [0, 1, 0]}}]
time: {step: 0.01, end: 1}
""".replace(*change))
    done = run("frequencies", scene, "--start")
    assert done.code == 2 and message in done.err, done.err
