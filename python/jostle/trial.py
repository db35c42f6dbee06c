"""One measured run of one workload on one contestant: start the server, warm it up, drive it, record, stop.

The server is started anew for every trial. Everything is on disk as it happens, so that a trial that is cut
short can still be read.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jostle.contestant import Contestant, Server
from jostle.errors import ContestantError, ServerDied
from jostle.executor import Executor, GeneratorsLost, Running
from jostle.placement import Placement
from jostle.plan import OpenLoad, Plan, Workload
from jostle.plan.engine_spec import engine_spec, without_secrets
from jostle.priority import real_time
from jostle.record import FORMAT, RunWriter, TrialWriter
from jostle.vitals import Watcher

if TYPE_CHECKING:
    from jostle._engine import Interval
    from jostle.database import Database
    from jostle.database.current import CurrentDatabase

__all__ = ["Planned", "run_trial"]

POLL_S = 0.1
"""How often a trial looks up from waiting: at Ctrl-C, and at whether the server still lives."""

Observe = Callable[["Interval"], None]


@dataclass(frozen=True)
class Planned:
    """A trial that is to be run; numbers count from 1."""

    number: int
    contestant: str
    workload: str
    round: int

    def as_record(self) -> dict[str, Any]:
        return asdict(self)


def run_trial(
    planned: Planned,
    plan: Plan,
    contestant: Contestant,
    *,
    seed: int,
    writer: RunWriter,
    executor: Executor,
    placement: Placement,
    databases: "CurrentDatabase | None",
    observe: Observe,
) -> Path:
    """Run one trial and return its folder. A server's failure is recorded in it, not raised.

    `KeyboardInterrupt` is raised again after everything measured so far has been recorded.
    """
    workload = plan.workload[planned.workload]
    description = {
        "format": FORMAT,
        **planned.as_record(),
        "title": workload.title,
    }
    try:
        server = contestant.start(
            cores=placement.server_cores if placement.shared is False else None,
            database=_database(plan, workload, contestant, databases),
        )
    except ContestantError as error:
        record = writer.trial(
            {
                **description,
                "server": {"label": contestant.label},
                "engine": None,
                "placement": placement.as_record(),
            }
        )
        record.finish("failed", str(error))
        return record.folder
    with server:
        spec = executor.prepare(_spec(plan, workload, server, placement, seed))
        _warm_up(plan, workload, spec, executor)
        paced = placement.shared is False and isinstance(workload.load, OpenLoad)
        with real_time(paced) as allowed:
            running = executor.start(spec)
        record = writer.trial(
            {
                **description,
                "placement": {**placement.as_record(), "real_time": allowed},
                "server": server.describe(),
                "engine": without_secrets(spec),
                "started_unix_ns": running.started_unix_ns,
                "generators": [generator.as_record() for generator in running.generators],
            }
        )
        _measure(record, server, running, observe)
    return record.folder


def _database(
    plan: Plan, workload: Workload, contestant: Contestant, databases: "CurrentDatabase | None"
) -> "Database | None":
    table = plan.database_of(workload)
    if databases is None or table is None or not contestant.file.database:
        return None
    return databases.as_asked(table)


def _spec(plan: Plan, workload: Workload, server: Server, placement: Placement, seed: int) -> dict[str, Any]:
    pinned = placement.shared is False
    return engine_spec(
        workload,
        host=server.host,
        port=server.port,
        seed=seed,
        threads=plan.threads or (len(placement.generator_cores) if pinned else 1),
        cores=placement.generator_cores if pinned else [],
        rows=workload.rows,
        tls=server.scheme == "https",
    )


def _warm_up(plan: Plan, workload: Workload, spec: Mapping[str, Any], executor: Executor) -> None:
    """Send the measured workload's load for a while and throw the answers away."""
    seconds = workload.warm_up if workload.warm_up is not None else plan.warm_up
    if seconds == 0:
        return
    warm_up = {
        **spec,
        "duration_ns": round(seconds * 1e9),
        "rows": False,
        "workloads": [load for load in spec["workloads"] if load["role"] == "measured"],
    }
    for _ in _intervals(executor.start(warm_up)):
        pass


def _measure(record: TrialWriter, server: Server, running: Running, observe: Observe) -> None:
    started = running.started_unix_ns
    trees = {"server": server.pid, "database": server.database.pid if server.database else None}

    def close(status: str, why: str = "", output: str = "") -> None:
        record.finish(status, why, output, [lost.as_record() for lost in running.lost])

    with contextlib.ExitStack() as stack:
        for name, pid in trees.items():
            if pid is not None:
                watcher = Watcher(pid, record.folder / f"{name}.ndjson", started)
                watcher.start()
                stack.callback(watcher.stop)
        try:
            for interval in _intervals(running, server):
                record.write_interval(interval)
                observe(interval)
        except ServerDied as error:
            _drain(running, record)
            close("failed", str(error), server.last_output())
        except GeneratorsLost as error:
            close("failed", str(error))
        except KeyboardInterrupt:
            _drain(running, record)
            close("cut short", "stopped by the user")
            raise
        else:
            close("ended")


def _intervals(running: Running, server: Server | None = None) -> Iterator["Interval"]:
    """Every interval up to the last. Raises `ServerDied` when the server ends before the load does."""
    while True:
        interval = running.next_interval(POLL_S)
        if interval is not None:
            yield interval
            if interval["last"]:
                return
        if server is not None and not server.alive():
            raise ServerDied(
                f"{server.contestant.label} {server.exit or 'ended'} in the middle of the trial",
                server.last_output(),
            )
        if server is not None and server.database is not None and not server.database.alive():
            raise ServerDied("the database ended in the middle of the trial")


def _drain(running: Running, record: TrialWriter) -> None:
    """Stop the load and record what it still has to say."""
    running.stop()
    with contextlib.suppress(GeneratorsLost):
        for interval in _intervals(running):
            record.write_interval(interval)
