"""The finding of one comparison beside slow requests, as a sentence that its numbers support."""

import math
from dataclasses import dataclass
from typing import Literal

from jostle.analysis.results import Estimate, Mode, StarvationResult
from jostle.analysis.stats.enough import TOO_FEW_ROUNDS
from jostle.analysis.topics.starvation.blocking import LONG_S, WaitsFor
from jostle.formatting import percent, plural, with_interval
from jostle.units import format_duration

__all__ = ["Meanwhile", "sentence"]

HARMLESS, SEVERE, TOTAL = 0.1, 0.5, 0.9
"""Thresholds: shares of the throughput while the slow request runs, and of the slow request's time."""

NEARLY_EVERYTHING = 0.999
"""Of a larger loss of throughput, only the lower end of its interval is reported."""

MAX_WAIT_SHARE = 0.1
"""If the median grows by less than this share of the slow request's time, most fast requests do not wait."""

QUEUED = 1.5
"""If the p99 is more than this many times as long as the slow requests, they alone do not explain it."""


@dataclass(frozen=True)
class Meanwhile:
    """What happened while a slow request ran."""

    share: float  # share of the time during which one ran
    wait_s: float | None  # median response time of the fast requests
    clients: int  # that send the fast requests
    slow_clients: int = 1  # how many slow requests run at once


def sentence(
    s: StarvationResult,
    loop: Literal["closed", "open"],
    meanwhile: Meanwhile,
    waits: WaitsFor,
    *,
    trusted: bool,
) -> str:
    """The finding; `waits`: what fast requests wait for (`jostle.analysis.topics.starvation.blocking`)."""
    text = _closed(s, meanwhile, waits) if loop == "closed" else _open(s, meanwhile, waits)
    text += _two_modes(s.modes)
    known = (
        (s.index.value is not None or s.index.rounds) if loop == "closed" else s.blocking.value is not None
    )
    return text if trusted or not known else f"Unreliable (invalid trials): {text}"


def _two_modes(found: list[Mode]) -> str:
    """The two modes, which an average would hide."""
    if not found:
        return ""
    left = [
        f"in {plural(m.rounds, 'round')} {with_interval(Estimate(m.mean, m.low, m.high, 'share'))}"
        for m in found
    ]
    return (
        f" The rounds fall into two groups, fixed when the server starts: {left[0]} of the throughput "
        f"remains, {left[1]}."
    )


def _closed(s: StarvationResult, meanwhile: Meanwhile, waits: WaitsFor) -> str:
    index, name = s.index, s.contestant
    if index.value is None and not index.rounds:
        return f"It is unknown whether a slow request starves {name}: {index.note}."
    if index.value is None:
        return _round_by_round(s)
    if index.low is None or index.high is None:
        return (
            f"In {_rounds(index.n)}, {name} lost {percent(index.value)} of its throughput beside a slow "
            f"request, and {_longest(s.with_response['max'], 'waited')}. {TOO_FEW_ROUNDS.capitalize()}."
        )
    longest = _longest(s.with_response["max"], "wait")
    lost, low, high = _lost(s, meanwhile)
    if low >= SEVERE and waits == "undecided":
        return f"{name} slows down while a slow request runs: {longest}. {lost} {_unknown_wait(s)}"
    if low >= SEVERE and waits == "a turn":
        return _turns(s, meanwhile, lost)
    if low >= TOTAL:
        return f"While {_running('one', meanwhile)}, {name} answers no fast one: {longest}. {lost}"
    if low >= SEVERE:
        return f"While {_running('one', meanwhile)}, {name} answers few fast ones: {longest}. {lost}"
    if high <= HARMLESS:
        return f"{name} keeps serving while a slow request runs, and {longest}. {lost}"
    if high >= SEVERE:
        return (
            f"Undecided: {name} lost {percent(index.value)} of its throughput beside a slow request, but "
            "the rounds differ too much. More rounds may decide it."
        )
    if low <= 0:
        return f"{name} loses no more throughput beside a slow request than noise could explain. {lost}"
    return f"{name} slows down while a slow request runs, but keeps serving: {longest}. {lost}"


