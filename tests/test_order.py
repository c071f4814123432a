"""The order in which a scene's file lists its bodies, rods, obstacles, ... means nothing: every scene, shuffled."""
import json
import random
import shutil
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")

SCENES = Path(__file__).resolve().parent.parent / "scenes"
LISTS = ("bodies", "rods", "bends", "obstacles", "springs", "motors", "loops", "wheels", "fluids", "wings", "sensors", "drags",
         "cables")
UNITS = {"ms": 1e-3, "us": 1e-6}


def number(value):
    figure, *unit = str(value).split()
    return float(figure) * (UNITS[unit[0]] if unit and unit[0] in UNITS else 1)


def short(path):
    """The scene's first forty steps, without metrics; None if it has nothing to shuffle."""
    scene = yaml.safe_load(path.read_text())
    if not isinstance(scene, dict) or "saltus" not in scene:
        return None
    if not any(isinstance(scene.get(k), list) and len(scene[k]) > 1 for k in LISTS):
        return None
    time = dict(scene.get("time", {}))
    time["end"] = min(number(time.get("end", 1)), 40 * number(time.get("step", 1e-3)))
    return {**{k: v for k, v in scene.items() if k not in ("metrics", "output")}, "time": time}


FOUND = {str(p.relative_to(SCENES)): s for p in sorted(SCENES.rglob("*.yaml")) if (s := short(p))}


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    return Path(shutil.copytree(SCENES, tmp_path_factory.mktemp("order") / "scenes"))


@pytest.mark.parametrize("name", FOUND)
def test_lists_have_no_order(run, copy, name):
    shuffled = json.loads(json.dumps(FOUND[name], default=str))
    random.seed(3)
    for key in LISTS:
        if isinstance(shuffled.get(key), list):
            random.shuffle(shuffled[key])
    ends = []
    for scene in (FOUND[name], shuffled):
        path = copy / name
        path.write_text(yaml.safe_dump(scene, sort_keys=False))
        done = run("run", path, "--json")
        assert done.out, (done.code, done.err)
        energy = json.loads(done.out)["energy"]
        ends.append({k: energy[k] for k in ("kinetic", "potential", "friction", "change")})
    off = max(abs(ends[0][k] - ends[1][k]) for k in ends[0])
    size = max(abs(e) for e in ends[0].values())
    print(f"    {name}: energies at most {off:.1e} J apart, of {size:.2g} J")
    # Sums in another order, and contacts solved to 1e-8 m/s and better in another order.
    assert off <= 1e-10 * max(size, 1e-3)
