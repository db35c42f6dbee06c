"""The driver's side of a running fleet: polls the generators, merges their intervals, gives up silent ones.

At most one call to each generator is under way at any time, and each carries a lease. A generator that was
given up is not called again: its lease runs out, and only then may another generator take over its share.
The successor starts up in the meantime, however long that takes.
"""

import json
import math
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from jostle.errors import ClusterLost, GeneratorsLost, StartRefused, SteerRefused
from jostle.generator.api import Generator, Lost, Steered
from jostle.generator.cluster.clocks import Clock, measure
from jostle.generator.cluster.follower import Follower
from jostle.generator.cluster.handover import Handover, first_interval, remainder
from jostle.generator.cluster.lease import LeaseTimes
from jostle.generator.cluster.ledger import collect, note_follower, write_ledger
from jostle.generator.cluster.transport import UP_S, Call, Gone, Node, Remote, Transport, Unavailable
from jostle.generator.merge import Merger
from jostle.generator.steered import merged
from jostle.plan.change import Change
from jostle.record.layout import ClockEntry

if TYPE_CHECKING:
    from jostle._engine import Interval

__all__ = ["Fleet", "WhenLost", "call_start"]

WhenLost = Literal["is missing", "moves"]
"""What happens to a lost generator's share."""

CHECK_S = 0.1
"""How often leases, silence and the head are checked while no response comes."""

POLL_EVERY_S = 0.5
"""The shortest time between two polls of a generator, however short the intervals are."""

CLOCK_READINGS_AFTER = 10

STEER_LEAD_S, STEER_S = 1.0, 5.0
"""From the command until a change, of which every node must know by then; and how long it may take to
acknowledge it."""


