"""A plan of one request, as it is written, and that request as the engine gets it."""

import base64
from typing import Any

from jostle.generator.spec import Address, engine_spec
from jostle.plan import Plan, parse_plan
from jostle.plan.hit import hit_plan

OPTIONS = {
    "body": "-b",
    "headers": "-H",
    "match": "--match",
    "method": "-m",
    "send": "--send",
    "stream": "--stream",
    "until": "--until",
}
"""What messages call the arguments of `hit`."""


def plan(request: str, more: str = "") -> Plan:
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
    )


def hit(url: str, **options: Any) -> Plan:
    return hit_plan(url, options, lambda name: OPTIONS.get(name, name))


def asked(made: Plan) -> dict[str, Any]:
    (workload,) = made.workload.values()
    spec = engine_spec("w", workload, Address(host="h", port=80), seed=7, cores=[1])
    return dict(spec["workloads"][0]["requests"][0])


def sent(request: dict[str, Any]) -> bytes:
    return base64.b64decode(request["body_base64"] or "")
