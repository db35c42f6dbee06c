"""Checks of the generators themselves: whether all bore their share to the end, and all was recorded."""

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from jostle.analysis.results import Check
from jostle.analysis.stats.sample import from_histograms, quantile_of
from jostle.analysis.trials.data import TrialData
from jostle.analysis.validity.figures import TIMES
from jostle.formatting import percent
from jostle.record.verdict import Verdict
from jostle.units import format_count, format_duration

if TYPE_CHECKING:
    from jostle.histogram import Histogram

__all__ = [
    "accounts_closed",
    "all_bore_their_share",
    "all_recorded",
    "busiest",
    "saw_the_same",
    "started_together",
]

MISSING_INVALID = 0.05
"""The same share as for requests that were due but not sent."""

APART_SUSPECT_S = 0.005

DIFFERENT, DIFFERENT_S, ENOUGH = 1.25, 100e-6, 200
"""Medians of service times differ if they are apart by more than this factor and more than this time; each
generator needs this many responses."""


def all_bore_their_share(data: TrialData) -> Check | None:
    """Generators that died: which share of the offered load is missing, and since when."""
    count = len(data.trial.description.get("generators", ()))
    lost = data.trial.generators_lost
    if count < 2:
        return None
    if not lost:
        return Check(
            "generators", Verdict.VALID, 0, 0, "share", f"all {count} generators bore their share to the end"
        )
    whole_s = max(data.duration_s, data.planned_s or 0.0)
    missing = sum(_missing_s(one, whole_s) / whole_s / one["of"] for one in lost) if whole_s else 1.0
    verdict = Verdict.INVALID if missing > MISSING_INVALID else Verdict.SUSPECT
    each = "; ".join(f"{one['why']}, {_when(one)}" for one in lost)
    message = f"{percent(missing)} of the offered load is missing: {each}"
    remedy = "run it again; look for a lack of memory (dmesg)"
    threshold = MISSING_INVALID if verdict is Verdict.INVALID else 0
    return Check("generators", verdict, missing, threshold, "share", message, remedy, cause="generator")


def _missing_s(lost: Mapping[str, Any], whole_s: float) -> float:
    until_ns = lost.get("until_ns")
    until_s = whole_s if until_ns is None else float(until_ns) / 1e9
    return max(0.0, until_s - float(lost["at_ns"]) / 1e9)


def _when(lost: Mapping[str, Any]) -> str:
    after = format_duration(lost["at_ns"] / 1e9)
    if lost.get("until_ns") is None:
        return f"after {after}"
    until = format_duration(lost["until_ns"] / 1e9)
    return f"from {after} to {until}, when {lost['moved_to']} took over its share"


def accounts_closed(data: TrialData) -> Check | None:
    """What generators on other machines have in their spools but not in the record; None without any."""
    accounts = data.trial.generator_accounts
    if not accounts:
        return None
    unknown = [f"generator {a['generator']} on {a['host']}" for a in accounts if not a["whole"]]
    tallies = [(a, a["only_in_log"]) for a in accounts if a["whole"]]
    only = [(a, tally) for a, tally in tallies if tally is not None and tally["sent"]]
    sent = sum(tally["sent"] for _, tally in only)
    if unknown:
        message = f"the spool of {', '.join(unknown)} was not fetched: it may hold requests that are not here"
        return Check(
            "accounts",
            Verdict.SUSPECT,
            len(unknown),
            0,
            "logs",
            message,
            "when it is back: jostle collect RUN",
            cause="generator",
        )
    if only:
        each = ", ".join(
            f"{format_count(tally['sent'])} of generator {a['generator']} on {a['host']} up to "
            f"{format_duration(tally['until_ns'] / 1e9)}"
            for a, tally in only
        )
        message = f"{format_count(sent)} requests of generators that were cut off are in no figure: {each}"
        return Check(
            "accounts",
            Verdict.SUSPECT,
            sent,
            0,
            "requests",
            message,
            "they are in the trial's folder: generators/",
            cause="generator",
        )
    message = "all that the generators recorded has come"
    return Check("accounts", Verdict.VALID, 0, 0, "requests", message)


