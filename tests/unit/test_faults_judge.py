"""The judge of what explain says of faulty applications: made-up sentences, right, vague and wrong."""

from typing import Any

import pytest

from faults.hall import APPLICATIONS
from faults.judge import Judged, judged
from faults.numbers import Number, numbers
from jostle.explain.finding import Topic

POOL = "/orders: four at a time. The fifth waits 31.0 ms (28.0 to 34.0): as with a pool of 4 behind it."
CRON = "Every 2.08 s (2.07 to 2.09) the server stands still for 80.4 ms (79.0 to 82.0)."


def figure(name: str, value: float, low: float | None = None, high: float | None = None, **more: str) -> Any:
    estimate = {"value": value, "low": low, "high": high, "unit": "s", "bound": "", "note": "", "n": 1}
    return {"name": name, "figure": {**estimate, **more}}


def finding(topic: str, says: str, *figures: Any, decided: bool = True, notable: bool = True) -> Any:
    return {"topic": topic, "says": says, "figures": figures, "decided": decided, "notable": notable}


def verdict(name: str, *findings: Any, paragraph: str | None = None, family: str | None = None) -> Judged:
    told = " ".join(one["says"] for one in findings) if paragraph is None else paragraph
    return judged(APPLICATIONS[name], {"findings": findings, "paragraph": told, "family": family})


def one(name: str, topic: str, says: str, *figures: Any) -> str:
    (said,) = verdict(name, finding(topic, says, *figures)).said
    return said.verdict


@pytest.mark.parametrize(
    ("name", "topic", "says"),
    [
        ("pool-of-four", Topic.SLOTS, POOL),
        ("pool-of-four", Topic.SLOTS, "**/orders: four at a time.** The fifth waits."),
        ("cron-2s", Topic.PAUSES, CRON),
        ("blocker-and-pool", Topic.BLOCKING, "/export holds up everything else for 81 ms."),
        (
            "rare-blocker-5-percent",
            Topic.RARE,
            "1 in 21 responses of /report takes 82 ms, and other requests wait meanwhile.",
        ),
        (
            "rare-blocker-5-percent",
            Topic.RARE,
            "4.1 % of /report take 82 ms, and other requests wait meanwhile.",
        ),
        ("rare-blocker-5-percent", Topic.RARE, "1 in 11 of /report (4 to 14 %) take 82 ms; others wait."),
        (
            "dependency-timeout",
            Topic.RARE,
            "1 in 12 responses of /price takes 401 ms; other requests do not wait for them.",
        ),
        ("every-25th", Topic.RARE, "Every 25th response of /log takes 103 ms."),
        ("rate-limit", Topic.RATE_LIMIT, "It limits the rate to 19.2/s and refuses the rest with 429."),
        ("keep-alive-limit", Topic.KEEP_ALIVE, "It closes a connection after 1,000 requests."),
        ("memory-growth", "memory", "Memory grows by 66.1 kB for each request of /session."),
        ("n-plus-one", "growth", "/orders takes 2.2 ms more for each limit."),
    ],
)
def test_a_fault_that_is_named_with_its_size_is_found(name: str, topic: str, says: str) -> None:
    assert one(name, topic, says) == "found"
    assert any(verdict(name, finding(topic, says)).found)


