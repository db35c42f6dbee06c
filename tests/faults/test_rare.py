"""Some responses take long: as many as the truth says, for as long, and others wait or do not."""

import itertools

import pytest

from faults.client import Client, Response, all_at_once, ends, stats
from faults.hall import APPLICATIONS, started

NEARLY = 0.9


def size(name: str, of: str) -> float:
    (fault,) = APPLICATIONS[name].faults
    return next(size.value for size in fault.sizes if size.of == of)


def slow_ones(name: str, responses: list[Response]) -> list[Response]:
    return [response for response in responses if response.seconds >= NEARLY * size(name, "length")]


def in_parts(port: int, path: str) -> list[Response]:
    """The responses to 320 requests, 40 at once."""
    return list(itertools.chain.from_iterable(all_at_once(port, [path] * 40) for _ in range(8)))


@pytest.mark.parametrize(
    ("name", "path", "all_of_them", "slow"),
    [
        ("rare-blocker-5-percent", "/report", "reports", "large"),
        ("rare-blocker-2-percent", "/search", "searches", "large"),
        ("dependency-timeout", "/price", "prices", "lost"),
        ("dependency-hangs", "/price", "prices", "lost"),
        ("dns-lookups", "/rate", "lookups", "lost"),
    ],
)
def test_so_many_take_so_long(name: str, path: str, all_of_them: str, slow: str) -> None:
    with started(APPLICATIONS[name]) as running:
        responses = in_parts(running.port, path)
        counted = stats(running)
    assert counted[all_of_them] == 320
    assert counted[slow] / 320 == pytest.approx(size(name, "share"), rel=0.5)
    # A question whose repetition is lost, too, makes one response slow, and not two.
    assert len(slow_ones(name, responses)) >= 0.8 * counted[slow]


@pytest.mark.parametrize(
    ("name", "path"), [("rare-blocker-5-percent", "/report"), ("rare-blocker-2-percent", "/search")]
)
def test_who_takes_long_holds_up_those_that_come_with_him(name: str, path: str) -> None:
    """Of one burst several compute for long, one after another: its last waits for all of them."""
    with started(APPLICATIONS[name]) as running:
        responses = all_at_once(running.port, [path] * 100)
        large = stats(running)["large"]
    assert large >= 2
    assert ends(responses)[-1] >= NEARLY * large * size(name, "length")


def test_who_waits_for_a_lost_price_holds_up_nobody() -> None:
    """Most of a burst are answered before the first that is given up."""
    with started(APPLICATIONS["dependency-timeout"]) as running:
        responses = all_at_once(running.port, ["/price"] * 60)
        lost = stats(running)["lost"]
    slow = slow_ones("dependency-timeout", responses)
    assert len(slow) >= lost >= 2
    first = min(response.ended for response in slow)
    assert sum(response.ended < first for response in responses) > 30


def test_every_25th_entry_takes_long() -> None:
    with started(APPLICATIONS["every-25th"]) as running:
        client = Client(running.port)
        responses = [client.get("/log") for _ in range(100)]
        client.close()
        counted = stats(running)
    assert counted == {"entries": 100, "flushes": 4}
    slow = {place for place, one in enumerate(responses, 1) if one.seconds >= NEARLY * 0.100}
    assert slow >= {25, 50, 75, 100}


def test_every_24th_order_holds_the_lock_for_long_and_nothing_else_needs_it() -> None:
    with started(APPLICATIONS["rare-lock-holder"]) as running:
        responses = all_at_once(running.port, [*["/order"] * 24, "/hello"])
        assert stats(running) == {"orders": 24, "long": 1}
    *orders, hello = responses
    assert ends(orders)[-1] >= NEARLY * (23 * 0.005 + 0.120)
    assert hello.ended < max(order.ended for order in orders)


def test_an_export_holds_up_others_while_it_computes_and_not_while_it_waits() -> None:
    with started(APPLICATIONS["computes-then-waits"]) as running:
        exports = all_at_once(running.port, ["/export"] * 10)
        assert stats(running) == {"exports": 10}
    assert ends(exports)[-1] >= NEARLY * (10 * 0.060 + 0.040)


def test_every_fourth_item_comes_from_the_slow_worker() -> None:
    with started(APPLICATIONS["uneven-workers"]) as running:
        client = Client(running.port)
        responses = [client.get("/items") for _ in range(24)]
        client.close()
        assert stats(running)["served"] == [6, 6, 6, 6]
    slow = [one.seconds >= NEARLY * 0.060 for one in responses]
    assert any(all(slow[first::4]) for first in range(4))
    assert min(one.seconds for one in responses) < 0.060


def test_the_first_request_for_a_product_takes_long_and_no_later_one() -> None:
    with started(APPLICATIONS["cold-cache"]) as running:
        client = Client(running.port)
        for key in ("id=1", "id=2"):
            assert client.get(f"/product?{key}").seconds >= NEARLY * 0.060
            later = [client.get(f"/product?{key}").seconds for _ in range(5)]
            assert min(later) < 0.060
        client.close()
        assert stats(running)["misses"] == 2


def test_a_longer_list_makes_more_queries() -> None:
    with started(APPLICATIONS["n-plus-one"]) as running:
        client, before = Client(running.port), 0
        for limit in (1, 5, 40):
            seconds = client.get(f"/orders?limit={limit}").seconds
            queries, before = stats(running)["queries"] - before, stats(running)["queries"]
            assert queries == limit + 1
            assert seconds >= NEARLY * queries * 0.002
        client.close()
