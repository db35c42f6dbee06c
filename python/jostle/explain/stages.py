"""The probes in the order in which they are sent, and the share of the time that each of them gets.

What tells most is asked first. Each stage has a share of the time that is left, so that what one does not
need is not lost; a stage for which there is no time is named.
"""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from jostle.explain.finding import Finding, Topic, cannot_tell, decided_finding, out_of_time, unless_away
from jostle.explain.light import light_stream, sent_late
from jostle.explain.probes import (
    blocking,
    by_parameter,
    cache,
    connecting,
    delayed_body,
    discipline,
    gone,
    idle,
    keep_alive,
    memory,
    overload,
    parallelism,
    pauses,
    rare,
    rate_limit,
    service,
    slots,
    streams,
    warm_up,
)
from jostle.explain.reason import Reason
from jostle.explain.server.limits import NoTime
from jostle.explain.session import Session
from jostle.explain.slow_responses.machine import pressure_besides
from jostle.explain.slow_responses.rare import rare as slow_ones
from jostle.explain.statuses import changed, was_away, went_away

__all__ = ["findings_of"]

MIN_REQUESTS = 20
"""Fewer responses of the light stream tell nothing."""


GENTLE = 0.5
"""The share of the time for the first stage if the server limits the rate: so few requests take long."""


@dataclass(frozen=True)
class Stage:
    """`share`: of the time, in relation to those of the others. `topics`: what it finds out about, or lets
    others find out. `ask`: sends the probes and yields the findings. `applies`: whether the target has
    what it is about.
    """

    share: float
    topics: tuple[Topic, ...]
    ask: Callable[[Session], Iterator[Finding]]
    applies: Callable[[Session], bool] = lambda _: True


def findings_of(session: Session, found: Callable[[Finding], None]) -> list[Finding]:
    """Sends all probes; returns all findings in reading order, without those that do not apply to the
    protocol.

    `found`: called with what a probe finds, as soon as it has; what later probes tell may change it.
    """
    stages = [stage for stage in STAGES if stage.applies(session)]
    findings: list[Finding] = []
    unconnected: dict[Topic, Counter[str]] = {}
    away: Finding | None = None
    for place, stage in enumerate(stages):
        session.budget.begin(stage.share / sum(one.share for one in stages[place:]))
        before = session.sender.unconnected.copy()
        for finding in _asked(session, stage):
            found(finding)
            findings.append(finding)
        session.note_memory()
        lost = session.sender.unconnected - before
        for topic in stage.topics:
            unconnected[topic] = unconnected.get(topic, Counter()) + lost
        if not session.alone:
            return [*findings, *filter(None, [session.rate_limit])]
        if lost and (away := went_away(session)) is not None:
            break
    findings += _afterwards(session)
    findings = [pauses.unless_full(one, session.waits_beside) for one in findings]
    findings = [unless_away(one, unconnected.get(one.topic, Counter())) for one in findings]
    findings += filter(None, [away or was_away(session), changed(session)])
    known = {one.topic for one in findings}
    topics = [topic for stage in stages for topic in stage.topics if _applies_to(topic, session)]
    missed = dict.fromkeys(topic for topic in topics if topic not in known)
    findings += [_had_gone(topic) if away else out_of_time(topic) for topic in missed]
    order = list(Topic)
    return sorted(findings, key=lambda finding: order.index(finding.topic))


def _had_gone(topic: Topic) -> Finding:
    return cannot_tell(topic, Reason.AWAY, "the server had gone by then", "a server that runs throughout")


def _applies_to(topic: Topic, session: Session) -> bool:
    return topic is not Topic.KEEP_ALIVE or session.target.protocol != "UDP"


def _asked(session: Session, stage: Stage) -> Iterator[Finding]:
    """What the stage finds in its time; what it has not found is named in the end."""
    with contextlib.suppress(NoTime):
        yield from stage.ask(session)


def _services(session: Session) -> Iterator[Finding]:
    for route in session.target.routes:
        finding = service.service_time(session, route)
        if finding.reason is Reason.REFUSED and session.rate_limit is None:
            rate_limit.go_gently(session, route)
            session.budget.begin(GENTLE)
            finding = service.service_time(session, route)
        yield finding
    yield from service.parts(session)


def _light(session: Session) -> Iterator[Finding]:
    light_stream(session)
    requests, light = session.requests, session.light
    assert light is not None
    assert requests is not None
    if _applies_to(Topic.KEEP_ALIVE, session):
        yield keep_alive.keep_alive(session)
    missing = len(light.responses) - len(requests)
    if missing > 0.1 * len(light.responses) or len(requests) < MIN_REQUESTS:
        reason = Reason.REFUSED if any(one.refused for one in light.responses) else Reason.FAILED
        because = f"{missing} of {len(light.responses)} requests were not answered"
        yield cannot_tell(Topic.RARE, reason, because, "a lower rate")
        yield cannot_tell(Topic.PAUSES, reason, because, "a lower rate")
        return
    late = sent_late([one for one in light.responses if one.connection == 0])
    halts = [*light.halts, *late]
    session.pressure = pressure_besides(session.pressure, requests, halts)
    busy = (session.pressure or 0.0) > pauses.BUSY
    slow, left = slow_ones(requests, busy=busy, halts=halts)
    session.rare_blockers = tuple(one.route for one in slow if one.others_wait)
    yield from rare.rare_responses(requests, slow, len(left) if busy else 0)
    still = pauses.pauses(requests, left, session.pressure, late)
    yield from still
    lengths = [one.figure("longest") for one in still if one.hurts_s]
    session.standstill_s = max(
        [
            *(one.longer_s for one in slow),
            *(length.value or 0.0 for length in lengths if length is not None),
        ],
        default=0.0,
    )


