#!/usr/bin/env python3
"""Runs random scenes, or named ones, and judges them by the energy bound of docs/energy.md.

    tools/energy_bed.py --seeds 0:100 --jobs 2 --csv bed.csv
    tools/energy_bed.py --named --jobs 2                      the cases of tools/energy_scenes.py
    tools/energy_bed.py scenes/energy/*.yaml --set time.step=5e-4

One line for every bad scene, then a table. A scene is good when it finishes in time, did not diverge, no
step missed the solver's tolerance, openly or silently, and the bound held. Exit status 1 if any is bad.
"""

import argparse
import csv
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import h5py
import numpy as np

import energy_bound
import energy_scenes
import random_scenes

ROOT = Path(__file__).resolve().parent.parent
SILENT = 1.0 + 1e-9  # a step that calls itself converged has a residual within so many tolerances
COLUMNS = ["case", "verdict", "t", "steps", "dt", "cpu", "steps_per_s", "iterations_median", "iterations_p99",
           "iterations_max", "unconverged", "silent", "episodes", "broken", "ratio", "rise_ratio", "kind", "t_worst",
           "gain", "rise", "correction", "scale", "penetration", "impacts_that_gained", "message"]


def cpu_time(pid):
    """Of a process that runs [s]; None: it is over."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(binary, scene, sets, output, limit):
    """(summary or None, exit status or 'timeout', stderr, seconds of the processor). The limit is one of processor
    time, so that what else the machine does decides nothing."""
    command = [binary, "run", str(scene), "--json", "-o", str(output)]
    for s in sets:
        command += ["--set", s]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                   preexec_fn=lambda: os.nice(10))
        asked = None  # when it was asked to end
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            used = cpu_time(process.pid) or 0.0
            if asked is None and used > limit:
                asked = used
                process.send_signal(signal.SIGINT)  # ends the run file properly
            elif asked is not None and used > asked + 60:
                process.kill()
            time.sleep(0.05)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        try:
            summary = json.loads(out.read())
        except ValueError:
            summary = None
        ended = process.returncode if asked is None else "timeout"
        return summary, ended, err.read().strip(), usage.ru_utime + usage.ru_stime


def step_of(scene, sets):
    """time.step of a scene, by what the binary would use."""
    for s in reversed(sets):
        if s.startswith("time.step="):
            return s.partition("=")[2]
    for line in Path(scene).read_text().splitlines():
        if line.startswith("time:") and "step:" in line:
            return line.partition("step:")[2].split(",")[0].split("}")[0].strip()
    return "1e-3"


def figures(output, tolerance):
    with h5py.File(output, "r", swmr=True) as f:
        iterations, residual = f["steps/iterations"][()], f["steps/residual"][()]
        converged = f["steps/converged"][()].astype(bool)
    if not len(iterations):
        return {}
    return {"iterations_median": float(np.median(iterations)), "iterations_p99": float(np.percentile(iterations, 99)),
            "iterations_max": int(iterations.max()), "unconverged": int((~converged).sum()),
            "silent": int((converged & ~(residual <= SILENT * tolerance)).sum())}


def judge(options, case, scene, sets, folder):
    output = folder / f"{case.replace('/', '-').replace(' ', '_')}.h5"
    sets = [*sets, f"output.interval={step_of(scene, sets)}", "output.impacts=0"]
    summary, status, err, cpu = run(options.binary, scene, sets, output, options.limit)
    row = {"case": case, "verdict": "", "message": ""}
    bad = []
    if summary is None:
        bad.append("timeout" if status == "timeout" else f"crash({status})" if status not in (1, 2) else "refused")
        row["message"] = err.splitlines()[-1] if err else ""
    else:
        row |= {"t": summary["t"], "steps": summary["steps"], "dt": summary["dt"],
                "cpu": cpu, "steps_per_s": summary["steps"] / max(cpu, 1e-2), "penetration": summary["max_penetration"],
                "impacts_that_gained": summary.get("impacts_that_gained", 0), "message": summary.get("message", "")}
        if status == "timeout":
            bad.append("timeout")
        elif summary["status"] == "diverged":
            bad.append("diverged")
        elif summary["status"] not in ("completed", "unconverged"):
            bad.append(summary["status"])
    try:
        row |= figures(output, options.solver_tolerance)
        if row.get("unconverged"):
            bad.append("unconverged")
        if row.get("silent"):
            bad.append("silent")
        v = energy_bound.judge(str(output), options.tolerance)
        row |= {"episodes": v.episodes, "broken": v.broken}
        if v.worst:
            w = v.worst
            row |= {"ratio": w.ratio, "rise_ratio": v.worst_rise, "kind": "contact" if w.contact else "flight", "t_worst": w.worst_t,
                    "gain": w.gain, "rise": w.rise, "correction": w.correction, "scale": w.scale}
        if not v.held:
            bad.append("bound")
    except (OSError, KeyError, energy_bound.CannotJudge) as e:
        if not bad:
            bad.append("no run file")
            row["message"] = str(e)
    row["verdict"] = "+".join(bad) or "good"
    if bad and options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        (options.keep / f"{case.replace('/', '-').replace(' ', '_')}.yaml").write_text(Path(scene).read_text())
    output.unlink(missing_ok=True)
    return row


def line(row):
    text = f"{row['case']}: {row['verdict']}"
    if row.get("steps"):
        text += f", t = {row['t']:.4g} s of steps of {row['dt']:.4g} s, {row['steps_per_s']:.0f} steps per CPU second"
    if "ratio" in row:
        text += (f", worst ratio {row['ratio']:.2g} ({row['kind']}, {row['broken']} of {row['episodes']} episodes, "
                 f"t = {row['t_worst']:.4g} s, {row['gain']:.3g} of {row['scale']:.3g} J)")
    if row.get("unconverged"):
        text += f", {row['unconverged']} unconverged"
    if row.get("message") and not row.get("steps"):
        text += f": {row['message']}"
    return text


def table(rows):
    kinds = {}
    for row in rows:
        for kind in row["verdict"].split("+"):
            kinds[kind] = kinds.get(kind, 0) + 1
    seen = lambda key: [r[key] for r in rows if r.get(key) is not None and r.get(key) != ""]
    out = [("scenes", str(len(rows))), ("good", str(kinds.pop("good", 0)))]
    out += [(kind, str(n)) for kind, n in sorted(kinds.items())]
    speeds = seen("steps_per_s")
    if speeds:
        out.append(("steps per CPU second, median and least", f"{statistics.median(speeds):.0f}, {min(speeds):.0f}"))
    if seen("iterations_median"):
        out.append(("iterations a step: median of medians, largest 99 %, largest",
                    f"{statistics.median(seen('iterations_median')):.0f}, {max(seen('iterations_p99')):.0f}, "
                    f"{max(seen('iterations_max'))}"))
        out.append(("unconverged, silent steps", f"{sum(seen('unconverged'))}, {sum(seen('silent'))} of "
                                                 f"{int(sum(seen('steps')))}"))
    ratios = sorted(seen("ratio"))
    if ratios:
        out.append(("worst ratio: median, 90 %, largest",
                    f"{statistics.median(ratios):.2g}, {ratios[int(0.9 * (len(ratios) - 1))]:.2g}, {ratios[-1]:.2g}"))
        rises = sorted(seen("rise_ratio"))
        out.append(("with losses that pay (not judged): median, 90 %, largest, held",
                    f"{statistics.median(rises):.2g}, {rises[int(0.9 * (len(rises) - 1))]:.2g}, {rises[-1]:.2g}, "
                    f"{sum(r <= energy_bound.TOLERANCE for r in rises)}"))
    width = max(len(k) for k, _ in out)
    return "\n".join(f"  {k:<{width}}  {v}" for k, v in out)


def cases(options, folder):
    """(name, file, settings)."""
    for path in options.scenes:
        yield path.stem, path, options.set
    if options.named:
        for name, text, sets in energy_scenes.cases():
            path = folder / f"{name.replace(' ', '_')}.yaml"
            path.write_text(text)
            yield name, path, [*sets, *options.set]
    for seed in random_scenes.seeds(options.seeds) if options.seeds else []:
        path = folder / f"seed-{seed}.yaml"
        path.write_text(random_scenes.scene(seed))
        yield f"seed {seed}", path, options.set


def main() -> int:
    parser = argparse.ArgumentParser(description="the energy bound over many scenes")
    parser.add_argument("scenes", nargs="*", type=Path)
    parser.add_argument("--seeds", help="FIRST:LAST of the random scenes, without the last")
    parser.add_argument("--named", action="store_true", help="the cases of tools/energy_scenes.py")
    parser.add_argument("--set", action="append", default=[], help="path=value, as of `saltus run`")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=float, default=120, help="processor time of a scene [s]")
    parser.add_argument("--tolerance", type=float, default=energy_bound.TOLERANCE)
    parser.add_argument("--solver-tolerance", type=float, default=1e-10, help="[m/s], that of the scenes")
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--keep", type=Path, help="folder for the bad scenes")
    parser.add_argument("--binary", default=os.environ.get("SALTUS_BIN", str(ROOT / "build/release/bin/saltus")))
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(options.jobs) as pool:
        folder = Path(temporary)
        work = [pool.submit(judge, options, *case, folder) for case in cases(options, folder)]
        if not work:
            parser.error("nothing to run: name scenes, --seeds or --named")
        for done in as_completed(work):
            rows.append(done.result())
            if rows[-1]["verdict"] != "good" or options.named or options.scenes:
                print(line(rows[-1]), flush=True)
    order = {f.result()["case"]: i for i, f in enumerate(work)}
    rows.sort(key=lambda r: order[r["case"]])
    print(table(rows))
    if options.csv:
        with options.csv.open("w", newline="") as f:
            writer = csv.DictWriter(f, COLUMNS, restval="")
            writer.writeheader()
            writer.writerows(rows)
    return 0 if all(r["verdict"] == "good" for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
