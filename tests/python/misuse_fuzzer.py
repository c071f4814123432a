"""Calls everything that saltus offers with random arguments, many of them wrong.

    misuse_fuzzer.py SEED CALLS       exit status 0: only typed exceptions came back"""
import collections
import gc
import inspect
import random
import re
import sys
import warnings

import numpy as np

import saltus

ALLOWED = (saltus.Error, TypeError, ValueError, IndexError, OverflowError, MemoryError,
           AttributeError, KeyError)
SKIP = {"resume", "run", "Run", "Series"}  # files: test_run.py
PEGS = saltus.scene_path("p0/pegs")


def junk(rng: random.Random):
    n = rng.choice([0, 1, 2, 3, 4, 6, 7, 11, 13, 33, 34])
    return rng.choice([
        lambda: None, lambda: rng.choice([-1, 0, 1, 2, 3, 7, 2**31, 2**63, 2**70, -2**40, True]),
        lambda: rng.choice([0.0, -1.0, 1e-3, 0.5, 1e300, 1e-300, np.nan, np.inf, -np.inf]),
        lambda: rng.choice(["", "world", "link1", "joint1", "rod", "peg1", "maximal", "\ud800",
                            "x" * 999]),
        lambda: rng.choice([b"", b"abc", bytearray(8), object(), {}, {"a": 1}, set(), len, int]),
        lambda: np.full(n, rng.choice([0.0, 1.0, np.nan, 1e200])),
        lambda: np.random.default_rng(n).normal(size=(n, rng.choice([1, 3, n]))),
        lambda: np.zeros(2 * n)[::2], lambda: np.arange(n), lambda: np.zeros(n, complex),
        lambda: np.array([None] * n, object), lambda: np.zeros(n, np.float32)[::-1],
        lambda: [0.0] * n, lambda: [[1, 2], [3]], lambda: [rng.random() for _ in range(n)],
    ])()


def signature(call) -> list[list[str]]:
    """The types of the arguments of one of its overloads, as the docstring begins."""
    init = call.__init__ if inspect.isclass(call) else call
    lines = [x for x in (init.__doc__ or "").splitlines() if re.match(r"\d*\.? ?``?\w+\(|\w+\(", x)]
    types = []
    for line in lines[:2]:
        inner = line[line.index("(") + 1:line.rindex(")")]
        types.append([t.strip() for t in re.findall(r"\w+: ([\w.\[\] |]+)", inner)])
    return types


def fitting(kind: str, rng: random.Random, pool: list):
    """An argument of about that type; now and then of none."""
    if rng.random() < 0.12:
        return junk(rng)
    if "ArrayLike" in kind:
        n = rng.choice([1, 3, 3, 4, 6, 7, 13, 13, 13, 33, 33])
        values = [0.0, 0.1, 1.0, -2.0] if rng.random() < 0.9 else [np.nan, np.inf, 1e200]
        shape = (n, n) if rng.random() < 0.15 else n
        return np.random.default_rng(rng.randrange(99)).choice(values, shape)
    if kind.endswith("int") or kind == "int":
        return rng.choice([0, 1, 2, 3, 5, -1, 12])
    if "str" in kind and rng.random() < 0.8:
        return rng.choice(["link1", "link2", "joint1", "ball", "world", "rod", "a", "b", "sor"])
    if kind.startswith("float"):
        return rng.choice([0.0, 0.5, 1.0, 1e-3, 10.0, -1.0, np.nan, np.inf, 1e300])
    names = set(re.findall(r"\w+", kind))
    fits = [x for x in pool if type(x).__name__ in names]
    return rng.choice(fits) if fits else junk(rng)


def targets():
    """Callables by name: functions, classes, and methods of live objects."""
    for name in dir(saltus):
        thing = getattr(saltus, name)
        if not name.startswith("_") and name not in SKIP and callable(thing):
            if not (inspect.isclass(thing) and issubclass(thing, (Exception, Warning))):
                yield name, thing


def objects():
    model, actuation, state = saltus.Scene(PEGS, {"coordinates": "minimal"}).build()
    other, _, other_state = saltus.Scene(saltus.scene_path("bouncing-ball")).build()
    step_work = saltus.StepWorkspace(model)
    saltus.forward_kinematics(model, state, step_work.work)
    return [model, actuation, state, step_work, step_work.work, other, other_state,
            saltus.Simulation(saltus.Scene(PEGS)), saltus.Simulation(other),
            saltus.ModelBuilder(), saltus.JointSpec(saltus.Revolute()), saltus.RigidInertia(1.0),
            saltus.SE3(), saltus.Sphere(1.0), saltus.Capsule(1, 1), saltus.ContactLaw(),
            saltus.Sine(1, 1), saltus.Table([0, 1], [0, 1]), saltus.MoreauMidpoint(),
            saltus.Scene(PEGS), saltus.Revolute(), saltus.Floating(), saltus.JointDof(),
            saltus.MoreauImpact(0.5), saltus.ChainImpact(energetic=0.9), saltus.PoissonImpact(),
            model.bodies[0], model.coordinates[0], model.shapes[0], saltus.Workspace(other)]


def main(seed: int, calls: int) -> None:
    rng = random.Random(seed)
    warnings.simplefilter("ignore")
    functions = list(targets())
    pool = objects()
    outcomes: collections.Counter[str] = collections.Counter()
    trail: collections.deque[str] = collections.deque(maxlen=5)
    for i in range(calls):
        if rng.random() < 0.5:
            name, call = rng.choice(functions)
        else:
            owner = rng.choice(pool)
            name = rng.choice([n for n in dir(owner) if not n.startswith("__") or n in (
                "__init__", "__eq__", "__repr__", "__mul__", "__copy__", "__deepcopy__")])
            if rng.random() < 0.15:  # set an attribute
                call, name = (lambda x, o=owner, n=name: setattr(o, n, x)), f"set {name}"
            else:
                try:
                    value = getattr(owner, name)
                except ALLOWED as e:  # a property that has nothing to show may refuse
                    outcomes[type(e).__name__] += 1
                    continue
                call = value if callable(value) else (lambda *_, v=value: repr(v))
            name = f"{type(owner).__name__}.{name}"
        known = signature(call)
        if known and rng.random() < 0.8:
            arguments = [fitting(kind, rng, pool) for kind in rng.choice(known)]
        else:
            arguments = [rng.choice(pool) if rng.random() < 0.55 else junk(rng)
                         for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 3, 4, 5]))]
        if name.endswith("step"):  # what takes years is no misuse
            arguments = [min(a, 20) if isinstance(a, int) and a < 2**63 else a for a in arguments]
        trail.append(f"{name}({', '.join(type(a).__name__ for a in arguments)})")
        try:
            result = call(*arguments)
            outcomes["returned"] += 1
            if type(result).__module__.startswith("saltus") and len(pool) < 200:
                pool.append(result)
        except ALLOWED as e:
            outcomes[type(e).__name__] += 1
        except BaseException:
            print("\n".join(trail))
            raise
        if i % 500 == 499:
            gc.collect()
            pool = [*objects(), *rng.sample(pool, min(40, len(pool)))]
    print(dict(outcomes))


main(int(sys.argv[1]), int(sys.argv[2]))
