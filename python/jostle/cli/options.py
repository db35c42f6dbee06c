"""Options that several commands share, classes of options, and how the texts of options are read."""

import functools
import inspect
import sys
from collections.abc import Callable, Collection, Iterable
from dataclasses import is_dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from jostle.errors import PlanError

__all__ = [
    "CONNECTION",
    "GENERATOR",
    "GRPC",
    "LOAD",
    "MESSAGES",
    "OUTPUT",
    "PLAN",
    "REQUEST",
    "RESPONSE",
    "STREAM",
    "TLS",
    "AllowTargets",
    "BusyPoll",
    "Cluster",
    "ImportPath",
    "Into",
    "IntoOfAll",
    "IntoOfBoth",
    "Match",
    "Message",
    "Processes",
    "Proto",
    "Seed",
    "Send",
    "Until",
    "is_given",
    "option",
    "option_names",
    "refuse_beside",
    "run_folders",
    "seed_option",
    "split_contestants",
    "split_settings",
    "split_workloads",
    "typed",
    "unfold",
]

LOAD, REQUEST, CONNECTION, TLS = "Load", "Request", "Connections", "TLS"
MESSAGES, GRPC = "Messages (ws://), bytes (tcp://) and datagrams (udp://)", "gRPC (grpc://)"
RESPONSE, STREAM = "Response", "Stream of events"
PLAN, GENERATOR, OUTPUT = "Plan", "Generator", "Output"
"""The groups of options in `--help`."""


def option(*names: str, group: str, help: str, metavar: str | None = None, **more: Any) -> Any:
    """An option in a group of `--help`. `more`: as of `typer.Option`."""
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel=group, **more)


def _checked_seed(seed: int | None) -> int | None:
    if seed is not None and not 0 <= seed < 2**63:
        raise typer.BadParameter(f"{seed} is not from 0 to {2**63 - 1}")
    return seed


def seed_option(group: str) -> Any:
    return option(
        "--seed",
        metavar="N",
        callback=_checked_seed,
        help="Seed for all random choices (default: a random one).",
        group=group,
    )


Seed = Annotated[int | None, seed_option(PLAN)]
Processes = Annotated[
    int | None,
    option(
        "--processes",
        metavar="N",
        help="Generator processes, each with its threads (default: one, or more if one process may not open "
        "enough files for all clients).",
        group=GENERATOR,
    ),
]
Cluster = Annotated[
    str | None,
    option(
        "--cluster",
        metavar="HOST:PORT",
        help="Send the load from all nodes of a Ray cluster. HOST:PORT is the address of its head: the "
        "node that was started by 'jostle cluster start' without --join.",
        group=GENERATOR,
    ),
]
AllowTargets = Annotated[
    list[str] | None,
    option(
        "--allow-target",
        metavar="HOST",
        help="Allow this host as a target of a cluster, of redirects, or of full URLs in steps; repeatable.",
        group=GENERATOR,
    ),
]
BusyPoll = Annotated[
    str | None,
    option(
        "--busy-poll",
        metavar="WHEN",
        help="Whether the generator busy-polls instead of sleeping, to keep its wake-up delay out of "
        "response times: always, never or auto (the default: only if it has its own cores).",
        group=GENERATOR,
    ),
]

Send = Annotated[
    str | None,
    option(
        "--send",
        metavar="TEXT",
        help="With ws://: the message that each request sends, or @FILE. With tcp:// or udp://: text "
        "with escapes (\\r \\n \\t \\0 \\xHH \\\\), hex:BYTES or @FILE; {id:u16} is a two-byte "
        "number that differs in each request of a client.",
        group=MESSAGES,
    ),
]
Match = Annotated[
    str | None,
    option(
        "--match",
        metavar="HOW",
        help="Which message or datagram is the response: the next one (order), or the next that equals "
        "what was sent (echo). With ws:// also the next with the same value at a JSON pointer "
        "(json:/id); with udp:// also the next with the same bytes (bytes:0..2) or the same match "
        "(regex:PATTERN).",
        group=MESSAGES,
    ),
]
Until = Annotated[
    str | None,
    option(
        "--until",
        metavar="END",
        help="With tcp://: the response ends after this text (with escapes), hex:BYTES, length:N bytes, a "
        "match of regex:PATTERN, or when the server closes (close).",
        group=MESSAGES,
    ),
]
Proto = Annotated[
    list[Path] | None,
    option(
        "--proto",
        metavar="FILE",
        help="With grpc://HOST:PORT/package.Service/Method: the .proto file that defines the method; "
        "repeatable. If not given, the server is asked (reflection).",
        group=GRPC,
    ),
]
ImportPath = Annotated[
    list[Path] | None,
    option(
        "--import-path",
        metavar="DIR",
        help="With --proto: folder to search for imports, besides that of the file; repeatable.",
        group=GRPC,
    ),
]
Message = Annotated[
    str | None,
    option(
        "--message",
        metavar="JSON",
        help="With grpc://: the message of each call as JSON, or @FILE; -H adds metadata.",
        group=GRPC,
    ),
]


