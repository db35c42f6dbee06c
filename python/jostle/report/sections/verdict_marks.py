"""Verdicts of every kind as marks: a symbol, a word, and a tone."""

from jostle.analysis.results import RunResult
from jostle.formatting import percent
from jostle.record.verdict import Verdict
from jostle.report.document import Mark, Tone

__all__ = ["NOT_MEASURED", "claim_mark", "decision_mark", "first_mark", "verdict_mark"]

MANY_FAILED = 0.05
"""Share of the requests of a workload above which a valid measurement is first of all one of failures."""

_TONES: dict[str, Tone] = {"✓": "good", "≈": "warning", "?": "warning", "✗": "bad"}

_SYMBOLS = {
    "pass": "✓",
    "fail": "✗",
    "undecided": "?",
    "reproduced": "✓",
    "same direction, other size": "≈",
    "not reproduced": "✗",
    "holds": "✓",
    "other size": "≈",
    "size undecided": "?",
    "fails": "✗",
    "does not hold": "✗",
}


NOT_MEASURED = Mark("?", "not measured", _TONES["?"])
"""The mark of a criterion whose contestant did not take part."""


def verdict_mark(verdict: Verdict) -> Mark:
    """Whether figures can be trusted."""
    return Mark(verdict.symbol, str(verdict), _TONES[verdict.symbol])


def first_mark(result: RunResult) -> Mark:
    """What stands before the title: the verdict on the measurement, or what a reader must know before it."""
    failed = max((summary.error_share for summary in result.summaries), default=0.0)
    if result.verdict is not Verdict.VALID or failed <= MANY_FAILED:
        return verdict_mark(result.verdict)
    most = "up to " if len(result.summaries) > 1 else ""
    return Mark("✗", f"{most}{percent(failed)} failed (the measurement is valid)", _TONES["✗"])


def decision_mark(decision: str) -> Mark:
    """The mark of a requirement, a condition or a criterion."""
    symbol = _SYMBOLS[decision]
    return Mark(symbol, decision, _TONES[symbol])


def claim_mark(verdict: str) -> Mark:
    """Whether a claim is reproduced."""
    return decision_mark(verdict)
