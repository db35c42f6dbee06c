"""Every sentence that analysis and charts print: numbers that must produce it, and numbers that must not.

The last test fails where one of these modules can return a sentence that no row of the table produces.
"""

import ast
import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, Literal

import numpy as np
import pytest

from jostle.analysis.compare import sentences as comparing
from jostle.analysis.results import Comparison, Difference, Estimate, Mode, Shift, Starvation
from jostle.analysis.topics import starvation_sentences as starving
from jostle.analysis.topics.blocking import Answer
from jostle.analysis.topics.starvation_sentences import Meanwhile
from jostle.record.verdict import Verdict
from jostle.report.charts import titles
from jostle.report.views import Panel, Series, View
from support.results import distribution

MODULES: tuple[ModuleType, ...] = (starving, comparing, titles)


def e(value: float | None, low: float | None = None, high: float | None = None, **more: Any) -> Estimate:
    return Estimate(value, low, high, **{"unit": "s", "n": 5, **more})


def near(value: float) -> Estimate:
    return e(value, value * 0.98, value * 1.02)


def share(low: float, high: float) -> Estimate:
    return e((low + high) / 2, low, high, unit="")


NO_INTERVAL = e(0.5, unit="")
UNKNOWN = e(None, unit="", note="too few requests")


def apart(*values: float) -> Estimate:
    """Rounds without a mean."""
    note = "the rounds fall into two groups more than tenfold apart, so no mean is given"
    return e(None, unit="", n=len(values), note=note, rounds=values)


def quantiles(p50: float, p99: float, longest: float | None, bound: str = "") -> dict[str, Estimate]:
    ends = e(longest, bound=bound) if longest else e(None)
    return {
        "p50": near(p50),
        "p99": replace(near(p99), bound=bound, high=None) if bound else near(p99),
        "max": ends,
    }


CALM = quantiles(0.0004, 0.002, 0.003)


def starved(
    loop: Literal["closed", "open"],
    *,
    index: Estimate = UNKNOWN,
    left: Estimate = UNKNOWN,
    blocking: Estimate = UNKNOWN,
    beside: dict[str, Estimate] = CALM,
    slow_s: float = 4.5,
    share_s: float = 0.9,
    wait_s: float | None = None,
    clients: int = 1,
    slow_clients: int = 1,
    waits: Answer = "its end",
    modes: tuple[Mode, ...] = (),
    trusted: bool = True,
) -> str:
    found = Starvation(
        "form", "", "x", "alone", "beside", near(500), near(100), index, left, blocking, near(slow_s), CALM,
        beside, None, None, "", list(modes),
    )  # fmt: skip
    meanwhile = Meanwhile(share_s, wait_s, clients, slow_clients)
    return starving.sentence(found, loop, meanwhile, waits, trusted=trusted)


def difference(quantity: str, finding: Any, ratio: Estimate, **more: Any) -> Difference:
    unit = {"throughput": "/s", "errors": "share"}.get(quantity, "s")
    a, b = more.pop("a", e(0.010, unit=unit)), more.pop("b", e(0.012, unit=unit))
    known = e(0.002, 0.001, 0.003, unit=unit) if ratio.low is not None else e(None, note=ratio.note)
    moved, verdict = more.pop("moved", known), more.pop("verdict", Verdict.VALID)
    return Difference(quantity, a, b, moved, ratio, finding, more.pop("within", None), "", verdict)


def words(quantity: str, finding: Any, ratio: Estimate, **more: Any) -> str:
    return comparing.in_words(difference(quantity, finding, ratio, **more), "old", "new")


BROKEN = {"a": e(0.0, unit="/s"), "b": e(500, unit="/s"), "moved": e(500, 490, 510, unit="/s")}
"""The old server answered nothing, so there is no ratio."""

MORE, LESS, BOTH = e(1.2, 1.1, 1.3), e(0.8, 0.7, 0.9), e(1.02, 0.9, 1.15)


def summed(
    *differences: Difference,
    rounds: int = 5,
    paired: bool = True,
    unpaired: int = 0,
    unit: str = "round",
    verdict: Verdict = Verdict.VALID,
) -> str:
    c = Comparison(
        "w", "", "old", "new", (rounds, rounds), paired, verdict, list(differences), e(0.1), Shift(), "",
        unit=unit, unpaired=unpaired,
    )  # fmt: skip
    return comparing.summary(c)


