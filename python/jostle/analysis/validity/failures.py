"""Requests that failed are a result: how many, how, when, and which quantiles lie among them."""

from collections import Counter
from collections.abc import Iterable

import numpy as np

from jostle.analysis.results import Check
from jostle.analysis.stats.quantile_ci import samples_needed
from jostle.analysis.trials.data import MEASURED, TrialData
from jostle.analysis.validity.figures import SHOWN
from jostle.analysis.validity.remedies import remedy_for
from jostle.formatting import listed, percent, tallied
from jostle.quantiles import NAMED
from jostle.record.outcomes import TIMEOUTS, Outcome, failures, outcome_label
from jostle.record.verdict import Verdict
from jostle.text import one_line, shortened
from jostle.units import format_count, format_duration

__all__ = [
    "EVEN_IF_NOTHING_WAS_RIGHT",
    "RIGHT_INVALID",
    "almost_none_right",
    "kinds_of",
    "requests_failed",
]

RIGHT_INVALID = 0.05
"""If no more of the requests were answered as expected, something else than its work was measured."""

EVEN_IF_NOTHING_WAS_RIGHT = ("errors", "unavailable")
"""The figures that are sound however many requests failed."""

THROUGHOUT = 0.8
"""Failures that span at least this share of a trial came throughout."""


def requests_failed(data: TrialData) -> Check:
    """Never a reason for doubt: failures are counted, and longer than all others in the distribution."""
    share = data.failing_time_share
    if not data.errors and not data.scripts_failed():
        return Check("errors", Verdict.VALID, 0, None, "share", "no request failed")
    kinds = ", ".join(kinds_of(data))
    if refused := data.counts.refused.get(MEASURED):
        kinds += f", for example {shortened(one_line(refused))}"
    message = f"{_shares(data)}: {kinds}{_when(data)}{_beyond(data)}"
    return Check(
        "errors", Verdict.VALID, share, None, "share", message, remedy_for(data.errors), notable=True
    )


def _shares(data: TrialData) -> str:
    of_requests = f"{percent(data.error_share)} failed"
    if data.failing_time_share <= data.error_share:
        return of_requests
    return f"clients spent {percent(data.failing_time_share)} of their time failing, {of_requests}"


def kinds_of(data: TrialData, workload: int = MEASURED) -> Iterable[str]:
    """Each way of failing with its number: "4 × 503", "44 connection refused"."""
    failed = Counter(failures(data.outcomes(workload)))
    failed[Outcome.SCRIPT_FAILED] = data.scripts_failed(workload)
    for kind, count in (+failed).most_common():
        reasons = tallied(data.reasons(kind, workload))
        if kind == Outcome.WRONG_STATUS and reasons:
            yield reasons
        else:
            yield f"{format_count(count)} {outcome_label(kind)}" + (f" ({reasons})" if reasons else "")


def _when(data: TrialData) -> str:
    """From the first interval with a failure to the last one, unless that is most of the trial, or outages
    say when.
    """
    if data.outages:
        return ""
    failing = np.flatnonzero(data.counts.failed)
    if not len(failing):
        return ""
    start_s, end_s = (
        float(data.counts.start_ns[failing[0]]) / 1e9,
        float(data.counts.end_ns[failing[-1]]) / 1e9,
    )
    if end_s - start_s >= THROUGHOUT * data.duration_s:
        return ", throughout"
    return f", from {format_duration(start_s)} to {format_duration(end_s)}"


def _beyond(data: TrialData) -> str:
    """Which quantiles that are shown lie among the failures: they are longer than all that was seen."""
    share = data.never_answered / data.response.n if data.response.n else 0.0
    beyond = [
        SHOWN[name]
        for name, p in NAMED.items()
        if name in SHOWN and share > 1 - p and data.response.n >= samples_needed(p)
    ]
    return f", so {listed(beyond)} {'lies' if len(beyond) == 1 else 'lie'} among them" if beyond else ""


def almost_none_right(data: TrialData) -> bool:
    """Whether (almost) nothing was answered as expected; a timeout says nothing of that."""
    wrong = sum(n for kind, n in data.errors.items() if kind not in TIMEOUTS)
    return bool(wrong) and data.ok() <= RIGHT_INVALID * (wrong + data.ok())