@pytest.mark.parametrize(
    ("name", "topic", "says"),
    [
        ("pool-of-four", Topic.SLOTS, POOL.replace("31.0 ms (28.0 to 34.0)", "62.0 ms (60.0 to 64.0)")),
        ("cron-2s", Topic.PAUSES, CRON.replace("2.08 s (2.07 to 2.09)", "1.04 s (1.03 to 1.05)")),
        ("cron-2s", Topic.PAUSES, CRON.replace("80.4 ms (79.0 to 82.0)", "160 ms (150 to 170)")),
        ("cron-2s", Topic.PAUSES, "It pauses at irregular times, 12 times in 22 s, the longest for 80.9 ms."),
        ("gc-pauses", Topic.PAUSES, "Every 1.20 s the server stands still for 70.0 ms."),
        (
            "rare-blocker-5-percent",
            Topic.RARE,
            "Every 20th response of /report takes 82 ms, and others wait.",
        ),
        (
            "rare-blocker-5-percent",
            Topic.RARE,
            "1 in 20 responses of /report takes 82 ms; other requests do not wait for them.",
        ),
        ("rare-blocker-5-percent", Topic.RARE, "1 in 2 responses of /report takes 82 ms, and others wait."),
        (
            "dependency-timeout",
            Topic.RARE,
            "1 in 12 responses of /price takes 401 ms, and other requests wait meanwhile.",
        ),
        ("every-25th", Topic.RARE, "Every 24th response of /log takes 103 ms."),
        ("rate-limit", Topic.RATE_LIMIT, "It limits the rate to 40.0/s and refuses the rest with 429."),
    ],
)
def test_a_fault_with_another_size_or_kind_is_wrong(name: str, topic: str, says: str) -> None:
    result = verdict(name, finding(topic, says))
    assert [said.verdict for said in result.said] == ["wrong"]
    assert not any(result.found)


def test_an_interval_that_holds_the_truth_is_right() -> None:
    assert (
        one("cron-2s", Topic.PAUSES, CRON.replace("80.4 ms (79.0 to 82.0)", "120 ms (70 to 160)")) == "found"
    )


@pytest.mark.parametrize(
    ("name", "topic", "says"),
    [
        (
            "cron-2s",
            Topic.PAUSES,
            "The server stands still now and then, for 80.9 ms at most; no period was found.",
        ),
        ("rare-blocker-2-percent", Topic.RARE, "Some responses of /search take 121 ms."),
        (
            "blocker-and-pool",
            Topic.BLOCKING,
            "Others wait: beside /export, 37.8 ms (30.1 to 45.0) longer on average.",
        ),
    ],
)
def test_what_leaves_something_out_finds_nothing_and_is_not_wrong(name: str, topic: str, says: str) -> None:
    result = verdict(name, finding(topic, says))
    assert [said.verdict for said in result.said] == ["vague"]
    assert not any(result.found)


@pytest.mark.parametrize("name", ["clean-fastapi", "clean-node", "clean-varied"])
@pytest.mark.parametrize(
    ("topic", "says", "figures"),
    [
        (Topic.SLOTS, POOL, [figure("slots", 4.0, 4.0, 4.0, unit="")]),
        (Topic.DISCIPLINE, "One worker.", [figure("workers", 1.0, 1.0, 1.0, unit="")]),
        (Topic.PAUSES, CRON, []),
        (Topic.RARE, "1 in 20 responses of /orders takes 82 ms.", []),
        (Topic.BLOCKING, "Short requests wait for long ones.", [figure("added", 0.040)]),
        ("something new", "It is haunted.", []),
        (
            Topic.KEEP_ALIVE,
            "It closes after 100 requests.",
            [figure("requests per connection", 100.0, unit="")],
        ),
    ],
)
def test_a_fault_that_is_not_there_is_wrong(name: str, topic: str, says: str, figures: list[Any]) -> None:
    assert one(name, topic, says, *figures) == "wrong"


@pytest.mark.parametrize(
    ("topic", "says", "figures"),
    [
        (
            Topic.SLOTS,
            "At least 16 requests are served at a time.",
            [figure("slots", 16.0, 16.0, unit="", bound="≥")],
        ),
        (Topic.SERVICE_TIME, "GET /orders takes 33 ms.", [figure("median", 0.033, 0.032, 0.034)]),
        (Topic.BLOCKING, "Short requests do not wait.", [figure("added", 0.0004)]),
        (
            Topic.KEEP_ALIVE,
            "It closes idle ones after 75 s.",
            [figure("idle", 36.0, 36.0, unit="s", bound="≥")],
        ),
        (Topic.WARM_UP, "The first request of /hello takes 3 times as long.", []),
    ],
)
def test_what_every_server_does_is_true(topic: str, says: str, figures: list[Any]) -> None:
    assert one("clean-fastapi", topic, says, *figures) == "true"


