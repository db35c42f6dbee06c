"""Checks of the generators themselves: did all bear their share to the end, and is all of it recorded?"""

from jostle.analysis.facts import Facts
from jostle.analysis.result import Check, Verdict
from jostle.units import format_count, format_duration

__all__ = ["all_bore_their_share", "all_recorded", "started_together"]

MISSING_INVALID = 0.05
"""As for requests that were due and not sent."""

APART_SUSPECT_S = 0.005


def all_bore_their_share(facts: Facts) -> Check | None:
    """Generators that died: which share of the offered load is missing, and since when."""
    count = len(facts.trial.description.get("generators", ()))
    lost = facts.trial.generators_lost
    if count < 2:
        return None
    if not lost:
        return Check(
            "generators", "valid", 0, 0, "share", f"all {count} generators bore their share to the end"
        )
    whole_s = max(facts.duration_s, facts.planned_s or 0.0)
    missing = sum((1 - one["at_ns"] / 1e9 / whole_s) / one["of"] for one in lost) if whole_s else 1.0
    verdict: Verdict = "invalid" if missing > MISSING_INVALID else "suspect"
    each = "; ".join(f"{one['why']}, after {format_duration(one['at_ns'] / 1e9)}" for one in lost)
    says = f"{missing * 100:.3g} % of the offered load is missing: {each}"
    remedy = "run it again; look for a lack of memory (dmesg)"
    return Check("generators", verdict, missing, 0, "share", says, remedy)


def started_together(facts: Facts) -> Check | None:
    """The first start against the last."""
    starts = [one["started_unix_ns"] for one in facts.trial.description.get("generators", ())]
    if len(starts) < 2:
        return None
    apart_s = (max(starts) - min(starts)) / 1e9
    verdict: Verdict = "suspect" if apart_s > APART_SUSPECT_S else "valid"
    says = f"the generators started within {format_duration(apart_s)} of one another"
    remedy = "" if verdict == "valid" else "the machine is overloaded: use fewer generator processes"
    return Check("start", verdict, apart_s, APART_SUSPECT_S, "s", says, remedy)


def all_recorded(facts: Facts) -> Check | None:
    """Rows and threads of the generator that were lost; silent where none were."""
    rows = sum(interval.get("rows_lost", 0) for interval in facts.intervals)
    workers = max((interval.get("workers_lost", 0) for interval in facts.intervals), default=0)
    if workers:
        says = f"{format_count(workers)} threads of the generator died: their share of the load is missing"
        remedy = "this should not happen: please report it with the run folder"
        return Check("record", "invalid", workers, 0, "threads", says, remedy)
    if rows:
        says = f"{format_count(rows)} rows were thrown away, because the disk or this machine was too slow"
        remedy = "leave rows out of the plan; histograms and counts are whole"
        return Check("record", "suspect", rows, 0, "rows", says, remedy)
    return None
