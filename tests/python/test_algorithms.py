"""Algorithms against each other, finite differences and closed forms, on random states."""
import itertools

import numpy as np
import pytest

import saltus

SCENES = ["bouncing-ball", "satellite", "tumbling-body", "three-balls", "p0/pegs"]


def tree(seed: int) -> saltus.Model:
    """A random tree with every kind of joint."""
    rng = np.random.default_rng(seed)
    builder = saltus.ModelBuilder(rng.normal(size=3))
    kinds = [saltus.Floating, saltus.Planar, saltus.Carrier, saltus.Spherical, saltus.Fixed,
             lambda: saltus.Revolute(rng.normal(size=3)),
             lambda: saltus.Prismatic(rng.normal(size=3))]

    def pose():
        q = rng.normal(size=4)
        return saltus.SE3(rng.normal(size=3), quaternion=q / np.linalg.norm(q))

    for i in range(12):
        kind = kinds[rng.integers(len(kinds))]() if i else saltus.Floating()
        parent = f"b{rng.integers(i)}" if i else "world"
        inertia = saltus.RigidInertia(rng.uniform(0.5, 2), rng.normal(size=3),
                                      saltus.solid_box(1.0, rng.uniform(0.5, 1.5, 3)))
        scalar = isinstance(kind, (saltus.Revolute, saltus.Prismatic))
        dofs = [saltus.JointDof(armature=rng.uniform(0, 0.3))] if scalar else []
        builder.body(f"b{i}", inertia,
                     saltus.JointSpec(kind, parent, placement=pose(), in_body=pose(), dofs=dofs))
    return builder.build()


def models():
    for seed in range(6):
        yield pytest.param(("tree", seed), id=f"tree{seed}")
    for name, coordinates in itertools.product(SCENES, ("minimal", "maximal")):
        if (name, coordinates) == ("three-balls", "maximal"):
            continue  # points of mass have no inertia to turn
        yield pytest.param((name, coordinates), id=f"{name}-{coordinates}")


@pytest.fixture(params=models())
def case(request):
    """A model, a random configuration and velocity, and a workspace with their kinematics."""
    kind, arg = request.param
    if kind == "tree":
        model, seed = tree(arg), arg
    else:
        scene = saltus.Scene(saltus.scene_path(kind), {"coordinates": arg})
        model, seed = scene.build()[0], 1
    rng = np.random.default_rng(100 + seed)
    q = saltus.advance(model, saltus.State(model).q, rng.normal(size=model.nv), 1.0)
    v = rng.normal(size=model.nv)
    work = saltus.Workspace(model)
    saltus.forward_kinematics(model, q, v, work)
    return model, q, v, work, rng


def test_inverse_and_forward_dynamics(case):
    model, q, v, work, rng = case
    work.external[:] = rng.normal(size=work.external.shape)
    a = rng.normal(size=model.nv)
    tau = saltus.rnea(model, a, work)
    scale = 1 + abs(tau).max()
    assert abs(saltus.aba(model, tau, work) - a).max() < 1e-8 * (1 + abs(a).max())
    M, bias = saltus.crba(model, work), saltus.bias_force(model, work)
    assert abs(M @ a + bias - tau).max() < 1e-10 * scale
    assert np.array_equal(M, work.M) and np.array_equal(bias, work.tau_bias)
    assert abs(M - M.T).max() < 1e-12 * abs(M).max()
    assert np.linalg.eigvalsh(M).min() > 0


def test_solve_mass(case):
    model, q, v, work, rng = case
    if any(c.dof.prescribed for c in model.coordinates):
        pytest.skip("prescribed velocities are held")
    M = saltus.crba(model, work)
    x = rng.normal(size=model.nv)
    assert abs(M @ saltus.solve_mass(model, x, work) - x).max() < 1e-8
    extra = rng.uniform(0.1, 1, size=model.nv)
    y = saltus.solve_mass(model, x, work, extra)
    assert abs((M + np.diag(extra)) @ y - x).max() < 1e-8


