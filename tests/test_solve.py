"""saltus solve: the literature's problems to the residual of the literature or better, problems made
here, exit statuses and messages."""
import csv
import json
import math
from pathlib import Path

import numpy as np
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
        assert (got["before"] == "") == (got["before_gave_up"] == "no")
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


# --- files as they are found: lost digits, unsymmetric, large -------------------------------------

def tower(boxes, digits, mu=0.6):
    """Boxes on four points each: 12 rows an interface of rank 6, printed with so many digits."""
    random = np.random.default_rng(4)
    mass = np.exp(random.uniform(-1, 1, boxes))
    columns = []
    for k in range(boxes):
        for x, y in ((-.2, -.2), (-.2, .2), (.2, -.2), (.2, .2)):
            point = np.array([x, y, 0.5 * k]) + 0.03 * np.append(random.normal(size=2), 0)
            normal = np.array([0, 0, 1]) + 0.01 * random.normal(size=3)
            normal /= np.linalg.norm(normal)
            first = np.cross(normal, [1, 0, 0])
            first /= np.linalg.norm(first)
            for axis in (normal, first, np.cross(normal, first)):
                column = np.zeros(6 * boxes)
                for body, side in ((k, 1), (k - 1, -1)):
                    if body < 0:
                        continue
                    arm = point - [0, 0, 0.5 * body + 0.25]
                    column[6 * body:6 * body + 3] = side * axis
                    column[6 * body + 3:6 * body + 6] = side * np.cross(arm, axis)
                columns.append(column)
    H = np.array(columns).T
    inverse = np.concatenate([[1 / m] * 3 + [24 / m] * 3 for m in mass])
    v = 0.002 * random.normal(size=6 * boxes)
    v[2::6] -= 9.81e-3
    text = np.vectorize(lambda x: f"{x:.{digits}g}")
    W, q = text(H.T @ (inverse[:, None] * H)), text(H.T @ v)
    m = len(q)
    return (f"3 {m // 3}\n0 {m} {m}\n{m} {m}\n" + "\n".join(" ".join(column) for column in W.T) + "\n"
            + " ".join(q) + "\n" + " ".join([str(mu)] * (m // 3)) + "\n"), W.astype(float), q.astype(float)


def relative_residual(W, q, r, mu):
    """Of the literature, 3D, written here a second time: ../shared/fclib/README.md."""
    u = W @ r + q
    square = 0.0
    for c in range(len(q) // 3):
        x = r[3 * c:3 * c + 3] - u[3 * c:3 * c + 3]
        x[0] -= mu * np.hypot(*u[3 * c + 1:3 * c + 3])
        t = np.hypot(x[1], x[2])
        if mu * t <= -x[0]:
            x = np.zeros(3)
        elif t > mu * x[0]:
            n = (x[0] + mu * t) / (1 + mu * mu)
            x = np.array([n, mu * n * x[1] / t, mu * n * x[2] / t])
        square += ((r[3 * c:3 * c + 3] - x)**2).sum()
    return math.sqrt(square) / max(map(np.linalg.norm, (q, r, u)))


@pytest.mark.parametrize("digits", [7, 8])
def test_digits_lost_in_printing(run, tmp_path, digits):
    """A singular matrix that was rounded is indefinite: it is solved, judged on the file's own, and said so."""
    text, W, q = tower(4, digits)
    spectrum = np.linalg.eigvalsh((W + W.T) / 2)
    assert spectrum[0] < -1e-9 * spectrum[-1], "the file is of the kind that is meant"
    path = tmp_path / "tower.dat"
    path.write_text(text)
    done = run("solve", path, "--json", "-o", tmp_path / "out.json", timeout=120)
    got = json.loads(done.out)
    assert done.code == 0, got
    assert got["indefinite"] > 0 and "lost digits" in run("solve", path, timeout=120).out
    r = np.array(json.loads((tmp_path / "out.json").read_text())["Lambda"])
    ours = relative_residual(W, q, r, 0.6)
    print(f"{digits} digits: least eigenvalue {spectrum[0] / spectrum[-1]:.1e} of the largest, residual {ours:.1e}")
    assert ours <= 1e-8
    assert ours == pytest.approx(got["literature_relative"], rel=1e-3, abs=1e-12)


def triplet(entries, rows, columns):
    return (f"2 {rows} {columns}\n1\nCSparse\ntriplet: {rows}-by-{columns}, nzmax: {len(entries)} nnz: {len(entries)}\n"
            + "".join(f"{i} {j} : {float(x)!r}\n" for i, j, x in entries))


def pile(layers, width, mu=0.5, skew=0.0):
    """Discs that lie on each other in the plane, normals turned a little as of stones; M with `skew` above
    its diagonal. The text and its M, H, f as matrices."""
    random = np.random.default_rng(1)
    index = {(k, i): 0 for k in range(layers) for i in range(width - k % 2)}
    for number, key in enumerate(index):
        index[key] = number
    place = np.array([(i + 0.5 * (k % 2), k * math.sqrt(3) / 2 + 0.5) for k, i in index])
    contacts = []
    for (k, i), a in index.items():
        if k == 0:
            contacts.append((a, -1, np.array([0, 1.0])))
        for d in (0, -1) if k % 2 == 0 else (0, 1):
            if (k - 1, i + d) in index:
                contacts.append((a, index[k - 1, i + d], None))
        if k % 2 == 0 and i in (0, width - 1):
            contacts.append((a, -1, np.array([1.0 if i == 0 else -1.0, 0])))
    mass = random.uniform(0.05, 0.15, len(index))
    weights = np.stack([mass, mass, mass / 8], axis=1).ravel()
    M = [(n, n, x) for n, x in enumerate(weights)]
    if skew:
        M += [(3 * a, 3 * a + 1, skew * mass[a]) for a in range(len(mass))]
    H = []
    for c, (a, b, normal) in enumerate(contacts):
        if normal is None:
            angle = 0.05 * random.normal()
            d = (place[a] - place[b]) / np.linalg.norm(place[a] - place[b])
            normal = np.array([d[0] * math.cos(angle) - d[1] * math.sin(angle),
                               d[0] * math.sin(angle) + d[1] * math.cos(angle)])
        along = np.array([-normal[1], normal[0]])
        for body, side in ((a, 1), (b, -1)):
            if body < 0:
                continue
            arm = -0.5 * side * normal
            for row, axis in ((2 * c, normal), (2 * c + 1, along)):
                H += [(3 * body, row, side * axis[0]), (3 * body + 1, row, side * axis[1]),
                      (3 * body + 2, row, side * (arm[0] * axis[1] - arm[1] * axis[0]))]
    f = weights * 0.01 * random.normal(size=len(weights))
    f[1::3] -= mass * 9.81e-3
    n, m = len(weights), 2 * len(contacts)
    text = (f"2 {len(contacts)}\n" + triplet(M, n, n) + triplet(H, n, m) + " ".join(map(repr, map(float, f))) + "\n"
            + " ".join(["0"] * m) + "\n" + " ".join([str(mu)] * len(contacts)) + "\n")
    dense = [np.zeros((n, n)), np.zeros((n, m))]
    if n * m < 1e6:
        for A, entries in zip(dense, (M, H)):
            for i, j, x in entries:
                A[i, j] += x
    return text, *dense, f, len(contacts)


def rocks(layers, width, mu, ratio, points):
    """Blocks in space on blocks, `points` contacts on each face with normals turned a little (more than three are
    redundant), and walls beside some; masses up to `ratio` times the least. The text and how many contacts."""
    random = np.random.default_rng(layers + points)
    index = {key: number for number, key in enumerate(
        (k, i, j) for k in range(layers) for i in range(width) for j in range(width))}
    place = np.array(list(index), dtype=float)[:, [1, 2, 0]] + [0, 0, 0.5]
    place[:, :2] += 0.05 * random.normal(size=(len(index), 2))
    mass = np.exp(random.uniform(0, math.log(ratio), len(index)))
    contacts = []
    for (k, i, j), a in index.items():
        below = index[k - 1, i, j] if k else -1
        for angle in 2 * math.pi * np.arange(points) / points:
            point = np.array([i + 0.35 * math.cos(angle), j + 0.35 * math.sin(angle), k]) + 0.02 * random.normal(size=3)
            contacts.append((a, below, point, np.array([0, 0, 1]) + 0.05 * random.normal(size=3)))
        if i + 1 < width and random.random() < 0.5:
            contacts.append((index[k, i + 1, j], a, np.array([i + 0.5, j, k + 0.5]), np.array([1.0, 0, 0])))
    inertia = np.concatenate([[m] * 3 + [m / 6, m / 5, m / 4] for m in mass])
    H = []
    for c, (a, b, point, normal) in enumerate(contacts):
        normal = normal / np.linalg.norm(normal)
        first = np.cross(normal, [1, 0, 0] if abs(normal[0]) < 0.7 else [0, 1, 0])
        first /= np.linalg.norm(first)
        for row, axis in enumerate((normal, first, np.cross(normal, first))):
            for body, side in ((a, 1), (b, -1)):
                if body >= 0:
                    column = side * np.append(axis, np.cross(point - place[body], axis))
                    H += [(6 * body + d, 3 * c + row, x) for d, x in enumerate(column)]
    f = inertia * 0.01 * random.normal(size=len(inertia))
    f[2::6] -= mass * 9.81e-2
    n, m = len(inertia), 3 * len(contacts)
    return (f"3 {len(contacts)}\n" + triplet([(k, k, x) for k, x in enumerate(inertia)], n, n) + triplet(H, n, m)
            + " ".join(map(repr, map(float, f))) + "\n" + " ".join(["0"] * m) + "\n"
            + " ".join([str(mu)] * len(contacts)) + "\n"), len(contacts)


@pytest.mark.parametrize("layers, width, mu, ratio, points", [
    (10, 1, 0.6, 1, 4), (10, 1, 0.6, 1e4, 4), (3, 3, 0.1, 1, 4), (3, 3, 1.5, 1, 4), (3, 3, 0.7, 1e3, 4), (3, 3, 0.7, 1e4, 4),
    (20, 1, 0.6, 1e4, 4), (3, 3, 1.0, 1, 8), (4, 3, 1.0, 10, 8)])
def test_piles_of_rocks(run, tmp_path, layers, width, mu, ratio, points):
    """mu from 0.1 to 1.5, masses to 1e4, two to four times as many rows as rank: to 1e-8."""
    text, contacts = rocks(layers, width, mu, ratio, points)
    path = tmp_path / "rocks.dat"
    path.write_text(text)
    done = run("solve", path, "--json", timeout=300)
    got = json.loads(done.out)
    print(f"{contacts} contacts, mu {mu}, masses to {ratio:g}: {got['cpu_seconds']:.2f} s of the processor by "
          f"{got['finished_by']}, {got['literature_relative']:.1e}")
    assert got["literature_relative"] <= 1e-8


def test_an_unsymmetric_mass_matrix_is_taken_as_it_stands(run, tmp_path):
    """Entries above the diagonal count: the solution keeps its law with M as the file has it."""
    text, M, H, f, contacts = pile(4, 5, skew=5e-3)
    path = tmp_path / "skew.dat"
    path.write_text(text)
    done = run("solve", path, "--json", "-o", tmp_path / "out.json")
    assert done.code == 0, done.err
    got = json.loads(done.out)
    assert got["asymmetry"] == pytest.approx(5e-3, rel=0.7)
    assert "mass matrix asymmetric" in run("solve", path).out
    r = np.array(json.loads((tmp_path / "out.json").read_text())["Lambda"])

    def worst(matrix):
        u = H.T @ np.linalg.solve(matrix, H @ r + f)
        n, t = r[0::2], r[1::2]
        normal = np.minimum(n, u[0::2] / np.abs(u).max())
        # sticks, or slides against the friction
        slip = np.where(np.abs(t) < 0.5 * n - 1e-12, u[1::2], np.maximum(0, u[1::2] * np.sign(t)))
        return max(np.abs(normal).max(), np.abs(np.where(n > 1e-12, slip, 0)).max())

    assert worst(M) <= 1e-9
    assert worst(np.tril(M) + np.tril(M, -1).T) > 1e-6, "the lower triangle is another problem"


def test_thousands_of_planar_contacts(run, tmp_path):
    """Above 6000 contacts as well, with a matrix that is kept sparse."""
    text, *_, contacts = pile(60, 55)
    assert contacts > 6000
    path = tmp_path / "pile.dat"
    path.write_text(text)
    done = run("solve", path, "--json", "--tolerance", "1e-8", timeout=600)
    assert done.code == 0, done.err + done.out
    got = json.loads(done.out)
    assert got["sparse"] and got["rows"] == 2 * contacts
    assert got["literature_relative"] <= 1e-6
    print(f"{contacts} contacts: {got['cpu_seconds']:.1f} s of the processor, {got['literature_relative']:.1e}")


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/urandom"])
def test_a_file_without_end(run, path):
    done = run("solve", path, timeout=20)
    assert done.code == 2 and done.err == f"saltus: {path}: cannot read: it is not a regular file\n"
