"""The experiments, one folder each: the plan, with published figures if there are any, and a README."""

from pathlib import Path

from jostle import roster
from jostle.errors import PlanError, UnknownName
from jostle.plan import Plan, load_plan
from jostle.plan.loading import Settings

__all__ = ["load", "names"]

_HERE = Path(__file__).parent


def names() -> list[str]:
    """All experiments, in alphabetical order."""
    return sorted(plan.parent.name for plan in _HERE.glob("*/plan.toml"))


def load(
    name: str,
    *,
    scale: str = "",
    settings: Settings | None = None,
    share_cores: bool = False,
) -> Plan:
    """The plan of an experiment.

    `scale`: "quick", or "as-published" if its default scale differs from that. `settings`: parameters to
    change. Raises `UnknownName` for an unknown experiment or parameter, `PlanError` for an unknown scale.
    """
    if name not in names():
        raise UnknownName("experiment", name, names())
    try:
        return load_plan(
            _HERE / name / "plan.toml",
            environment=roster.environment(),
            scale=scale,
            settings=settings,
            share_cores=share_cores,
        )
    except UnknownName as error:
        if error.kind != "scale":
            raise
        raise PlanError(
            f"{name} has no scale {scale!r}",
            f"its only scale is the default: jostle race {name}, and --set for its parameters",
        ) from None