def test_energy_and_momentum(case):
    model, q, v, work, rng = case
    M = saltus.crba(model, work)
    T = saltus.kinetic_energy(model, v, work)
    assert T == pytest.approx(0.5 * v @ M @ v, rel=1e-10)
    linear, angular = saltus.momentum(model, work)
    h = 1e-6
    com = [saltus.centre_of_mass(model, at(model, q, v, s * h)) for s in (-1, 1)]
    rate = (com[1] - com[0]) / (2 * h)
    assert np.allclose(linear, model.total_mass * rate, atol=1e-6 * (1 + abs(linear).max()))
    assert angular.shape == (3,)
    height = saltus.gravity_energy(model, work)
    com0 = saltus.centre_of_mass(model, work)
    assert height == pytest.approx(-model.total_mass * model.gravity @ com0, abs=1e-9)


def at(model, q, v, h):
    work = saltus.Workspace(model)
    saltus.forward_kinematics(model, saltus.advance(model, q, v, h), v, work)
    return work


def test_jacobian(case):
    model, q, v, work, rng = case
    h = 1e-6
    before, after = at(model, q, v, -h), at(model, q, v, h)
    for i, name in enumerate(model.body_names):
        p = rng.normal(size=3)
        J = saltus.jacobian(model, work, name, p)
        world = work.R[i] @ p + work.r[i]
        assert np.allclose(J, saltus.point_jacobian(model, work, i, world), atol=1e-12)
        velocity = saltus.point_velocity(model, work, i, world)
        assert np.allclose(J[:3] @ v, velocity, atol=1e-10)
        numeric = (after.R[i] @ p + after.r[i] - before.R[i] @ p - before.r[i]) / (2 * h)
        assert np.allclose(velocity, numeric, atol=1e-6)
        assert np.allclose(J[3:] @ v, work.R[i] @ work.V[i, 3:], atol=1e-10)


def test_columns(case):
    model, q, v, work, rng = case
    for i, body in enumerate(model.bodies):
        assert np.allclose(work.R[i] @ work.R[i].T, np.eye(3), atol=1e-12)
        if body.parent < 0:
            own = slice(body.v0, body.v0 + body.nv)
            assert np.allclose(work.S[:, own] @ v[own], work.V[i], atol=1e-12)
    saltus.world_columns(model, work)
    assert work.S0.shape == (6, model.nv)


def test_potential_energy_has_springs():
    builder = saltus.ModelBuilder([0, 0, 0])
    dof = saltus.JointDof(stiffness=3.0, rest=0.5)
    builder.body("a", saltus.RigidInertia(1.0), saltus.JointSpec(saltus.Prismatic(), dofs=[dof]))
    model = builder.build()
    state, work = saltus.State(model), saltus.Workspace(model)
    state.q = [0.9]
    saltus.forward_kinematics(model, state, work)
    assert saltus.potential_energy(model, state, work) == pytest.approx(0.5 * 3 * 0.4**2)


def test_a_cut_joint_has_the_angle_of_a_tree_joint():
    angles = []
    for coordinates in ("minimal", "maximal"):
        model, _, state = saltus.Scene(saltus.scene_path("p0/pegs"),
                                       {"coordinates": coordinates}).build()
        work = saltus.Workspace(model)
        state.set_posture({"link1": [0.1, 0.2, 3.0], "link3": [7.0]}, {"link3": [0.5]})
        saltus.forward_kinematics(model, state, work)
        angles.append((saltus.coordinate_values(model, state, work),
                       saltus.coordinate_rates(model, state, work)))
    (x, dx), (y, dy) = angles
    assert np.allclose(x, y, atol=1e-12) and np.allclose(dx, dy, atol=1e-12)
    assert x[4] == pytest.approx(7.0) and dx[4] == pytest.approx(0.5)


def test_a_loop_is_that_of_the_scene():
    """scenes/loops/four-bar.yaml built by hand: the same motion."""
    scene = saltus.Scene(saltus.scene_path("loops/four-bar"))
    pin = saltus.Revolute([0, 1, 0])

    def body(mass, x, *moments):
        return saltus.RigidInertia(mass, [x, 0, 0], np.diag(moments))

    def at(x):
        return saltus.SE3([x, 0, 0])

    model = (saltus.ModelBuilder()
             .body("crank", body(4, 0.04, 0.06, 0.12, 0.06), saltus.JointSpec(pin))
             .body("coupler", body(2, 0.45, 0.0004, 0.1352, 0.1352),
                   saltus.JointSpec(pin, "crank", placement=at(0.3)))
             .body("rocker", body(1.5, 0.4, 0.0003, 0.0802, 0.0802),
                   saltus.JointSpec(pin, placement=at(1)))
             .loop("rocker", saltus.JointSpec(pin, "coupler", placement=at(0.9), in_body=at(0.8),
                                              name="closing")).build())
    theirs = saltus.Simulation(scene)
    state = saltus.State(model)
    state.set_posture({"crank": [-np.pi / 2], "coupler": [1.0263], "rocker": [-1.8626]})
    gap = state.close_loops()
    assert gap == pytest.approx(9.77e-6, rel=1e-2)
    assert state.close_loops() < 1e-12
    state.assign(saltus.State.from_bytes(model, theirs.state.to_bytes()))
    ours = saltus.Simulation(model, state=state)
    ours.step(200)
    theirs.step(200)
    assert np.array_equal(ours.state.q, theirs.state.q)


