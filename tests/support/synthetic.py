"""Run folders of known content: requests from given distributions, written through the real `RunWriter`.

    folder = starvation_run(tmp_path)                      # two forms, two contestants, five rounds
    folder = make_run(tmp_path, [Trial("a", "w", 1, closed(…))])

The requests of a trial are a list; intervals, counters, in-flight integrals and histograms follow from it
exactly, as the engine would give them.
"""

import base64
import functools
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from hdrh.histogram import HdrHistogram

from jostle.record import RunWriter
from jostle.record.layout import Event, GarbageEntry, SteeredEntry
from jostle.record.outcomes import Outcome
from jostle.record.row_columns import ENGINE_COLUMNS

STARTED_NS = 1_795_287_154_000_000_000

CENSORED = ("response_timeout", "connect_timeout", "never_sent", "unfinished")

Times = Callable[[random.Random], float]
"""Draws a time in seconds."""


@dataclass(frozen=True)
class Request:
    """Seconds from the trial's start. `sent` is None for a request that was never sent."""

    intended: float
    sent: float | None
    end: float
    outcome: str = "ok"
    workload: int = 0
    client: int = 0
    status: int = 200  # of a right response
    of: int = 0  # its place in the trial's `mix`


@dataclass(frozen=True, eq=False)
class Trial:
    """What is to be recorded of one trial; everything but the first four has a sensible value.

    As a key it is itself, so that what is calculated of it is calculated once.
    """

    contestant: str
    workload: str
    round: int
    requests: list[Request]
    duration: float = 5.0
    interval: float = 1.0
    load: dict[str, Any] = field(default_factory=lambda: {"closed": {"clients": 1}})
    background: dict[str, Any] | None = None
    generator_cpu: float = 0.3
    pacing: float | None = 20e-6
    """Every request's pacing lag, None: all of sent - intended; only open loops and think times have one."""
    shared: bool | None = False  # None: jostle did not start the server
    host: str | None = None  # of its generator, "" is this machine; None: not recorded
    busy_poll: bool = False
    status: str | None = "ended"  # None: no outcome.json, as after `kill -9`
    why: str = ""
    away: bool = False  # its server was not there, so that no load was sent
    rows: bool = False
    resource_usage: bool = True
    database: dict[str, Any] | None = None  # as its server was told of it
    server: dict[str, Any] = field(default_factory=dict)  # what else its description says
    garbage: GarbageEntry | None = None  # as its runtime told of it
    journeys: bool = False  # its requests are the steps of journeys
    mix: Sequence[str] = ()  # the names of its requests, if there are several
    steered: Sequence[SteeredEntry] = ()  # how its load was changed while it ran
    open_connections: Sequence[int] = ()  # at the end of each interval; one per client when not given


def lognormal(median: float, sigma: float) -> Times:
    """Times with this median; `sigma` is the standard deviation of their logarithm."""
    return lambda rng: median * rng.lognormvariate(0, sigma)


def closed(
    times: Times,
    duration: float,
    *,
    clients: int = 1,
    seed: int = 0,
    blocked: Sequence[tuple[float, float]] = (),
) -> list[Request]:
    """Clients that send again as soon as they are answered. Nobody is answered within a `blocked` window."""
    rng = random.Random(seed)
    requests = []
    for client in range(clients):
        now = 0.0
        while now < duration:
            requests.append(_answered(now, times(rng), duration, blocked, client))
            now = requests[-1].end
    return requests


def open_loop(
    times: Times, rate: float, duration: float, *, seed: int = 0, blocked: Sequence[tuple[float, float]] = ()
) -> list[Request]:
    """Poisson arrivals, each on a connection of its own. Nobody is answered within a `blocked` window."""
    rng = random.Random(seed)
    requests = []
    now = rng.expovariate(rate)
    while now < duration:
        requests.append(_answered(now, times(rng), duration, blocked, 0))
        now += rng.expovariate(rate)
    return requests


def _answered(
    start: float, service: float, duration: float, blocked: Sequence[tuple[float, float]], client: int
) -> Request:
    end = start + service
    for begin, until in blocked:
        if start < until and end > begin:
            end = until + service
    if end > duration:
        return Request(start, start, duration, "unfinished", client=client)
    return Request(start, start, end, client=client)


