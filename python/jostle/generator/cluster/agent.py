"""A generator on a node, as the driver calls it. Independent of Ray."""

import json
import os
import threading
import time
from typing import Any, Literal, TypedDict

from jostle._version import __version__
from jostle.errors import StartRefused
from jostle.generator.cluster.lease import Lease
from jostle.generator.cluster.spool import Spool, log_path, read_from
from jostle.generator.files_and_ports import local_ports
from jostle.generator.inprocess import InProcessExecutor
from jostle.generator.steered import reply_to
from jostle.host.limits import open_files

__all__ = ["Agent", "Hello", "PollReply"]

AgentState = Literal["running", "ended", "fenced", "failed"]

WAIT_S = 1.0
"""How long a call may wait for a new interval."""

AT_ONCE = 8 << 20
"""The most bytes in one response."""


class Hello(TypedDict):
    """What the driver must know about a node before it gives it a share."""

    jostle: str
    pid: int
    cores: int
    open_files: int | None
    ports: int
    token: bool
    tls: bool


class PollReply(TypedDict):
    """`data`: the spool from the requested offset on. Nothing follows once `state` is not "running"."""

    state: AgentState
    why: str
    data: bytes


class Agent:
    """One generator: the engine in threads of this process, its spool, and its lease."""

    def __init__(self) -> None:
        self._failed = ""

    def hello(self) -> Hello:
        return {
            "jostle": __version__,
            "pid": os.getpid(),
            "cores": len(os.sched_getaffinity(0)),
            "open_files": open_files().hard,
            "ports": local_ports(),
            "token": os.environ.get("RAY_AUTH_MODE") == "token",
            "tls": os.environ.get("RAY_USE_TLS") == "1",
        }

    def clock(self) -> tuple[int, int]:
        """Wall clock and monotonic clock of this host, ns."""
        return time.time_ns(), time.monotonic_ns()

    def start(self, spec: str, name: str, lease_end_ns: int) -> int:
        """Start the load of a specification (JSON), and log it under `name`.

        Returns when it starts, in Unix ns. Raises `StartRefused`.
        """
        try:
            self._log = Spool(log_path(name))
        except OSError as error:
            raise StartRefused(f"the generator's spool cannot be written: {error}") from None
        self._run = InProcessExecutor().start(json.loads(spec))
        self._lease = Lease(lease_end_ns, self._run.stop)
        threading.Thread(target=self._record, name="spool", daemon=True).start()
        return self._run.started_unix_ns

    def poll(self, offset: int, lease_end_ns: int) -> PollReply:
        """The spool after `offset`; waits a while if there is nothing yet. It is safe to call twice."""
        self._lease.renew(lease_end_ns)
        size, closed = self._log.wait_beyond(offset, WAIT_S)
        end = min(size, offset + AT_ONCE)
        data = b"".join(read_from(self._log.path, offset, end)) if end > offset else b""
        over = closed and end == size
        return {"state": self._state() if over else "running", "why": self._failed, "data": data}

    def steer(self, workload: int, kind: str, value: float, at_ns: int) -> dict[str, Any]:
        """Change the load from `at_ns` after its start on. Returns what it does then, or why "refused"."""
        return reply_to(self._run, workload, kind, value, at_ns)

    def stop(self) -> None:
        """End the load cleanly."""
        self._run.stop()

    def _state(self) -> AgentState:
        return "failed" if self._failed else "fenced" if self._lease.over else "ended"

    def _record(self) -> None:
        """Record up to the last interval. If the spool cannot be written, the load stops."""
        last = False
        try:
            while not last:
                interval = self._run.next_interval(WAIT_S)
                if interval is not None:
                    self._log.append(interval)
                    last = interval["last"]
        except Exception as error:
            self._failed = f"could not write its spool: {error!r}"
            self._run.stop()
        finally:
            self._lease.release()
            self._log.close()
