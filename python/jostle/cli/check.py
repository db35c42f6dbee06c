"""`jostle check PLAN`: what `run` or `race` would do, without starting anything."""

import textwrap
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jostle.cli.exit_codes import ExitCode
from jostle.cli.options import OUTPUT, PLAN, Seed, option, refuse_beside, unfold
from jostle.cli.plan_options import Duration, RunOptions, ScaleOptions, name_unchanged, read_plan
from jostle.cli.race import known_experiments, named
from jostle.errors import PlanError
from jostle.redaction.texts import redact_text

if TYPE_CHECKING:
    from jostle.plan import Plan

__all__ = ["check"]

HELP = """Check a plan, and send its journeys, POSTs included, once to a server that is running.

\b
  jostle check plan.toml
  jostle check plan.toml --rounds 20 --seed 7      with the order of each round
  jostle check starvation --quick                  a published experiment
  jostle check --all                               all of them: how long, how large

It says what 'jostle run' or 'jostle race' would run, for how long, and which
differences it could detect. No server is built or started, nothing is measured,
and no database is touched. But if the plan has journeys and a contestant with a
url, each journey is really sent to it, once, and every request, response and
capture is shown; --no-send prevents this. --fill-database and --explain are
accepted, so that all options of 'jostle run' can be passed; check does neither.
The exit code is 1 if a journey fails, 2 if the plan has a mistake or does not
fit this machine, and 3 if none of its contestants can run here.
"""

ALL_TAKES = (
    *("plan_file", "quick", "rounds", "until_decided", "budget", "no_repeats"),
    *("seed", "share_cores", "into", "send"),
)

WIDTH = 80
LABEL = 12


@unfold
def check(
    context: typer.Context,
    plan_file: Annotated[
        str | None,
        typer.Argument(
            metavar="[PLAN]",
            help="A TOML file, or an experiment's name; several of these with --all: pair,threads.",
            autocompletion=known_experiments,
        ),
    ] = None,
    *,
    scale: ScaleOptions,
    everything: Annotated[
        bool,
        option(
            "--all",
            help="All experiments, or those named, as 'jostle race --all' would run them.",
            group=PLAN,
        ),
    ] = False,
    duration: Duration = None,
    options: RunOptions,
    seed: Seed = None,
    into: Annotated[
        Path,
        option(
            "--into",
            metavar="DIR",
            help="Where the run would be recorded: is there enough room? With --all, what DIR has already "
            "is not counted.",
            group=OUTPUT,
        ),
    ] = Path("runs"),
    send: Annotated[
        bool, typer.Option("--send/--no-send", help="Send each journey once to a running contestant.")
    ] = True,
) -> int:
    from jostle import experiments
    from jostle.cli.check_all import check_all
    from jostle.cli.preview_lines import preview_lines
    from jostle.runner.preview import preview

    if everything:
        refuse_beside(
            "--all", context, ALL_TAKES, "it checks each experiment as it is", "check one of them by name"
        )
        return check_all(
            into,
            named(plan_file),
            lambda one: options.plan(context, ScaleOptions(quick=True).experiment(one), tune=False),
            seed,
        )
    if plan_file is None:
        raise PlanError("which plan?", "jostle check PLAN.toml, jostle check NAME, or jostle check --all")
    if plan_file in experiments.names() and not Path(plan_file).exists():
        if duration is not None:
            raise PlanError("--duration is for a plan of your own", f"jostle check {plan_file} --quick")
        read = scale.experiment(plan_file)
    else:
        if scale != ScaleOptions():
            raise PlanError(f"{plan_file} is no published experiment", "leave out --quick and --as-published")
        read = partial(read_plan, Path(plan_file))
    plan = options.plan(context, read, duration, tune=False)
    if duration is not None:
        name_unchanged(plan)
    for label, text in preview_lines(preview(plan, into, seed), into):
        _say(label, text)
    return _try(plan) if send and plan.journey else ExitCode.DONE


def _try(plan: "Plan") -> ExitCode:
    """Send the journeys once, if a contestant runs already."""
    from jostle.cli.tryout import show_tried
    from jostle.plan.labels import split
    from jostle.runner.tryout import running_contestant
    from jostle.url import read_url

    label = running_contestant(plan)
    if not label:
        print(f"{'journeys'.ljust(LABEL)}not sent: no contestant has a url")
        return ExitCode.DONE
    url = plan.contestant[split(label)[0]].url
    assert url is not None, "it runs already"
    whom = f"{label} ({read_url(url)})"
    _say("journeys", f"now each is really sent to {whom}, once, POSTs included (--no-send prevents this)")
    return ExitCode.DONE if show_tried(plan, label) else ExitCode.FAILED


def _say(label: str, text: str) -> None:
    first, others = label.ljust(LABEL), " " * LABEL
    filled = textwrap.fill(
        redact_text(text), WIDTH, initial_indent=first, subsequent_indent=others, break_on_hyphens=False
    )
    print(filled, flush=True)
