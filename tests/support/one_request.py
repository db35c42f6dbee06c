"""A plan of one request, as it is written, and that request as the engine gets it."""

import base64
from pathlib import Path
from typing import Any

from jostle.generator.spec.address import Address
from jostle.generator.spec.run import engine_spec
from jostle.plan import Plan, parse_plan
from jostle.plan.hit.plan import hit_plan

OPTIONS = {
    "body": "-b",
    "deadline": "--deadline",
    "headers": "-H",
    "match": "--match",
    "message": "--message",
    "method": "-m",
    "proto": "--proto",
    "send": "--send",
    "stream": "--stream",
    "until": "--until",
}
"""What messages call the arguments of `hit`."""


def plan(request: str, more: str = "", base: Path | None = None) -> Plan:
    """`base`: the folder from which its files are named."""
    return parse_plan(
        f"""
        title = "x"
        contestants = ["node"]
        [workload.w]
        request = {request}
        load = {{ clients = 1, for = "1s" }}
        {more}
        """,
        "plan.toml",
        base=base,
    )


def hit(url: str, **options: Any) -> Plan:
    return hit_plan(url, options, lambda name: OPTIONS.get(name, name))


def engine(made: Plan) -> dict[str, Any]:
    """The measured workload, as the engine gets it."""
    (workload,) = made.workload.values()
    spec = engine_spec("w", workload, Address(host="h", port=80), journeys=made.journey)
    return dict(spec["workloads"][0])


def asked(made: Plan) -> dict[str, Any]:
    return dict(engine(made)["requests"][0])


def sent(request: dict[str, Any]) -> bytes:
    return base64.b64decode(request["body_base64"] or "")
