"""Whether the requests on one HTTP/2 connection wait for one another: the bursts that were sent over a
connection for each request, once more as streams of a single one.
"""

import math
import statistics
from collections.abc import Iterator, Sequence

from jostle.explain.discipline import design
from jostle.explain.discipline.burst import Burst, Job
from jostle.explain.discipline.inference import slots_of
from jostle.explain.finding import Finding, Topic, cannot_tell, decided_finding, out_of_time, undecided
from jostle.explain.probes.parallelism import MIN_S, count_estimate
from jostle.explain.probes.slots import REPEATS, burst_routes, max_burst
from jostle.explain.reason import Reason
from jostle.explain.session import Baseline, Session, equal_probe
from jostle.explain.words import count
from jostle.formatting import amount, plural, with_range

__all__ = ["send_streams", "streams"]


def streams_probe(route: str) -> str:
    """The name of the bursts of requests for a route that share a connection."""
    return f"streams {route}"


def send_streams(session: Session) -> None:
    """Sends the bursts of every route that is long enough, as far as there is time."""
    routes = burst_routes(session)
    for place, route in enumerate(routes):
        largest = max_burst(session, route, len(routes) - place)
        if largest < 4:
            continue
        session.tell(f"whether requests for {route.route.name} wait for one another on one connection")
        for _ in range(REPEATS):
            for jobs in design.equal_bursts(route.demand_s, largest)[1:]:
                together = tuple(Job(job.at, job.demand, 0) for job in jobs)
                session.send_jobs(streams_probe(route.route.name), together, {route.demand_s: route.route})


def streams(session: Session) -> Iterator[Finding]:
    """A finding for each route, or why there is none."""
    routes = burst_routes(session)
    if not routes:
        yield cannot_tell(
            Topic.STREAMS,
            Reason.TOO_FAST,
            "every route is answered before the next stream is opened",
            f"a route that takes {amount(MIN_S, 's')} or more",
            option="--slow PATH",
        )
    for route in routes:
        yield _finding(session, route)


LONGER = 1.5
"""If a burst takes this many times as long on one connection as on several, its streams wait for one another.
"""


def _longer(streams: Sequence[Burst], apart: Sequence[Burst]) -> float | None:
    """How many times as long the largest bursts took as those of the same size on a connection for each
    request; None if there are none to compare.
    """
    sizes = {len(burst.jobs) for burst in streams} & {len(burst.jobs) for burst in apart}
    if not sizes:
        return None
    took = [
        statistics.median(
            max((end for end in burst.ends if end is not None), default=math.inf)
            for burst in bursts
            if len(burst.jobs) == max(sizes)
        )
        for bursts in (streams, apart)
    ]
    return took[0] / took[1] if math.inf not in took else None


def _finding(session: Session, route: Baseline) -> Finding:
    topic, name = Topic.STREAMS, route.route.name
    bursts = session.observed(streams_probe(name))
    if not bursts:
        return out_of_time(topic)
    number, longer = slots_of(bursts, route.spread), _longer(bursts, session.observed(equal_probe(name)))
    largest = max(len(burst.jobs) for burst in bursts)
    evidence = [f"{plural(len(bursts), 'burst')} of up to {largest} streams of one connection."]
    if number.value is None:
        return undecided(topic, number.reason, evidence)
    figure = {"streams": count_estimate(number.value)}
    few = number.value.high
    if few is None:
        says = f"{largest} requests for {name} on one connection do not wait for one another."
        absent = f"requests for {name} that wait for one another on one connection"
        return decided_finding(topic, says, evidence, figure, absent=absent)
    if longer is None:
        return out_of_time(topic, evidence)
    evidence.append(f"They took {longer:.1f} times as long as over a connection for each request.")
    if longer < LONGER:
        says = f"Requests for {name} wait on one connection as they do on several."
        return decided_finding(topic, says, evidence, figure, notable=False)
    wait = session.service(name)
    return decided_finding(
        topic,
        f"{name}: {count(round(few))} at a time on each HTTP/2 connection. A further one waits "
        f"{with_range(wait)} for one before it (head-of-line blocking), while other connections go on.",
        evidence,
        {**figure, "wait": wait},
        hurts_s=wait.value or 0.0,
        cure="Serve the streams of a connection side by side; until then clients need more connections.",
    )
