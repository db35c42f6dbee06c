"""`jostle run PLAN.toml`: an experiment of one's own."""

from pathlib import Path
from typing import Annotated

import typer

from jostle.cli.options import (
    AsJson,
    Contestants,
    Into,
    Processes,
    Rounds,
    Seed,
    Settings,
    ShareCores,
    split_contestants,
    split_settings,
)

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
    contestants: Contestants = None,
    rounds: Rounds = None,
    duration: Annotated[
        str | None, typer.Option("-d", "--duration", help="Length of every workload, instead of the plan's.")
    ] = None,
    settings: Settings = None,
    seed: Seed = None,
    share_cores: ShareCores = False,
    processes: Processes = None,
    into: Into = Path("runs"),
    as_json: AsJson = False,
) -> int:
    from jostle.cli.carry_out import carry_out
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
