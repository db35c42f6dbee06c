"""The servers and the loads of the table, as plans: three rounds of a second, or one of three seconds."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jostle.contestant.tools import REFERENCE

FAULTY = Path(__file__).with_name("faulty_server.py")

PLAN = """
title = "Truth"
contestants = ["{name}"]
rounds = {rounds}
warm-up = "{warm_up}"
repeats = {repeats}
{contestant}
[workload.page]
request = {{ get = "{path}" }}
load = {{ {load}, for = "{seconds}s" }}
{more}
"""

CONTESTANT = """
[contestant.{name}]
command = "{command}"
{user}
"""


@dataclass(frozen=True)
class Load:
    """A server, by its name in the roster or by its command, and what is sent to it."""

    server: str
    path: str
    load: str
    command: str = ""
    warm_up: str = "300ms"
    more: str = ""

    def plan(self, *, rounds: int, repeats: bool, options: str = "") -> str:
        """`options`: of the faulty server. It has no warm-up, so that its times are those of the trial."""
        user = 'user = "root"' if os.geteuid() == 0 and self.server == "faulty" else ""
        command = f"{self.command} {options}".strip()
        return PLAN.format(
            name=self.server,
            rounds=rounds,
            warm_up=self.warm_up,
            repeats=str(repeats).lower(),
            contestant=CONTESTANT.format(name=self.server, command=command, user=user) if command else "",
            path=self.path,
            load=self.load,
            seconds=3 / rounds,
            more=self.more,
        )


def _reference(kind: str) -> str:
    return f"{REFERENCE} {kind} --port {{port}}"


LOADS: Mapping[str, Load] = {
    "reference, closed": Load("reference", "/work?us=1000", "clients = 4", _reference("workers --workers 2")),
    "reference, open": Load("reference", "/work?us=1000", 'rate = "500/s"', _reference("run-to-completion")),
    "node, closed": Load("node", "/count/500000", "clients = 4"),
    "go, open": Load("go", "/count/1000000", 'rate = "500/s"'),
    "python, closed": Load("python-asyncio", "/count/15000", "clients = 4"),
    "reference, a connection for each request": Load(
        "reference",
        "/work?us=1000",
        "clients = 8, keep-alive = false",
        _reference("workers --workers 8"),
    ),
    "reference, many connections": Load(
        "reference",
        "/sleep?ms=500&jitter=0.1",
        'rate = "400/s"',
        _reference("workers --workers 8"),
        more='connection = { source-addresses = ["127.0.0.1"] }',
    ),
    "faulty": Load("faulty", "/page", "clients = 8", f"{sys.executable} {FAULTY} {{port}}", warm_up="0s"),
}
