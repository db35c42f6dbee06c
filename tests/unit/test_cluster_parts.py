"""Parts of the cluster that need no cluster: credentials, clocks, leases, remainders, targets, spools."""

import io
import json
import struct
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jostle.errors import BadValue, ClusterRefused, NotARun, StartRefused
from jostle.generator.cluster import spool
from jostle.generator.cluster.allowlist import refuse_unlisted_targets
from jostle.generator.cluster.clocks import Clock, measure
from jostle.generator.cluster.credentials import Credentials
from jostle.generator.cluster.handover import refuse_countable_load, remainder
from jostle.generator.cluster.lease import Lease, LeaseTimes
from jostle.generator.cluster.ledger import read_ledger
from jostle.generator.cluster.node import ray_command, start_node
from jostle.generator.cluster.pki import write_credentials
from jostle.generator.cluster.ray import _own_address
from jostle.generator.cluster.spool import FrameReader, Spool, log_path, read_from
from jostle.generator.wire import write_frame
from jostle.plan.cluster import head_at

SECOND = 10**9


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (written,) = write_credentials(tmp_path / "secrets", {"n1": "10.0.0.11"})
    monkeypatch.setenv("JOSTLE_CLUSTER", str(written))
    return written


def test_credentials_are_for_their_owner_only(node: Path) -> None:
    modes = {path.name: path.stat().st_mode & 0o777 for path in [*node.iterdir(), *node.parent.glob("*.*")]}
    assert modes == {
        "ca.crt": 0o644,
        "node.crt": 0o644,
        "node.key": 0o600,
        "token": 0o600,
        "ca.key": 0o600,
    }
    assert Credentials.find({}).environment()["RAY_USE_TLS"] == "1"


def test_certificates_are_signed_by_the_authority_and_name_the_node(node: Path) -> None:
    from cryptography import x509

    authority, certificate = (
        x509.load_pem_x509_certificate((node / name).read_bytes()) for name in ("ca.crt", "node.crt")
    )
    certificate.verify_directly_issued_by(authority)
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert [str(a) for a in names.get_values_for_type(x509.IPAddress)] == ["10.0.0.11", "127.0.0.1"]


def test_nodes_can_be_added_to_the_same_authority(node: Path) -> None:
    (second,) = write_credentials(node.parent, {"n2": "10.0.0.12"})
    assert (second / "ca.crt").read_bytes() == (node / "ca.crt").read_bytes()
    assert (second / "token").read_bytes() == (node / "token").read_bytes()
    with pytest.raises(ClusterRefused, match="there already"):
        write_credentials(node.parent, {"n2": "10.0.0.12"})
    with pytest.raises(ClusterRefused, match="not an IP address"):
        write_credentials(node.parent, {"n3": "somewhere"})
    with pytest.raises(ClusterRefused, match="not a valid node name"):
        write_credentials(node.parent, {"../n3": "10.0.0.13"})
    with pytest.raises(ClusterRefused, match="not a valid node name"):
        write_credentials(node.parent, {"n" * 64: "10.0.0.13"})
    (node.parent / "ca.key").write_bytes(b"")
    with pytest.raises(ClusterRefused, match=r"ca\.key and ca\.crt are not the authority"):
        write_credentials(node.parent, {"n3": "10.0.0.13"})


@pytest.mark.parametrize("name", ["token", "ca.key", "ca.crt"])
def test_no_node_is_called_like_a_file_of_the_authority(tmp_path: Path, name: str) -> None:
    with pytest.raises(ClusterRefused, match=f"cannot be called {name}"):
        write_credentials(tmp_path / "secrets", {name: "10.0.0.13"})
    assert not (tmp_path / "secrets").exists()


def test_the_address_of_a_head_has_a_port_that_exists() -> None:
    assert head_at("10.0.0.1:6379") == ("10.0.0.1", 6379)
    for address in ("10.0.0.1:99999", "10.0.0.1:0", "10.0.0.1:²", "10.0.0.1", ":6379", "a..b:6379"):
        with pytest.raises(BadValue, match="is not ADDRESS:PORT of a head"):
            head_at(address)