def back_to_back(
    seconds: float, duration: float, workload: int = 1, limit: int | None = None
) -> list[Request]:
    """One slow request after another, `limit` of them at most."""
    requests: list[Request] = []
    now = 0.0
    while now < duration and (limit is None or len(requests) < limit):
        end = now + seconds
        outcome = "ok" if end <= duration else "unfinished"
        requests.append(Request(now, now, min(end, duration), outcome, workload))
        now = end
    return requests


def intervals(trial: Trial) -> Iterator[dict[str, Any]]:
    """The trial's requests as the engine's intervals."""
    count = max(1, round(trial.duration / trial.interval))
    workloads = 2 if trial.background else 1
    paced = "open" in trial.load
    for index in range(count):
        start, end = index * trial.interval, (index + 1) * trial.interval
        last = index == count - 1
        ended = [r for r in trial.requests if start < r.end <= end or (last and r.end > end)]
        yield {
            "index": index,
            "start_ns": round(start * 1e9),
            "end_ns": round(end * 1e9),
            "last": last,
            "open_files": 12,
            "ports": [{"from": "", "to": "127.0.0.1:8080", "held": workloads}],
            "loop_lag": histogram([20e-6]),
            "series": [
                _series(requests, w, of, trial.pacing, paced=paced and w == 0)
                for w in range(workloads)
                for of in range(max(1, len(trial.mix)))
                if (requests := [r for r in ended if (r.workload, r.of) == (w, of)])
            ],
            "workloads": [_state(trial, w, start, end) for w in range(workloads)],
            "threads": [
                {
                    "cpu_ns": round(trial.generator_cpu * trial.interval * 1e9),
                    "wall_ns": round(trial.interval * 1e9),
                }
            ],
            "rows": _rows([r for r in ended if r.workload == 0]) if trial.rows else None,
        }


def _series(
    requests: list[Request], workload: int, of: int, pacing: float | None, *, paced: bool
) -> dict[str, Any]:
    times: dict[str, list[float]] = defaultdict(list)
    outcomes: dict[str, int] = defaultdict(int)
    statuses = Counter(str(request.status) for request in requests if request.outcome == "ok")
    for request in requests:
        outcomes[request.outcome] += 1
        response = request.end - request.intended
        if paced and request.sent is not None:
            times["pacing"].append(request.sent - request.intended if pacing is None else pacing)
        if request.outcome == "ok" and request.sent is not None:
            service = request.end - request.sent
            times["response"].append(response)
            times["service"].append(service)
            times["headers"].append(service * 0.9)
            times["body"].append(service * 0.1)
            times["lag"].append(request.sent - request.intended)
        else:
            times["censored" if request.outcome in CENSORED else "failed"].append(response)
    sent = [r for r in requests if r.sent is not None]
    return {
        "workload": workload,
        "request": of,
        "phase": 0,
        "outcomes": dict(outcomes),
        "statuses": dict(statuses),
        "failures": {"wrong_status": {"503": outcomes["wrong_status"]}} if outcomes["wrong_status"] else {},
        "histograms": {name: histogram(values) for name, values in times.items()},
        "service_sum_ns": round(sum(times["service"]) * 1e9),
        "response_sum_ns": round(sum(times["response"]) * 1e9),
        "busy_sum_ns": round(sum(r.end - (r.sent or 0.0) for r in sent) * 1e9),
        "bytes_in": 1200 * outcomes["ok"],
        "bytes_out": 80 * len(sent),
    }


def _state(trial: Trial, workload: int, start: float, end: float) -> dict[str, int]:
    requests = [r for r in trial.requests if r.workload == workload]
    within = [r for r in requests if r.sent is not None and r.sent < end and r.end > start]
    in_flight = sum(min(r.end, end) - max(r.sent or 0.0, start) for r in within)
    clients = 1 if workload else trial.load.get("closed", {}).get("clients", 0)
    connections = clients or len(within)
    if trial.open_connections and not workload:
        connections = trial.open_connections[round(start / trial.interval)]
    return {
        "due": sum(start <= r.intended < end for r in requests),
        "sent": sum(r.sent is not None and start <= r.sent < end for r in requests),
        "in_flight_ns": round(in_flight * 1e9),
        "in_flight": sum(r.end > end for r in within),
        "clients": clients,
        "connections": connections,
        "backlog": sum(r.sent is None and r.intended < end <= r.end for r in requests),
        "connects": sum(start <= r.intended < end for r in requests) if not clients else 0,
    }


