"""Whether the generator had its core, or waited for it while others ran: then it reads responses late."""

import numpy as np

from jostle.analysis.results import Check
from jostle.analysis.trials.data import TrialData
from jostle.analysis.validity.figures import RATES, TIMES
from jostle.formatting import percent
from jostle.record.verdict import Verdict

__all__ = ["SUSPECT", "had_its_core"]

SUSPECT, AGAIN = 0.10, 0.20
"""Share of the time in which the generator's threads waited for a core. Undisturbed it was at most 0.03, and
beside a program that computes for 10 % of the time at most 0.09, which moved no figure; with 0.2 the p90 was
twice as long as it should be (docs/explanation/how-often-right.md)."""

REMEDY = "stop what else runs on this machine, or give the generator a core of its own"


def had_its_core(data: TrialData) -> Check | None:
    """None if that is not known, and where server and generator share cores, which another check tells.

    `lateness` knows how late requests were sent, but nothing of how late a response was read.
    """
    m, placement = data.machine, data.trial.description.get("placement", {})
    if placement.get("shared") is not False or not len(m.length_s) or np.isnan(m.waited_s).all():
        return None
    cores = max(1, len(placement.get("generator_cores") or ()))
    share = float(np.nansum(m.waited_s) / m.length_s.sum()) / cores
    if share <= SUSPECT:
        message = f"the generator waited for a core for {percent(share)} of the time"
        return Check("generator core", Verdict.VALID, share, SUSPECT, "share", message)
    message = f"other programs kept the generator from its core for {percent(share)} of the time"
    rates = RATES if data.closed is not None else ()
    return Check(
        "generator core",
        Verdict.SUSPECT,
        share,
        SUSPECT,
        "share",
        message,
        REMEDY,
        (*rates, *TIMES),
        "machine",
        again=share > AGAIN,
    )
