"""The documentation stays true: the published schema, the examples that it prints, its links."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").glob("*.md")), ROOT / "viewer/README.md",
         *(p for f in ("apps", "bench", "cmake", "examples", "python", "saltus", "scenes", "tests", "tools")
           for p in sorted((ROOT / f).rglob("README.md")))]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.M | re.S)


def test_the_published_schema_is_the_reader_s(run):
    """Refresh it with: build/release/bin/saltus schema > docs/schema/scene.schema.json"""
    published = json.loads((ROOT / "docs/schema/scene.schema.json").read_text())
    assert published == json.loads(run("schema").out)


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "docs/scenes.md",
                                  ROOT / "docs/actuators.md", ROOT / "docs/sensors.md"], ids=lambda p: p.name)
def test_printed_scenes_run(run, page, tmp_path):
    scenes = [b for b in blocks(page, "yaml") if b.startswith("saltus: 1")]
    assert scenes, f"{page.name} prints no whole scene"
    for i, text in enumerate(scenes):
        path = tmp_path / f"scene{i}.yaml"
        path.write_text(text)
        done = run("run", path, "-q")
        assert done.code == 0, f"{page.name}, scene {i}: {done.err}"


def keys(schema) -> set[str]:
    found = set()
    if isinstance(schema, dict):
        found |= set(schema.get("properties", {}))
        for value in schema.values():
            found |= keys(value)
    elif isinstance(schema, list):
        for value in schema:
            found |= keys(value)
    return found


def test_every_key_is_documented(run):
    text = (ROOT / "docs/scenes.md").read_text()
    missing = {k for k in keys(json.loads(run("schema").out)) if not re.search(rf"\b{k}\b", text)}
    assert not missing


def test_links_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
            if not target.startswith(("http", "file:")):
                assert (page.parent / target).exists(), f"{page.relative_to(ROOT)}: {target}"
