"""The options that change a plan before it is run; several commands have them."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jostle.cli.options import (
    GENERATOR,
    PLAN,
    AllowTargets,
    Attention,
    Cluster,
    Processes,
    option_names,
    split_contestants,
    split_settings,
    split_workloads,
)

if TYPE_CHECKING:
    from jostle.plan import Plan
    from jostle.plan.loading import Settings

__all__ = ["DryRun", "PlanOptions", "read_plan"]

DATABASE = "Database"

DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what would run, and stop.", rich_help_panel=PLAN)
]


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """Each field is an option of the command line, with its text as given.

    Fields that are also fields of `jostle.plan.model.Changes` have the same name there.
    """

    contestants: Annotated[
        str | None,
        typer.Option(
            "--contestants",
            metavar="A,B,…",
            help="Measure these servers instead of those of the plan or experiment: node,go:procs=1 (the "
            "variant of go that uses one core; 'jostle contestants list NAME' lists variants).",
            rich_help_panel=PLAN,
        ),
    ] = None
    workloads: Annotated[
        str | None,
        typer.Option(
            "--workloads",
            metavar="A,B,…",
            help="Measure only these workloads ('jostle check' lists them). If a workload names its servers, "
            "only those are measured under it; a server that --contestants adds and that no workload names "
            "is measured under all selected workloads.",
            rich_help_panel=PLAN,
        ),
    ] = None
    rounds: Annotated[
        int | None,
        typer.Option(
            "--rounds",
            metavar="N",
            help="Measure every workload on every server this many times.",
            rich_help_panel=PLAN,
        ),
    ] = None
    until_decided: Annotated[
        bool,
        typer.Option(
            "--until-decided",
            help="Add rounds until every requirement and claim is decided (if the plan has none: every "
            "comparison).",
            rich_help_panel=PLAN,
        ),
    ] = False
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            metavar="TIME",
            help="With --until-decided: stop before the first round that would exceed this time "
            "(default 30m).",
            rich_help_panel=PLAN,
        ),
    ] = None
    no_repeats: Annotated[
        bool,
        typer.Option(
            "--no-repeats",
            help="Keep trials that are invalid because of the generator or the machine, instead of "
            "repeating them.",
            rich_help_panel=PLAN,
        ),
    ] = False
    explain: Annotated[
        str | None,
        typer.Option(
            "--explain",
            metavar="TIME",
            help="Afterwards, run 'jostle explain' on each contestant that comes with jostle, at most "
            "this long on each, such as 2m.",
            rich_help_panel=PLAN,
        ),
    ] = None
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Set a parameter of the plan; repeatable.",
            rich_help_panel=PLAN,
        ),
    ] = None
    share_cores: Annotated[
        bool,
        typer.Option(
            "--share-cores",
            help="Give server and generator all cores, instead of some to each.",
            rich_help_panel=GENERATOR,
        ),
    ] = False
    database: Annotated[
        str | None,
        typer.Option(
            "--database",
            metavar="URL",
            help="Use this PostgreSQL (postgresql://…) instead of a temporary one.",
            rich_help_panel=DATABASE,
        ),
    ] = None
    fill_database: Annotated[
        bool,
        typer.Option(
            "--fill-database",
            help="Create the tables customers, orders and shop_… in it. Tables of these names are deleted "
            "first.",
            rich_help_panel=DATABASE,
        ),
    ] = False
    processes: Processes = None
    attention: Attention = None
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
        """The plan that `read(settings=…, share_cores=…)` returns, with these options applied, and tuned.

        `tune=False`: no server is started; parameters never tuned on this machine stay in the plan's `tune`.
        """
        from jostle.plan.model import Changes
        from jostle.runner.tune import print_to_stderr, tuned, tuned_before

        changes = {
            field.name: getattr(self, field.name) for field in fields(Changes) if field.name != "duration"
        }
        changes["contestants"] = split_contestants(self.contestants)
        changes["workloads"] = split_workloads(self.workloads)
        changes["allow_targets"] = self.allow_targets or ()
        places = {Changes.PLACES.get(name, name): option for name, option in option_names(context).items()}
        wanted = Changes(duration=duration, **changes)

        def load(settings: "Settings") -> "Plan":
            return read(settings=settings, share_cores=self.share_cores).changed(wanted, places)

        settings = split_settings(self.settings)
        return tuned(load, settings, print_to_stderr) if tune else tuned_before(load, settings)


def read_plan(file: Path, **changes: object) -> "Plan":
    """The plan in `file`."""
    from jostle import roster
    from jostle.plan.loading import load_plan

    return load_plan(file, environment=roster.environment(), **changes)  # type: ignore[arg-type]
