"""The search for a capacity from Python."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jostle.analysis.results import CapacityResult
from jostle.capacity.answer import capacity_of
from jostle.capacity.fitted import with_model
from jostle.capacity.question import question_of
from jostle.capacity.recorded import RecordedSearch
from jostle.capacity.run import measure
from jostle.record import RunRecord
from jostle.runner.observer import Tell, silent

__all__ = ["capacity"]


def capacity(
    target: str,
    slo: str | Sequence[str],
    *,
    clients: bool = False,
    most: float = math.inf,
    budget: str | None = None,
    quick: bool = False,
    into: Path | str = "runs",
    seed: int | None = None,
    tell: Tell = silent,
    **options: Any,
) -> CapacityResult:
    """The highest load at which `target` keeps `slo`: what `jostle capacity` does. It overloads the server.

    `target`: a URL, or a contestant with settings and path, "node:threadpool=8/fast/44". `slo`: "p99 < 100
    ms", "errors < 1 %", or several. `clients`: find a number of clients of a closed loop instead of a rate
    per second. `most`: the highest level. `budget`: the time for it, "4m". `tell` is told what is measured,
    and whether the text stays. `options`: what is sent, as for `hit`. `answer` of the result is "found" if
    its `capacity` has a value with an interval; its `sentences` say it in words. Raises `JostleError`.
    """
    slos = [slo] if isinstance(slo, str) else slo
    question = question_of(target, slos, options, closed=clients, most=most, budget=budget, quick=quick)
    folder = measure(question, Path(into), seed, tell)
    search = RecordedSearch(RunRecord.open(folder))
    return with_model(search, capacity_of(search))
