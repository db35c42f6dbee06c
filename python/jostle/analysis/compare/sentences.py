"""Sentences for differences: what differs and by how much, or that nothing differs by more than x."""

from jostle.analysis.results import Comparison, Difference, Estimate
from jostle.analysis.results.rule import distrusted
from jostle.analysis.stats.enough import MIN_ROUNDS, TOO_FEW_ROUNDS, TOO_FEW_RUNS, TWO_RUNS
from jostle.formatting import amount, change, formatted, listed, percent, points
from jostle.record.verdict import Verdict

__all__ = ["direction", "in_words", "size_of_effect", "summary"]

EFFECTS = ((0.147, "negligible"), (0.33, "small"), (0.474, "medium"))
"""Words for Cliff's delta up to a limit. Source: Romano et al., Florida Association of Institutional Research
(2006)."""

ALWAYS_MENTIONED = ("throughput", "p50", "p99")
"""The summary mentions these even if no difference was found, all others only if one was."""

MORE_ROUNDS = "more rounds may decide it"


def in_words(d: Difference, a: str, b: str, tested: int = 0) -> str:
    """One sentence on one metric of `a` and `b`. `tested`: how many were tested, if it may be chance."""
    sentence = _errors(d, a, b) if d.metric == "errors" else _in_words(d, a, b, tested)
    return distrusted("", sentence) + "." if d.verdict is Verdict.INVALID else sentence


def _in_words(d: Difference, a: str, b: str, tested: int) -> str:
    both = f"{_amount(d.a)} on {a}, {_amount(d.b)} on {b}"
    if not _compared(d):
        return f"{d.metric} cannot be compared: {_why_not(d)}."
    if d.ratio.value is None or (d.ratio.low is None and d.difference.low is not None):
        # Where a side is 0, only the difference decides.
        found = "undecided" if d.finding == "undecided" else f"{direction(d)} on {b}"
        return f"{d.metric}: {found}: {both}, difference {formatted(d.difference)}."
    if d.ratio.low is None or d.ratio.high is None:
        return f"{d.metric}: {both} ({change(d.ratio.value)}), without an interval: {d.ratio.note}."
    if d.finding == "same":
        return f"{d.metric}: no difference larger than {percent(d.within or 0.0)} ({both})."
    interval = change(d.ratio.value, d.ratio.low, d.ratio.high)
    if d.finding == "may be chance":
        return f"{d.metric}: {interval} ({both}), which may be chance among {tested} differences."
    if d.finding == "undecided":
        return f"{d.metric}: undecided, {interval} ({both})."
    return f"{d.metric}: {direction(d)} on {b}: {interval} ({both})."


def summary(c: Comparison) -> str:
    """The whole comparison in a sentence, and a second one if right responses were not of the same kind."""
    unlike = f" They did not do the same work: right responses were {c.statuses}." if c.statuses else ""
    return f"{_summary(c)}{unlike}"


def _summary(c: Comparison) -> str:
    if not c.paired and c.unit == "round" and not c.earlier_runs:
        return f"{c.b} against {c.a}: undecided, as {TWO_RUNS}."
    rounds = min(c.rounds)
    if rounds < MIN_ROUNDS and c.unit == "run":
        return f"{c.b} against {c.a}: undecided; {TOO_FEW_RUNS}."
    if rounds < MIN_ROUNDS:
        have = ("no round in common", "one round", "two rounds")[rounds]
        return f"{c.b} against {c.a}: undecided with {have}; {TOO_FEW_ROUNDS}."
    invalid = c.verdict is Verdict.INVALID
    subject = f"{c.b} against {c.a}{' (unreliable: invalid trials)' if invalid else ''}: "
    spoiled = [] if invalid else [d for d in c.differences if d.verdict is Verdict.INVALID]
    found = _found([d for d in c.differences if d not in spoiled])
    if spoiled:
        found.append(f"{_names(spoiled)} must not be used (invalid)")
    return f"{subject}{'; '.join(found)}.{_in_common(c)}"


