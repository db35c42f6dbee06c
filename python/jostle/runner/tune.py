"""Parameters that are calibrated once per machine: `[tune.NAME]` of a plan.

The server runs on the cores that it would have in a trial. A value is scaled until the request takes as long
as the plan says; for a capacity, clients send without a pause. Results are kept in the cache folder. A time
is checked by one start before it is used again, since the machine may have been busy when it was measured. A
parameter that no chosen workload uses is left as it is.
"""

import http.client
import json
import math
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, build_opener

from jostle import contestant
from jostle.contestant import Server
from jostle.errors import ContestantError, MissingRuntime
from jostle.generator import LocalExecutor
from jostle.generator.spec.address import Address
from jostle.generator.spec.run import engine_spec
from jostle.host.cache import cache_folder
from jostle.host.cores import available_cores, place
from jostle.host.facts import machine_and_version
from jostle.host.files import write_whole
from jostle.plan import Plan, Workload
from jostle.plan.loading import Settings
from jostle.plan.servers.tuning import Tune
from jostle.record.outcomes import Outcome
from jostle.runner.participants import with_their_labels

__all__ = ["print_to_stderr", "tuned", "tuned_before"]

STEPS = 6
"""How often the value is scaled at most. Times are proportional to it but for a request's fixed cost."""

CLOSE = 0.05
"""The relative error of a request's time that is close enough."""

STILL_HOLDS = 0.25
"""A value found earlier is used again if one start finds it off by no more than this share."""

STARTS = 3
"""How often the server is started to measure a factor (`times`). A runtime decides anew at each start whether
and how it compiles a loop; each measurement has a server of its own, as a trial has."""

UNCOMPILED, REQUESTS = 2, 3
"""How many requests are discarded because the runtime has not compiled the loop yet, and how many follow, of
which the median decides."""

FASTER = 100.0
"""The largest factor by which the value is scaled in one step."""

PATIENCE_S = 60.0

DIRECT = build_opener(ProxyHandler({}))
"""Ignores `http_proxy`: the server is on this machine."""

WARM_S, COUNTED_S = 15.0, 5.0
"""For a capacity: seconds that are left to the compiler, and seconds that are counted after them."""


def print_to_stderr(line: str) -> None:
    """A `tell` for `tuned`, since there is no observer yet."""
    print(line, file=sys.stderr)


def tuned(load: Callable[[Settings], Plan], settings: Settings, tell: Callable[[str], None]) -> Plan:
    """The plan that `load` returns for `settings`, with its tuned parameters calibrated on this machine.

    `tell` is told what is measured. Raises `UnknownName` before anything is started, and whatever starting
    the server raises.
    """
    plan = load(settings)
    if not plan.tune:
        return plan
    with_their_labels(plan)
    found = {
        name: _value(plan, name, tune, tell)
        if _is_used(load, settings, name, tune)
        else plan.parameters[name]
        for name, tune in plan.tune.items()
    }
    return load({**settings, **found})


def tuned_before(load: Callable[[Settings], Plan], settings: Settings) -> Plan:
    """As `tuned`, but without measuring: parameters never tuned on this machine stay in the plan's `tune`."""
    plan = load(settings)
    if not plan.tune:
        return plan
    found = {}
    for name, tune in plan.tune.items():
        if not _is_used(load, settings, name, tune):
            found[name] = plan.parameters[name]
        else:
            with suppress(MissingRuntime):  # its version is part of what the value depends on
                if (known := _remembered(_key(plan, tune))) is not None:
                    found[name] = _written(known, tune)
    return load({**settings, **found})


def _is_used(load: Callable[[Settings], Plan], settings: Settings, name: str, tune: Tune) -> bool:
    """Whether a chosen workload depends on the parameter."""
    unit = "" if tune.takes is not None else "/s" if tune.share is not None and not tune.among else "s"
    plans = [load({**settings, name: f"{number}{unit}" if unit else number}) for number in (1, 2)]
    first, second = ({n: w.data() for n, w in plan.selected.items()} for plan in plans)
    return first != second


def _value(plan: Plan, name: str, tune: Tune, tell: Callable[[str], None]) -> int | str:
    """The value from the cache if that still holds, otherwise measured."""
    key = _key(plan, tune)
    server = contestant.find(tune.on, plan.contestant)
    known = _remembered(key)
    if known is not None and _still_holds(known, server, plan, tune):
        return _written(known, tune)
    used = "" if tune.on in plan.contestants else f" ({tune.on} runs only for this)"
    again = "" if known is None else "; the value found earlier no longer holds"
    tell(f"tuning {name}: {tune.goal}{used}{again}")
    value = _measured(server, plan, tune, plan.parameters[name])
    file, entries = _known()
    entries = [entry for entry in entries if not _agrees(entry, key)]
    entries.append(key | {"value": value, "measured": time.strftime("%Y-%m-%dT%H:%M:%S%z")})
    write_whole(file, json.dumps(entries, indent=2) + "\n")
    written = _written(value, tune)
    tell(f"{name} = {written if isinstance(written, str) else f'{written:,}'} on this machine")
    return written


