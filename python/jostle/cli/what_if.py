"""`jostle what-if`: predict a change from a run, or how many workers a load needs."""

from pathlib import Path
from typing import Annotated

import typer

from jostle.cli.exit_codes import ExitCode
from jostle.cli.options import option, unfold
from jostle.cli.output import ResultOutput, write
from jostle.errors import PlanError

__all__ = ["what_if"]

HELP = """Predict what a change would do, or how many workers a load needs.

\b
  jostle what-if runs/2026-… workers=8            from the fitted model
  jostle what-if runs/2026-… cpu=2x rate=+50%
  jostle what-if explanation.json pool=8          from what jostle explain found
  jostle what-if runs/2026-… service=-20% rate=400/s
  jostle what-if --rate 300/s --service 12ms --slo "p99 < 100 ms"
  jostle what-if --rate 300/s --service 12ms --slo "errors < 1 %"
  jostle what-if --clients 100 --think 1s --service 12ms --slo "p99 < 200 ms"

With a run, it predicts the change from the model fitted to it. RUN must come
from `jostle capacity`, or from a plan whose workloads send the same request
at several loads. A model that was off at a level it had not seen predicts with
a wider band; if not even the intervals overlapped there, or no capacity was
found, nothing is predicted (exit code 3). Without a run, it
gives the fewest workers that keep the SLO. Requests that find no free worker
queue (Erlang C) or, if the SLO is about errors, are rejected (Erlang B); with
--clients the load comes from that many clients (finite source).
"""


SIZING = "How many workers"


@unfold
def what_if(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN CHANGE…]",
            help="A run's folder or explanation.json, and changes: workers=8 pool=8 cpu=2x service=-20% "
            "rate=400/s rate=+50% clients=20.",
        ),
    ] = None,
    *,
    rate: Annotated[
        str | None, option("--rate", metavar="RATE", help="Requests per second: 300/s.", group=SIZING)
    ] = None,
    clients: Annotated[
        str | None,
        option(
            "--clients", metavar="N", help="Instead of a rate: clients that wait for responses.", group=SIZING
        ),
    ] = None,
    think: Annotated[
        str | None,
        option(
            "--think",
            metavar="TIME",
            help="With --clients: pause between response and request.",
            group=SIZING,
        ),
    ] = None,
    service: Annotated[
        str | None, option("--service", metavar="TIME", help="Mean service time of a request.", group=SIZING)
    ] = None,
    variation: Annotated[
        float | None,
        option(
            "--variation",
            metavar="RATIO",
            help="How much service times vary: standard deviation divided by mean (0: constant, 1: "
            "exponential).",
            group=SIZING,
        ),
    ] = None,
    slo: Annotated[
        str | None, option("--slo", metavar="SLO", help="'p99 < 100 ms' or 'errors < 1 %'.", group=SIZING)
    ] = None,
    output: ResultOutput,
) -> int:
    from jostle.report import document_of

    options: dict[str, str | float | None] = {
        **{"--rate": rate, "--clients": clients, "--service": service, "--slo": slo},
        **{"--think": think, "--variation": variation},
    }
    if words:
        if given := [name for name, value in options.items() if value is not None]:
            raise PlanError(
                f"a run and {', '.join(given)}: the options are for a load that was not measured",
                "change a run with words: rate=400/s, clients=50, service=-20%",
            )
        from jostle.capacity.changes import read_changes
        from jostle.capacity.what_if import what_if as predicted
        from jostle.record import RunRecord

        changes = read_changes(words[1:])
        if words[0].endswith(".json"):
            from jostle.capacity.explained import what_if_explained

            write(document_of(what_if_explained(Path(words[0]), changes)), output)
            return ExitCode.DONE
        write(document_of(predicted(RunRecord.open(words[0]), changes)), output)
        return ExitCode.DONE
    if all(value is None for value in options.values()):
        raise PlanError("what if what?", "name a run and a change, or --rate, --service and --slo")
    if think is not None and clients is None:
        message = "--think needs --clients: with a rate, no client waits for a response"
        raise PlanError(message, "add --clients")
    from jostle.capacity.sizing import sized

    varies = 1.0 if variation is None else variation
    write(document_of(sized(rate, clients, think or "0s", service, varies, slo)), output)
    return ExitCode.DONE
