"""A whole cluster on one machine: real Ray, TLS and token, one host powered off, one cut off, a dead head."""

import json
import os
import re
import subprocess
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from cluster.conftest import JOSTLE, Cluster, recording
from cluster.lab import Host, Lab, until
from jostle.analysis.trials.data import TrialData
from jostle.generator.cluster.spool import FrameReader
from jostle.record import RunRecord
from support.web import opened, web

pytestmark = pytest.mark.timeout(450)  # hosts boot, and a busy machine takes its time; about 4 min in all

ROOT = Path(__file__).parents[2]

LEASE_BOUND_S = 5.0
DECLARED_BOUND_S = 6.0

WITHOUT_LEASE = """
from jostle.generator.cluster.lease import Lease
Lease._watch = lambda self: None
"""
OTHER_VERSION = 'import jostle._version\njostle._version.__version__ = "0.0.9"\n'

CROWD = """
title = "A crowd, from three machines"
contestants = ["it"]
rounds = 1
threads = 3
[workload.crowd]
request = {{ get = "/sleep?ms=100&jitter=0.1" }}
[workload.crowd.load]
clients = 6_000
think = "1.9s ± 10%"
requests-per-connection = 100
ramp-up = "6s"
sustain = "5s"
ramp-down = "2s"
[contestant.it]
url = "{url}"
"""

STEADY = """
title = "A steady load"
contestants = ["it"]
rounds = {rounds}
repeats = false
threads = {generators}
[cluster]
lost = "{lost}"
[workload.w]
request = {{ get = "/hello" }}
load = {{ rate = "{rate}/s", arrivals = "constant", for = "{seconds}s", max-connections = 60 }}
[contestant.it]
url = "{url}"
"""

PROTOCOLS = """
title = "Every protocol, from three machines"
contestants = ["http", "events", "websocket", "grpc", "lines", "datagrams"]
rounds = 1
repeats = false
threads = 3
[workload.http2]
contestants = ["http"]
request = {{ get = "/hello" }}
connection = {{ http2 = {{}} }}
[workload.events]
contestants = ["events"]
request = {{ get = "/events?n=5&gap-ms=10", stream = "sse" }}
[workload.websocket]
contestants = ["websocket"]
request = {{ ws = "/echo", send = "hello", match = "echo" }}
[workload.grpc]
contestants = ["grpc"]
request = {{ grpc = "jostle.Echo/Say", proto = "{proto}", message = {{ text = "hello" }} }}
[workload.tcp]
contestants = ["lines"]
request = {{ tcp = "hello\\n", until = "\\n" }}
[workload.udp]
contestants = ["datagrams"]
request = {{ udp = "hello", match = "order" }}
"""


@pytest.fixture(scope="module")
def cluster(lab: Lab) -> Cluster:
    """n4 has no lease: what the test of a cut must find fault with."""
    made = Cluster(lab, 4)
    made.serve("processor-sharing")
    made.start_head()
    made.start_nodes(n4={"PYTHONPATH": patched(lab.folder, "without-lease", WITHOUT_LEASE)})
    return made


def patched(folder: Path, name: str, code: str) -> str:
    """A folder for PYTHONPATH, whose Python runs `code` first."""
    (folder / name).mkdir()
    (folder / name / "sitecustomize.py").write_text(code)
    return os.pathsep.join(filter(None, (str(folder / name), os.environ.get("PYTHONPATH"))))


def steady(cluster: Cluster, *, generators: int, lost: str, rate: int, seconds: int, rounds: int = 1) -> str:
    values = {"generators": generators, "lost": lost, "rate": rate, "seconds": seconds, "rounds": rounds}
    return STEADY.format(**values, url=cluster.url)


def result_of(driver: "subprocess.Popen[str]", complaint: str = "") -> dict[str, Any]:
    """What a driver printed with --json, when it has ended; `complaint` must be on its standard error."""
    out, complaints = driver.communicate(timeout=150)
    assert complaint in complaints
    assert out.startswith("{"), f"exit code {driver.returncode}: {out}{complaints}"
    result: dict[str, Any] = json.loads(out)
    return result


