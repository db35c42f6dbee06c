"""`jostle simulate PLAN.toml`: a run that is calculated instead of measured."""

import functools
from pathlib import Path
from typing import Annotated

import typer

from jostle.cli.options import Into, Seed, unfold
from jostle.cli.output import PlanOutput
from jostle.cli.plan_options import PlanOptions, read_plan
from jostle.errors import PlanError

__all__ = ["simulate"]

HELP = """Calculate what a plan would measure on servers that only exist in it.

\b
  [contestant.four-workers]
  simulate = { discipline = "workers", workers = 4, service = "exponential 10ms" }

\b
  jostle simulate plan.toml
  jostle simulate plan.toml --seed 7 --rounds 20

Loads, records and reports are those of `jostle run`; docs/PLAN.md lists the
disciplines. The same seed gives the same result on every machine.
"""


@unfold
def simulate(
    context: typer.Context,
    plan_file: Annotated[Path, typer.Argument(metavar="PLAN", help="A TOML file.")],
    *,
    options: PlanOptions,
    seed: Seed = None,
    into: Into = Path("runs"),
    output: PlanOutput,
) -> int:
    from jostle.cli.execution import run_plan
    from jostle.generator import simulated_in

    plan = options.plan(context, functools.partial(read_plan, plan_file))
    if not simulated_in(plan):
        raise PlanError(
            f"no server of {plan_file} is simulated",
            "jostle run measures real ones; [contestant.NAME] simulate = { … } describes one to calculate",
        )
    return run_plan(plan, into, plan_file.stem, seed=seed, output=output)
