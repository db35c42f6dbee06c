"""Two plans as one, whose contestants take turns in every round, so that only what differs between the plans
can make a difference."""

from collections.abc import Mapping
from typing import Any

from jostle.errors import PlanError
from jostle.formatting import listed
from jostle.plan.labels import split
from jostle.plan.model import Plan

__all__ = ["interleaved", "not_judged"]

NOT_MERGED = ("claim", "published", "ratio", "require", "starvation", "tune")
"""Tables left out because they are about the contestants of only one of the plans."""

MAY_DIFFER = ("title", "about", "contestants", "contestant", "parameters", *NOT_MERGED)
"""Keys in which plans may differ. The values of parameters are in their texts already."""

SIDES = ("first", "second")


def interleaved(
    first: Plan, second: Plan, sides: tuple[str, str] = SIDES
) -> tuple[Plan, list[tuple[str, str]]]:
    """One plan with the contestants of both, and the pairs that are compared, in the order of the plans.

    Different contestants with the same name get the `sides` as suffixes: "-first" and "-second". Raises
    PlanError if the plans differ in more than their contestants, or not at all.
    """
    one, other = first.data(), second.data()
    _check_same(one, other)
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
            tables.pop(names[0][0], None)  # another variant of it may have been first
            tables |= {
                f"{names[0][0]}-{side}": {**(table or {}), "name": ""}
                for side, table in zip(sides, own, strict=True)
            }
            settings = f":{names[0][1]}" if names[0][1] else ""
            labels = (f"{names[0][0]}-{sides[0]}{settings}", f"{names[0][0]}-{sides[1]}{settings}")
        pairs.append(labels)
    for name, table in servers[0].items():
        if name in tables and table != servers[1].get(name, table):
            raise PlanError(
                f"contestant.{name} is not the same in both plans",
                "only those that are compared with each other may differ",
            )
    data: dict[str, Any] = {key: value for key, value in one.items() if key not in NOT_MERGED}
    data |= {"contestants": [label for pair in pairs for label in pair], "contestant": tables}
    data["parameters"] = _of_both(one.get("parameters", {}), other.get("parameters", {}), sides)
    return Plan.of(data, "both plans"), pairs


def not_judged(first: Plan, second: Plan) -> str:
    """A note on what the plans ask that their comparison does not answer; empty if there is nothing."""
    has = {
        "requirements": bool(first.require or second.require),
        "claims": bool(first.claim or second.claim),
    }
    left_out = [name for name, present in has.items() if present]
    if not left_out:
        return ""
    return f"The plans' {listed(left_out)} are not judged here: `jostle run` judges those of one plan."


def _check_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    """Raise PlanError if the plans differ in a key in which they may not."""
    for name in dict.fromkeys([*one["workload"], *other["workload"]]):
        if one["workload"].get(name) != other["workload"].get(name):
            raise PlanError(
                f"the workload {name!r} is not the same in both plans",
                "differences would come from it as well: measure both under the same workloads",
            )
    for key in dict.fromkeys([*one, *other]):
        if key not in MAY_DIFFER and one.get(key) != other.get(key):
            files = "; name the same files in both: relative names count from each plan's folder"
            raise PlanError(
                f"{_place(key, one.get(key), other.get(key))} is not the same in both plans",
                f"let the plans differ in contestants only{files if key == 'journey' else ''}",
            )


def _place(key: str, one: Any, other: Any) -> str:
    """The key; of a table, with the first of its own keys that differs."""
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        return key
    name = next((name for name in [*one, *other] if one.get(name) != other.get(name)), "")
    return f"{key}.{name}" if name else key


def _of_both(one: Mapping[str, Any], other: Mapping[str, Any], sides: tuple[str, str]) -> dict[str, Any]:
    """The parameters of both plans. One that has two values gets two names: if they are secrets, the record
    must hide both.
    """
    return {
        f"{name}-{side}" if others.get(name, value) != value else name: value
        for side, own, others in zip(sides, (one, other), (other, one), strict=True)
        for name, value in own.items()
    }
