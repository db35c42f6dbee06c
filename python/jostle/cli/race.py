"""`jostle race NAME`: rerun a published experiment on real servers."""

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
    split_contestants,
    split_settings,
    split_workloads,
)

__all__ = ["race"]

HELP = """Rerun a published experiment on real servers, with the published figures beside the measured ones.

\b
  jostle race                                      which experiments there are
  jostle race starvation                           all of its contestants, 5 rounds
  jostle race starvation --contestants node,go     only these
  jostle race starvation --quick                   short windows: a first look in about two minutes
  jostle race starvation --set slow=41             another size of the slow request
  jostle race preemption --as-published            the article's own sizes and times
"""


def race(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The experiment.")] = None,
    contestants: Contestants = None,
    workloads: Workloads = None,
    rounds: Rounds = None,
    quick: Annotated[bool, typer.Option("--quick", help="The experiment's short form.")] = False,
    as_published: Annotated[
        bool, typer.Option("--as-published", help="At the published scale; it may take hours.")
    ] = False,
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
) -> int:
    from jostle import experiments
    from jostle.cli.carry_out import carry_out, tell_on_stderr
    from jostle.errors import PlanError
    from jostle.tuning import tuned

    if name is None:
        for known in experiments.names():
            print(f"{known:<16} {experiments.load(known).title}")
        return 0
    if quick and as_published:
        raise PlanError("--quick and --as-published are two scales", "give one of them")
    scale = "quick" if quick else "as-published" if as_published else ""
    plan = tuned(
        lambda given: experiments.load(name, scale=scale, settings=given, share_cores=share_cores),
        split_settings(settings),
        tell_on_stderr,
    ).with_changes(
        contestants=split_contestants(contestants),
        workloads=split_workloads(workloads),
        database_url=database,
        fill_database=fill_database,
        rounds=rounds,
        processes=processes,
        cluster=cluster,
        allow_targets=allow_target,
    )
    return carry_out(plan, into, name, seed=seed, as_json=as_json, pages=True)


race.__doc__ = HELP