def _key(plan: Plan, tune: Tune) -> dict[str, Any]:
    """What must be equal for a value measured before to be used."""
    server = contestant.find(tune.on, plan.contestant)
    key = {**machine_and_version(), "server": server.label, "versions": server.versions(), "get": tune.get}
    if folder := server.build_folder():
        key["build"] = folder.name
    return key | {"cores": _cores(plan), **_identity(tune)}


def _remembered(key: dict[str, Any]) -> int | None:
    for entry in _known()[1]:
        if _agrees(entry, key):
            return int(entry["value"])
    return None


def _agrees(entry: dict[str, Any], key: dict[str, Any]) -> bool:
    return all(entry.get(k) == v for k, v in key.items())


def _still_holds(known: int, server: contestant.Contestant, plan: Plan, tune: Tune) -> bool:
    """Whether one start confirms what was found earlier.

    A capacity is not checked: that would take as long as measuring it.
    """
    if tune.share is not None:
        return True
    took = _typical(server, plan, tune.get.replace("{value}", str(known)))
    now = took / tune.takes if tune.takes is not None else (tune.times or 1.0) * took * 1e3 / known
    return abs(now - 1) <= STILL_HOLDS


def _identity(tune: Tune) -> dict[str, Any]:
    """What the measured value depends on. A capacity is the same for all shares of it."""
    if tune.share is None:
        return {"takes_s": tune.takes, "times": tune.times}
    return {"capacity": True, "clients": tune.clients, "keep_alive": tune.keep_alive}


def _written(value: int, tune: Tune) -> int | str:
    """The parameter's value as the plan has it, with its unit. `value`: for a share, the capacity."""
    if tune.share is not None:
        per_s = tune.share * value
        return f"{_plainly(1000 * tune.among / per_s)}ms" if tune.among else f"{_plainly(per_s)}/s"
    return f"{value}ms" if tune.takes is None else value


def _plainly(value: float) -> str:
    """With three significant digits, like the capacity that it comes from, and without an exponent."""
    return f"{Decimal(f'{value:.3g}'):f}"


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
    """The value or the ms to two digits, or the capacity to three: the measurement is no more precise."""
    if tune.share is not None:
        with server.start(cores=_cores(plan)) as running:
            value = max(1, round(_capacity(running, plan, tune)))
    elif tune.takes is None:
        took = statistics.median(_typical(server, plan, tune.get) for _ in range(STARTS))
        value = max(1, round((tune.times or 1.0) * took * 1e3))
    else:
        value = int(str(begin))
        for _ in range(STEPS):
            took = _typical(server, plan, tune.get.replace("{value}", str(value)))
            if abs(took / tune.takes - 1) <= CLOSE:
                break
            value = max(1, round(value * min(FASTER, max(1 / FASTER, tune.takes / took))))
    dropped = max(0, int(math.log10(value)) - (1 if tune.share is None else 2))
    return int(round(value, -dropped))


def _capacity(running: Server, plan: Plan, tune: Tune) -> float:
    """Responses per second to clients without a pause, once the runtime has compiled its code."""
    load = {"clients": tune.clients, "keep-alive": tune.keep_alive, "for": f"{WARM_S + COUNTED_S:g}s"}
    workload = Workload.model_validate({"request": {"get": tune.get}, "load": load})
    placement = place(available_cores(), plan.share_cores)
    cores = [] if placement.shared else placement.generator_cores
    address = Address(host=running.host, port=running.port)
    spec = engine_spec("capacity", workload, address, threads=max(1, len(cores)), cores=cores)
    executor = LocalExecutor(1)
    started = executor.start(executor.prepare(spec))
    answered, counted_ns, last = 0, 0, False
    while not last:
        interval = started.next_interval(1.0)
        if interval is None:
            continue
        last = interval["last"]
        if interval["start_ns"] >= WARM_S * 1e9:
            answered += sum(series["outcomes"].get(Outcome.OK, 0) for series in interval["series"])
            counted_ns += interval["end_ns"] - interval["start_ns"]
    if not answered:
        raise ContestantError(
            f"the parameter could not be tuned: {running.url}{tune.get} was not answered",
            "set it with --set NAME=VALUE",
        )
    return answered / (counted_ns / 1e9)


def _typical(server: contestant.Contestant, plan: Plan, path: str) -> float:
    """How long a request takes on a freshly started server."""
    with server.start(cores=_cores(plan)) as running:
        times = [_seconds(running.url + path) for _ in range(UNCOMPILED + REQUESTS)]
    return statistics.median(times[UNCOMPILED:])


def _seconds(url: str) -> float:
    begin = time.perf_counter()
    try:
        with DIRECT.open(url, timeout=PATIENCE_S) as response:
            response.read()
    except (OSError, http.client.HTTPException) as error:
        raise ContestantError(
            f"the parameter could not be tuned: {url} gave no response ({error or type(error).__name__})",
            "set it with --set NAME=VALUE",
        ) from None
    return time.perf_counter() - begin
