"""Plans: what is measured, on which servers, under which load, how often."""

from typing import Any

from jostle.plan.load import ClosedLoad, OpenLoad
from jostle.plan.loading import load_plan, parse_plan, to_toml
from jostle.plan.model import Plan
from jostle.plan.requests.request import Request
from jostle.plan.workload import Background, Workload

__all__ = [
    "Background",
    "ClosedLoad",
    "OpenLoad",
    "Plan",
    "Request",
    "Workload",
    "load_plan",
    "parse_plan",
    "plan_schema",
    "to_toml",
]


def plan_schema() -> dict[str, Any]:
    """The JSON schema of a plan."""
    from jostle.plan import schema

    return schema.plan_schema()
