"""The driver of a running fleet: asks every generator for news, merges, and gives up those that are silent.

One question is on its way to each generator at any time, and brings a lease. Who has been given up once is
asked no more: its lease ends by itself, and only after that may another one take over its share.
"""

import json
import math
import queue
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from jostle.errors import ClusterLost, GeneratorsLost, StartRefused
from jostle.generator.api import Generator, Lost
from jostle.generator.cluster.clocks import measure
from jostle.generator.cluster.follower import Stream
from jostle.generator.cluster.handover import remainder
from jostle.generator.cluster.lease import EXPIRED_S, LEASE_S, SILENT_S
from jostle.generator.cluster.ledger import collect, note_stream, write_accounts
from jostle.generator.cluster.transport import Gone, Network, Node, Unavailable
from jostle.generator.merge import Merging

if TYPE_CHECKING:
    from jostle._engine import Interval

__all__ = ["Fleet", "WhenLost"]

WhenLost = Literal["is missing", "moves"]
"""What becomes of a lost generator's share."""

MOVE_S = 3.0
"""From the decision until another generator takes over: time to come up and to prepare the load."""

LOOK_S = 0.1

ASK_EVERY_S = 0.5
"""However short the intervals are, a generator is not asked more often."""
READINGS_AFTER = 10


@dataclass
class _Move:
    """A share that is to move as soon as its lease is over."""

    index: int
    not_before: float
    lost: int  # which of `Fleet.lost`


