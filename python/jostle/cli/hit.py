"""`jostle hit URL`: load one server now."""

import os
import re
import tempfile
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jostle.cli.options import (
    CONNECTION,
    GENERATOR,
    GRPC,
    LOAD,
    MESSAGES,
    OUTPUT,
    REQUEST,
    RESPONSE,
    STREAM,
    TLS,
    AllowTargets,
    BusyPoll,
    Cluster,
    ImportPath,
    Match,
    Message,
    Processes,
    Proto,
    Send,
    Until,
    option,
    option_names,
    refuse_beside,
    seed_option,
    unfold,
)
from jostle.cli.output import RunOutput
from jostle.errors import PlanError

if TYPE_CHECKING:
    from jostle.plan import Plan

__all__ = ["RequestOptions", "hit"]

HELP = """Load one URL now: throughput, response times, and whether to trust them.

\b
  jostle hit http://localhost:8080/                    10 clients, 10 seconds
  jostle hit http://localhost:8080/ -c 50 -d 30s       50 clients
  jostle hit http://localhost:8080/ -n 10000           10,000 requests in all
  jostle hit http://localhost:8080/ --rate 2000/s      open loop
  jostle hit http://localhost:8080/ --urls urls.txt     the URLs of a list
  jostle hit -c 50 -- curl 'http://localhost:8080/' -H 'Accept: text/html'
                                                       what curl would send
  jostle hit http://localhost:8080/ --journey buy.toml   what users do, in steps
  jostle hit http://localhost:8080/ticks --stream sse  events, each with its time
  jostle hit ws://localhost:8080/chat --send hello     a message and its response
  jostle hit tcp://localhost:6379 --send 'PING\\r\\n' --until '\\r\\n'   raw bytes
  jostle hit udp://localhost:7 --send 'ping {id:u32}' --match echo     datagrams
  jostle hit https://localhost:8443/ --http2           HTTP/2
  jostle hit grpc://localhost:50051/shop.Shop/Buy --proto shop.proto --message '{"id": 1}'
  jostle hit http://localhost:8080/api --json-body '{"id": 1}'

Closed loop (-c): each client waits for its response before it sends again. Open
loop (--rate): requests are sent at an average rate, however fast the server answers,
and response times count from when a request was due. A redirect counts as a
response; -L follows it and counts each request on the way. Every request counts,
but those of a --warm-up.

A curl command, as a browser copies it, is given behind -- as it is, or as one
text, as @FILE, or on standard input (-). Options of jostle stand before it.
"""


