"""The scenes that the package carries."""
from __future__ import annotations

from pathlib import Path

from .errors import InputError

_FOLDER = Path(__file__).parent / "scenes"


def scene_names() -> list[str]:
    """Names of the scenes that the package carries: "p0/pegs", ..."""
    return sorted(p.relative_to(_FOLDER).with_suffix("").as_posix()
                  for p in _FOLDER.rglob("*.yaml"))


def scene_path(name: str) -> Path:
    """The file of one of them."""
    if name.removesuffix(".yaml") not in scene_names():
        raise InputError(f"no scene is called '{name}'; there are: {', '.join(scene_names())}")
    return _FOLDER / f"{name.removesuffix('.yaml')}.yaml"
