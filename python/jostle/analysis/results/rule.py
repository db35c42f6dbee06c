"""The one rule by which an interval decides, for requirements, claims and `--fail-if`."""

import math
from dataclasses import dataclass
from typing import Literal

from jostle.analysis.results import Decision, Estimate
from jostle.formatting import amount
from jostle.plan.criteria.conditions import Condition
from jostle.units import format_number

__all__ = ["Rule", "RuleDecision", "decide", "distrusted", "rule_of", "written"]

RuleDecision = Literal["holds", "fails", "undecided"]


@dataclass(frozen=True)
class Rule:
    """The value must lie in low..high, ends included, or, if one of them is infinite, beyond the other.

    "Above 1" is not true of 1, nor is "above 0 %" of an interval that begins at 0; with `touching` it is, as
    in "at least 1". The rule holds if the whole interval satisfies it, and fails if no part of it does.
    Without an interval, or with only that of one round, it is undecided.
    """

    low: float = -math.inf
    high: float = math.inf
    touching: bool = False

    def judge(self, e: Estimate) -> RuleDecision:
        """The decision on an estimate, whose interval may be open at its upper end ("≥")."""
        if e.value is None or e.low is None or e.this_run_only or (e.high is None and not e.bound):
            return "undecided"
        high = math.inf if e.high is None else e.high
        if self.touching or (math.isfinite(self.low) and math.isfinite(self.high)):
            inside, outside = self.low <= e.low and high <= self.high, high < self.low or e.low > self.high
        elif math.isfinite(self.low):
            inside, outside = e.low > self.low, high <= self.low
        else:
            inside, outside = high < self.high, e.low >= self.high
        return "holds" if inside else "fails" if outside else "undecided"

    def holds_at(self, value: float) -> bool:
        """Whether the value itself satisfies it."""
        return self.judge(Estimate(value, value, value)) == "holds"

    def nearest(self, value: float) -> float:
        """The limit that lies nearer to a value."""
        return min((x for x in (self.low, self.high) if math.isfinite(x)), key=lambda x: abs(value - x))

    def text(self, unit: str) -> str:
        """The rule for a reader: "above 1.5"."""
        low, high = written(self.low, unit), written(self.high, unit)
        if self.high == math.inf:
            return f"above {low}"
        if self.low == -math.inf:
            return f"below {high}"
        return f"between {low} and {high}"


def rule_of(condition: Condition) -> Rule:
    """The rule of a condition."""
    side = {"high": condition.limit} if condition.below else {"low": condition.limit}
    return Rule(**side, touching=condition.touching)


def decide(condition: Condition, estimate: Estimate) -> Decision:
    """Pass if the condition surely holds, fail if it surely does not."""
    decisions: dict[RuleDecision, Decision] = {"holds": "pass", "fails": "fail", "undecided": "undecided"}
    return decisions[rule_of(condition).judge(estimate)]


def written(value: float, unit: str) -> str:
    """A limit or a value as text; ratios are plain numbers."""
    return format_number(value) if unit in ("", "ratio") else amount(value, unit)


def distrusted(what: str, message: str) -> str:
    """Why the figure of `what` ("" if that is clear) decides nothing."""
    whose = f"the figure of {what}" if what else "the figure"
    return f"{whose} is invalid ({message.removesuffix('.')})"
