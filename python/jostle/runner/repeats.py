"""Trials that are measured again: those that the generator or the machine spoiled."""

from jostle.analysis.results import Validity
from jostle.record.verdict import Verdict

__all__ = ["MOST_REPEATS", "spoiled_by"]

MOST_REPEATS = 2
"""Of one trial. The last one counts, whatever it is like: a machine that is never quiet is a finding too."""

BLAMELESS = ("generator", "machine")


def spoiled_by(validity: Validity) -> str:
    """Why a trial is to be measured again; empty where it counts.

    It does where any figure is invalid, and the generator or the machine alone are the cause. What the server
    answered, and how fast, is not asked.
    """
    invalid = [check for check in validity.checks if check.verdict is Verdict.INVALID]
    if not invalid or any(check.cause not in BLAMELESS for check in invalid):
        return ""
    return "; ".join(dict.fromkeys(check.message for check in invalid))
