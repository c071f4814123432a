"""The pictures of a study and its page: one file that opens anywhere, with replays of chosen runs."""
from __future__ import annotations

import tempfile
from html import escape
from pathlib import Path
from typing import Any

from .. import notebook, runs
from ..errors import Error
from .bundle import pack
from .pictures import Rows, default_plots, file_name, svg
from .session import Result
from .study import Study
from .tables import columns

_SHOWN = 200  # rows on the page; all are in the table
_STYLE = """body{font:15px system-ui,sans-serif;max-width:1080px;margin:2em auto;padding:0 1em;color:#1f2328}
table{border-collapse:collapse;font-size:13px}td,th{border:1px solid #d0d7de;padding:2px 8px;text-align:right}
tr.failed{background:#ffebe9}tr.best{background:#dafbe1}code{font-size:12px}svg{max-width:100%;height:auto}
details{margin:1em 0}"""


def write_report(result: Result, *, replays: bool = True) -> list[Path]:
    """plots/*.svg and report.html in the study's folder."""
    study, rows = result.study, result.rows()
    folder = result.folder / "plots"
    folder.mkdir(exist_ok=True)
    written, drawn = [], []
    for plot in study.plots or default_plots(study, rows):
        path = folder / file_name(plot)
        drawn.append(svg(study, rows, plot))
        path.write_text(drawn[-1], encoding="utf-8")
        written.append(path)
    page = result.folder / "report.html"
    page.write_text(_page(result, rows, drawn, _replays(study, result, rows) if replays else []),
                    encoding="utf-8")
    return [*written, page]


def chosen(result: Result, rows: Rows) -> list[dict[str, Any]]:
    """The rows that the study wants to see, the best one if it says nothing."""
    study = result.study
    wanted = study.replays or (("best",) if study.objective is not None else ())
    found = []
    for w in wanted:
        judged = [r for r in rows if r.get("feasible")]
        key = (lambda r: -r["objective"]) if study.maximise else (lambda r: r["objective"])
        if w in ("best", "worst"):
            found += ([min(judged, key=key)] if w == "best" else [max(judged, key=key)]) if judged else []
        elif w < len(rows):
            found.append(rows[w])
        else:
            raise study.document.error("replays", f"there is no run {w}: there are {len(rows)}")
    return found


def _replays(study: Study, result: Result, rows: Rows) -> list[tuple[str, str]]:
    found = []
    bundle = pack(study.scene_path)
    for row in chosen(result, rows):
        values = {p.name: row[p.name] for p in study.parameters}
        title = f"run {row['run']}: " + ", ".join(f"{k} = {v:.6g}" if isinstance(v, float) else f"{k} = {v}"
                                                  for k, v in values.items())
        with tempfile.TemporaryDirectory(prefix="saltus-") as folder:
            try:
                run = runs.run(bundle.load(study.overrides(values)), output=Path(folder) / "run.h5",
                               check=False)
                found.append((title, notebook.html(run)))
            except Error as e:
                found.append((title, f"<p>{escape(str(e))}</p>"))
    return found


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else escape(str(value))


def _table(result: Result, rows: Rows) -> str:
    names = [c for c in columns(result.study) if c != "command"]
    best = result.best["run"] if result.best else None
    lines = ["<table><tr>" + "".join(f"<th>{escape(n)}</th>" for n in names) + "</tr>"]
    for r in rows[:_SHOWN]:
        mark = "best" if r["run"] == best else "failed" if r["status"] != "completed" else ""
        lines.append(f'<tr class="{mark}" title="{escape(r["command"])}">'
                     + "".join(f"<td>{_cell(r[n])}</td>" for n in names) + "</tr>")
    if len(rows) > _SHOWN:
        lines.append(f"</table><p>The first {_SHOWN} of {len(rows)} rows.</p><table>")
    return "\n".join([*lines, "</table>"])


def _page(result: Result, rows: Rows, drawn: list[str], replays: list[tuple[str, str]]) -> str:
    study = result.study
    title = escape(study.title or Path(study.document.name).stem)
    parts = [f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>"
             f"<style>{_STYLE}</style><h1>{title}</h1>",
             f"<p>{result.count} runs of <code>{escape(study.scene)}</code>, {result.failures} failed.</p>"]
    if result.best:
        best = result.best
        parts.append(f"<p>Best: run {best['run']}, {escape(study.objective.text)} = "
                     f"{best['objective']:.9g}. <code>{escape(best['command'])}</code></p>")
    parts += [f"<p>Start {i} ended: {escape(why)}</p>" for i, why in enumerate(result.ended) if why]
    # An SVG inside a page has no XML declaration and no document type.
    parts += [f"<figure>{s[s.index('<svg'):]}</figure>" for s in drawn]
    parts += [f"<h2>{escape(t)}</h2>{body}" for t, body in replays]
    parts.append(f"<h2>Runs</h2><p>Commands (hover over a row) repeat a run in the folder of the study "
                 f"file.</p>{_table(result, rows)}</html>")
    return "\n".join(parts)
