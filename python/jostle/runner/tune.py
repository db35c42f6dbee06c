"""Parameters that are found out once per machine: `[tune.NAME]` of a plan.

The server is asked as a trial would ask it, on the cores that it would have, with larger and larger values
until the request takes as long as the plan says. What was found is kept in the cache folder.
"""

import json
import math
import statistics
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jostle import contestant
from jostle.errors import ContestantError
from jostle.host.cache import cache_folder
from jostle.host.cores import available_cores, place
from jostle.host.facts import machine
from jostle.host.files import write_whole
from jostle.plan import Plan
from jostle.plan.loading import Settings
from jostle.plan.tuning import Tune

__all__ = ["print_to_stderr", "tuned"]

STEPS = 4
"""The value is scaled this often; times grow with it, but for what a request costs by itself."""

REQUESTS = 5
"""The median of so many decides: the first ones run before the runtime has compiled the loop."""

FASTER = 100.0
"""By no more than this is the value scaled at once."""

PATIENCE_S = 60.0


def print_to_stderr(line: str) -> None:
    """For `tell`: there is no observer yet."""
    print(line, file=sys.stderr)


def tuned(load: Callable[[Settings], Plan], settings: Settings, tell: Callable[[str], None]) -> Plan:
    """The plan that `load` gives for `settings`, with what it leaves to be tuned found out for this machine.

    `tell` hears what is measured. Raises what starting the tuned server raises.
    """
    plan = load(settings)
    if not plan.tune:
        return plan
    return load({**settings, **{name: _value(plan, name, tune, tell) for name, tune in plan.tune.items()}})


def _value(plan: Plan, name: str, tune: Tune, tell: Callable[[str], None]) -> int | str:
    """From the cache, else measured."""
    server = contestant.find(tune.on, plan.contestant)
    key = {**machine(), "server": server.label, "versions": server.versions(), "get": tune.get}
    key |= {"takes_s": tune.takes, "times": tune.times, "cores": _cores(plan)}
    file, known = _known()
    for entry in known:
        if all(entry.get(k) == v for k, v in key.items()):
            return _written(int(entry["value"]), tune)
    tell(f"finding out {name}, {tune.goal}")
    value = _measured(server, plan, tune, plan.parameters[name])
    tell(f"{name} = {value:,}{' ms' if tune.takes is None else ''} on this machine")
    known.append(key | {"value": value, "measured": time.strftime("%Y-%m-%dT%H:%M:%S%z")})
    write_whole(file, json.dumps(known, indent=2) + "\n")
    return _written(value, tune)


def _written(value: int, tune: Tune) -> int | str:
    """As the plan's parameter holds it: a time has its unit."""
    return f"{value}ms" if tune.takes is None else value


def _known() -> tuple[Path, list[dict[str, Any]]]:
    file = cache_folder() / "tuned.json"
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = []
    return file, [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def _cores(plan: Plan) -> list[int]:
    return place(available_cores(), plan.share_cores).server_cores


def _measured(server: contestant.Contestant, plan: Plan, tune: Tune, begin: object) -> int:
    """The value, or the milliseconds, with two digits: more would say more than was measured."""
    with server.start(cores=_cores(plan)) as running:
        if tune.takes is None:
            value = max(1, round((tune.times or 1.0) * _median(running.url + tune.get) * 1e3))
        else:
            value = int(str(begin))
            for _ in range(STEPS):
                took = _median(running.url + tune.get.replace("{value}", str(value)))
                value = max(1, round(value * min(FASTER, max(1 / FASTER, tune.takes / took))))
    digits = max(0, int(math.log10(value)) - 1)
    return int(round(value, -digits))


def _median(url: str) -> float:
    return statistics.median(_seconds(url) for _ in range(REQUESTS))


def _seconds(url: str) -> float:
    begin = time.perf_counter()
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
            answer.read()
    except OSError as error:
        raise ContestantError(
            f"the parameter could not be tuned: {url} gave no answer ({error})",
            "set it with --set NAME=VALUE",
        ) from None
    return time.perf_counter() - begin