def _round_by_round(s: StarvationResult) -> str:
    """For rounds that lie too far apart for a mean: what all of them say, or that they disagree."""
    name, lowest, highest, n = s.contestant, min(s.index.rounds), max(s.index.rounds), len(s.index.rounds)
    between = f"between {percent(lowest)} and {percent(highest)}"
    far = "The rounds lie too far apart for a mean"
    if lowest >= SEVERE:
        return (
            f"Beside a slow request, {name} lost {between} of the trial’s throughput, depending on the "
            f"round. {far}."
        )
    if highest <= HARMLESS:
        return (
            f"Beside a slow request, {name} lost at most {percent(max(0.0, highest))} of the trial’s "
            f"throughput in each of {_rounds(n)}. {far}."
        )
    return f"Undecided: in {_rounds(n)}, {name} lost {between} of the trial’s throughput. {far}."


def _lost(s: StarvationResult, meanwhile: Meanwhile) -> tuple[str, float, float]:
    """A sentence on the loss, and the ends of its share of the throughput while the slow request runs.

    Measured within each trial if the slow request ends before it does. Unlike the index, this does not depend
    on how much of the window the slow request fills, which differs by round if the machine's speed changes.
    """
    left = s.left
    if left.value is not None and left.low is not None and left.high is not None:
        lost = Estimate(1 - left.value, 1 - left.high, 1 - left.low, "share", n=left.n)
        nearly_all = 1 - left.value > NEARLY_EVERYTHING
        share = f"at least {percent(1 - left.high)}" if nearly_all else with_interval(lost)
        whole = (
            f"; over the whole trial, {with_interval(s.index, 'share')}" if s.index.value is not None else ""
        )
        return (
            f"In that time, {s.contestant} loses {share} of its throughput{whole}.",
            1 - left.high,
            1 - left.low,
        )
    low, high = ((bound or 0.0) / (meanwhile.share or 1) for bound in (s.index.low, s.index.high))
    return f"{s.contestant} loses {with_interval(s.index, 'share')} of the trial’s throughput.", low, high


def _turns(s: StarvationResult, meanwhile: Meanwhile, lost: str) -> str:
    median = f"median {format_duration(meanwhile.wait_s)}, " if meanwhile.wait_s is not None else ""
    waits = f"{median}longest {_time(s.with_response['max'])}"
    clients = "the only client" if meanwhile.clients == 1 else f"its {meanwhile.clients} clients"
    share = f" ({percent(meanwhile.share)} of the trial)" if meanwhile.share < 1 else ""
    p99 = s.with_response["p99"].value
    few = meanwhile.wait_s is not None and p99 is not None and p99 < meanwhile.wait_s
    rare = " A client that waits sends nothing, so these are few: p50 and p99 of the whole trial are shorter."
    return (
        f"While {s.contestant} works on a slow request{share}, each fast request of {clients} waits until "
        f"the slow one is interrupted ({waits}). {lost}{rare if few else ''}"
    )


def _unknown_wait(s: StarvationResult) -> str:
    return (
        f"Slow requests of {_time(s.slow_s)} are too short to tell whether fast ones wait for their end or "
        f"for a time slice; {format_duration(LONG_S)} would be long enough."
    )


