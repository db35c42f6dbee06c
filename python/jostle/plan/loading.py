"""From a plan's text to a plan, and back."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jostle.errors import PlanError, UnknownName
from jostle.host.cores import place
from jostle.plan.files.toml import TOMLDecodeError, read_toml
from jostle.plan.model import Plan
from jostle.redaction.data import redact, replace_secrets, secrets_in
from jostle.text import one_line, read_text, reason

__all__ = ["Environment", "Settings", "load_plan", "parse_plan", "parse_toml", "to_toml"]

Settings = Mapping[str, int | float | str]
"""Values for the parameters of a plan, by name."""

SCALED = ("contestants", "workloads")
"""What a scale may replace besides parameters."""

MAX_SHOWN = 200
"""The most characters of a broken line that a message quotes."""

CONTESTANTS_OF = "contestants-of"
"""The table of a scale that gives the contestants of single workloads."""


@dataclass(frozen=True)
class Environment:
    """The surroundings in which a plan is read."""

    servers: Collection[str] | None = None
    """The contestants that exist besides its own; if None, names are not looked up."""
    cores: Sequence[int] = ()
    """The cores of this machine, for `{cores}` in the plan."""


def load_plan(
    path: Path | str,
    *,
    environment: Environment = Environment(),
    scale: str = "",
    settings: Settings | None = None,
    share_cores: bool = False,
) -> Plan:
    """Read a plan file; relative file names in it are resolved against its folder.

    `scale` names a `[scale.NAME]` table, whose parameters replace the plan's; `settings` replace both.
    `share_cores`: server and generator share their cores, whatever the plan says.
    Raises `PlanError`, and `UnknownName` for a scale or parameter that the plan does not have.
    """
    path = Path(path)
    try:
        text = read_text(path)
    except FileNotFoundError:
        raise PlanError(f"there is no plan {path}", "give the name of a TOML file") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise PlanError(f"{path}, line {line}: not UTF-8 text", "save the plan as UTF-8") from None
    except OSError as error:
        raise PlanError(f"{path} cannot be read: {reason(error)}", "give the name of a TOML file") from None
    return parse_plan(
        text,
        str(path),
        base=path.absolute().parent,
        environment=environment,
        scale=scale,
        settings=settings,
        share_cores=share_cores,
    )


def parse_plan(
    text: str,
    origin: str,
    *,
    base: Path | None = None,
    environment: Environment = Environment(),
    scale: str = "",
    settings: Settings | None = None,
    share_cores: bool = False,
) -> Plan:
    """Read a plan from its text. `origin` is for messages; without `base`, no file it names is looked at."""
    data = parse_toml(text, origin) | ({"share-cores": True} if share_cores else {})
    data = _filled_in(data, scale, settings or {}, environment.cores)
    if base is not None:
        _anchor_folders(data, base)
    return Plan.of(data, origin, base=base, servers=environment.servers)


def parse_toml(text: str, origin: str) -> dict[str, Any]:
    """Read TOML. Raises `PlanError` with the line, the column and the text of the line that is broken."""
    try:
        return read_toml(text)
    except TOMLDecodeError as error:
        raise _broken(text, origin, str(error)) from None


def _broken(text: str, origin: str, message: str) -> PlanError:
    lines = text.splitlines() or [""]
    found = re.search(r"\s*\(at line (\d+), column (\d+)\)$", message)
    line, column = (int(found[1]), int(found[2])) if found else (len(lines), len(lines[-1]) + 1)
    what = re.sub(r"\s*\(at [^()]*\)$", "", message)
    shown = one_line(lines[line - 1].replace("\t", " ")) if line <= len(lines) else ""
    skipped = max(0, column - MAX_SHOWN)  # of a long line only what stands before the fault
    return PlanError(
        f"{origin}, line {line}, column {column}: {what[:1].lower()}{what[1:]}",
        f"{line:>5} | {shown[skipped : skipped + MAX_SHOWN]}\n      | {' ' * (column - 1 - skipped)}^",
    )


def _filled_in(data: dict[str, Any], scale: str, changes: Settings, cores: Sequence[int]) -> dict[str, Any]:
    """Replace `{name}` in all texts by the parameter's value; other braces belong to the requests.

    A scale may also choose the contestants, the workloads, and the contestants of single workloads.
    `{cores}` is the number of the machine's `cores` that the server gets, unless the plan has a parameter of
    that name. Parameters that are set here are not tuned.
    """
    scales = data.pop("scale", {})
    own = data.get("parameters", {})
    if not isinstance(own, dict) or not isinstance(scales, dict):
        return data  # refused by the model
    if cores and "cores" not in own and _stands_in(data, "{cores}"):
        shared = data.get("share-cores") is True
        own = {**own, "cores": len(place(list(cores), shared).server_cores)}
    if scale and scale not in scales:
        raise UnknownName("scale", scale, scales)
    chosen = scales.get(scale, {})
    if not isinstance(chosen, dict):
        raise PlanError(f"scale.{scale} is not a table", f"write [scale.{scale}] and its parameters below")
    chosen = dict(chosen)
    data |= {key: chosen.pop(key) for key in SCALED if key in chosen}
    data = _narrowed(data, chosen.pop(CONTESTANTS_OF, {}))
    values = dict(own)
    for name, value in {**chosen, **changes}.items():
        if name not in own:
            raise UnknownName("parameter", name, own)
        values[name] = _like(own[name], value, name)
    if not values:
        return data
    if isinstance(tunes := data.get("tune"), dict):
        data["tune"] = {name: tune for name, tune in tunes.items() if name not in {**chosen, **changes}}
    names = re.compile(r"\{(" + "|".join(map(re.escape, values)) + r")\}")
    filled: dict[str, Any] = _in_texts(
        data, lambda text: names.sub(lambda found: str(values[found[1]]), text)
    )
    return filled | {"parameters": values}


def _narrowed(data: dict[str, Any], contestants_of: Any) -> dict[str, Any]:
    """`data` with other contestants for some workloads, and with their former ones in `narrowed`."""
    if not contestants_of:
        return data
    workloads = data.get("workload")
    if not isinstance(workloads, dict) or not isinstance(contestants_of, dict):
        raise PlanError(f"scale: {CONTESTANTS_OF} is not a table", 'write: closed = ["node", "go"]')
    for name in contestants_of:
        if name not in workloads:
            raise UnknownName("workload", name, workloads)
        if not isinstance(workloads[name], dict):
            return data  # refused by the model
    changed = {name: workloads[name] | {"contestants": whom} for name, whom in contestants_of.items()}
    narrowed = {name: workloads[name].get("contestants", []) for name in changed}
    return data | {"workload": workloads | changed, "narrowed": narrowed}


def _like(own: Any, value: int | float | str, name: str) -> int | float | str:
    """`value` as a number if the plan's own value is one: the command line passes text."""
    if isinstance(value, str) and isinstance(own, int | float):
        try:
            return type(own)(value.replace("_", ""))
        except ValueError:
            kind = "a whole number" if isinstance(own, int) else "a number"
            raise PlanError(f"--set {name}={value}: {value!r} is not {kind}", f"as it is: {own}") from None
    return value