class Fleet:
    """All generators of a run as one (`jostle.generator.api.Running`)."""

    def __init__(
        self,
        network: Network,
        streams: Sequence[Stream],
        shares: Sequence[Mapping[str, Any]],
        generators: Sequence[Generator],
        zero_ns: int,
        when_lost: WhenLost,
    ) -> None:
        """`zero_ns`: the wall clock's time of the start, here. `shares`: by index, the specifications."""
        self.generators = list(generators)
        self.started_unix_ns = zero_ns
        self.lost: list[Lost] = []
        self._network = network
        self._streams = list(streams)
        self._shares = shares
        self._when_lost = when_lost
        self._merging = Merging(len(shares), shares[0]["threads"], len(shares[0]["workloads"]))
        self._moves: list[_Move] = []
        self._moved: queue.SimpleQueue[tuple[_Move, Stream | Exception]] = queue.SimpleQueue()
        self._folder: Path | None = None
        self._stopping = False

    def next_interval(self, timeout_s: float) -> "Interval | None":
        give_up = time.monotonic() + timeout_s
        while (interval := self._merging.next()) is None:
            left = give_up - time.monotonic()
            if left <= 0:
                return None
            self._hear(min(left, LOOK_S))
            self._judge()
            self._move()
        return interval

    def stop(self) -> None:
        self._stopping = True
        for stream in self._alive():
            stream.remote.ask("stop")

    def keep(self, folder: Path) -> None:
        self._folder = folder / "generators"
        self._folder.mkdir()
        for stream in self._streams:
            self._keep(stream)

    def pull(self) -> None:
        after = {id(stream): self._clock_after(stream) for stream in self._streams if stream.state == "ended"}
        if self._folder is not None:
            write_accounts(self._folder, [self._account(s, after.get(id(s))) for s in self._streams])
            if any(not stream.ended_whole for stream in self._streams):
                collect(self._network, self._folder)
        for stream in self._streams:
            if stream.ended_whole:
                self._network.forget(stream.node, stream.log)
            self._network.end(stream.remote)

    def _alive(self) -> list[Stream]:
        return [stream for stream in self._streams if stream.state == "running"]

    def _keep(self, stream: Stream) -> None:
        if self._folder is not None:
            stream.keep(self._folder)
            note_stream(self._folder, stream)

    def _hear(self, timeout_s: float) -> None:
        """Ask whoever has no question, and take in the answers that there are."""
        now = time.monotonic()
        for stream in self._alive():
            if stream.asked is None and now >= stream.sent_at + ASK_EVERY_S:
                self._ask(stream)
        asked = {stream.asked: stream for stream in self._alive() if stream.asked is not None}
        for question in self._network.wait(list(asked), timeout_s):
            stream = asked[question]
            stream.asked = None
            try:
                answer = self._network.answer(question)
            except Unavailable:
                continue
            except Gone as error:
                self._give_up(stream, f"has died ({error})")
            else:
                self._take(stream, answer)

    def _ask(self, stream: Stream) -> None:
        stream.sent_at = time.monotonic()
        lease_end = time.monotonic_ns() + stream.clock.monotonic_ns + round(LEASE_S * 1e9)
        stream.asked = stream.remote.ask("poll", stream.offset, lease_end)

    def _take(self, stream: Stream, answer: Mapping[str, Any]) -> None:
        stream.heard_at = time.monotonic()
        state = answer["state"]
        for interval in stream.take(answer["data"]):
            if state in ("fenced", "failed"):
                interval["last"] = False  # of this generator, not of its load
            self._merging.add(stream.index, interval)
        if state == "running":
            return
        stream.ended_whole = True
        if state == "ended":
            stream.state = "ended"
        else:
            stopped = f"was cut off for more than {LEASE_S:g} s and stopped by itself"
            self._give_up(stream, answer["why"] or stopped)

    def _judge(self) -> None:
        now = time.monotonic()
        for stream in self._alive():
            if now - stream.heard_at > SILENT_S:
                self._give_up(stream, f"did not answer for {SILENT_S:g} s")
        if self._network.head_is_gone():
            raise ClusterLost(
                "the head of the cluster is gone; every generator stops by itself within "
                f"{LEASE_S:g} s and keeps its own log",
                "start the cluster again, then: jostle collect RUN",
            )
        if self._streams and not self._moves and all(stream.state == "lost" for stream in self._streams):
            raise GeneratorsLost(
                "all generators are lost: " + "; ".join(lost.why for lost in self.lost),
                "when they are back: jostle collect RUN",
            )

    def _give_up(self, stream: Stream, why: str) -> None:
        """For good: it is asked no more, so that its lease runs out."""
        stream.state = "lost"
        at_ns = self._merging.bury(stream.index)
        name = f"generator {stream.index + 1} of {len(self._shares)} on {stream.node.address}"
        self.lost.append(Lost(stream.index + 1, len(self._shares), at_ns, f"{name} {why}"))
        if self._when_lost == "moves" and not self._stopping:
            self._moves.append(_Move(stream.index, stream.sent_at + EXPIRED_S, len(self.lost) - 1))

    def _move(self) -> None:
        """Begin the moves whose time has come, and take in those that are done."""
        now = time.monotonic()
        for move in [move for move in self._moves if now >= move.not_before]:
            self._moves.remove(move)
            self._begin(move)
        while not self._moved.empty():
            move, stream = self._moved.get()
            if isinstance(stream, Stream):
                self._keep(stream)
                self._streams.append(stream)
                if self._stopping:
                    stream.remote.ask("stop")
            else:
                self._merging.bury(move.index)
                lost = self.lost[move.lost]
                why = f"{lost.why}; its share could not move: {stream}"
                self.lost[move.lost] = replace(lost, until_ns=None, moved_to="", why=why)

    def _begin(self, move: _Move) -> None:
        """Reserve its place in the merged intervals, so that none is given without it, and start it."""
        spec = self._shares[move.index]
        interval_ns = spec["interval_ns"]
        passed_ns = time.time_ns() - self.started_unix_ns
        from_ns = math.ceil((passed_ns + MOVE_S * 1e9) / interval_ns) * interval_ns
        bearers = self._alive()
        if not bearers or from_ns >= (spec["duration_ns"] or math.inf):
            return
        load = {key: sum(s.node == stream.node for s in bearers) for key, stream in enumerate(bearers)}
        node = bearers[min(load, key=lambda key: load[key])].node
        lost = self.lost[move.lost]
        self.lost[move.lost] = replace(lost, until_ns=from_ns, moved_to=node.address)
        self._merging.revive(move.index, from_ns)
        threading.Thread(target=self._take_over, args=(move, node, from_ns), daemon=True).start()

    def _take_over(self, move: _Move, node: Node, from_ns: int) -> None:
        """In a thread of its own: the others are asked meanwhile."""
        try:
            rest, phases = remainder(self._shares[move.index], from_ns)
            log = f"{self._streams[move.index].log}-{from_ns}"
            remote = self._network.place(node)
            clock = measure(lambda: self._network.answer(remote.ask("clock")))
            start_ns = self.started_unix_ns + from_ns
            stream = Stream(move.index, log, remote, clock, from_ns, phases)
            self._network.answer(start_question(stream, rest, start_ns))
            stream.heard_at = stream.sent_at = time.monotonic()
        except (Unavailable, Gone, StartRefused) as error:
            self._moved.put((move, error))
        else:
            self._moved.put((move, stream))

    def _clock_after(self, stream: Stream) -> dict[str, int] | None:
        try:
            clock = measure(
                lambda: self._network.answer(stream.remote.ask("clock"), timeout_s=1.0), READINGS_AFTER
            )
        except (Unavailable, Gone):
            return None
        return {"offset_ns": clock.wall_ns, "error_ns": clock.error_ns}

    def _account(self, stream: Stream, after: dict[str, int] | None) -> dict[str, Any]:
        assert stream.copy is not None
        return {
            "generator": stream.index + 1,
            "host": stream.node.address,
            "log": stream.log,
            "from_ns": stream.from_ns,
            "copy": stream.copy.name,
            "streamed": vars(stream.streamed),
            "only_in_log": {"intervals": 0, "sent": 0, "until_ns": stream.streamed.until_ns}
            if stream.ended_whole
            else None,
            "whole": stream.ended_whole,
            "why": "" if stream.ended_whole else "its own log has not been fetched",
            "clock_after": after,
        }


def start_question(stream: Stream, spec: Mapping[str, Any], start_unix_ns: int) -> Any:
    """Tell it to start its load at that time of the clock here; the question."""
    there = {**spec, "start_unix_ns": start_unix_ns + stream.clock.wall_ns}
    lease_ns = round((LEASE_S + max(0.0, start_unix_ns / 1e9 - time.time())) * 1e9)
    lease_end = time.monotonic_ns() + stream.clock.monotonic_ns + lease_ns
    return stream.remote.ask("start", json.dumps(there), stream.log, lease_end)
