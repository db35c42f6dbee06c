"""Verdicts of every kind as marks: a symbol, a word, and a tone."""

from jostle.record.verdict import Verdict
from jostle.report.document import Mark, Tone

__all__ = ["NOT_MEASURED", "claim_mark", "decision_mark", "verdict_mark"]

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


def decision_mark(decision: str) -> Mark:
    """The mark of a requirement, a condition or a criterion."""
    symbol = _SYMBOLS[decision]
    return Mark(symbol, decision, _TONES[symbol])


def claim_mark(verdict: str) -> Mark:
    """Whether a claim is reproduced."""
    return decision_mark(verdict)
