"""`saltus papers`: the site is made, every judged figure is within its tolerance."""

import re


def test_p0_page(run, tmp_path):
    out = tmp_path / "site"
    done = run("papers", "P0", "-o", out, timeout=300)
    print(done.out)
    assert done.code == 0, done.err
    page = (out / "P0.html").read_text()
    for figure in ("Fig. 9", "Fig. 10", "Fig. 11", "Fig. 12 (a)", "Fig. 12 (b)", "Fig. 13",
                   "Fig. 14", "Fig. 15"):
        assert figure in page, figure
    assert page.count("<svg") == page.count("</svg>") >= 10
    assert "class='n no'" not in page
    assert len(re.findall("class='n ok'", page)) >= 12
    assert not re.search(r"\bnan\b", re.sub(r"<style>.*?</style>", "", page).lower())
    assert 'href=\'P0.html\'' in (out / "index.html").read_text()


def test_p3_page(run, tmp_path):
    out = tmp_path / "site"
    done = run("papers", "P3", "-o", out, timeout=900)
    print(done.out)
    assert done.code == 0, done.err
    page = (out / "P3.html").read_text()
    for figure in ("Fig. 1.2 left", "Fig. 1.2 middle", "Fig. 1.2 right",
                   *(f"Fig. 4.{k}: " for k in range(1, 9)), *(f"Fig. 6.{k}: " for k in range(1, 4)),
                   "transition graph", "Three ways", "Open: the sequence of factors",
                   "Open: can a control", "Open: 50 masses", "Open: an unbalanced rotor",
                   "Open: a parameter study"):
        assert figure in page, figure
    assert page.count("<svg") == page.count("</svg>") >= 25
    assert "class='n no'" not in page
    assert len(re.findall("class='n ok'", page)) >= 30
    assert "differ<" not in page  # modes agree on every scene
    assert not re.search(r"\bnan\b", re.sub(r"<style>.*?</style>", "", page).lower())


def test_unknown_paper(run, tmp_path):
    done = run("papers", "P9", "-o", tmp_path / "site")
    assert done.code == 2 and "P9" in done.err


def test_unwritable_folder(run, tmp_path):
    (tmp_path / "file").write_text("")
    done = run("papers", "P0", "-o", tmp_path / "file" / "site")
    assert done.code == 2 and "cannot make this folder" in done.err
