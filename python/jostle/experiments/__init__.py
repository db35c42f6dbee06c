"""The published experiments, one folder each: the plan with the published figures, and a README."""

from collections.abc import Mapping
from pathlib import Path

from jostle.errors import UnknownName
from jostle.plan import Plan, load_plan

__all__ = ["load", "names"]

_HERE = Path(__file__).parent


def names() -> list[str]:
    """All experiments, in alphabetical order."""
    return sorted(plan.parent.name for plan in _HERE.glob("*/plan.toml"))


def load(name: str, *, quick: bool = False, settings: Mapping[str, int | float | str] | None = None) -> Plan:
    """The plan of an experiment; `quick`: at its small scale; `settings`: parameters to change.

    Raises `UnknownName` for an experiment, a scale or a parameter that does not exist.
    """
    if name not in names():
        raise UnknownName("experiment", name, names())
    return load_plan(_HERE / name / "plan.toml", scale="quick" if quick else "", settings=settings)
