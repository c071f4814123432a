"""saltus.load: a robot file as a scene, with its report."""
import numpy as np
import pytest

import saltus

URDF = """<robot name="pendulum">
  <link name="base"/>
  <link name="rod">
    <inertial><origin xyz="0 0 -0.3"/><mass value="2"/>
      <inertia ixx="0.05" iyy="0.05" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/>
    <axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="3" velocity="7"/></joint>
</robot>
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "pendulum.urdf"
    path.write_text(URDF)
    return path


def test_a_robot_has_its_mass_matrix_and_bias(file):
    scene = saltus.load(file, base="fixed")
    model, _, _ = scene.build()
    work = saltus.Workspace(model)
    saltus.forward_kinematics(model, [0.4], [1.0], work)
    assert saltus.crba(model, work)[0, 0] == pytest.approx(0.05 + 2 * 0.3**2, rel=1e-14)
    assert saltus.bias_force(model, work)[0] == pytest.approx(2 * 9.81 * 0.3 * np.sin(0.4), rel=1e-13)


def test_a_base_without_mass_does_not_float(file):
    # The base could turn about the hinge alone: there is no inertia against it.
    with pytest.raises(saltus.InputError, match="pendulum.urdf:2: body 'base'.*inertia"):
        saltus.load(file, base="floating").build()
    file.write_text(URDF.replace('<link name="base"/>', """<link name="base"><inertial>
      <mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
      </inertial></link>"""))
    assert saltus.load(file, base="floating").build()[0].nv == 7


def test_the_report_names_what_is_not_used(file):
    report = saltus.load(file).report
    assert {n["item"] for n in report["unused"]} == {"<limit> effort", "<limit> velocity"}
    assert report["mass"] == 2 and report["dofs"] == 7


def test_it_runs_and_is_written_out(file):
    scene = saltus.load(file, "fixed", {"time.end": 0.05}).with_overrides({"initial": {"hinge": 0.3}})
    run = saltus.run(scene)
    again = saltus.run(saltus.Scene.from_text(scene.complete_text()))
    assert np.array_equal(run["frames/q"][-1], again["frames/q"][-1])
    assert scene.report is not None and saltus.Scene.from_text(scene.complete_text()).report is None


def test_a_scene_is_loaded_as_a_scene(file, tmp_path):
    path = tmp_path / "scene.yaml"
    path.write_text("saltus: 1\nrobots: [{file: pendulum.urdf, base: fixed}]\ntime: {end: 0.01}\n")
    assert saltus.load(path).build()[0].nv == 1


@pytest.mark.parametrize("base", ["welded", ""])
def test_an_unknown_base_is_refused(file, base):
    with pytest.raises(saltus.InputError, match="base: expected"):
        saltus.load(file, base=base)
