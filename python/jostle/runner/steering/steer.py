"""Steers a run from anywhere on its machine, or stops it, and lets a run be steered."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from jostle.errors import JostleError, SteerRefused
from jostle.plan.change import Change, read_change
from jostle.record import RunRecord
from jostle.runner.steering.acknowledgement import Acknowledgement
from jostle.runner.steering.channel import NobodyThere, request, serving
from jostle.runner.steering.desk import SteeringDesk

__all__ = ["By", "steer", "steerable", "stop"]

By = Literal["command", "page", "python", "terminal"]
"""Where a change comes from."""


class _Request(TypedDict):
    change: str
    workload: str
    at_s: Annotated[float, Field(ge=0, le=1e9)] | None
    by: By


_REQUEST = TypeAdapter(_Request)

STOP = {"stop": True}


def steer(
    folder: Path | str,
    change: Change | str,
    *,
    workload: str = "",
    at_s: float | None = None,
    by: By = "python",
) -> Acknowledgement:
    """Change the load of the trial that runs now, and wait until its generators have acknowledged it.

    `folder`: of the run. `change`: "rate=500/s", "clients=50", "x2", "hold" or "next". `workload`: the
    measured one if it is not given; "background" for what runs beside it. `at_s`: from when on, in seconds
    from the start of the trial; as soon as all generators can, if it is not given. `by`: who wants it, for
    the record.

    Raises `BadValue` for a change that is none, `NotARun`, and `SteerRefused`, which says why nothing was
    changed.
    """
    if isinstance(change, str):
        change = read_change(change)
    folder = Path(folder)
    what = {"change": str(change), "workload": workload, "at_s": at_s, "by": by}
    return Acknowledgement(**_response(folder, what)["made"])


def stop(folder: Path | str) -> None:
    """End a run as Ctrl-C on its terminal does: no more is sent, and what was measured is reported. Returns
    once that begins.

    Raises `NotARun`, and `SteerRefused` if it is over, or cannot be stopped from outside.
    """
    _response(Path(folder), STOP)


def _response(folder: Path, what: dict[str, Any]) -> dict[str, Any]:
    try:
        response = request(folder, what)
    except NobodyThere:
        raise _nobody_there(RunRecord.open(folder)) from None
    if refused := response.get("refused"):
        raise SteerRefused(refused["message"], refused["hint"])
    return response


def _nobody_there(record: RunRecord) -> SteerRefused:
    if record.in_progress:
        return SteerRefused(
            f"{record.folder} runs, and nobody is reached through its folder: its file system has no "
            "sockets, or another version of jostle runs it",
            "run it --into a folder on a local disk",
        )
    return SteerRefused(
        f"{record.folder} is over: it can be neither changed nor stopped any more",
        f"what it found: jostle report {record.folder}",
    )


@contextlib.contextmanager
def steerable(folder: Path, desk: SteeringDesk) -> Iterator[None]:
    """Inside, `steer` and `stop` reach the desk by the run's folder."""

    def respond(what: Any) -> dict[str, Any]:
        try:
            if what == STOP:
                desk.stop()
                return {}
            asked = _REQUEST.validate_python(what)
            made = desk.steer(
                read_change(asked["change"]), workload=asked["workload"], by=asked["by"], at_s=asked["at_s"]
            )
        except JostleError as error:
            return {"refused": {"message": error.message, "hint": error.hint}}
        except ValidationError:
            hint = "steer it by the jostle that runs it"
            return {"refused": {"message": "this is no change that this version knows", "hint": hint}}
        return {"made": made.as_json()}

    with serving(folder, respond):
        yield
