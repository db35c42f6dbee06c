"""Options that several commands share: how they stand on the command line, and what their text means."""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Annotated

import typer

from jostle.errors import PlanError

__all__ = [
    "AllowTargets",
    "AsJson",
    "Cluster",
    "Contestants",
    "DatabaseUrl",
    "FillDatabase",
    "Into",
    "Processes",
    "Rounds",
    "Seed",
    "Settings",
    "ShareCores",
    "Workloads",
    "refuse_beside",
    "split_contestants",
    "split_settings",
    "split_workloads",
]

Contestants = Annotated[
    str | None,
    typer.Option("--contestants", help="Comma-separated, e.g. node,go:procs=1; instead of the plan's."),
]
Workloads = Annotated[
    str | None, typer.Option("--workloads", help="Comma-separated: measure these of the plan's only.")
]
DatabaseUrl = Annotated[
    str | None,
    typer.Option(
        "--database", metavar="URL", help="A PostgreSQL of one's own (postgresql://…), not a private one."
    ),
]
FillDatabase = Annotated[
    bool,
    typer.Option(
        "--fill-database",
        help="Make the tables customers and orders in it, in place of any of these names; "
        "else nothing is written.",
    ),
]
Rounds = Annotated[int | None, typer.Option("--rounds", help="How often each contestant is measured.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the plan; may be repeated."),
]
Seed = Annotated[int | None, typer.Option("--seed", help="Order of trials and all arrivals.")]
ShareCores = Annotated[
    bool, typer.Option("--share-cores", help="Let server and generator use the same cores.")
]
Processes = Annotated[int | None, typer.Option("--processes", help="Generator processes; as many as needed.")]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster", metavar="ADDRESS:PORT", help="Load from every node of the cluster with this head."
    ),
]
AllowTargets = Annotated[
    list[str] | None,
    typer.Option("--allow-target", metavar="HOST", help="The cluster may load it; may be repeated."),
]
Into = Annotated[Path, typer.Option("--into", metavar="DIR", help="Folder for the run's record.")]
AsJson = Annotated[bool, typer.Option("--json", help="The result as JSON on standard output.")]


def split_contestants(text: str | None) -> list[str] | None:
    """`"node,go:procs=1,max=2"` → `["node", "go:procs=1,max=2"]`.

    A comma separates contestants, except before `key=value`: that belongs to the contestant before it.
    """
    if text is None:
        return None
    labels: list[str] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        if "=" in part and ":" not in part:
            if not labels or ":" not in labels[-1]:
                raise PlanError(
                    f"--contestants: {part!r} is a variant without a contestant",
                    "write it after a colon, e.g. node-cluster:workers=4,node",
                )
            labels[-1] += f",{part}"
        else:
            labels.append(part)
    if not labels:
        raise PlanError("--contestants names none", "for example: --contestants node,go")
    return labels


def split_workloads(text: str | None) -> list[str] | None:
    """`"closed, paced"` → `["closed", "paced"]`."""
    if text is None:
        return None
    names = [name for name in map(str.strip, text.split(",")) if name]
    if not names:
        raise PlanError("--workloads names none", "for example: --workloads closed,paced")
    return names


def split_settings(settings: Iterable[str] | None) -> dict[str, str]:
    """`["slow=41"]` → `{"slow": "41"}`."""
    values: dict[str, str] = {}
    for setting in settings or ():
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise PlanError(f"--set {setting!r} is not NAME=VALUE", "for example: --set slow=41")
        values[name.strip()] = value.strip()
    return values


def refuse_beside(
    option: str, context: typer.Context, allowed: Collection[str], why: str, instead: str
) -> None:
    """Raises `PlanError` when anything stands beside `option` that is not `allowed` (names of parameters)."""
    given = [
        parameter.opts[0] if parameter.param_type_name == "option" else str(context.params[parameter.name])
        for parameter in context.command.params
        if parameter.name is not None
        and parameter.name not in allowed
        and parameter.opts[0] != option
        and is_given(context, parameter.name)
    ]
    if given:
        raise PlanError(f"{option} goes without {', '.join(given)}: {why}", instead)


def is_given(context: typer.Context, name: str) -> bool:
    """The parameter stands on the command line, and is not its default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
