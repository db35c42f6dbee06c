"""`jostle steer RUN CHANGE`: changes the load of a run while it runs, or stops the run."""

import json
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["steer"]

HELP = """Change the load of a run while it runs, or stop it. RUN is its folder.

\b
  jostle steer runs/2026-… rate=500/s    an open load: requests per second
  jostle steer runs/2026-… clients=50    a closed load: clients
  jostle steer runs/2026-… x2            twice the rate or the clients
  jostle steer runs/2026-… hold          stay as it is, in the middle of a ramp
  jostle steer runs/2026-… next          begin the next phase
  jostle steer runs/2026-… stop          end the run; what was measured is reported

A change holds until the next one, or the end of the run, which may come sooner
by a change and never later. It is a line of the run's journal and a mark in its
pictures; nothing is claimed or required of a run that was changed.

On the terminal of the run itself, + and - change the load by a tenth, q stops.
"""


def steer(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    change: Annotated[
        str, typer.Argument(metavar="CHANGE", help="rate=500/s, clients=50, x2, hold, next or stop.")
    ],
    workload: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help='The workload; the measured one if left out. "background": what runs beside it.',
        ),
    ] = "",
    at: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="When, from the start of the trial (90s); at once if left out."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the acknowledgement as JSON.")] = False,
) -> int:
    from jostle import units
    from jostle.errors import BadValue
    from jostle.runner.steering import steer as change_load
    from jostle.runner.steering import stop

    if change.strip() == "stop":
        if workload or at is not None:
            raise BadValue("a run is stopped as a whole, and at once", "leave --workload and --at out")
        stop(run)
        told = f"{run} stops; what was measured is reported"
        print(json.dumps({"stopping": str(run)}) if as_json else told)
        return 0
    at_s = None if at is None else units.duration(at, bare="s")
    made = change_load(run, change, workload=workload, at_s=at_s, by="command")
    print(json.dumps(made.as_json()) if as_json else made)
    return 0
