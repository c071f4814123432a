"""Writes a large run in the run format: a chain of links that wriggles over the ground.

usage: make_run.py OUT.h5 --links 1000 --frames 100     (150 kB a frame with 1000 links)
"""
import argparse
import json

import h5py
import numpy as np

DT, INTERVAL, LENGTH, RADIUS = 1e-3, 0.01, 0.12, 0.05
ROWS_AT_ONCE = 200


def header(links):
    shape = {"type": "capsule", "pose": [0, 0, 0, 1, 0, 0, 0], "radius": RADIUS, "half_length": 0.04}
    return {
        "title": f"{links} links", "description": "made up", "dt": DT, "end": 1.0, "planar": True,
        "gravity": [0, 0, -9.81], "nq": 0, "nv": 0,
        "bodies": [{"name": f"link{i + 1}", "mass": 1, "q0": 0, "v0": 0} for i in range(links)],
        "coordinates": [],
        "shapes": [{"name": f"link{i + 1}", "body": i, **shape} for i in range(links)],
        "supports": links, "contact_laws": 0, "probes": [],
    }  # fmt: skip


def poses(links, t):
    """[frames, links, 7]: rows of 50 links that wave and creep along x."""
    i = np.arange(links)
    row, s = i // 50, i % 50
    phase = 0.35 * s[None, :] - 4 * t[:, None] + row[None, :]
    out = np.zeros((len(t), links, 7))
    out[:, :, 0] = LENGTH * s + 0.2 * t[:, None]
    out[:, :, 1] = 0.5 * row + 0.12 * np.sin(phase)
    angle = np.arctan(0.12 * 0.35 / LENGTH * np.cos(phase))
    out[:, :, 3], out[:, :, 6] = np.cos(angle / 2), np.sin(angle / 2)
    return out


def create(group, name, dtype, width, unit=""):
    chunk = max(1, min(4096, 65536 // (np.dtype(dtype).itemsize * width)))
    shape, limit, chunks = ((0,), (None,), (chunk,)) if width == 1 else ((0, width), (None, width), (chunk, width))
    dataset = group.create_dataset(name, shape, dtype, maxshape=limit, chunks=chunks)
    dataset.attrs["unit"], dataset.attrs["about"] = np.bytes_(unit or " "), np.bytes_(" ")
    return dataset


def append(dataset, values):
    n = len(dataset)
    dataset.resize(n + len(values), axis=0)
    dataset[n:] = values


def write(path, links, frames):
    with h5py.File(path, "w", libver=("v110", "v110"), track_order=True) as f:
        f.attrs["format"], f.attrs["format_version"] = np.bytes_("saltus-run"), np.int32(2)
        f.attrs["saltus_version"], f.attrs["commit"] = np.bytes_("0.1.0"), np.bytes_("none")
        texts = {"scene": "saltus: 1\n", "header": json.dumps(header(links)),
                 "summary": json.dumps({"status": "completed", "t": frames * INTERVAL, "metrics": {}})}  # fmt: skip
        for name, text in texts.items():
            f.create_dataset(name, data=np.frombuffer(text.encode(), np.uint8))
        c, g, s = (f.create_group(name, track_order=True) for name in ("contacts", "frames", "steps"))
        contact = {"kind": ("u1", 1), "a": ("i4", 1), "b": ("i4", 1), "feature": ("i4", 1), "mode": ("u1", 1),
                   "gap": ("f8", 1), "point": ("f8", 3), "normal": ("f8", 3), "impulse": ("f8", 3),
                   "normal_impulse": ("f8", 1)}  # fmt: skip
        contact = {name: create(c, name, *kind) for name, kind in contact.items()}
        frame = {"t": ("f8", 1, "s"), "step": ("i8", 1), "pose": ("f8", 7 * links, "m"), "com": ("f8", 3, "m"),
                 "contact_end": ("i8", 1), "kinetic": ("f8", 1, "J")}  # fmt: skip
        frame = {name: create(g, name, *kind) for name, kind in frame.items()}
        step = {name: create(s, name, *kind) for name, kind in
                {"t": ("f8", 1, "s"), "iterations": ("i4", 1), "residual": ("f8", 1, "m/s")}.items()}  # fmt: skip
        for first in range(0, frames, ROWS_AT_ONCE):
            k = np.arange(first, min(frames, first + ROWS_AT_ONCE))
            pose, n = poses(links, k * INTERVAL), len(k) * links
            append(frame["t"], k * INTERVAL)
            append(frame["step"], 10 * k)
            append(frame["pose"], pose.reshape(len(k), -1))
            append(frame["com"], pose[:, :, :3].mean(axis=1))
            append(frame["contact_end"], (k + 1) * links)
            append(frame["kinetic"], np.sin(k / 10))
            append(contact["kind"], np.full(n, 1))
            append(contact["a"], np.full(n, -1))
            append(contact["b"], np.tile(np.arange(links), len(k)))
            append(contact["feature"], np.zeros(n))
            append(contact["mode"], np.full(n, 2))
            append(contact["gap"], np.zeros(n))
            append(contact["point"], pose[:, :, :3].reshape(-1, 3))
            append(contact["normal"], np.tile([0, 0, 1], (n, 1)))
            append(contact["impulse"], np.tile([-1e-3, 0, 0], (n, 1)))
            append(contact["normal_impulse"], np.full(n, 1e-3))
            steps = np.arange(10 * k[0], 10 * (k[-1] + 1))
            append(step["t"], (steps + 1) * DT)
            append(step["iterations"], 3 + steps % 5)
            append(step["residual"], 10.0 ** (-9 - steps % 4))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--links", type=int, default=1000)
    parser.add_argument("--frames", type=int, default=100)
    arguments = parser.parse_args()
    write(arguments.out, arguments.links, arguments.frames)
