"""The two storages of a mechanism as a user sees them: chosen in the scene, told in the summary, the run
file and Python, refused with a reason. That they move alike is storage_test's (C++)."""

import json

import pytest

STAND = "p2/stand.yaml"


@pytest.mark.parametrize("asked, ran", [("auto", "paths"), ("paths", "paths"), ("forest", "forest")])
def test_summary_and_run_file_say_which_ran(run, scenes, tmp_path, asked, ran):
    file = tmp_path / "run.h5"
    done = run("run", scenes / STAND, "--json", "--set", f"integrator.storage={asked}", "--set", "time.end=0.05",
               "-o", file)
    assert done.code == 0, done.err
    assert json.loads(done.out)["storage"] == ran
    saltus = pytest.importorskip("saltus")
    assert saltus.Run(file).header["storage"] == ran
    text = run("run", scenes / STAND, "--set", f"integrator.storage={asked}", "--set", "time.end=0.05")
    assert f"auto on {ran}," in text.out


def test_a_long_chain_is_a_forest(run, scenes):
    done = run("run", scenes / "p0/pegs.yaml", "--json", "--set", "time.end=0.01")
    assert done.code == 0 and json.loads(done.out)["storage"] == "forest"


@pytest.mark.parametrize("scene, change, why", [
    ("p0/pegs.yaml", None, "cuts or loops"),
    (STAND, "integrator.impact=poisson", "impact law poisson"),
])
def test_paths_are_refused_with_a_reason(run, scenes, scene, change, why):
    sets = ["--set", "integrator.storage=paths"] + (["--set", change] if change else [])
    done = run("run", scenes / scene, *sets)
    assert done.code == 2 and "integrator.storage" in done.err and why in done.err, done.err


def test_python_chooses_and_is_told(scenes):
    saltus = pytest.importorskip("saltus")
    model, _, _ = saltus.load(scenes / STAND).build()
    for storage, ran in (("auto", "paths"), ("forest", "forest"), ("paths", "paths")):
        options = saltus.MoreauMidpoint(1e-3, storage=storage)
        assert options.storage == storage
        simulation = saltus.Simulation(model, options=options)
        assert simulation.step(3).storage == ran
    with pytest.raises(saltus.InputError, match="storage"):
        saltus.MoreauMidpoint(1e-3, storage="heap")
