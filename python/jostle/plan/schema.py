"""The JSON schema of plans and the reference tables of the documentation, both generated from the model."""

import json
import re
from pathlib import Path
from typing import Any

from jostle.plan.base import Table
from jostle.plan.cluster import Cluster
from jostle.plan.connection import Connection, Http2, Tls
from jostle.plan.criteria.claims import Claim, Drawn, Needs, Opponent, Part, PlannedFigure, Published, Ratio
from jostle.plan.criteria.requirement import Requirement
from jostle.plan.journeys.feed import Feed
from jostle.plan.journeys.journey import Group, Journey, Step
from jostle.plan.load import ClosedLoad, OpenLoad, Phase, RateStep
from jostle.plan.loading import CONTESTANTS_OF, SCALED
from jostle.plan.model import Plan, Starvation
from jostle.plan.requests.event_stream import EventStream, StreamBound
from jostle.plan.requests.raw import Sent, Until
from jostle.plan.requests.request import Expect, JsonValue, Request
from jostle.plan.servers.contestant import Build, ConnectionLimit, ContestantFile, Need, Ready, Start, Variant
from jostle.plan.servers.database import DatabaseChange, DatabaseTable
from jostle.plan.servers.simulated import Simulated
from jostle.plan.servers.tuning import Tune
from jostle.plan.workload import LOAD, Background, Workload

__all__ = ["files", "plan_schema"]

BEGIN, END = "<!-- generated: begin -->", "<!-- generated: end -->"


def plan_schema() -> dict[str, Any]:
    """The JSON schema (2020-12) of plans, for completion and checks in editors."""
    schema: dict[str, Any] = Plan.model_json_schema(by_alias=True)
    definitions = schema["$defs"]
    _shorthands(definitions)
    schema["properties"]["scale"] = {
        "type": "object",
        "description": "other parameters, contestants and workloads by the name of a scale: `--quick` takes "
        "[scale.quick]",
        "additionalProperties": {"$ref": "#/$defs/Parameters"},
    }
    names = {"type": "array", "items": {"type": "string"}}
    definitions["Parameters"] = {
        "type": "object",
        "properties": {
            **dict.fromkeys(SCALED, names),
            CONTESTANTS_OF: {"type": "object", "additionalProperties": names},
        },
        "additionalProperties": {"type": ["string", "number"]},
    }
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "A plan of jostle"}


def _shorthands(definitions: dict[str, Any]) -> None:
    """Add the short forms, which no model has: a text for `expect`, one table for a list or for two."""
    event_stream = definitions["EventStream"]["properties"]
    bounds = event_stream["slo"]
    bounds["items"] = {"anyOf": [bounds["items"], {"type": "string"}]}
    event_stream["slo"] = {"anyOf": [{"type": "string"}, bounds]}
    for name in ("Request", "Background", "Step"):
        expect = definitions[name]["properties"]["expect"]
        expect.pop("default", None)
        description = expect.pop("description", "")
        definitions[name]["properties"]["expect"] = {
            "description": description,
            "anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "array"}, expect],
        }
        definitions[name]["properties"]["stream"]["anyOf"].append(event_stream["format"])
    for name in ("Request", "Background"):
        for key in ("tcp", "until"):
            definitions[name]["properties"][key]["anyOf"].append({"type": "string"})
    status = definitions["Expect"]["properties"]["status"]
    definitions["Expect"]["properties"]["status"] = {"anyOf": [{"type": "integer"}, status]}
    request = definitions["Workload"]["properties"]["request"]
    definitions["Workload"]["properties"]["request"] = {"anyOf": [{"$ref": "#/$defs/Request"}, request]}
    for table, key, single in (("Journey", "feed", {"$ref": "#/$defs/Feed"}), ("Workload", "journeys", None)):
        about = definitions[table]["properties"][key]
        short = [single] if single else [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]
        definitions[table]["properties"][key] = {"anyOf": [*short, about]}
    background = definitions["Background"]
    del background["properties"][LOAD]
    for load in ("ClosedLoad", "OpenLoad"):
        own = {key: value for key, value in definitions[load]["properties"].items() if key != "for"}
        background["properties"] = own | background["properties"]
    background.pop("required", None)


def reference() -> str:
    """The tables of a plan and their keys, in Markdown."""
    tables: list[tuple[str, type[Table]]] = [
        ("The plan", Plan),
        ("`[workload.NAME]`", Workload),
        ("`request`", Request),
        ("`expect`", Expect),
        ("`expect.json`", JsonValue),
        ("`stream`", EventStream),
        ("`stream.slo`", StreamBound),
        ("`tcp`", Sent),
        ("`until`", Until),
        ("`[journey.NAME]`", Journey),
        ("`steps`", Step),
        ("`steps`, sent together", Group),
        ("`feed`", Feed),
        ("`load`, closed", ClosedLoad),
        ("`phases`", Phase),
        ("`load`, open", OpenLoad),
        ("`rates`", RateStep),
        ("`background`", Background),
        ("`connection`", Connection),
        ("`connection.http2`", Http2),
        ("`connection.tls`", Tls),
        ("`[cluster]`", Cluster),
        ("`[database]`", DatabaseTable),
        ("`database` of a workload", DatabaseChange),
        ("`[contestant.NAME]`, and a contestant.toml", ContestantFile),
        ("`contestant.needs`", Need),
        ("`contestant.build`", Build),
        ("`contestant.start`", Start),
        ("`contestant.ready`", Ready),
        ("`contestant.variants.NAME`", Variant),
        ("`contestant.simulate`", Simulated),
        ("`contestant.limit`", ConnectionLimit),
        ("`[tune.PARAMETER]`", Tune),
        ("`[[starvation]]`", Starvation),
        ("`[[require]]`", Requirement),
        ("`[published]`", Published),
        ("`published.figures`", PlannedFigure),
        ("`published.pictures`", Drawn),
        ("`[[ratio]]`", Ratio),
        ("`[[claim]]`", Claim),
        ("`claim.holds`", Part),
        ("`claim.holds.against`", Opponent),
        ("`claim.needs`", Needs),
    ]
    return "\n".join(_section(heading, table) for heading, table in tables)


def _section(heading: str, table: type[Table]) -> str:
    about = " ".join((table.__doc__ or "").partition("\n\n")[0].split())
    lines = [f"### {heading}\n", f"{about}\n"]
    if table is Background:
        return "\n".join([*lines, "The keys of a request and of a load, without `for`, in one table.\n"])
    lines += ["| key | default | |", "|---|---|---|"]
    for name, field in table.model_fields.items():
        default = "required" if field.is_required() else _default(table, name)
        lines.append(f"| `{field.alias or name}` | {default} | {field.description} |")
    return "\n".join([*lines, ""])


def _default(table: type[Table], name: str) -> str:
    field = table.model_fields[name]
    whole = table.model_construct().model_dump(by_alias=True, include={name}, warnings=False)
    value = whole.get(field.alias or name)
    return "" if value is None or isinstance(value, dict) else f"`{json.dumps(value, ensure_ascii=False)}`"


def files(docs: Path) -> dict[Path, str]:
    """What the files in `docs` should hold."""
    page = (docs / "PLAN.md").read_text(encoding="utf-8")
    pattern = re.compile(re.escape(BEGIN) + ".*" + re.escape(END), re.DOTALL)
    return {
        docs / "plan.schema.json": json.dumps(plan_schema(), indent=2, ensure_ascii=False) + "\n",
        docs / "PLAN.md": pattern.sub(lambda _: f"{BEGIN}\n{reference()}\n{END}", page),
    }
