"""`jostle race NAME`: rerun a published experiment on real servers."""

import time
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
  jostle race --all                                every experiment, quick, on one page; in under 40 minutes
  jostle race --all --into runs/2026-…-all         goes on where it stopped
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
    everything: Annotated[
        bool, typer.Option("--all", help="Every experiment, quick; NAME may list some: pair,threads.")
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

    if everything:
        return _all(name, into, rounds, seed, share_cores)
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


def _all(names: str | None, into: Path, rounds: int | None, seed: int | None, share_cores: bool) -> int:
    """Into a folder of its own, or into the one that is given, as it is."""
    from jostle.cli.race_all import race_all

    folder = into / time.strftime("%Y-%m-%dT%H-%M-%S-all") if into == Path("runs") else into
    only = [name.strip() for name in names.split(",")] if names else None
    return race_all(folder, only, rounds=rounds, seed=seed, share_cores=share_cores)


race.__doc__ = HELP
