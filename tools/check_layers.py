#!/usr/bin/env python3
"""Checks that a module includes only what is below it (docs: the rooms of the house), and that no two
files define a type of the same name in the same namespace: the linker would mix their functions. And that
what belongs to few files stays there: the kind of a row (saltus/contact/rows/README.md) and the kind of a
joint, which no algorithm looks at (saltus/model/joint_traits.h).

usage: tools/check_layers.py [ROOT]      check ROOT/saltus and ROOT/apps (default: this repository)
       tools/check_layers.py --self-test
"""

import re
import sys
import tempfile
from pathlib import Path, PurePosixPath

LAYERS = [  # from the bottom; modules of one line do not see each other
    ["base"],
    ["lie", "laws"],
    ["rods", "solvers", "geometry"],
    ["model"],
    ["dynamics"],
    ["contact", "forces", "control"],
    ["impacts"],
    ["batch", "analysis"],
    ["integrators"],
    ["scene", "runs"],
    ["robots", "problems"],
    ["simulate"],
    ["studies"],
    ["apps"],
]
RANK = {module: rank for rank, modules in enumerate(LAYERS) for module in modules}
EVERYONE = "saltus/version.h"  # generated; belongs to no module
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]')
OPENS = re.compile(r"^(?:inline )?namespace ?([\w:]*) \{$")
CLOSES = re.compile(r"^\}  // namespace")
TYPE = re.compile(r"^(?:struct|class|enum|enum class) (\w+)(?: final)?(?: :[^;]*)? \{")
# An expression, what it is, and the files and folders that may say it.
HOMES = [
    (re.compile(r"\bBlockKind\b"), "BlockKind",
     ("saltus/model/model.h", "saltus/model/layout.h", "saltus/model/layout.cpp", "saltus/contact/rows/")),
    (re.compile(r"\b(?:holds_alternative|get_if|get)<(?:const )?(?:Fixed|Revolute|Prismatic|Planar|Spherical|Floating|"
                r"Carrier|PlanarCarrier|Bend|RodPiece)>"), "the kind of a joint",
     ("saltus/model/", "saltus/scene/", "saltus/robots/",  # what builds, reads and writes joints
      "saltus/dynamics/joint_kinematics.cpp", "saltus/dynamics/plan.cpp",  # what resolves the kinds
      "saltus/dynamics/kinematics.cpp",  # set_posture: the shape of a rod
      "saltus/analysis/shape_space.cpp", "saltus/analysis/connection.cpp",  # the group of a root, the axle of a wheel
      "saltus/integrators/events/explicit_law.cpp",  # P3's law, which is of slides only
      "saltus/runs/run_header.cpp",  # names the stations of rods
      "bench/")),  # tells other engines
]
SUFFIXES = {".h", ".hpp", ".cpp", ".inl", ".ipp"}


def module_of(path):
    """The module of a repository-relative path; None if it is not ours."""
    parts = PurePosixPath(path).parts
    if parts[0] == "apps":
        return "apps"
    if parts[0] == "saltus":
        return parts[1] if len(parts) > 2 else "apps"  # saltus/x.h, outside all modules: on top
    return None


def resolve(root, file, name):
    """The repository-relative path an include names, or None if it leads out of the repository."""
    if name.startswith(("saltus/", "apps/")):
        return str(PurePosixPath(name))
    beside = (file.parent / name).resolve()
    return beside.relative_to(root).as_posix() if beside.is_file() and root in beside.parents else None


def sources(root, folders=("saltus", "apps")):
    """Every file of the project's C++ with its lines."""
    for folder in folders:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in SUFFIXES and file.is_file():
                yield file, file.read_text(encoding="utf-8").splitlines()


def twins(root, files):
    """Types that two files define under one name; those of unnamed namespaces are each file's own."""
    seen = {}
    for file, lines in files:
        here = file.relative_to(root).as_posix()
        spaces = []
        for number, line in enumerate(lines, 1):
            if match := OPENS.match(line):
                spaces.append(match[1])
            elif CLOSES.match(line):
                spaces.pop()
            elif (match := TYPE.match(line)) and "" not in spaces:
                name = "::".join([*spaces, match[1]])
                first = seen.setdefault(name, here)
                if first != here:
                    yield f"{here}:{number}: {name} is defined in {first} too"


