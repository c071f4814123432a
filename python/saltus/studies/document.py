"""Study files: YAML with the line of every value, and checks that name file, line, key and what was expected."""
from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import Error, InputError

_INT = re.compile(r"[-+]?\d+")
_FLOAT = re.compile(r"[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?")
_WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}


def nearest(name: str, known: Iterable[str]) -> str:
    """"; nearest: 'a', 'b'" of the known names that are like this one, or nothing."""
    close = difflib.get_close_matches(name, list(dict.fromkeys(known)), n=3, cutoff=0.6)
    return f"; nearest: {', '.join(repr(c) for c in close)}" if close else ""


class Document:
    """Plain data, and where each of its values stands."""

    def __init__(self, name: str, data: Any, lines: Mapping[str, int] | None = None):
        self.name, self.data, self._lines = name, data, dict(lines or {})

    def error(self, path: str, message: str) -> InputError:
        at, line = path, None
        while line is None and at:
            line = self._lines.get(at)
            at = re.sub(r"(\.[^.\[]*|\[\d+\]|^[^.\[]+)$", "", at)
        where = f"{self.name}:{line}" if line else self.name
        return InputError(f"{where}: {path}{': ' if path else ''}{message}")


def parse(text: str, name: str) -> Document:
    """YAML as scenes have it: 1e-3 is a number, yes is a word, a key may be given once."""
    try:
        import yaml
    except ImportError as e:
        raise Error("study files need PyYAML: pip install 'saltus[studies]'") from e
    lines: dict[str, int] = {}

    def value(node: Any, path: str) -> Any:
        lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, yaml.SequenceNode):
            return [value(item, f"{path}[{i}]") for i, item in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode):
            found: dict[str, Any] = {}
            for key, item in node.value:
                if not isinstance(key, yaml.ScalarNode) or key.value in found:
                    raise InputError(f"{name}:{key.start_mark.line + 1}: expected a plain key, once")
                inner = f"{path}.{key.value}" if path else key.value
                lines[inner] = key.start_mark.line + 1
                found[key.value] = value(item, inner)
            return found
        if node.style in ("'", '"', "|", ">"):
            return node.value
        return _plain(node.value)

    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        data = value(root, "") if root is not None else None
    except yaml.YAMLError as e:
        mark = getattr(e, "problem_mark", None)
        at = f":{mark.line + 1}" if mark else ""
        raise InputError(f"{name}{at}: expected YAML: {getattr(e, 'problem', None) or e}") from e
    except RecursionError:
        raise InputError(f"{name}: expected YAML that is nested less deep") from None
    if not isinstance(data, dict):
        raise InputError(f"{name}:1: expected a study: a YAML mapping of keys")
    return Document(name, data, lines)


def _plain(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


class Fields:
    """The keys of one mapping: each is asked for once, what is left over is unknown."""

    def __init__(self, document: Document, data: Any, path: str):
        if not isinstance(data, Mapping):
            raise document.error(path, f"expected a mapping of keys, got {data!r}")
        self.document, self.data, self.path = document, data, path
        self._asked: list[str] = []

    def at(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def error(self, key: str, message: str) -> InputError:
        return self.document.error(self.at(key) if key else self.path, message)

    def has(self, key: str) -> bool:
        self._asked.append(key)
        return self.data.get(key) is not None

    def get(self, key: str, default: Any = None) -> Any:
        return self.data[key] if self.has(key) else default

    def required(self, key: str, what: str) -> Any:
        if not self.has(key):
            raise self.error("", f"expected {key}: {what}")
        return self.data[key]

    def text(self, key: str, default: str = "") -> str:
        found = self.get(key, default)
        if not isinstance(found, str):
            raise self.error(key, f"expected a text, got {found!r}")
        return found

    def choice(self, key: str, options: Iterable[str], default: str) -> str:
        found, options = self.get(key, default), list(options)
        if found not in options:
            raise self.error(key, f"expected {', '.join(options)}, got {found!r}"
                                  f"{nearest(str(found), options)}")
        return found

    def number(self, key: str, default: float | None = None) -> float | None:
        found = self.get(key, default)
        if found is None:
            return None
        if isinstance(found, bool) or not isinstance(found, (int, float)) or not math.isfinite(found):
            raise self.error(key, f"expected a number, got {found!r}")
        return float(found)

    def positive(self, key: str, default: float | None = None) -> float | None:
        found = self.number(key, default)
        if found is not None and not found > 0:
            raise self.error(key, f"expected a number > 0, got {found!r}")
        return found

    def integer(self, key: str, default: int | None = None, least: int = 1) -> int | None:
        found = self.get(key, default)
        if found is not None and (isinstance(found, bool) or not isinstance(found, int)
                                  or found < least):
            raise self.error(key, f"expected an integer >= {least}, got {found!r}")
        return found

    def boolean(self, key: str, default: bool = False) -> bool:
        found = self.get(key, default)
        if not isinstance(found, bool):
            raise self.error(key, f"expected true or false, got {found!r}")
        return found

    def items(self, key: str) -> list[Any]:
        found = self.get(key, [])
        if not isinstance(found, (list, tuple)):
            raise self.error(key, f"expected a list, got {found!r}")
        return list(found)

    def finish(self) -> None:
        for key in self.data:
            if key not in self._asked:
                raise self.error(str(key), f"unknown key{nearest(str(key), self._asked)}; there are: "
                                           f"{', '.join(dict.fromkeys(self._asked))}")
