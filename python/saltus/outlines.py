"""Outlines of the shapes of a run in a plane, for pictures."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from .runs import Run


class Outline(NamedTuple):
    name: str
    fixed: bool  # part of the world
    points: np.ndarray  # polygon, (n, 2) [m]


def axes_of(run: Run) -> tuple[int, int]:
    """The two axes to look at: from above where the model is planar, else from the side."""
    return (0, 1) if run.header.get("planar") else (0, 2)


def rotation(q: np.ndarray) -> np.ndarray:
    w, x, y, z = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def hull(points: np.ndarray) -> np.ndarray:
    """Convex hull of points in the plane, counter-clockwise (Andrew's chain)."""
    p = sorted(map(tuple, points))

    def half(chain):
        out: list = []
        for b in chain:
            while len(out) > 1 and ((out[-1][0] - out[-2][0]) * (b[1] - out[-2][1])
                                    <= (out[-1][1] - out[-2][1]) * (b[0] - out[-2][0])):
                out.pop()
            out.append(b)
        return out[:-1]

    return np.array(half(p) + half(p[::-1]))


def round_around(centres: np.ndarray, radius: float) -> np.ndarray:
    angles = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    circle = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return hull((centres[:, None] + circle).reshape(-1, 2))


def outline(shape: dict[str, Any], R: np.ndarray, r: np.ndarray, axes: tuple[int, int],
            reach: float) -> np.ndarray | None:
    """Of one shape at the pose R, r; None: not to be seen in this plane."""
    flat = list(axes)
    kind = shape["type"]
    if kind == "sphere" and shape["radius"] == 0:
        return None  # a point
    if kind == "sphere" or (kind == "peg" and axes == (0, 1)):
        return round_around(r[None, flat], shape["radius"])
    if kind == "capsule":
        ends = r + np.outer([-shape["half_length"], shape["half_length"]], R[:, 0])
        return round_around(ends[:, flat], shape["radius"])
    if kind == "box":
        signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
        return hull((r + (signs * shape["half_size"]) @ R.T)[:, flat])
    if kind == "ellipsoid":
        # The shadow's edge is where the support function |S R' n| is attained.
        angles = np.linspace(0, 2 * np.pi, 80, endpoint=False)
        n = np.zeros((80, 3))
        n[:, flat[0]], n[:, flat[1]] = np.cos(angles), np.sin(angles)
        s = (n @ R) * shape["semi_axes"]
        points = (s * shape["semi_axes"] / np.linalg.norm(s, axis=1)[:, None]) @ R.T
        return (r + points)[:, flat]
    if kind == "height-field" and axes == (0, 2):
        # From the side: the highest point over every x.
        nx, ny = shape["points"]
        k = np.arange(nx * ny)
        grid = np.stack([shape["origin"][0] + k % nx * shape["spacing"][0],
                         shape["origin"][1] + k // nx * shape["spacing"][1],
                         np.asarray(shape["heights"], float)], axis=1) @ R.T + r
        x, z = grid[:, 0].reshape(ny, nx), grid[:, 2].reshape(ny, nx)
        top = np.argmax(z, axis=0)
        i = np.arange(nx)
        return np.stack([x[top, i], z[top, i]], axis=1)
    if kind == "hull":
        return hull((r + np.asarray(shape["vertices"]) @ R.T)[:, flat])
    if kind == "half-space":
        normal = R[flat, 2]
        if np.linalg.norm(normal) < 0.5:
            return None
        along = np.array([-normal[1], normal[0]]) * reach
        return np.array([r[flat] - along, r[flat] + along])
    return None


def outlines(run: Run, frame: int = -1) -> list[Outline]:
    """Of all shapes at a frame."""
    axes = axes_of(run)
    pose = run["frames/pose"][frame].reshape(-1, 7)
    reach = 1 + np.abs(run["frames/com"][:]).max()
    found = []
    for shape in run.header.get("shapes", []):
        local = np.asarray(shape["pose"], float)
        R, r = rotation(local[3:]), local[:3]
        if shape["body"] >= 0:
            R_b = rotation(pose[shape["body"], 3:])
            R, r = R_b @ R, R_b @ r + pose[shape["body"], :3]
        points = outline(shape, R, r, axes, reach)
        if points is not None:
            found.append(Outline(shape["name"], shape["body"] < 0, points))
    return found


def paths(run: Run) -> dict[str, np.ndarray]:
    """Of the centre of mass, and of the bodies if there are few: (rows, 2) each [m]."""
    axes = list(axes_of(run))
    found = {"centre of mass": run["frames/com"][:][:, axes]}
    bodies = [b["name"] for b in run.header.get("bodies", [])]
    if len(bodies) <= 3:
        found = {name: run.body(name)[:, axes] for name in bodies}
    return found
