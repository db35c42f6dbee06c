"""What a report says of one closed client beside one slow request."""

from dataclasses import replace

from jostle.analysis.results import Estimate, Mode
from support.sentences import Row, by_row, check, e, share
from support.starved import NO_INTERVAL, quantiles, starved


def apart(*values: float) -> Estimate:
    """Rounds without a mean."""
    note = "the rounds fall into two groups more than tenfold apart, so no mean is given"
    return e(None, unit="", n=len(values), note=note, rounds=values)


TABLE = [
    Row(
        "answers no fast one: fast requests wait for up to 4.40 s",
        lambda: starved("closed", index=share(0.85, 0.9), beside=quantiles(0.0004, 0.002, 4.4)),
        (
            lambda: starved("closed", index=share(0.85, 0.9), waits="a turn"),
            lambda: starved("closed", index=share(0.5, 0.6), beside=quantiles(0.0004, 0.002, 4.4)),
        ),
    ),
    Row(
        "answers no fast one: no fast request was answered",
        lambda: starved("closed", index=share(0.99, 1.0), beside=quantiles(0.1, 0.1, None)),
        (lambda: starved("closed", index=share(0.99, 1.0), beside=quantiles(0.1, 0.1, 4.4)),),
    ),
    Row(
        "a fast request waited for 4.40 s without a response",
        lambda: starved("closed", index=share(0.99, 1.0), beside=quantiles(0.1, 0.1, 4.4, "≥")),
        (lambda: starved("closed", index=share(0.99, 1.0), beside=quantiles(0.1, 0.1, 4.4)),),
    ),
    Row(
        "x answers no fast one: fast requests wait for up to 4.40 s. In that time, x loses 99.5 %",
        lambda: starved(
            "closed", index=share(0.2, 0.7), left=share(0.0, 0.01), beside=quantiles(0.1, 0.1, 4.4)
        ),
        (
            lambda: starved("closed", index=share(0.2, 0.7), beside=quantiles(0.1, 0.1, 4.4)),
            lambda: starved("closed", index=share(0.2, 0.7), left=share(0.95, 1.0)),
            lambda: starved("closed", index=share(0.2, 0.7), left=NO_INTERVAL),
        ),
    ),
    Row(
        "answers few fast ones",
        lambda: starved("closed", index=share(0.5, 0.6), beside=quantiles(0.0004, 0.002, 4.4)),
        (lambda: starved("closed", index=share(0.3, 0.4), beside=quantiles(0.0004, 0.002, 4.4)),),
    ),
    Row(
        "While x works on a slow request (90 % of the trial), each fast request of the only client waits "
        "until the slow one is interrupted (median 10.0 ms, longest 31.0 ms). x loses",
        lambda: starved(
            "closed",
            index=share(0.94, 0.96),
            beside=quantiles(0.01, 0.02, 0.031),
            wait_s=0.01,
            waits="a turn",
        ),
        (lambda: starved("closed", index=share(0.94, 0.96), beside=quantiles(0.01, 0.02, 4.4), wait_s=0.01),),
    ),
    Row(
        "each fast request of its 3 clients waits until the slow one is interrupted",
        lambda: starved("closed", index=share(0.94, 0.96), clients=3, waits="a turn"),
        (lambda: starved("closed", index=share(0.94, 0.96), waits="a turn"),),
    ),
    Row(
        "A client that waits sends nothing, so these are few: p50 and p99 of the whole trial are shorter.",
        lambda: starved(
            "closed",
            index=share(0.5, 0.6),
            beside=quantiles(0.0004, 0.002, 0.031),
            wait_s=0.01,
            waits="a turn",
        ),
        (
            lambda: starved(
                "closed",
                index=share(0.5, 0.6),
                beside=quantiles(0.01, 0.02, 0.031),
                wait_s=0.01,
                waits="a turn",
            ),
        ),
    ),
    Row(
        "whether fast ones wait for their end or for a time slice; 300 ms would be long enough",
        lambda: starved("closed", index=share(0.6, 0.7), slow_s=0.04, waits="undecided"),
        (lambda: starved("closed", index=share(0.6, 0.7)),),
    ),
    Row(
        "keeps serving while a slow request runs, and fast requests wait for up to 3.00 ms. x loses",
        lambda: starved("closed", index=share(0.01, 0.05)),
        (lambda: starved("closed", index=share(0.2, 0.3)),),
    ),
    Row(
        "keeps serving while a slow request runs, and fast requests wait for up to 3.00 ms. In that time",
        lambda: starved("closed", index=share(0.2, 0.7), left=share(0.95, 1.0)),
        (lambda: starved("closed", index=share(0.2, 0.7), left=share(0.3, 0.4)),),
    ),
    Row(
        "slows down while a slow request runs, but keeps serving",
        lambda: starved("closed", index=share(0.2, 0.3)),
        (
            lambda: starved("closed", index=share(0.5, 0.6)),
            lambda: starved("closed", index=share(0.2, 0.7)),
        ),
    ),
    Row(
        "loses no more throughput beside a slow request than noise could explain",
        lambda: starved("closed", index=share(-0.1, 0.2)),
        (lambda: starved("closed", index=share(0.15, 0.2)),),
    ),
    Row(
        "Undecided: x lost 45 % of its throughput",
        lambda: starved("closed", index=share(0.2, 0.7)),
        (lambda: starved("closed", index=share(0.3, 0.4)),),
    ),
    Row(
        "In the only round, x lost 50 % of its throughput",
        lambda: starved("closed", index=replace(NO_INTERVAL, n=1)),
        (lambda: starved("closed", index=share(0.4, 0.6)),),
    ),
    Row(
        "In 2 rounds, x lost 50 %",
        lambda: starved("closed", index=replace(NO_INTERVAL, n=2)),
        (lambda: starved("closed", index=share(0.4, 0.6)),),
    ),
    Row(
        "It is unknown whether a slow request starves x: too few requests.",
        lambda: starved("closed"),
        (
            lambda: starved("closed", index=share(0.4, 0.6)),
            lambda: starved("closed", index=apart(1.0, 1.0, 0.97, 0.88, 0.87, 0.83, 0.79, 0.75)),
        ),
    ),
    Row(
        "Beside a slow request, x lost between 75 % and 100 % of the trial’s throughput, depending on the "
        "round. The rounds lie too far apart for a mean.",
        lambda: starved("closed", index=apart(1.0, 1.0, 0.97, 0.88, 0.87, 0.83, 0.79, 0.75)),
        (lambda: starved("closed", index=apart(1.0, 0.97, 0.4)),),
    ),
    Row(
        "Beside a slow request, x lost at most 5 % of the trial’s throughput in each of 3 rounds.",
        lambda: starved("closed", index=apart(0.05, 0.0, -0.02)),
        (lambda: starved("closed", index=apart(0.2, 0.0, -0.02)),),
    ),
    Row(
        "Undecided: in 3 rounds, x lost between 40 % and 100 % of the trial’s throughput",
        lambda: starved("closed", index=apart(1.0, 0.97, 0.4)),
        (lambda: starved("closed", index=apart(1.0, 0.97, 0.6)),),
    ),
    Row(
        "The rounds fall into two groups, fixed when the server starts: in 3 rounds 10 %",
        lambda: starved(
            "closed", index=share(0.2, 0.3), modes=(Mode(3, 0.1, 0.09, 0.11), Mode(2, 0.9, 0.89, 0.91))
        ),
        (lambda: starved("closed", index=share(0.2, 0.3)),),
    ),
    Row(
        "Unreliable (invalid trials): ",
        lambda: starved("closed", index=share(0.2, 0.3), trusted=False),
        (
            lambda: starved("closed", index=share(0.2, 0.3)),
            lambda: starved("closed", trusted=False),
            lambda: starved("open", trusted=False),
        ),
    ),
]


@by_row(TABLE)
def test_a_sentence_is_printed_for_its_numbers_and_for_no_others(row: Row) -> None:
    check(row)
