"""Rods of a run: stations, strains and stresses as arrays."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import InputError

if TYPE_CHECKING:
    from .runs import Run

COMPONENTS = ("stretch", "shear_y", "shear_z", "torsion", "bend_y", "bend_z")
_NEEDED = ("rest", "stiffness", "damping", "segments")


class Rod:
    """A rod of a run: `rod = run.rods["rod"]`.

    at: arc lengths of its places, base to tip [m]; radii [m]; rest, stiffness, damping (places, 6)
    of the components in the order of COMPONENTS; free (6,): which components may change.
    Rows are those of `frames`; `rows` is an index or a slice of them."""

    def __init__(self, run: Run, header: dict[str, Any]):
        self._run = run
        self.name: str = header["name"]
        self.bodies = np.array(header["bodies"])
        self.at, self.radii = np.array(header["at"]), np.array(header["radii"])
        self._header = header if all(k in header for k in _NEEDED) else None
        if self._header is None:
            return
        self.rest, self.stiffness, self.damping = (np.array(header[k]) for k in _NEEDED[:3])
        self.free = np.zeros(6, bool)
        for s in header["segments"]:
            self.free[s["component"]] = True

    def __len__(self) -> int:
        return len(self.at)

    def poses(self, rows: Any = slice(None)) -> np.ndarray:
        """(rows, places, 7): x y z [m], qw qx qy qz; a view where the rod's bodies follow each other."""
        pose = self._run["frames/pose"][rows]
        pose = pose.reshape(*pose.shape[:-1], -1, 7)
        first, last = self.bodies[0], self.bodies[-1]
        if np.array_equal(self.bodies, np.arange(first, last + 1)):
            return pose[..., first:last + 1, :]
        return pose[..., self.bodies, :]

    def positions(self, rows: Any = slice(None)) -> np.ndarray:
        """(rows, places, 3) [m]."""
        return self.poses(rows)[..., :3]

    def _fields(self, column: str, first: str, rows: Any) -> np.ndarray:
        if self._header is None:
            raise InputError(f"rod '{self.name}': the run is of a version that wrote no strains")
        x = self._run[f"frames/{column}"][rows]
        out = np.zeros((*x.shape[:-1], len(self), 6))
        place = 0
        for s in self._header["segments"]:
            values = np.array(s["values"]).reshape(-1, len(s["component"]))
            for k, c in enumerate(s["component"]):
                out[..., place:place + len(values), c] += x[..., s[first] + k, None] * values[:, k]
            place += len(values)
        return out

    def strains(self, rows: Any = slice(None)) -> np.ndarray:
        """(rows, places, 6): stretch and shear [-], torsion and curvatures [1/m]."""
        return self.rest + self._fields("q", "q0", rows)

    def strain_rates(self, rows: Any = slice(None)) -> np.ndarray:
        """(rows, places, 6) [1/s], [1/(m s)]."""
        return self._fields("v", "v0", rows)

    def stresses(self, rows: Any = slice(None)) -> np.ndarray:
        """(rows, places, 6): forces [N] and moments [N m] of the material, H (xi - xi_0) + mu dxi/dt.

        NaN where a component is rigid: no strain tells what it carries. Without what muscles and a
        rheology add, and without couplings of components."""
        stress = (self.stiffness * self._fields("q", "q0", rows) +
                  self.damping * self._fields("v", "v0", rows))
        stress[..., ~self.free] = np.nan
        return stress

    def __repr__(self) -> str:
        return f"<Rod {self.name}: {len(self)} places, {self.at[-1]:g} m>"
