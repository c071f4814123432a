"""The package as it is installed: stubs, docstrings, examples, the snippets of the page."""
import importlib.util
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import saltus

FOLDER = Path(saltus.__file__).parent


def test_version(repo):
    project = re.search(r"project\(saltus VERSION ([\d.]+)", (repo / "CMakeLists.txt").read_text())
    assert saltus.__version__ == project[1]


def test_stubs():
    assert (FOLDER / "py.typed").exists()
    stub = (FOLDER / "_core.pyi").read_text()
    compile(stub, "_core.pyi", "exec")
    for name in ("class State", "class Simulation", "def rnea", "def step", "_RunReader"):
        assert name in stub
    assert "std::" not in stub and "nanobind" not in stub  # every type is known to Python


def test_docstrings():
    """Every function and class says what it does; physical values have units."""
    for name in dir(saltus):
        thing = getattr(saltus, name)
        if name.startswith("_") or inspect.ismodule(thing) or not callable(thing):
            continue
        doc = inspect.getdoc(thing) or ""
        assert len(doc) > 20 or "[" in doc or inspect.isclass(thing) and doc, name
    for thing, unit in ((saltus.rnea, "N m"), (saltus.State.q, "rad"), (saltus.momentum, "N s"),
                        (saltus.Simulation.dt, "[s]"), (saltus.Peg.radius, "[m]")):
        assert unit in thing.__doc__


def examples():
    return sorted((Path(__file__).parents[2] / "python/examples").glob("*.py"))


@pytest.mark.parametrize("path", examples(), ids=lambda p: p.stem)
def test_example(path, tmp_path):
    done = subprocess.run([sys.executable, path], cwd=tmp_path, text=True, capture_output=True,
                          timeout=300)
    assert done.returncode == 0, done.stderr
    assert "assert" in path.read_text()
    print(done.stdout)


@pytest.mark.parametrize(("name", "least"), [("python.md", 5), ("from-drake-pinocchio.md", 2), ("studies.md", 1),
                                              ("capability.md", 1)])
def test_page(repo, tmp_path, monkeypatch, name, least):
    """The snippets of a page, one after the other in one namespace."""
    page = (repo / "docs" / name).read_text()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scenes").symlink_to(repo / "scenes")
    import matplotlib
    matplotlib.use("Agg")
    space: dict = {}
    snippets = re.findall(r"```python\n(.*?)```", page, re.S)
    assert len(snippets) >= least
    for text in snippets:
        exec(compile(text, name, "exec"), space)


def test_cost(repo):
    """bench/python_step.py: the same bits as C++, and sim.step(N) within 5 % of the C++ loop."""
    spec = importlib.util.spec_from_file_location("python_step", repo / "bench/python_step.py")
    bench = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bench)
    if not (repo / "build/release/bin/step_rate").exists():
        pytest.skip("step_rate is not built")
    for _ in range(4):  # other work on the machine may disturb a measurement
        best = bench.measure(steps=500, rounds=6)
        overhead = best["Python: sim.step(N)"] / best["C++ loop"] - 1
        print(f"overhead of sim.step(N): {100 * overhead:.1f} %")
        if overhead < 0.05:
            return
    pytest.fail(f"overhead of {100 * overhead:.1f} %")
