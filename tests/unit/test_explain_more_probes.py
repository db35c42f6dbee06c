"""Probes of one question each: idle time, connections, memory, parameters, caches, against known servers."""

import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from jostle.analysis.results import Estimate
from jostle.explain.finding import Finding, Topic, decided_finding
from jostle.explain.probes.by_parameter import by_parameter
from jostle.explain.probes.cache import asked_anew
from jostle.explain.probes.idle import after_idle
from jostle.explain.probes.memory import memory, per_request
from jostle.explain.probes.pauses import unless_full
from jostle.explain.server.observe import Usage, usage_of
from jostle.explain.server.routes import smaller
from jostle.explain.server.target import Route
from jostle.explain.session import Baseline
from support.served import FAST, SLOW, Server, explained, session_of


def baseline(route: Route, seconds: float) -> Baseline:
    return Baseline(route, seconds, 0.01, service=Estimate(seconds, seconds * 0.98, seconds * 1.02, n=40))


def idle(sleeps_after_s: float) -> Finding:
    return after_idle(session_of(baseline(FAST, 0.0005), server=Server(sleeps_after_s=sleeps_after_s)))


def test_the_first_request_after_idle_time_is_slow_from_some_pause_on() -> None:
    assert idle(1000.0).absent == "a slow first request after idle time"
    finding = idle(1.5)
    assert finding.says.startswith("The first request after 2.00 s in which nobody asked takes 25")
    assert finding.hurts_s == pytest.approx(0.25, rel=0.02)


def test_a_list_that_makes_a_query_for_each_row_is_told_by_its_parameter() -> None:
    many, few = (Route(f"/orders?limit={n}", "slow") for n in (40, 5))
    session = session_of(baseline(many, 0.090), baseline(few, 0.015), baseline(FAST, 0.0005))
    (finding,) = by_parameter(session)
    assert finding.says.startswith("/orders takes 2.14 ms (")
    assert "longer for each further one of limit: as with a query for each (N + 1)" in finding.says
    step = finding.figure("step")
    assert step is not None
    assert (step.low or 0) < 75 / 35e3 < (step.high or 0)
    assert finding.cure == "Fetch them all with one query."
    session.alone[many.name] = replace(session.alone[many.name], cpu_share=0.98)
    (finding,) = by_parameter(session)
    assert finding.says.endswith("longer for each further one of limit, for which it computes.")
    assert finding.cure == "Do less for each, or ask for fewer at a time."


@pytest.mark.parametrize(
    ("one", "other", "times"),
    [
        ("/orders?limit=40", "/orders?limit=5", (0.020, 0.019)),
        ("/orders?ms=40", "/orders?ms=5", (0.040, 0.005)),
        ("/orders?limit=40", "/stock?limit=5", (0.090, 0.015)),
        ("/orders?limit=40&x=1", "/orders?limit=5&x=2", (0.090, 0.015)),
        ("/orders", "/orders?limit=5", (0.090, 0.015)),
    ],
)
def test_what_does_not_grow_or_differs_otherwise_makes_no_such_finding(
    one: str, other: str, times: tuple[float, float]
) -> None:
    routes = zip((one, other), times, strict=True)
    session = session_of(*(baseline(Route(path, "slow"), took) for path, took in routes))
    assert list(by_parameter(session)) == []


def test_memory_for_each_request_has_an_interval() -> None:
    samples = [
        (n, 50_000_000 + 262_144 * n + wobble)
        for n, wobble in ((100, 0), (600, 900_000), (1100, -400_000), (1800, 300_000), (2500, -200_000))
    ]
    each = per_request(samples)
    assert each is not None
    assert (each.low or 0) < 262_144 < (each.high or 0)
    assert per_request(samples[:3]) is None


def test_a_heap_that_java_fills_is_not_taken_for_a_leak() -> None:
    def said(*, java: bool) -> Finding:
        session = session_of(baseline(FAST, 0.001))
        session.memory += [(n, 50_000_000 + 13_000 * n) for n in (100, 2000, 4000, 6000, 7500)]
        session.target = replace(session.target, usage=lambda: Usage(1.0, 0.0, 150_000_000, java))
        (finding,) = memory(session)
        return finding

    assert said(java=False).hurts_s > 0
    assert "grows by 13.0 kB" in said(java=False).says
    assert not said(java=True).decided
    assert "fills its heap before it collects" in said(java=True).says


def test_a_java_machine_is_known_by_its_thread() -> None:
    seen: list[bool] = []

    def named() -> None:
        Path(f"/proc/self/task/{threading.get_native_id()}/comm").write_text("VM Thread")
        seen.append(usage_of(os.getpid())().java)

    assert not usage_of(os.getpid())().java
    thread = threading.Thread(target=named)
    thread.start()
    thread.join()
    assert seen == [True]


def test_another_number_names_another_thing_but_a_size_does_not() -> None:
    assert asked_anew(Route("/product?id=7", "slow"), 100).path == "/product?id=107"
    assert asked_anew(Route("/work?ms=40", "slow"), 100).path == "/work?ms=40&jostle=100"


def test_a_size_in_the_query_makes_smaller_requests() -> None:
    found = [one.path for one in smaller(Route("/work?ms=40&x=a", "slow"))]
    assert found == ["/work?ms=20&x=a", "/work?ms=10&x=a"]
    assert smaller(Route("/order?id=40", "slow")) == []
    assert smaller(Route("/slow", "slow")) == []
    assert smaller(SLOW) == []


def test_waiting_for_a_worker_is_not_taken_for_pauses() -> None:
    irregular = decided_finding(Topic.PAUSES, "It stands still now and then.", hurts_s=0.1)
    regular = decided_finding(Topic.PAUSES, "Every 2 s.", figures={"every": Estimate(2.0)}, hurts_s=0.1)
    full = {"/work": "waits"}
    assert not unless_full(irregular, full).decided
    assert unless_full(irregular, {"/work": "free"}) is irregular
    assert unless_full(regular, full) is regular


def test_a_pool_of_many_short_requests_is_told_from_a_limit_of_the_server() -> None:
    hello, search = Route("/hello", "fast"), Route("/search", "slow")
    demands = {"/hello": 0.0005, "/search": 0.025}
    pool = Server(workers=64, demands=demands, pools={"/search": "pool"}, slots={"pool": 8})
    said = explained(pool, hello, search).paragraph
    assert said.startswith("/search: eight at a time. The ninth waits 25.")
    assert "while other routes go on" in said
    said = explained(Server(workers=8, demands=demands), hello, search).paragraph
    assert said.startswith("Eight at a time, whatever is asked for")
