"""What a page holds of single trials, so that a range of time can be chosen in it without the record.

Histograms add, so the page computes the figures of any range exactly. What it holds is bounded: neighbouring
intervals are merged until a trial fits, and of very many trials only some are there.
"""

import base64
import json
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

from jostle.analysis.results import Mark, RunResult, TrialResult
from jostle.analysis.trials.data import TrialData
from jostle.analysis.trials.outage import Outage
from jostle.errors import BadValue
from jostle.live.column import MEASURES, Column, Columns, in_pairs
from jostle.plan.criteria.conditions import Condition, requirement
from jostle.quantiles import LEVELS
from jostle.record import TrialRecord
from jostle.text import one_line

__all__ = ["LIMITED", "as_limit", "as_marks", "columns_of", "trials_data"]

MAX_TRIALS = 40
MAX_CHARACTERS = 1_200_000
"""Of all trials of a page together."""

FEWEST_COLUMNS = 16

LIMITED = (*LEVELS, "max", "errors", "throughput")
"""The metrics of requirements that a range has, too."""


def trials_data(result: RunResult, records: Sequence[TrialRecord]) -> list[dict[str, Any]]:
    """One object for each trial, as `report/scripts/trial_figure.js` shows it: of each contestant and
    workload the first rounds, if there are more than `MAX_TRIALS`.
    """
    by_number = {record.number: record for record in records}
    usable = [t for t in result.trials if t.number in by_number and t.status != "failed" and t.timeline.t_s]
    kept = sorted(sorted(usable, key=lambda t: t.round)[:MAX_TRIALS], key=lambda t: t.number)
    room = MAX_CHARACTERS // max(1, len(kept))
    return [
        {"name": name, **_of_one(result, trial, by_number[trial.number], room)}
        for name, trial in zip(_names(kept), kept, strict=True)
    ]


def columns_of(data: TrialData) -> Sequence[Column]:
    """The columns of a recorded trial, with the requests that a closed loop did not send in an outage."""
    measured = [data.trial.interval_histograms(measure) for measure in MEASURES]
    columns = Columns()
    busiest = data.counts.busiest.tolist()
    for interval, generator, *histograms in zip(data.trial.intervals, busiest, *measured, strict=True):
        columns.add(Column.of(interval, dict(zip(MEASURES, histograms, strict=True)), generator))
    return list(_with_missed(columns.whole(), data))


def _with_missed(columns: Sequence[Column], data: TrialData) -> Iterator[Column]:
    """What an outage kept from being sent, spread evenly over it, so that the sum stays whole."""
    away = [sum(_within(column, outage) for outage in data.outages) for column in columns]
    whole_s = sum(away)
    missed = data.missed if whole_s else 0
    before_s, given = 0.0, 0
    for column, seconds in zip(columns, away, strict=True):
        before_s += seconds
        so_far = round(missed * before_s / whole_s) if missed else 0
        yield column.with_missed(so_far - given)
        given = so_far


def _within(column: Column, outage: Outage) -> float:
    return max(0.0, min(column.end_s, outage.end_s) - max(column.start_s, outage.start_s))


def _of_one(result: RunResult, trial: TrialResult, record: TrialRecord, room: int) -> dict[str, Any]:
    data = TrialData(record)
    columns = columns_of(data)
    while len(packed := _packed(columns)) > room and len(columns) > FEWEST_COLUMNS:
        columns = in_pairs(columns)
    return {
        "end": columns[-1].end_us,
        "offered": trial.offered_per_s is not None,
        "overloaded": data.overloaded,
        "whole": {name: {"value": e.value, "bound": e.bound} for name, e in trial.response.items()},
        "limits": list(_limits(result, trial)),
        "marks": as_marks(trial.timeline.marks),
        "columns": packed,
    }


def _packed(columns: Sequence[Column]) -> str:
    text = json.dumps([column.as_data() for column in columns], separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def _limits(result: RunResult, trial: TrialResult) -> Iterator[dict[str, Any]]:
    """What is required of the trial's figures, as far as a range has them."""
    for one in result.requirements:
        if (one.contestant, one.workload) != (trial.contestant, trial.workload) or one.part or one.against:
            continue
        try:
            condition = requirement(one.that)
        except BadValue:
            continue
        if condition.metric in LIMITED:
            yield as_limit(condition)


def as_limit(condition: Condition) -> dict[str, Any]:
    """A condition as `report/scripts/trial_figure.js` judges a range by it."""
    return {
        "text": one_line(condition.text),
        "metric": condition.metric,
        "limit": condition.limit,
        "below": condition.below,
        "touching": condition.touching,
    }


def as_marks(marks: Sequence[Mark]) -> list[dict[str, Any]]:
    """Moments as `report/scripts/heat_map.js` marks them."""
    return [{"at": mark.at_s, "kind": mark.kind, "text": one_line(mark.text)} for mark in marks]


def _names(trials: Sequence[TrialResult]) -> list[str]:
    """What tells the trials apart."""
    parts = [(t.contestant, t.workload, f"round {t.round}") for t in trials]
    differ = [len(set(column)) > 1 for column in zip(*parts, strict=True)]
    told = ([p for p, d in zip(one, differ, strict=True) if d] or [one[0]] for one in parts)
    return [one_line(", ".join(parts)) for parts in told]