@dataclass(frozen=True, kw_only=True)
class LoadOptions:
    """How requests are sent. Each option has the name that it has in `jostle.plan.hit.plan.PLACES`."""

    clients: Annotated[
        str | None,
        option(
            *("-c", "--connections", "--clients"),
            metavar="N",
            help="Clients, each with a connection: 50, 10k (default 10). With --rate: at most this many "
            "connections (default 10k).",
            group=LOAD,
        ),
    ] = None
    seconds: Annotated[
        str | None,
        option(
            "-d", "--duration", metavar="TIME", help="How long: 500ms, 10s, 2m (default 10s).", group=LOAD
        ),
    ] = None
    requests: Annotated[
        str | None,
        option(
            "-n",
            "--requests",
            metavar="N",
            help="Stop after N requests, however long that takes; with -d, after whichever comes first.",
            group=LOAD,
        ),
    ] = None
    rate: Annotated[
        str | None,
        option("-r", "--rate", metavar="RATE", help="Requests per second: 2000/s or 2000.", group=LOAD),
    ] = None
    arrivals: Annotated[
        str,
        option("--arrivals", metavar="KIND", help="With --rate: poisson (random) or constant.", group=LOAD),
    ] = "poisson"
    think: Annotated[
        str | None,
        option(
            "--think",
            metavar="TIME",
            help="Pause between a response and the next request: 1s, '900ms ± 10%', 'exponential 1s'.",
            group=LOAD,
        ),
    ] = None
    warm_up: Annotated[
        str | None,
        option(
            "--warm-up",
            metavar="TIME",
            help="Send the load for this time before it is measured.",
            group=LOAD,
        ),
    ] = None
    urls: Annotated[
        Path | None,
        option(
            *("-f", "--urls"),
            metavar="FILE",
            help="Load the URLs of this file, one in each line: whole URLs of one server, or paths. "
            "A line may begin with a method and end with a weight: POST /orders 3.",
            group=REQUEST,
        ),
    ] = None
    journey: Annotated[
        Path | None,
        option(
            "--journey",
            metavar="FILE",
            help="Send the journeys of this TOML file ([journey.NAME]), .hurl file or script (.luau); "
            "-n counts journeys.",
            group=REQUEST,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class RequestOptions:
    """What is sent, over which connections, and by which generators."""

    method: Annotated[
        str | None,
        option(
            *("-m", "--method", "-X"),
            metavar="METHOD",
            help="Any method, such as PUT, PURGE or PROPFIND (default: GET, or POST with a body).",
            group=REQUEST,
        ),
    ] = None
    headers: Annotated[
        list[str] | None,
        option("-H", "--header", metavar="HEADER", help="'Name: value'; repeatable.", group=REQUEST),
    ] = None
    user: Annotated[
        str | None,
        option(
            *("-u", "--user"),
            metavar="USER:PASSWORD",
            help="Log in with Basic authentication.",
            group=REQUEST,
        ),
    ] = None
    agent: Annotated[
        str | None,
        option(*("-A", "--user-agent"), metavar="TEXT", help="The header User-Agent.", group=REQUEST),
    ] = None
    compressed: Annotated[
        bool,
        option(
            "--compressed",
            help="Accept gzip, brotli and zstd (with --stream: no zstd). Bytes are counted as received; "
            "responses are checked after decompression.",
            group=REQUEST,
        ),
    ] = False
    body: Annotated[
        str | None,
        option(*("-b", "--body", "--data"), metavar="TEXT", help="Request body, or @FILE.", group=REQUEST),
    ] = None
    json_body: Annotated[
        str | None,
        option(
            "--json-body",
            metavar="JSON",
            help="Request body, or @FILE, with Content-Type and Accept of JSON.",
            group=REQUEST,
        ),
    ] = None
    send: Send = None
    match: Match = None
    ping: Annotated[
        str | None,
        option(
            "--ping",
            metavar="TIME",
            help="With ws://: each client sends a ping every TIME, such as 20s, and its round "
            "trip is measured. A socket whose pong takes longer than TIME is given up.",
            group=MESSAGES,
        ),
    ] = None
    until: Until = None
    proto: Proto = None
    import_path: ImportPath = None
    message: Message = None
    deadline: Annotated[
        str | None,
        option(
            "--deadline",
            metavar="TIME",
            help="With grpc://: each call must end within this time, which is also sent to the server "
            "(grpc-timeout).",
            group=GRPC,
        ),
    ] = None
    every: Annotated[
        str | None,
        option(
            "--every",
            metavar="TIME",
            help="With grpc:// and a list of messages: the time from one to the next (default: all at once).",
            group=GRPC,
        ),
    ] = None
    expect: Annotated[
        str | None,
        option(
            "--expect",
            metavar="TEXT",
            help="Text that the body of every response must contain.",
            group=RESPONSE,
        ),
    ] = None
    expect_not: Annotated[
        str | None,
        option(
            "--expect-not",
            metavar="TEXT",
            help="Text that no response's body may contain, such as '\"errors\"' of GraphQL.",
            group=RESPONSE,
        ),
    ] = None
    expect_status: Annotated[
        str | None,
        option(
            "--expect-status",
            metavar="CODE,…",
            help="Accepted status codes (default 200 to 399).",
            group=RESPONSE,
        ),
    ] = None
    stream: Annotated[
        str | None,
        option(
            "--stream",
            metavar="FORMAT",
            help="Read the response as a stream of events and time each: sse or lines; with ws://: messages.",
            group=STREAM,
        ),
    ] = None
    stream_until: Annotated[
        str | None,
        option(
            "--stream-until",
            metavar="TEXT",
            help="The event that ends the stream, such as '[DONE]'; a stream without it fails.",
            group=STREAM,
        ),
    ] = None
    stream_events: Annotated[
        str | None,
        option(
            "--stream-events",
            metavar="N",
            help="Stop reading after N events; a shorter stream fails.",
            group=STREAM,
        ),
    ] = None
    stall: Annotated[
        str | None,
        option(
            "--stall",
            metavar="TIME",
            help="Give up a stream if its next event does not come within this time.",
            group=STREAM,
        ),
    ] = None
    stream_first: Annotated[
        str | None,
        option(
            "--stream-first",
            metavar="PATTERN",
            help="The first event that counts, by a regular expression or json:/POINTER to what is not "
            "empty, such as json:/choices/0/delta/content. Events before it are passed over.",
            group=STREAM,
        ),
    ] = None
    stream_fails: Annotated[
        str | None,
        option(
            "--stream-fails",
            metavar="PATTERN",
            help="Events that are errors, by a regular expression or json:/POINTER; otherwise, with sse, "
            "events named error and those with an error in JSON.",
            group=STREAM,
        ),
    ] = None
    stream_usage: Annotated[
        str | None,
        option(
            "--stream-usage",
            metavar="PATTERN",
            help="For language models: where events tell the number of tokens, for tokens per second, by a "
            "regular expression with a group or json:/POINTER. The last number counts.",
            group=STREAM,
        ),
    ] = None
    timeout: Annotated[
        str | None,
        option(
            "--timeout",
            metavar="TIME",
            help="Give up on a response after this time (default 10s).",
            group=RESPONSE,
        ),
    ] = None
    first_byte_timeout: Annotated[
        str | None,
        option(
            "--first-byte-timeout",
            metavar="TIME",
            help="Give up if the response has not begun after this time.",
            group=RESPONSE,
        ),
    ] = None
    location: Annotated[
        bool,
        option(
            "-L",
            "--location",
            help="Follow redirects: 301, 302, 303, 307 and 308. Other statuses are responses, even with a "
            "Location.",
            group=RESPONSE,
        ),
    ] = False
    redirects: Annotated[
        int | None,
        option(
            "--max-redirs",
            metavar="N",
            help="Follow redirects, at most N per request (-L alone: 5).",
            group=RESPONSE,
        ),
    ] = None
    connect_timeout: Annotated[
        str | None,
        option(
            "--connect-timeout",
            metavar="TIME",
            help="Give up connecting (DNS, TCP and TLS) after this time (default 3s).",
            group=CONNECTION,
        ),
    ] = None
    keep_alive: Annotated[
        bool,
        option(
            "--keepalive/--no-keepalive", help="Reuse connections, or open one per request.", group=CONNECTION
        ),
    ] = True
    requests_per_connection: Annotated[
        int | None,
        option(
            "--requests-per-connection",
            metavar="N",
            help="Open a new connection after N requests.",
            group=CONNECTION,
        ),
    ] = None
    http2: Annotated[
        bool,
        option(
            "--http2",
            help="Speak HTTP/2: by ALPN with https, with prior knowledge (h2c) with http. Each client has "
            "a connection of its own.",
            group=CONNECTION,
        ),
    ] = False
    http2_connections: Annotated[
        str | None,
        option(
            "--http2-connections",
            metavar="N",
            help="HTTP/2 over N connections that the clients share, each client as a stream.",
            group=CONNECTION,
        ),
    ] = None
    connect_to: Annotated[
        list[str] | None,
        option(
            "--connect-to",
            metavar="IP:PORT",
            help="Connect there instead of to the URL's host; repeat it to alternate. [fe80::1%eth0]:8080 "
            "names a network interface.",
            group=CONNECTION,
        ),
    ] = None
    unix_socket: Annotated[
        str | None,
        option(
            "--unix-socket",
            metavar="PATH",
            help="Connect to this socket instead of to the URL's host; @NAME is one of Linux's abstract "
            "namespace.",
            group=CONNECTION,
        ),
    ] = None
    resolve_each: Annotated[
        bool,
        option(
            "--resolve-each",
            help="Resolve the URL's host for every connection, so that a change of its DNS record is "
            "followed (otherwise once, before the load).",
            group=CONNECTION,
        ),
    ] = False
    pid: Annotated[
        int | None,
        option(
            "--pid",
            metavar="PID",
            help="Watch this process and its children: CPU and memory of a server on this machine.",
            group=CONNECTION,
        ),
    ] = None
    source_addresses: Annotated[
        list[str] | None,
        option(
            "--source-address",
            metavar="IP",
            help="Connect from this local address; repeat it to alternate. Each has its own ports.",
            group=CONNECTION,
        ),
    ] = None
    insecure: Annotated[
        bool, option("-k", "--insecure", help="Do not verify the server's certificate.", group=TLS)
    ] = False
    ca: Annotated[
        Path | None,
        option(
            "--cacert", metavar="PEM", help="Trust these authorities instead of the built-in ones.", group=TLS
        ),
    ] = None
    cert: Annotated[
        Path | None, option("--cert", metavar="PEM", help="The client's certificate chain.", group=TLS)
    ] = None
    key: Annotated[
        Path | None, option("--key", metavar="PEM", help="The client's private key.", group=TLS)
    ] = None
    resume: Annotated[
        bool,
        option("--tls-resume", help="Resume TLS sessions (otherwise full handshakes).", group=TLS),
    ] = False
    threads: Annotated[
        int,
        option(
            "-t",
            "--threads",
            metavar="N",
            help="Threads of the generator. ('jostle run' uses one per generator core.)",
            group=GENERATOR,
        ),
    ] = 1
    processes: Processes = None
    busy_poll: BusyPoll = None
    cluster: Cluster = None
    allow_targets: AllowTargets = None

    def given(self) -> dict[str, Any]:
        """The options in the form of `jostle.plan.hit.plan`: a switch that is off is not among them, as it
        would take the place of what a curl command says.
        """
        from jostle.plan.hit.plan import REDIRECTS

        if self.method is not None and re.fullmatch(r"[\d.]+s?", self.method):
            raise PlanError(f"--method: {self.method!r} is a number, and no method", "write for example PUT")
        given = {
            name: value
            for name, value in ((field.name, getattr(self, field.name)) for field in fields(self))
            if value is not None and (value is not False or name == "keep_alive")
        }
        if given.pop("location", False) and self.redirects is None:
            given["redirects"] = REDIRECTS
        if (socket := given.pop("unix_socket", None)) is not None:
            exists = os.path.exists(socket)  # noqa: PTH110 (a text too long for a path is none)
            if not (socket.startswith("@") or (exists and Path(socket).is_socket())):
                raise PlanError(f"--unix-socket: {socket} is not a socket", "is its server running?")
            given["connect_to"] = [*(self.connect_to or []), f"unix:{socket}"]
        return given


@dataclass(frozen=True, kw_only=True)
class HitOptions(RequestOptions, LoadOptions):
    """The options from which the plan is made."""

    slo: Annotated[
        str | None,
        option(
            "--slo",
            metavar="BOUNDS",
            help="With --stream: bounds that each stream must meet: 'first event < 500 ms, gap p99 < 50 ms'. "
            "For other requests write a plan with [[require]].",
            group=STREAM,
        ),
    ] = None

    def plan(self, context: typer.Context, url: str | list[str]) -> "Plan":
        """The plan for what `target_of` returned. Raises `PlanError`, whose message names the options."""
        from jostle.plan.hit.plan import hit_plan

        names = option_names(context)
        return hit_plan(url, self.given(), lambda name: names.get(name, name))


@unfold
def hit(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="URL",
            help="The URL to load, or a curl command behind --. http:// may be left out; a login in the URL "
            "(http://user:password@host) is sent as Authorization: Basic.",
        ),
    ] = None,
    *,
    options: HitOptions,
    seed: Annotated[int | None, seed_option(LOAD)] = None,
    once: Annotated[
        bool,
        option(
            "--once",
            group=REQUEST,
            help="With --journey: send each once, and show every request, response and capture.",
        ),
    ] = False,
    into: Annotated[
        Path | None,
        option("--into", metavar="DIR", help="Keep the record, in a new folder in DIR.", group=OUTPUT),
    ] = None,
    output: RunOutput,
) -> int:
    from jostle.cli.execution import run_plan
    from jostle.cli.foreign import foreign_hints
    from jostle.cli.target import target_of

    with foreign_hints(context):
        url = target_of(words or [], "hit")
        if not url and options.urls is None:
            raise PlanError("missing argument 'URL'", "jostle hit --help")
        plan = options.plan(context, url)
    if once:
        taken = [*(field.name for field in fields(HitOptions)), "words"]
        refuse_beside("--once", context, taken, "it measures nothing", "leave it out to measure the load")
        return _once(plan)
    if into is not None:
        return run_plan(plan, into, "hit", seed=seed, output=output)
    with tempfile.TemporaryDirectory(prefix="jostle-") as folder:
        return run_plan(plan, Path(folder), "hit", seed=seed, output=output, kept=False)


def _once(plan: "Plan") -> int:
    """Send the journeys once instead of loading the server."""
    from jostle.cli.exit_codes import ExitCode
    from jostle.cli.tryout import show_tried

    if not plan.journey:
        raise PlanError("--once shows a journey", "give one: --journey FILE")
    return ExitCode.DONE if show_tried(plan, plan.contestants[0]) else ExitCode.FAILED
