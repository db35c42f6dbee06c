"""`jostle race NAME`: rerun a published experiment on real servers."""

import functools
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jostle.cli.options import PLAN, IntoOfAll, Seed, is_given, option_names, refuse_beside, unfold
from jostle.cli.output import PlanOutput
from jostle.cli.plan_options import DryRun, PlanOptions

if TYPE_CHECKING:
    from jostle.plan import Plan

__all__ = ["race"]

HELP = """Rerun a published experiment, and compare your figures with the published ones.

\b
  jostle race                                   list the experiments
  jostle race starvation                        all of its servers, 5 rounds
  jostle race starvation --contestants node,go
  jostle race starvation --quick                a first look, in some ten minutes
  jostle race starvation --set slow=41          a smaller slow request:
                                                fib(41) in place of fib(43)
  jostle race preemption --as-published         the article's sizes and times
  jostle race --all                             every experiment, quick, on one
                                                page; over an hour
  jostle race --all --dry-run                   how long that takes, and how
                                                large its records are
  jostle race --all --into runs/2026-…-all      continue where it stopped
  jostle run --resume runs/2026-…-starvation    the same for a single one
"""

ALL_TAKES = (
    *("name", "quick", "rounds", "until_decided", "budget", "no_repeats"),
    *("seed", "share_cores", "into", "quiet", "verbose", "dry_run"),
)


def _experiments(incomplete: str) -> list[str]:
    from jostle import experiments

    return [name for name in experiments.names() if name.startswith(incomplete)]


@unfold
def race(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="The experiment, or several with --all: pair,threads.",
            autocompletion=_experiments,
        ),
    ] = None,
    *,
    quick: Annotated[
        bool, typer.Option("--quick", help="Short trials and few rounds.", rich_help_panel=PLAN)
    ] = False,
    as_published: Annotated[
        bool,
        typer.Option(
            "--as-published",
            help="As large and long as in the article; may take hours.",
            rich_help_panel=PLAN,
        ),
    ] = False,
    everything: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Run all experiments, or those named, on one page. Implies --quick.",
            rich_help_panel=PLAN,
        ),
    ] = False,
    options: PlanOptions,
    seed: Seed = None,
    dry_run: DryRun = False,
    into: IntoOfAll = Path("runs"),
    output: PlanOutput,
) -> int:
    from jostle import experiments
    from jostle.errors import PlanError

    if everything:
        why = "it runs each experiment as it is"
        refuse_beside("--all", context, ALL_TAKES, why, "race one of them by name")
        folder = into if is_given(context, "into") else into / time.strftime("%Y-%m-%dT%H-%M-%S-all")
        return _all(context, name, folder, options, seed, output, dry_run=dry_run)
    if name is None:
        if any(is_given(context, parameter) for parameter in option_names(context)):
            raise PlanError("which experiment?", "name one, or give --all; 'jostle race' lists them")
        for known in experiments.names():
            print(f"{known:<16} {experiments.load(known).title}")
        return 0
    if quick and as_published:
        raise PlanError("--quick and --as-published are two scales", "give one of them")
    scale = "quick" if quick else "as-published" if as_published else ""
    plan = options.plan(context, functools.partial(experiments.load, name, scale=scale), tune=not dry_run)
    if dry_run:
        from jostle.cli.check import show_preview

        return show_preview(plan, into, seed)
    from jostle.cli.carry_out import carry_out

    return carry_out(plan, into, name, seed=seed, output=output)


def _all(
    context: typer.Context,
    names: str | None,
    folder: Path,
    options: PlanOptions,
    seed: int | None,
    output: PlanOutput,
    *,
    dry_run: bool,
) -> int:
    """Run all experiments into `folder`."""
    from jostle import experiments
    from jostle.cli.race_all import race_all
    from jostle.cli.race_all_preview import show_all

    def load(name: str) -> "Plan":
        return options.plan(
            context, functools.partial(experiments.load, name, scale="quick"), tune=not dry_run
        )

    only = [name.strip() for name in names.split(",")] if names else None
    if dry_run:
        return show_all(folder, only, load, seed)
    return race_all(folder, only, load, seed, quiet=output.quiet, verbose=output.verbose)
