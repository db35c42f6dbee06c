"""Run folders of any size, quickly: one second of a real load, recorded again and again.

An hour takes seconds to write, and its files are as large, and as hard to read, as those of a real hour.
"""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from servers import reference

from jostle._engine import Run
from jostle.host.facts import host_facts
from jostle.record import RunWriter, TrialWriter
from jostle.record.row_columns import ENGINE_COLUMNS

__all__ = ["Planned", "Second", "real_second", "write_rows", "write_run"]

S = 1_000_000_000
STARTED_NS = 1_795_287_154 * S


@dataclass(frozen=True)
class Planned:
    contestant: str
    workload: str
    round: int
    seconds: int


@dataclass(frozen=True)
class Second:
    """What the engine was asked for, and what it gave for one second of it."""

    spec: dict[str, Any]
    interval: dict[str, Any]


def real_second(rate: int) -> Second:
    """The third second of an open loop on a reference server."""
    with reference("run-to-completion") as address:
        host, _, port = address.removeprefix("http://").rpartition(":")
        workload = {
            "name": "w0",
            "role": "measured",
            "target": {"host": host, "port": int(port)},
            "requests": [{"name": "GET /hello", "method": "GET", "path": "/hello"}],
            "load": {
                "open": {
                    "arrivals": "poisson",
                    "rates": [{"from": float(rate), "to": float(rate), "duration_ns": 4 * S}],
                    "max_connections": 1000,
                }
            },
            "timeouts": {"connect_ns": 3 * S, "total_ns": 10 * S},
        }
        spec = {"seed": 1, "threads": 1, "duration_ns": 4 * S, "interval_ns": S, "rows": True}
        spec["workloads"] = [workload]
        run = Run(json.dumps(spec))
        found: list[Any] = []
        while not (found and found[-1]["last"]):
            found += filter(None, [run.next_interval(1.0)])
    return Second(spec, found[2])


def write_run(base: Path, slug: str, trials: Sequence[Planned], second: Second) -> Path:
    """A whole run with these trials, written by the real writer, without waiting for the disk each time."""
    sync, os.fsync = os.fsync, lambda _: None
    try:
        return _written(base, slug, trials, second)
    finally:
        os.fsync = sync


def _written(base: Path, slug: str, trials: Sequence[Planned], second: Second) -> Path:
    contestants = list(dict.fromkeys(trial.contestant for trial in trials))
    workloads = {trial.workload: trial.seconds for trial in trials}
    plan = [f"title = {json.dumps(slug)}", f"contestants = {json.dumps(contestants)}"]
    for name, seconds in workloads.items():
        load = f'{{ rate = "2000/s", for = "{seconds}s" }}'
        plan += [f"[workload.{name}]", 'request = { get = "/hello" }', f"load = {load}"]
    writer = RunWriter.create(base, slug, "\n".join(plan) + "\n", host_facts(7))
    writer.journal_start(seed=7, contestants=contestants, base="..")
    for number, trial in enumerate(trials, 1):
        place = {"contestant": trial.contestant, "workload": trial.workload, "round": trial.round}
        writer.journal("trial planned", number=number, **place)
    for number, trial in enumerate(trials, 1):
        writer.journal("trial started", number=number)
        record = _begun(writer, number, trial, second)
        for interval in _intervals(trial.seconds, second):
            record.write_interval(interval)
        _write_samples(record.folder / "server.ndjson", trial.seconds)
        record.finish("ended")
        writer.journal_outcome("trial ended", record.folder, number=number, why="", verdict="valid")
    writer.journal("run ended")
    return writer.folder


def _begun(writer: RunWriter, number: int, trial: Planned, second: Second) -> TrialWriter:
    spec = {**second.spec, "duration_ns": trial.seconds * S, "rows": False}
    spec["workloads"] = [{**second.spec["workloads"][0], "name": trial.workload}]
    rates = [{**second.spec["workloads"][0]["load"]["open"]["rates"][0], "duration_ns": trial.seconds * S}]
    spec["workloads"][0]["load"] = {"open": {**spec["workloads"][0]["load"]["open"], "rates": rates}}
    return writer.trial(
        {
            "number": number,
            "contestant": trial.contestant,
            "workload": trial.workload,
            "round": trial.round,
            "started_unix_ns": STARTED_NS + number * S,
            "server": {"label": trial.contestant, "title": trial.contestant, "runtime": "none"},
            "engine": spec,
            "placement": {"server_cores": [0], "generator_cores": [1], "shared": False},
        }  # type: ignore[arg-type]
    )


def _intervals(seconds: int, second: Second) -> Iterator[dict[str, Any]]:
    for index in range(seconds):
        yield {
            **second.interval,
            "index": index,
            "start_ns": index * S,
            "end_ns": (index + 1) * S,
            "last": index == seconds - 1,
            "rows": None,
        }


def _write_samples(path: Path, seconds: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for quarter in range(4 * seconds):
            sample = {
                "t_ns": quarter * S // 4, "cpu_user_s": 0.1 * quarter, "cpu_system_s": 0.02 * quarter,
                "rss_bytes": 60_000_000 + 100 * quarter, "pss_bytes": None, "threads": 11, "processes": 1,
                "voluntary": quarter, "involuntary": quarter, "connections": None,
            }  # fmt: skip
            file.write(json.dumps(sample) + "\n")


def write_rows(base: Path, slug: str, rows: int, second: Second, each: int = 1_000_000) -> Path:
    """A run of one trial with so many rows, a million in each file: a second of a million requests."""
    import numpy as np

    sync, os.fsync = os.fsync, lambda _: None
    try:
        seconds = rows // each
        writer = RunWriter.create(base, slug, 'title = "rows"\n', host_facts(7))
        writer.journal_start(seed=7, contestants=["a"], base="..")
        place: Any = {"contestant": "a", "workload": "w0", "round": 1}
        writer.journal("trial planned", number=1, **place)
        record = _begun(writer, 1, Planned("a", "w0", 1, seconds), second)
        rng = np.random.default_rng(7)
        took = rng.lognormal(-8, 1, each)
        offsets = np.sort(rng.integers(0, S, each))
        for index, interval in enumerate(_intervals(seconds, second)):
            intended = offsets + index * S
            end = intended + (took * 1e9).astype(np.int64)
            times = {
                "intended_ns": intended,
                "sent_ns": intended + 900,
                "headers_ns": end - 100,
                "end_ns": end,
            }
            fixed = {"workload": 0, "request": 0, "client": 0, "outcome": 0, "status": 200, "bytes": 1000}
            columns = {name: np.full(each, value) for name, value in fixed.items()} | times
            packed = {name: columns[name].astype(dtype).tobytes() for name, dtype in ENGINE_COLUMNS.items()}
            record.write_interval({**interval, "rows": packed})
        record.finish("ended")
        writer.journal_outcome("trial ended", record.folder, number=1, why="", verdict="valid")
        writer.journal("run ended")
        return writer.folder
    finally:
        os.fsync = sync