def panel(name: str, *, index: float | None = None, blocking: float | None = None, p99: float | None = 0.002,
          alone: bool = True, n: int = 50) -> Panel:  # fmt: skip
    times = distribution(np.linspace(0.001, 0.002, n))
    beside = Series("with slow", "w", {"p99": e(p99)} if p99 else {}, times)
    before = [Series("alone", "w", {"p99": e(0.0002)}, times)] if alone else []
    if index is None and blocking is None:
        return Panel(name, [replace(beside, name="w")])
    found = Starvation(
        "f", "", name, "a", "b", near(5), near(1), e(index, unit=""), UNKNOWN, e(blocking, unit=""), near(1),
        {}, {}, None, None, "",
    )  # fmt: skip
    return Panel(name, [*before, beside], found)


def view(*panels: Panel, open_loop: bool = False) -> View:
    return View("v", "a view", list(panels), tuple(panel.contestant for panel in panels), open_loop)


@dataclass(frozen=True)
class Row:
    """`says` is in the sentence of `must`, and in that of none of `must_not`."""

    says: str
    must: Callable[[], str]
    must_not: tuple[Callable[[], str], ...]


GO = {"beside": quantiles(0.0095, 0.027, 0.031), "blocking": share(0.6, 0.7), "slow_s": 0.0396}
"""All of 300 requests a second are answered, p50 9.5 ms beside slow requests of 39.6 ms."""

CALM_MEDIAN = {**GO, "beside": quantiles(0.0005, 0.027, 0.031)}
"""The same, but most fast requests do not wait."""

