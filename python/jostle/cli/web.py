"""`jostle web [RUNS]`: watch, open and compare runs in a browser."""

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from jostle.cli.options import option

__all__ = ["web"]

PAGE = "Page"

HELP = """Show runs in a browser: those that go on as they are measured, and all others.

\b
  jostle web                                 the runs in ./runs
  jostle web runs/2026-…-starvation          this one
  jostle hit http://localhost:8080/ --web    a load while it is sent; so with run,
                                             race, capacity and compare

The page is for this machine alone, and Ctrl-C ends it. From another one it is
reached through ssh, or with --listen. docs/how-to/web.md describes it.
"""


def web(
    runs: Annotated[
        Path, typer.Argument(metavar="[RUNS]", help="Folder of runs, or the folder of one (runs).")
    ] = Path("runs"),
    port: Annotated[
        int | None,
        option(
            "--port",
            metavar="N",
            help="The port to listen on (default 5678, or a free one if that is taken).",
            group=PAGE,
        ),
    ] = None,
    listen: Annotated[
        str | None,
        option(
            "--listen",
            metavar="HOST",
            help="Let other machines connect to this address or name of this one. They need the token, "
            "and --cert and --key for TLS.",
            group=PAGE,
        ),
    ] = None,
    cert: Annotated[
        Path | None, option("--cert", metavar="PEM", help="The certificate chain for --listen.", group=PAGE)
    ] = None,
    key: Annotated[Path | None, option("--key", metavar="PEM", help="Its private key.", group=PAGE)] = None,
) -> int:
    from jostle.extras import require

    require("web", "jostle web")
    from jostle.web.access import Access
    from jostle.web.app import Web
    from jostle.web.listener import listen as listening
    from jostle.web.runs import Runs
    from jostle.web.serving import serve, step_back
    from jostle.web.starter import Starter

    shown = Runs.at(runs)
    with listening(port, listen, cert, key) as listener, contextlib.suppress(KeyboardInterrupt):
        access = Access.to_others(listener.host) if listener.open_to_others else Access()
        print(f"page      {listener.url(access.token)}", flush=True)
        if listener.open_to_others:
            print(f"password  {access.token} (the user name may be anything)", flush=True)
        starter = Starter() if shown.only is None else None
        step_back()
        serve(Web(shown, access, starter), listener)
    return 0
