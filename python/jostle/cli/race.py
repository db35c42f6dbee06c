"""`jostle race NAME`: rerun a published experiment on real servers."""

import time
from pathlib import Path
from typing import Annotated

import typer

from jostle.cli.options import PLAN, IntoOfAll, Seed, is_given, option, option_names, refuse_beside, unfold
from jostle.cli.output import PlanOutput
from jostle.cli.plan_options import RunOptions, ScaleOptions

__all__ = ["known_experiments", "named", "race"]

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
  jostle check --all                            how long that takes, and how
                                                large its records are
  jostle race --all --into runs/2026-…-all      continue where it stopped
  jostle run --resume runs/2026-…-starvation    the same for a single one
"""

ALL_TAKES = (
    *("name", "quick", "rounds", "until_decided", "budget", "no_repeats"),
    *("seed", "share_cores", "into", "quiet", "verbose"),
)


def known_experiments(incomplete: str) -> list[str]:
    """The experiments whose names begin so, for the completion of a shell."""
    from jostle import experiments

    return [name for name in experiments.names() if name.startswith(incomplete)]


def named(text: str | None) -> list[str] | None:
    """`"pair, threads"` → `["pair", "threads"]`."""
    return None if text is None else [name.strip() for name in text.split(",")]


@unfold
def race(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="The experiment, or several with --all: pair,threads.",
            autocompletion=known_experiments,
        ),
    ] = None,
    *,
    scale: ScaleOptions,
    everything: Annotated[
        bool,
        option(
            "--all",
            help="Run all experiments, or those named, on one page. Implies --quick.",
            group=PLAN,
        ),
    ] = False,
    options: RunOptions,
    seed: Seed = None,
    into: IntoOfAll = Path("runs"),
    output: PlanOutput,
) -> int:
    from jostle import experiments
    from jostle.cli.execution import run_plan
    from jostle.cli.race_all import race_all
    from jostle.errors import PlanError
    from jostle.runner.disk_space import check_folder

    if everything:
        why = "it runs each experiment as it is"
        refuse_beside("--all", context, ALL_TAKES, why, "race one of them by name")
        folder = into if is_given(context, "into") else into / time.strftime("%Y-%m-%dT%H-%M-%S-all")
        return race_all(
            folder,
            named(name),
            lambda one: options.plan(context, ScaleOptions(quick=True).experiment(one)),
            seed,
            quiet=output.quiet,
            verbose=output.verbose,
        )
    if name is None:
        if any(is_given(context, parameter) for parameter in option_names(context)):
            raise PlanError("which experiment?", "name one, or give --all; 'jostle race' lists them")
        for known in experiments.names():
            print(f"{known:<16} {experiments.load(known).title}")
        return 0
    check_folder(into)  # before anything is tuned, which takes a minute
    plan = options.plan(context, scale.experiment(name))
    return run_plan(plan, into, name, seed=seed, output=output)