TABLE = [
    # One closed client beside one slow request.
    Row(
        "answers no fast one: fast requests wait for up to 4.40 s",
        lambda: starved("closed", index=share(0.85, 0.9), beside=quantiles(0.0004, 0.002, 4.4)),
        (
            lambda: starved("closed", index=share(0.85, 0.9), waits="a turn"),
            lambda: starved("closed", index=share(0.5, 0.6), beside=quantiles(0.0004, 0.002, 4.4)),
        ),
    ),
    Row(
        "answers no fast one: no fast request was answered",
        lambda: starved("closed", index=share(0.99, 1.0), beside=quantiles(0.1, 0.1, None)),
        (lambda: starved("closed", index=share(0.99, 1.0), beside=quantiles(0.1, 0.1, 4.4)),),
    ),
    Row(
        "a fast request waited for 4.40 s without an answer",
        lambda: starved("closed", index=share(0.99, 1.0), beside=quantiles(0.1, 0.1, 4.4, "≥")),
        (lambda: starved("closed", index=share(0.99, 1.0), beside=quantiles(0.1, 0.1, 4.4)),),
    ),
    Row(
        "x answers no fast one: fast requests wait for up to 4.40 s. In that time, x loses 99.5 %",
        lambda: starved(
            "closed", index=share(0.2, 0.7), left=share(0.0, 0.01), beside=quantiles(0.1, 0.1, 4.4)
        ),
        (
            lambda: starved("closed", index=share(0.2, 0.7), beside=quantiles(0.1, 0.1, 4.4)),
            lambda: starved("closed", index=share(0.2, 0.7), left=share(0.95, 1.0)),
            lambda: starved("closed", index=share(0.2, 0.7), left=NO_INTERVAL),
        ),
    ),
    Row(
        "answers few fast ones",
        lambda: starved("closed", index=share(0.5, 0.6), beside=quantiles(0.0004, 0.002, 4.4)),
        (lambda: starved("closed", index=share(0.3, 0.4), beside=quantiles(0.0004, 0.002, 4.4)),),
    ),
    Row(
        "While x works on a slow request (90 % of the trial), each fast request of the only client waits "
        "until the slow one is interrupted (median 10.0 ms, longest 31.0 ms). x loses",
        lambda: starved(
            "closed",
            index=share(0.94, 0.96),
            beside=quantiles(0.01, 0.02, 0.031),
            wait_s=0.01,
            waits="a turn",
        ),
        (lambda: starved("closed", index=share(0.94, 0.96), beside=quantiles(0.01, 0.02, 4.4), wait_s=0.01),),
    ),
    Row(
        "each fast request of its 3 clients waits until the slow one is interrupted",
        lambda: starved("closed", index=share(0.94, 0.96), clients=3, waits="a turn"),
        (lambda: starved("closed", index=share(0.94, 0.96), waits="a turn"),),
    ),
    Row(
        "A client that waits sends nothing, so these are few: p50 and p99 of the whole trial are shorter.",
        lambda: starved(
            "closed",
            index=share(0.5, 0.6),
            beside=quantiles(0.0004, 0.002, 0.031),
            wait_s=0.01,
            waits="a turn",
        ),
        (
            lambda: starved(
                "closed",
                index=share(0.5, 0.6),
                beside=quantiles(0.01, 0.02, 0.031),
                wait_s=0.01,
                waits="a turn",
            ),
        ),
    ),
    Row(
        "whether fast ones wait for their end or for a time slice; 300 ms would be long enough",
        lambda: starved("closed", index=share(0.6, 0.7), slow_s=0.04, waits="cannot tell"),
        (lambda: starved("closed", index=share(0.6, 0.7)),),
    ),
    Row(
        "keeps serving while a slow request runs, and fast requests wait for up to 3.00 ms. x loses",
        lambda: starved("closed", index=share(0.01, 0.05)),
        (lambda: starved("closed", index=share(0.2, 0.3)),),
    ),
    Row(
        "keeps serving while a slow request runs, and fast requests wait for up to 3.00 ms. In that time",
        lambda: starved("closed", index=share(0.2, 0.7), left=share(0.95, 1.0)),
        (lambda: starved("closed", index=share(0.2, 0.7), left=share(0.3, 0.4)),),
    ),
    Row(
        "slows down while a slow request runs, but keeps serving",
        lambda: starved("closed", index=share(0.2, 0.3)),
        (
            lambda: starved("closed", index=share(0.5, 0.6)),
            lambda: starved("closed", index=share(0.2, 0.7)),
        ),
    ),
    Row(
        "loses no more throughput beside a slow request than noise could explain",
        lambda: starved("closed", index=share(-0.1, 0.2)),
        (lambda: starved("closed", index=share(0.15, 0.2)),),
    ),
    Row(
        "Inconclusive: x lost 45 % of its throughput",
        lambda: starved("closed", index=share(0.2, 0.7)),
        (lambda: starved("closed", index=share(0.3, 0.4)),),
    ),
    Row(
        "In the only round, x lost 50 % of its throughput",
        lambda: starved("closed", index=replace(NO_INTERVAL, n=1)),
        (lambda: starved("closed", index=share(0.4, 0.6)),),
    ),
    Row(
        "In 2 rounds, x lost 50 %",
        lambda: starved("closed", index=replace(NO_INTERVAL, n=2)),
        (lambda: starved("closed", index=share(0.4, 0.6)),),
    ),
    Row(
        "It is unknown whether a slow request starves x: too few requests.",
        lambda: starved("closed"),
        (
            lambda: starved("closed", index=share(0.4, 0.6)),
            lambda: starved("closed", index=apart(1.0, 1.0, 0.97, 0.88, 0.87, 0.83, 0.79, 0.75)),
        ),
    ),
    Row(
        "Beside a slow request, x lost between 75 % and 100 % of the trial’s throughput, depending on the "
        "round. The rounds lie too far apart for a mean.",
        lambda: starved("closed", index=apart(1.0, 1.0, 0.97, 0.88, 0.87, 0.83, 0.79, 0.75)),
        (lambda: starved("closed", index=apart(1.0, 0.97, 0.4)),),
    ),
    Row(
        "Beside a slow request, x lost at most 5 % of the trial’s throughput in each of 3 rounds.",
        lambda: starved("closed", index=apart(0.05, 0.0, -0.02)),
        (lambda: starved("closed", index=apart(0.2, 0.0, -0.02)),),
    ),
    Row(
        "Inconclusive: in 3 rounds, x lost between 40 % and 100 % of the trial’s throughput",
        lambda: starved("closed", index=apart(1.0, 0.97, 0.4)),
        (lambda: starved("closed", index=apart(1.0, 0.97, 0.6)),),
    ),
    Row(
        "The rounds fall into two groups, fixed when the server starts: in 3 rounds 10 %",
        lambda: starved(
            "closed", index=share(0.2, 0.3), modes=(Mode(3, 0.1, 0.09, 0.11), Mode(2, 0.9, 0.89, 0.91))
        ),
        (lambda: starved("closed", index=share(0.2, 0.3)),),
    ),
    Row(
        "Unreliable (invalid trials): ",
        lambda: starved("closed", index=share(0.2, 0.3), trusted=False),
        (
            lambda: starved("closed", index=share(0.2, 0.3)),
            lambda: starved("closed", trusted=False),
            lambda: starved("open", trusted=False),
        ),
    ),
    # A stream beside slow requests.
    Row(
        "x answers fast requests only while no slow one runs: p99 is at least 4.40 s beside slow requests of",
        lambda: starved("open", blocking=share(0.9, 1.0), beside=quantiles(2.2, 4.4, 4.5, "≥")),
        (
            lambda: starved("open", **GO, waits="a turn"),
            lambda: starved("open", **GO, waits="cannot tell"),
            lambda: starved("open", blocking=share(0.9, 1.0), beside=quantiles(0.0004, 4.4, 4.5)),
            lambda: starved("open", blocking=share(0.3, 0.4)),
        ),
    ),
    Row(
        "x answers fast requests only while fewer than 2 slow ones run: p99 is",
        lambda: starved("open", blocking=share(0.9, 1.0), beside=quantiles(2.2, 4.4, 4.5), slow_clients=2),
        (lambda: starved("open", blocking=share(0.9, 1.0), beside=quantiles(2.2, 4.4, 4.5)),),
    ),
    Row(
        "The p99 is longer than slow requests take: fast ones queue up.",
        lambda: starved("open", blocking=share(0.9, 1.0), beside=quantiles(2.2, 9.4, 4.5)),
        (
            lambda: starved("open", blocking=share(0.9, 1.0), beside=quantiles(2.2, 4.4, 4.5)),
            lambda: starved(
                "open", blocking=share(0.9, 1.0), beside=quantiles(2.2, 9.4, 4.5), slow_clients=2
            ),
            lambda: starved("open", **GO, waits="a turn"),
        ),
    ),
    Row(
        "of the time, fast ones to x can wait: p99 is",
        lambda: starved("open", blocking=share(0.9, 1.0), beside=quantiles(0.0004, 4.4, 4.5)),
        (lambda: starved("open", blocking=share(0.9, 1.0), beside=quantiles(2.2, 4.4, 4.5)),),
    ),
    Row(
        "They wait for a time slice, not for the end of a slow request: beside slow requests of many time "
        "slices, fast ones are answered before these end.",
        lambda: starved("open", **GO, waits="a turn"),
        (lambda: starved("open", **GO, waits="cannot tell"), lambda: starved("open", **GO)),
    ),
    Row(
        "at least half of the fast requests to x wait: p50 is 9.50 ms, and 400 µs alone; p99 is 27.0 ms "
        "beside slow requests of 39.6 ms, and 2.00 ms alone",
        lambda: starved("open", **GO, waits="cannot tell"),
        (
            lambda: starved("open", blocking=share(0.0, 0.05)),
            lambda: starved("open", **CALM_MEDIAN, waits="cannot tell"),
        ),
    ),
    Row(
        "1 in 100 fast requests to x is late: p99 is 27.0 ms beside slow requests of 39.6 ms, and 2.00 ms",
        lambda: starved("open", **CALM_MEDIAN, waits="cannot tell"),
        (lambda: starved("open", **GO, waits="cannot tell"),),
    ),
    Row(
        "In that time, x loses at least 99 % of its throughput; over the whole trial, 85 % [80, 90].",
        lambda: starved("closed", index=share(0.8, 0.9), left=e(0.0002, 0.0, 0.01, unit="share")),
        (lambda: starved("closed", index=share(0.8, 0.9), left=share(0.0, 0.01)),),
    ),
    Row(
        "keeps answering while slow requests run",
        lambda: starved("open", blocking=share(0.0, 0.05)),
        (lambda: starved("open", blocking=share(0.05, 0.2)), lambda: starved("open", **GO)),
    ),
    Row(
        "Slow requests delay x's fast ones by no more than noise could explain",
        lambda: starved("open", blocking=share(-0.1, 0.4)),
        (
            lambda: starved("open", blocking=share(0.05, 0.4)),
            lambda: starved("open", blocking=share(0, 0.05)),
        ),
    ),
    Row(
        "Inconclusive for x",
        lambda: starved(
            "open", blocking=share(0.3, 4.0)
        ),  # from a third of a slow one's duration to four of them
        (lambda: starved("open", blocking=share(0.6, 4.0)),),
    ),
    Row(
        "Slow requests delay x's fast ones by only part of a slow one's duration",
        lambda: starved("open", blocking=share(0.2, 0.4)),
        (lambda: starved("open", blocking=share(0.6, 0.8)), lambda: starved("open", blocking=share(0, 0.05))),
    ),
    Row(
        "Inconclusive for x: p99 is",
        lambda: starved("open", blocking=share(0.0, 0.9)),
        (lambda: starved("open", blocking=share(0.2, 0.4)),),
    ),
    Row(
        "but the rounds differ too much (45.0 ms to 485 ms). More rounds may decide it.",
        lambda: starved(
            "open",
            blocking=share(0.0, 0.9),
            beside={**CALM, "p99": replace(near(0.2), rounds=(0.485, 0.452, 0.045))},
        ),
        (lambda: starved("open", blocking=share(0.0, 0.9)),),
    ),
    Row(
        "delay x's fast ones by at least part of a slow one's duration",
        lambda: starved("open", blocking=e(0.4, 0.2, unit="", bound="≥")),
        (
            lambda: starved("open", blocking=share(0.2, 0.4)),
            lambda: starved("open", blocking=e(0.9, 0.6, unit="", bound="≥")),
        ),
    ),
    Row(
        "In 2 rounds of x, p99 is at least 4.40 s",
        lambda: starved(
            "open", blocking=e(0.9, unit="", bound="≥", n=2), beside=quantiles(2.2, 4.4, 4.5, "≥")
        ),
        (
            lambda: starved(
                "open", blocking=e(0.9, 0.6, unit="", bound="≥"), beside=quantiles(2.2, 4.4, 4.5, "≥")
            ),
        ),
    ),
    Row(
        "In the only round of x, p99 is",
        lambda: starved("open", blocking=replace(NO_INTERVAL, n=1)),
        (lambda: starved("open", blocking=share(0.2, 0.4)),),
    ),
    Row(
        "p99 is unknown beside",
        lambda: starved("open", blocking=share(0.2, 0.4), beside={**CALM, "p99": e(None)}),
        (lambda: starved("open", blocking=share(0.2, 0.4)),),
    ),
    Row(
        "It is unknown whether slow requests block x: too few requests.",
        lambda: starved("open"),
        (lambda: starved("open", blocking=share(0.2, 0.4)),),
    ),
    # Two contestants.
    Row(
        "p99: longer on new: +20 % [+10, +30] (10.0 ms on old, 12.0 ms on new).",
        lambda: words("p99", "more", MORE),
        (lambda: words("p99", "less", LESS), lambda: words("p99", "unclear", BOTH)),
    ),
    Row(
        "p99: shorter on new",
        lambda: words("p99", "less", LESS),
        (lambda: words("p99", "more", MORE),),
    ),
    Row(
        "throughput: higher on new",
        lambda: words("throughput", "more", MORE),
        (lambda: words("throughput", "less", LESS),),
    ),
    Row(
        "throughput: lower on new",
        lambda: words("throughput", "less", LESS),
        (lambda: words("throughput", "more", MORE),),
    ),
    Row(
        "p99: inconclusive: +2 %",
        lambda: words("p99", "unclear", BOTH),
        (lambda: words("p99", "same", e(1.0, 0.99, 1.01), within=0.01),),
    ),
    Row(
        "+2 % [−10, +15] (10.0 ms on old, 12.0 ms on new), which may be chance among 9 differences.",
        lambda: comparing.in_words(difference("p99", "may be chance", BOTH), "old", "new", 9),
        (lambda: words("p99", "unclear", BOTH),),
    ),
    Row(
        "p99: no difference larger than 1 %",
        lambda: words("p99", "same", e(1.0, 0.99, 1.01), within=0.01),
        (lambda: words("p99", "unclear", BOTH),),
    ),
    Row(
        "no interval: fewer than three rounds",
        lambda: words("p99", "unclear", e(1.2, note="fewer than three rounds")),
        (lambda: words("p99", "more", MORE),),
    ),
    Row(
        "p99: cannot be compared: nobody was answered.",
        lambda: words("p99", "unclear", e(None, note="nobody was answered"), moved=e(None)),
        (lambda: words("p99", "more", MORE),),
    ),
    Row(
        "throughput: higher on new: 0/s on old, 500/s on new, difference 500/s [490, 510].",
        lambda: words("throughput", "more", e(None, unit=""), **BROKEN),
        (lambda: words("throughput", "more", MORE), lambda: words("throughput", "unclear", UNKNOWN)),
    ),
    Row(
        "throughput: inconclusive: 0/s on old, 500/s on new, difference",
        lambda: words("throughput", "unclear", e(None, unit=""), **BROKEN),
        (lambda: words("throughput", "more", e(None, unit=""), **BROKEN),),
    ),
    Row(
        "the figure is invalid (p99: longer on new: +20 % [+10, +30] (10.0 ms on old, 12.0 ms on new)).",
        lambda: words("p99", "more", MORE, verdict=Verdict.INVALID),
        (lambda: words("p99", "more", MORE, verdict=Verdict.SUSPECT),),
    ),
    Row(
        "no single value on old",
        lambda: words("p99", "more", MORE, a=e(None)),
        (lambda: words("p99", "more", MORE),),
    ),
    Row(
        "errors: more on new: 1 % on old, 1.2 % on new",
        lambda: words("errors", "more", MORE),
        (lambda: words("errors", "unclear", BOTH),),
    ),
    Row(
        "errors: inconclusive: 1 % on old",
        lambda: words("errors", "unclear", BOTH),
        (lambda: words("errors", "more", MORE),),
    ),
    Row(
        "errors: 1 % on old, 1.2 % on new; no interval: fewer",
        lambda: words("errors", "unclear", BOTH, moved=e(0.002, note="fewer than three rounds")),
        (lambda: words("errors", "unclear", BOTH),),
    ),
    Row(
        "errors: cannot be compared: no request came to an end.",
        lambda: words("errors", "unclear", BOTH, a=e(None)),
        (lambda: words("errors", "unclear", BOTH),),
    ),
    Row(
        "new against old: p99 +20 %; no difference larger than 1 % in throughput; inconclusive in p50.",
        lambda: summed(
            difference("p99", "more", MORE),
            difference("throughput", "same", e(1.0), within=0.01),
            difference("p50", "unclear", BOTH),
        ),
        (lambda: summed(difference("p99", "more", MORE)),),
    ),
    Row(
        "new against old: p90 −20 %, errors 3 % instead of 0 %; inconclusive in p50.",
        lambda: summed(
            difference("p50", "unclear", BOTH),
            difference("p90", "less", LESS),
            difference("p99", "unclear", e(None, note="too few requests")),
            difference("errors", "more", e(None), a=e(0.0, unit="share"), b=e(0.03, unit="share")),
        ),
        (lambda: summed(difference("p50", "unclear", BOTH), difference("p90", "unclear", BOTH)),),
    ),
    Row(
        "new against old: no difference larger than 1 % in throughput.",
        lambda: summed(difference("throughput", "same", e(1.0), within=0.01)),
        (lambda: summed(difference("throughput", "unclear", BOTH)),),
    ),
    Row(
        "new against old: throughput and p99 cannot be compared: too few rounds.",
        lambda: summed(
            *(difference(name, "unclear", e(None, note="too few rounds")) for name in ("throughput", "p99"))
        ),
        (lambda: summed(difference("p99", "unclear", BOTH)),),
    ),
    Row(
        "new against old: an interval needs at least 3 runs on each side that measured something.",
        lambda: summed(difference("p99", "unclear", BOTH), rounds=2, paired=False, unit="run"),
        (lambda: summed(difference("p99", "unclear", BOTH), paired=False, unit="run"),),
    ),
    Row(
        "new against old: inconclusive; more rounds may decide it.",
        lambda: summed(difference("p99", "unclear", BOTH)),
        (lambda: summed(difference("p99", "more", MORE)),),
    ),
    Row(
        "new against old: a difference in p99 that may be chance; more rounds may decide it.",
        lambda: summed(difference("p99", "may be chance", MORE)),
        (lambda: summed(difference("p99", "unclear", BOTH)),),
    ),
    Row(
        "new against old: differences in p50 and p99 that may be chance; more rounds may decide it.",
        lambda: summed(difference("p50", "may be chance", MORE), difference("p99", "may be chance", MORE)),
        (lambda: summed(difference("p99", "may be chance", MORE)),),
    ),
    Row(
        "new against old: throughput +20 %; the difference in p99 may be chance.",
        lambda: summed(difference("throughput", "more", MORE), difference("p99", "may be chance", MORE)),
        (lambda: summed(difference("throughput", "more", MORE), difference("p99", "unclear", BOTH)),),
    ),
    Row(
        "throughput +20 %. These figures are over the 4 rounds in which both were measured.",
        lambda: summed(difference("throughput", "more", MORE), rounds=4, unpaired=4),
        (lambda: summed(difference("throughput", "more", MORE)),),
    ),
    Row(
        "new against old: throughput 500/s instead of 0/s.",
        lambda: summed(difference("throughput", "more", e(None, unit=""), **BROKEN)),
        (lambda: summed(difference("throughput", "more", MORE)),),
    ),
    Row(
        "new against old: errors 3 % instead of 1 %.",
        lambda: summed(
            difference("errors", "more", e(3.0), a=e(0.01, unit="share"), b=e(0.03, unit="share"))
        ),
        (lambda: summed(difference("errors", "unclear", e(3.0))),),
    ),
    Row(
        "new against old: throughput +20 %; p50 and p99 must not be used (invalid).",
        lambda: summed(
            difference("throughput", "more", MORE),
            difference("p50", "same", e(1.0), within=0.01, verdict=Verdict.INVALID),
            difference("p99", "more", MORE, verdict=Verdict.INVALID),
            verdict=Verdict.SUSPECT,
        ),
        (
            lambda: summed(difference("throughput", "more", MORE), difference("p99", "more", MORE)),
            lambda: summed(
                difference("throughput", "more", MORE, verdict=Verdict.INVALID), verdict=Verdict.INVALID
            ),
        ),
    ),
    Row(
        "new against old: p99 must not be used (invalid).",
        lambda: summed(difference("p99", "unclear", BOTH, verdict=Verdict.INVALID)),
        (lambda: summed(difference("p99", "unclear", BOTH)),),
    ),
    Row(
        "new against old (unreliable: invalid trials): p99 +20 %",
        lambda: summed(difference("p99", "more", MORE), verdict=Verdict.INVALID),
        (
            lambda: summed(difference("p99", "more", MORE)),
            lambda: summed(difference("p99", "more", MORE), verdict=Verdict.SUSPECT),
        ),
    ),
    Row(
        "new against old: two rounds: ",
        lambda: summed(difference("p99", "more", MORE), rounds=2),
        (lambda: summed(difference("p99", "more", MORE)),),
    ),
    Row(
        "new against old: cannot tell: ",
        lambda: summed(difference("p99", "more", MORE), paired=False),
        (lambda: summed(difference("p99", "more", MORE)),),
    ),
    Row(
        "negligible",
        lambda: comparing.size_of_effect(e(0.1, -0.02, 0.12)),
        (
            lambda: comparing.size_of_effect(e(0.2, 0.1, 0.3)),
            lambda: comparing.size_of_effect(e(0.1, -0.2, 0.4)),
        ),
    ),
    Row(
        "large",
        lambda: comparing.size_of_effect(e(-0.5, -0.6, -0.4)),
        (
            lambda: comparing.size_of_effect(e(None)),
            lambda: comparing.size_of_effect(e(0.5)),
            lambda: comparing.size_of_effect(e(0.49, -0.08, 0.75)),
        ),
    ),
    # Pictures.
    Row(
        "Beside slow requests, node completes 80 % fewer fast ones per trial, and go 2 % fewer.",
        lambda: titles.about_throughput(view(panel("go", index=0.02), panel("node", index=0.8))),
        (lambda: titles.about_throughput(view(panel("go", index=0.8), panel("node", index=0.02))),),
    ),
    Row(
        "Beside slow requests, node completes 80 % fewer fast ones per trial.",
        lambda: titles.about_throughput(view(panel("node", index=0.8))),
        (lambda: titles.about_throughput(view(panel("node", index=0.8), panel("go", index=0.0))),),
    ),
    Row(
        "Beside slow requests, nobody completes over 2 % fewer fast ones per trial.",
        lambda: titles.about_throughput(view(panel("go", index=0.02, blocking=0.01))),
        (lambda: titles.about_throughput(view(panel("go", index=0.02, blocking=0.6), open_loop=True)),),
    ),
    Row(
        "What slow requests cost is not known for go: the table says why.",
        lambda: titles.about_throughput(view(panel("go", blocking=0.1), panel("node", index=0.8))),
        (lambda: titles.about_throughput(view(panel("go", index=0.0), panel("node", index=0.8))),),
    ),
    Row(
        "on go the p99 grows by 0.60 times what a slow request takes.",
        lambda: titles.about_throughput(view(panel("go", index=0.02, blocking=0.6), open_loop=True)),
        (lambda: titles.about_throughput(view(panel("go", index=0.02, blocking=0.05), open_loop=True)),),
    ),
    Row(
        "p99 beside slow requests: node 2.00 ms (alone: 200 µs), go 1.00 ms (alone: 200 µs).",
        lambda: titles.about_quantile(view(panel("go", index=0, p99=0.001), panel("node", index=0.8)), "p99"),
        (lambda: titles.about_quantile(view(panel("node", index=0.8)), "p99"),),
    ),
    Row(
        "node answered no request (alone: 200 µs)",
        lambda: titles.about_quantile(view(panel("node", index=0.8, p99=None, n=0)), "p99"),
        (lambda: titles.about_quantile(view(panel("node", index=0.8, p99=None)), "p99"),),
    ),
    Row(
        "node unknown (alone: 200 µs)",
        lambda: titles.about_quantile(view(panel("node", index=0.8, p99=None)), "p99"),
        (lambda: titles.about_quantile(view(panel("node", index=0.8)), "p99"),),
    ),
    Row(
        "p99: 1.00 ms on go, 2.00 ms on node.",
        lambda: titles.about_quantile(view(panel("node"), panel("go", p99=0.001)), "p99"),
        (lambda: titles.about_quantile(view(panel("node")), "p99"),),
    ),
    Row(
        "p99: 2.00 ms.",
        lambda: titles.about_quantile(view(panel("node")), "p99"),
        (lambda: titles.about_quantile(view(panel("node"), panel("go", p99=0.001)), "p99"),),
    ),
    Row(
        "p99: 1.00 ms on go; unknown for node.",
        lambda: titles.about_quantile(view(panel("node", p99=None), panel("go", p99=0.001)), "p99"),
        (
            lambda: titles.about_quantile(view(panel("node"), panel("go", p99=0.001)), "p99"),
            lambda: titles.about_quantile(view(panel("go", p99=0.001)), "p99"),
        ),
    ),
    Row(
        "p99: too few requests were answered.",
        lambda: titles.about_quantile(view(panel("node", p99=None)), "p99"),
        (lambda: titles.about_quantile(view(panel("node")), "p99"),),
    ),
]


