"""`jostle hit URL`: load one server now."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from jostle.cli.options import AllowTargets, AsJson, Cluster

__all__ = ["hit"]

HELP = """Load one server now and say what its clients felt.

\b
  jostle hit http://localhost:8080/                       10 clients for 10 seconds
  jostle hit http://localhost:8080/ -c 50 -d 30s          50 clients
  jostle hit http://localhost:8080/ -n 10000              10,000 requests in all
  jostle hit http://localhost:8080/ --rate 2000/s         open loop, Poisson arrivals
  jostle hit http://localhost:8080/api -m POST -H 'Content-Type: application/json' -b '{"id": 1}'
  jostle hit http://localhost:8080/ --expect 'Hello' --json

Closed loop (-c): each client sends, waits for the answer, and sends again. Open loop (--rate): requests are
due at times that do not depend on the answers, and response times count from when they were due.
"""


def hit(
    url: Annotated[str, typer.Argument(metavar="URL", help="Where the load goes.")],
    connections: Annotated[
        int | None,
        typer.Option(
            "-c",
            "--connections",
            "--clients",
            help="Clients, each with a connection (10); with --rate the most connections.",
        ),
    ] = None,
    duration: Annotated[
        str | None, typer.Option("-d", "--duration", help="How long: 500ms, 10s, 2m (10s).")
    ] = None,
    requests: Annotated[
        int | None, typer.Option("-n", "--requests", help="Requests in all, instead of a time.")
    ] = None,
    rate: Annotated[
        str | None, typer.Option("-r", "--rate", help="Requests due per second: 2000/s or 2000.")
    ] = None,
    arrivals: Annotated[
        str, typer.Option("--arrivals", help="With --rate: poisson or constant.")
    ] = "poisson",
    method: Annotated[
        str | None, typer.Option("-m", "--method", "-X", help="GET, or POST when there is a body.")
    ] = None,
    header: Annotated[
        list[str] | None, typer.Option("-H", "--header", help="'Name: value'; may be repeated.")
    ] = None,
    body: Annotated[str | None, typer.Option("-b", "--body", help="Request body, or @file.")] = None,
    expect: Annotated[
        str | None, typer.Option("--expect", help="Text that every answer must contain.")
    ] = None,
    keepalive: Annotated[
        bool,
        typer.Option("--keepalive/--no-keepalive", help="Keep connections, or open one for each request."),
    ] = True,
    timeout: Annotated[str, typer.Option("--timeout", help="Give up on an answer after this time.")] = "10s",
    threads: Annotated[int, typer.Option("-t", "--threads", help="Threads of the generator.")] = 1,
    processes: Annotated[
        int | None, typer.Option("--processes", help="Processes of the generator; as many as needed.")
    ] = None,
    insecure: Annotated[
        bool, typer.Option("-k", "--insecure", help="Do not verify the server's certificate.")
    ] = False,
    seed: Annotated[int | None, typer.Option("--seed", help="Makes every random choice repeatable.")] = None,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="DIR", help="Keep the record in a folder under DIR.")
    ] = None,
    cluster: Cluster = None,
    allow_target: AllowTargets = None,
    as_json: AsJson = False,
) -> int:
    from jostle.cli.carry_out import carry_out
    from jostle.plan import Plan

    plan = Plan.for_hit(
        url,
        clients=connections,
        seconds=duration,
        requests=requests,
        rate=rate,
        arrivals=arrivals,
        method=method,
        headers=header or [],
        body=body,
        expect=expect,
        keep_alive=keepalive,
        timeout=timeout,
        threads=threads,
        processes=processes,
        insecure=insecure,
    ).with_changes(cluster=cluster, allow_targets=allow_target)
    if save is not None:
        return carry_out(plan, save, "hit", seed=seed, as_json=as_json, pages=False)
    with tempfile.TemporaryDirectory(prefix="jostle-") as folder:
        return carry_out(plan, Path(folder), "hit", seed=seed, as_json=as_json, pages=False)


hit.__doc__ = HELP
