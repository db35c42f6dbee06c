"""The plan's `[[claim]]`: reproduced, not reproduced, or cannot tell, by the rule that was fixed beforehand.

A part holds when its whole interval satisfies the rule, fails when its whole interval violates it. A claim is
reproduced when all of its parts hold, not reproduced when any of them fails; else it cannot be told.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from scipy.special import stdtrit

from jostle.analysis import metrics
from jostle.analysis.compare.pairs import Key
from jostle.analysis.results import Claim, CriterionResult, Estimate, Starvation, WorkloadSummary
from jostle.analysis.stats.quantile_ci import CONFIDENCE
from jostle.analysis.trial.data import TrialData, by_round
from jostle.formatting import amount, interval
from jostle.plan.labels import meant
from jostle.plan.metrics import INDICES, METRICS
from jostle.record.verdict import Verdict

__all__ = ["Measured", "Rule", "judge_claims", "rounds_needed"]

PartVerdict = Literal["holds", "fails", "cannot tell"]

MOST_ROUNDS = 100
"""A claim that would take more rounds than this is too close to call."""


@dataclass(frozen=True)
class Rule:
    """The whole interval lies in low..high (either may be infinite)."""

    low: float
    high: float

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> "Rule":
        low, high = table.get("between", (-math.inf, math.inf))
        return cls(float(table.get("above", low)), float(table.get("below", high)))

    def text(self, unit: str) -> str:
        """As it is said: "above 1.5"."""
        low, high = (f"{v:g}" if unit in ("", "ratio") else amount(v, unit) for v in (self.low, self.high))
        if self.high == math.inf:
            return f"above {low}"
        if self.low == -math.inf:
            return f"below {high}"
        return f"between {low} and {high}"

    def judge(self, e: Estimate) -> PartVerdict:
        """ "holds", "fails" or "cannot tell": by the interval, whose end may be open ("≥")."""
        if e.value is None or e.low is None or (e.high is None and not e.bound):
            return "cannot tell"
        high = math.inf if e.high is None else e.high
        if self.low <= e.low and high <= self.high:
            return "holds"
        return "fails" if high < self.low or e.low > self.high else "cannot tell"

    def distance(self, value: float) -> float:
        """From a value to the nearer limit."""
        return min(abs(value - limit) for limit in (self.low, self.high) if math.isfinite(limit))


@dataclass(frozen=True)
class Measured:
    """What a run measured, as far as claims are about it."""

    grouped: Mapping[Key, Sequence[TrialData]]
    summaries: Mapping[Key, WorkloadSummary]
    starvation: Sequence[Starvation]
    skipped: Mapping[str, str]

    def contestants(self) -> list[str]:
        """Who was measured."""
        return list(dict.fromkeys(name for name, _ in self.summaries))

    def meant(self, name: str) -> list[str]:
        """Whom a name means in this run: those who were measured before those who were skipped."""
        found = meant(name, [*self.contestants(), *self.skipped])
        return [label for label in found if label in self.contestants()] or found or [name]

    def rounds(self, key: Key) -> dict[int, TrialData]:
        """The trials that measured something, by round."""
        return by_round(self.grouped.get(key, ()))


def judge_claims(plan: Mapping[str, Any], measured: Measured) -> list[Claim]:
    """Every claim of the plan."""
    return [_claim(table, measured) for table in plan.get("claim", [])]


def _claim(table: Mapping[str, Any], measured: Measured) -> Claim:
    parts = [part for asked in table.get("holds", []) for part in _parts(asked, measured)]
    message, published = str(table.get("says", "")), str(table.get("published", ""))
    failed = [part for part in parts if part.verdict == "fails"]
    unknown = [part for part in parts if part.verdict == "cannot tell"]
    if failed:
        return Claim(message, published, "not reproduced", _deciding(failed), parts)
    if unknown or not parts:
        return Claim(message, published, "cannot tell", _deciding(unknown), parts)
    return Claim(message, published, "reproduced", _deciding(parts), parts)


def _deciding(parts: Sequence[CriterionResult]) -> str:
    return "; ".join(dict.fromkeys(part.message for part in parts)) + "." if parts else "It has no rule."


def _parts(asked: Mapping[str, Any], measured: Measured) -> list[CriterionResult]:
    """One for each contestant that the names mean, on both sides."""
    against = asked.get("against")
    left = _keys(asked, {}, measured)
    right = _keys(asked, against, measured) if against is not None else [None]
    return [_part(asked, a, b, measured) for a in left for b in right]


def _keys(asked: Mapping[str, Any], other: Mapping[str, Any], measured: Measured) -> list[Key]:
    contestant = str(other.get("contestant", asked.get("contestant", "")))
    workload = str(other.get("workload", asked.get("workload", "")))
    return [(name, workload) for name in measured.meant(contestant)]


def _part(asked: Mapping[str, Any], left: Key, right: Key | None, measured: Measured) -> CriterionResult:
    quantity = str(asked.get("quantity", ""))
    other = str((asked.get("against") or {}).get("quantity", quantity))
    unit = "ratio" if right is not None else METRICS.get(quantity, "")
    rule, name = Rule.of(asked), f"{quantity} of {', '.join(left)}"
    if right is not None:
        name += f" / {other} of {', '.join(right)}"
    sides = [left] if right is None else [left, right]
    estimate = (
        _plain(quantity, left, measured)
        if right is None
        else _ratio((quantity, left), (other, right), measured)
    )
    verdict, message = rule.judge(estimate), f"{name} {interval(estimate, unit)}"
    if absent := [key for key in sides if not measured.rounds(key)]:
        verdict, message = "cannot tell", _absent(absent[0], measured)
    elif invalid := [key for key in sides if measured.summaries[key].verdict is Verdict.INVALID]:
        verdict, message = "cannot tell", f"the trials of {', '.join(invalid[0])} were invalid ({message})"
    else:
        message += {"holds": ", is ", "fails": ", is not ", "cannot tell": ", asked: "}[verdict] + rule.text(
            unit
        )
        message += _needed(rule, estimate) if verdict == "cannot tell" and quantity != "errors" else ""
    return CriterionResult(
        name,
        rule.text(unit),
        *left,
        quantity,
        estimate,
        verdict,
        message,
    )


def _plain(quantity: str, key: Key, measured: Measured) -> Estimate:
    if quantity in INDICES:
        return _index(quantity, key, measured)
    if quantity not in metrics.MEASURES:
        return Estimate(None, note="another version of jostle measures it")
    return metrics.estimate(quantity, list(measured.rounds(key).values()))


def _index(quantity: str, key: Key, measured: Measured) -> Estimate:
    contestant, workload = key
    for s in measured.starvation:
        if s.contestant == contestant and workload in (s.alone_workload, s.with_workload):
            return s.index if quantity == INDICES[0] else s.blocking
    return Estimate(None, unit="", note="not measured alone and beside a slow request")


def _ratio(left: tuple[str, Key], right: tuple[str, Key], measured: Measured) -> Estimate:
    """Paired by round."""
    if any(quantity not in metrics.MEASURES for quantity, _ in (left, right)):
        return Estimate(None, unit="", note="another version of jostle measures it")
    ours, theirs = measured.rounds(left[1]), measured.rounds(right[1])
    common = sorted(ours.keys() & theirs.keys())
    return metrics.ratio(
        [metrics.MEASURES[left[0]](ours[number]) for number in common],
        [metrics.MEASURES[right[0]](theirs[number]) for number in common],
    )


def _absent(key: Key, measured: Measured) -> str:
    contestant, workload = key
    if contestant in measured.contestants():
        return f"{workload} was not measured on {contestant}"
    why = " ".join(measured.skipped.get(contestant, "").split())
    return f"{contestant} was not measured" + (f" ({why})" if why else "")


def _needed(rule: Rule, e: Estimate) -> str:
    """How many rounds would tell. (Of errors, requests are counted and not only rounds.)"""
    rounds = rounds_needed(rule, e)
    if e.value is None or rounds is None:
        return ""
    if rounds > MOST_ROUNDS:
        return f": too close to tell in {MOST_ROUNDS} rounds"
    return f": about {rounds} rounds would tell, if they differ as much as these" if e.n > 1 else ""


def rounds_needed(rule: Rule, e: Estimate, confidence: float = CONFIDENCE) -> int | None:
    """Rounds after which Student's interval no longer reaches the limit, at the spread seen so far.

    None where the spread is not known; more than `MOST_ROUNDS` where that many do not suffice.
    """
    if e.value is None or e.low is None or e.high is None or e.n < 2:
        return None
    tail = (1 + confidence) / 2
    spread = (e.high - e.low) / 2 * math.sqrt(e.n) / float(stdtrit(e.n - 1, tail))
    far = rule.distance(e.value)
    for rounds in range(e.n + 1, MOST_ROUNDS + 1):
        if float(stdtrit(rounds - 1, tail)) * spread / math.sqrt(rounds) < far:
            return rounds
    return MOST_ROUNDS + 1
