"""What a page draws of a run, as plain data: figures as reports write them, numbers for its charts."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jostle.analysis.results import Check, Estimate, Validity
from jostle.formatting import amount, formatted
from jostle.live.column import Column
from jostle.live.followed import FollowedRun, FollowedTrial
from jostle.live.state import Rates, TrialState
from jostle.record.outcomes import ENDED_BY_STOP, Outcome, failures, outcome_label
from jostle.record.steered import described
from jostle.units import format_count, format_duration, format_rate
from jostle.web.drawn_parts import drawn_parts

__all__ = ["drawn_columns", "drawn_run", "drawn_trial"]


def drawn_run(run: FollowedRun) -> Mapping[str, Any]:
    """Its trials and how they ended, whether it goes on, and what happened lately."""
    state = run.state
    return {
        "status": state.status,
        "why": state.why,
        "newest": state.newest,
        "trials": [
            {
                "number": place.number,
                "contestant": place.contestant,
                "workload": place.workload,
                "round": place.round,
                "status": place.status,
                "verdict": place.verdict and {"word": place.verdict, "symbol": place.verdict.symbol},
            }
            for place in state.trials
        ],
        "journal": [{"at": event.at_unix_ns // 1_000_000, "text": event.text} for event in state.events],
    }


def drawn_trial(
    state: TrialState,
    trial: FollowedTrial,
    limits: Sequence[Mapping[str, Any]],
    final: Validity | None = None,
) -> dict[str, Any]:
    """All that is known of a trial but its columns. `limits`: what is required of its figures. `final`: the
    verdict, once the trial is over.
    """
    record = trial.running.record
    return {
        "contestant": record.contestant,
        "workload": record.workload,
        "round": record.round,
        "over_s": state.over_s,
        "past": format_duration(state.over_s),
        "over": final is not None,
        "planned_s": state.planned_s,
        "planned": None if state.planned_s is None else format_duration(state.planned_s),
        "verdict": drawn_validity(final or state.validity),
        "rates": drawn_rates(state.rates),
        "so_far": drawn_rates(state.rates_so_far),
        "in_flight": format_count(state.in_flight),
        "not_sent": format_count(state.not_sent) if state.not_sent else None,
        "times": drawn_times(state.times),
        "latest": {name: amount(value, "s") for name, value in state.latest.items()},
        "late": None if state.late_s is None else format_duration(state.late_s),
        "outcomes": drawn_outcomes(state.outcomes),
        "failed": format_count(sum(failures(state.outcomes).values())),
        "whole": {name: {"value": e.value, "bound": e.bound} for name, e in state.times.items()},
        "overloaded": state.overloaded,
        "limits": limits,
        "labels": {kind: outcome_label(kind) for kind in state.outcomes},
        "cpu": _cpu(state),
        "parts": drawn_parts(state.parts, over=final is not None),
        "usage": {name: [usage.times_s, usage.cores] for name, usage in trial.running.usage().items()},
        "steered": [
            {"at": format_duration(one["at_ns"] / 1e9), "what": described(one), "by": one["by"]}
            for one in state.steered
        ],
        "reading": trial.behind,
    }


def drawn_rates(rates: Rates) -> Mapping[str, str | None]:
    offered = rates.offered_per_s
    return {
        "offered": None if offered is None else format_rate(offered),
        "sent": format_rate(rates.sent_per_s),
        "answered": format_rate(rates.answered_per_s),
    }


def drawn_times(times: Mapping[str, Estimate]) -> Sequence[Mapping[str, str]]:
    """Quantiles with their intervals."""
    return [
        {"name": name, "value": written.value, "interval": written.interval, "note": written.note}
        for name, written in ((name, formatted(estimate)) for name, estimate in times.items())
    ]


def drawn_outcomes(outcomes: Mapping[str, int]) -> Sequence[Mapping[str, Any]]:
    """The right ones first, then the most frequent failures."""
    others = sorted((kind for kind in outcomes if kind != Outcome.OK), key=lambda kind: -outcomes[kind])
    return [
        {
            "kind": kind,
            "label": outcome_label(kind) if kind != Outcome.OK else "ok",
            "count": format_count(outcomes.get(kind, 0)),
            "failed": kind != Outcome.OK and kind not in ENDED_BY_STOP,
        }
        for kind in (Outcome.OK, *others)
    ]


def drawn_validity(validity: Validity) -> Mapping[str, Any]:
    """The verdict, and the checks: those that failed first, then those that say something notable."""
    first = [*validity.failed, *validity.notable]
    rest = [check for check in validity.checks if check not in first]
    return {
        "word": validity.verdict,
        "symbol": validity.verdict.symbol,
        "told": [_check(check) for check in first],
        "passed": [_check(check) for check in rest],
    }


def _check(check: Check) -> Mapping[str, Any]:
    verdict = check.of_the_trial
    return {
        "name": check.name,
        "word": verdict,
        "symbol": verdict.symbol,
        "message": check.message,
        "remedy": check.remedy,
        "touches": list(check.affects),
    }


def _cpu(state: TrialState) -> Sequence[Mapping[str, str]]:
    cpu = state.cpu
    of = f" of {cpu.cores}" if cpu.cores else ""
    used = [("server", cpu.server, ""), ("database", cpu.database, ""), ("machine", cpu.machine, of)]
    used.append(("generator", cpu.generator, ""))
    return [{"name": name, "cores": f"{cores:.2f}{rest}"} for name, cores, rest in used if cores is not None]


def drawn_columns(columns: Iterable[Column]) -> str:
    """Columns with all that is drawn of them, as JSON. It is written a column at a time: as numbers of Python
    all of them would take ten times the memory.
    """
    return f"[{', '.join(json.dumps(_column(column)) for column in columns)}]"


def _column(column: Column) -> Mapping[str, Any]:
    return {
        **column.as_data(),
        "sent": column.sent,
        "in_flight": column.in_flight,
        "late_s": column.late_s,
        "generator": column.generator,
    }
