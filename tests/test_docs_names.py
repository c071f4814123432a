"""What the pages name is there: files in backticks, functions and types where the tables say they are,
every file of a room on the map of its README. The checks find planted errors too (test_planted_...)."""

import functools
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SUFFIXES = "h|cpp|py|md|yaml|urdf|sh|cmake|ts|mjs|js|toml|txt|json|in|cff"
FILE = re.compile(rf"[\w./*-]*[\w*-]\.(?:{SUFFIXES}|\*)")
FOLDER = re.compile(r"[\w.*-]+(?:/[\w.*-]+)*/")
NAME = re.compile(r"[A-Za-z_]\w*(?:::\w+)*")
PRINTED = {"ball.yaml"}  # a page prints it for the reader to save
GENERATED = {"saltus/version.h": "cmake/version.h.in"}
CODE = {".h", ".cpp", ".py"}


def pages() -> list[Path]:
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "*.md"],
                            capture_output=True, text=True, check=True).stdout.split()
    # the changelog tells of files that are no more
    return [ROOT / f for f in listed if f != "CHANGELOG.md" and (ROOT / f).is_file()]


def prose(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def spans(text: str) -> list[str]:
    return re.findall(r"`([^`\n]+)`", text)


def found(name: str, folder: Path) -> list[Path]:
    """The files or folders that a page in `folder` means by a name; ROOM and NAME stand for any."""
    name = GENERATED.get(name, name)
    for pattern in (name, re.sub(r"\b(ROOM|NAME)", "*", name)):
        for base in (folder, ROOT, ROOT / "saltus", ROOT / "docs", ROOT / "scenes"):
            if hits := [p for p in base.glob(pattern) if p.exists()]:
                return hits
    if "/" not in name and name.endswith((".yaml", ".urdf")):
        return list((ROOT / "scenes").rglob(name))
    return []


def missing_files(text: str, folder: Path) -> list[str]:
    return [s for s in spans(prose(text))
            if (FILE.fullmatch(s) or FOLDER.fullmatch(s)) and s not in PRINTED and not s.startswith("/")
            and not s.startswith(("build/", "../shared/", "viewer/dist/", "dist/")) and not found(s, folder)]


def cells(line: str) -> list[str]:
    return [c.strip() for c in line.strip().strip("|").split("|")]


def rows(text: str) -> list[list[str]]:
    return [cells(x) for x in prose(text).splitlines() if x.startswith("|") and not re.match(r"\|[ |:-]*$", x)]


def files_of(cell: str, folder: Path) -> list[Path]:
    """`a.h`, `.cpp` is a.h and a.cpp."""
    files, last = [], None
    for s in spans(cell):
        if s.startswith(".") and last:
            s = re.sub(r"\.\w+$", "", last) + s
        if FILE.fullmatch(s):
            last = s
            files += [p for p in found(s, folder) if p.is_file()]
    return files


@functools.lru_cache(maxsize=None)
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def mentions(path: Path, name: str) -> bool:
    return all(re.search(rf"\b{part}\b", text_of(path)) for part in name.split("::"))


def defines(path: Path, name: str) -> bool:
    """A function, or a type, whose body is in this file."""
    part = name.split("::")[-1]
    if re.search(rf"^\s*(?:struct|class|enum class|enum) {part}\b[^;]*\{{", text_of(path), re.M):
        return True
    owner = "::".join(name.split("::")[:-1])
    head = rf"^[ ]{{0,2}}(?!return|else|if|for|throw)[\w\[][\w\[\]:<>,&* ]*[ &*](?:\w+::)*{part}\("
    for match in re.finditer(head, text_of(path), re.M):
        if owner and f"{owner}::{part}(" not in match[0]:
            continue
        depth, i = 1, match.end()
        while depth and i < len(text_of(path)):
            depth += {"(": 1, ")": -1}.get(text_of(path)[i], 0)
            i += 1
        if re.match(r"[^;{}]*\{", text_of(path)[i:]):
            return True
    return False


def names_in(cell: str) -> list[str]:
    return [s for s in spans(cell) if NAME.fullmatch(s)]


def wrong_calls(text: str, folder: Path) -> list[str]:
    """Of tables `| call | file | ... |`, and of "`name` (`file`": each is defined in one of its files,
    and each file defines one of its names."""
    wrong, table = [], False
    for line in prose(text).splitlines():
        if not line.startswith("|"):
            table = False
            continue
        cell = cells(line)
        if cell[:2] == ["call", "file"]:
            table = True
        elif table and not re.match(r"\|[ |:-]*$", line):
            names, files = names_in(cell[0]), files_of(cell[1], folder)
            wrong += [f"{n}: not defined in {cell[1]}" for n in names if not any(defines(f, n) for f in files)]
            wrong += [f"{f.name}: defines none of {cell[0]}" for f in files if not any(defines(f, n) for n in names)]
    for name, file in re.findall(r"`([\w:]+)`\**\s+\(`([^`\s]+)`", prose(text)):
        files = [f for f in found(file, folder) if f.is_file() and f.suffix in CODE]
        if NAME.fullmatch(name) and files and not any(defines(f, name) or mentions(f, name) for f in files):
            wrong.append(f"{name}: not in {file}")
    return wrong


def wrong_maps(text: str, folder: Path) -> list[str]:
    """Of tables `| file | has |`: names that none of the row's files holds."""
    wrong = []
    for cell in rows(text):
        files = [f for f in files_of(cell[0], folder) if f.suffix in CODE]
        if files and len(cell) > 1:
            wrong += [f"{n}: not in {cell[0]}" for n in names_in(cell[1])
                      if not any(mentions(f, n) for f in files)]
    return wrong


@functools.lru_cache(maxsize=None)
def words() -> frozenset[str]:
    """Every word of the sources, and their names: a test is a program."""
    files = [p for f in ("saltus", "apps", "python", "tests", "bench") for p in (ROOT / f).rglob("*")
             if p.suffix in CODE and "test_docs" not in p.name]
    return frozenset(w for p in [*files, ROOT / "CMakeLists.txt"] for w in re.findall(r"\w+", text_of(p))) | {
        p.stem for p in files}


def unknown_names(text: str) -> list[str]:
    """What can only be a name of the code (snake_case, A::b, PascalCase) and is none."""
    code = re.compile(r"[a-z]\w*_\w+|\w+(?:::\w+)+|(?:[A-Z][a-z0-9]+){2,}")
    return [s for s in spans(prose(text)) if code.fullmatch(s) and not words().issuperset(s.split("::"))]


def unmapped(folder: Path) -> list[str]:
    """Sources of a folder that its README does not name."""
    text = text_of(folder / "README.md")
    named = {p.resolve() for line in prose(text).splitlines() for p in files_of(line, folder)}
    named |= {p.with_suffix(s) for p in named for s in (".h", ".cpp")}  # a header stands for its source
    return [p.name for p in sorted(folder.iterdir()) if p.suffix in {".h", ".cpp"} and p.resolve() not in named]


def rooms() -> list[Path]:
    """Every folder with a source of the library, and those that a reader enters first."""
    saltus = {p.parent for p in (ROOT / "saltus").rglob("*.h")}
    others = ["apps", "apps/saltus/papers", "bench", "cmake", "docs", "examples", "python", "scenes", "tests",
              "tests/fixtures", "tests/fuzz", "tests/python", "tests/support", "tests/tools", "tools", "viewer"]
    return sorted(saltus | {ROOT / o for o in others})


def page_id(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", pages(), ids=page_id)
def test_named_files_exist(page):
    assert not missing_files(page.read_text(), page.parent)


@pytest.mark.parametrize("page", pages(), ids=page_id)
def test_named_functions_are_where_it_says(page):
    assert not wrong_calls(page.read_text(), page.parent)


# of the pages about our own code; others have symbols of mathematics and names of other engines
@pytest.mark.parametrize("page", [p for p in pages() if p.name in (
    "README.md", "step.md", "design-notes.md", "solvers.md", "events.md", "audit.md", "soak.md")], ids=page_id)
def test_named_functions_and_types_exist(page):
    assert not unknown_names(page.read_text())


@pytest.mark.parametrize("folder", rooms(), ids=page_id)
def test_a_readme_of_one_screen_with_a_true_map(folder):
    text = (folder / "README.md").read_text()
    assert len(text.splitlines()) <= 75
    assert not wrong_maps(text, folder)
    if folder.relative_to(ROOT).parts[0] in ("saltus", "bench") or folder.name in ("papers", "support", "tools"):
        assert not unmapped(folder)


# --- the checks can fail ---------------------------------------------------------------------------

STEP = ROOT / "docs/step.md"


@pytest.mark.parametrize("old, new, culprit", [
    ("`solvers/condense.cpp`", "`solvers/condanse.cpp`", "solvers/condanse.cpp"),
    ("`scene/units.cpp`", "`io/units.cpp`", "io/units.cpp"),
])
def test_planted_files_are_found(old, new, culprit):
    text = STEP.read_text()
    assert old in text and missing_files(text.replace(old, new), STEP.parent) == [culprit]


@pytest.mark.parametrize("old, new, culprit", [
    ("`condense`, `expand`", "`condanse`, `expand`", "condanse"),
    ("`ContactFinder::find`", "`ContactFonder::find`", "ContactFonder::find"),
    ("| `capture` | `integrators/moreau/contact_stage.cpp`", "| `capture` | `contact/finder.cpp`", "capture"),
    ("`read_metric` (`scene/scene_read.cpp`)", "`read_matric` (`scene/scene_read.cpp`)", "read_matric"),
])
def test_planted_functions_are_found(old, new, culprit):
    text = STEP.read_text()
    assert old in text
    assert any(w.startswith(f"{culprit}:") for w in wrong_calls(text.replace(old, new), STEP.parent))


def test_planted_names_are_found():
    assert unknown_names("`load_mass` `load_moss` `Forest::factor` `Forest::fuctor` `StepReport` `StepRepart`") == [
        "load_moss", "Forest::fuctor", "StepRepart"]


def test_planted_names_of_maps_are_found():
    folder = ROOT / "saltus/simulate"
    text = text_of(folder / "README.md")
    assert "`SensorBank`" in text
    wrong = wrong_maps(text.replace("`SensorBank`", "`SensorBunk`"), folder)
    assert wrong == ["SensorBunk: not in `sensors.h`, `.cpp`; `sensor_noise.cpp`"]
