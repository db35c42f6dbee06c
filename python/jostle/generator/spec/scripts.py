"""Scripts of journeys: what the engine needs to run them, and which requests they contain."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jostle.errors import PlanError
from jostle.plan.journeys.journey import Step
from jostle.plan.requests.request import asking
from jostle.text import reason

__all__ = ["script_spec", "steps_of"]


def script_spec(path: Path, columns: Sequence[tuple[str, int]]) -> dict[str, Any]:
    """The engine's `ScriptSpec`. `columns`: the feeds' columns, with their slots. Raises `PlanError`."""
    try:
        source = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise PlanError(f"{path} cannot be read: {reason(error)}", "a script is UTF-8 text") from None
    return {"file": path.name, "source": source, "columns": [list(each) for each in columns], "sleeps": True}


def steps_of(script: Mapping[str, Any]) -> tuple[list[Step], bool]:
    """The requests of a script as steps of its journey, and whether it may request whole URLs.

    Raises `PlanError` with the line.
    """
    from jostle._engine import script_requests

    try:
        found = script_requests(script["file"], script["source"])
    except ValueError as error:
        raise PlanError(str(error), "docs/how-to/scripts.md says how a script is written") from None
    steps = [
        Step.model_validate({**asking(method, "/"), "name": name, "expect": {"status": statuses}})
        for method, name, statuses, _ in found
    ]
    return steps, any(anywhere for *_, anywhere in found)
