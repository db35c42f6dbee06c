"""`jostle run PLAN.toml`: runs a plan of your own; `--resume RUN` finishes a stopped run."""

import functools
import sys
from dataclasses import fields
from pathlib import Path
from typing import Annotated

import typer

from jostle.cli.options import PLAN, Into, Seed, option, refuse_beside, unfold
from jostle.cli.output import PlanOutput
from jostle.cli.plan_options import Duration, RunOptions, name_unchanged, read_plan
from jostle.errors import PlanError

__all__ = ["run"]

HELP = """Run a plan: your own servers, workloads and requirements.

\b
  jostle init                                      write a first plan.toml
  jostle run plan.toml
  jostle run plan.toml --contestants mine,node --rounds 10
  jostle run plan.toml --set rate=500/s
  jostle run --resume runs/2026-…                  finish a stopped run or race

docs/PLAN.md describes plans. A resumed run keeps its plan, order and seed:
finished trials are kept, an interrupted one is repeated.
"""


@unfold
def run(
    context: typer.Context,
    plan_file: Annotated[Path | None, typer.Argument(metavar="[PLAN]", help="A TOML file.")] = None,
    *,
    duration: Duration = None,
    options: RunOptions,
    seed: Seed = None,
    resume: Annotated[
        Path | None,
        option("--resume", metavar="RUN", help="Finish the run in this folder.", group=PLAN),
    ] = None,
    into: Into = Path("runs"),
    output: PlanOutput,
) -> int:
    from jostle.cli.execution import resume_run, run_plan

    if resume is not None:
        why, instead = "a run keeps the plan that it began with", "to change the plan, start a new run"
        refuse_beside("--resume", context, [field.name for field in fields(PlanOutput)], why, instead)
        return resume_run(resume, output)
    if plan_file is None:
        raise PlanError("which plan?", "jostle run PLAN.toml, or jostle run --resume RUN")
    plan = options.plan(context, functools.partial(read_plan, plan_file), duration)
    if duration is not None:
        name_unchanged(plan)
    from jostle.generator import simulated_in

    if any(require.of_difference for require in plan.require):
        # It brings numpy, which starts threads: not where the plan has no use for it.
        from jostle.cli.power import out_of_reach

        for text in out_of_reach(plan):
            print(text, file=sys.stderr)
    if simulated := simulated_in(plan):
        raise PlanError(f"{next(iter(simulated))} is simulated", f"jostle simulate {plan_file}")
    return run_plan(plan, into, plan_file.stem, seed=seed, output=output)
