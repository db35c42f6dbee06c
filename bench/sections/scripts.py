"""What a script costs beside steps that do the same: CPU per request, memory of a client, lateness.

The bars are for a login and the items that it leads to, with responses of 200 bytes, which nginx gives.
Script and steps take the same values from the responses, by the same JSON pointers.
Without a bar: the same journey where the script takes whole responses as tables, which steps never do; one of
a single request, where beginning a journey counts for each request; and a client with 1 kB in hand, where the
response itself is half of what is measured.
"""

import json
import random
import statistics
from dataclasses import asdict, dataclass

from programs import ENGINE, printed
from rows import Effort, Row, Section, middle, spread
from servers import Nginx, nginx
from tools import JOSTLE
from watched import TOOL_CORE
from window import Sample, measure

from sections.memory import more_per_client

CLIENTS, MANY_CLIENTS = 64, 10_000
PAIRS = {"items": 16, "items-tables": 4, "one": 4}
"""So many in each round, of a script and its steps one after the other, in windows of a quarter of a round:
the machine's speed changes within seconds, and the difference is a tenth of what a request takes."""
STEPS = {"items": "items", "items-tables": "items", "one": "one"}
WINDOWS = 4
SETTLE_S = 5
BAR_CPU_US, BAR_BYTES, BAR_LATE_US = 1.0, 2_000, 100

ITEMS_STEPS = r"""
[journey.items]
steps = [
  { name = "login", post = "/journey/login", json = { user = "user {client}", password = "secret" }, capture = { token = "json:/user/token" } },
  { name = "items", get = "/journey/items", headers = { Authorization = "Bearer {token}" }, capture = { a = "json:/items/0/id", b = "json:/items/1/id" } },
  { name = "first", get = "/journey/items/{a}", headers = { Authorization = "Bearer {token}" } },
  { name = "second", get = "/journey/items/{b}", headers = { Authorization = "Bearer {token}" } },
]
"""  # noqa: E501
ITEMS_SCRIPT = """
return function(client)
    local user = { user = `user {client.number}`, password = "secret" }
    local login = http.post("/journey/login", { json = user })
    check(login.ok, "login")
    local headers = { Authorization = `Bearer {login:json("/user/token")}` }
    local items = http.get("/journey/items", { headers = headers })
    for _, id in { items:json("/items/0/id"), items:json("/items/1/id") } do
        http.get(`/journey/items/{id}`, { headers = headers })
    end
end
"""
TABLES_SCRIPT = """
return function(client)
    local user = { user = `user {client.number}`, password = "secret" }
    local login = http.post("/journey/login", { json = user })
    check(login.ok, "login")
    local headers = { Authorization = `Bearer {login:json().user.token}` }
    for _, item in http.get("/journey/items", { headers = headers }):json().items do
        http.get(`/journey/items/{item.id}`, { headers = headers })
    end
end
"""
ASLEEP_SCRIPT = """
return function(client)
    local login = http.post("/journey/login", { json = { user = `user {client.number}` } })
    sleep("10m")
    check(login:json().user.token)
end
"""
FILES = {
    "items.toml": ITEMS_STEPS,
    "items.luau": ITEMS_SCRIPT,
    "items-tables.luau": TABLES_SCRIPT,
    "one.toml": '[journey.one]\nsteps = [{ get = "/", capture = { body = "body" } }]\n',
    "one.luau": 'return function() check(#http.get("/").body > 0, "empty") end\n',
    "asleep.luau": ASLEEP_SCRIPT,
    "holding.luau": 'return function() local response = http.get("/") sleep("10m") check(response.ok) end\n',
    "paced.luau": 'return function() for _ = 1, 1000 do http.get("/") sleep("1s ± 20%") end end\n',
}
PACED = {
    "steps": 'steps = [{ get = "/", think = "1s ± 20%", repeat = 1000 }]',
    "script": 'script = "paced.luau"',
}
PACED_PLAN = """
title = "Paced"
contestants = ["nginx"]
contestant.nginx.url = "http://127.0.0.1"
[workload.paced]
journeys = ["paced"]
load = {{ clients = {clients}, for = "{seconds:g}s" }}
[journey.paced]
{journey}
"""


