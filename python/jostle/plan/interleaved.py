"""Two plans as one, whose contestants take turns in every round, so that only what differs between the plans
can make a difference."""

from collections.abc import Mapping
from typing import Any

from jostle.errors import PlanError
from jostle.plan.labels import split
from jostle.plan.model import Plan

__all__ = ["interleaved"]

DECIDED_ELSEWHERE = ("claim", "published", "ratio", "require", "starvation", "tune")
"""Tables left out because they are about the contestants of only one of the plans."""

SIDES = ("first", "second")


def interleaved(first: Plan, second: Plan) -> tuple[Plan, list[tuple[str, str]]]:
    """One plan with the contestants of both, and the pairs that are compared, in the order of the plans.

    Different contestants with the same name get the suffixes "-first" and "-second". Raises PlanError if the
    plans differ in more than their contestants, or not at all.
    """
    one, other = first.data(), second.data()
    _same_load(one, other)
    if len(first.contestants) != len(second.contestants):
        raise PlanError(
            f"the plans have {len(first.contestants)} and {len(second.contestants)} contestants",
            "each of the first plan is compared with the one in its place in the second",
        )
    servers = [dict(plan.get("contestant", {})) for plan in (one, other)]
    tables, pairs = servers[0] | servers[1], []
    for labels in zip(first.contestants, second.contestants, strict=True):
        names = [split(label) for label in labels]
        own: list[dict[str, Any] | None] = [
            known.get(name) for known, (name, _) in zip(servers, names, strict=True)
        ]
        if labels[0] == labels[1]:
            if own[0] == own[1]:
                raise PlanError(f"{labels[0]} is the same in both plans", "compare what differs")
            if None in own:
                raise PlanError(f"{labels[0]} is spelled out in one plan only", "give it another name there")
            del tables[names[0][0]]
            tables |= {
                f"{names[0][0]}-{side}": {**(table or {}), "name": ""}
                for side, table in zip(SIDES, own, strict=True)
            }
            settings = f":{names[0][1]}" if names[0][1] else ""
            labels = (f"{names[0][0]}-first{settings}", f"{names[0][0]}-second{settings}")
        pairs.append(labels)
    data: dict[str, Any] = {key: value for key, value in one.items() if key not in DECIDED_ELSEWHERE}
    data |= {"contestants": [label for pair in pairs for label in pair], "contestant": tables}
    return Plan.of(data, "both plans"), pairs


def _same_load(one: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    for name in dict.fromkeys([*one["workload"], *other["workload"]]):
        if one["workload"].get(name) != other["workload"].get(name):
            raise PlanError(
                f"the workload {name!r} is not the same in both plans",
                "differences would come from it as well: measure both under the same workloads",
            )
    for key in ("rounds", "warm-up", "database"):
        if one.get(key) != other.get(key):
            raise PlanError(
                f"{key} is not the same in both plans", "let the plans differ in contestants only"
            )
