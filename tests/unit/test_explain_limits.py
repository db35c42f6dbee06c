"""The limits that are printed are kept: time, requests and connections; and what there was no time for is
named.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from jostle.explain.finding import Finding, Topic
from jostle.explain.reason import Reason
from jostle.explain.results import Explanation
from jostle.explain.run import examine
from jostle.explain.send import BackgroundLoad, Due, LightStream, Response, Stream
from jostle.explain.server.limits import GENTLE, Budget, Limits, NoTime
from jostle.explain.server.target import Route
from support.served import FAST, HALF, QUARTER, SLOW, WAIT, FakeSender, Server, look_at, target_of


@dataclass
class Clock:
    """Stands still unless somebody sends."""

    at_s: float = 1000.0

    def __call__(self) -> float:
        return self.at_s


@dataclass
class Timed(FakeSender):
    """A sender whose requests take time, and that keeps to the budget as the engine's does."""

    clock: Clock = field(default_factory=Clock)

    def __init__(self, server: Server, budget: Budget, clock: Clock) -> None:
        super().__init__(server, budget)
        self.clock = clock

    def _passes(self, responses: Sequence[Response], known_s: float = 0.0) -> None:
        budget = self._budget
        budget.need(known_s)
        last_s = max((one.end_s or 0.0 for one in responses), default=0.0)
        self.clock.at_s += min(max(last_s, budget.rest_s), budget.left_s)

    def burst(self, due: Sequence[Due], opening: Route, opening_s: float) -> list[Response]:
        self._budget.need(len(due) / self._budget.rate_per_s)
        responses = super().burst(due, opening, opening_s)
        self._budget.sent(len(due), 0)  # what opened the connections
        self._passes(responses)
        self._budget.need(1e-9)
        return responses

    def serial(self, route: Route, count: int, pause_s: float) -> list[Response]:
        self._budget.need(self._budget.rest_s)
        responses = super().serial(route, count, pause_s)
        self._passes(responses)
        return responses

    def stream(
        self, route: Route, times_s: Sequence[float], connections: int, beside: BackgroundLoad | None = None
    ) -> list[Response]:
        self._budget.need(self._budget.rest_s + times_s[-1])
        responses = super().stream(route, times_s, connections, beside)
        self._passes(responses)
        return responses

    def light(self, stream: Stream, pauses_s: Sequence[float]) -> LightStream:
        last_s = max(*stream.times_s, *stream.mixed_s)
        self._budget.need(self._budget.rest_s + last_s)
        found = super().light(stream, pauses_s)
        self._passes(found.responses)
        return found


def explained_within(
    seconds: float, *routes: Route, server: Server | None = None
) -> tuple[Explanation, Budget]:
    clock = Clock()
    limits = Limits("gentle", GENTLE.rate_per_s, GENTLE.connections, GENTLE.stream_rate_per_s, seconds)
    budget = Budget(limits, now=clock)
    target = target_of(*routes)
    sender = Timed(server or Server(), budget, clock)
    return examine(target, look_at(target), sender, budget), budget


@pytest.mark.parametrize("seconds", [20.0, 80.0, 180.0])
@pytest.mark.parametrize("routes", [(FAST,), (FAST, SLOW), (FAST, SLOW, HALF, QUARTER, WAIT)])
def test_time_requests_and_connections_stay_within_what_is_printed(
    seconds: float, routes: tuple[Route, ...]
) -> None:
    explanation, budget = explained_within(seconds, *routes)
    assert explanation.seconds <= 1.1 * seconds
    assert explanation.requests <= 1.1 * GENTLE.rate_per_s * seconds
    assert explanation.connections <= GENTLE.connections
    assert budget.requests == explanation.requests


def test_what_there_was_no_time_for_is_named_and_its_option_too() -> None:
    explanation, _ = explained_within(20.0, FAST, SLOW, HALF, QUARTER, WAIT)
    missed = [one for one in explanation.findings if one.reason is Reason.NO_TIME]
    assert missed
    assert all(one.option == "--budget" for one in missed)
    assert {*Topic} >= {one.topic for one in missed}
    known, _ = explained_within(180.0, FAST, SLOW, HALF, QUARTER, WAIT)
    assert len([one for one in known.findings if one.reason is Reason.NO_TIME]) < len(missed)


def finding(explanation: Explanation, topic: Topic) -> Finding:
    return next(one for one in explanation.findings if one.topic is topic)


def test_what_one_stage_leaves_is_for_the_others() -> None:
    clock = Clock()
    budget = Budget(Limits("gentle", 50.0, 16, 50.0, 100.0), now=clock)
    budget.begin(0.5)
    assert budget.left_s == pytest.approx(50.0)
    clock.at_s += 10.0
    budget.begin(0.5)
    assert budget.left_s == pytest.approx(45.0)
    with pytest.raises(NoTime):
        budget.need(45.1)
    budget.need(45.0)
    clock.at_s += 100.0
    assert budget.left_s == 0


def test_after_many_requests_nothing_is_sent_until_the_average_is_kept() -> None:
    clock = Clock()
    budget = Budget(Limits("gentle", 50.0, 16, 50.0, 100.0), now=clock)
    budget.sent(500, 4)
    assert budget.rest_s == pytest.approx(10.0)
    clock.at_s += 10.0
    assert budget.rest_s == 0
    budget.slow_down(25.0)
    assert budget.rest_s == 0
    budget.sent(50, 1)
    assert budget.rest_s == pytest.approx(2.0)


def token_bucket(rate: float, burst: float) -> "Limiter":
    return Limiter(rate, burst, burst)


@dataclass
class Limiter:
    """Refuses what comes faster than `rate` per second, counting probe after probe as one second apart."""

    rate: float
    burst: float
    tokens: float
    last_s: float = 0.0

    def __call__(self, at_s: float) -> bool:
        passed = at_s - self.last_s if at_s >= self.last_s else 1.0
        self.tokens, self.last_s = min(self.burst, self.tokens + self.rate * passed), at_s
        if self.tokens < 1:
            return True
        self.tokens -= 1
        return False


def test_a_server_that_limits_the_rate_is_told_so_and_asked_gently_from_then_on() -> None:
    explanation, budget = explained_within(80.0, FAST, server=Server(refuses=token_bucket(10.0, 3.0)))
    limit = finding(explanation, Topic.RATE_LIMIT)
    assert limit.decided
    rate = limit.figure("rate")
    assert rate is not None
    assert (rate.low or 0) <= 10.0 <= (rate.high or 0)
    assert explanation.paragraph.startswith("The server limits the rate to ")
    assert budget.rate_per_s <= 10.0
    assert finding(explanation, Topic.SERVICE_TIME).decided, "asked again, at half of what it allows"
