"""`jostle run PLAN.toml`: an experiment of one's own; `--resume RUN` finishes any."""

import functools
from pathlib import Path
from typing import Annotated

import typer

from jostle.cli.options import AsJson, Into, NoPages, Seed, refuse_beside, unfold
from jostle.cli.plan_options import PlanOptions
from jostle.errors import PlanError

__all__ = ["run"]

HELP = """Run the experiment that a plan file describes, your own servers included.

\b
  jostle run my-plan.toml
  jostle run my-plan.toml --contestants mine,node --rounds 10
  jostle run my-plan.toml --set rate=500/s
  jostle run --resume runs/2026-…                  finish what was killed or stopped, a race too

The form of a plan is in docs/PLAN.md. A run that is resumed keeps its plan, order and seed: what is done
stands, a trial that was cut short is run anew.
"""


@unfold
def run(
    context: typer.Context,
    plan_file: Annotated[Path | None, typer.Argument(metavar="[PLAN.toml]", help="The plan.")] = None,
    *,
    duration: Annotated[
        str | None, typer.Option("-d", "--duration", help="Length of every workload, instead of the plan's.")
    ] = None,
    options: PlanOptions,
    seed: Seed = None,
    into: Into = Path("runs"),
    as_json: AsJson = False,
    no_pages: NoPages = False,
    resume: Annotated[
        Path | None, typer.Option("--resume", metavar="RUN", help="Finish the run in this folder.")
    ] = None,
) -> int:
    from jostle.api import load_plan
    from jostle.cli.carry_out import carry_out, go_on

    if resume is not None:
        why, instead = "a run keeps the plan that it began with", "to change the plan, run it anew"
        refuse_beside("--resume", context, ("as_json", "no_pages"), why, instead)
        return go_on(resume, as_json=as_json, pages=not no_pages)
    if plan_file is None:
        raise PlanError("which plan?", "jostle run PLAN.toml, or jostle run --resume RUN")
    plan = options.plan(context, functools.partial(load_plan, plan_file), duration)
    return carry_out(plan, into, plan_file.stem, seed=seed, as_json=as_json, pages=not no_pages)
