"""The page of P4: every value beside its reference, and none misses."""
import re


def test_every_value_meets_its_reference(run, tmp_path):
    done = run("papers", "P4", "-o", tmp_path, timeout=600)
    assert done.code == 0, done
    assert "(0 figures outside their tolerance)" in done.out
    page = (tmp_path / "P4.html").read_text()
    assert "MISSED" not in page
    assert len(re.findall(r"<tr><td>", page)) > 60
    assert len(re.findall(r"<svg", page)) >= 21  # pictures of the creatures
    for name in ("purcell", "ellipses", "free-chain"):
        assert (tmp_path / f"runs/p4-{name}.svg").read_text().startswith("<svg")