def _rows(requests: list[Request]) -> dict[str, bytes]:
    import numpy as np

    def ns(value: float | None) -> int:
        return round((value or 0.0) * 1e9)

    columns: dict[str, list[int]] = {
        "workload": [r.workload for r in requests],
        "request": [r.of for r in requests],
        "client": [r.client for r in requests],
        "intended_ns": [ns(r.intended) for r in requests],
        "sent_ns": [ns(r.sent) for r in requests],
        "headers_ns": [ns(r.end) if r.outcome == "ok" else 0 for r in requests],
        "end_ns": [ns(r.end) for r in requests],
        "outcome": [list(Outcome).index(r.outcome) for r in requests],
        "status": [r.status if r.outcome == "ok" else 0 for r in requests],
        "bytes": [1200 if r.outcome == "ok" else 0 for r in requests],
    }
    return {name: np.array(columns[name], dtype=dtype).tobytes() for name, dtype in ENGINE_COLUMNS.items()}


def histogram(seconds: Iterable[float]) -> dict[str, Any]:
    """As the engine gives one: encoded, with its count and maximum."""
    import numpy as np

    recorded = HdrHistogram(1, 3_600_000_000, 3)
    values = np.array([max(1, round(value * 1e6)) for value in seconds], dtype=np.int64)
    # Of each value, 11 binary digits decide its slot. All at once: hdrh is slow.
    bits = np.maximum(np.frexp(values.astype(float))[1] - 11, 0)
    slots = (values >> bits) + 1024 * bits
    np.add.at(np.frombuffer(recorded.counts, np.int64), slots, 1)
    recorded.total_count = len(values)
    recorded.max_value = int(values.max(initial=0))
    if len(values):
        recorded.min_value = int(values.min())
    return {
        "v2": base64.b64decode(recorded.encode()),
        "count": recorded.get_total_count(),
        "max_us": recorded.get_max_value() if recorded.get_total_count() else 0,
    }


def engine_interval(**fields: Any) -> dict[str, Any]:
    """As the engine gives it: the only one of a process, a second long and empty, but for these `fields`."""
    return {
        "index": 0,
        "start_ns": 0,
        "end_ns": 1_000_000_000,
        "last": True,
        "open_files": 1,
        "ports": [],
        "loop_lag": None,
        "series": [],
        "workloads": [],
        "threads": [],
        "rows": None,
        "rows_lost": 0,
        "workers_lost": 0,
        **fields,
    }


def engine_spec(trial: Trial) -> dict[str, Any]:
    """The RunSpec that would have given this trial."""

    def workload(name: str, role: str, path: str, load: dict[str, Any]) -> dict[str, Any]:
        return {
            "name": name,
            "role": role,
            "target": {"host": "127.0.0.1", "port": 8080},
            "requests": [{"name": f"GET {path}", "method": "GET", "path": path}],
            "load": load,
            "timeouts": {"connect_ns": 3_000_000_000, "total_ns": 10_000_000_000},
        }

    workloads = [workload(trial.workload, "measured", "/fast/44", trial.load)]
    if trial.mix:
        workloads[0]["requests"] = [{"name": name, "method": "GET", "path": f"/{name}"} for name in trial.mix]
    if trial.journeys:
        steps = [{"request": n, "once": None, "together": False} for n, _ in enumerate(trial.mix)]
        workloads[0]["journeys"] = [{"name": "visit", "steps": steps}]
    if trial.background:
        workloads.append(workload("background", "background", "/slow/44", trial.background))
    return {
        "seed": 1,
        "threads": 1,
        "busy_poll": trial.busy_poll,
        "duration_ns": round(trial.duration * 1e9),
        "interval_ns": round(trial.interval * 1e9),
        "rows": trial.rows,
        "workloads": workloads,
    }


_INTERVALS: WeakKeyDictionary[Trial, list[dict[str, Any]]] = WeakKeyDictionary()


