"""`saltus sweep` and `saltus optimise`: parse, run, report. Exit status 0 success, 1 a failed study, 2 bad input."""
from __future__ import annotations

import argparse
import os
import sys
import warnings
from typing import NoReturn

from .. import __commit__, __version__
from ..errors import Error, InputError
from .report import write_report
from .session import Result, optimise, sweep


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"saltus: {message}; see saltus {self.prog.split()[-1]} --help\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="saltus", description="Studies: many runs of a scene.")
    parser.add_argument("--version", action="version", version=f"saltus {__version__} ({__commit__})")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    for name, about in (("sweep", "run every point of a study"),
                        ("optimise", "search for the best point of a study")):
        c = commands.add_parser(name, help=about, description=about)
        c.add_argument("study", help="study file (YAML), docs/studies.md")
        c.add_argument("-o", "--output", help="folder of the tables; default: STUDY.study")
        c.add_argument("-j", "--workers", type=int, help="processes of this machine; default: a core each")
        c.add_argument("--cluster", metavar="ADDRESS",
                       help="a Dask scheduler, tcp://HOST:PORT or tls://HOST:PORT")
        c.add_argument("--no-report", action="store_true", help="tables only, no pictures and no page")
        c.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")
    return parser


def _print(result: Result) -> None:
    print(f"{result.study.title or result.study.scene}")
    print(f"  runs            {result.count}, {result.failures} failed")
    if result.best is not None:
        best, study = result.best, result.study
        print(f"  best            run {best['run']}, {study.objective.text} = {best['objective']:.9g}")
        for p in study.parameters:
            print(f"    {p.name:<13} {best[p.name]!r}{' ' if p.unit else ''}{p.unit}")
    for i, why in enumerate(result.ended):
        if why:
            print(f"  start {i:<9} {why}")
    print(f"  written         {result.folder}")


def _failed(result: Result) -> bool:
    """No row that counts: every run of a sweep failed, or no start found anything."""
    return result.best is None if result.study.objective is not None else result.failures == result.count


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    print(f"saltus: {message}", file=sys.stderr)


def main(arguments: list[str] | None = None) -> int:
    a = _parser().parse_args(arguments)
    warnings.showwarning = _warn
    draw = not a.quiet and sys.stderr.isatty()
    try:
        # The command line of another version would repeat runs with other bits.
        binary = os.environ.get("SALTUS_COMMAND_VERSION")
        if binary is not None and binary != __version__:
            raise InputError(f"the command line is saltus {binary}, the Python package saltus "
                             f"{__version__}: install the same version")
        run = sweep if a.command == "sweep" else optimise
        result = run(a.study, output=a.output, workers=a.workers, cluster=a.cluster, progress=draw)
        if not a.no_report:
            write_report(result)
        if not a.quiet:
            _print(result)
        return 1 if _failed(result) else 0
    except KeyboardInterrupt:
        print("saltus: stopped; finished rows are kept, the same command goes on", file=sys.stderr)
        return 1
    except InputError as e:
        print(f"saltus: {e}", file=sys.stderr)
        return 2
    except Error as e:
        print(f"saltus: {e}", file=sys.stderr)
        return 1
    except OSError as e:
        print(f"saltus: {e.filename or ''}: {e.strerror}; finished rows are kept", file=sys.stderr)
        return 1
