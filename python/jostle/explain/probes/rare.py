"""Rare slow responses: how many of a route are slow, how slow, whether others wait meanwhile, and when it
happens.
"""

from collections.abc import Sequence

from jostle.analysis.results import Estimate
from jostle.explain.finding import MIN_FELT_S, Finding, Topic, cannot_tell, decided_finding, felt_s
from jostle.explain.reason import Reason
from jostle.explain.slow_responses.rare import Rare
from jostle.explain.slow_responses.requests import Requests
from jostle.explain.words import one_in, span
from jostle.formatting import amount, listed, percent, plural, with_range

__all__ = ["rare_responses", "says"]

MIN_REQUESTS = 20
"""Among fewer requests of each route one slow one in seven would easily be missed."""

SURE = 3.0
"""e⁻³ = 5 %: a share s of n requests is missed with probability e^(−n·s)."""


OFTEN = 0.01
"""From this share on slow responses are a fault, however little longer they take."""

MANY = 0.02
"""If more requests than this share met a stall on a busy machine, those of a route are not to be told."""


def rare_responses(requests: Requests, slow: Sequence[Rare], disturbed: int = 0) -> list[Finding]:
    """One finding for each route some of whose responses are slow; else that there is none. `disturbed`: how
    many stalls may be those of a busy machine.
    """
    felt = [one for one in slow if _is_felt(one)]
    if felt:
        return [_finding(one) for one in sorted(felt, key=lambda one: -one.hurts_s)]
    counts = {name: int((requests.route == place).sum()) for place, name in enumerate(requests.names)}
    fewest = min(counts, key=lambda name: counts[name])
    request_counts = [f"{plural(n, 'request')} for {name}" for name, n in counts.items()]
    if disturbed > MANY * len(requests):
        return [
            cannot_tell(
                Topic.RARE,
                Reason.NOISY,
                f"{disturbed:,} of {plural(len(requests), 'request')} were late, and the machine may be the "
                "cause",
                "a quieter machine, or the server on another one",
                [f"{listed(request_counts)}."],
            )
        ]
    if counts[fewest] < MIN_REQUESTS:
        return [
            cannot_tell(
                Topic.RARE,
                Reason.NO_TIME,
                f"none was seen among {listed(request_counts)}, but there was no time for more",
                "more time",
                option="--budget",
            )
        ]
    rarity = counts[fewest] / SURE
    none = "None" if not slow else f"None that takes {amount(MIN_FELT_S, 's')} longer"
    return [
        decided_finding(
            Topic.RARE,
            f"No route has rare slow responses of its own: 1 in {rarity:.0f} would have been seen.",
            [f"{none} among {listed(request_counts)}.", *map(says, slow)],
            absent=f"rare slow responses (1 in {rarity:.0f} or more)",
        )
    ]


def _is_felt(one: Rare) -> bool:
    """Not if they are very few and hardly longer, as where a runtime collects its garbage in between."""
    assert one.share.low is not None
    return felt_s(one.longer_s) > 0 or one.share.low >= OFTEN


def _finding(one: Rare) -> Finding:
    evidence = [
        f"{len(one.times_s)} of {plural(one.share.n, 'request')} for {one.route} took "
        f"{with_range(one.slow_s)} (median), the others {amount(one.usual_s, 's')}; sent at "
        + ", ".join(f"{at:.2f}" for at in one.times_s[:12])
        + (f" s and {len(one.times_s) - 12} more times." if len(one.times_s) > 12 else " s."),
        f"Sent meanwhile: {plural(one.others.met, 'request')} for other routes, of which {one.others.waited} "
        f"waited for its end, and {one.same.met} for {one.route}, of which {one.same.waited} did.",
    ]
    if one.common is not None:
        evidence.append(one.common.evidence)
    figures = {
        "share": one.share,
        "slow": one.slow_s,
        "usual": Estimate(one.usual_s, n=one.share.n),
    }
    return decided_finding(Topic.RARE, says(one), evidence, figures, hurts_s=one.hurts_s, cure=_cure(one))


def _cure(one: Rare) -> str:
    """Where to look."""
    if one.nth is not None:
        return f"Look for what it does every {one.nth}th time, such as a flush."
    if one.period is not None:
        return "Look for a job of that period."
    if one.same.wait and not one.others_wait:
        return "Look for a lock or a transaction that it holds meanwhile."
    if one.others_wait:
        return "Profile the route: now and then it computes, or blocks a thread that other requests need."
    return "Log what the route waits for: a timeout, a lookup, or one server of several that is slower."


def says(one: Rare) -> str:
    """The finding as a sentence or two."""
    assert one.share.value is not None
    assert one.share.low is not None
    assert one.share.high is not None
    how_many = f"{one_in(one.share.value)} responses of {one.route}"
    if one.nth is not None:
        how_many = f"Every {one.nth}th response of {one.route}"
    share = span(one.share.low, one.share.high, "share")
    if one.others_wait:
        meanwhile = ", and other requests wait meanwhile"
    elif one.same.wait:
        apart = ", those for other routes do not" if one.others_wait is False else ""
        meanwhile = f", and further requests for it wait meanwhile{apart}"
    else:
        meanwhile = "" if one.others_wait is None else "; other requests do not wait for them"
    text = (
        f"{how_many} ({share}) takes {with_range(one.slow_s)} instead of "
        f"{amount(one.usual_s, 's')}{meanwhile}."
    )
    if one.of_all:
        text += f" It is every {one.nth}th request of all."
    elif one.period is not None:
        text += f" They come every {with_range(one.period.every)}."
    elif one.common is not None:
        text += f" They come {one.common.what} ({percent(one.common.slow / one.common.n_slow)} of them)."
    elif one.nth is None:
        text += " No pattern was found in when they come."
    return text
