"""`jostle hit URL`: load one server now."""

import tempfile
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jostle.cli.options import (
    AllowTargets,
    AsJson,
    Cluster,
    Processes,
    option_names,
    unfold,
)
from jostle.errors import PlanError

if TYPE_CHECKING:
    from jostle.plan import Plan

__all__ = ["hit"]

HELP = """Load one server now and say what its clients felt.

\b
  jostle hit http://localhost:8080/                       10 clients for 10 seconds
  jostle hit http://localhost:8080/ -c 50 -d 30s          50 clients
  jostle hit http://localhost:8080/ -n 10000              10,000 requests in all
  jostle hit http://localhost:8080/ --rate 2000/s         open loop, Poisson arrivals
  jostle hit http://localhost:8080/api -m POST -H 'Content-Type: application/json' -b '{"id": 1}'
  jostle hit http://localhost:8080/ -c 10000 --think '900ms ± 10%' --expect 'Hello' --json
  jostle hit https://api.local/ --connect-to 127.0.0.1:8443 --cacert ca.pem --cert me.pem --key me.key

Closed loop (-c): each client sends, waits for the answer, and sends again. Open loop (--rate): requests are
due at times that do not depend on the answers, and response times count from when they were due.
"""


@dataclass(frozen=True, kw_only=True)
class HitOptions:
    """The options that make the plan; each has the name that `jostle.plan.hit.PLACES` gives it."""

    clients: Annotated[
        str | None,
        typer.Option(
            "-c",
            "--connections",
            "--clients",
            metavar="N",
            help="Clients, each with a connection: 50, 10k (10); with --rate the most connections.",
        ),
    ] = None
    seconds: Annotated[
        str | None, typer.Option("-d", "--duration", metavar="TIME", help="How long: 500ms, 10s, 2m (10s).")
    ] = None
    requests: Annotated[
        str | None,
        typer.Option("-n", "--requests", metavar="N", help="Requests in all; with -d, whichever ends first."),
    ] = None
    rate: Annotated[
        str | None,
        typer.Option("--rate", "-r", metavar="RATE", help="Requests due per second: 2000/s or 2000."),
    ] = None
    arrivals: Annotated[str, typer.Option("--arrivals", help="With --rate: poisson or constant.")] = "poisson"
    think: Annotated[
        str | None,
        typer.Option(
            "--think",
            metavar="TIME",
            help="Pause of a client between answer and next request: 1s, '900ms ± 10%', 'exponential 1s'.",
        ),
    ] = None
    method: Annotated[
        str | None, typer.Option("-m", "--method", "-X", help="GET, or POST when there is a body.")
    ] = None
    headers: Annotated[
        list[str] | None,
        typer.Option("-H", "--header", metavar="HEADER", help="'Name: value'; may be repeated."),
    ] = None
    body: Annotated[str | None, typer.Option("-b", "--body", help="Request body, or @file.")] = None
    expect: Annotated[str | None, typer.Option("--expect", help="Text that every answer must contain.")] = (
        None
    )
    timeout: Annotated[
        str, typer.Option("--timeout", metavar="TIME", help="Give up on an answer after this time.")
    ] = "10s"
    first_byte_timeout: Annotated[
        str | None,
        typer.Option(
            "--first-byte-timeout", metavar="TIME", help="Give up when nothing has come after this time."
        ),
    ] = None
    connect_timeout: Annotated[
        str | None,
        typer.Option(
            "--connect-timeout",
            metavar="TIME",
            help="Give up connecting (name, TCP and TLS together) after this time (3s).",
        ),
    ] = None
    keep_alive: Annotated[
        bool,
        typer.Option("--keepalive/--no-keepalive", help="Keep connections, or open one for each request."),
    ] = True
    requests_per_connection: Annotated[
        int | None,
        typer.Option(
            "--requests-per-connection", metavar="N", help="Open a new connection after so many requests."
        ),
    ] = None
    connect_to: Annotated[
        list[str] | None,
        typer.Option(
            "--connect-to",
            metavar="IP:PORT",
            help="Connect there instead of to the URL's host; repeated: in turn.",
        ),
    ] = None
    unix_socket: Annotated[
        Path | None,
        typer.Option(
            "--unix-socket", metavar="PATH", help="Connect to this socket instead of to the URL's host."
        ),
    ] = None
    source_addresses: Annotated[
        list[str] | None,
        typer.Option(
            "--source-address",
            metavar="IP",
            help="Local address to connect from; repeated: in turn, each with its own range of ports.",
        ),
    ] = None
    insecure: Annotated[
        bool, typer.Option("-k", "--insecure", help="Do not verify the server's certificate.")
    ] = False
    ca: Annotated[
        Path | None,
        typer.Option("--cacert", metavar="PEM", help="Authorities to trust instead of the built-in ones."),
    ] = None
    cert: Annotated[
        Path | None, typer.Option("--cert", metavar="PEM", help="The client's certificate chain.")
    ] = None
    key: Annotated[Path | None, typer.Option("--key", metavar="PEM", help="The client's private key.")] = None
    resume: Annotated[
        bool,
        typer.Option("--tls-resume", help="Clients resume their TLS sessions; else every handshake is full."),
    ] = False
    threads: Annotated[
        int, typer.Option("-t", "--threads", metavar="N", help="Threads of the generator.")
    ] = 1
    processes: Processes = None
    cluster: Cluster = None
    allow_targets: AllowTargets = None

    def plan(self, context: typer.Context, url: str) -> "Plan":
        """The plan for `url`. Raises `PlanError` in the words of the options."""
        from jostle.plan.hit import hit_plan

        given = {field.name: getattr(self, field.name) for field in fields(self)}
        if (socket := given.pop("unix_socket")) is not None:
            if not socket.is_socket():
                raise PlanError(f"--unix-socket: {socket} is no socket", "is its server running?")
            given["connect_to"] = [*(self.connect_to or []), f"unix:{socket}"]
        names = option_names(context)
        return hit_plan(url, given, lambda name: names.get(name, name))


@unfold
def hit(
    context: typer.Context,
    url: Annotated[str, typer.Argument(metavar="URL", help="Where the load goes.")],
    options: HitOptions,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="Makes every random choice repeatable.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="DIR", help="Keep the record in a folder under DIR.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    from jostle.cli.carry_out import carry_out

    plan = options.plan(context, url)
    if save is not None:
        return carry_out(plan, save, "hit", seed=seed, as_json=as_json, pages=False)
    with tempfile.TemporaryDirectory(prefix="jostle-") as folder:
        return carry_out(plan, Path(folder), "hit", seed=seed, as_json=as_json, pages=False)