def test_an_open_cluster_is_refused(node: Path) -> None:
    with pytest.raises(ClusterRefused, match="RAY_USE_TLS=0: anybody"):
        Credentials.find({"RAY_USE_TLS": "0"})
    with pytest.raises(ClusterRefused, match="RAY_AUTH_MODE=disabled: anybody"):
        Credentials.find({"RAY_AUTH_MODE": "disabled"})
    (node / "token").chmod(0o644)
    with pytest.raises(ClusterRefused, match="can be read by others"):
        Credentials.find({})
    (node / "token").unlink()
    with pytest.raises(ClusterRefused, match=r"missing: .*token") as refused:
        Credentials.find({})
    assert "jostle cluster init" in refused.value.hint


def test_a_node_has_fixed_ports() -> None:
    command = " ".join(ray_command("10.0.0.11", head="10.0.0.1:6379", generate=True, block=False))
    for port in ("20000", "20099", "20100", "20101"):
        assert f"={port}" in command
    assert '--resources={"jostle": 1}' in command


def test_only_a_head_starts_others() -> None:
    config = Path("ray_bootstrap_config.yaml")
    command = ray_command("10.0.0.1", head=None, generate=False, block=False, starts=config)
    assert "--head" in command
    assert f"--autoscaling-config={config}" in command
    with pytest.raises(ClusterRefused, match="starts no others"):
        start_node("10.0.0.11", head="10.0.0.1:6379", generate=True, block=False, starts=config)


def test_the_quickest_response_tells_the_offset() -> None:
    delays = iter([0.01, 0.0, 0.005])

    def call() -> tuple[int, int]:
        time.sleep(next(delays))
        return time.time_ns() + 5 * SECOND, time.monotonic_ns() - 7 * SECOND

    clock = measure(call, readings=3)
    assert abs(clock.monotonic_ns + 7 * SECOND) <= clock.error_ns
    assert abs(clock.wall_ns - 5 * SECOND) <= clock.error_ns + 10**6
    assert isinstance(clock, Clock)


def test_a_lease_that_is_not_renewed_runs_out_once() -> None:
    expired = threading.Event()
    lease = Lease(time.monotonic_ns() + 10**12, expired.set)
    assert not expired.wait(0.2)
    lease.renew(time.monotonic_ns())  # never shorter: a late call takes nothing away
    assert lease.end_ns > time.monotonic_ns() + 10**11
    lease.release()
    short = Lease(time.monotonic_ns(), expired.set)
    assert expired.wait(10)
    assert short.over


def test_a_released_lease_stops_nobody() -> None:
    expired = threading.Event()
    lease = Lease(time.monotonic_ns() + 10**8, expired.set)
    lease.release()
    assert not expired.wait(0.4)


