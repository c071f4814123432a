"""saltus solve: the literature's problems to the residual of the literature or better, problems made
here, exit statuses and messages."""
import csv
import json
import math
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT / "../shared/fclib"
SHARED = SHARED if SHARED.is_dir() else None


def manifest():
    if not SHARED:
        return []
    with open(SHARED / "MANIFEST.csv", newline="") as f:
        return list(csv.DictReader(f))


@pytest.mark.skipif(not SHARED, reason="../shared/fclib is not here")
@pytest.mark.parametrize("entry", manifest(), ids=lambda e: e["file"])
def test_problem_of_the_literature(run, entry):
    """Relative residual at most 1e-8 and at most what Siconos reached; a rounding where it reached 0.

    The manifest gives two digits, and one rounding of the largest vector is 1.1e-16."""
    done = run("solve", SHARED / "problems" / entry["file"], "--json", timeout=120)
    assert done.code == 0, done.err
    got = json.loads(done.out)
    siconos = float(entry["siconos_rel_residual"])
    bound = max(min(1e-8, siconos * 1.05), 1.2e-16)
    print(f"{entry['file']}: {got['literature_relative']:.2e} (Siconos {siconos:.1e}), "
          f"{got['iterations']} iterations, {1e3 * got['seconds']:.2f} ms")
    assert got["literature_relative"] <= bound
    assert got["rows"] == int(entry["m"])
    assert got["converged"]


def dense(matrix):
    n, m = len(matrix), len(matrix[0])
    return f"0\n{n}\n{m}\n{n} {m}\n" + "\n".join(
        " ".join(repr(matrix[i][j]) for i in range(n)) for j in range(m)) + "\n"


def stack(n, ratio):
    """n spheres on each other as a global problem: three translations each, the top one heavier."""
    size = 3 * n
    mass = [1.0] * n
    mass[-1] = ratio
    M = [[mass[i // 3] if i == j else 0.0 for j in range(size)] for i in range(size)]
    H = [[0.0] * size for _ in range(size)]
    for c in range(n):
        for k, axis in enumerate((2, 0, 1)):  # normal up, then x, y
            H[3 * c + axis][3 * c + k] = 1.0
            if c > 0:
                H[3 * (c - 1) + axis][3 * c + k] = -1.0
    f = [mass[i // 3] * (-9.81e-3 if i % 3 == 2 else 0.0) for i in range(size)]
    return (f"3 {n}\n" + dense(M) + dense(H) + " ".join(map(repr, f)) + "\n"
            + " ".join(["0.0"] * size) + "\n" + " ".join(["0.5"] * n) + "\n")


@pytest.mark.parametrize("ratio", [1.0, 1e2, 1e4, 1e6])
def test_stack_of_any_mass_ratio(run, tmp_path, ratio):
    path = tmp_path / "stack.dat"
    path.write_text(stack(8, ratio))
    done = run("solve", path, "--json")
    assert done.code == 0, done.err
    got = json.loads(done.out)
    assert got["kind"] == "siconos global 3D"
    assert got["residual_m_s"] <= 1e-10
    assert got["literature_relative"] <= 1e-12
    assert got["iterations"] <= 60


def test_solvers_and_output(run, tmp_path):
    path = tmp_path / "stack.dat"
    path.write_text(stack(3, 2.0))
    for solver in ("auto", "newton", "sor", "jor"):
        done = run("solve", path, "--solver", solver, "--json", "--history", "--tolerance", "1e-9",
                   "-o", tmp_path / "out.json")
        assert done.code == 0, (solver, done.err)
        got = json.loads(done.out)
        assert got["solver"] == solver and got["residual_m_s"] <= 1e-9
        assert len(got["history"]) >= 1
        again = json.loads(run("solve", tmp_path / "out.json", "--json").out)
        assert again["sweeps"] <= 1  # its own solution as warm start; then the polish
    text = run("solve", path, path)
    assert text.code == 0 and text.out.count("residual of the literature") == 2
    assert len(json.loads(run("solve", path, path, "--json").out)) == 2


def test_closed_form(run, tmp_path):
    """One contact slides: Lambda = m (9.81 dt) (1, -mu, 0) for a block thrown along T1."""
    path = tmp_path / "slide.dat"
    path.write_text("3 1\n" + dense([[0.5, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.5]])
                    + "-1.0 3.0 0.0\n0.3\n")
    assert run("solve", path, "-o", tmp_path / "out.json").code == 0
    Lambda = json.loads((tmp_path / "out.json").read_text())["Lambda"]
    assert all(math.isclose(a, b, abs_tol=1e-15) for a, b in zip(Lambda, (2.0, -0.6, 0.0)))


def test_not_converged_is_status_1(run, tmp_path):
    path = tmp_path / "opposed.dat"  # two opposite contacts asked to part both ways: no solution
    path.write_text("2 2\n" + dense([[1.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, 0.0],
                                     [-1.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
                    + "-1.0 0.0 -1.0 0.0\n0.1 0.1\n")
    done = run("solve", path)
    assert done.code == 1
    assert "NOT converged" in done.out and "worst at contact" in done.out
    assert "has no solution: no velocity meets these blocks, the nearest misses by 1.00e+00 m/s" in done.out
    assert json.loads(run("solve", path, "--json").out)["no_solution"]["blocks"] == [0, 1]


@pytest.mark.parametrize("text, message", [
    ("", "the file is empty"),
    ("3\n1\n0\n3\n3\n3 3\n1 0 0 0", "the file ends within"),
    ("3 1\n0 3 3 3 3\n1 0 0 0 1 0 0 0 1\n0 0 0\n-1\n", "mu[0]: expected a number >= 0"),
    ("3 1\n0 3 3 3 3\n1 0 0 0 nan 0 0 0 1\n0 0 0\n1\n", "finite"),
    ("3 1\n0 3 3 3 3\n1 0.5 0 0 1 0 0 0 1\n0 0 0\n1\n", "not symmetric"),
    ("3 1\n0 3 3 3 3\n1 2 0 2 1 0 0 0 1\n0 0 0\n1\n", "indefinite"),
    ("{", "parse error at line 1"),
    ("\x89HDF\r\n\x1a\nnothing", ""),
])
def test_bad_input(run, tmp_path, text, message):
    path = tmp_path / "bad.dat"
    path.write_bytes(text.encode("latin-1"))
    done = run("solve", path)
    assert done.code == 2
    assert done.err.startswith(f"saltus: {path}") and message in done.err
    assert done.err.count("\n") == 1


def test_missing_file_and_folder(run, tmp_path):
    assert run("solve", tmp_path / "none.dat").code == 2
    assert run("solve", tmp_path).code == 2
    assert run("solve").code == 2
    assert run("solve", "x", "--solver", "magic").code == 2


def test_fuzz(run, tmp_path, soak):
    """Truncated anywhere: a message, never a crash."""
    text = stack(2, 1.0)
    cuts = range(0, len(text), 1 if soak else max(1, len(text) // 25))
    for cut in cuts:
        path = tmp_path / "cut.dat"
        path.write_text(text[:cut])
        assert run("solve", path).code in (0, 1, 2), cut
