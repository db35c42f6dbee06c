"""The executor for clusters: one generator on every node."""

import math
import secrets
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from jostle._version import __version__
from jostle.errors import ClusterRefused, StartRefused
from jostle.generator.api import Generator, Running
from jostle.generator.cluster.agent import Hello
from jostle.generator.cluster.allowlist import refuse_unlisted_targets
from jostle.generator.cluster.clocks import measure
from jostle.generator.cluster.fleet import Fleet, WhenLost, call_start
from jostle.generator.cluster.follower import Follower
from jostle.generator.cluster.handover import refuse_countable_load
from jostle.generator.cluster.lease import LeaseTimes
from jostle.generator.cluster.transport import UP_S, Call, Gone, Remote, Transport, Unavailable
from jostle.generator.files_and_ports import connections_of, processes_for, with_sources
from jostle.generator.partition import partition

__all__ = ["ClusterExecutor", "connect"]

LEAD_S, LEAD_EACH_S = 1.0, 0.01
"""From the start command until t = 0, in total and per generator: each prepares the load in the meantime."""


DEFAULT_LEASE = LeaseTimes()


def connect(
    address: str,
    *,
    threads: int | None,
    allow_targets: Collection[str],
    when_lost: WhenLost,
    lease: LeaseTimes,
) -> "ClusterExecutor":
    """The executor for the cluster whose head is at `address`. Raises `ClusterRefused`."""
    from jostle.generator.cluster.ray import RayTransport

    transport = RayTransport(address)
    return ClusterExecutor(
        transport,
        transport.here,
        threads=threads,
        allow_targets=allow_targets,
        when_lost=when_lost,
        lease=lease,
    )


class ClusterExecutor:
    """Runs the plan in equal shares on all nodes that can generate load when a trial starts."""

    def __init__(
        self,
        transport: Transport,
        here: str,
        *,
        threads: int | None = None,
        allow_targets: Collection[str] = (),
        when_lost: WhenLost = "is missing",
        lease: LeaseTimes = DEFAULT_LEASE,
    ) -> None:
        """`threads`: in total; None: each generator has as many as the smallest node has cores."""
        self.here = here
        self._transport = transport
        self._threads = threads
        self._allowed = {here, *allow_targets}
        self._when_lost = when_lost
        self._lease = lease
        self._ready: list[tuple[Remote, Hello]] = []

    def prepare(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        refuse_unlisted_targets(spec, self._allowed)
        if self._when_lost == "moves":
            refuse_countable_load(spec)
        if not self._ready:
            self._ready = self._placed()
        hellos = [hello for _, hello in self._ready]
        count = len(hellos)
        connections = math.ceil(sum(map(connections_of, spec["workloads"])) / count)
        for remote, hello in self._ready:
            try:
                processes_for(connections, hello["open_files"], 1)
            except StartRefused as error:
                raise StartRefused(
                    f"on {remote.node.address}: {error.message}",
                    "raise the limit of open files there (ulimit -Hn), or add nodes",
                ) from None
        roomy = with_sources(spec, min(hello["ports"] for hello in hellos) * count)
        threads = self._threads or count * min(hello["cores"] for hello in hellos)
        # With threads on all cores of a node that have real-time priority or never sleep, too little CPU time
        # would be left for renewing its lease.
        busy_poll = spec["busy_poll"] is True
        return {**roomy, "threads": threads, "cores": [], "real_time": False, "busy_poll": busy_poll}

    def start(self, spec: Mapping[str, Any]) -> Running:
        placed, self._ready = self._ready or self._placed(), []
        remotes = [remote for remote, _ in placed]
        run = secrets.token_hex(8)
        try:
            followers = [
                Follower(index, f"{run}-{index + 1}", remote, measure(lambda at=remote: self._clock(at)))  # type: ignore[misc]
                for index, remote in enumerate(remotes)
            ]
            parts = partition(spec, len(followers))
            lead_ns = round((LEAD_S + LEAD_EACH_S * len(followers)) * 1e9)
            starts_ns = time.monotonic_ns() + lead_ns
            calls = [
                call_start(follower, part, starts_ns, self._lease)
                for follower, part in zip(followers, parts, strict=True)
            ]
            started = self._responses(remotes, calls)
        except BaseException:
            for remote in remotes:
                self._transport.end(remote)
            raise
        generators = [
            Generator(
                follower.index + 1,
                len(followers),
                hello["pid"],
                theirs - follower.clock.wall_ns,
                follower.node.address,
                follower.clock.wall_ns,
                follower.clock.error_ns,
            )
            for follower, (_, hello), theirs in zip(followers, placed, started, strict=True)
        ]
        first = min(generator.started_unix_ns for generator in generators)
        return Fleet(self._transport, followers, parts, generators, first, self._when_lost, self._lease)

    def _clock(self, remote: Remote) -> tuple[int, int]:
        """The wall and monotonic clocks of a generator's host, in ns. Raises `StartRefused`."""
        clock: tuple[int, int] = self._responses([remote], [remote.call("clock")])[0]
        return clock

    def _placed(self) -> list[tuple[Remote, Hello]]:
        """Place a generator on every node. Each node must have this version, and be closed to others."""
        nodes = self._transport.nodes()
        if not nodes:
            raise ClusterRefused(
                "no node of the cluster generates load", "on each: jostle cluster start --join HEAD:PORT"
            )
        remotes = [self._transport.place(node) for node in nodes]
        hellos: list[Hello] = self._responses(remotes, [remote.call("hello") for remote in remotes])
        for remote, hello in zip(remotes, hellos, strict=True):
            where = remote.node.address
            if hello["jostle"] != __version__:
                raise ClusterRefused(
                    f"the node {where} has jostle {hello['jostle']}, and here is {__version__}",
                    "install the same version everywhere: one image, or one lock file",
                )
            if not (hello["token"] and hello["tls"]):
                raise ClusterRefused(
                    f"the node {where} was started without token and TLS: anybody could use it",
                    "start it by jostle cluster start, which does not do that",
                )
        return list(zip(remotes, hellos, strict=True))

    def _responses(self, remotes: Sequence[Remote], calls: Sequence[Call]) -> list[Any]:
        """The responses to `calls`. Raises a `StartRefused` that names the generator that did not answer."""
        responses = []
        for remote, call in zip(remotes, calls, strict=True):
            where = remote.node.address
            try:
                responses.append(self._transport.response(call, timeout_s=UP_S))
            except Unavailable:
                raise StartRefused(
                    f"the generator on {where} did not answer within {UP_S:g} s", "is the node overloaded?"
                ) from None
            except Gone as error:
                raise StartRefused(f"the generator on {where} ended before the load began: {error}") from None
            except StartRefused as error:
                raise StartRefused(f"on {where}: {error.message}", error.hint) from None
        return responses