def _anchor_folders(data: dict[str, Any], base: Path) -> None:
    """Make the folders of the plan's contestants absolute, since the plan may be written elsewhere later."""
    tables = data.get("contestant")
    for table in tables.values() if isinstance(tables, dict) else []:
        if isinstance(table, dict) and isinstance(table.get("folder"), str):
            table["folder"] = str((base / table["folder"]).absolute())


def _in_texts(data: Any, change: Any) -> Any:
    if isinstance(data, str):
        return change(data)
    if isinstance(data, list):
        return [_in_texts(item, change) for item in data]
    if isinstance(data, dict):
        return {key: _in_texts(value, change) for key, value in data.items()}
    return data


def _stands_in(data: Any, text: str) -> bool:
    if isinstance(data, dict):
        return any(_stands_in(value, text) for value in data.values())
    if isinstance(data, list):
        return any(_stands_in(value, text) for value in data)
    return isinstance(data, str) and text in data


def to_toml(plan: Plan, *, secrets: bool = False) -> str:
    """The whole plan as it runs, with defaults written out; `parse_plan` reads the same plan from it.

    Possible secrets are hidden (`jostle.redaction`) unless `secrets`, as the text may become a record.
    """
    import tomli_w

    data = plan.data()
    if not secrets:
        data = replace_secrets(redact(data), secrets_in(data))
    # Reading a multi-line string back would change its line ends if they are \r\n.
    returns = "\\r" in json.dumps(data, default=str)
    return tomli_w.dumps(data, multiline_strings=not returns)