def _open(s: StarvationResult, meanwhile: Meanwhile, waits: WaitsFor) -> str:
    blocking, name = s.blocking, s.contestant
    if blocking.value is None or s.slow_s.value is None:
        return f"It is unknown whether slow requests block {name}: {blocking.note}."
    before, after = s.alone_response["p99"], s.with_response["p99"]
    change = f"p99 is {_time(after)} beside slow requests of {_time(s.slow_s)}, and {_time(before)} alone"
    if blocking.low is None or (blocking.high is None and not blocking.bound):
        return f"In {_rounds(blocking.n)} of {name}, {change}. {TOO_FEW_ROUNDS.capitalize()}."
    low = blocking.low
    high = math.inf if blocking.high is None else blocking.high
    if low >= SEVERE:
        return _delayed(s, meanwhile, waits, change)
    if high <= HARMLESS:
        return f"{name} keeps answering while slow requests run: {change}."
    if high >= SEVERE and (low <= HARMLESS or not blocking.bound):
        return (
            f"Undecided for {name}: {change}, but the rounds differ too much{_ends(after)}. "
            "More rounds may decide it."
        )
    if low <= 0:
        return f"Slow requests delay {name}'s fast ones by no more than noise could explain: {change}."
    part = "at least" if blocking.bound else "only"
    return f"Slow requests delay {name}'s fast ones by {part} part of a slow one's duration: {change}."


def _ends(found: Estimate) -> str:
    if len(found.rounds) < 2:
        return ""
    low, high = (format_duration(end) for end in (min(found.rounds), max(found.rounds)))
    return f" ({low} to {high})"


def _delayed(s: StarvationResult, meanwhile: Meanwhile, waits: WaitsFor, change: str) -> str:
    """For a p99 that is longer by half of a slow request or more."""
    name, median = s.contestant, s.with_response["p50"]
    if waits == "undecided":
        return f"{_late(s, f' to {name}', change)}. {_unknown_wait(s)}"
    if waits == "a turn":
        return (
            f"{name} keeps serving while slow requests run, but {_late(s, '', change)}. "
            "They wait for a time slice, not for the end of a slow request: beside slow requests of many "
            "time slices, fast ones are answered before these end."
        )
    if not median.bound and _grown(s) < MAX_WAIT_SHARE:
        running = percent(meanwhile.share)
        return (
            f"While a slow request runs, {running} of the time, fast ones to {name} can wait: {change}; "
            f"median {_time(median)}."
        )
    queue = (
        " The p99 is longer than slow requests take: fast ones queue up." if _queue_up(s, meanwhile) else ""
    )
    ends = (
        "no slow one runs"
        if meanwhile.slow_clients == 1
        else f"fewer than {meanwhile.slow_clients} slow ones run"
    )
    return f"{name} answers fast requests only while {ends}: {change}.{queue}"


def _late(s: StarvationResult, whose: str, change: str) -> str:
    """How many are late: at least half of the fast requests if the median grows too, else 1 in 100."""
    before, after = s.alone_response["p50"], s.with_response["p50"]
    if not after.bound and _grown(s) < MAX_WAIT_SHARE:
        return f"1 in 100 fast requests{whose} is late: {change}"
    medians = f"p50 is {_time(after)}, and {_time(before)} alone"
    return f"at least half of the fast requests{whose} wait: {medians}; {change}"


def _running(article: str, meanwhile: Meanwhile) -> str:
    many = meanwhile.slow_clients
    return f"{article} slow request runs" if many == 1 else f"{many} slow requests run"


def _queue_up(s: StarvationResult, meanwhile: Meanwhile) -> bool:
    """Whether 1 in 100 fast requests waits for longer than all running slow ones take one after another."""
    after, slow = s.with_response["p99"].value, s.slow_s.value
    return after is not None and slow is not None and after > QUEUED * slow * meanwhile.slow_clients


def _grown(s: StarvationResult) -> float:
    """By how much the median grows, as a share of the slow request's time."""
    before, after, slow = s.alone_response["p50"].value, s.with_response["p50"].value, s.slow_s.value
    return 1.0 if before is None or after is None or not slow else (after - before) / slow


def _rounds(n: int) -> str:
    return "the only round" if n == 1 else f"{n} rounds"


def _longest(largest: Estimate, wait: str) -> str:
    if largest.value is None:
        return "no fast request was answered"
    if largest.bound:
        return f"a fast request waited for {format_duration(largest.value)} without a response"
    return f"fast requests {wait} for up to {format_duration(largest.value)}"


def _time(estimate: Estimate) -> str:
    if estimate.value is None:
        return "unknown"
    return ("at least " if estimate.bound else "") + format_duration(estimate.value)
