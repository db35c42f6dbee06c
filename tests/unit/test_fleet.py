"""The driver of a fleet against scripted generators: silence, death, moves, a head that is gone."""

import io
import json
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from jostle.errors import ExecutorLost, GeneratorsLost, SteerRefused
from jostle.generator import Generator
from jostle.generator.cluster import fleet as fleets
from jostle.generator.cluster import handover
from jostle.generator.cluster.clocks import Clock
from jostle.generator.cluster.fleet import Fleet, WhenLost
from jostle.generator.cluster.follower import Follower
from jostle.generator.cluster.lease import LeaseTimes
from jostle.generator.cluster.ledger import collect, read_ledger
from jostle.generator.cluster.transport import Gone, Node, Unavailable
from jostle.generator.merge import STATE
from jostle.generator.wire import write_frame
from jostle.plan.change import Change
from support.synthetic import engine_interval

MS = 10**6
LENGTH = 100 * MS


def frame(number: int, *, last: bool = False, sent: int = 10) -> bytes:
    file = io.BytesIO()
    interval = engine_interval(
        index=number,
        start_ns=number * LENGTH,
        end_ns=(number + 1) * LENGTH,
        last=last,
        workloads=[
            {**dict.fromkeys(STATE, 0), "sent": sent, "excess": {}, "dismissals": {}, "passed_over": {}}
        ],
        threads=[{"cpu_ns": 1, "wall_ns": LENGTH}],
    )
    write_frame(file, {"interval": interval})
    return file.getvalue()


@dataclass
class Scripted:
    """A generator: what it answers to each poll, in turn; None: nothing, for ever."""

    transport: "Scripts"
    node: Node
    responses: list[Any] = field(default_factory=list)
    log: bytes = b""
    told: list[str] = field(default_factory=list)
    spec: str = ""
    steered: list[tuple[Any, ...]] = field(default_factory=list)
    acknowledges: Any = field(
        default_factory=lambda: {"at_ns": 5, "what": "rate", "value": 500.0, "unreached": []}
    )
    """What it says of a change; None: nothing, for ever."""

    def call(self, method: str, *arguments: Any) -> Any:
        self.told.append(method)
        if method == "clock":
            return ("ready", (time.time_ns(), time.monotonic_ns()))
        if method == "start":
            self.spec = arguments[0]
            return ("ready", 0)
        if method == "steer":
            self.steered.append(arguments)
            return ("never", object()) if self.acknowledges is None else ("ready", self.acknowledges)
        if method != "poll" or not self.responses:
            return ("never", object())
        return ("ready", self.responses.pop(0))


class Scripts:
    """The transport that they are on.

    `later`: responses of a generator that takes over; `slow_s`: how long it takes to come up.
    """

    def __init__(self) -> None:
        self.remotes: list[Scripted] = []
        self.later: list[Any] = []
        self.slow_s = 0.0
        self.gone = False
        self.back: dict[str, bytes] = {}

    def add(self, responses: list[Any], log: bytes = b"") -> Scripted:
        node = Node(f"10.0.0.{len(self.remotes) + 1}", "key")
        self.remotes.append(Scripted(self, node, responses, log))
        return self.remotes[-1]

    def nodes(self) -> Sequence[Node]:
        return [remote.node for remote in self.remotes if remote.node.address in self.back]

    def place(self, node: Node) -> Scripted:
        time.sleep(self.slow_s)
        self.remotes.append(Scripted(self, node, self.later))
        return self.remotes[-1]

    def wait(self, calls: Sequence[Any], timeout_s: float) -> Sequence[Any]:
        ready = [call for call in calls if call[0] == "ready"]
        if not ready:
            time.sleep(min(timeout_s, 0.005))
        return ready

    def response(self, calls: Any, timeout_s: float | None = None) -> Any:
        del timeout_s
        if calls[0] == "never":
            raise Unavailable
        if isinstance(calls[1], Exception):
            raise calls[1]
        return calls[1]

    def read(self, node: Node, log: str, offset: int) -> Iterator[bytes]:
        del log
        yield self.back[node.address][offset:]

    def forget(self, node: Node, log: str) -> None: ...

    def end(self, remote: Any) -> None: ...

    def head_is_gone(self) -> bool:
        return self.gone


def news(data: bytes, state: str = "running", why: str = "") -> Any:
    return Said(state, why, data)


class Said(dict[str, Any]):
    """A response that can be a part of a key."""

    def __init__(self, state: str, why: str, data: bytes) -> None:
        super().__init__(state=state, why=why, data=data)

    def __hash__(self) -> int:  # type: ignore[override]
        return id(self)


class Endless(list[Any]):
    """The same response for ever."""

    def pop(self, _: Any = -1) -> Any:
        return self[0]


