"""What a comparison of two contestants says."""

from typing import Any

from jostle.analysis.compare import sentences as comparing
from jostle.analysis.results import Comparison, Difference, Estimate, Shift
from jostle.record.verdict import Verdict
from support.sentences import UNKNOWN, Row, by_row, check, e


def difference(metric: str, finding: Any, ratio: Estimate, **more: Any) -> Difference:
    unit = {"throughput": "/s", "errors": "share"}.get(metric, "s")
    a, b = more.pop("a", e(0.010, unit=unit)), more.pop("b", e(0.012, unit=unit))
    known = e(0.002, 0.001, 0.003, unit=unit) if ratio.low is not None else e(None, note=ratio.note)
    moved, verdict = more.pop("moved", known), more.pop("verdict", Verdict.VALID)
    return Difference(metric, a, b, moved, ratio, finding, more.pop("within", None), "", verdict)


def words(metric: str, finding: Any, ratio: Estimate, **more: Any) -> str:
    return comparing.in_words(difference(metric, finding, ratio, **more), "old", "new")


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


TABLE = [
    Row(
        "p99: longer on new: +20 % [+10, +30] (10.0 ms on old, 12.0 ms on new).",
        lambda: words("p99", "more", MORE),
        (lambda: words("p99", "less", LESS), lambda: words("p99", "undecided", BOTH)),
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
        "p99: undecided, +2 %",
        lambda: words("p99", "undecided", BOTH),
        (lambda: words("p99", "same", e(1.0, 0.99, 1.01), within=0.01),),
    ),
    Row(
        "+2 % [−10, +15] (10.0 ms on old, 12.0 ms on new), which may be chance among 9 differences.",
        lambda: comparing.in_words(difference("p99", "may be chance", BOTH), "old", "new", 9),
        (lambda: words("p99", "undecided", BOTH),),
    ),
    Row(
        "p99: no difference larger than 1 %",
        lambda: words("p99", "same", e(1.0, 0.99, 1.01), within=0.01),
        (lambda: words("p99", "undecided", BOTH),),
    ),
    Row(
        "without an interval: fewer than three rounds",
        lambda: words("p99", "undecided", e(1.2, note="fewer than three rounds")),
        (lambda: words("p99", "more", MORE),),
    ),
    Row(
        "p99 cannot be compared: nobody was answered.",
        lambda: words("p99", "undecided", e(None, note="nobody was answered"), moved=e(None)),
        (lambda: words("p99", "more", MORE),),
    ),
    Row(
        "throughput: higher on new: 0/s on old, 500/s on new, difference 500/s [490, 510].",
        lambda: words("throughput", "more", e(None, unit=""), **BROKEN),
        (lambda: words("throughput", "more", MORE), lambda: words("throughput", "undecided", UNKNOWN)),
    ),
    Row(
        "throughput: undecided: 0/s on old, 500/s on new, difference",
        lambda: words("throughput", "undecided", e(None, unit=""), **BROKEN),
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
        (lambda: words("errors", "undecided", BOTH),),
    ),
    Row(
        "errors: undecided, 1 % on old",
        lambda: words("errors", "undecided", BOTH),
        (lambda: words("errors", "more", MORE),),
    ),
    Row(
        "errors: 1 % on old, 1.2 % on new, without an interval: fewer",
        lambda: words("errors", "undecided", BOTH, moved=e(0.002, note="fewer than three rounds")),
        (lambda: words("errors", "undecided", BOTH),),
    ),
    Row(
        "errors cannot be compared: no request came to an end.",
        lambda: words("errors", "undecided", BOTH, a=e(None)),
        (lambda: words("errors", "undecided", BOTH),),
    ),
    Row(
        "new against old: p99 longer (+20 % [+10, +30]); no difference larger than 1 % in throughput; "
        "undecided in p50.",
        lambda: summed(
            difference("p99", "more", MORE),
            difference("throughput", "same", e(1.0), within=0.01),
            difference("p50", "undecided", BOTH),
        ),
        (lambda: summed(difference("p99", "more", MORE)),),
    ),
    Row(
        "new against old: p90 shorter (−20 % [−30, −10]), errors 3 % instead of 0 %; undecided in p50.",
        lambda: summed(
            difference("p50", "undecided", BOTH),
            difference("p90", "less", LESS),
            difference("p99", "undecided", e(None, note="too few requests")),
            difference("errors", "more", e(None), a=e(0.0, unit="share"), b=e(0.03, unit="share")),
        ),
        (lambda: summed(difference("p50", "undecided", BOTH), difference("p90", "undecided", BOTH)),),
    ),
    Row(
        "new against old: no difference larger than 1 % in throughput.",
        lambda: summed(difference("throughput", "same", e(1.0), within=0.01)),
        (lambda: summed(difference("throughput", "undecided", BOTH)),),
    ),
    Row(
        "new against old: throughput and p99 cannot be compared: too few rounds.",
        lambda: summed(
            *(difference(name, "undecided", e(None, note="too few rounds")) for name in ("throughput", "p99"))
        ),
        (lambda: summed(difference("p99", "undecided", BOTH)),),
    ),
    Row(
        "new against old: undecided; an interval needs at least 3 runs on each side that measured something.",
        lambda: summed(difference("p99", "undecided", BOTH), rounds=2, paired=False, unit="run"),
        (lambda: summed(difference("p99", "undecided", BOTH), paired=False, unit="run"),),
    ),
    Row(
        "new against old: undecided; more rounds may decide it.",
        lambda: summed(difference("p99", "undecided", BOTH)),
        (lambda: summed(difference("p99", "more", MORE)),),
    ),
    Row(
        "new against old: a difference in p99 that may be chance; more rounds may decide it.",
        lambda: summed(difference("p99", "may be chance", MORE)),
        (lambda: summed(difference("p99", "undecided", BOTH)),),
    ),
    Row(
        "new against old: differences in p50 and p99 that may be chance; more rounds may decide it.",
        lambda: summed(difference("p50", "may be chance", MORE), difference("p99", "may be chance", MORE)),
        (lambda: summed(difference("p99", "may be chance", MORE)),),
    ),
    Row(
        "new against old: throughput higher (+20 % [+10, +30]); the difference in p99 may be chance.",
        lambda: summed(difference("throughput", "more", MORE), difference("p99", "may be chance", MORE)),
        (lambda: summed(difference("throughput", "more", MORE), difference("p99", "undecided", BOTH)),),
    ),
    Row(
        "throughput higher (+20 % [+10, +30]). These figures are over the 4 rounds in which both were "
        "measured.",
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
        (lambda: summed(difference("errors", "undecided", e(3.0))),),
    ),
    Row(
        "new against old: throughput higher (+20 % [+10, +30]); p50 and p99 must not be used (invalid).",
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
        lambda: summed(difference("p99", "undecided", BOTH, verdict=Verdict.INVALID)),
        (lambda: summed(difference("p99", "undecided", BOTH)),),
    ),
    Row(
        "new against old (unreliable: invalid trials): p99 longer (+20 % [+10, +30]).",
        lambda: summed(difference("p99", "more", MORE), verdict=Verdict.INVALID),
        (
            lambda: summed(difference("p99", "more", MORE)),
            lambda: summed(difference("p99", "more", MORE), verdict=Verdict.SUSPECT),
        ),
    ),
    Row(
        "new against old: undecided with two rounds; ",
        lambda: summed(difference("p99", "more", MORE), rounds=2),
        (lambda: summed(difference("p99", "more", MORE)),),
    ),
    Row(
        "new against old: undecided, as ",
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
]


@by_row(TABLE)
def test_a_sentence_is_printed_for_its_numbers_and_for_no_others(row: Row) -> None:
    check(row)
