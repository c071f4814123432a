"""Studies on a Dask cluster: six workers, each in a network namespace of its own that the test makes."""
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import warnings

import pytest

import saltus
from saltus.studies import ClusterWarning
from test_studies import BALL, SWEEP, here, slow, table, write_study  # noqa: F401

pytest.importorskip("distributed")
# Of the bridge; private, and another for runs side by side, or for one beside what a killed one left.
NET = f"10.211.{os.getpid() % 250 + 2}"
PORT = 18786
ODD = "import saltus._core as c\nc._version, c._commit = '0.0.9', 'feed'\n"
_number = itertools.count()


def ip(*args, check=True):
    return subprocess.run(["ip", *args], check=check, capture_output=True, text=True)


def clear_what_killed_runs_left():
    """Bridges and namespaces of processes that are gone: their routes lead nowhere."""
    listed = ip("netns", "list", check=False).stdout + ip("-o", "link", check=False).stdout
    for pid in set(re.findall(r"\bslt(\d+)", listed)):
        if os.path.exists(f"/proc/{pid}"):
            continue
        for i in range(6):
            ip("netns", "del", f"slt{pid}n{i}", check=False)
            ip("link", "del", f"slt{pid}v{i}", check=False)
        ip("link", "del", f"slt{pid}", check=False)


