"""The floor of this machine: what jostle measures of a server that does nothing.

Nothing below it can be measured. It is measured by a plan like any other, against the null server, with a
generator that sleeps while it waits and with one that busy-polls. It is kept in the cache folder with its
record; later runs on the same machine include it in their host.json.
"""

import os
import time
from typing import Literal

from jostle.analysis.results import Validity
from jostle.analysis.stats.quantile_ci import quantile_estimate
from jostle.analysis.summaries.trial import describe_trial
from jostle.analysis.trials.data import TrialData
from jostle.doctor.slowdown import measure_slowdown
from jostle.errors import JostleError
from jostle.generator import LocalExecutor
from jostle.host.cache import cache_folder
from jostle.host.cores import available_cores, place
from jostle.host.facts import machine_and_version
from jostle.host.floor import Floor, FloorLoad, store_floor
from jostle.plan import Plan, parse_plan
from jostle.quantiles import NAMED
from jostle.record import RunRecord, TrialRecord
from jostle.runner.experiment import run_experiment
from jostle.runner.observer import Observer

__all__ = ["calibrate", "calibration_plan"]

QUANTILES = ("p50", "p99", "p99.9")
PACING = {name: NAMED[name] for name in ("p50", "p99")}

LOADS: dict[str, tuple[Literal["closed", "open"], str, str]] = {
    "one": ("closed", "1 client", "clients = 1"),
    "crowd": ("closed", "64 clients", "clients = 64"),
    "stream": ("open", "2,000 requests/s", 'rate = "2000/s"'),
}


def calibration_plan(seconds: float, *, polling: bool) -> Plan:
    """A closed loop of one client and of 64, and an open loop, on the null server."""
    workloads = "".join(
        f"""
[workload.{name}]
title = "{title}"
request = {{ get = "/hello" }}
load = {{ {load}, for = "{seconds:g}s" }}
"""
        for name, (_, title, load) in LOADS.items()
    )
    head = 'title = "The floor of this machine"\ncontestants = ["reference-null"]\n'
    head += f'rounds = 1\nwarm-up = "200ms"\nbusy-poll = "{"always" if polling else "never"}"\n'
    return parse_plan(head + workloads, "calibration")


def calibrate(observer: Observer, seconds: float = 2.0) -> Floor:
    """Measure the floor, each load for `seconds`, store it, and return it as in host.json.

    If server and generator share cores, only a generator that sleeps is measured.

    Raises `JostleError` if a load could not be measured.
    """
    busy = os.getloadavg()[0]
    placement = place(available_cores(), share=False)
    floor: Floor = {
        "measured": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "load_average": busy,
        "slowdown": None if placement.shared else measure_slowdown(placement),
        "loads": [
            load
            for polling in ([False] if placement.shared else [False, True])
            for load in _loads(calibration_plan(seconds, polling=polling), observer, polling=polling)
        ],
    }
    store_floor(machine_and_version(), floor)
    return floor


def _loads(plan: Plan, observer: Observer, *, polling: bool) -> list[FloorLoad]:
    folder = cache_folder("calibration")
    run = run_experiment(plan, folder, "calibration", 1, LocalExecutor(), observer)
    trials = {trial.workload: trial for trial in RunRecord.open(run).trials}
    return [_load(name, trials[name], polling=polling) for name in LOADS]


def _load(name: str, trial: TrialRecord, *, polling: bool) -> FloorLoad:
    kind, title, _ = LOADS[name]
    data = TrialData(trial)
    if trial.status != "ended" or not data.ok():
        raise JostleError(
            f"the floor could not be measured with {title}: {trial.why or 'nothing was answered'}"
        )
    result = describe_trial(data)
    checks = [check for check in result.validity.checks if check.name != "wake-up"]  # part of the floor
    cpu_ns = int(data.counts.cpu_ns.sum())
    return {
        "kind": kind,
        "title": title,
        "awake": polling,
        "verdict": Validity.of(checks).verdict,
        "throughput_per_s": result.throughput_per_s,
        "response_s": {p: result.response[p].value for p in QUANTILES},
        "cpu_s_per_request": cpu_ns / 1e9 / data.ok(),
        "pacing_s": {p: quantile_estimate(data.pacing, q).value for p, q in PACING.items()}
        if data.pacing.n
        else None,
    }
