"""The viewer's server against hostile requests, and the messages of view, report and run --view."""
import json
import re
import shutil
import socket
import struct
import time

import h5py
import numpy as np
import pytest


@pytest.fixture(scope="module")
def run_file(run, scenes, tmp_path_factory):
    path = tmp_path_factory.mktemp("server") / "pegs.h5"
    done = run("run", scenes / "p0/pegs.yaml", "--set", "time.end=0.5", "--set", "metrics=[]", "-q", "-o", path)
    assert done.code == 0, done.err
    return path


def address_of(process):
    line = process.stdout.readline().decode()
    return int(re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\n", line)[1])


@pytest.fixture
def port(start, run_file):
    """A server of the run; the test fails if the server does not survive it."""
    process = start("view", run_file, "--no-browser", "--port", free_port())
    number = address_of(process)
    yield number
    assert process.poll() is None, "the server died"
    status, _, body = get(number, "/api/status")
    assert status == 200 and json.loads(body)["runs"][0]["rows"]["frames"] == 51


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return str(s.getsockname()[1])


def exchange(port, data, timeout=15):
    """Sends raw bytes; the status (0: the connection was closed without an answer), headers, body."""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as s:
        try:
            s.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass
        answer = b""
        try:
            while block := s.recv(65536):
                answer += block
        except ConnectionResetError:
            pass
    head, _, body = answer.partition(b"\r\n\r\n")
    match = re.match(rb"HTTP/1\.1 (\d{3})", head)
    return (int(match[1]) if match else 0), head.decode("latin1"), body


def get(port, path, host=None, method="GET", extra=""):
    host = f"127.0.0.1:{port}" if host is None else host
    return exchange(port, f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n{extra}\r\n".encode("latin1"))


DATA = "/api/data?run=0&table=frames&columns=pose&first=0&count=1"


def test_serves_the_page_and_exact_rows(port, run_file):
    status, head, body = get(port, "/")
    assert status == 200 and b"<title>Saltus</title>" in body
    assert "X-Frame-Options: DENY" in head and "nosniff" in head
    assert not re.search(rb"(src|href)=[\"']?https?://", body), "the page loads nothing from elsewhere"
    with h5py.File(run_file) as f:
        pose, com = f["frames/pose"][:], f["frames/com"][:]
        contact = {k: f["contacts"][k][:] for k in f["contacts"]}
        end = f["frames/contact_end"][:]
    status, _, body = get(port, "/api/data?run=0&table=frames&columns=pose,com&first=3&count=40")
    assert status == 200
    assert body == pose[3:43].tobytes() + com[3:43].tobytes()
    _, _, body = get(port, "/api/data?run=0&table=frames&columns=pose&first=1&count=5&stride=10&offset=7&width=3")
    assert body == pose[1:42:10, 7:10].tobytes()
    _, _, body = get(port, "/api/data?run=0&table=contacts&columns=b&first=0&count=9")
    assert np.array_equal(np.frombuffer(body), contact["b"][:9])
    rows = {tuple(int(contact[k][i]) for k in ("kind", "a", "b", "feature")): i for i in range(len(contact["a"]))}
    series_of = "/api/series?run=0&table=contacts&points=1000&column="
    for kind, a, b, feature in rows:
        who = f"&b={b}" if kind else f"&a={a}&b={b}"
        mine = (contact["a"] == a) & (contact["b"] == b) & (contact["feature"] == feature)
        expected = np.full(51, np.nan)
        for i in np.flatnonzero(mine):
            expected[np.searchsorted(end, i, side="right")] = contact["impulse"][i, 0]
        for one in ("", f"&feature={feature}"):
            _, _, body = get(port, f"{series_of}impulse&component=0{who}{one}")
            series = np.frombuffer(body).reshape(2, -1)
            assert series.shape == (2, 51) and np.array_equal(series[1], expected, equal_nan=True)
        _, _, body = get(port, f"{series_of}gap{who}&feature={feature + 1}")
        assert np.isnan(np.frombuffer(body)[51:]).all()
    status, _, body = get(port, "/api/contacts?run=0")
    found = json.loads(body)
    assert status == 200 and found["complete"] and not found["full"] and found["scanned"] == end[-1]
    assert found["contacts"] == sorted(list(key[1:]) for key in rows)


def test_a_pair_that_touches_in_several_points(start, run, scenes, tmp_path):
    """Without a feature impulses add up, and of other columns the first point counts."""
    path = tmp_path / "block.h5"
    assert run("run", scenes / "incline.yaml", "--set", "time.end=0.2", "--set", "metrics=[]", "-q", "-o", path).code == 0
    with h5py.File(path) as f:
        contact = {k: f["contacts"][k][:] for k in f["contacts"]}
        end, dt = f["frames/contact_end"][:], json.loads(bytes(f["header"][:]))["dt"]
    rows = [range(a, b) for a, b in zip(end[:-1], end[1:])]
    assert all(len(r) > 1 for r in rows) and len(set(contact["feature"])) == 4
    a, b = contact["a"][0], contact["b"][0]
    assert (contact["a"] == a).all() and (contact["b"] == b).all()
    port = address_of(start("view", path, "--no-browser", "--port", free_port()))
    asked = f"/api/series?run=0&table=contacts&points=1000&a={a}&b={b}&column="
    _, _, body = get(port, asked + "normal_impulse")
    y = np.frombuffer(body).reshape(2, -1)[1]
    assert np.isnan(y[0]) and np.allclose(y[1:], [contact["normal_impulse"][r].sum() for r in rows], rtol=1e-14)
    assert y[-1] / dt == pytest.approx(2 * 9.2183847150, rel=1e-6), "the weight across the incline"
    for column in ("gap", "feature"):
        _, _, body = get(port, asked + column)
        assert list(np.frombuffer(body).reshape(2, -1)[1][1:]) == [contact[column][r[0]] for r in rows]
    for feature in set(contact["feature"]):
        _, _, body = get(port, f"{asked}normal_impulse&feature={feature}")
        y = np.frombuffer(body).reshape(2, -1)[1][1:]
        for value, r in zip(y, rows):
            mine = [contact["normal_impulse"][i] for i in r if contact["feature"][i] == feature]
            assert np.isnan(value) if not mine else [value] == mine
    found = json.loads(get(port, "/api/contacts?run=0")[2])
    assert found["contacts"] == [[a, b, f] for f in sorted(set(contact["feature"]))]


def test_thins_a_series_to_its_extremes(port, run_file):
    with h5py.File(run_file) as f:
        t, y = f["steps/t"][:], f["steps/residual"][:]
    status, head, body = get(port, "/api/series?run=0&table=steps&column=residual&points=20")
    series = np.frombuffer(body).reshape(2, -1)
    assert status == 200 and "X-Saltus-Reduction: extremes" in head and series.shape[1] <= 21
    assert series[1].max() == y.max() and series[1].min() == y.min()
    for time_, value in series.T:  # every point is a row
        assert y[np.flatnonzero(t == time_)[0]] == value


@pytest.mark.parametrize("path", [
    "/..", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/./../etc/passwd", "/etc/passwd",
    "/..\\..\\etc\\passwd", "/api/../../../etc/passwd", "/index.html/../../etc/passwd", "/%00", "/api/runs%00.html",
    "/api", "/api/", "/api/runs/", "/API/runs", "/pegs.h5", "/api/data/../../pegs.h5", "/file:///etc/passwd",
    "http://127.0.0.1/etc/passwd", "*", "/\xff\xfe",
])  # fmt: skip
def test_serves_no_other_path(port, path):
    status, _, body = get(port, path)
    assert 400 <= status < 500 and b"root:" not in body and b"HDF" not in body


@pytest.mark.parametrize("host", [
    "", "evil.example", "127.0.0.1", "localhost", "127.0.0.1:1", "127.0.0.1.evil.example:{port}", "evil.example:{port}",
    "localhost:{port}.evil.example", "0.0.0.0:{port}", "LOCALHOST:{port}x", "127.0.0.1:{port}:80", "user@127.0.0.1:{port}",
])  # fmt: skip
def test_refuses_other_hosts(port, host):
    for path in ("/", "/api/runs", DATA):
        status, _, body = get(port, path, host=host.format(port=port))
        assert status == 403 and b"<html" not in body


def test_knows_its_own_names(port):
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"):
        assert get(port, "/", host=host)[0] == 200
    assert exchange(port, b"GET / HTTP/1.1\r\n\r\n")[0] == 403
    assert get(port, "/", extra=f"Host: 127.0.0.1:{port}\r\n")[0] == 403


@pytest.mark.parametrize("extra", [
    "Origin: http://evil.example\r\n", "Origin: null\r\n", "Origin: https://127.0.0.1:{port}\r\n",
    "Origin: http://127.0.0.1:1\r\n", "Origin: http://127.0.0.1:{port}@evil.example\r\n",
    "Origin: http://127.0.0.1:{port}\r\nOrigin: http://evil.example\r\n",
    "Sec-Fetch-Site: cross-site\r\n", "Sec-Fetch-Site: same-site\r\n",
])  # fmt: skip
def test_refuses_other_origins(port, extra):
    for method, path in (("GET", "/api/runs"), ("POST", "/api/live?do=pause")):
        assert get(port, path, method=method, extra=extra.format(port=port))[0] == 403
    assert get(port, "/api/runs", extra=f"Origin: http://localhost:{port}\r\nSec-Fetch-Site: same-origin\r\n")[0] == 200


@pytest.mark.parametrize("path", [
    "/api/data", "/api/data?", "/api/data?run=0", "/api/data?run=1&table=frames&columns=pose&first=0&count=1",
    DATA.replace("run=0", "run=-1"), DATA.replace("run=0", "run=0x0"), DATA.replace("run=0", "run="),
    DATA.replace("run=0", "run=0&run=1"), DATA.replace("run=0", "run=" + 400 * "9"),
    DATA.replace("frames", "nothing"), DATA.replace("frames", "../frames"), DATA.replace("frames", "checkpoints"),
    DATA.replace("pose", "nothing"), DATA.replace("pose", "pose,"), DATA.replace("pose", ","), DATA.replace("pose", ""),
    DATA.replace("pose", ",".join(["t"] * 100)), DATA.replace("pose", "%00"), DATA.replace("pose", "po\xffse"),
    DATA.replace("first=0", "first=-1"), DATA.replace("first=0", "first=51"), DATA.replace("first=0", "first=1e3"),
    DATA.replace("first=0", "first=18446744073709551615"), DATA.replace("first=0", "first=99999999999999999999999"),
    DATA.replace("count=1", "count=52"), DATA.replace("count=1", "count=-5"), DATA.replace("count=1", "count=nan"),
    DATA.replace("count=1", "count=9007199254740992"), DATA.replace("count=1", "count=1.5"),
    DATA.replace("count=1", "count=18446744073709551616"), DATA.replace("count=1", "count=%201"),
    DATA.replace("count=1", "count=2&stride=51"), DATA.replace("count=1", "count=2&stride=9007199254740992"),
    DATA + "&stride=0", DATA + "&stride=-1", DATA + "&offset=77", DATA + "&width=0", DATA + "&width=78",
    DATA + "&offset=70&width=8", DATA.replace("pose", "pose,com") + "&offset=1",
    "/api/series?run=0&table=steps&column=t", "/api/series?run=0&table=steps&column=t&points=1",
    "/api/series?run=0&table=steps&column=t&points=99999999", "/api/series?run=0&table=steps&column=t&points=20&component=1",
    "/api/series?run=0&table=contacts&column=gap&points=20", "/api/series?run=0&table=contacts&column=gap&points=20&b=-1",
    "/api/series?run=0&table=contacts&column=gap&points=20&a=1", "/api/series?run=0&table=contacts&column=gap&points=20&a=-1&b=1",
    "/api/series?run=0&table=contacts&column=gap&points=20&b=4294967296", "/api/series?run=0&table=contacts&column=gap&points=20&b=1&feature=x",
    "/api/contacts", "/api/contacts?run=1", "/api/contacts?run=-1",
])  # fmt: skip
def test_malformed_queries(port, path):
    status, _, body = get(port, path)
    assert status == 400, body
    assert json.loads(body)["error"]


@pytest.mark.parametrize("data", [
    b"\r\n\r\n", b"GET\r\n\r\n", b"GET /\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"BREW / HTTP/1.1\r\n\r\n", b"\x00" * 2000 + b"\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",  # TLS
    b"GET / HTTP/1.1\nHost: x\n\n\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET /" + 9000 * b"a" + b" HTTP/1.1\r\n\r\n", b"GET /?" + 100_000 * b"a=b&" + b" HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nX: " + 100_000 * b"x" + b"\r\n\r\n", b"GET / HTTP/1.1\r\n" + 3000 * b"X: y\r\n" + b"\r\n",
    b"GET / HTTP/1.1\r\nRange: bytes=9-1\r\n\r\n", b"GET / HTTP/1.1\r\nRange: bytes=" + 500 * b"0-1," + b"0-1\r\n\r\n",
    b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n" + 10_000 * b"x",
    b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\nx", b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\n",
    b"PUT / HTTP/1.1\r\n\r\n", b"DELETE /api/runs HTTP/1.1\r\n\r\n", b"OPTIONS * HTTP/1.1\r\n\r\n", b"CONNECT evil:80 HTTP/1.1\r\n\r\n",
])  # fmt: skip
def test_malformed_and_oversized_requests(port, data):
    named = data.replace(b" HTTP/1.1\r\n", f" HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n".encode(), 1)
    for request in (data, named):
        status, _, _ = exchange(port, request)
        # Ranges are ignored; what is no HTTP may be left without an answer.
        assert status == 0 or 400 <= status < 500 or (b"Range" in request and status in (200, 416))


def test_only_a_live_page_steers(port):
    assert get(port, "/api/live?do=pause", method="POST")[0] == 404
    assert get(port, "/api/live?do=pause")[0] == 404  # GET


def test_slow_clients_do_not_block_others(port):
    """A flood of connections that never finish their request: others wait a few seconds at most."""
    slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(60)]
    for s in slow:
        s.sendall(b"GET / HTTP/1.1\r\nHost:")
    began = time.monotonic()
    assert get(port, "/")[0] == 200
    assert time.monotonic() - began < 8
    # Dripping bytes does not prolong the life of a connection.
    alive, began = slow[:4], time.monotonic()
    while alive and time.monotonic() - began < 8:
        time.sleep(0.5)
        for s in list(alive):
            try:
                s.sendall(b"x")
            except OSError:
                alive.remove(s)
    assert not alive
    for s in slow:
        s.close()


def test_resets_in_the_middle_of_an_answer(port):
    for _ in range(30):
        s = socket.create_connection(("127.0.0.1", port))
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        s.close()  # RST


def test_listens_on_loopback_only(port):
    with open("/proc/net/tcp", encoding="ascii") as table:
        mine = [line.split() for line in table if f":{port:04X} " in line.split("rem")[0][:30]]
    listening = [row[1] for row in mine if row[3] == "0A"]
    assert listening == [f"0100007F:{port:04X}"]


def test_port_in_use(start, run, run_file):
    first = start("view", run_file, "--no-browser", "--port", free_port())
    number = address_of(first)
    again = run("view", run_file, "--no-browser", "--port", str(number))
    assert again.code == 2 and f"port {number}" in again.err and "--port" in again.err
    live = run("run", "scenes/bouncing-ball.yaml", "--view", "--no-browser", "--port", str(number))
    assert live.code == 2 and f"port {number}" in live.err
    a, b = start("view", run_file, "--no-browser"), start("view", run_file, "--no-browser")
    assert address_of(a) != address_of(b), "without --port a second server finds another port"


def test_missing_browser(start, run_file):
    process = start("view", run_file, "--port", free_port(), env={"PATH": "/nonexistent"})
    number = address_of(process)
    assert get(number, "/")[0] == 200
    process.terminate()
    assert b"no browser" in process.communicate()[1]


def test_bad_runs(run, run_file, tmp_path):
    text = tmp_path / "text.h5"
    text.write_text("no run")
    cut = tmp_path / "cut.h5"
    cut.write_bytes(run_file.read_bytes()[:20_000])
    other = tmp_path / "other.h5"
    with h5py.File(other, "w") as f:
        f["x"] = 1
    newer = tmp_path / "newer.h5"
    shutil.copy(run_file, newer)
    with h5py.File(newer, "r+") as f:
        f.attrs.modify("format_version", np.int32(99))
    cases = {text: "not an HDF5 file", cut: "damaged", other: "another kind of HDF5 file", newer: "newer",
             tmp_path / "absent.h5": "absent.h5", tmp_path: str(tmp_path)}  # fmt: skip
    for path, words in cases.items():
        for command in (["view", path, "--no-browser"], ["view", run_file, path, "--no-browser"],
                        ["report", path, "-o", tmp_path / "page.html"]):  # fmt: skip
            done = run(*command)
            assert done.code == 2 and words in done.err, (path, done)
            assert done.err.startswith("saltus: ") and done.err.count("\n") == 1
    assert not (tmp_path / "page.html").exists()


def test_report_keeps_its_size(run, run_file, tmp_path):
    page = tmp_path / "page.html"
    for cap in ("1", "8"):
        done = run("report", run_file, "-o", page, "--size-cap", cap)
        assert done.code == 0, done.err
        assert page.stat().st_size <= float(cap) * 1e6
        text = page.read_text(encoding="utf-8")
        info = json.loads(re.search(r'id="saltus-run">(.*?)</script>', text, re.DOTALL)[1])
        assert info["tables"][1]["name"] == "frames" and info["tables"][1]["rows"] >= 2
    small = run("report", run_file, "-o", page, "--size-cap", "0.2")
    assert small.code == 2 and "--size-cap" in small.err
    same = run("report", run_file, "-o", run_file)
    assert same.code == 2 and "it is the run" in same.err
    assert run("report", run_file, "-o", tmp_path / "no/page.html").code == 2


def test_report_escapes_the_scene(run, repo, tmp_path):
    """A title that tries to end the data's element stays text."""
    scene = tmp_path / "scene.yaml"
    text = (repo / "scenes/bouncing-ball.yaml").read_text()
    assert re.search(r"^title:.*$", text, re.MULTILINE)
    title = "</script><script>alert(1)</script><!--"
    scene.write_text(re.sub(r"^title:.*$", f'title: "{title}"', text, flags=re.MULTILINE))
    assert run("run", scene, "-q", "-o", tmp_path / "run.h5").code == 0
    assert run("report", tmp_path / "run.h5", "-o", tmp_path / "page.html").code == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "alert(1)</script>" not in page
    info = json.loads(re.search(r'id="saltus-run">(.*?)</script>', page, re.DOTALL)[1])
    assert info["header"]["title"] == title
