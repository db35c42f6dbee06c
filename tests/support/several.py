"""Recorded trials of several requests: of a mix, of journeys, of streams, each with times of its own."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from jostle.record import RunRecord, RunWriter, TrialRecord
from support.synthetic import Trial, closed, engine_spec, histogram, intervals, lognormal

SECONDS = 10
"""More intervals than samples of one request are collected before they are merged."""

Histograms = dict[str, Any]


def times_of_series(request: int, second: int) -> Histograms:
    """Two responses, one request given up and one that failed, at times of their own."""
    times = [0.001 * (request + 1), 0.002 + 0.0005 * second]
    failed = {"censored": histogram([0.5 + request]), "failed": histogram([0.1])}
    return {"response": histogram(times), "service": histogram(times), **failed}


def as_mix(_: dict[str, Any], __: int) -> None:
    """Requests at random, as those of a list of URLs."""


def as_journeys(workload: dict[str, Any], count: int) -> None:
    """A journey for each request."""
    steps = [{"request": n, "once": None} for n in range(count)]
    workload["journeys"] = [{"name": f"j{n}", "steps": [step]} for n, step in enumerate(steps)]


def as_streams(workload: dict[str, Any], _: int) -> None:
    """Every response is a stream of events."""
    for request in workload["requests"]:
        request["stream"] = {"bounds": None, "usage": None}


def streams_of(count: int) -> list[dict[str, Any]]:
    counts = {"events": 6, "whole": 2, "met": 0, "tokens": 0, "broken_off": 0, "unfinished": 0}
    names = ("event_first", "event_gap", "event_longest_gap", "event_last")
    return [
        {"workload": 0, "request": n, "histograms": {name: histogram([0.001, 0.002]) for name in names}}
        | counts
        for n in range(count)
    ]


def run_of(base: Path, count: int, kind: Callable[[dict[str, Any], int], None]) -> TrialRecord:
    """One trial whose workload has `count` requests, each of them sent in every interval."""
    trial = Trial("a", "w", 1, closed(lognormal(0.002, 0.5), SECONDS, seed=1), duration=SECONDS)
    spec = engine_spec(trial)
    workload = spec["workloads"][0]
    workload["requests"] = [{"name": f"GET /{n}", "method": "GET", "path": f"/{n}"} for n in range(count)]
    kind(workload, count)
    writer = RunWriter.create(
        base, f"{kind.__name__}-{count}", 'title = "Many"\n', {"jostle": "0.1.0", "cores": 2}
    )
    description = {"number": 1, "contestant": "a", "workload": "w", "round": 1, "engine": spec}
    recorded = writer.trial(description)
    for interval in intervals(trial):
        (one,) = interval["series"]
        counts = {"outcomes": {"ok": 2, "response_timeout": 1, "reset": 1}, "statuses": {"200": 2}}
        interval["series"] = [
            {**one, **counts, "request": n, "histograms": times_of_series(n, interval["index"])}
            for n in range(count)
        ]
        if kind is as_streams:
            interval["streams"] = streams_of(count)
        if kind is as_journeys:
            interval["journeys"] = [
                {"workload": 0, "journey": n, "completed": 2, "unfinished": 0, "ended": []}
                | {"histograms": {name: histogram([0.004]) for name in ("journey", "journey_active")}}
                for n in range(count)
            ]
        recorded.write_interval(interval)
    recorded.finish("ended")
    writer.journal("run ended")
    return RunRecord.open(writer.folder).trials[0]
