"""What one or two rounds decide, and how many more would decide the rest."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from jostle.analysis import metrics
from jostle.analysis.results import Estimate
from jostle.analysis.stats.enough import MIN_ROUNDS
from jostle.analysis.stats.few_rounds import factor_between_runs, of_few_rounds, spread_over_rounds
from jostle.analysis.stats.forecast import MAX_ROUNDS, rounds_for
from jostle.analysis.stats.moderated import Spread, Usual, UsualOf
from jostle.analysis.summaries import one_request
from jostle.analysis.summaries.disturbed import undisturbed
from jostle.analysis.trials.data import TrialData
from jostle.analysis.trials.one_request import OneRequest
from jostle.formatting import plural
from jostle.units import format_rough_span

__all__ = ["Judged", "judged", "judged_request"]

NEAR = 1.5
"""Runs that differ by less than this factor are told by percent."""


@dataclass(frozen=True)
class Judged:
    """The figure that a requirement is judged by."""

    estimate: Estimate
    spread: Spread | None = None
    """How much its rounds vary; None if it has no value per round, or nothing is known of the spread of too
    few."""
    aside: str = ""
    """What a reader must know of its interval, "" if that is an ordinary one."""

    def more_rounds(self, limit: float, confidence: float, round_s: float | None) -> str:
        """How many more rounds would probably tell it from the limit, as a clause; "" if it is not known."""
        value, have = self.estimate.value, len(self.estimate.rounds)
        if self.spread is None or not value or value < 0 or limit <= 0 or value == limit:
            return ""
        needed = rounds_for(abs(math.log(value / limit)), self.spread, confidence)
        if needed > MAX_ROUNDS:
            return f"it is too close to tell in {MAX_ROUNDS} rounds"
        more = max(1, needed - have)
        took = f", about {format_rough_span(more * round_s)}," if round_s else ""
        return f"{plural(more, 'more round')}{took} would probably tell: `--until-decided`"


def judged(metric: str, trials: Sequence[TrialData], confidence: float, usual: UsualOf) -> Judged:
    """A metric over rounds, as it is judged: of one or two rounds with what is usual between runs."""
    found = metrics.estimate(metric, trials, confidence, usual)
    figure = _judged(found, usual(metric), metrics.within(metric, trials), confidence)
    if found.low is not None:
        return figure
    return replace(figure, estimate=undisturbed(metric, figure.estimate, trials))


def judged_request(metric: str, rounds: Sequence[OneRequest], confidence: float, usual: UsualOf) -> Judged:
    """The same of one request: its rounds vary as those of the workload do, beside its own few requests."""
    found = one_request.estimate(metric, rounds, confidence, usual)
    return _judged(found, usual(metric), one_request.within(metric, rounds), confidence)


def _judged(found: Estimate, known: Usual | None, variance_in_a_round: float, confidence: float) -> Judged:
    if found.this_run_only and found.value is not None:
        found = replace(found, rounds=(found.value,))
    if known is None or not found.rounds or min(found.rounds) <= 0:
        return Judged(found)
    spread = spread_over_rounds(found, known, variance_in_a_round)
    if len(found.rounds) >= MIN_ROUNDS:
        return Judged(found, spread)
    widened = of_few_rounds(found, spread, confidence)
    if widened is None:
        return Judged(found)
    which = "this run" if len(found.rounds) == 1 else "two rounds"
    before = f", as {plural(known.runs, 'earlier run')} did" if known.runs else ""
    factor = factor_between_runs(spread)
    differ = f"± {100 * (factor - 1):.0f} %" if factor < NEAR else f"a factor of {factor:.2g}"
    return Judged(widened, spread, f"{which}; such runs differ by {differ}{before}")
