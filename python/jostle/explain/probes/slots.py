"""P2: how many requests may wait for something else at once. Bursts of a route that waits without computing.

With w slots, a burst of k is answered in groups of w, one wait apart; without a limit all wait at the same
time."""

from jostle.explain import design
from jostle.explain.discipline import Inference
from jostle.explain.finding import Finding, Topic, cannot_tell, found, undecided
from jostle.explain.probes.parallelism import MIN_S, count_estimate, how_many
from jostle.explain.reason import Reason
from jostle.explain.session import Baseline, Session
from jostle.formatting import amount

__all__ = ["send_waits", "slots", "unfit"]

TIME = 1 / 9
"""Share of the time allowed that all bursts may take on a server that lets one request wait at a time."""

REPEATS = 2


def waiting(session: Session) -> Baseline | None:
    """The route that waits, if one is known."""
    return next((alone for alone in session.alone.values() if alone.route.role == "wait"), None)


def unfit(session: Session) -> Finding | None:
    """Why the number of slots cannot be found out; None if it can."""
    topic, wait = Topic.SLOTS, waiting(session)
    if wait is None:
        return cannot_tell(
            topic,
            Reason.NO_ROUTE,
            "no route is known that waits for something else",
            "a route that waits, for a database or another service: --wait PATH",
        )
    if session.intermediary:
        return cannot_tell(
            topic,
            Reason.INTERMEDIARY,
            f"something stands between ({session.intermediary})",
            "the address of the server itself",
        )
    if wait.demand_s - session.delay_s < MIN_S:
        return cannot_tell(
            topic,
            Reason.TOO_FAST,
            f"{wait.route.name} takes {amount(wait.demand_s, 's')}",
            f"a route that waits for {amount(MIN_S, 's')} or more: --wait PATH",
        )
    if most(session, wait) < 4:
        return cannot_tell(
            topic,
            Reason.TOO_SLOW,
            f"{wait.route.name} takes {amount(wait.demand_s, 's')}: bursts of it would take too long",
            "a route that waits for 10 to 500 ms: --wait PATH",
        )
    return None


def most(session: Session, wait: Baseline) -> int:
    """The largest burst that the limits allow and that fits into the time if one request waits at a time."""
    return min(session.limits.connections, int(TIME * session.limits.seconds / (2 * REPEATS * wait.demand_s)))


def send_waits(session: Session) -> None:
    """Sends the bursts of the waiting route."""
    wait = waiting(session)
    assert wait is not None, "`unfit` was asked"
    session.tell(f"how many requests for {wait.route.name} may wait at once")
    for _ in range(REPEATS):
        for jobs in design.equal_bursts(wait.demand_s, most(session, wait))[1:]:
            session.send_jobs("waiting", jobs, {wait.demand_s: wait.route})


def slots(session: Session, inference: Inference) -> Finding:
    """The finding from the bursts of the waiting route."""
    topic, wait = Topic.SLOTS, waiting(session)
    assert wait is not None, "`unfit` was asked"
    largest = max((b for b in session.bursts if b.probe == "waiting"), key=lambda b: len(b.jobs))
    ends = sorted(job.end_s for job in largest.jobs if job.end_s is not None)
    step = max(1, len(ends) // 8)
    some = "" if len(ends) == len(largest.jobs) else f"{len(ends)} of "
    evidence = [
        f"{some}{len(largest.jobs)} requests for {wait.route.name} at once were answered "
        + (f"(times listed for one in {step}) after " if step > 1 else "after ")
        + ", ".join(amount(end, "s") for end in ends[::step])
        + f"; one by itself takes {amount(wait.demand_s, 's')}."
        if ends
        else f"None of {len(largest.jobs)} requests for {wait.route.name} at once was answered."
        if largest.jobs
        else "No connection could be made."
    ]
    number = inference.slots
    if number is None or number.value is None:
        return undecided(topic, number.reason if number else None, evidence)
    value = number.value
    estimate = count_estimate(value)
    if value.high is None:
        return found(
            topic,
            f"{how_many(value)} requests may wait for something else at once.",
            evidence,
            figures={"slots": estimate},
        )
    verb = "request waits" if value.low == value.high == 1 else "requests wait"
    return found(
        topic,
        f"{how_many(value)} {verb} for something else at a time; a further one waits for its turn.",
        evidence,
        figures={"slots": estimate},
    )
