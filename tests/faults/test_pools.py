"""Pools, locks and limits are as large as their truth says: a plain client waits for them."""

import pytest

from faults.client import all_at_once, ends, stats
from faults.hall import APPLICATIONS, Fault, started

NEARLY = 0.9
"""Timers may end a little early, by their own resolution."""


def slots(fault: Fault) -> int:
    return next(int(size.value) for size in fault.sizes if size.of == "slots")


def pools() -> list[tuple[str, Fault]]:
    return [
        (name, fault)
        for name, application in APPLICATIONS.items()
        for fault in application.faults
        if fault.kind in ("pool", "shared pool", "thread limit")
    ]


@pytest.mark.parametrize(("name", "fault"), pools(), ids=[name for name, _ in pools()])
def test_who_comes_when_the_pool_is_taken_waits_for_a_turn(name: str, fault: Fault) -> None:
    application, size = APPLICATIONS[name], slots(fault)
    turns = 3
    limited = [path for path, truth in application.routes.items() if truth.at_once == size]
    paths = (limited * size * turns)[: size * turns]
    shortest = min(application.routes[path].alone for path in limited)
    with started(application) as running:
        responses = all_at_once(running.port, paths)
        assert stats(running)["most"] == size
    assert {response.status for response in responses} == {200}
    for place, seconds in enumerate(ends(responses)):
        assert seconds >= NEARLY * shortest * (place // size + 1)


def test_what_needs_no_pool_does_not_wait_for_it() -> None:
    with started(APPLICATIONS["shared-pool"]) as running:
        responses = all_at_once(running.port, [*["/orders"] * 30, "/prices"])
    assert responses[-1].ended < max(response.ended for response in responses)


def test_with_all_threads_at_work_a_quick_route_waits() -> None:
    """Unless it comes before them, as it may."""
    with started(APPLICATIONS["thread-limit"]) as running:

        def waited() -> bool:
            *_, hello = all_at_once(running.port, [*["/work"] * 12, "/hello"])
            return hello.seconds >= NEARLY * 0.050

        assert any(waited() for _ in range(10))
        assert stats(running)["most"] == 3


def test_two_routes_hold_one_lock_and_a_third_none() -> None:
    with started(APPLICATIONS["global-lock"]) as running:
        responses = all_at_once(running.port, ["/report", "/totals"] * 12 + ["/hello"])
        assert stats(running)["most"] > 1, "none of them waited"
    assert ends(responses)[-1] >= NEARLY * 12 * (0.030 + 0.015)
    assert responses[-1].ended < max(response.ended for response in responses)


def test_a_queue_that_is_full_sheds() -> None:
    with started(APPLICATIONS["sheds"]) as running:
        responses = all_at_once(running.port, ["/thumbnail"] * 48)
        counted = stats(running)
    statuses = [response.status for response in responses]
    assert statuses.count(503) == counted["shed"] > 0
    assert statuses.count(200) == counted["made"] >= 8


def test_what_was_given_up_is_asked_again() -> None:
    """Of many at once most fail, and for each of these the bank was asked three times."""
    with started(APPLICATIONS["retries"]) as running:
        alone = all_at_once(running.port, ["/checkout"])
        responses = all_at_once(running.port, ["/checkout"] * 32)
        counted = stats(running)
    assert alone[0].seconds >= NEARLY * 0.030
    assert counted["checkouts"] == 33
    failed = [response.seconds for response in responses if response.status == 503]
    assert failed
    assert min(failed) >= NEARLY * 0.150
    assert counted["bank"] >= 33 + 2 * len(failed)


def test_an_export_holds_up_all_others() -> None:
    """However many come at once, they are made one after another."""
    with started(APPLICATIONS["blocker-and-pool"]) as running:
        responses = all_at_once(running.port, ["/export"] * 4)
    assert ends(responses)[-1] >= NEARLY * 4 * 0.080


@pytest.mark.parametrize(
    ("name", "path"),
    [("clean-fastapi", "/orders"), ("clean-node", "/search"), ("clean-varied", "/article")],
)
def test_where_nothing_is_wrong_nobody_waits_for_another(name: str, path: str) -> None:
    """All sixteen are there together, at one time or another."""
    assert APPLICATIONS[name].faults == []
    with started(APPLICATIONS[name]) as running:
        assert any(
            {response.status for response in all_at_once(running.port, [path] * 16)} == {200}
            and stats(running)["most"] > 12
            for _ in range(20)
        )