def test_a_loop_that_cannot_close_is_refused_and_nothing_changes():
    pin = saltus.Revolute([0, 1, 0])
    bar = saltus.RigidInertia(1, [0.1, 0, 0], np.diag([0.1, 0.1, 0.1]))
    model = (saltus.ModelBuilder().body("bar", bar, saltus.JointSpec(pin))
             .loop("bar", saltus.JointSpec(pin, placement=saltus.SE3([3, 0, 0]), name="far",
                                           in_body=saltus.SE3([1, 0, 0]))).build())
    state = saltus.State(model)
    state.q = [0.3]
    with pytest.raises(saltus.InputError, match="loop 'far' cannot be closed"):
        state.close_loops()
    assert state.q[0] == 0.3


def test_cylinder_and_hull():
    """A tin that stands and a wedge: where they rest, and the mass of the solid."""
    half = np.array([0.1, 0.2, 0.3])
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    hull = saltus.ConvexHull(np.vstack([corners, 0.5 * corners]))
    assert len(hull.vertices) == 8 and hull.volume == pytest.approx(8 * half.prod(), rel=1e-14)
    solid = hull.solid(2.0)
    assert solid.about_com == pytest.approx(saltus.solid_box(2.0, 2 * half), abs=1e-15)
    upright = saltus.SE3(rpy=[0, np.pi / 2, 0])
    tin = saltus.RigidInertia(1, about_com=np.diag([0.01, 0.01, 0.01]))
    model = (saltus.ModelBuilder()
             .body("stone", solid, saltus.JointSpec(saltus.Floating()))
             .body("tin", tin, saltus.JointSpec(saltus.Floating()))
             .shape("stone", "stone", hull).shape("tin", "tin", saltus.Cylinder(0.1, 0.2), upright)
             .shape("floor", "world", saltus.HalfSpace())
             .contact(["stone", "tin"], "floor", saltus.ContactLaw(0.5, rolling=1e-3)).build())
    sim = saltus.Simulation(model)
    sim.state.set_posture({"stone": [0, 0, 0.301, 1, 0, 0, 0], "tin": [1, 0, 0.201, 1, 0, 0, 0]})
    sim.step(100)
    assert sim.state.q[2] == pytest.approx(0.3, abs=1e-9)
    assert sim.state.q[9] == pytest.approx(0.2, abs=1e-9)
    assert len(sim.contacts()) >= 6, "both rest on faces"
    for points in (corners[:3], np.zeros((5, 3)), corners[:, :2], corners * np.nan):
        with pytest.raises(saltus.InputError):
            saltus.ConvexHull(points)


def test_snake_builder_is_the_scene():
    model = (saltus.ModelBuilder(planar=True, coordinates="minimal").snake()
             .shape("peg", "world", saltus.Peg(0.1), saltus.SE3([1, 0, 0]))
             .contact("peg", "link1", saltus.ContactLaw((0.1, 0.2), 0.5)).build())
    other = saltus.Scene(saltus.scene_path("p0/pegs"), {"coordinates": "minimal"}).build()[0]
    assert model.body_names == other.body_names
    assert model.total_mass == pytest.approx(other.total_mass) == pytest.approx(7.5)
    works = [saltus.Workspace(m) for m in (model, other)]
    for m, w in zip((model, other), works):
        saltus.forward_kinematics(m, saltus.State(m), w)
    assert np.allclose(saltus.crba(model, works[0]), saltus.crba(other, works[1]), atol=1e-12)
    kinds = [s["kind"] for s in model.slots]
    assert kinds[-1] == "support" and "contact" not in kinds, "contacts come and go"
    assert sum(s["rows"] for s in model.slots) == model.lambda_rows