def _into(text: str) -> Any:
    return option("--into", metavar="DIR", help=text, group=OUTPUT)


Into = Annotated[Path, _into("Record the run in a new folder in DIR.")]
IntoOfAll = Annotated[
    Path,
    _into(
        "Record the run in a new folder in DIR. With --all, DIR itself is the folder of all these runs "
        "(default: a new one in runs); a stopped 'race --all' in it is continued."
    ),
]
IntoOfBoth = Annotated[Path, _into("With --interleaved or --commits: record the run in a new folder in DIR.")]


def unfold(command: Callable[..., int]) -> Callable[..., int]:
    """Make each field of a dataclass parameter (`options: SomeOptions`) an option of the command line."""
    signature = inspect.signature(command)
    classes: dict[str, Any] = {
        name: parameter.annotation
        for name, parameter in signature.parameters.items()
        if is_dataclass(parameter.annotation)
    }
    fields = {name: inspect.signature(made).parameters for name, made in classes.items()}

    @functools.wraps(command)
    def folded(**given: Any) -> int:
        options = {
            name: made(**{field: given.pop(field) for field in fields[name] if field in given})
            for name, made in classes.items()
        }
        return command(**given, **options)

    folded.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[
            one.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for name, parameter in signature.parameters.items()
            for one in (fields[name].values() if name in fields else [parameter])
        ]
    )
    return folded


def option_names(context: typer.Context) -> dict[str, str]:
    """What a user types for each parameter of a command: {"clients": "-c", …}."""
    return {str(parameter.name): parameter.opts[0] for parameter in context.command.params}


def split_contestants(text: str | None) -> list[str] | None:
    """`"node,go:procs=1,max=2"` → `["node", "go:procs=1,max=2"]`.

    A comma separates contestants, except before `key=value`, which belongs to the contestant before it.
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
        raise PlanError("--contestants is empty", "for example: --contestants node,go")
    return labels


def split_workloads(text: str | None) -> list[str] | None:
    """`"closed, paced"` → `["closed", "paced"]`."""
    if text is None:
        return None
    names = [name for name in map(str.strip, text.split(",")) if name]
    if not names:
        raise PlanError("--workloads is empty", "for example: --workloads closed,paced")
    return names


def split_settings(settings: Iterable[str] | None) -> dict[str, str]:
    """`["slow=41"]` → `{"slow": "41"}`. Raises `PlanError` for a name without a value, or with two."""
    values: dict[str, str] = {}
    for setting in settings or ():
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise PlanError(f"--set {setting!r} is not NAME=VALUE", "for example: --set slow=41")
        name = name.strip()
        if values.setdefault(name, value.strip()) != value.strip():
            raise PlanError(f"--set gives {name} two values", "give it once")
    return values


def run_folders(paths: Iterable[Path]) -> list[Path]:
    """The paths without the index file of `jostle history`, which a shell's runs/* includes too.

    Raises `PlanError` if there is nothing else.
    """
    from jostle.analysis.history import INDEX

    folders = [path for path in paths if path.name != INDEX]
    if not folders:
        raise PlanError(f"no run is named: {INDEX} is the index of all runs", "name the folder of a run")
    return folders


def refuse_beside(
    option: str, context: typer.Context, allowed: Collection[str], why: str, instead: str
) -> None:
    """Raise `PlanError` if a parameter is given beside `option` that is not among the `allowed` names."""
    given = [
        parameter.opts[0] if parameter.param_type_name == "option" else str(context.params[parameter.name])
        for parameter in context.command.params
        if parameter.name is not None
        and parameter.name not in allowed
        and parameter.opts[0] != option
        and is_given(context, parameter.name)
    ]
    if given:
        raise PlanError(f"{option} cannot be combined with {', '.join(given)}: {why}", instead)


def is_given(context: typer.Context, name: str) -> bool:
    """Whether the parameter was given on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def typed(*, without: str) -> list[str]:
    """The words of the command as it was typed, except the option `without` and its value."""
    words, kept = iter(["jostle", *sys.argv[1:]]), list[str]()
    for word in words:
        if word == without:
            next(words, None)
        elif not word.startswith(f"{without}="):
            kept.append(word)
    return kept