@pytest.fixture
def namespaces():
    """Six namespaces beside a bridge; the address of each. Skips where they cannot be made."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("network namespaces need root and iproute2")
    tag = f"slt{os.getpid()}"
    names = [f"{tag}n{i}" for i in range(6)]
    clear_what_killed_runs_left()
    try:
        made = ip("link", "add", tag, "type", "bridge", check=False)
        if made.returncode != 0:
            pytest.skip(f"no bridge can be made here: {made.stderr.strip()}")
        ip("addr", "add", f"{NET}.1/24", "dev", tag)
        ip("link", "set", tag, "up")
        for i, name in enumerate(names):
            ip("netns", "add", name)
            ip("link", "add", f"{tag}v{i}", "type", "veth", "peer", "name", "eth0", "netns", name)
            ip("link", "set", f"{tag}v{i}", "master", tag, "up")
            ip("-n", name, "addr", "add", f"{NET}.{10 + i}/24", "dev", "eth0")
            ip("-n", name, "link", "set", "eth0", "up")
            ip("-n", name, "link", "set", "lo", "up")
        yield [(name, f"{NET}.{10 + i}") for i, name in enumerate(names)]
    finally:
        for i, name in enumerate(names):
            ip("netns", "del", name, check=False)
            ip("link", "del", f"{tag}v{i}", check=False)
        ip("link", "del", tag, check=False)


class Processes:
    """Started here, ended here, by their ids."""

    def __init__(self, folder):
        self.folder, self.all = folder, []

    def start(self, args, **env):
        log = open(self.folder / f"process{next(_number)}.log", "w")
        p = subprocess.Popen(args, stdout=log, stderr=log, start_new_session=True,
                             env={**os.environ, "DASK_DISTRIBUTED__WORKER__DAEMON": "False", **env})
        self.all.append(p)
        return p

    def end(self):
        for p in self.all:
            try:
                os.killpg(p.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            p.wait()


@pytest.fixture
def processes(tmp_path):
    found = Processes(tmp_path)
    yield found
    found.end()


def scheduler(processes, host, port, protocol="tcp", **env):
    p = processes.start([sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", host, "--port",
                         str(port), "--no-dashboard", "--protocol", protocol],
                        DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL="6s", **env)
    return p, f"{protocol}://{host}:{port}"


def worker(processes, address, *before, host="127.0.0.1", **env):
    return processes.start([*before, sys.executable, "-m", "distributed.cli.dask_worker", address, "--host", host,
                            "--nworkers", "1", "--nthreads", "1", "--no-nanny", "--no-dashboard"], **env)


def workers_up(address, count, **more):
    from distributed import Client
    with Client(address, timeout="60s", set_as_default=False, **more) as client:
        client.wait_for_workers(count, timeout=90)


def test_two_killed_one_frozen_one_of_another_version(here, namespaces, processes):  # noqa: F811
    """All rows are there once, the bytes are those of one core, and the odd version is named."""
    study = slow({**SWEEP, "design": "sobol", "points": 48}, 0.3)
    saltus.sweep(study, output="alone", workers=2)
    _, address = scheduler(processes, f"{NET}.1", PORT)
    (here / "odd").mkdir()
    (here / "odd/sitecustomize.py").write_text(ODD)
    started = []
    for i, (name, host) in enumerate(namespaces):
        odd = {"PYTHONPATH": str(here / "odd")} if i == 5 else {}
        started.append(worker(processes, address, "ip", "netns", "exec", name, host=host, **odd))
    workers_up(address, 6)
    path = write_study(here, study)
    driver = processes.start([sys.executable, "-m", "saltus", "sweep", path, "-o", "out", "--no-report", "--cluster",
                              address])
    journal = here / "out/journal.jsonl"

    def wait_for(rows):
        deadline = time.monotonic() + 120
        while not (journal.exists() and journal.read_bytes().count(b"\n") > rows):
            assert time.monotonic() < deadline and driver.poll() is None, log_of(here, driver, processes)
            time.sleep(0.02)

    wait_for(4)
    os.killpg(started[0].pid, signal.SIGKILL)
    os.killpg(started[1].pid, signal.SIGSTOP)  # frozen: it says nothing any more
    wait_for(10)
    os.killpg(started[2].pid, signal.SIGKILL)
    assert driver.wait(timeout=240) == 0, log_of(here, driver, processes)
    assert (here / "out/runs.csv").read_bytes() == (here / "alone/runs.csv").read_bytes()
    keys = [tuple(json.loads(line)["key"]) for line in journal.read_bytes().splitlines()[1:]]
    assert len(keys) == len(set(keys)) == 48
    said = log_of(here, driver, processes)
    assert re.search(rf"worker tcp://{re.escape(NET)}.15:\d+ on \S+ gets no more points: expected saltus "
                     rf"{re.escape(saltus.__version__)} .*, the worker has saltus 0.0.9 \(feed\)", said), said
    assert "has no TLS" in said
    places = {r["worker"].split("://")[1].split(":")[0] for r in table(here / "out/places.csv")}
    assert f"{NET}.15" not in places and {f"{NET}.13", f"{NET}.14"} <= places


def log_of(folder, process, processes):
    first = sorted(folder.glob("process*.log"), key=lambda p: int(re.findall(r"\d+", p.name)[-1]))
    return first[processes.all.index(process)].read_text()


def test_a_cluster_of_the_wrong_version_is_refused(here, processes):  # noqa: F811
    (here / "odd").mkdir()
    (here / "odd/sitecustomize.py").write_text(ODD)
    _, address = scheduler(processes, "127.0.0.1", PORT + 1)
    worker(processes, address, PYTHONPATH=str(here / "odd"))
    workers_up(address, 1)
    with pytest.raises(saltus.Error, match="no worker of the cluster has the version"), \
            pytest.warns(ClusterWarning, match=r"the worker has saltus 0.0.9 \(feed\)"):
        saltus.sweep(SWEEP, output="out", cluster=address)


def test_nobody_answers(here):  # noqa: F811
    import dask
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}), \
            pytest.warns(ClusterWarning, match="no TLS"), \
            pytest.raises(saltus.Error, match="no scheduler answers at tcp://127.0.0.1:9"):
        saltus.sweep(SWEEP, output="out", cluster="tcp://127.0.0.1:9")
    assert not (here / "out").exists()


def test_tls(here, processes):  # noqa: F811
    """Certificates by Dask's own configuration; no warning, and the same rows."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl")
    key, certificate = here / "key.pem", here / "certificate.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
                    "-days", "2", "-subj", "/CN=saltus-test"], check=True, capture_output=True)
    tls = {"DASK_DISTRIBUTED__COMM__TLS__CA_FILE": str(certificate)}
    for role in ("CLIENT", "SCHEDULER", "WORKER"):
        tls[f"DASK_DISTRIBUTED__COMM__TLS__{role}__CERT"] = str(certificate)
        tls[f"DASK_DISTRIBUTED__COMM__TLS__{role}__KEY"] = str(key)
    _, address = scheduler(processes, "127.0.0.1", PORT + 2, "tls", **tls)
    worker(processes, address, **tls)
    done = subprocess.run([sys.executable, "-m", "saltus", "sweep", write_study(here, SWEEP), "-o", "out", "--no-report",
                           "--cluster", address], env={**os.environ, **tls}, capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0 and "TLS" not in done.stderr, done.stderr
    saltus.sweep(SWEEP, output="alone")
    assert (here / "out/runs.csv").read_bytes() == (here / "alone/runs.csv").read_bytes()


def test_no_warning_is_lost_in_python(here):  # noqa: F811
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert saltus.sweep(SWEEP, output="out").count == 6