def run(effort: Effort) -> Section:
    for name, text in FILES.items():
        (effort.folder / name).write_text(text)
    found: dict[str, list[Pair]] = {name: [] for name in PAIRS}
    late: dict[str, list[int]] = {name: [] for name in PACED}
    with nginx() as server:
        for number in range(effort.rounds):
            turns = random.sample(list(PAIRS), sum(PAIRS.values()), counts=PAIRS.values())
            for name in turns:
                pair = _pair(name, server, effort, number)
                found[name].append(pair)
                print(f"  round {number + 1}: {name}: {pair.more_us:+.2f} µs", flush=True)
        for number in range(effort.rounds):
            for name in random.sample(list(late), len(late)):
                late[name].append(_late_us(server, effort, name))
                print(f"  round {number + 1}: {name}: p99.9 of the lateness {late[name][-1]:,} µs")
    more_us = {name: [pair.more_us for pair in pairs] for name, pairs in found.items()}
    later = [s - t for s, t in zip(late["script"], late["steps"], strict=True)]
    asleep, holding = (
        more_per_client(effort, effort.folder / f"{name}.luau") for name in ("asleep", "holding")
    )
    rows = [
        Row(
            "CPU of a request of a script, more than of a step, login and items, µs",
            f"≤ {BAR_CPU_US:g}",
            middle(more_us["items"]),
            statistics.median(more_us["items"]) <= BAR_CPU_US,
        ),
        Row(
            "the same, where the script takes whole responses as tables, µs",
            "",
            middle(more_us["items-tables"]),
            None,
        ),
        Row("CPU of a script of a single request, more than of a step, µs", "", middle(more_us["one"]), None),
        _row(
            "user memory per client asleep in a script, more than a plain client's, bytes", BAR_BYTES, asleep
        ),
        Row(
            "user memory per client asleep in a script with 1 kB in hand, more than a plain client's, bytes",
            "",
            spread(holding, ",.0f"),
            None,
        ),
        _row(
            f"p99.9 of the lateness of {MANY_CLIENTS:,} clients, more than with steps, µs", BAR_LATE_US, later
        ),
    ]
    samples = [asdict(pair) | {"what": name} for name, pairs in found.items() for pair in pairs]
    counts = ", ".join(f"{name} {len(pairs)}" for name, pairs in found.items())
    details = (
        f"CPU is that of the engine's threads, in pairs of windows of {effort.seconds / WINDOWS:g} s: "
        f"{counts}. Of their differences, the median and its interval of at least 95 %."
    )
    return Section(rows, details, [*samples, {"late_us": late}])


@dataclass(frozen=True)
class Pair:
    """Measured one right after the other."""

    script: Sample
    steps: Sample

    @property
    def more_us(self) -> float:
        if self.script.load_threads_us is None or self.steps.load_threads_us is None:
            raise RuntimeError("the engine's threads are not among those of the process")
        return self.script.load_threads_us - self.steps.load_threads_us


def _pair(name: str, server: Nginx, effort: Effort, number: int) -> Pair:
    files = {"script": f"{name}.luau", "steps": f"{STEPS[name]}.toml"}
    measured = {}
    for side in random.sample(list(files), len(files)):
        command = [*JOSTLE.closed(server.url, CLIENTS), "--journey", _file(effort, files[side])]
        seconds = effort.seconds / WINDOWS
        measured[side] = measure(JOSTLE, command, server, CLIENTS, seconds, number, effort.folder)
    return Pair(**measured)


def _row(what: str, bar: float, values: list[float] | list[int], form: str = ",.0f") -> Row:
    return Row(what, f"≤ {bar:,g}", spread(values, form), statistics.median(values) <= bar)


def _file(effort: Effort, name: str) -> str:
    return str(effort.folder / name)


def _late_us(server: Nginx, effort: Effort, name: str) -> int:
    """The p99.9 from intended start to actual send, once all clients are there: the engine alone, awake."""
    from jostle.api import load_plan
    from jostle.generator.spec.address import Address
    from jostle.generator.spec.run import engine_spec

    text = PACED_PLAN.format(clients=MANY_CLIENTS, seconds=SETTLE_S + effort.seconds, journey=PACED[name])
    file = effort.folder / f"{name}.toml"
    file.write_text(text)
    plan = load_plan(file)
    (workload,) = plan.selected.values()
    address = Address(host="127.0.0.1", port=server.port)
    spec = engine_spec("paced", workload, address, cores=[TOOL_CORE], busy_poll=True, journeys=plan.journey)
    file.with_suffix(".json").write_text(json.dumps(spec))
    return int(printed([*ENGINE, str(file.with_suffix(".json")), str(SETTLE_S)])["late_p99.9"])
