"""A plan whose servers are started from another copy of its repository."""

from pathlib import Path

from jostle.errors import PlanError
from jostle.plan.labels import split
from jostle.plan.model import Plan

__all__ = ["moved"]


def moved(plan: Plan, top: Path, tree: Path, ref: str) -> Plan:
    """The plan with each contestant in its folder of `tree`, not of `top`. `ref`: the name of the commit.

    Raises `PlanError` if a contestant is not started in a folder of `top`, or `tree` has none at its place.
    """
    data = plan.data()
    for name in dict.fromkeys(split(label)[0] for label in plan.contestants):
        folder = data.get("contestant", {}).get(name, {}).get("folder")
        if folder is None or not Path(folder).resolve().is_relative_to(top.resolve()):
            raise PlanError(
                f"contestant.{name} is the same in every commit: it is not started in a folder of {top}",
                'name the folder: folder = "." is that of the plan',
            )
        inside = Path(folder).resolve().relative_to(top.resolve())
        if not (tree / inside).is_dir():
            raise PlanError(f"{ref} has no folder {inside}, in which contestant.{name} is started")
        data["contestant"][name]["folder"] = str(tree / inside)
    return Plan.of(data, "plan")
