"""The plan's `[[claim]]`: reproduced, not reproduced, or cannot tell, by the rule that was fixed beforehand.

A part holds when its whole interval satisfies the rule, fails when its whole interval violates it. A claim is
reproduced when all of its parts hold, not reproduced when any of them fails; else it cannot be told. With k
parts there are k chances to fail: each of them fails only by an interval of 1 - 5 %/k (Bonferroni). That all
hold needs no correction (intersection-union test: Berger, Technometrics 24 (1982)).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scipy.special import stdtrit

from jostle.analysis import metrics
from jostle.analysis.compare.pairs import Key
from jostle.analysis.judge.rule import Rule, distrusted
from jostle.analysis.results import Claim, CriterionResult, Estimate, Starvation, WorkloadSummary
from jostle.analysis.stats.over_rounds import ratio_of_rounds
from jostle.analysis.stats.quantile_ci import CONFIDENCE
from jostle.analysis.trial.data import TrialData, by_round
from jostle.formatting import interval
from jostle.plan.labels import meant
from jostle.plan.metrics import INDICES, METRICS
from jostle.record.verdict import Verdict

__all__ = ["Measured", "judge_claims", "rounds_needed", "rule_of"]

MOST_ROUNDS = 100
"""A claim that would take more rounds than this is too close to call."""


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
    sides = [(asked, *pair) for asked in table.get("holds", []) for pair in _sides(asked, measured)]
    confidence = 1 - (1 - CONFIDENCE) / max(1, len(sides))
    parts = [_part(asked, left, right, measured, confidence) for asked, left, right in sides]
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


def _sides(asked: Mapping[str, Any], measured: Measured) -> list[tuple[Key, Key | None]]:
    """What is measured, and what it is divided by: one pair for each contestant that the names mean."""
    against = asked.get("against")
    left = _keys(asked, {}, measured)
    right: Sequence[Key | None] = _keys(asked, against, measured) if against is not None else [None]
    return [(a, b) for a in left for b in right]


def _keys(asked: Mapping[str, Any], other: Mapping[str, Any], measured: Measured) -> list[Key]:
    contestant = str(other.get("contestant", asked.get("contestant", "")))
    workload = str(other.get("workload", asked.get("workload", "")))
    return [(name, workload) for name in measured.meant(contestant)]


def _part(
    asked: Mapping[str, Any], left: Key, right: Key | None, measured: Measured, confidence: float
) -> CriterionResult:
    """It holds by the interval of 95 %, and fails by that of `confidence`."""
    quantity = str(asked.get("quantity", ""))
    other = str((asked.get("against") or {}).get("quantity", quantity))
    unit = "ratio" if right is not None else METRICS.get(quantity, "")
    rule, name = rule_of(asked), f"{quantity} of {', '.join(left)}"
    if right is not None:
        name += f" / {other} of {', '.join(right)}"
    sides = [left] if right is None else [left, right]

    def estimated(confidence: float) -> Estimate:
        if right is None:
            return _plain(quantity, left, measured, confidence)
        return _ratio((quantity, left), (other, right), measured, confidence)

    estimate = estimated(CONFIDENCE)
    verdict, message = rule.judge(estimate), f"{name} {interval(estimate, unit)}"
    if verdict == "fails":
        verdict = rule.judge(estimated(confidence))
    absent = [key for key in sides if not measured.rounds(key)]
    if absent:
        verdict, message = "cannot tell", _absent(absent[0], measured)
    elif invalid := [key for key in sides if measured.summaries[key].verdict is Verdict.INVALID]:
        verdict, message = "cannot tell", distrusted(", ".join(invalid[0]), message)
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
        absent[0][0] if absent else "",
    )


def _plain(quantity: str, key: Key, measured: Measured, confidence: float) -> Estimate:
    if quantity in INDICES:
        return _index(quantity, key, measured)
    if quantity not in metrics.MEASURES:
        return Estimate(None, note="another version of jostle measures it")
    return metrics.estimate(quantity, list(measured.rounds(key).values()), confidence)


def _index(quantity: str, key: Key, measured: Measured) -> Estimate:
    contestant, workload = key
    for s in measured.starvation:
        if s.contestant == contestant and workload in (s.alone_workload, s.with_workload):
            return s.index if quantity == INDICES[0] else s.blocking
    return Estimate(None, unit="", note="not measured alone and beside a slow request")


def rule_of(asked: Mapping[str, Any]) -> Rule:
    """The rule that a plan states: `above`, `below` or `between`."""
    low, high = asked.get("between", (-math.inf, math.inf))
    return Rule(float(asked.get("above", low)), float(asked.get("below", high)))


def _ratio(left: tuple[str, Key], right: tuple[str, Key], measured: Measured, confidence: float) -> Estimate:
    """Paired by round."""
    if any(quantity not in metrics.MEASURES for quantity, _ in (left, right)):
        return Estimate(None, unit="", note="another version of jostle measures it")
    ours, theirs = measured.rounds(left[1]), measured.rounds(right[1])
    common = sorted(ours.keys() & theirs.keys())
    return ratio_of_rounds(
        [metrics.MEASURES[left[0]](ours[number]) for number in common],
        [metrics.MEASURES[right[0]](theirs[number]) for number in common],
        confidence,
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
