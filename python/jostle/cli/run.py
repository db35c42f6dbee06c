"""`jostle run PLAN.toml`: an experiment of one's own; `--resume RUN` finishes any."""

from pathlib import Path
from typing import Annotated

import typer

from jostle.cli.options import (
    AllowTargets,
    AsJson,
    Cluster,
    Contestants,
    DatabaseUrl,
    FillDatabase,
    Into,
    Processes,
    Rounds,
    Seed,
    Settings,
    ShareCores,
    Workloads,
    refuse_beside,
    split_contestants,
    split_settings,
    split_workloads,
)
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


def run(
    context: typer.Context,
    plan_file: Annotated[Path | None, typer.Argument(metavar="[PLAN.toml]", help="The plan.")] = None,
    contestants: Contestants = None,
    workloads: Workloads = None,
    rounds: Rounds = None,
    duration: Annotated[
        str | None, typer.Option("-d", "--duration", help="Length of every workload, instead of the plan's.")
    ] = None,
    settings: Settings = None,
    seed: Seed = None,
    share_cores: ShareCores = False,
    database: DatabaseUrl = None,
    fill_database: FillDatabase = False,
    processes: Processes = None,
    cluster: Cluster = None,
    allow_target: AllowTargets = None,
    into: Into = Path("runs"),
    as_json: AsJson = False,
    resume: Annotated[
        Path | None, typer.Option("--resume", metavar="RUN", help="Finish the run in this folder.")
    ] = None,
) -> int:
    from jostle.cli.carry_out import carry_out, go_on, tell_on_stderr
    from jostle.plan import load_plan
    from jostle.tuning import tuned

    if resume is not None:
        refuse_beside("--resume", context, allowed=("as_json",))
        return go_on(resume, as_json=as_json)
    if plan_file is None:
        raise PlanError("which plan?", "jostle run PLAN.toml, or jostle run --resume RUN")
    plan = tuned(
        lambda given: load_plan(plan_file, settings=given, share_cores=share_cores),
        split_settings(settings),
        tell_on_stderr,
    ).with_changes(
        contestants=split_contestants(contestants),
        workloads=split_workloads(workloads),
        database_url=database,
        fill_database=fill_database,
        rounds=rounds,
        duration=duration,
        processes=processes,
        cluster=cluster,
        allow_targets=allow_target,
    )
    return carry_out(plan, into, plan_file.stem, seed=seed, as_json=as_json, pages=True)


run.__doc__ = HELP