def sent_in(*logs: Path) -> int:
    """Requests in logs that were put together."""
    frames, sent = FrameReader(), 0
    for log in logs:
        for interval in frames.add(log.read_bytes()):
            sent += sum(workload["sent"] for workload in interval["workloads"])
    return sent


def accounts(trial: Path) -> dict[tuple[int, str], dict[str, Any]]:
    """By the number of the generator, and the host that bore its share."""
    found = json.loads((trial / "generators" / "accounts.json").read_text())["accounts"]
    return {(a["generator"], a["host"]): a for a in found}


def test_nobody_else_gets_in(cluster: Cluster, lab: Lab) -> None:
    """Without credentials, with a rogue certificate, with the right one and a wrong token; and a control."""
    intruder = lab.host("intruder")
    rogue, mine = lab.folder / "rogue", cluster.secrets / "n1"
    made = subprocess.run([*JOSTLE, "cluster", "init", rogue, f"intruder={intruder.address}"], check=False)
    assert made.returncode == 0
    wrong = lab.folder / "wrong-token"
    wrong.write_text("0" * 64)
    wrong.chmod(0o600)
    token = str(mine / "token")

    def tries(env: dict[str, str]) -> str:
        client = f"_raylet.GcsClient(address='{cluster.address}')"
        ask = f"from ray import _raylet; print('nodes', len({client}.get_all_node_info(timeout=5)))"
        words = ["timeout", "15", JOSTLE[0], "-c", ask]
        return intruder.run(*words, env=env).stdout

    def tls(folder: Path) -> dict[str, str]:
        files = {"CA_CERT": "ca.crt", "SERVER_CERT": "node.crt", "SERVER_KEY": "node.key"}
        return {"RAY_USE_TLS": "1", **{f"RAY_TLS_{k}": str(folder / v) for k, v in files.items()}}

    def with_token(path: str) -> dict[str, str]:
        return {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": path}

    sets = [
        {**tls(mine), **with_token(token)},
        {"RAY_AUTH_MODE": "disabled", "RAY_USE_TLS": "0"},
        {**tls(rogue / "intruder"), **with_token(token)},
        {**tls(mine), **with_token(str(wrong))},
    ]
    with ThreadPoolExecutor() as pool:
        control, *refused = pool.map(tries, sets)
    assert "nodes" in control, "with everything right it must get in"
    assert not any("nodes" in one for one in refused)


def test_a_run_is_refused_in_words(cluster: Cluster) -> None:
    """Without credentials; on a stranger's server."""
    hit = ("hit", cluster.url, "-d", "1s")
    open_ = cluster.driver(*hit, env={"JOSTLE_CLUSTER": "/nowhere"})
    _, complaint = open_.communicate(timeout=60)
    assert open_.returncode == 2
    assert "a cluster needs a token and TLS" in complaint
    assert "jostle cluster init" in complaint
    to_a_stranger = cluster.head.run(*JOSTLE, *hit, "--cluster", cluster.address)
    assert to_a_stranger.returncode == 2
    assert f"--allow-target {cluster.server.load_address}" in to_a_stranger.stderr


def test_a_load_is_changed_on_all_machines_at_one_moment(
    cluster: Cluster, browser: Browser, tmp_path: Path
) -> None:
    """On the page of the run, which shows each machine."""
    plan, complaints = tmp_path / "plan.toml", list[str]()
    plan.write_text(steady(cluster, generators=4, lost="is missing", rate=200, seconds=30))
    driver = cluster.driver("run", plan, "--into", tmp_path / "runs", "--json", "--no-pages")
    trial = recording(driver, tmp_path / "runs")
    with web(tmp_path / "runs") as served:
        page = opened(browser, f"{served.url}/live#token={served.token}", complaints)
        nodes = page.get_by_role("region", name="Generators", exact=True).locator("tbody tr")
        expect(nodes).to_have_count(4)
        assert {row.locator("td").first.inner_text() for row in nodes.all()} == {
            host.address for host in cluster.generators
        }
        page.locator("#control-number").fill("600")
        page.locator("#control-number").press("Enter")
        expect(page.locator("#control-said")).to_contain_text("600/s from")
        result = result_of(driver)
        expect(page.locator("#state")).to_have_text("The run has ended.")
        sent = [int(row.locator("td").nth(2).inner_text().replace(",", "")) for row in nodes.all()]
    assert complaints == []
    (record,) = RunRecord.open(trial.parents[1]).trials
    (made,) = record.steered
    assert made["unreached"] == []
    assert not record.generators_lost
    at_s = made["at_ns"] / 1e9
    load = [interval["workloads"][0] for interval in record.intervals]
    due = sum(part["due"] for part in load)
    assert abs(due - (200 * at_s + 600 * (30 - at_s))) <= 2, "all four, at the same moment"
    assert sum(sent) == sum(part["sent"] for part in load)
    assert "the load was changed while it ran" in " ".join(result["reasons"])


def test_powered_off_and_cut_off(cluster: Cluster, tmp_path: Path) -> None:
    """n2 is powered off, n3 and n4 are cut for 15 s; shares move to n1; all come back; accounts close.

    n4 has no lease: the very check that n3 must pass, it must fail.
    """
    _, n2, n3, n4 = cluster.generators
    plan = tmp_path / "plan.toml"
    plan.write_text(steady(cluster, generators=4, lost="moves", rate=200, seconds=30))
    driver = cluster.driver("run", plan, "--into", tmp_path / "runs", "--json", "--no-pages")
    trial = recording(driver, tmp_path / "runs")
    time.sleep(3)
    n2.power_off()
    for host in (n3, n4):
        host.cut()
    cut_at = time.time_ns()
    time.sleep(15)  # until the head has given them up, too
    for host in (n2, n3, n4):
        host.heal()
    n2.boot()
    cluster.start_node(n2)
    for host in (n3, n4):
        start_again(cluster, host)
    result = result_of(driver)
    record = RunRecord.open(trial.parents[1])
    (one,) = record.trials
    starts = [generator["started_unix_ns"] for generator in one.description["generators"]]
    assert max(starts) - min(starts) <= 5_000_000
    assert all(abs(g["offset_ns"]) <= g["offset_error_ns"] + 10**6 for g in one.description["generators"])
    lost = {entry["generator"]: entry for entry in one.generators_lost}
    assert sorted(lost) == [2, 3, 4]
    zero = one.description["started_unix_ns"]
    for entry in lost.values():
        assert "did not answer for 5 s" in entry["why"] or "has died" in entry["why"]
        assert cut_at - zero - entry["at_ns"] < DECLARED_BOUND_S * 1e9  # streamed up to the cut
        assert entry["moved_to"] == cluster.generators[0].address, entry["why"]
        assert entry["until_ns"] - (cut_at - zero) > 4e9  # its lease was over
    check_accounts(cluster, trial, 4)
    found = accounts(trial)
    assert unseen_s(found[3, n3.address]) <= LEASE_BOUND_S
    assert unseen_s(found[4, n4.address]) > LEASE_BOUND_S, "without a lease the load goes on unseen"
    says = " ".join(result["reasons"])
    assert "of the offered load is missing: generator" in says
    assert "generator 2 of 4 on" in says
    assert "took over its share" in says


def start_again(cluster: Cluster, host: Host) -> None:
    """A raylet that was given up ends itself; a supervisor would start it again."""
    until(lambda: host.run("pgrep", "-x", "raylet").returncode == 1, "the old raylet ends")
    cluster.start_node(host)


def check_accounts(cluster: Cluster, trial: Path, generators: int) -> None:
    """Every spool has been received, is what was streamed + what it alone holds, and nothing is twice."""
    collected = cluster.head.run(*JOSTLE, "collect", trial.parents[1], "--cluster", cluster.address)
    assert collected.returncode == 0, collected.stdout + collected.stderr
    recorded = [json.loads(line) for line in (trial / "intervals.ndjson").read_text().splitlines()]
    streamed_by = dict.fromkeys(range(1, generators + 1), 0)
    for interval in recorded:
        for generator in interval["generators"]:
            streamed_by[generator["generator"]] += sum(generator["sent"])
    for account in accounts(trial).values():
        copy = trial / "generators" / account["copy"]
        rest = copy.with_name(copy.stem + ".rest.frames")
        logs = [copy, rest] if rest.exists() else [copy]
        assert account["whole"], account["why"]
        assert sent_in(*logs) == account["streamed"]["sent"] + account["only_in_log"]["sent"]
        assert sent_in(copy) == account["streamed"]["sent"]
        streamed_by[account["generator"]] -= account["streamed"]["sent"]
    assert not any(streamed_by.values()), f"streamed and recorded differ: {streamed_by}"


def unseen_s(account: dict[str, Any]) -> float:
    """How long a generator went on after the last that the driver heard of it."""
    only = account["only_in_log"]
    return (
        float(max(0, only["until_ns"] - account["streamed"]["until_ns"])) / 1e9 if only["intervals"] else 0.0
    )


def test_a_crowd_from_three_machines(cluster: Cluster, tmp_path: Path) -> None:
    """6,000 clients of the crowd experiment; n4 is out of it, so that three bear 2,000 each.

    They think for 1.9 s and not 0.9 s: one machine of two cores bears all five hosts.
    """
    n4 = cluster.generators[3]
    n4.run(*JOSTLE, "cluster", "stop")
    cluster.server.stay_on(0)
    for host in cluster.generators[:3]:
        host.stay_on(1)
    plan = tmp_path / "plan.toml"
    plan.write_text(CROWD.format(url=cluster.url))
    driver = cluster.driver("run", plan, "--into", tmp_path / "runs", "--json", "--no-pages")
    (trial,) = result_of(driver)["trials"]
    checks = {check["name"]: check["verdict"] for check in trial["validity"]["checks"]}
    # How generators are merged. The other checks tell how busy the one machine is that bears all five hosts.
    of_merging = {"end", "generators", "start", "accounts", "errors"}
    assert checks.keys() >= of_merging | {"same view"}
    assert {checks[name] for name in of_merging} == {"valid"}, trial["validity"]
    (record,) = RunRecord.open(next((tmp_path / "runs").iterdir())).trials
    assert [g["host"] for g in record.description["generators"]] == [
        host.address for host in cluster.generators[:3]
    ]
    assert max(interval["workloads"][0]["clients"] for interval in record.intervals) == 6_000
    by_generator = [
        max(sum(a["sent"]) for i in record.intervals for a in i["generators"] if a["generator"] == number)
        for number in (1, 2, 3)
    ]
    assert min(by_generator) > 0
    assert sum(i["workloads"][0]["sent"] for i in record.intervals) == sum(
        account["streamed"]["sent"] for account in record.generator_accounts
    )


def test_every_protocol_comes_from_every_machine(cluster: Cluster, tmp_path: Path) -> None:
    """n4 is still out of it."""
    text = PROTOCOLS.format(proto=ROOT / "crates" / "reference" / "src" / "echo.proto")
    for port, kind in enumerate(("events", "websocket", "grpc", "lines", "datagrams"), 8081):
        cluster.serve(kind, port=port)
    for port, name in enumerate(("http", "events", "websocket", "grpc", "lines", "datagrams"), 8080):
        scheme = "udp" if name == "datagrams" else "http"
        text += f'[contestant.{name}]\nurl = "{scheme}://{cluster.server.load_address}:{port}"\n'
    plan = tmp_path / "plan.toml"
    plan.write_text(re.sub(r"(?m)^request = .*$", r"\g<0>\nload = { clients = 6, requests = 60 }", text))
    result = result_of(cluster.driver("run", plan, "--into", tmp_path / "runs", "--json", "--no-pages"))
    outcomes = {trial["workload"]: trial["outcomes"] for trial in result["trials"]}
    every = ("http2", "events", "websocket", "grpc", "tcp", "udp")
    assert outcomes == {workload: {"ok": 60} for workload in every}
    for record in RunRecord.open(next((tmp_path / "runs").iterdir())).trials:
        sent = Counter[int]()
        for account in record.generator_accounts:
            sent[account["generator"]] += account["streamed"]["sent"]
        assert sent == {1: 20, 2: 20, 3: 20}, record.description["workload"]


def test_a_lost_share_is_missing(cluster: Cluster, tmp_path: Path) -> None:
    """n3 is cut off for good in the first of two trials, which goes on with two thirds of the load; the
    second is borne by the nodes that are left. n4 is out of it."""
    n1, n2, n3, n4 = cluster.generators
    n4.run(*JOSTLE, "cluster", "stop")
    plan = tmp_path / "plan.toml"
    plan.write_text(steady(cluster, generators=3, lost="is missing", rate=300, seconds=12, rounds=2))
    driver = cluster.driver("run", plan, "--into", tmp_path / "runs", "--json", "--no-pages")
    trial = recording(driver, tmp_path / "runs")
    time.sleep(3)
    n3.cut()
    cut_at = time.time_ns()
    result = result_of(driver)
    n3.heal()
    start_again(cluster, n3)
    first, second = RunRecord.open(trial.parents[1]).trials
    (lost,) = first.generators_lost
    assert (lost["generator"], lost["until_ns"], lost["moved_to"]) == (3, None, "")
    after_ns = cut_at - first.description["started_unix_ns"]
    assert after_ns - lost["at_ns"] < DECLARED_BOUND_S * 1e9  # streamed up to the cut
    assert lost["at_ns"] <= after_ns
    sent = dict.fromkeys((1, 2, 3), 0)
    for interval in first.intervals:
        for generator in interval["generators"]:
            sent[generator["generator"]] += sum(generator["sent"])
    assert max(sent[1], sent[2]) <= 1200, "the others bear their own share, no more"
    assert sent[1] + sent[2] + TrialData(first).outcomes().get("never_sent", 0) == 2400, "and no less"
    assert 0 < sent[3] <= round(lost["at_ns"] / 1e9 * 100)
    share = (12 - lost["at_ns"] / 1e9) / 12 / 3
    assert f"{share * 100:.3g} % of the offered load is missing: generator 3 of 3" in " ".join(
        result["reasons"]
    )
    check_accounts(cluster, trial, 3)
    assert unseen_s(accounts(trial)[3, n3.address]) <= LEASE_BOUND_S
    assert [g["host"] for g in second.description["generators"]] == [n1.address, n2.address]
    assert not second.generators_lost
    borne = TrialData(second)
    assert borne.total("sent") + borne.outcomes().get("never_sent", 0) == borne.total("due") == 3600


def test_another_version_is_told(cluster: Cluster, lab: Lab) -> None:
    old = cluster.generators[3]
    old.run(*JOSTLE, "cluster", "stop")
    cluster.start_node(old, {"PYTHONPATH": patched(lab.folder, "other-version", OTHER_VERSION)})
    driver = cluster.driver("hit", cluster.url, "-d", "1s")
    _, complaint = driver.communicate(timeout=120)
    assert driver.returncode == 2
    assert f"the node {old.address} has jostle 0.0.9, and here is" in complaint
    assert "install the same version everywhere" in complaint
    old.run(*JOSTLE, "cluster", "stop")


def test_a_dead_head_is_no_success(cluster: Cluster, tmp_path: Path) -> None:
    """The run is incomplete; generators stop by themselves; a new cluster finds their logs again."""
    cluster.generators[3].run(*JOSTLE, "cluster", "stop")
    plan = tmp_path / "plan.toml"
    plan.write_text(steady(cluster, generators=3, lost="is missing", rate=100, seconds=90))
    driver = cluster.driver("run", plan, "--into", tmp_path / "runs", "--json", "--no-pages")
    trial = recording(driver, tmp_path / "runs")
    time.sleep(3)
    assert cluster.head.run("pkill", "-9", "-x", "gcs_server").returncode == 0
    result = result_of(driver, "the head of the cluster is gone")
    assert driver.returncode == 3
    assert not result["complete"]
    assert "the run is not complete" in " ".join(result["reasons"])
    for host in (cluster.head, *cluster.generators[:3]):  # the same disks, everything else anew
        host.power_off()
        host.heal()
        host.boot()
    cluster.start_head()
    for host in cluster.generators[:3]:
        cluster.start_node(host)
    run = trial.parents[1]
    collected = cluster.head.run(*JOSTLE, "collect", run, "--cluster", cluster.address)
    assert collected.returncode == 0, collected.stdout + collected.stderr
    assert collected.stdout.count("in its spool only") == 3
    for account in accounts(trial).values():
        copy = trial / "generators" / account["copy"]
        rest = copy.with_name(copy.stem + ".rest.frames")
        assert sent_in(copy, rest) == account["streamed"]["sent"] + account["only_in_log"]["sent"] > 0
        assert unseen_s(account) <= DECLARED_BOUND_S + LEASE_BOUND_S