@pytest.mark.parametrize(
    ("topic", "says", "figures"),
    [
        (Topic.SERVICE_TIME, "GET /orders takes 90 ms.", [figure("median", 0.090, 0.085, 0.095)]),
        (Topic.SLOTS, "Six at a time.", [figure("slots", 6.0, 6.0, 6.0, unit="")]),
        (Topic.PARALLELISM, "3 at once.", [figure("at once", 3.0, 3.0, 3.0, unit="")]),
        (Topic.KEEP_ALIVE, "It closes idle ones after 5 s.", [figure("idle", 4.0, 4.0, 6.0)]),
        (Topic.GONE, "It drops them.", [figure("share", 0.1, unit="share")]),
    ],
)
def test_a_figure_that_is_not_so_is_wrong(topic: str, says: str, figures: list[Any]) -> None:
    assert one("pool-of-four", topic, says, *figures) == "wrong"


def test_words_of_another_topic_are_not_taken_for_a_fault() -> None:
    said = "An idle connection stays open for 36 s or more; a connection carries 1,864 requests or more."
    assert one("accept-backlog", Topic.KEEP_ALIVE, said) == "true"


def test_another_order_of_service_is_wrong() -> None:
    told = finding(Topic.DISCIPLINE, "The newest first.")
    assert verdict("pool-of-four", told, family="last-come-first-served").wrong
    assert not verdict("pool-of-four", told, family="first-come-first-served").wrong


def test_to_deny_what_is_planted_is_wrong_and_to_deny_another_thing_is_not() -> None:
    none = finding(Topic.PAUSES, "No pause was seen in 22 s.", notable=False)
    assert verdict("cron-2s", none).wrong
    assert not verdict("pool-of-four", none).wrong
    rare = finding(Topic.RARE, "No route has rare slow responses.", notable=False)
    assert verdict("every-25th", rare).wrong
    assert not verdict("slow-after-idle", rare).wrong
    limits = finding(Topic.RATE_LIMIT, "No rate limit up to 48/s.", notable=False)
    assert verdict("rate-limit", limits).wrong


def test_what_cannot_be_told_is_neither_found_nor_wrong() -> None:
    result = verdict("cron-2s", finding(Topic.PAUSES, CRON, decided=False))
    assert (result.said, result.found) == ([], [False])


def test_what_is_not_in_the_paragraph_is_not_found() -> None:
    assert verdict("cron-2s", finding(Topic.PAUSES, CRON), paragraph="All is well.").found == [False]
    assert verdict("cron-2s", finding(Topic.PAUSES, CRON), paragraph=f"**{CRON}** And more.").found == [True]
    none = f"No fault was found. {CRON}"
    assert verdict("cron-2s", finding(Topic.PAUSES, CRON), paragraph=none).found == [False]


def test_each_of_two_faults_is_found_by_its_own_sentence() -> None:
    cron = CRON.replace("2.08", "2.00").replace("2.07 to 2.09", "1.99 to 2.01")
    assert verdict("cron-and-pool", finding(Topic.PAUSES, cron)).found == [False, True]
    assert verdict("cron-and-pool", finding(Topic.SLOTS, POOL), finding(Topic.PAUSES, cron)).found == [
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("four at a time", [(4.0, "")]),
        ("the fifth waits 31.0 ms (28.0 to 34.0)", [(0.031, "s")]),
        ("1 in 20, each 25th, 5 %", [(0.05, "share"), (25.0, "th"), (0.05, "share")]),
        ("/orders?limit=40 takes 731 µs [688, 1,510]", [(0.000731, "s")]),
        ("1 in 12 (4 to 14 %)", [(1 / 12, "share"), (0.09, "share")]),
        ("1,000 requests at 20.5/s, 256 kB more", [(1000.0, ""), (20.5, "/s"), (256000.0, "B")]),
    ],
)
def test_numbers_are_read_with_their_units(text: str, read: list[tuple[float, str]]) -> None:
    found = list(numbers(text))
    assert [number.unit for number in found] == [unit for _, unit in read]
    assert [number.value for number in found] == pytest.approx([value for value, _ in read])


def test_an_interval_has_the_unit_of_its_number() -> None:
    (number,) = numbers("31.0 ms (28.0 to 34.0)")
    assert number == Number(0.031, "s", pytest.approx(0.028), pytest.approx(0.034))
