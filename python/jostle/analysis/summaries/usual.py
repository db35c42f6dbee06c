"""What spread over rounds is usual in a run: that of its cells, or the recorded one if there is only one."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from jostle.analysis.results.keys import Key
from jostle.analysis.stats.moderated import (
    TYPICAL_DF,
    TYPICAL_SD,
    Spread,
    Usual,
    UsualOf,
    fitted,
    typical,
)
from jostle.analysis.stats.over_rounds import RoundValue, round_quantile, within_rounds
from jostle.analysis.summaries.trial import cpu_per_request
from jostle.analysis.trials.data import TrialData
from jostle.quantiles import NAMED
from jostle.record import RunRecord

__all__ = ["of_service", "usual_in"]

SERVICE = "service "

TRIAL_METRICS: Mapping[str, Callable[[TrialData], RoundValue]] = {
    "throughput": lambda data: data.throughput,
    "server cpu": cpu_per_request,
}
"""What is recorded of whole trials; all else is a quantile of times."""


def usual_in(record: RunRecord, grouped: Mapping[Key, Sequence[TrialData]]) -> UsualOf:
    """The usual spread of a metric by its name, from the cells of a run and of earlier runs of its plan.

    None for a metric of which no typical spread was recorded. Computed when it is first asked for.
    """
    cells = [[data for data in trials if data.usable] for trials in grouped.values()]
    earlier = [entry for entry in record.journal if entry["event"] == "earlier runs"]
    runs = sum(entry["runs"] for entry in earlier)
    spreads = [spread for entry in earlier for spread in entry["spreads"]]

    @cache
    def usual(name: str) -> Usual | None:
        sd = TYPICAL_SD.get(name.removeprefix(SERVICE))
        if sd is None:
            return None
        before = [
            Spread((one["sd"] / sd) ** 2, one["df"])
            for one in spreads
            if one["metric"] == name and one["df"] > 0
        ]
        own = [_cell(trials, name, sd, known=not before) for trials in cells if len(trials) > 1]
        found = fitted([*before, *(cell for cell in own if cell is not None)])
        if found is None and before:
            found = before[0].joined(Spread(1.0, TYPICAL_DF))  # its own past, so however wild it is
        return Usual(sd, found, runs if before else 0)

    return usual


def of_service(usual: UsualOf) -> UsualOf:
    """The same for the service times, by the names of their quantiles."""
    return lambda name: usual(SERVICE + name)


def _cell(trials: Sequence[TrialData], name: str, sd: float, *, known: bool) -> Spread | None:
    """The variance of a cell as a multiple of the typical one; None unless each round has a value.

    `known`: what few requests explain is a part of the typical one.
    """
    variance_in_a_round = 0.0
    values: list[RoundValue]
    if name in TRIAL_METRICS:
        values = [TRIAL_METRICS[name](data) for data in trials]
    else:
        p = NAMED[name.removeprefix(SERVICE)]
        rounds = [data.service if name.startswith(SERVICE) else data.response for data in trials]
        values, variance_in_a_round = (
            [round_quantile(sample, p) for sample in rounds],
            within_rounds(rounds, p),
        )
    if not all(isinstance(value, float) and value > 0 for value in values):
        return None
    logs = [math.log(value) for value in values if isinstance(value, float)]
    return Spread.of(logs).times(1 / typical(sd, variance_in_a_round if known else 0.0).variance)