@given(st.lists(st.binary(max_size=40), max_size=8), st.integers(1, 30))
def test_a_log_cut_anywhere_gives_every_interval_once(payloads: list[bytes], piece: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        log = Spool(Path(folder) / "deep" / "x.frames")
        for number, payload in enumerate(payloads):
            log.append({"index": number, "payload": payload, "last": number == len(payloads) - 1})
        size, closed = log.wait_beyond(0, 0)
        assert closed == bool(payloads)
        unfolding = FrameReader()
        found = [i for data in read_from(log.path, 0, size, piece) for i in unfolding.add(data)]
        assert [i["payload"] for i in found] == payloads
        log.close()


def test_a_spool_that_cannot_be_written_is_closed_all_the_same(tmp_path: Path) -> None:
    log = Spool(tmp_path / "x.frames")
    log._file.close()
    log._file = Path("/dev/full").open("wb")  # noqa: SIM115 (the spool closes it)
    with pytest.raises(OSError, match="No space left"):
        log.append({"last": False})
    log.close()
    assert log.wait_beyond(0, 0) == (0, True)


def workload(load: dict[str, Any]) -> dict[str, Any]:
    where = {"host": "10.0.0.9", "port": 80, "connect_to": []}
    return {"seed": 1, "duration_ns": 100, "workloads": [{"name": "w", "target": where, "load": load}]}


def clients_at(phases: list[dict[str, Any]], at: int) -> int:
    """As crates/engine/src/schedule/phases.rs."""
    for phase in phases:
        if at < phase["duration_ns"]:
            delta, sign = abs(phase["to"] - phase["from"]), 1 if phase["to"] >= phase["from"] else -1
            steps = phase.get("steps")
            length = phase["duration_ns"]
            moved = delta * at // length if not steps else delta * (at * steps // length + 1) // steps
            return int(phase["from"] + sign * moved)
        at -= phase["duration_ns"]
    return 0


def phase(low: int, high: int, length: int, steps: int | None = None) -> dict[str, Any]:
    return {"name": "p", "from": low, "to": high, "duration_ns": length, "steps": steps}


def test_what_is_left_of_phases_has_the_same_clients_at_the_same_times() -> None:
    phases = [phase(0, 10, 40), phase(10, 10, 30), phase(10, 2, 30, 4)]
    for from_ns in range(100):
        rest, (numbers,) = remainder(workload({"closed": {"clients": 10, "phases": phases}}), from_ns)
        left = rest["workloads"][0]["load"]["closed"]["phases"]
        assert rest["duration_ns"] == 100 - from_ns
        assert len(numbers) == len(left)
        assert sum(p["duration_ns"] for p in left) == 100 - from_ns
        for at in range(from_ns, 100):
            now, whole = clients_at(left, at - from_ns), clients_at(phases, at)
            # A ramp that is cut between two clients goes on from a whole one: never more than one apart.
            assert abs(now - whole) <= (1 if at < 40 else 0), (from_ns, at)


def test_what_is_left_of_rates_and_traces() -> None:
    rates = [{"from": 0.0, "to": 100.0, "duration_ns": 50}, {"from": 100.0, "to": 100.0, "duration_ns": None}]
    rest, phases = remainder(workload({"open": {"arrivals": "poisson", "rates": rates}}), 25)
    assert rest["workloads"][0]["load"]["open"]["rates"] == [
        {"from": 50.0, "to": 100.0, "duration_ns": 25},
        rates[1],
    ]
    assert phases == [[0, 1]]
    later, phases = remainder(workload({"open": {"arrivals": {"trace": [1, 60, 70]}, "rates": rates}}), 60)
    assert later["workloads"][0]["load"]["open"]["rates"] == [rates[1]]
    assert later["workloads"][0]["load"]["open"]["arrivals"] == {"trace": [0, 10]}
    assert phases == [[1]]


def test_a_load_that_counts_requests_does_not_move() -> None:
    refuse_countable_load(workload({"closed": {"clients": 1, "requests": None}}))
    with pytest.raises(StartRefused, match="counts its requests"):
        refuse_countable_load(workload({"closed": {"clients": 1, "requests": 5}}))


def test_a_load_that_sends_each_row_once_does_not_move() -> None:
    spec = workload({"closed": {"clients": 1}})
    spec["workloads"][0]["journeys"] = [{"feeds": [{"order": "in-turn"}]}]
    refuse_countable_load(spec)
    spec["workloads"][0]["journeys"] += [{"feeds": [{"order": "random"}, {"order": "once"}]}]
    with pytest.raises(StartRefused, match="w sends each row of a feed once") as refused:
        refuse_countable_load(spec)
    assert 'leave out lost = "moves"' in refused.value.hint


def test_strangers_are_not_loaded() -> None:
    spec = workload({"closed": {"clients": 1}})
    with pytest.raises(StartRefused, match=r"the cluster is not allowed to load 10\.0\.0\.9") as refused:
        refuse_unlisted_targets(spec, {"10.0.0.8"})
    assert "--allow-target 10.0.0.9" in refused.value.hint
    refuse_unlisted_targets(spec, {"10.0.0.9"})
    for host in ("127.0.0.3:80", "localhost:80", "[::1]:80", "unix:/run/x"):
        target = {"host": "10.0.0.9", "port": 80, "connect_to": [host]}
        refuse_unlisted_targets({"workloads": [{"target": target}]}, ())


@pytest.mark.parametrize(
    "host",
    [
        "::ffff:10.0.0.9",  # an address by another name is another name
        "::ffff:10.0.0.8",
        "2130706433",
        "0x7f.1",
        "127.0.0.1.nip.example",
        "localhost.example",
        "LOCALHOST.",
        "0.0.0.0",
        "mine.example.",
        "fe80::1%lo",
        "",
    ],
)
def test_only_names_that_were_given_are_loaded(host: str) -> None:
    for target in (
        {"host": host, "port": 80, "connect_to": []},
        {"host": "x", "connect_to": [f"[{host}]:80"]},
    ):
        with pytest.raises(StartRefused, match="the cluster is not allowed to load"):
            refuse_unlisted_targets({"workloads": [{"target": target}]}, {"10.0.0.8", "mine.example"})


def test_specifications_survive_the_journey_as_data() -> None:
    rest, _ = remainder(workload({"closed": {"clients": 10, "phases": [phase(0, 10, 100)]}}), 10)
    assert json.loads(json.dumps(rest)) == rest


def test_a_frame_that_announces_too_much_is_refused() -> None:
    with pytest.raises(ValueError, match="the most is"):
        FrameReader().add(b"\xff" * 8)


def test_a_frame_is_read_once_however_many_pieces_it_comes_in(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[int] = []
    parse = spool.parse_frame
    monkeypatch.setattr(spool, "parse_frame", lambda data: parsed.append(len(data)) or parse(data))
    file = io.BytesIO()
    write_frame(file, {"interval": {"rows": bytes(3_000_000)}})
    whole, reader = file.getvalue(), FrameReader()
    found = [i for at in range(0, len(whole), 1000) for i in reader.add(whole[at : at + 1000])]
    assert [len(interval["rows"]) for interval in found] == [3_000_000]
    assert parsed == [len(whole)]


@pytest.mark.parametrize(
    "text", ["[]", "{}", '{"interval": 1}', "{", "[" * 60_000, '{"interval": {"bytes": [1]}', "\xff"]
)
def test_what_is_no_frame_is_refused(text: str) -> None:
    data = text.encode("latin-1")
    with pytest.raises(ValueError, match=r"."):
        FrameReader().add(struct.pack("<II", len(data), 0) + data)


def test_a_ledger_cannot_lead_out_of_its_folder(tmp_path: Path) -> None:
    entry = {"generator": 1, "host": "10.0.0.1", "log": "x", "from_ns": 0, "copy": "../victim.frames"}
    (tmp_path / "streams.ndjson").write_text(json.dumps(entry) + "\n")
    with pytest.raises(NotARun, match="line 1, copy: string should match pattern"):
        read_ledger(tmp_path)
    (tmp_path / "streams.ndjson").write_text(json.dumps(entry | {"copy": "1.frames"}) + "\n")
    for nonsense in (
        b"[]",
        b"[[]]" * 50_000,
        b'{"interval": {}}',
        b'{"interval": {"workloads": [{"sent": "x"}]}}',
    ):
        (tmp_path / "1.frames").write_bytes(struct.pack("<II", len(nonsense), 0) + nonsense)
        with pytest.raises(NotARun, match=r"1\.frames is damaged"):
            read_ledger(tmp_path)
    with pytest.raises(NotARun, match="not the name of a generator's spool"):
        log_path("../../victim")


def test_silence_and_expiry_follow_from_the_lease() -> None:
    times = LeaseTimes(4.0)
    assert (times.silent_s, times.expired_s) == (5.0, 4.5)
    assert times.length_s < times.expired_s < times.silent_s + times.margin_s


@pytest.mark.parametrize("head", ["127.0.0.1", "::1", "localhost"])
def test_the_address_that_faces_the_head_is_of_its_family(head: str) -> None:
    assert _own_address((head, 6379)) in ("127.0.0.1", "::1")
    if head != "localhost":
        assert _own_address((head, 6379)) == head
