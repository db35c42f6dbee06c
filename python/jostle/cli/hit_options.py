"""The options of `jostle hit`: how they stand on the command line. Names are those of wrk, oha and curl."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Arrivals",
    "Body",
    "CaCert",
    "ClientCert",
    "ClientKey",
    "ConnectTimeout",
    "ConnectTo",
    "Connections",
    "Duration",
    "Expect",
    "FirstByteTimeout",
    "Header",
    "HitSeed",
    "Insecure",
    "KeepAlive",
    "Method",
    "PerConnection",
    "Rate",
    "Requests",
    "Save",
    "SourceAddress",
    "Think",
    "Threads",
    "Timeout",
    "UnixSocket",
    "Url",
]

Url = Annotated[str, typer.Argument(metavar="URL", help="Where the load goes.")]
Connections = Annotated[
    str | None,
    typer.Option(
        "-c",
        "--connections",
        "--clients",
        metavar="N",
        help="Clients, each with a connection: 50, 10k (10); with --rate the most connections.",
    ),
]
Duration = Annotated[
    str | None,
    typer.Option("-d", "--duration", help="How long: 500ms, 10s, 2m (10s)."),
]
Requests = Annotated[
    str | None,
    typer.Option("-n", "--requests", metavar="N", help="Requests in all; with -d, whichever ends first."),
]
Rate = Annotated[
    str | None,
    typer.Option("-r", "--rate", help="Requests due per second: 2000/s or 2000."),
]
Arrivals = Annotated[str, typer.Option("--arrivals", help="With --rate: poisson or constant.")]
Think = Annotated[
    str | None,
    typer.Option(
        "--think",
        help="Pause of a client between answer and next request: 1s, '900ms ± 10%', 'exponential 1s'.",
    ),
]
Threads = Annotated[int, typer.Option("-t", "--threads", help="Threads of the generator.")]
HitSeed = Annotated[
    int | None,
    typer.Option("--seed", help="Makes every random choice repeatable."),
]
Method = Annotated[
    str | None,
    typer.Option("-m", "--method", "-X", help="GET, or POST when there is a body."),
]
Header = Annotated[
    list[str] | None,
    typer.Option("-H", "--header", help="'Name: value'; may be repeated."),
]
Body = Annotated[str | None, typer.Option("-b", "--body", help="Request body, or @file.")]
Expect = Annotated[
    str | None,
    typer.Option("--expect", help="Text that every answer must contain."),
]
Timeout = Annotated[
    str,
    typer.Option("--timeout", help="Give up on an answer after this time."),
]
FirstByteTimeout = Annotated[
    str | None,
    typer.Option("--first-byte-timeout", help="Give up when nothing has come after this time."),
]
KeepAlive = Annotated[
    bool,
    typer.Option("--keepalive/--no-keepalive", help="Keep connections, or open one for each request."),
]
PerConnection = Annotated[
    int | None,
    typer.Option("--requests-per-connection", help="Open a new connection after so many requests."),
]
ConnectTimeout = Annotated[
    str | None,
    typer.Option(
        "--connect-timeout", help="Give up connecting (name, TCP and TLS together) after this time (3s)."
    ),
]
ConnectTo = Annotated[
    list[str] | None,
    typer.Option(
        "--connect-to",
        metavar="IP:PORT",
        help="Connect there instead of to the URL's host; repeated: in turn.",
    ),
]
UnixSocket = Annotated[
    Path | None,
    typer.Option(
        "--unix-socket", metavar="PATH", help="Connect to this socket instead of to the URL's host."
    ),
]
SourceAddress = Annotated[
    list[str] | None,
    typer.Option(
        "--source-address",
        metavar="IP",
        help="Local address to connect from; repeated: in turn, each with its own range of ports.",
    ),
]
Insecure = Annotated[
    bool,
    typer.Option("-k", "--insecure", help="Do not verify the server's certificate."),
]
CaCert = Annotated[
    Path | None,
    typer.Option("--cacert", metavar="PEM", help="Authorities to trust instead of the built-in ones."),
]
ClientCert = Annotated[
    Path | None,
    typer.Option("--cert", metavar="PEM", help="The client's certificate chain."),
]
ClientKey = Annotated[
    Path | None,
    typer.Option("--key", metavar="PEM", help="The client's private key."),
]
Save = Annotated[
    Path | None, typer.Option("--save", metavar="DIR", help="Keep the record in a folder under DIR.")
]
