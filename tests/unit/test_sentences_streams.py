"""What a report says of a stream of fast requests beside slow ones."""

from dataclasses import replace

from support.sentences import Row, by_row, check, e, near, share
from support.starved import CALM, NO_INTERVAL, quantiles, starved

GO = {"beside": quantiles(0.0095, 0.027, 0.031), "blocking": share(0.6, 0.7), "slow_s": 0.0396}
"""All of 300 requests a second are answered, p50 9.5 ms beside slow requests of 39.6 ms."""

CALM_MEDIAN = {**GO, "beside": quantiles(0.0005, 0.027, 0.031)}
"""The same, but most fast requests do not wait."""

TABLE = [
    Row(
        "x answers fast requests only while no slow one runs: p99 is at least 4.40 s beside slow requests of",
        lambda: starved("open", blocking=share(0.9, 1.0), beside=quantiles(2.2, 4.4, 4.5, "≥")),
        (
            lambda: starved("open", **GO, waits="a turn"),
            lambda: starved("open", **GO, waits="undecided"),
            lambda: starved("open", blocking=share(0.9, 1.0), beside=quantiles(0.0004, 4.4, 4.5)),
            lambda: starved("open", blocking=share(0.3, 0.4)),
        ),
    ),
    Row(
        "x answers fast requests only while fewer than 2 slow ones run: p99 is",
        lambda: starved("open", blocking=share(0.9, 1.0), beside=quantiles(2.2, 4.4, 4.5), slow_clients=2),
        (lambda: starved("open", blocking=share(0.9, 1.0), beside=quantiles(2.2, 4.4, 4.5)),),
    ),
    Row(
        "The p99 is longer than slow requests take: fast ones queue up.",
        lambda: starved("open", blocking=share(0.9, 1.0), beside=quantiles(2.2, 9.4, 4.5)),
        (
            lambda: starved("open", blocking=share(0.9, 1.0), beside=quantiles(2.2, 4.4, 4.5)),
            lambda: starved(
                "open", blocking=share(0.9, 1.0), beside=quantiles(2.2, 9.4, 4.5), slow_clients=2
            ),
            lambda: starved("open", **GO, waits="a turn"),
        ),
    ),
    Row(
        "of the time, fast ones to x can wait: p99 is",
        lambda: starved("open", blocking=share(0.9, 1.0), beside=quantiles(0.0004, 4.4, 4.5)),
        (lambda: starved("open", blocking=share(0.9, 1.0), beside=quantiles(2.2, 4.4, 4.5)),),
    ),
    Row(
        "They wait for a time slice, not for the end of a slow request: beside slow requests of many time "
        "slices, fast ones are answered before these end.",
        lambda: starved("open", **GO, waits="a turn"),
        (lambda: starved("open", **GO, waits="undecided"), lambda: starved("open", **GO)),
    ),
    Row(
        "at least half of the fast requests to x wait: p50 is 9.50 ms, and 400 µs alone; p99 is 27.0 ms "
        "beside slow requests of 39.6 ms, and 2.00 ms alone",
        lambda: starved("open", **GO, waits="undecided"),
        (
            lambda: starved("open", blocking=share(0.0, 0.05)),
            lambda: starved("open", **CALM_MEDIAN, waits="undecided"),
        ),
    ),
    Row(
        "1 in 100 fast requests to x is late: p99 is 27.0 ms beside slow requests of 39.6 ms, and 2.00 ms",
        lambda: starved("open", **CALM_MEDIAN, waits="undecided"),
        (lambda: starved("open", **GO, waits="undecided"),),
    ),
    Row(
        "In that time, x loses at least 99 % of its throughput; over the whole trial, 85 % [80, 90].",
        lambda: starved("closed", index=share(0.8, 0.9), left=e(0.0002, 0.0, 0.01, unit="share")),
        (lambda: starved("closed", index=share(0.8, 0.9), left=share(0.0, 0.01)),),
    ),
    Row(
        "keeps answering while slow requests run",
        lambda: starved("open", blocking=share(0.0, 0.05)),
        (lambda: starved("open", blocking=share(0.05, 0.2)), lambda: starved("open", **GO)),
    ),
    Row(
        "Slow requests delay x's fast ones by no more than noise could explain",
        lambda: starved("open", blocking=share(-0.1, 0.4)),
        (
            lambda: starved("open", blocking=share(0.05, 0.4)),
            lambda: starved("open", blocking=share(0, 0.05)),
        ),
    ),
    Row(
        "Undecided for x",
        lambda: starved(
            "open", blocking=share(0.3, 4.0)
        ),  # from a third of a slow one's duration to four of them
        (lambda: starved("open", blocking=share(0.6, 4.0)),),
    ),
    Row(
        "Slow requests delay x's fast ones by only part of a slow one's duration",
        lambda: starved("open", blocking=share(0.2, 0.4)),
        (lambda: starved("open", blocking=share(0.6, 0.8)), lambda: starved("open", blocking=share(0, 0.05))),
    ),
    Row(
        "Undecided for x: p99 is",
        lambda: starved("open", blocking=share(0.0, 0.9)),
        (lambda: starved("open", blocking=share(0.2, 0.4)),),
    ),
    Row(
        "but the rounds differ too much (45.0 ms to 485 ms). More rounds may decide it.",
        lambda: starved(
            "open",
            blocking=share(0.0, 0.9),
            beside={**CALM, "p99": replace(near(0.2), rounds=(0.485, 0.452, 0.045))},
        ),
        (lambda: starved("open", blocking=share(0.0, 0.9)),),
    ),
    Row(
        "delay x's fast ones by at least part of a slow one's duration",
        lambda: starved("open", blocking=e(0.4, 0.2, unit="", bound="≥")),
        (
            lambda: starved("open", blocking=share(0.2, 0.4)),
            lambda: starved("open", blocking=e(0.9, 0.6, unit="", bound="≥")),
        ),
    ),
    Row(
        "In 2 rounds of x, p99 is at least 4.40 s",
        lambda: starved(
            "open", blocking=e(0.9, unit="", bound="≥", n=2), beside=quantiles(2.2, 4.4, 4.5, "≥")
        ),
        (
            lambda: starved(
                "open", blocking=e(0.9, 0.6, unit="", bound="≥"), beside=quantiles(2.2, 4.4, 4.5, "≥")
            ),
        ),
    ),
    Row(
        "In the only round of x, p99 is",
        lambda: starved("open", blocking=replace(NO_INTERVAL, n=1)),
        (lambda: starved("open", blocking=share(0.2, 0.4)),),
    ),
    Row(
        "p99 is unknown beside",
        lambda: starved("open", blocking=share(0.2, 0.4), beside={**CALM, "p99": e(None)}),
        (lambda: starved("open", blocking=share(0.2, 0.4)),),
    ),
    Row(
        "It is unknown whether slow requests block x: too few requests.",
        lambda: starved("open"),
        (lambda: starved("open", blocking=share(0.2, 0.4)),),
    ),
]


@by_row(TABLE)
def test_a_sentence_is_printed_for_its_numbers_and_for_no_others(row: Row) -> None:
    check(row)