class Fleet:
    """All generators of a run as one (`jostle.generator.api.Running`)."""

    def __init__(
        self,
        transport: Transport,
        followers: Sequence[Follower],
        shares: Sequence[Mapping[str, Any]],
        generators: Sequence[Generator],
        zero_ns: int,
        when_lost: WhenLost,
        lease: LeaseTimes,
    ) -> None:
        """`zero_ns`: the start by this machine's wall clock. `shares`: the specifications, by index."""
        self.generators = list(generators)
        self.started_unix_ns = zero_ns
        self.lost: list[Lost] = []
        self._zero = time.monotonic_ns() + zero_ns - time.time_ns()
        """The start by the monotonic clock: the wall clock may be set while the load runs."""
        self._transport = transport
        self._followers = list(followers)
        for follower in followers:
            follower.answered_at = time.monotonic()  # starting them all took a while, which is no silence
        self._shares = shares
        self._when_lost = when_lost
        self._lease = lease
        self._merger = Merger(len(shares), shares[0]["threads"], len(shares[0]["workloads"]))
        self._handovers: list[Handover] = []
        self._done: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        """What this thread has to do when other threads have finished their work."""
        self._folder: Path | None = None
        self._stopping = False
        self._steered = False
        self._moving = 0
        """Successors that are being started."""

    def next_interval(self, timeout_s: float) -> "Interval | None":
        give_up = time.monotonic() + timeout_s
        while (interval := self._merger.next()) is None:
            left = give_up - time.monotonic()
            if left <= 0:
                return None
            self._poll(min(left, CHECK_S))
            self._find_losses()
            self._hand_over()
        return interval

    def steer(self, workload: int, change: Change, at_ns: int | None = None) -> Steered:
        before, self._steered = self._steered, True  # from now on no share moves
        if self._handovers or self._moving:
            self._steered = before
            raise SteerRefused("a share of the load is moving to another node", "try again soon")
        if at_ns is None:
            at_ns = max(0, time.monotonic_ns() - self._zero + round(STEER_LEAD_S * 1e9))
        calls = {
            f"generator {follower.index + 1} on {follower.node.address}": follower.remote.call(
                "steer", workload, change.kind, change.value, max(0, at_ns - follower.from_ns)
            )
            for follower in self._running()
        }
        give_up = time.monotonic() + STEER_S
        made = merged({name: self._reply(call, give_up) for name, call in calls.items()})
        return replace(made, at_ns=at_ns)

    def _reply(self, call: Call, give_up: float) -> Mapping[str, Any]:
        """What became of a change, or why that is not known at `give_up` (monotonic, s)."""
        try:
            reply = self._transport.response(call, timeout_s=max(0.1, give_up - time.monotonic()))
        except Unavailable:
            return {"refused": f"it did not acknowledge the change within {STEER_S:g} s"}
        except Gone as error:
            return {"refused": f"it has died ({error})"}
        found: Mapping[str, Any] = reply
        return found

    def stop(self) -> None:
        self._stopping = True
        for follower in self._running():
            follower.remote.call("stop")

    def save_logs_to(self, folder: Path) -> None:
        self._folder = folder / "generators"
        self._folder.mkdir()
        for follower in self._followers:
            self._keep(follower)

    def pull(self) -> None:
        self._take_in()
        for handover in list(self._handovers):
            self._drop(handover)
        after = {id(f): self._clock_after(f) for f in self._followers if f.state == "ended"}
        if self._folder is not None:
            write_ledger(self._folder, [f.account(after.get(id(f))) for f in self._followers])
            if any(not follower.ended_whole for follower in self._followers):
                collect(self._transport, self._folder)
        for follower in self._followers:
            if follower.ended_whole:
                self._transport.forget(follower.node, follower.log)
            self._transport.end(follower.remote)

    def _running(self) -> list[Follower]:
        return [follower for follower in self._followers if follower.state == "running"]

    def _keep(self, follower: Follower) -> None:
        if self._folder is not None:
            follower.save_logs_to(self._folder)
            note_follower(self._folder, follower)

    def _poll(self, timeout_s: float) -> None:
        """Call every generator without a call under way, and process the responses that have come."""
        now = time.monotonic()
        for follower in self._running():
            if follower.call is None and now >= follower.called_at + POLL_EVERY_S:
                self._call(follower)
        pending = {follower.call: follower for follower in self._running() if follower.call is not None}
        for call in self._transport.wait(list(pending), timeout_s):
            follower = pending[call]
            follower.call = None
            try:
                response = self._transport.response(call)
            except Unavailable:
                continue
            except Gone as error:
                self._give_up(follower, f"has died ({error})")
            else:
                self._accept(follower, response)

    def _call(self, follower: Follower) -> None:
        follower.called_at = time.monotonic()
        lease_end = time.monotonic_ns() + follower.clock.monotonic_ns + round(self._lease.length_s * 1e9)
        follower.call = follower.remote.call("poll", follower.offset, lease_end)

    def _accept(self, follower: Follower, response: Mapping[str, Any]) -> None:
        follower.answered_at = time.monotonic()
        state = response["state"]
        try:
            intervals = follower.take(response["data"])
        except ValueError as error:
            self._give_up(follower, f"sent what is not its spool: {error}")
            return
        for interval in intervals:
            if state in ("fenced", "failed"):
                interval["last"] = False  # the last of this generator, but not of its share
            self._merger.add(follower.index, interval, follower.node.address)
        if state == "running":
            return
        follower.ended_whole = True
        if state == "ended":
            follower.state = "ended"
        else:
            stopped = f"was cut off for more than {self._lease.length_s:g} s and stopped by itself"
            self._give_up(follower, response["why"] or stopped)

    def _find_losses(self) -> None:
        now = time.monotonic()
        for follower in self._running():
            if now - follower.answered_at > self._lease.silent_s:
                self._give_up(follower, f"did not answer for {self._lease.silent_s:g} s")
        if self._transport.head_is_gone():
            raise ClusterLost(
                "the head of the cluster is gone; every generator stops by itself within "
                f"{self._lease.length_s:g} s and keeps its spool",
                "start the cluster again, then: jostle collect RUN",
            )
        if self._followers and not self._handovers and all(f.state == "lost" for f in self._followers):
            raise GeneratorsLost(
                "all generators are lost: " + "; ".join(lost.why for lost in self.lost),
                "when they are back: jostle collect RUN",
            )

    def _give_up(self, follower: Follower, why: str) -> None:
        """Give up a generator for good. It is not called again, so its lease runs out."""
        follower.state = "lost"
        at_ns = self._merger.drop(follower.index)
        name = f"generator {follower.index + 1} of {len(self._shares)} on {follower.node.address}"
        moves = self._when_lost == "moves" and not self._stopping
        if moves and self._steered:
            why += "; its share does not move, as the load was changed meanwhile"
        lost = Lost(follower.index + 1, len(self._shares), at_ns, f"{name} {why}")
        self.lost.append(lost)
        if moves and not self._steered:
            self._handovers.append(Handover(follower, lost, follower.called_at + self._lease.expired_s))

    def _hand_over(self) -> None:
        """Advance every handover whose next step is due."""
        self._take_in()
        for handover in list(self._handovers):
            running = self._running()
            if not running:
                self._drop(handover)
            elif handover.successor is not None:
                self._begin(handover, *handover.successor)
            elif not handover.coming_up:
                nodes = [follower.node for follower in running]
                self._place(handover, min(nodes, key=nodes.count))

    def _take_in(self) -> None:
        while not self._done.empty():
            self._done.get()()

    def _drop(self, handover: Handover) -> None:
        """Abandon a handover: nothing is left to take over, or no generator could do so."""
        self._handovers.remove(handover)
        if handover.successor is not None:
            self._transport.end(handover.successor[0])

    def _place(self, handover: Handover, node: Node) -> None:
        """Start a successor on `node`, in a thread of its own, so that the others are polled meanwhile."""
        handover.coming_up = True

        def come_up() -> None:
            try:
                remote = self._transport.place(node)
            except Exception as error:  # Ray's errors here have no common base
                self._done.put(partial(self._cannot_move, handover, None, error))
                return
            try:
                clock = measure(lambda: self._transport.response(remote.call("clock"), timeout_s=UP_S))
            except (Unavailable, Gone) as error:
                self._done.put(partial(self._cannot_move, handover, remote, error))
            else:
                handover.successor = (remote, clock)

        threading.Thread(target=come_up, daemon=True).start()

    def _begin(self, handover: Handover, remote: Remote, clock: Clock) -> None:
        """Start the successor's load once the lease is over.

        Its place in the merged intervals is reserved: none is returned without its part.
        """
        if time.monotonic() < handover.not_before:
            return
        spec = self._shares[handover.index]
        from_ns = first_interval(spec, time.monotonic_ns() - self._zero)
        if from_ns >= (spec["duration_ns"] or math.inf):
            self._drop(handover)
            return
        self._moving += 1
        self._handovers.remove(handover)
        self._restate(handover, replace(handover.lost, until_ns=from_ns, moved_to=remote.node.address))
        self._merger.reassign(handover.index, from_ns)

        def start() -> None:
            rest, phases = remainder(spec, from_ns)
            log = f"{handover.follower.log}-{from_ns}"
            successor = Follower(handover.index, log, remote, clock, from_ns, phases)
            try:
                self._transport.response(call_start(successor, rest, self._zero + from_ns, self._lease))
            except (Unavailable, Gone, StartRefused) as error:
                self._done.put(partial(self._cannot_move, handover, remote, error))
            else:
                successor.answered_at = successor.called_at = time.monotonic()
                self._done.put(partial(self._follow, successor))

        threading.Thread(target=start, daemon=True).start()

    def _follow(self, successor: Follower) -> None:
        self._keep(successor)
        self._followers.append(successor)
        self._moving -= 1
        if self._stopping:
            successor.remote.call("stop")

    def _cannot_move(self, handover: Handover, remote: Remote | None, error: Exception) -> None:
        if remote is not None:
            self._transport.end(remote)
        if handover in self._handovers:
            self._handovers.remove(handover)
        else:
            self._merger.drop(handover.index)  # its place had been reserved
            self._moving -= 1
        why = f"{handover.lost.why}; its share could not move: {error}"
        self._restate(handover, replace(handover.lost, until_ns=None, moved_to="", why=why))

    def _restate(self, handover: Handover, lost: Lost) -> None:
        """Replace what was known about a loss by what is known now."""
        self.lost[self.lost.index(handover.lost)] = lost
        handover.lost = lost

    def _clock_after(self, follower: Follower) -> ClockEntry | None:
        """Compare the generator's clock with ours once more at the end, to reveal drift."""
        try:
            clock = measure(
                lambda: self._transport.response(follower.remote.call("clock"), timeout_s=1.0),
                CLOCK_READINGS_AFTER,
            )
        except (Unavailable, Gone):
            return None
        return {"offset_ns": clock.wall_ns, "error_ns": clock.error_ns}


def call_start(follower: Follower, spec: Mapping[str, Any], start_ns: int, lease: LeaseTimes) -> Call:
    """Have a generator start at `start_ns` of our monotonic clock. Its first lease lasts beyond that."""
    now_ns = time.monotonic_ns()
    remote_spec = {**spec, "start_unix_ns": time.time_ns() + start_ns - now_ns + follower.clock.wall_ns}
    lease_ns = round(lease.length_s * 1e9) + max(0, start_ns - now_ns)
    lease_end = now_ns + follower.clock.monotonic_ns + lease_ns
    return follower.remote.call("start", json.dumps(remote_spec), follower.log, lease_end)
