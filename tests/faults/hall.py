"""The hall: faulty applications, what is true of each, and how they are started.

An application is a folder in `apps`: a program, `truth.toml` with what it does and what an engineer on call
would ask `jostle explain` of it, and `nginx.conf` if nginx stands in front of it. How programs are built and
started is in `runtimes.toml`, and done as with contestants: built once, in the cache, for as long as nothing
changes.
"""

import contextlib
import os
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from jostle.contestant import Contestant, Server
from jostle.host import ports
from jostle.plan.servers.contestant import ContestantFile
from support.nginx import nginx

HERE = Path(__file__).parent
RUNTIMES = tomllib.loads((HERE / "runtimes.toml").read_text(encoding="utf-8"))

Kind = Literal[
    "pool",
    "shared pool",
    "thread limit",
    "lock",
    "blocker",
    "rare blocker",
    "rare slow",
    "n-th request",
    "uneven workers",
    "cron",
    "pauses at random",
    "accept backlog",
    "rate limit",
    "shedding",
    "keep-alive limit",
    "slow start",
    "cold cache",
    "N+1 queries",
    "head of line",
    "retries",
    "memory growth",
    "Nagle",
]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Size(_Table):
    """A number of a fault. `unit`: seconds "s", bytes "B", "/s", a "share" of 1, "th" for the 25 of "every
    25th", or "" for a count.
    """

    of: str
    value: float
    unit: Literal["", "th", "s", "B", "/s", "share"] = ""
    tolerance: float = 0.0
    """By what share of the value it may be off."""

    optional: bool = False
    """Whether a sentence may leave it out; if it is there it must be right."""

    def holds(self, value: float) -> bool:
        return abs(value - self.value) <= self.tolerance * self.value


class Fault(_Table):
    """What is wrong with an application."""

    kind: Kind
    routes: list[str] = []
    """The routes that the sentence must name; empty if all routes suffer alike."""

    names: list[str]
    """Regular expressions, each of which must be found in the sentence, whatever the case."""

    sizes: list[Size]


class Truth(_Table):
    """What is true of one route. `alone`: seconds that most of its requests take by themselves."""

    alone: float
    at_once: int | None = None
    """How many of its requests progress at once; None: as many as there are."""

    blocks: Literal["never", "rarely", "when full", "always"] = "never"
    """Whether its requests keep those for other routes waiting."""


class Application(_Table):
    """`truth.toml`."""

    name: str
    about: str
    runtime: str
    explain: list[str]
    """What an engineer on call would write after `jostle explain URL`, the first route joined to the URL;
    PID stands for its process."""

    routes: dict[str, Truth]
    faults: list[Fault] = Field(default=[], alias="fault")

    @property
    def folder(self) -> Path:
        return HERE / "apps" / self.name

    def contestant(self) -> Contestant:
        """As which it is built and started."""
        file = ContestantFile.of({"name": self.name, **RUNTIMES[self.runtime]}, self.runtime)
        return Contestant(self.name, self.name, file, folder=self.folder)


@dataclass(frozen=True)
class Running:
    """An application that answers. `port`: nginx's if that stands in front. `server`: the program itself."""

    port: int
    server: Server

    @property
    def url(self) -> str:
        return f"http://{ports.HOST}:{self.port}"


def _read(name: str) -> Application:
    text = (HERE / "apps" / name / "truth.toml").read_text(encoding="utf-8")
    return Application.model_validate({"name": name, **tomllib.loads(text)})


APPLICATIONS = {folder.name: _read(folder.name) for folder in sorted((HERE / "apps").iterdir())}


@contextlib.contextmanager
def started(application: Application, cores: Sequence[int] | None = None) -> Iterator[Running]:
    """Start it, with nginx if that stands in front of it, on these cores."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(application.contestant().start(cores=cores))
        front = application.folder / "nginx.conf"
        if not front.exists():
            yield Running(server.port, server)
            return
        port = ports.claim(0)
        http = front.read_text(encoding="utf-8").replace("LISTEN", f"{ports.HOST}:{port}")
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="jostle-faults-")))
        pid = stack.enter_context(nginx(folder, http.replace("PORT", str(server.port))))
        if cores:
            os.sched_setaffinity(pid, cores)
        yield Running(port, server)
