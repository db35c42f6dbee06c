"""Full backlogs: read from the kernel, and told with the server and the workload."""

import contextlib
import socket
from types import SimpleNamespace
from typing import Any

import pytest

from jostle.analysis.topics.server.backlog import backlog_note
from jostle.analysis.trials.data import TrialData
from jostle.analysis.trials.machine import MachineSeries
from jostle.host import backlog
from jostle.host.backlog import backlog_drops

LOOPBACK = "127.0.0.1"


def trial(*counts: int | None, contestant: str = "node", host: str = "127.0.0.1") -> Any:
    """A trial in which the kernel's count was read several times."""
    samples = [{"t_ns": 10**9 * t, "backlog_drops": count} for t, count in enumerate(counts)]
    machine = MachineSeries.of(samples, server_is_ours=True)
    return SimpleNamespace(
        trial=SimpleNamespace(contestant=contestant, workload="crowd"),
        backlog_drops=TrialData.backlog_drops.func(SimpleNamespace(machine=machine)),
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


def test_the_count_of_the_whole_machine_in_older_records_blames_nobody() -> None:
    samples = [{"t_ns": 10**9 * t, "backlog_overflows": 1_000 * t} for t in range(3)]
    machine = MachineSeries.of(samples, server_is_ours=True)
    assert TrialData.backlog_drops.func(SimpleNamespace(machine=machine)) == 0


def test_only_the_sockets_on_the_server_s_own_port_count() -> None:
    """One server does not accept, and its backlog of two overflows; the other one has no fault."""
    with socket.create_server((LOOPBACK, 0), backlog=1) as full, socket.create_server((LOOPBACK, 0)) as other:
        ports = [server.getsockname()[1] for server in (full, other)]
        assert list(map(backlog_drops, ports)) == [0, 0]
        with contextlib.ExitStack() as clients:
            while not backlog_drops(ports[0]):
                client = clients.enter_context(socket.socket())
                client.setblocking(False)
                client.connect_ex((LOOPBACK, ports[0]))
        assert backlog_drops(ports[1]) == 0
    assert backlog_drops(ports[0]) is None, "nothing listens there any more"


def test_a_server_on_ipv6_is_found_too() -> None:
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as server:
        assert backlog_drops(server.getsockname()[1]) == 0


def test_a_kernel_that_does_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> Any:
        raise PermissionError

    monkeypatch.setattr(backlog.socket, "socket", refused)
    assert backlog_drops(80) is None
