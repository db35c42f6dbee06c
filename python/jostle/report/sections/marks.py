"""Verdicts of every kind as marks: a symbol, a word, and how good that is."""

from jostle.record.verdict import Verdict
from jostle.report.document import Mark, Tone

__all__ = ["NOT_MEASURED", "claim_mark", "decision_mark", "verdict_mark"]

_TONES: dict[str, Tone] = {"✓": "good", "≈": "warning", "?": "warning", "✗": "bad"}

_SYMBOLS = {
    "pass": "✓",
    "fail": "✗",
    "cannot tell": "?",
    "reproduced": "✓",
    "same direction, other size": "≈",
    "not reproduced": "✗",
    "holds": "✓",
    "other size": "≈",
    "size unclear": "?",
    "fails": "✗",
    "does not hold": "✗",
}


NOT_MEASURED = Mark("?", "not measured", _TONES["?"])
"""Of a criterion whose contestant did not take part."""


def verdict_mark(verdict: Verdict) -> Mark:
    """Whether figures can be trusted."""
    return Mark(verdict.symbol, str(verdict), _TONES[verdict.symbol])


def decision_mark(decision: str) -> Mark:
    """Of a requirement, a condition, a criterion."""
    symbol = _SYMBOLS[decision]
    return Mark(symbol, decision, _TONES[symbol])


def claim_mark(verdict: str) -> Mark:
    """Whether a claim is reproduced. That it is not is a finding: nothing is broken."""
    return decision_mark(verdict)