def write_trial(writer: RunWriter, number: int, trial: Trial) -> Path:
    """Record one trial and return its folder."""
    description = {
        "number": number,
        "contestant": trial.contestant,
        "workload": trial.workload,
        "round": trial.round,
        "started_unix_ns": STARTED_NS + number * 10_000_000_000,
        "server": {
            "label": trial.contestant,
            "title": f"{trial.contestant}, a synthetic server",
            "runtime": "none",
            "version": "1.2.3",
            "discipline": "run to completion",
            "variants": {},
            "pid": 4242,
            "cores": [0],
            "database": trial.database,
            **trial.server,
        },
        "engine": engine_spec(trial),
        "placement": {"server_cores": [0], "generator_cores": [1], "shared": trial.shared},
    }
    if trial.host is not None:
        started = {"number": 1, "of": 1, "pid": 1, "started_unix_ns": 0, "host": trial.host}
        description["generators"] = [started]
    recorded = writer.trial(description)
    if trial not in _INTERVALS:
        _INTERVALS[trial] = [] if trial.away else [*intervals(trial)]
    for interval in _INTERVALS[trial]:
        recorded.write_interval(interval)
    if trial.resource_usage:
        _write_usage(recorded.folder / "server.ndjson", trial)
        if trial.database:
            _write_usage(recorded.folder / "database.ndjson", trial)
    for steered in trial.steered:
        writer.steered(number, recorded.folder, steered)
    if trial.status is not None:
        recorded.finish(trial.status, trial.why, garbage=trial.garbage, server_away=trial.away)
    else:
        recorded.abandon()
    return recorded.folder


def _write_usage(path: Path, trial: Trial) -> None:
    import json

    with path.open("w", encoding="utf-8") as file:
        for step in range(round(trial.duration / 0.25) + 1):
            t = step * 0.25
            sample = {
                "t_ns": round(t * 1e9),
                "cpu_user_s": 0.1 + 0.6 * t,
                "cpu_system_s": 0.02 + 0.1 * t,
                "rss_bytes": 60_000_000 + 1_000_000 * step,
                "pss_bytes": None,
                "threads": 11,
                "processes": 1,
                "voluntary": 100 * step,
                "involuntary": step,
                "connections": None,
            }
            file.write(json.dumps(sample) + "\n")


PLAN = """\
title = "A synthetic run"
rounds = 1
"""


def make_run(
    base: Path, trials: Sequence[Trial], *, plan_text: str = PLAN, ended: bool = True, slug: str = "synthetic"
) -> Path:
    """Record a whole run and return its folder; with `ended=False` its journal just stops."""
    host = {
        "jostle": "0.1.0",
        "started": "2026-11-21T18:52:34+0000",
        "kernel": "Linux 6.1.0 x86_64",
        "cpu_model": "A synthetic processor",
        "cores": 2,
        "memory_bytes": 4_000_000_000,
        "limits": {"open_files": {"soft": 20000, "hard": 20000}},
        "settings": {"net/ipv4/ip_local_port_range": "32768 60999"},
        "python": "3.11.7",
        "argv": ["jostle", "run", "plan.toml"],
        "seed": 7,
    }
    writer = RunWriter.create(base, slug, plan_text, host)
    writer.journal_start(seed=7)
    for number, trial in enumerate(trials, 1):
        planned = {"contestant": trial.contestant, "workload": trial.workload, "round": trial.round}
        writer.journal("trial planned", number=number, **planned)
    for number, trial in enumerate(trials, 1):
        writer.journal("trial started", number=number)
        folder = write_trial(writer, number, trial)
        if trial.status is not None:
            event: Event = "trial ended" if trial.status == "ended" else "trial failed"
            writer.journal_outcome(event, folder, number=number, why=trial.why)
    if ended:
        writer.journal("run ended")
    return writer.folder


def as_format_1(run: Path) -> None:
    """The run without checksums, as format 1 had none: for tests that change what was recorded."""
    import json

    for path in [run / "host.json", *run.glob("trials/**/trial.json"), *run.glob("trials/**/outcome.json")]:
        data = {key: value for key, value in json.loads(path.read_text()).items() if key != "files"}
        path.write_text(json.dumps(data | {"format": 1} if "format" in data else data))
    journal = run / "journal.ndjson"
    entries = [json.loads(line) for line in journal.read_text().splitlines()]
    for entry in entries:
        for key in ("crc32", "files", "outcome"):
            entry.pop(key, None)
    journal.write_text("".join(json.dumps(entry) + "\n" for entry in entries))


