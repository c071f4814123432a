"""The public headers (cmake/public_headers.cmake) and what they include need no library but Eigen and fmt."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.M)
OTHERS = re.compile(r"/|\.h(pp)?$")  # the standard's have neither a folder nor an ending
ALLOWED = re.compile(r"Eigen/|fmt/")


def public_headers() -> list[str]:
    text = (ROOT / "cmake/public_headers.cmake").read_text()
    return re.findall(r"^  (saltus/\S+\.h)", text, re.M)


def includes(header: str) -> list[str]:
    path = ROOT / header
    return INCLUDE.findall(path.read_text() if path.exists() else (ROOT / "cmake/version.h.in").read_text())


def installed(read=includes) -> dict[str, list[str]]:
    """Header -> the way to it."""
    ways = {h: [h] for h in public_headers()}
    todo = list(ways)
    while todo:
        header = todo.pop()
        for name in read(header):
            if name.startswith("saltus/") and name not in ways:
                ways[name] = [*ways[header], name]
                todo.append(name)
    return ways


def intruders(read=includes) -> list[str]:
    return [" -> ".join([*way, name]) for header, way in installed(read).items() for name in read(header)
            if OTHERS.search(name) and not name.startswith("saltus/") and not ALLOWED.match(name)]


def test_listed_headers_exist():
    assert len(public_headers()) > 30
    missing = [h for h in public_headers() if not (ROOT / h).is_file() and h != "saltus/version.h"]
    assert not missing


def test_no_private_dependency_is_installed():
    assert not intruders()


def test_private_headers_stay_at_home():
    private = ["saltus/scene/document.h", "saltus/scene/fields.h", "saltus/robots/xml.h",
               "saltus/runs/hdf5_handle.h", "saltus/simulate/run_summary.h",
               "saltus/integrators/moreau/stepper.h"]
    assert all((ROOT / p).is_file() for p in private)
    assert not set(private) & set(installed())


def test_planted_dependencies_are_found():
    def planted(header):
        return includes(header) + {"saltus/base/types.h": ["hdf5.h"], "saltus/scene/scene.h": ["nlohmann/json.hpp"],
                                   "saltus/model/model.h": ["vector", "Eigen/Core", "fmt/core.h"]}.get(header, [])

    found = intruders(planted)
    assert len(found) == 2 and found[0].split(" -> ")[-1] != found[1].split(" -> ")[-1]
