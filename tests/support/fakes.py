"""An executor and contestants that start nothing: what a run does, without servers and without a load."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jostle.contestant import compatibility
from jostle.errors import JostleError, StartFailed, SteerRefused, UnknownName
from jostle.generator import Generator, Running
from jostle.generator.api import Steered
from jostle.plan import parse_plan
from jostle.plan.change import Change
from jostle.runner import experiment
from jostle.runner.observer import Observer, unobserved
from support.synthetic import Trial, closed, intervals

STARTED_NS = 1_795_287_154_000_000_000

Event = Callable[[], None]
"""Something that happens while a load runs, before its second interval; it may raise."""


def nothing() -> None:
    """A load that runs to its end."""


class FakeRunning:
    """Three intervals of ten requests per second; `event` happens after the first.

    `spoiled`: a thread of the generator dies in the last one. `outcome`: of all requests.
    """

    def __init__(self, event: Event = nothing, *, spoiled: bool = False, outcome: str = "ok") -> None:
        self.started_unix_ns = STARTED_NS
        self.generators: Sequence[Generator] = [Generator(1, 1, 1, STARTED_NS)]
        self.lost: list[Any] = []
        self.stopped = False
        self.pulled = False
        self.steered: list[tuple[int, Change, int | None]] = []
        self._intervals = self._give(event, spoiled, outcome)

    def _give(self, event: Event, spoiled: bool, outcome: str) -> Iterator[Any]:
        requests = [replace(r, outcome=outcome) for r in closed(lambda _: 0.1, 3.0)]
        first, *rest = intervals(Trial("", "", 1, requests, duration=3.0))
        yield first
        event()
        yield from ({**interval, "workers_lost": int(spoiled)} for interval in rest)

    def next_interval(self, _timeout_s: float) -> Any:
        return next(self._intervals)

    def steer(self, workload: int, change: Change, at_ns: int | None = None) -> Steered:
        """As if it took effect after 1.5 s."""
        self.steered.append((workload, change, at_ns))
        if change.kind == "hold":
            raise SteerRefused("it stays as it is anyway")
        what: Any = {"rate": "rate", "clients": "clients", "next": "phase"}.get(change.kind, "clients")
        return Steered(1_500_000_000 if at_ns is None else at_ns, what, change.value)

    def stop(self) -> None:
        self.stopped = True

    def save_logs_to(self, folder: Path) -> None: ...

    def pull(self) -> None:
        self.pulled = True


@dataclass
class FakeExecutor:
    """`loads`: what happens in the first load, the second, …; an exception refuses its start."""

    loads: list[Event | JostleError] = field(default_factory=list)
    here: str = "127.0.0.1"
    started: list[FakeRunning] = field(default_factory=list)
    specs: list[Mapping[str, Any]] = field(default_factory=list)
    spoiled: Collection[int] = ()  # numbers of the loads that the generator spoils, from 0
    outcome: str = "ok"

    def prepare(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        return dict(spec)

    def start(self, spec: Mapping[str, Any]) -> Running:
        number = len(self.specs)
        self.specs.append(spec)
        load = self.loads[number] if number < len(self.loads) else nothing
        if isinstance(load, JostleError):
            raise load
        self.started.append(FakeRunning(load, spoiled=number in self.spoiled, outcome=self.outcome))
        return self.started[-1]


class FakeServer:
    def __init__(self, contestant: "FakeContestant") -> None:
        self.contestant = contestant
        self.label = contestant.label
        self.host, self.port, self.scheme, self.url, self.pid = "127.0.0.1", 8080, "http", "http://x", None
        self.authorization, self.exit = "", ""
        self.dead = False

    def alive(self) -> bool:
        return not self.dead

    def printed(self) -> str:
        return "its last output:\n  out of luck"

    def last_lines(self) -> str:
        return "out of luck"

    def __enter__(self) -> "FakeServer":
        self.contestant.running.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        self.contestant.running.remove(self)


@dataclass
class FakeContestant:
    """`fails_at`: the starts that fail, counted from 1, each with an error of the type `fails_with`."""

    label: str
    url: str | None = "http://127.0.0.1:8080"
    is_started_here: bool = False
    fails_at: tuple[int, ...] = ()
    fails_with: type[JostleError] = StartFailed
    starts: int = 0
    servers: list[FakeServer] = field(default_factory=list)
    running: list[FakeServer] = field(default_factory=list)
    name: str = "fake"
    folder: Path | None = None
    file: Any = field(
        default_factory=lambda: SimpleNamespace(database=None, garbage="", absent={}, speaks=[])
    )
    build_fails: JostleError | None = None

    def is_built(self) -> bool:
        return True

    def build(self) -> None:
        if self.build_fails:
            raise self.build_fails

    def start(self, **_: object) -> FakeServer:
        self.starts += 1
        if self.starts in self.fails_at:
            raise self.fails_with(f"{self.label} did not start", "its last output")
        self.servers.append(FakeServer(self))
        return self.servers[-1]

    def describe(self, server: FakeServer | None = None) -> dict[str, Any]:
        return {"label": self.label, "title": f"{self.label}, a fake", "url": server.url if server else ""}


PLAN = """\
title = "Fakes"
contestants = ["a", "b"]
rounds = {rounds}
warm-up = "{warm_up}"
[contestant.a]
url = "http://127.0.0.1:1"
[contestant.b]
url = "http://127.0.0.1:2"
{more}
[workload.w]
request = {{ get = "{path}" }}
load = {{ clients = 1, for = "3s" }}
{workload}
"""


@dataclass
class Laboratory:
    """A plan, its contestants and its executor; nothing of it is real but the record."""

    base: Path
    contestants: dict[str, FakeContestant]
    executor: FakeExecutor = field(default_factory=FakeExecutor)
    observer: Observer = unobserved

    def plan(
        self, rounds: int = 1, warm_up: str = "0s", more: str = "", workload: str = "", path: str = "/"
    ) -> Any:
        text = PLAN.format(rounds=rounds, warm_up=warm_up, more=more, workload=workload, path=path)
        return parse_plan(text, "plan.toml")

    def run(self, plan: Any) -> Path:
        return experiment.run_experiment(plan, self.base, "fake", 7, self.executor, self.observer)

    @property
    def folder(self) -> Path:
        (folder,) = self.base.iterdir()
        return folder


def laboratory(base: Path, monkeypatch: pytest.MonkeyPatch) -> Laboratory:
    made = {label: FakeContestant(label) for label in ("a", "b", "peer")}

    def find(label: str, *_: object) -> FakeContestant:
        if label not in made:
            raise UnknownName("contestant", label, made)
        return made[label]

    monkeypatch.setattr(experiment.contestants, "find", find)
    monkeypatch.setattr(compatibility, "check_connections", lambda *_: None)
    return Laboratory(base, made)