STARVATION_PLAN = """\
title = "Does one slow request starve the fast ones?"
contestants = ["node", "go"]
rounds = {rounds}
seed = 7

[workload.fast-only]
title = "One fast client"
request = {{ get = "/fast/44", expect = "1936" }}
load = {{ clients = 1, for = "5s" }}

[workload.fast-with-slow]
title = "One fast client beside a slow one"
request = {{ get = "/fast/44", expect = "1936" }}
load = {{ clients = 1, for = "5s" }}
background = {{ get = "/slow/44", clients = 1 }}

[workload.slow-alone]
title = "The slow request by itself"
request = {{ get = "/slow/44" }}
load = {{ clients = 1, requests = 3 }}

[workload.stream]
title = "A fast stream"
request = {{ get = "/fast/44", expect = "1936" }}
load = {{ rate = "200/s", for = "5s" }}

[workload.stream-with-slow]
title = "A fast stream beside a slow request"
request = {{ get = "/fast/44", expect = "1936" }}
load = {{ rate = "200/s", for = "5s" }}
background = {{ get = "/slow/44", clients = 1 }}

[[starvation]]
form = "as published"
title = "One closed client, as the article did it"
alone = "fast-only"
with = "fast-with-slow"
slow = "slow-alone"

[[starvation]]
form = "open loop"
title = "A fast stream that does not wait for responses"
alone = "stream"
with = "stream-with-slow"
slow = "slow-alone"

[published]
source = "Haskell and Node, an article of 2017"

[[published.figures]]
contestant = "node"
workload = "fast-only"
metric = "throughput"
value = 572
unit = "requests/5 s"

[[published.figures]]
contestant = "node"
workload = "fast-with-slow"
metric = "throughput"
value = 114
unit = "requests/5 s"
"""

SLOW_S = 1.9
"""How long the slow request takes by itself."""


def starvation_trials(rounds: int = 5, rows: bool = False) -> list[Trial]:
    """A server that runs each request to its end ("node") and one that shares its cores ("go")."""
    return [
        trial
        for number in range(1, rounds + 1)
        for contestant, blocks in (("node", True), ("go", False))
        for trial in _starvation_round(contestant, blocks, number, rows)
    ]


@functools.cache
def _starvation_round(contestant: str, blocks: bool, number: int, rows: bool) -> list[Trial]:
    seed = number * 100 + len(contestant)
    rng = random.Random(seed)
    slow_s = SLOW_S * rng.uniform(0.97, 1.03)
    fast = lognormal(2e-3 * rng.uniform(0.95, 1.05), 0.25)
    slower = lognormal(2.1e-3 * rng.uniform(0.95, 1.05), 0.3)
    slow = [Request(r.intended, r.sent, r.end, r.outcome, 1) for r in back_to_back(slow_s, 5.0, limit=2)]
    blocked = [(r.intended, r.end) for r in slow] if blocks else []
    beside = {"closed": {"clients": 1}}
    few = {"closed": {"clients": 1, "requests": 3}}
    stream = {
        "open": {"arrivals": "poisson", "rates": [{"from": 200.0, "to": 200.0}], "max_connections": 10_000}
    }
    times = fast if blocks else slower

    def trial(workload: str, requests: list[Request], **more: Any) -> Trial:
        return Trial(contestant, workload, number, requests, rows=rows, **more)

    return [
        trial("fast-only", closed(fast, 5.0, seed=seed)),
        trial("fast-with-slow", closed(times, 5.0, seed=seed + 1, blocked=blocked) + slow, background=beside),
        trial("slow-alone", back_to_back(slow_s, 6.0, workload=0, limit=3), duration=6.0, load=few),
        trial("stream", open_loop(fast, 200.0, 5.0, seed=seed + 2), load=stream),
        trial(
            "stream-with-slow",
            open_loop(times, 200.0, 5.0, seed=seed + 2, blocked=blocked) + slow,
            load=stream,
            background=beside,
        ),
    ]


def starvation_run(base: Path, rounds: int = 5, **more: Any) -> Path:
    """A whole starvation run: two contestants, both forms, `rounds` rounds."""
    return make_run(
        base,
        starvation_trials(rounds),
        plan_text=STARVATION_PLAN.format(rounds=rounds),
        slug="starvation",
        **more,
    )