def strays(root, files):
    """Expressions outside the files where they belong."""
    for file, lines in files:
        here = file.relative_to(root).as_posix()
        for expression, what, homes in HOMES:
            if here.startswith(homes):
                continue
            for number, line in enumerate(lines, 1):
                if expression.search(line):
                    yield f"{here}:{number}: {what} belongs to {', '.join(homes)}"


def violations(root):
    root = root.resolve()
    files = list(sources(root))
    yield from twins(root, files)
    yield from strays(root, [*files, *sources(root, ("python", "bench"))])
    for file, lines in files:
        here = file.relative_to(root).as_posix()
        module = module_of(here)
        if module not in RANK:
            yield f"{here}:1: module '{module}' has no layer in tools/check_layers.py"
            continue
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            target = match and resolve(root, file, match[1])
            if not target or target == EVERYONE:
                continue
            other = module_of(target)
            if other is None or other == module:
                continue
            if other not in RANK:
                yield f"{here}:{number}: includes {target}, of the unknown module '{other}'"
            elif RANK[other] >= RANK[module]:
                where = "beside" if RANK[other] == RANK[module] else "above"
                yield f"{here}:{number}: {module} includes {target}, but {other} is {where} it"


def self_test():
    files = {
        "saltus/base/a.h": '#include <vector>\n#include "saltus/version.h"\n',
        "saltus/laws/law.h": '#include "saltus/base/a.h"\n',
        "saltus/model/model.h": '#include "saltus/lie/se3.h"\n#include "saltus/model/other.h"\n',
        "saltus/solvers/good.cpp": '#include "saltus/laws/law.h"\n',
        "saltus/contact/rows/cut.h": "case BlockKind::cut:\n",
        "saltus/dynamics/plan.cpp": "std::get_if<RodPiece>(&joint);\nstd::get<Other>(x);\n",
        "apps/saltus/main.cpp": '#include "saltus/scene/scene.h"\n#include "apps/saltus/x.h"\n',
    }
    planted = {
        "saltus/solvers/up.cpp": '#include "saltus/laws/law.h"\n#include "saltus/model/model.h"\n',
        "saltus/laws/beside.h": '  #  include "saltus/lie/se3.h"\n',
        "saltus/base/relative.cpp": '\n\n#include "../laws/law.h"\n',
        "saltus/base/angle.cpp": "#include <saltus/laws/law.h>\n",
        "saltus/runs/app.cpp": '#include "apps/saltus/x.h"\n',
        "saltus/runs/unknown.cpp": '#include "saltus/attic/x.h"\n',
        "saltus/attic/x.h": "\n",
        "saltus/model/mode.h": "namespace saltus {\nnamespace {\nstruct Own {\n}  // namespace\nstruct Mode {\n",
        "python/src/bind.cpp": "\nif (kind == BlockKind::cut)\n",
        "saltus/contact/kind.cpp": "\nif (std::holds_alternative<Floating>(joint))\n",
        "saltus/laws/mode.h": "namespace saltus {\nstruct Own {\nenum class Mode : char {\n",
    }
    expected = [
        "saltus/model/mode.h:5", "saltus/contact/kind.cpp:2", "python/src/bind.cpp:2",
        "saltus/attic/x.h:1", "saltus/base/angle.cpp:1", "saltus/base/relative.cpp:3",
        "saltus/laws/beside.h:1", "saltus/runs/app.cpp:1", "saltus/runs/unknown.cpp:1",
        "saltus/solvers/up.cpp:2",
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)

        def write(tree):
            for name, text in tree.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")

        write(files)
        clean = list(violations(root))
        write(planted)
        found = [":".join(v.split(":")[:2]) for v in violations(root)]
    if clean or found != expected:
        print(f"layers: self-test FAILED: clean tree {clean}, planted {found}")
        return 1
    print(f"layers: self-test found all {len(expected)} planted violations")
    return 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if len(arguments) > 1 or arguments[:1] in (["-h"], ["--help"]):
        print(__doc__.strip())
        return 2
    root = Path(arguments[0]) if arguments else Path(__file__).parent.parent
    found = list(violations(root))
    for violation in found:
        print(violation)
    print(f"layers: {len(found)} violations" if found else "layers: every module includes only what is below it")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