@pytest.mark.parametrize("row", [pytest.param(row, id=row.says) for row in TABLE])
def test_a_sentence_is_printed_for_its_numbers_and_for_no_others(row: Row) -> None:
    assert row.says in row.must()
    for other in row.must_not:
        assert row.says not in other()


def returned_texts(module: ModuleType) -> Iterator[tuple[str, int]]:
    """File and first line of every `return` of a function that gives text."""
    file = inspect.getfile(module)
    for function in ast.walk(ast.parse(Path(file).read_text())):
        if isinstance(function, ast.FunctionDef) and getattr(function.returns, "id", "") == "str":
            yield from ((file, node.lineno) for node in ast.walk(function) if isinstance(node, ast.Return))


def test_the_table_has_every_sentence() -> None:
    files = {inspect.getfile(module) for module in MODULES}
    reached: set[tuple[str, int]] = set()

    def watch(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename not in files:
            return None
        if event == "line":
            reached.add((frame.f_code.co_filename, frame.f_lineno))
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        for row in TABLE:
            for said in (row.must, *row.must_not):
                said()
    finally:
        sys.settrace(before)
    texts = {place for module in MODULES for place in returned_texts(module)}
    assert [f"{Path(file).name}:{line}" for file, line in sorted(texts - reached)] == []
