"""`jostle race NAME`: rerun a published experiment on real servers."""

import functools
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jostle.cli.options import AsJson, Into, NoPages, Seed, refuse_beside, unfold
from jostle.cli.plan_options import PlanOptions

if TYPE_CHECKING:
    from jostle.plan import Plan

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

ALL_TAKES = ("name", "quick", "rounds", "seed", "share_cores", "into")


@unfold
def race(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The experiment.")] = None,
    *,
    quick: Annotated[bool, typer.Option("--quick", help="The experiment's short form.")] = False,
    as_published: Annotated[
        bool, typer.Option("--as-published", help="At the published scale; it may take hours.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Every experiment, quick; NAME may list some: pair,threads.")
    ] = False,
    options: PlanOptions,
    seed: Seed = None,
    into: Into = Path("runs"),
    as_json: AsJson = False,
    no_pages: NoPages = False,
) -> int:
    from jostle import experiments
    from jostle.api import load_experiment
    from jostle.cli.carry_out import carry_out
    from jostle.errors import PlanError

    if everything:
        why = "it runs each experiment as it is"
        refuse_beside("--all", context, ALL_TAKES, why, "race one of them by name")
        return _all(context, name, into, options, seed)
    if name is None:
        for known in experiments.names():
            print(f"{known:<16} {experiments.load(known).title}")
        return 0
    if quick and as_published:
        raise PlanError("--quick and --as-published are two scales", "give one of them")
    scale = "quick" if quick else "as-published" if as_published else ""
    plan = options.plan(context, functools.partial(load_experiment, name, scale=scale))
    return carry_out(plan, into, name, seed=seed, as_json=as_json, pages=not no_pages)


def _all(
    context: typer.Context, names: str | None, into: Path, options: PlanOptions, seed: int | None
) -> int:
    """Into a folder of its own, or into the one that is given, as it is."""
    from jostle.api import load_experiment
    from jostle.cli.race_all import race_all

    def load(name: str) -> "Plan":
        return options.plan(context, functools.partial(load_experiment, name, scale="quick"))

    folder = into / time.strftime("%Y-%m-%dT%H-%M-%S-all") if into == Path("runs") else into
    only = [name.strip() for name in names.split(",")] if names else None
    return race_all(folder, only, load, seed)
