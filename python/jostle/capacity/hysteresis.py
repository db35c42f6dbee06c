"""Whether the server recovers from an overload: the last part of the time after it, against the SLO."""

from jostle.analysis.results.capacity import Hysteresis
from jostle.analysis.trials.data import TrialData
from jostle.analysis.trials.streaming import fold
from jostle.capacity.recorded import RecordedSearch
from jostle.formatting import percent
from jostle.text import first_line

__all__ = ["hysteresis"]

LAST_SHARE = 0.5
"""The last part of the time after an overload, as a share, which is judged."""

MIN_ANSWERED_SHARE = 0.5
"""A server has not recovered if it answers a smaller share than this of the requests that are due."""

HYSTERESIS_SLACK = 2.0
"""After an overload, this many times the permitted share may break the SLO by chance."""


def hysteresis(search: RecordedSearch, deciding_slo: int) -> Hysteresis | None:
    """None if it was not tried. `deciding_slo`: the number of the SLO that breaks first."""
    data = search.back
    if data is None or not data.recorded:
        return None
    above, back = _steps(data)
    after = f"after an overload of {search.shown(above)}, at {search.shown(back)}"
    if data.trial.generators_lost:
        return Hysteresis(
            above, back, None, "a generator died, so it cannot be told whether the server recovers"
        )
    if data.trial.status == "failed":
        return Hysteresis(above, back, False, f"{after} it has not recovered: {first_line(data.trial.why)}")
    if len(data.phases) < 2:
        return None
    slo, end = search.slos[deciding_slo], float(data.counts.end_ns[-1]) / 1e9
    begin = data.phases[-1].start_s
    mask = data.middles_s >= end - LAST_SHARE * (end - begin)
    sample = fold(data.trial.interval_histograms("response"), [mask]).parts[0]
    failed = int(data.counts.failed[mask].sum())
    late = 0 if slo.limit_s is None else int(sample.events[sample.values_s > slo.limit_s].sum())
    n = sample.n_events + failed
    due = int(data.counts.due[mask].sum())
    if n < MIN_ANSWERED_SHARE * due and due * slo.share >= 1:
        message = f"{after} it has not recovered: of {due} requests, {n} were answered"
        return Hysteresis(above, back, False, message)
    if n * slo.share < 1:
        return Hysteresis(
            above, back, None, "there were too few requests to tell whether it recovers from an overload"
        )
    share = (late + failed) / n
    holds = share <= HYSTERESIS_SLACK * slo.share
    message = (
        f"{after} it has recovered: {percent(share)} break {slo.text}"
        if holds
        else f"{after} it has not recovered: {percent(share)} still break {slo.text}"
    )
    return Hysteresis(above, back, holds, message)


def _steps(data: TrialData) -> tuple[float, float]:
    if data.open is not None:
        first, last = data.open["rates"][0]["from"], data.open["rates"][-1]["from"]
    else:
        phases = (data.closed or {})["phases"]
        first, last = phases[0]["from"], phases[-1]["from"]
    return float(first), float(last)
