"""What doctor finds in a machine, good and bad, and what it advises."""

import json
from pathlib import Path

import pytest

from jostle import cli, contestant
from jostle.contestant.tools import MissingTool
from jostle.doctor import checks
from jostle.doctor.checks import Diagnosis
from jostle.host.floor import Floor
from jostle.host.limits import CgroupLimits, OpenFiles, PortRange

GB = 10**9
FLOOR: Floor = {
    "measured": "2026-11-20T10:00:00+0000",
    "load_average": 0.1,
    "loads": [
        {
            "kind": "closed",
            "title": "1 client",
            "verdict": "valid",
            "throughput_per_s": 20_000.0,
            "response_s": {"p50": 30e-6, "p99": 80e-6, "p99.9": None},
            "cpu_s_per_request": 5e-6,
            "pacing_s": None,
        }
    ],
}


def states(*findings: Diagnosis) -> list[str]:
    for finding in findings:
        assert finding.message
        assert (finding.state == "good") == (not finding.remedy), finding
    return [finding.state for finding in findings]


def test_one_core_is_shared() -> None:
    alone, two = checks.check_cores([3]), checks.check_cores([0, 1])
    assert states(alone, two) == ["note", "good"]
    assert two.message == "2 usable: servers run on core 0, the generator on core 1"


def test_other_work_counts_from_half_a_core_for_each_core() -> None:
    assert states(checks.check_other_work(1.0, 2), checks.check_other_work(1.01, 2)) == ["good", "note"]


def test_too_few_open_files_make_runs_fail() -> None:
    few, enough = checks.check_open_files(OpenFiles(256, 1199)), checks.check_open_files(OpenFiles(256, 1200))
    assert states(few, enough, checks.check_open_files(OpenFiles(1024, None))) == ["bad", "good", "good"]
    assert enough.message == "1,200 per process (hard limit): up to 1,000 clients in one generator process"


def test_few_local_ports_limit_connections_without_keep_alive() -> None:
    few, usual = (
        checks.check_local_ports(PortRange(50_000, 59_998)),
        checks.check_local_ports(PortRange(32768, 60999)),
    )
    assert states(few, usual) == ["note", "good"]
    assert usual.message.startswith("28,232: the most connections")
    assert "about 470 new ones per second" in usual.message


def test_a_short_accept_queue_is_noted() -> None:
    assert states(checks.check_accept_queue(128), checks.check_accept_queue(4096)) == ["note", "good"]


def test_a_cpu_quota_below_the_cores_is_noted() -> None:
    tight = checks.check_cgroup(CgroupLimits(2 * GB, 1.5), 4)
    assert tight.message.startswith("its cgroup allows 1.5 of 4 cores and 2.00 GB of memory; ")
    whole, memory = (
        checks.check_cgroup(CgroupLimits(None, 4.0), 4),
        checks.check_cgroup(CgroupLimits(2 * GB, None), 4),
    )
    assert states(tight, whole, memory) == ["note", "good", "good"]
    assert checks.check_cgroup(CgroupLimits(None, None), 4).message == "no cgroup limits"


def test_a_slow_clock_is_noted() -> None:
    assert states(checks.check_clock("tsc", 50e-9), checks.check_clock("hpet", 2e-6)) == ["good", "note"]


def test_coarse_timers_are_noted_by_their_median() -> None:
    assert states(checks.check_timers([60e-6] * 9 + [0.1]), checks.check_timers([2e-3] * 9 + [1e-6])) == [
        "good",
        "note",
    ]


def test_real_time_priority_is_advised_where_it_is_not_allowed() -> None:
    assert states(checks.check_real_time(True), checks.check_real_time(False)) == ["good", "note"]


def test_a_floor_that_is_missing_or_was_measured_on_a_busy_machine_is_to_be_measured() -> None:
    good = checks.check_floor(FLOOR, 2)
    busy = checks.check_floor({**FLOOR, "load_average": 1.5}, 2)
    assert states(checks.check_floor(None, 2), good, busy) == ["note", "good", "note"]
    assert "(measured 2026-11-20)" in good.message
    assert "load average 1.5" in busy.message


def test_a_contestant_without_its_tool_is_noted_with_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    lacks = MissingTool("node-99", "apt-get install node-99", "node-99", "it is not installed")
    monkeypatch.setattr(checks.roster, "names", lambda: ["node"])
    monkeypatch.setattr(contestant.Contestant, "missing", lambda _: [lacks])
    assert checks.check_contestants() == Diagnosis(
        "contestants", "note", "0 of 1 are ready; not ready: node", "jostle contestants install node"
    )


def test_doctor_looks_at_the_whole_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOSTLE_CACHE", str(tmp_path))
    monkeypatch.setattr(checks.roster, "names", lambda: ["reference-null"])
    found = {finding.subject: finding for finding in checks.check_machine()}
    assert {"cores", "open files", "local ports", "timers", "floor", "contestants"} <= found.keys()
    assert found["floor"].state == "note"


@pytest.mark.parametrize(("state", "code"), [("good", 0), ("note", 0), ("bad", 1)])
def test_only_what_makes_runs_fail_decides_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], state: str, code: int
) -> None:
    finding = Diagnosis("files", state, "100 per process", "raise it")  # type: ignore[arg-type]
    monkeypatch.setattr(checks, "check_machine", lambda: [finding])
    monkeypatch.setattr("sys.argv", ["jostle", "doctor", "--json"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == code
    (shown,) = json.loads(capsys.readouterr().out)
    assert shown == {
        "subject": "files",
        "state": state,
        "message": "100 per process",
        "remedy": "raise it",
    }
