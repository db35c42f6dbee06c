"""The options that change a plan before it is run, as `race` and `run` both have them."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated

import typer

from jostle.cli.options import (
    AllowTargets,
    Cluster,
    Processes,
    option_names,
    split_contestants,
    split_settings,
    split_workloads,
)

if TYPE_CHECKING:
    from jostle.plan import Plan

__all__ = ["PlanOptions"]


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """Each field is an option of the command line, with its text as it was given.

    Those that `jostle.plan.model.Changes` has too have the same name there.
    """

    contestants: Annotated[
        str | None,
        typer.Option("--contestants", help="Comma-separated, e.g. node,go:procs=1; instead of the plan's."),
    ] = None
    workloads: Annotated[
        str | None, typer.Option("--workloads", help="Comma-separated: measure these of the plan's only.")
    ] = None
    rounds: Annotated[int | None, typer.Option("--rounds", help="How often each contestant is measured.")] = (
        None
    )
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the plan; may be repeated."),
    ] = None
    share_cores: Annotated[
        bool, typer.Option("--share-cores", help="Let server and generator use the same cores.")
    ] = False
    database: Annotated[
        str | None,
        typer.Option(
            "--database", metavar="URL", help="A PostgreSQL of one's own (postgresql://…), not a private one."
        ),
    ] = None
    fill_database: Annotated[
        bool,
        typer.Option(
            "--fill-database",
            help="Make the tables customers and orders in it, in place of any of these names; "
            "else nothing is written.",
        ),
    ] = False
    processes: Processes = None
    cluster: Cluster = None
    allow_targets: AllowTargets = None

    def plan(
        self, context: typer.Context, load: "Callable[..., Plan]", duration: str | None = None
    ) -> "Plan":
        """What `load(settings=…, share_cores=…)` gives, changed as the options of the command say."""
        from jostle.plan.model import Changes

        changes = {
            field.name: getattr(self, field.name) for field in fields(Changes) if field.name != "duration"
        }
        changes["contestants"] = split_contestants(self.contestants)
        changes["workloads"] = split_workloads(self.workloads)
        changes["allow_targets"] = self.allow_targets or ()
        places = {Changes.PLACES.get(name, name): option for name, option in option_names(context).items()}
        plan = load(settings=split_settings(self.settings), share_cores=self.share_cores)
        return plan.changed(Changes(duration=duration, **changes), places)
