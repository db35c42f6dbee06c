"""`jostle race NAME`: rerun a published experiment on real servers."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["race"]

HELP = """Rerun a published experiment on real servers, with the published figures beside the measured ones.

\b
  jostle race                                      which experiments there are
  jostle race starvation                           all of its contestants, 5 rounds
  jostle race starvation --contestants node,go     only these
  jostle race starvation --quick                   short windows: a first look in about two minutes
  jostle race starvation --set slow=41             another size of the slow request
"""


def race(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The experiment.")] = None,
    contestants: Annotated[
        str | None, typer.Option("--contestants", help="Comma-separated, e.g. node,go:procs=1.")
    ] = None,
    rounds: Annotated[
        int | None, typer.Option("--rounds", help="How often each contestant is measured.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="The experiment's short form.")] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the experiment; may be repeated."),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Order of trials and all arrivals.")] = None,
    share_cores: Annotated[
        bool, typer.Option("--share-cores", help="Let server and generator use the same cores.")
    ] = False,
    processes: Annotated[
        int | None, typer.Option("--processes", help="Generator processes; as many as needed.")
    ] = None,
    into: Annotated[Path, typer.Option("--into", metavar="DIR", help="Folder for the run's record.")] = Path(
        "runs"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="The result as JSON on standard output.")] = False,
) -> int:
    from jostle import experiments
    from jostle.cli.carry_out import carry_out
    from jostle.cli.options import split_contestants, split_settings

    if name is None:
        for known in experiments.names():
            print(f"{known:<16} {experiments.load(known).title}")
        return 0
    plan = experiments.load(name, quick=quick, settings=split_settings(settings)).with_changes(
        contestants=split_contestants(contestants),
        rounds=rounds,
        share_cores=share_cores or None,
        processes=processes,
    )
    return carry_out(plan, into, name, seed=seed, as_json=as_json, pages=True)


race.__doc__ = HELP
