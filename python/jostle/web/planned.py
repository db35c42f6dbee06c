"""Plans as a page makes and checks them: what is wrong and where, and what the form comes to."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jostle.errors import PlanError, StartRefused, UserError
from jostle.generator.files_and_ports import generator_processes
from jostle.generator.highest_rate import HighestRate
from jostle.generator.spec.address import Address
from jostle.generator.spec.run import engine_spec
from jostle.host.cores import available_cores
from jostle.plan.hit.plan import WORKLOAD, hit_plan
from jostle.plan.loading import parse_plan, to_toml
from jostle.plan.model import Plan
from jostle.text import one_line

__all__ = ["Problem", "plan_of_form", "problems_of"]

ORIGIN = "the plan"

LOOPBACK = "127.0.0.1"
"""In place of a server's address, which nothing here depends on."""

STAGE = re.compile(r"\s*(\S+)(?:\s+to\s+(\S+))?\s+for\s+(\S+)\s*")

FIELDS = {
    f"{WORKLOAD}.load.rates": "stages",
    f"{WORKLOAD}.load": "rate",
    "require": "expect",
    "headers": "headers",
    "clients": "clients",
    "rate": "rate",
    "seconds": "seconds",
}
"""Where in a plan, or of which option, and the field of the form that it comes from."""


@dataclass(frozen=True)
class Problem:
    """Something wrong. `line`: of the plan, from 1; `field`: of the form. None, "": it is about the whole."""

    text: str
    line: int | None = None
    field: str = ""


def problems_of(text: str, base: Path) -> list[Problem]:
    """What is wrong with a plan, loads beyond this machine included; relative file names are of `base`."""
    try:
        beyond = list(_beyond(parse_plan(text, ORIGIN, base=base)))
    except PlanError as error:
        return [_at_its_line(text, line) for line in error.message.splitlines()]
    except UserError as error:
        return [Problem(one_line(str(error)))]
    return [Problem(one_line(says), _line_of(text, place.split("."))) for place, says in beyond]


def _beyond(plan: Plan) -> Iterator[tuple[str, str]]:
    """The loads of a plan that certainly cannot be sent from here: where they stand, and what can."""
    if plan.cluster is not None:
        return
    threads = max(plan.threads or 1, plan.processes or 1, len(available_cores()))
    for name, workload in plan.selected.items():
        spec = engine_spec(name, workload, Address(host=LOOPBACK, port=80), journeys=plan.journey)
        try:
            generator_processes(spec, plan.processes)
        except StartRefused as error:
            yield f"workload.{name}.load", f"{error.message}: {error.hint}"
        steps = spec["workloads"][0]["load"].get("open", {}).get("rates") or []
        highest = max((step[end] for step in steps for end in ("from", "to")), default=0.0)
        if refusal := HighestRate.of(threads).refusal(highest):
            yield f"workload.{name}.load", ": ".join(refusal)


def _at_its_line(text: str, message: str) -> Problem:
    message = one_line(message).removeprefix(ORIGIN)
    if found := re.match(r", line (\d+), column \d+: ", message):
        return Problem(message[found.end() :], int(found[1]))
    message = message.removeprefix(": ")
    place, _, _ = message.partition(": ")
    return Problem(message, _line_of(text, place.split(".")))


def _line_of(text: str, wanted: Sequence[str]) -> int | None:
    """The line that says most of what leads to a key; None if none does."""
    table: list[str] = []
    counts: dict[str, int] = {}
    best, found = 0, None
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*(\[\[?)\s*([^\]]+?)\s*\]", line):
            table = [part.strip(" \"'") for part in header[2].split(".")]
            if header[1] == "[[":
                counts[header[2]] = counts.get(header[2], 0) + 1
                table.append(str(counts[header[2]]))
            keys = table
        elif key := re.match(r"\s*([\w.\"'-]+)\s*=", line):
            keys = [*table, *(part.strip("\"'") for part in key[1].split("."))]
        else:
            continue
        if len(keys) > best and keys == list(wanted[: len(keys)]):
            best, found = len(keys), number
    return found


def plan_of_form(fields: Mapping[str, str]) -> tuple[str, list[Problem]]:
    """The plan of what was filled in, or what is wrong with it."""
    given = {name: text.strip() for name, text in fields.items() if text.strip()}
    options: dict[str, Any] = {name: given[name] for name in ("clients", "rate", "seconds") if name in given}
    if headers := given.get("headers"):
        options["headers"] = [line for line in headers.splitlines() if line.strip()]
    try:
        plan = hit_plan(given.get("url", ""), options)
        data = plan.data()
        if stages := given.get("stages"):
            data["workload"]["hit"]["load"] = {"rates": _stages(stages, options)}
        if expected := given.get("expect"):
            data["require"] = [{"that": line.strip()} for line in expected.splitlines() if line.strip()]
        plan = Plan.of(data, "")
        beyond = [
            Problem(one_line(says), field=next(filter(given.get, ("stages", "rate", "clients")), "url"))
            for _, says in _beyond(plan)
        ]
        return ("" if beyond else to_toml(plan, secrets=True)), beyond
    except PlanError as error:
        lines = error.message.splitlines()
        return "", [_at_its_field(line, error.hint if len(lines) == 1 else "") for line in lines]


def _stages(text: str, options: Mapping[str, Any]) -> list[dict[str, str]]:
    for other in ("clients", "rate", "seconds"):
        if other in options:
            raise PlanError(f"{other}: stages say this, too", "leave one of them empty")
    found = []
    for line in filter(str.strip, text.splitlines()):
        stage = STAGE.fullmatch(line)
        if stage is None:
            raise PlanError(
                f"{WORKLOAD}.load.rates: {line.strip()!r} is no stage",
                "write for example: 100/s for 10s, or 100/s to 500/s for 30s",
            )
        begin, end, length = stage.groups()
        found.append({"from": begin, "to": end, "for": length} if end else {"rate": begin, "for": length})
    return found


def _at_its_field(message: str, hint: str) -> Problem:
    message = one_line(message).removeprefix(": ")
    place, colon, says = message.partition(": ")
    field = next((name for begins, name in FIELDS.items() if colon and place.startswith(begins)), "")
    text = says if field else message
    return Problem(f"{text}: {one_line(hint)}" if hint else text, field=field or "url")
