"""Full backlogs: read from the kernel, and told with the server and the workload."""

from types import SimpleNamespace
from typing import Any

import pytest

from jostle.analysis.topics.backlog import backlog_note
from jostle.analysis.trial.data import TrialData
from jostle.analysis.trial.machine import Machine
from jostle.host import backlog


def trial(*counts: int | None, contestant: str = "node", host: str = "127.0.0.1") -> Any:
    """A trial in which the kernel's count was read several times."""
    samples = [{"t_ns": 10**9 * t, "backlog_overflows": count} for t, count in enumerate(counts)]
    machine = Machine.of(samples, server_is_ours=True)
    return SimpleNamespace(
        trial=SimpleNamespace(contestant=contestant, workload="crowd"),
        backlog_overflows=TrialData.backlog_overflows.func(SimpleNamespace(machine=machine)),
        workload=lambda: {"target": {"host": host}},
    )


def test_what_was_dropped_is_told_by_server_and_workload() -> None:
    said = backlog_note([trial(7, 7, 1_000), trial(1_000, 1_507), trial(1_507, 1_537, contestant="go")])
    assert said.startswith(
        "The kernel dropped 1,530 connection attempts because the server's backlog was full"
    )
    assert "(1,500 × node under crowd, 30 × go under crowd)" in said


def test_where_it_happened_is_left_out_if_there_is_only_one_place() -> None:
    assert "it accepts more slowly than they come. An attempt" in backlog_note([trial(0, 3), trial(3, 4)])


@pytest.mark.parametrize(
    "quiet",
    [
        trial(),
        trial(7),
        trial(7, 7),
        trial(None, None),  # a kernel that does not tell
        trial(0, 9, host="192.0.2.1"),  # the kernel of this machine did not see it
    ],
)
def test_nothing_is_told_of_what_did_not_happen_or_is_not_known(quiet: Any) -> None:
    assert backlog_note([quiet]) == ""


def test_the_kernel_s_count_is_found_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"TcpExt: TW ListenOverflows ListenDrops\nTcpExt: 5 12 13\nIpExt: InOctets\nIpExt: 9\n"
    monkeypatch.setattr(backlog, "read_some", lambda _: text)
    assert backlog.backlog_overflows() == 12


@pytest.mark.parametrize("text", [b"", b"TcpExt: TW\nTcpExt: 5\n", b"TcpExt: ListenOverflows\n"])
def test_a_kernel_that_does_not_tell(text: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backlog, "read_some", lambda _: text)
    assert backlog.backlog_overflows() is None
