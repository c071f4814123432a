"""The problems of ../shared/fclib by `saltus solve` and by Siconos in the same run.

    python3 bench/siconos_fclib.py [SALTUS] [FOLDER]

Siconos (python3-siconos) is asked for local 3D text files only, by NSGS to 1e-12 from r = 0; where it
is not installed (for this Python: try /usr/bin/python3) its columns stay empty. Residuals are the
literature's, relative; Siconos' with the u that it returns."""
import json
import subprocess
import sys
import time
from pathlib import Path

try:
    import numpy as np
    import siconos.numerics as sn
except ImportError:
    sn = None

ROOT = Path(__file__).resolve().parent.parent


def project(x, mu):
    n, t = x[0], np.linalg.norm(x[1:])
    if t <= mu * n:
        return x
    if mu * t <= -n:
        return 0 * x
    a = (n + mu * t) / (1 + mu * mu)
    return np.concatenate(([a], mu * a * x[1:] / t))


def by_siconos(path):
    """(relative residual, iterations, seconds), or None."""
    if sn is None or path.suffix != ".dat":
        return None
    d, contacts = (int(x) for x in path.read_text().split()[:2])
    if d != 3:
        return None
    try:
        problem = sn.frictionContact_new_from_filename(str(path))
        m = d * contacts
        r, u = np.zeros(m), np.zeros(m)
        options = sn.SolverOptions(sn.SICONOS_FRICTION_3D_NSGS)
        options.dparam[sn.SICONOS_DPARAM_TOL] = 1e-12
        options.iparam[sn.SICONOS_IPARAM_MAX_ITER] = 20000
        begin = time.perf_counter()
        sn.fc3d_nsgs(problem, r, u, options)
        seconds = time.perf_counter() - begin
        q, mu = np.array(problem.q).ravel(), np.array(problem.mu).ravel()
        error = 0.0
        for c in range(contacts):
            x = r[3 * c:3 * c + 3] - u[3 * c:3 * c + 3]
            x[0] -= mu[c] * np.linalg.norm(u[3 * c + 1:3 * c + 3])
            error += np.sum((r[3 * c:3 * c + 3] - project(x, mu[c])) ** 2)
        scale = max(map(np.linalg.norm, (q, r, u)))
        return np.sqrt(error) / scale, options.iparam[sn.SICONOS_IPARAM_ITER_DONE], seconds
    except Exception as e:  # its interface differs between versions
        print(f"  siconos: {e}", file=sys.stderr)
        return None


def main():
    saltus = sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release/bin/saltus"
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "../shared/fclib/problems"
    print(f"{'problem':44} {'rows':>5} | {'saltus':>9} {'its':>5} {'ms':>8} | {'siconos':>9} {'its':>6} {'ms':>8}")
    for path in sorted(folder.iterdir()):
        done = subprocess.run([saltus, "solve", path, "--json"], capture_output=True, text=True)
        if done.returncode == 2:
            print(f"{path.name:44} {done.stderr.strip()}")
            continue
        ours = json.loads(done.stdout)
        line = (f"{path.name:44} {ours['rows']:5} | {ours['literature_relative']:9.1e} "
                f"{ours['iterations']:5} {1e3 * ours['seconds']:8.2f} |")
        if theirs := by_siconos(path):
            line += f" {theirs[0]:9.1e} {theirs[1]:6} {1e3 * theirs[2]:8.2f}"
        print(line)


if __name__ == "__main__":
    main()
