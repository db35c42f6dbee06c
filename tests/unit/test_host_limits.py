"""The limits of this machine: read in one place, the same for everybody who asks."""

import resource
from pathlib import Path

import pytest

from jostle import contestant
from jostle.contestant.connection_limit import max_connections
from jostle.doctor import checks
from jostle.errors import StartRefused
from jostle.generator.files_and_ports import local_ports, processes_for, with_sources
from jostle.host import limits
from jostle.host.limits import CgroupLimits, OpenFiles, PortRange, cgroup_limits, connections_within


def test_no_limit_of_open_files_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _what: (1024, resource.RLIM_INFINITY))
    assert limits.open_files() == OpenFiles(1024, None)
    assert limits.open_files().as_record() == {"soft": 1024, "hard": -1}


def test_doctor_generator_and_contestants_agree_on_what_a_process_holds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _what: (1024, 20_000))
    held = connections_within(20_000)
    assert processes_for(held, 20_000) == 1
    assert processes_for(held + 1, 20_000) == 2
    assert max_connections(contestant.find("go"), 20_000) == held
    assert (
        f"up to {held:,} clients in one generator process"
        in checks.check_open_files(limits.open_files()).message
    )


def test_doctor_and_generator_agree_on_the_local_ports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "range").write_text("40000\t49999\n")
    monkeypatch.setattr(limits, "PORT_RANGE", tmp_path / "range")
    assert local_ports() == 10_000 - limits.RESERVED_PORTS
    assert checks.check_local_ports(limits.local_port_range()).message.startswith("10,000:")


@pytest.mark.parametrize(
    ("ports", "aside", "free"),
    [
        ("40000\t49999\n", "\n", 10_000),
        ("40000\t49999\n", "8080,40000-40009,49999-50010\n", 9_989),
        ("40000\t40000\n", "40000\n", 0),
    ],
)
def test_ports_that_are_set_aside_are_not_free(
    ports: str, aside: str, free: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "range").write_text(ports)
    (tmp_path / "aside").write_text(aside)
    monkeypatch.setattr(limits, "PORT_RANGE", tmp_path / "range")
    monkeypatch.setattr(limits, "SET_ASIDE", tmp_path / "aside")
    assert limits.free_local_ports() == free


@pytest.mark.parametrize("host", ["127.0.0.1", "10.0.0.1"])
@pytest.mark.parametrize("ports", [0, 1])
def test_a_machine_without_local_ports_is_told_before_the_run(host: str, ports: int) -> None:
    target = {"host": host, "port": 80, "connect_to": [], "source_addresses": []}
    load = {"closed": {"clients": 1, "requests_per_connection": None, "requests": None}}
    spec = {"workloads": [{"target": target, "load": load}]}
    with pytest.raises(StartRefused, match="no local ports"):
        with_sources(spec, ports)
    unix = {**target, "connect_to": ["unix:/run/app"]}
    assert with_sources({"workloads": [{"target": unix, "load": load}]}, ports)


def test_few_local_ports_are_used_by_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "range").write_text("40000\t40099\n")
    monkeypatch.setattr(limits, "PORT_RANGE", tmp_path / "range")
    assert local_ports() == 50


@pytest.mark.parametrize("text", ["", "32768", "a b", "1 2 3"])
def test_a_range_that_the_record_does_not_hold_is_none(text: str) -> None:
    assert PortRange.parse(text) is None


def test_both_ends_of_a_port_range_count() -> None:
    ports = PortRange.parse("32768\t60999\n")
    assert ports == PortRange(32768, 60999)
    assert len(ports or ()) == 28_232


def tree(base: Path, membership: str, files: dict[str, str]) -> CgroupLimits:
    (base / "membership").write_text(membership)
    for name, text in files.items():
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_text(text)
    return cgroup_limits(base / "membership", base)


def test_the_tightest_limit_on_the_way_to_the_root_holds(tmp_path: Path) -> None:
    files = {
        "a/memory.max": "1000000\n",
        "a/cpu.max": "max 100000\n",
        "a/b/memory.max": "max\n",
        "a/b/cpu.max": "150000 100000\n",
    }
    assert tree(tmp_path, "0::/a/b\n", files) == CgroupLimits(1_000_000, 1.5)


def test_a_path_outside_the_container_is_not_looked_for(tmp_path: Path) -> None:
    files = {"memory.max": "5000\n", "cpu.max": "50000 100000\n"}
    assert tree(tmp_path, "0::/docker/somewhere/else\n", files) == CgroupLimits(5000, 0.5)


def test_limits_of_cgroup_version_1(tmp_path: Path) -> None:
    files = {
        "memory/x/memory.limit_in_bytes": "2000\n",
        "memory/memory.limit_in_bytes": "9223372036854771712\n",
        "cpu/x/cpu.cfs_quota_us": "200000\n",
        "cpu/x/cpu.cfs_period_us": "100000\n",
        "cpu/cpu.cfs_quota_us": "-1\n",
        "cpu/cpu.cfs_period_us": "100000\n",
    }
    membership = "4:memory:/x\n2:cpu,cpuacct:/x\n9:name=systemd:/\n0::/\n"
    assert tree(tmp_path, membership, files) == CgroupLimits(2000, 2.0)


def test_no_cgroup_is_no_limit(tmp_path: Path) -> None:
    found = cgroup_limits(tmp_path / "absent", tmp_path)
    assert found == CgroupLimits(None, None)
    assert found.as_record() == {}