Make = Callable[..., Fleet]


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Make:
    """A fleet on `transport`, everything about it quick."""
    monkeypatch.setattr(fleets, "POLL_EVERY_S", 0.0)
    monkeypatch.setattr(handover, "PREPARE_S", 0.02)
    lease = LeaseTimes(0.16, margin_s=0.05)

    def build(
        transport: Scripts,
        when_lost: WhenLost = "is missing",
        seconds: float = 60.0,
        start_took_s: float = 0.0,
    ) -> Fleet:
        count = len(transport.remotes)
        workload = {"name": "w", "load": {"closed": {"clients": 1, "phases": []}}}
        spec = {
            "threads": 1,
            "interval_ns": LENGTH,
            "duration_ns": round(seconds * 1e9),
            "workloads": [workload],
        }
        followers = [Follower(i, f"log-{i}", r, Clock(0, 0, 0)) for i, r in enumerate(transport.remotes)]
        for follower in followers:
            follower.answered_at -= start_took_s
        named = [Generator(i + 1, count, 1, 0) for i in range(count)]
        fleet = Fleet(transport, followers, [spec] * count, named, time.time_ns(), when_lost, lease)
        fleet.save_logs_to(tmp_path)
        return fleet

    return build


def all_of(fleet: Fleet) -> list[Any]:
    found: list[Any] = []
    give_up = time.monotonic() + 20
    while not (found and found[-1]["last"]) and time.monotonic() < give_up:
        found += filter(None, [fleet.next_interval(0.05)])
    return found


def sent(found: list[Any]) -> list[int]:
    return [interval["workloads"][0]["sent"] for interval in found]


def whole(count: int) -> list[bytes]:
    return [frame(n, last=n == count - 1) for n in range(count)]


def test_all_is_merged_and_the_accounts_close(make: Make, tmp_path: Path) -> None:
    transport = Scripts()
    frames = whole(3)
    transport.add([news(frames[0]), news(frames[1] + frames[2], "ended")])
    transport.add([news(frames[0][:50]), news(frames[0][50:] + frames[1]), news(frames[2], "ended")])
    fleet = make(transport)
    assert sent(all_of(fleet)) == [20, 20, 20]
    fleet.pull()
    assert not fleet.lost
    accounts = read_ledger(tmp_path / "generators")
    assert [a["streamed"]["sent"] for a in accounts] == [30, 30]
    assert all(a["whole"] and a["only_in_log"]["sent"] == 0 for a in accounts)
    assert (tmp_path / "generators" / "2.frames").read_bytes() == b"".join(frames)


def test_a_slow_start_is_no_silence(make: Make) -> None:
    transport = Scripts()
    transport.add([])
    begin = time.monotonic()
    fleet = make(transport, start_took_s=60.0)
    assert fleet._followers[0].answered_at >= begin


def test_a_silent_one_is_given_up_and_collected_when_it_is_back(make: Make, tmp_path: Path) -> None:
    transport = Scripts()
    frames = whole(3)
    transport.add([news(b"".join(frames), "ended")])
    transport.add([news(frames[0])])
    fleet = make(transport)
    assert sent(all_of(fleet)) == [20, 10, 10]
    (lost,) = fleet.lost
    assert (lost.generator, lost.at_ns, lost.until_ns) == (2, LENGTH, None)
    assert lost.why == "generator 2 of 2 on 10.0.0.2 did not answer for 0.2 s"
    fleet.pull()
    folder = tmp_path / "generators"
    assert [a["whole"] for a in read_ledger(folder)] == [True, False]
    assert "is not in the cluster now" in read_ledger(folder)[1]["why"]
    transport.back["10.0.0.2"] = frames[0] + frames[1]
    (_, account) = collect(transport, folder)
    assert account["whole"]
    assert (account["streamed"]["sent"], account["only_in_log"]["sent"]) == (10, 10)
    assert collect(transport, folder)[1] == account, "collecting twice changes nothing"


def test_one_that_has_died_or_stopped_itself_is_named(make: Make) -> None:
    transport = Scripts()
    frames = whole(2)
    transport.add([news(b"".join(frames), "ended")])
    transport.add([Gone("killed")])
    transport.add([news(frames[0] + frames[1], "fenced")])
    fleet = make(transport)
    found = all_of(fleet)
    whys = {lost.generator: lost.why for lost in fleet.lost}
    assert whys[2].endswith("has died (killed)")
    assert whys[3].endswith("stopped by itself")
    assert sent(found) == [20, 20]
    assert found[-1]["last"]


