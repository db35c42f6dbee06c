"""The options that change a plan before it is run; several commands have them."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jostle.cli.options import (
    GENERATOR,
    PLAN,
    AllowTargets,
    BusyPoll,
    Cluster,
    Processes,
    option,
    option_names,
    split_contestants,
    split_settings,
    split_workloads,
)
from jostle.errors import PlanError

if TYPE_CHECKING:
    from jostle.plan import Plan
    from jostle.plan.loading import Settings

__all__ = ["Duration", "PlanOptions", "RunOptions", "ScaleOptions", "name_unchanged", "read_plan"]

DATABASE = "Database"

Duration = Annotated[
    str | None,
    option(
        "-d",
        "--duration",
        metavar="TIME",
        help="Run every workload for this long. Loads that count requests stay as they are, as do traces "
        "without `for`.",
        group=PLAN,
    ),
]


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """Each field is an option of the command line, with its text as given.

    Fields that are also fields of `jostle.plan.overrides.Overrides` have the same name there.
    """

    contestants: Annotated[
        str | None,
        option(
            "--contestants",
            metavar="A,B,…",
            help="Measure these servers instead of those of the plan or experiment: node,go:procs=1 (the "
            "variant of go that uses one core; 'jostle contestants list NAME' lists variants).",
            group=PLAN,
        ),
    ] = None
    workloads: Annotated[
        str | None,
        option(
            "--workloads",
            metavar="A,B,…",
            help="Measure only these workloads ('jostle check' lists them). If a workload names its servers, "
            "only those are measured under it; a server that --contestants adds and that no workload names "
            "is measured under all selected workloads.",
            group=PLAN,
        ),
    ] = None
    rounds: Annotated[
        int | None,
        option(
            "--rounds",
            metavar="N",
            help="Measure every workload on every server this many times.",
            group=PLAN,
        ),
    ] = None
    until_decided: Annotated[
        bool,
        option(
            "--until-decided",
            help="Add rounds until every requirement and claim is decided (if the plan has none: every "
            "comparison).",
            group=PLAN,
        ),
    ] = False
    budget: Annotated[
        str | None,
        option(
            "--budget",
            metavar="TIME",
            help="With --until-decided: stop before the first round that would exceed this time "
            "(default 30m).",
            group=PLAN,
        ),
    ] = None
    settings: Annotated[
        list[str] | None,
        option(
            "--set",
            metavar="NAME=VALUE",
            help="Set a parameter of the plan; repeatable.",
            group=PLAN,
        ),
    ] = None

    def plan(
        self,
        context: typer.Context,
        read: "Callable[..., Plan]",
        duration: str | None = None,
        *,
        tune: bool = True,
    ) -> "Plan":
        """The plan that `read(settings=…)` returns, with these options applied, and tuned.

        `tune=False`: no server is started; parameters never tuned on this machine stay in the plan's `tune`.
        """
        from jostle.plan.overrides import Overrides
        from jostle.runner.tune import print_to_stderr, tuned, tuned_before

        names = {field.name for field in fields(Overrides)}
        given = {name: value for name, value in vars(self).items() if name in names and value is not None}
        given["contestants"] = split_contestants(self.contestants)
        given["workloads"] = split_workloads(self.workloads)
        places = {Overrides.PLACES.get(name, name): option for name, option in option_names(context).items()}
        wanted = Overrides(duration=duration, **given)

        def load(settings: "Settings") -> "Plan":
            return read(settings=settings).changed(wanted, places)

        settings = split_settings(self.settings)
        return tuned(load, settings, print_to_stderr) if tune else tuned_before(load, settings)


@dataclass(frozen=True, kw_only=True)
class RunOptions(PlanOptions):
    """The options that change how real servers are measured; a simulation has no use for them."""

    no_repeats: Annotated[
        bool,
        option(
            "--no-repeats",
            help="Keep trials that are invalid because of the generator or the machine, instead of "
            "repeating them.",
            group=PLAN,
        ),
    ] = False
    explain: Annotated[
        str | None,
        option(
            "--explain",
            metavar="TIME",
            help="Afterwards, run 'jostle explain' on each contestant that comes with jostle, at most "
            "this long on each, such as 2m.",
            group=PLAN,
        ),
    ] = None
    share_cores: Annotated[
        bool,
        option(
            "--share-cores",
            help="Give server and generator all cores, instead of some to each.",
            group=GENERATOR,
        ),
    ] = False
    database: Annotated[
        str | None,
        option(
            "--database",
            metavar="URL",
            help="Use this PostgreSQL (postgresql://…) instead of a temporary one.",
            group=DATABASE,
        ),
    ] = None
    fill_database: Annotated[
        bool,
        option(
            "--fill-database",
            help="Create the tables customers, orders and shop_… in it. Tables of these names are deleted "
            "first.",
            group=DATABASE,
        ),
    ] = False
    processes: Processes = None
    busy_poll: BusyPoll = None
    cluster: Cluster = None
    allow_targets: AllowTargets = None

    def plan(
        self,
        context: typer.Context,
        read: "Callable[..., Plan]",
        duration: str | None = None,
        *,
        tune: bool = True,
    ) -> "Plan":
        return super().plan(context, partial(read, share_cores=self.share_cores), duration, tune=tune)


@dataclass(frozen=True, kw_only=True)
class ScaleOptions:
    """How large an experiment is."""

    quick: Annotated[bool, option("--quick", help="Short trials and few rounds.", group=PLAN)] = False
    as_published: Annotated[
        bool,
        option(
            "--as-published",
            help="As large and long as in the article; may take hours.",
            group=PLAN,
        ),
    ] = False

    def __post_init__(self) -> None:
        if self.quick and self.as_published:
            raise PlanError("--quick and --as-published are two scales", "give one of them")

    def experiment(self, name: str) -> "Callable[..., Plan]":
        """What loads the experiment at this scale."""
        from jostle import experiments

        return partial(
            experiments.load,
            name,
            scale="quick" if self.quick else "as-published" if self.as_published else "",
        )


def read_plan(file: Path, **changes: object) -> "Plan":
    """The plan in `file`."""
    from jostle import roster
    from jostle.plan.loading import load_plan

    return load_plan(file, environment=roster.environment(), **changes)  # type: ignore[arg-type]


def name_unchanged(plan: "Plan") -> None:
    """Say on standard error which workloads --duration leaves as they are."""
    from jostle.formatting import listed

    if names := [name for name, workload in plan.selected.items() if workload.seconds() is None]:
        why = "a number of requests or a trace ends the load"
        print(f"--duration does not change {listed(names)}: {why}", file=sys.stderr)
