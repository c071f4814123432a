"""`saltus papers P1`: the page is made, passes its own judgement and shows every run."""

import re
import time

import pytest

RUNS = ("pendulum-3-4-1", "pendulum-3-6-1", "pendulum-5-2-1", "pendulum-5-2-2", "pendulum-5-2-3",
        "pendulum-5-5", "pendulum-5-5-attenuation", "pendulum-5-5-constraint",
        "bicycle-4-2-alpha-0", "bicycle-4-2-alpha-15", "bicycle-4-2-alpha-30",
        "bicycle-4-2-alpha-45", "bicycle-3-4-2", "bicycle-3-7-1", "bicycle-3-7-2", "bicycle-3-7-3",
        "bicycle-5-3-1", "bicycle-5-3-2", "bicycle-5-3-3", "appendix-a", "appendix-a-rk4")
TABLE_2_4 = ("849.45", "490.86", "54.32", "67.04", "63.88", "91.42", "244.73", "89.96", "30.71",
             "29.61", "406.05", "416.70", "69.11", "580.33", "1321.12")


@pytest.fixture(scope="module")
def site(run, tmp_path_factory):
    out = tmp_path_factory.mktemp("papers") / "site"
    start = time.time()
    done = run("papers", "P1", "-o", out, timeout=300)
    print(done.out, f"{time.time() - start:.1f} s")
    assert done.code == 0, done.out + done.err
    assert "(0 figures outside their tolerance)" in done.out
    return out


def test_names_every_run(site):
    page = (site / "P1.html").read_text()
    for name in RUNS:
        assert re.search(rf"scenes/p1/{name}\.yaml", page), name
    for seconds in TABLE_2_4:
        assert f"<td class=n>{seconds}</td>" in page, seconds
    assert "too slow" not in page and "expected otherwise" not in page
    assert "href='P1.html'" in (site / "index.html").read_text()


def test_figures(site):
    page = (site / "P1.html").read_text()
    for name in ("leg-jump", "leg", "leg-springs"):
        assert re.search(rf"scenes/p1/{name}\.yaml", page), name
    for figure in ("Chapter 6", "posture or preload", "over femur and tibia", "the leg jumps and lands",
                   *(f"Fig. 4.{k}: " for k in (2, 3, 4, 5, 8, 9, 10, 11)), "Fig. A.2b", "Fig. A.2c",
                   "Fig. A.3b", "Fig. A.3c", "three ways", "The laws side by side",
                   "the first impact is identical"):
        assert figure in page, figure
    pictures = re.findall(r"<svg.*?</svg>", page, re.S)
    assert len(pictures) >= 18 * 2 + 12 * 2 + 8 + 4 + 5
    titles = [re.search(r'aria-label="([^"]*)"', p).group(1) for p in pictures]
    assert len(set(titles)) == len(titles)  # a clip path is named by its title
    for picture, title in zip(pictures, titles):
        inside = picture.split("<clipPath", 1)[1]
        cells = inside.count('<rect') > 100  # of a map
        assert cells or re.search(r'class="curve" d="M[^"]*L', inside), f"{title}: nothing is drawn"


def test_figures_are_judged(site):
    page = (site / "P1.html").read_text()
    assert "class='n no'" not in page
    assert len(re.findall("class='n ok'", page)) >= 22 + 12
    text = re.sub(r"<(style|svg).*?</\1>", "", page, flags=re.S)
    assert not re.search(r"\bnan\b|\binf\b|not reached|\bTODO\b|\{\}|\{:", text, re.I)
    assert not re.search(r"\bnan\b|\binf\b", page, re.I)