def test_a_share_moves_only_after_its_lease_and_leaves_no_double(make: Make) -> None:
    transport = Scripts()
    transport.add([news(frame(0))])
    transport.add([news(frame(0))])
    fleet = make(transport, "moves", seconds=1.2)
    rest = [frame(n, last=n == 11) for n in range(1, 12)]
    transport.remotes[0].responses += [news(data) for data in rest[:-1]] + [news(rest[-1], "ended")]
    transport.remotes[0].responses[1:1] = [news(b"")] * 60
    transport.later = [news(whole(1)[0], "ended")]
    found = all_of(fleet)
    (lost,) = fleet.lost
    taken_over = [remote for remote in transport.remotes if remote.spec]
    if lost.until_ns is None:  # all was over before the lease was
        assert not taken_over
        assert sum(sent(found)) == 130
    else:
        assert lost.moved_to == "10.0.0.1"
        assert lost.until_ns % LENGTH == 0
        assert len(taken_over) == 1
        assert sum(sent(found)) == 140
        assert sent(found)[lost.until_ns // LENGTH] == 20


@pytest.mark.parametrize("by_s", [3600, -3600])
def test_a_wall_clock_that_is_set_ends_no_lease_and_moves_no_share_to_another_time(
    make: Make, monkeypatch: pytest.MonkeyPatch, by_s: int
) -> None:
    transport = Scripts()
    transport.add(Endless([news(b"")]))
    transport.add([])
    fleet = make(transport, "moves")
    real = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: real() + by_s * 1_000_000_000)
    give_up = time.monotonic() + 20
    while not (taken := [remote for remote in transport.remotes if remote.spec]):
        assert time.monotonic() < give_up
        fleet.next_interval(0.02)
    (lost,) = fleet.lost
    assert lost.generator == 2
    assert lost.until_ns is not None
    assert 0 < lost.until_ns < 10_000_000_000
    starts = json.loads(taken[0].spec)["start_unix_ns"]
    assert abs(starts - time.time_ns()) < 10_000_000_000


def test_a_share_waits_for_a_generator_that_is_slow_to_come_up(make: Make) -> None:
    transport = Scripts()
    transport.add(Endless([news(b"")]))
    transport.add([])
    transport.slow_s = 1.0
    fleet = make(transport, "moves")
    give_up = time.monotonic() + 20
    while not any(remote.spec for remote in transport.remotes):
        assert time.monotonic() < give_up
        fleet.next_interval(0.02)
    assert (fleet.lost[0].until_ns or 0) > 1_000 * MS
    assert len([remote for remote in transport.remotes if remote.spec]) == 1


def test_a_share_that_cannot_move_says_why(make: Make) -> None:
    transport = Scripts()
    transport.add(Endless([news(b"")]))
    transport.add([])
    transport.place = lambda node: Stillborn(transport, node)  # type: ignore[method-assign]
    fleet = make(transport, "moves")
    give_up = time.monotonic() + 20
    while not (fleet.lost and "could not move" in fleet.lost[0].why):
        assert time.monotonic() < give_up
        fleet.next_interval(0.02)
    assert fleet.lost[0].why.endswith("its share could not move: no memory")
    assert (fleet.lost[0].until_ns, fleet.lost[0].moved_to) == (None, "")


def test_a_node_on_which_nothing_can_be_started_takes_no_share(make: Make) -> None:
    """Whatever Ray raises: a handover that only waits would keep the trial from its end."""

    def refuse(_: Node) -> Scripted:
        raise RuntimeError("the head has no room for actors")

    transport = Scripts()
    transport.add(Endless([news(b"")]))
    transport.add([])
    transport.place = refuse  # type: ignore[method-assign]
    fleet = make(transport, "moves")
    give_up = time.monotonic() + 20
    while not (fleet.lost and "could not move" in fleet.lost[0].why):
        assert time.monotonic() < give_up
        fleet.next_interval(0.02)
    assert fleet.lost[0].why.endswith("its share could not move: the head has no room for actors")


class Stillborn(Scripted):
    """A generator that does not come up."""

    def call(self, method: str, *arguments: Any) -> Any:
        del method, arguments
        return ("ready", Gone("no memory"))


def test_nobody_left_and_no_head_are_told(make: Make) -> None:
    transport = Scripts()
    transport.add([Gone("killed")])
    with pytest.raises(GeneratorsLost, match="all generators are lost"):
        all_of(make(transport))


def test_a_head_that_is_gone_ends_the_run(make: Make) -> None:
    transport = Scripts()
    transport.add([])
    transport.gone = True
    with pytest.raises(ExecutorLost, match="the head of the cluster is gone"):
        all_of(make(transport))


def test_one_that_sends_nonsense_is_given_up(make: Make) -> None:
    transport = Scripts()
    transport.add([news(b"".join(whole(2)), "ended")])
    transport.add([news(b"\xff" * 64)])
    fleet = make(transport)
    assert sent(all_of(fleet)) == [10, 10]
    assert "sent what is not its spool" in fleet.lost[0].why


