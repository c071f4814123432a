"""A scene with the files that it names, as bytes: what travels to a worker and what a study's digest is made of."""
from __future__ import annotations

import atexit
import hashlib
import os
import re
import shutil
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .. import _core
from ..errors import InputError
from .document import parse

_FILES_OF_XML = re.compile(rb"""\b(?:file(?:name)?)\s*=\s*["']([^"']+)["']""")
_FOLDERS_OF_XML = re.compile(rb"""\b(?:meshdir|assetdir|texturedir)\s*=\s*["']([^"']+)["']""")
_unpacked: dict[str, Path] = {}


@dataclass(frozen=True)
class Bundle:
    """files: by their place below a common folder; scene: which of them is the scene."""
    name: str                 # stands for the scene in messages
    scene: str
    files: dict[str, bytes]

    @cached_property
    def digest(self) -> str:
        hashed = hashlib.sha256()
        for place in sorted(self.files):
            hashed.update(f"{place}\0{len(self.files[place])}\0".encode() + self.files[place])
        return hashed.hexdigest()

    def load(self, overrides: list[str]) -> _core.Scene:
        if len(self.files) == 1:
            text = self.files[self.scene].decode("utf-8", "surrogateescape")
            return _core.Scene.from_text(text, self.name, overrides)
        return _core.Scene(self._folder() / self.scene, overrides)

    def _folder(self) -> Path:
        """Unpacked once a process, removed with it."""
        if self.digest not in _unpacked:
            folder = Path(tempfile.mkdtemp(prefix="saltus-study-"))
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            for place, data in self.files.items():
                (folder / place).parent.mkdir(parents=True, exist_ok=True)
                (folder / place).write_bytes(data)
            _unpacked[self.digest] = folder
        return _unpacked[self.digest]


def _named_by_scene(path: Path, data: bytes) -> list[Path]:
    found: list[Path] = []

    def walk(value: object) -> None:
        if isinstance(value, dict):
            for key, item in value.items():
                if key == "file" and isinstance(item, str):
                    found.append(path.parent / item)
                walk(item)
        elif isinstance(value, list):
            for item in value:
                walk(item)

    walk(parse(data.decode("utf-8", "replace"), str(path)).data)
    return found


def _named_by_xml(path: Path, data: bytes) -> list[Path]:
    """Meshes and includes of a URDF or MJCF file: wherever the importer may look, if it is there."""
    folders = [path.parent, *(path.parent / os.fsdecode(f) for f in _FOLDERS_OF_XML.findall(data))]
    found = []
    for raw in _FILES_OF_XML.findall(data):
        name = os.fsdecode(raw)
        for scheme in ("package://", "model://", "file://"):
            name = name.removeprefix(scheme)
        parts = Path(name).parts
        names = [Path(*parts[i:]) for i in range(len(parts))] if parts else []
        found += [p for n in names for f in (*folders, path.parent.parent) if (p := f / n).is_file()]
    return found


def pack(path: Path) -> Bundle:
    """InputError: the scene or a file of it cannot be read, or does not read the same elsewhere."""
    todo, data = [path], {}
    while todo:
        at = Path(os.path.abspath(todo.pop()))
        if at in data:
            continue
        try:
            data[at] = at.read_bytes()
        except OSError as e:
            where = str(path) if len(data) == 0 else f"{path}: its file {at}"
            raise InputError(f"{where}: cannot read: {e.strerror}") from e
        if len(data) == 1:
            todo += _named_by_scene(at, data[at])
        elif at.suffix.lower() in (".urdf", ".xml", ".mjcf"):
            todo += _named_by_xml(at, data[at])
    root = Path(os.path.commonpath([p.parent for p in data]))
    scene = next(iter(data))
    bundle = Bundle(str(path), scene.relative_to(root).as_posix(),
                    {p.relative_to(root).as_posix(): d for p, d in data.items()})
    if len(data) > 1:
        # Its first line is a comment with the path.
        here, there = (t.complete_text().split("\n", 1)[1] for t in (_core.Scene(scene), bundle.load([])))
        if here != there:
            raise InputError(f"{path}: expected a scene whose files can travel with it: packed with "
                             f"{', '.join(sorted(bundle.files))} it reads differently")
    return bundle
