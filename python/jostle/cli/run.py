"""`jostle run PLAN.toml`: runs a plan of your own; `--resume RUN` finishes a stopped run."""

import functools
import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jostle.cli.options import PLAN, Into, Seed, refuse_beside, unfold
from jostle.cli.output import PlanOutput
from jostle.cli.plan_options import DryRun, PlanOptions, read_plan
from jostle.errors import PlanError

if TYPE_CHECKING:
    from jostle.plan import Plan

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
    duration: Annotated[
        str | None,
        typer.Option(
            "-d",
            "--duration",
            metavar="TIME",
            help="Run every workload for this long. Loads that count requests stay as they are, as do traces "
            "without `for`.",
            rich_help_panel=PLAN,
        ),
    ] = None,
    options: PlanOptions,
    seed: Seed = None,
    dry_run: DryRun = False,
    resume: Annotated[
        Path | None,
        typer.Option("--resume", metavar="RUN", help="Finish the run in this folder.", rich_help_panel=PLAN),
    ] = None,
    into: Into = Path("runs"),
    output: PlanOutput,
) -> int:
    from jostle.cli.carry_out import carry_out, go_on

    if resume is not None:
        why, instead = "a run keeps the plan that it began with", "to change the plan, start a new run"
        refuse_beside("--resume", context, [field.name for field in fields(PlanOutput)], why, instead)
        return go_on(resume, output)
    if plan_file is None:
        raise PlanError("which plan?", "jostle run PLAN.toml, or jostle run --resume RUN")
    plan = options.plan(context, functools.partial(read_plan, plan_file), duration, tune=not dry_run)
    if duration is not None:
        _name_unchanged(plan)
    if dry_run:
        from jostle.cli.check import show_preview

        return show_preview(plan, into, seed)
    from jostle.generator import simulated_in

    if simulated := simulated_in(plan):
        raise PlanError(f"{next(iter(simulated))} is simulated", f"jostle simulate {plan_file}")
    return carry_out(plan, into, plan_file.stem, seed=seed, output=output)


def _name_unchanged(plan: "Plan") -> None:
    """Say on standard error which workloads --duration leaves as they are."""
    from jostle.formatting import listed

    if names := [name for name, workload in plan.selected.items() if workload.seconds() is None]:
        why = "a number of requests or a trace ends the load"
        print(f"--duration does not change {listed(names)}: {why}", file=sys.stderr)