def test_all_times_of_a_moved_share_count_from_the_start_of_the_trial() -> None:
    def column(*times: int) -> bytes:
        return struct.pack(f"<{len(times)}Q", *times)

    rows = {"intended_ns": column(0, 5), "sent_ns": column(1, 0), "headers_ns": column(2, 0)}
    stream = {"ready_ns": 1, "sent_ns": 2, "head_ns": 0, "end_ns": 0}
    interval = engine_interval(
        rows=rows | {"end_ns": column(3, 6), "status": b"xx"},
        head_of_line=[{"from_ns": 0, "until_ns": 3, "streams": [stream]}],
    )
    remote = Scripts().add([])
    placed = Follower(0, "log", remote, Clock(0, 0, 0), from_ns=100).placed(interval)
    assert (placed["start_ns"], placed["end_ns"]) == (100, 1_000_000_100)
    assert placed["rows"] == {
        "intended_ns": column(100, 105),
        "sent_ns": column(101, 0),
        "headers_ns": column(102, 0),
        "end_ns": column(103, 106),
        "status": b"xx",
    }
    moved = {"ready_ns": 101, "sent_ns": 102, "head_ns": 0, "end_ns": 0}
    assert placed["head_of_line"] == [{"from_ns": 100, "until_ns": 103, "streams": [moved]}]


def steerable(*acknowledge: Any) -> Scripts:
    """Generators that run on, and say this of a change."""
    transport = Scripts()
    for said in acknowledge:
        transport.add(Endless([news(b"")])).acknowledges = said
    return transport


MADE = {"at_ns": 5, "what": "rate", "value": 500.0, "unreached": []}


def test_a_change_is_made_on_all_nodes_at_one_moment(make: Make) -> None:
    transport = steerable(MADE, MADE)
    fleet = make(transport)
    made = fleet.steer(0, Change("rate", 500.0))
    first, second = (remote.steered for remote in transport.remotes)
    assert first == second == [(0, "rate", 500.0, made.at_ns)]
    assert 0.9e9 < made.at_ns < 60e9, "a second ahead"
    assert (made.what, made.value, list(made.unreached)) == ("rate", 500.0, [])
    assert fleet.steer(0, Change("hold"), at_ns=77).at_ns == 77


def test_a_node_that_does_not_acknowledge_a_change_is_told(make: Make) -> None:
    refuses = {"refused": "9 clients need 99 open files"}
    late = MADE | {"late_ns": 1_500_000_000}
    made = make(steerable(MADE, None, Gone("killed"), refuses, late)).steer(0, Change("rate", 500.0))
    assert made.unreached == [
        "generator 2 on 10.0.0.2 goes on as before: it did not acknowledge the change within 5 s",
        "generator 3 on 10.0.0.3 goes on as before: it has died (killed)",
        "generator 4 on 10.0.0.4 goes on as before: 9 clients need 99 open files",
        "generator 5 on 10.0.0.5 followed 1.50 s later",
    ]


CLOSED = {"refused": "its load is closed"}


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ((CLOSED, CLOSED), "its load is closed"),
        (
            (CLOSED, None),
            "generator 1 on 10.0.0.1: its load is closed; generator 2 on 10.0.0.2: "
            "it did not acknowledge the change within 5 s",
        ),
    ],
)
def test_a_change_that_no_node_makes_is_refused(make: Make, said: Sequence[Any], why: str) -> None:
    with pytest.raises(SteerRefused) as refused:
        make(steerable(*said)).steer(0, Change("rate", 500.0))
    assert refused.value.message == why


def test_the_share_of_a_lost_node_does_not_move_once_the_load_was_changed(make: Make) -> None:
    transport = steerable(MADE)
    transport.add([])
    fleet = make(transport, "moves")
    fleet.steer(0, Change("rate", 500.0))
    give_up = time.monotonic() + 20
    while not fleet.lost:
        assert time.monotonic() < give_up
        fleet.next_interval(0.02)
    assert fleet.lost[0].why.endswith("its share does not move, as the load was changed meanwhile")
    assert not any(remote.spec for remote in transport.remotes)


def test_a_load_is_not_changed_while_a_share_moves(make: Make) -> None:
    transport = steerable(MADE)
    transport.add([])
    transport.slow_s = 0.5
    fleet = make(transport, "moves")
    give_up = time.monotonic() + 20
    while not fleet.lost:
        assert time.monotonic() < give_up
        fleet.next_interval(0.02)
    with pytest.raises(SteerRefused, match="a share of the load is moving to another node"):
        fleet.steer(0, Change("rate", 500.0))
