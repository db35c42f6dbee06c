"""Whether the generator had its core, or waited for it while others ran: then it reads responses late."""

from jostle.analysis.results import Check
from jostle.analysis.trials.data import TrialData
from jostle.analysis.trials.kept_waiting import generator_kept_waiting
from jostle.analysis.validity.bounded import has_bounds, part_of_times, unbounded
from jostle.analysis.validity.figures import RATES, TIMES
from jostle.analysis.validity.machine import ALL
from jostle.formatting import percent
from jostle.record.verdict import Verdict

__all__ = ["SUSPECT_ABOVE", "had_its_core", "share_in_intervals"]

SUSPECT_ABOVE, REPEAT_ABOVE = 0.10, 0.20
"""Share of the time in which the generator's threads waited for a core. Undisturbed it was at most 0.03, and
beside a program that computes for 10 % of the time at most 0.09, which moved no figure; with 0.2 the p90 was
twice as long as it should be (docs/explanation/how-often-right.md)."""

REMEDY = "stop what else runs on this machine, or give the generator a core of its own"


def had_its_core(data: TrialData) -> Check | None:
    """None if that is not known, and where server and generator share cores, which another check tells.

    `lateness` knows how late requests were sent, but nothing of how late a response was read. In a closed
    loop, intervals hold what the figures would be without it, up to half of the time.
    """
    share = generator_kept_waiting(data)
    if share is None:
        return None
    if share <= SUSPECT_ABOVE:
        message = f"the generator waited for a core for {percent(share)} of the time"
        return Check("generator core", Verdict.VALID, share, SUSPECT_ABOVE, "share", message)
    message = f"other programs kept the generator from its core for {percent(share)} of the time"
    rates = RATES if data.closed is not None else ()
    bounded = share <= ALL and has_bounds(data)
    affects = unbounded(data, share) if bounded else (*rates, *TIMES)
    return Check(
        "generator core",
        Verdict.SUSPECT if affects else Verdict.VALID,
        share,
        SUSPECT_ABOVE,
        "share",
        f"{message}, which may be {part_of_times(data, share)}" if bounded else message,
        REMEDY,
        affects,
        "machine",
        notable=bounded,
        again=share > REPEAT_ABOVE,
    )


def share_in_intervals(data: TrialData) -> float:
    """The share of the time in which the generator waited, if intervals hold what that did."""
    share = data.kept_waiting.generator or 0.0
    return share if SUSPECT_ABOVE < share <= ALL and has_bounds(data) else 0.0
