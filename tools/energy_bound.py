#!/usr/bin/env python3
"""The energy bound of docs/energy.md, over one run file with a frame every step.

    saltus run SCENE -o RUN.h5 --set output.interval=DT
    tools/energy_bound.py RUN.h5 [--tolerance 1e-3] [--json]

Exit status 0: held, 1: not, 2: the file cannot be judged.
"""

import argparse
import json
import sys
from dataclasses import asdict, dataclass

import h5py
import numpy as np

TOLERANCE = 1e-3  # of the largest kinetic energy plus the range of the potential energy
ROUNDING = 1e-12  # of the largest energies of the run: what rounding makes of things at rest
LIFT = 1e-9  # [m] of the weight of all: ten times what positions are corrected to
CHATTER = 10  # flights of fewer steps do not part two episodes


@dataclass
class Episode:
    contact: bool  # else: free flight
    first: int  # steps first .. last - 1
    last: int
    begin: float  # [s]
    end: float
    gain: float  # sum of the positive energy errors of its steps [J]
    rise: float  # largest rise of their sum over any part of the episode [J]
    scale: float  # largest kinetic energy + range of the potential energy [J]
    ratio: float  # (gain - rounding) / scale
    correction: float  # part of the steps that gained: by the correction [J]
    worst_t: float  # end of the step that gained most [s]


@dataclass
class Verdict:
    held: bool
    episodes: int
    contacts: int  # episodes of contact
    broken: int  # episodes beyond the bound
    worst: Episode | None
    first_broken: Episode | None
    gain: float  # of all episodes [J]
    finite: bool
    worst_rise: float  # largest (rise - rounding) / scale of an episode: the milder reading, not judged


class CannotJudge(Exception):
    pass


def in_contact(run: h5py.File, steps: int) -> np.ndarray:
    """For each step: did a contact or support carry an impulse, was a penetration corrected, or did
    anything strike, joint limits included?"""
    rows = np.diff(run["frames/contact_end"][()], prepend=0)[1:steps + 1]
    closed = (rows > 0) | (run["steps/raw_penetration"][:steps] > 0)
    if "impacts" in run:
        closed[np.clip(run["impacts/step"][()] - 1, 0, steps - 1)] = True
    return closed


def stretches(closed: np.ndarray, chatter: int = CHATTER) -> list[tuple[bool, int, int]]:
    """(contact, first, last) of the episodes: maximal intervals, short flights between contacts filled."""
    def cut(x):
        edges = np.flatnonzero(np.diff(x.astype(np.int8))) + 1
        return [0, *edges.tolist(), len(x)] if len(x) else []

    filled = closed.copy()
    bounds = cut(closed)
    for k in range(1, len(bounds) - 2):  # neither the first nor the last stretch
        a, b = bounds[k], bounds[k + 1]
        if not closed[a] and b - a < chatter:
            filled[a:b] = True
    bounds = cut(filled)
    return [(bool(filled[a]), a, b) for a, b in zip(bounds, bounds[1:])]


def largest_rise(error: np.ndarray) -> float:
    level = np.concatenate([[0.0], np.cumsum(error)])
    return float(np.max(level - np.minimum.accumulate(level)))


def weight_of(run: h5py.File) -> float:
    """Of all bodies [N]."""
    if "header" not in run:
        return 0.0
    header = json.loads(run["header"][()].tobytes())
    return sum(b["mass"] for b in header["bodies"]) * float(np.linalg.norm(header["gravity"]))


def judge(path: str, tolerance: float = TOLERANCE) -> Verdict:
    with h5py.File(path, "r", swmr=True) as run:
        if "frames" not in run or "steps" not in run:
            raise CannotJudge("no run file with frames and steps")
        steps = len(run["steps/t"])
        frame = run["frames/step"][()]
        steps = min(steps, int(frame[-1]) if len(frame) else 0)
        if len(frame) <= steps or not np.array_equal(frame[:steps + 1], np.arange(steps + 1)):
            raise CannotJudge("the run has no frame every step; record it with output.interval = time.step")
        read = lambda name, n: run[name][:n]
        t = read("frames/t", steps + 1)
        T, U = read("frames/kinetic", steps + 1), read("frames/potential", steps + 1)
        error = read("steps/energy_error", steps)
        correction = np.diff(read("frames/work_correction", steps + 1))
        if steps == 0:
            return Verdict(True, 0, 0, 0, None, None, 0.0, True, 0.0)
        finite = bool(np.all(np.isfinite(error)) and np.all(np.isfinite(T)) and np.all(np.isfinite(U)))
        closed = in_contact(run, steps)
        weight = weight_of(run)
    error, correction = np.nan_to_num(error, nan=np.inf), np.nan_to_num(correction)
    gains = np.maximum(error, 0)
    rounding = ROUNDING * float(np.max(np.nan_to_num(T)) + np.max(np.abs(np.nan_to_num(U)))) + LIFT * weight
    worst = first = None
    worst_rise = 0.0
    episodes = stretches(closed)
    broken = 0
    for contact, a, b in episodes:
        scale = float(np.max(T[a:b + 1]) + np.ptp(U[a:b + 1]))
        gain = float(gains[a:b].sum())
        rise = largest_rise(error[a:b])
        share = lambda x: 0.0 if x <= rounding else (x - rounding) / scale if scale > 0 else float("inf")
        ratio, worst_rise = share(gain), max(worst_rise, share(rise))
        e = Episode(contact, a, b, float(t[a]), float(t[b]), gain, rise, scale, ratio,
                    float(correction[a:b][gains[a:b] > 0].sum()), float(t[a + 1 + int(np.argmax(gains[a:b]))]))
        if not ratio <= tolerance:
            broken += 1
            first = first or e
        if worst is None or not ratio <= worst.ratio:
            worst = e
    return Verdict(finite and broken == 0, len(episodes), sum(e[0] for e in episodes), broken, worst, first,
                   float(gains.sum()), finite, worst_rise)


def text(v: Verdict, tolerance: float) -> str:
    if v.worst is None:
        return "held: no step was taken"
    w = v.worst
    lines = [f"{'held' if v.held else 'NOT HELD'}: {v.episodes} episodes ({v.contacts} of contact), "
             f"{v.broken} beyond {tolerance:g}; worst ratio {w.ratio:.3g} "
             f"(largest rise {v.worst_rise:.3g})",
             f"  worst: {'contact' if w.contact else 'flight'} from {w.begin:.6g} to {w.end:.6g} s, gained "
             f"{w.gain:.4g} J (correction {w.correction:.4g} J; largest rise {w.rise:.4g} J) of {w.scale:.4g} J, "
             f"most in the step to t = {w.worst_t:.6g} s"]
    if not v.finite:
        lines.append("  energies are not finite")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description="the energy bound of docs/energy.md over a run file")
    parser.add_argument("run")
    parser.add_argument("--tolerance", type=float, default=TOLERANCE)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    try:
        verdict = judge(options.run, options.tolerance)
    except (CannotJudge, OSError, KeyError) as e:
        print(f"energy_bound: {options.run}: {e}", file=sys.stderr)
        return 2
    print(json.dumps(asdict(verdict)) if options.json else text(verdict, options.tolerance))
    return 0 if verdict.held else 1


if __name__ == "__main__":
    sys.exit(main())