def busiest(data: TrialData) -> str:
    """The generator whose thread is the busiest, by its number if there are several."""
    generators, shares = data.trial.description.get("generators", ()), data.generator_cpus
    if len(generators) < 2 or not shares:
        return "the generator"
    number = shares.index(max(shares)) * len(generators) // len(shares)
    return f"generator {number + 1} of {len(generators)}{_on(generators[number])}"


def _on(generator: Mapping[str, Any]) -> str:
    return f" on {generator['host']}" if generator.get("host") else ""


def saw_the_same(data: TrialData) -> Check | None:
    """The median service time of each generator against that of all others."""
    generators = data.trial.description.get("generators", ())
    if len(generators) < 2:
        return None
    seen = {g["number"]: data.trial.generator_service(g["number"]) for g in generators}
    if any(histogram.total < ENOUGH for histogram in seen.values()):
        return None
    medians = {number: _median([histogram]) for number, histogram in seen.items()}
    odd, usual = max(
        ((n, _of_the_others(seen, n)) for n in medians),
        key=lambda pair: abs(math.log(max(medians[pair[0]], 1e-6) / max(pair[1], 1e-6))),
    )
    low, high = sorted((max(medians[odd], 1e-6), max(usual, 1e-6)))
    if high / low <= DIFFERENT or high - low <= DIFFERENT_S:
        message = "all generators saw the same service times"
        return Check("same view", Verdict.VALID, high / low, DIFFERENT, "ratio", message)
    one = next(g for g in generators if g["number"] == odd)
    message = (
        f"generator {odd} of {len(generators)}{_on(one)} saw a median service time of "
        f"{format_duration(medians[odd])}, the others {format_duration(usual)}"
    )
    remedy = "is its network longer, or is it overloaded? Its own figures: intervals.hlog, generator.N"
    return Check(
        "same view", Verdict.SUSPECT, high / low, DIFFERENT, "ratio", message, remedy, TIMES, "generator"
    )


def _of_the_others(seen: Mapping[int, "Histogram"], number: int) -> float:
    """The median service time of all other generators, in seconds."""
    return _median(histogram for other, histogram in seen.items() if other != number)


def _median(histograms: "Iterable[Histogram]") -> float:
    return quantile_of(from_histograms(histograms), 0.5) or 0.0


def started_together(data: TrialData) -> Check | None:
    """How far apart the first and the last generator started."""
    starts = [one["started_unix_ns"] for one in data.trial.description.get("generators", ())]
    if len(starts) < 2:
        return None
    apart_s = (max(starts) - min(starts)) / 1e9
    verdict = Verdict.SUSPECT if apart_s > APART_SUSPECT_S else Verdict.VALID
    message = f"the generators started within {format_duration(apart_s)} of one another"
    remedy = "" if verdict is Verdict.VALID else "the machine is overloaded: use fewer generator processes"
    return Check("start", verdict, apart_s, APART_SUSPECT_S, "s", message, remedy, cause="machine")


def all_recorded(data: TrialData) -> Check | None:
    """Rows and threads of the generator that were lost; None if none were."""
    rows, workers = data.counts.rows_lost, data.counts.workers_lost
    if workers:
        message = f"{format_count(workers)} threads of the generator died: their share of the load is missing"
        remedy = "this should not happen: please report it with the run folder"
        return Check("record", Verdict.INVALID, workers, 0, "threads", message, remedy, cause="generator")
    if rows:
        message = (
            f"{format_count(rows)} rows were left out: the disk or this machine was too slow, "
            "or more than a million requests were never sent"
        )
        remedy = "remove rows from the plan; histograms and counts are complete"
        return Check("record", Verdict.SUSPECT, rows, 0, "rows", message, remedy, ("the rows",), "machine")
    return None