def _bursts(session: Session) -> Iterator[Finding]:
    try:
        slots.send_bursts(session)
    finally:
        slots.decide(session)
    yield from ()


def _pairs(session: Session) -> Iterator[Finding]:
    slots.send_pairs(session)
    yield from ()


def _streams(session: Session) -> Iterator[Finding]:
    with contextlib.suppress(NoTime):  # what was sent may be enough
        streams.send_streams(session)
    yield from streams.streams(session)


def _beside(session: Session) -> Iterator[Finding]:
    try:
        blocking.measure(session)
    finally:
        blocking.judge(session)
    yield from ()


ORDER = (Topic.PARALLELISM, Topic.DISCIPLINE, Topic.OVERTAKING, Topic.LEAVING)


def _sizes(session: Session) -> Iterator[Finding]:
    if (why := parallelism.unfit(session, Topic.DISCIPLINE)) is not None:
        yield from (parallelism.unfit(session, topic) or why for topic in ORDER)
        return
    try:
        service.measured_again(session)
        discipline.send_sized(session)
    except NoTime:
        pass  # what was sent may be enough
    session.inference = discipline.inferred(session)


MORE_WOULD_TELL = (Reason.AMBIGUOUS, Reason.NOISY, Reason.DRIFTS)
"""Why the order of service is asked for once more if there is time left."""


def _sizes_again(session: Session) -> Iterator[Finding]:
    inference = session.inference
    if inference is not None and inference.discipline.reason in MORE_WOULD_TELL:
        session.seed += 1
        if inference.discipline.reason is Reason.DRIFTS:
            session.forget("discipline")
        yield from _sizes(session)


def _cache(session: Session) -> Iterator[Finding]:
    yield cache.cache(session)


def _limit(session: Session) -> Iterator[Finding]:
    yield rate_limit.rate_limit(session)


def _idle(session: Session) -> Iterator[Finding]:
    yield idle.after_idle(session)


def _connecting(session: Session) -> Iterator[Finding]:
    yield connecting.connecting(session)


def _gone(session: Session) -> Iterator[Finding]:
    yield gone.gone(session)


def _overload(session: Session) -> Iterator[Finding]:
    yield overload.queue_limit(session)
    yield overload.recovery(session)


STAGES: Sequence[Stage] = (
    Stage(0.35, (Topic.SERVICE_TIME,), _services),  # most of it is left
    Stage(0.32, (Topic.RARE, Topic.PAUSES, Topic.KEEP_ALIVE, Topic.RATE_LIMIT), _light),
    Stage(0.14, (Topic.SLOTS, *ORDER), _bursts),
    Stage(0.06, (Topic.SLOTS,), _pairs, lambda session: len(session.target.routes) > 2),
    Stage(0.08, (Topic.STREAMS,), _streams, lambda session: session.target.has_streams),
    Stage(0.12, (Topic.BLOCKING,), _beside),
    Stage(0.16, ORDER, _sizes),
    Stage(0.04, (Topic.CONNECTING,), _connecting, lambda session: session.target.protocol != "UDP"),
    Stage(0.08, (Topic.IDLE,), _idle),
    Stage(0.04, (Topic.CACHE,), _cache, lambda session: session.target.over_http),
    Stage(0.04, (Topic.RATE_LIMIT,), _limit),
    Stage(0.04, (Topic.GONE,), _gone),
    Stage(0.05, (Topic.QUEUE_LIMIT, Topic.RECOVERY), _overload),
    Stage(0.05, ORDER, _sizes_again),
)


def _afterwards(session: Session) -> Iterator[Finding]:
    """Findings that send nothing, from what all stages have learned."""
    yield service.cpu_or_waiting(session)
    if (inference := session.inference) is not None:
        yield discipline.discipline(session, inference)
        yield parallelism.parallelism(session, inference)
        yield discipline.overtaking(inference)
        yield discipline.leaving(inference)
    yield from slots.slots(session)
    yield from blocking.blocking(session)
    yield from by_parameter.by_parameter(session)
    yield from memory.memory(session)
    yield warm_up.warm_up(session)
    if session.target.over_http:
        yield delayed_body.delayed_body(session)
        yield _between(session)


FRONTS = ("nginx", "openresty", "apache", "caddy", "litespeed")
"""Servers that often stand in front of another one, as their Server header names them."""


def _between(session: Session) -> Finding:
    """Whether a proxy or a cache answers in the server's place, as far as responses reveal it."""
    if session.intermediary:
        return cannot_tell(
            Topic.INTERMEDIARY,
            Reason.INTERMEDIARY,
            f"responses come through something that stands between ({session.intermediary}), and what "
            "follows is true of both together",
            "the address of the server itself",
        )
    if any(front in session.server.lower() for front in FRONTS):
        text = f"{session.server} answers; if it passes requests on, all of this is true of both together."
        return decided_finding(Topic.INTERMEDIARY, text, ["No header names what stands behind it."])
    return decided_finding(
        Topic.INTERMEDIARY,
        "No response names a proxy.",
        ["A proxy that does not name itself is not seen."],
        notable=False,
    )
