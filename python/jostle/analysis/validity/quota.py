"""Whether a CPU quota of jostle's container, or of another cgroup, stopped generator and server."""

import numpy as np

from jostle.analysis.results import Check
from jostle.analysis.trials.data import TrialData
from jostle.analysis.trials.kept_waiting import NOTICEABLE_S
from jostle.analysis.validity.figures import RATES, TIMES, quantiles_among
from jostle.formatting import percent
from jostle.record.verdict import Verdict
from jostle.units import format_duration

__all__ = ["SUSPECT", "within_quota"]

SUSPECT = 0.05
"""Share of the time above which all figures are in doubt; below it, those that may lie among its requests."""

REMEDY = "raise the quota (cpu.max; --cpus of docker, limits.cpu of Kubernetes), or measure outside of it"


def within_quota(data: TrialData) -> Check | None:
    """None if nothing was withheld, and in older records. The account adds up all cores: as if one after the
    other had been stopped, at most the whole time.
    """
    m = data.machine
    withheld_s = float(np.nansum(m.throttled_s))
    if withheld_s < NOTICEABLE_S:
        return None
    share = min(1.0, withheld_s / float(m.length_s.sum()))
    affects = (*RATES, *TIMES) if share > SUSPECT else (*quantiles_among(share), "max", "mean")
    message = (
        f"a CPU quota withheld {format_duration(withheld_s)} from generator and server, "
        f"{percent(share)} of the time"
    )
    return Check("quota", Verdict.SUSPECT, share, SUSPECT, "share", message, REMEDY, affects, "machine")
