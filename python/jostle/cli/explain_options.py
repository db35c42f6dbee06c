"""The options of `jostle explain`: what is asked of the server, and with what kind of request."""

from dataclasses import dataclass
from typing import Annotated, Any

from jostle import units
from jostle.cli.options import (
    GENERATOR,
    REQUEST,
    TLS,
    ImportPath,
    Match,
    Message,
    Proto,
    Send,
    Until,
    option,
)
from jostle.errors import PlanError

__all__ = ["PROBES", "ProbeOptions", "ProbedRequest"]

PROBES = "Probes"

MAX_S = 3600.0
MIN_TIMEOUT_S, MAX_TIMEOUT_S = 0.1, 60.0


@dataclass(frozen=True, kw_only=True)
class ProbeOptions:
    """What is asked, how much of it, and for how long."""

    slow: Annotated[
        list[str] | None,
        option(
            "--slow",
            metavar="PATH",
            help="A slow route (10 to 500 ms); repeatable: several sizes tell more. With grpc:// a method, "
            "its message, or both ('shop.Shop/Report {\"days\": 90}'); with ws://, tcp:// and udp:// what "
            "is sent in place of --send.",
            group=PROBES,
        ),
    ] = None
    wait: Annotated[
        str | None,
        option(
            "--wait",
            metavar="PATH",
            help="A route that waits for something else, without computing; written as for --slow.",
            group=PROBES,
        ),
    ] = None
    gentle: Annotated[
        bool | None,
        option(
            "--gentle/--thorough",
            help="How much load to send (default: gentle, unless jostle starts the server).",
            group=PROBES,
        ),
    ] = None
    budget: Annotated[
        str | None,
        option(
            "--budget",
            metavar="TIME",
            help="Time for everything together (default 3m; with --all: 3m times the number of contestants).",
            group=PROBES,
        ),
    ] = None
    overload: Annotated[
        bool,
        option("--overload", help="Also overload it: queue limit, shedding, recovery.", group=PROBES),
    ] = False
    pid: Annotated[
        int | None,
        option(
            "--pid",
            metavar="PID",
            help="Watch the CPU of this process, a server on this machine.",
            group=PROBES,
        ),
    ] = None

    def given(self) -> dict[str, Any]:
        """As `jostle.explain.run.explain` takes them. Raises `PlanError`."""
        return {
            "slow": self.slow or (),
            "wait": self.wait,
            "intensity": None if self.gentle is None else "gentle" if self.gentle else "thorough",
            "budget": self._seconds(),
            "overload": self.overload,
            "pid": self.pid,
        }

    def _seconds(self) -> float:
        from jostle.plan.model import MIN_EXPLAIN_S

        text = self.budget or "3m"
        seconds = units.duration(text, bare="s")
        if not MIN_EXPLAIN_S <= seconds <= MAX_S:
            raise PlanError(
                f"--budget: {text} is not between 20 s and an hour", "3m is what it usually takes"
            )
        return seconds


@dataclass(frozen=True, kw_only=True)
class ProbedRequest:
    """What each request is like, and on which cores it is made."""

    headers: Annotated[
        list[str] | None,
        option("-H", "--header", metavar="HEADER", help="'Name: value'; repeatable.", group=REQUEST),
    ] = None
    timeout: Annotated[
        str,
        option(
            "--timeout",
            metavar="TIME",
            help="Give up on a response after this time: 100ms to 60s.",
            group=REQUEST,
        ),
    ] = "10s"
    http2: Annotated[
        bool,
        option(
            "--http2",
            help="Ask over HTTP/2: by ALPN with https, with prior knowledge (h2c) with http. Tells also "
            "whether the streams of one connection wait for one another.",
            group=REQUEST,
        ),
    ] = False
    send: Send = None
    match: Match = None
    until: Until = None
    proto: Proto = None
    import_path: ImportPath = None
    message: Message = None
    insecure: Annotated[
        bool,
        option("-k", "--insecure", help="Do not verify the server's certificate.", group=TLS),
    ] = False
    share_cores: Annotated[
        bool,
        option(
            "--share-cores",
            help="Give server and generator all cores, instead of some to each.",
            group=GENERATOR,
        ),
    ] = False

    def given(self) -> dict[str, Any]:
        """As `jostle.explain.run.explain` takes them. Raises `PlanError`."""
        return {
            "headers": self.headers or (),
            "timeout": self.timeout_s,
            "http2": self.http2,
            "send": self.send,
            "match": self.match,
            "until": self.until,
            "proto": self.proto,
            "import_path": self.import_path,
            "message": self.message,
            "insecure": self.insecure,
            "share_cores": self.share_cores,
        }

    @property
    def timeout_s(self) -> float:
        """Raises `PlanError`."""
        seconds = units.duration(self.timeout, bare="s")
        if not MIN_TIMEOUT_S <= seconds <= MAX_TIMEOUT_S:
            raise PlanError(f"--timeout: {self.timeout} is not between 100 ms and 60 s", "10s is the default")
        return seconds
