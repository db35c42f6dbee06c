"""What spread over rounds is usual in a run: that of its cells, or the recorded one if there is only one."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from jostle.analysis.results.keys import Key
from jostle.analysis.stats.moderated import TYPICAL_SD, Spread, Usual, UsualOf, fitted, typical
from jostle.analysis.stats.over_rounds import Value, round_quantile, within_rounds
from jostle.analysis.summaries.trial import cpu_per_request
from jostle.analysis.trials.data import TrialData
from jostle.quantiles import NAMED

__all__ = ["of_service", "usual_in"]

SERVICE = "service "

OF_TRIALS: Mapping[str, Callable[[TrialData], Value]] = {
    "throughput": lambda data: data.throughput,
    "server cpu": cpu_per_request,
}
"""What is recorded of whole trials; all else is a quantile of times."""


def usual_in(grouped: Mapping[Key, Sequence[TrialData]]) -> UsualOf:
    """The usual spread of a metric by its name; None where none was recorded and the run has only one cell.

    Computed for a metric when it is first asked for.
    """
    cells = [[data for data in trials if data.usable] for trials in grouped.values()]

    @cache
    def usual(name: str) -> Usual | None:
        sd = TYPICAL_SD.get(name.removeprefix(SERVICE))
        if sd is None:
            return None
        found = (_cell(trials, name, sd) for trials in cells if len(trials) > 1)
        return Usual(sd, fitted([cell for cell in found if cell is not None]))

    return usual


def of_service(usual: UsualOf) -> UsualOf:
    """The same for the service times, by the names of their quantiles."""
    return lambda name: usual(SERVICE + name)


def _cell(trials: Sequence[TrialData], name: str, sd: float) -> Spread | None:
    """The variance of a cell as a multiple of the typical one; None unless each round has a value."""
    within = 0.0
    values: list[Value]
    if name in OF_TRIALS:
        values = [OF_TRIALS[name](data) for data in trials]
    else:
        p = NAMED[name.removeprefix(SERVICE)]
        rounds = [data.service if name.startswith(SERVICE) else data.response for data in trials]
        values, within = [round_quantile(sample, p) for sample in rounds], within_rounds(rounds, p)
    if not all(isinstance(value, float) and value > 0 for value in values):
        return None
    logs = [math.log(value) for value in values if isinstance(value, float)]
    return Spread.of(logs).times(1 / typical(sd, within).variance)
