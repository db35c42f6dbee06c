"""`jostle run PLAN.toml`: an experiment of one's own."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["run"]

HELP = """Run the experiment that a plan file describes, your own servers included.

\b
  jostle run my-plan.toml
  jostle run my-plan.toml --contestants mine,node --rounds 10
  jostle run my-plan.toml --set rate=500/s

The form of a plan is in docs/PLAN.md.
"""


def run(
    plan_file: Annotated[Path, typer.Argument(metavar="PLAN.toml", help="The plan.")],
    contestants: Annotated[
        str | None, typer.Option("--contestants", help="Comma-separated, instead of the plan's.")
    ] = None,
    rounds: Annotated[
        int | None, typer.Option("--rounds", help="How often each contestant is measured.")
    ] = None,
    duration: Annotated[
        str | None, typer.Option("-d", "--duration", help="Length of every workload, instead of the plan's.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the plan; may be repeated."),
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
    from jostle.cli.carry_out import carry_out
    from jostle.cli.options import split_contestants, split_settings
    from jostle.plan import load_plan

    plan = load_plan(plan_file, settings=split_settings(settings)).with_changes(
        contestants=split_contestants(contestants),
        rounds=rounds,
        duration=duration,
        share_cores=share_cores or None,
        processes=processes,
    )
    return carry_out(plan, into, plan_file.stem, seed=seed, as_json=as_json, pages=True)


run.__doc__ = HELP