def _found(differences: list[Difference]) -> list[str]:
    """What differs and what does not, in parts of a sentence."""
    chosen = [d for d in differences if d.metric in ALWAYS_MENTIONED]
    clear = [d for d in differences if d.finding in ("less", "more")]
    if not clear and all(not _compared(d) for d in chosen):
        return _not_compared(chosen)
    same, chance, unclear = (
        [d for d in chosen if d.finding == finding and _compared(d)]
        for finding in ("same", "may be chance", "undecided")
    )
    found = [", ".join(map(_changed, clear))] if clear else []
    if same:
        found.append(f"no difference larger than {_most(same)} in {_names(same)}")
    if not found and chance:
        several = "a difference" if len(chance) == 1 else "differences"
        return [f"{several} in {_names(chance)} that may be chance", MORE_ROUNDS]
    if not found:
        return ["undecided", MORE_ROUNDS]
    if unclear:
        found.append(f"undecided in {_names(unclear)}")
    if chance:
        found.append(f"the difference in {_names(chance)} may be chance")
    return found


def _compared(d: Difference) -> bool:
    """Whether there is a ratio or, where one side is 0, a difference with an interval."""
    return d.ratio.value is not None or (d.difference.low is not None and bool(d.a.value or d.b.value))


def _why_not(d: Difference) -> str:
    return d.difference.note or ("it is 0 on both" if d.a.value == d.b.value == 0 else d.ratio.note)


def _changed(d: Difference) -> str:
    if d.metric == "errors" or d.ratio.value is None:  # where one side is 0, no factor tells the change
        return f"{d.metric} {_amount(d.b)} instead of {_amount(d.a)}"
    return f"{d.metric} {direction(d)} ({change(d.ratio.value, d.ratio.low, d.ratio.high)})"


def _not_compared(chosen: list[Difference]) -> list[str]:
    """Each reason once, without the values of the rounds."""
    reasons: dict[str, list[Difference]] = {}
    for d in chosen:
        reasons.setdefault((d.difference.note or d.ratio.note).partition(": ")[0], []).append(d)
    return [f"{_names(those)} cannot be compared: {why}" for why, those in reasons.items()]


def _in_common(c: Comparison) -> str:
    """Why these figures are not those of each side by itself, if one side was measured in more rounds."""
    if not c.unpaired:
        return ""
    return f" These figures are over the {min(c.rounds)} rounds in which both were measured."


def size_of_effect(delta: Estimate) -> str:
    """Cliff's delta in a word; empty if there is none, or if its interval leaves the direction open."""
    if delta.value is None or delta.low is None or delta.high is None:
        return ""
    negligible, word = EFFECTS[0]
    if delta.low <= 0 <= delta.high:
        return word if -negligible < delta.low and delta.high < negligible else ""
    return next((word for limit, word in EFFECTS if abs(delta.value) < limit), "large")


def _errors(d: Difference, a: str, b: str) -> str:
    if d.a.value is None or d.b.value is None:
        return "errors cannot be compared: no request came to an end."
    both = f"{percent(d.a.value)} on {a}, {percent(d.b.value)} on {b}"
    low, high = d.difference.low, d.difference.high
    if low is None or high is None:
        return f"errors: {both}, without an interval: {d.difference.note}."
    interval = points(d.b.value - d.a.value, low, high)
    if d.finding == "undecided":
        return f"errors: undecided, {both}, {interval}."
    return f"errors: {direction(d)} on {b}: {both}, {interval}."


def direction(d: Difference) -> str:
    """How the second side differs from the first, if it does."""
    if d.metric == "errors":
        return d.finding
    if d.metric in ("throughput", "server cpu"):
        return "higher" if d.finding == "more" else "lower"
    return "longer" if d.finding == "more" else "shorter"


def _names(chosen: list[Difference]) -> str:
    return listed([d.metric for d in chosen])


def _most(chosen: list[Difference]) -> str:
    return percent(max(d.within or 0.0 for d in chosen))


def _amount(e: Estimate) -> str:
    return "no single value" if e.value is None else amount(e.value, e.unit)
