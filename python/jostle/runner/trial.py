"""One measured run of one workload on one contestant: start the server, warm it up, drive it, record, stop.

The server is started anew for every trial. Everything is on disk as it happens, so that a trial that is cut
short can still be read.
"""

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jostle.contestant import Contestant, Server
from jostle.errors import ContestantError, ExecutorLost, GeneratorsLost, ServerDied
from jostle.generator import Executor, Running
from jostle.generator.spec import Address, engine_spec, without_secrets
from jostle.host import ports
from jostle.host.cores import Placement, real_time_allowed
from jostle.host.resource_usage import Sampler, Watcher
from jostle.plan import OpenLoad, Plan, Workload
from jostle.record import FORMAT, RunWriter, TrialWriter
from jostle.record.layout import Status
from jostle.runner.interrupt import Stop, stopping
from jostle.runner.schedule import Planned

if TYPE_CHECKING:
    from jostle._engine import Interval
    from jostle.database import Database
    from jostle.database.current import CurrentDatabase

__all__ = ["run_trial"]

POLL_S = 0.1
"""How often a trial looks up from waiting: at Ctrl-C, and at whether the server still lives."""

Observe = Callable[["Interval"], None]


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
    peer: Contestant | None = None,
) -> Path:
    """Run one trial and return its folder. A server's failure is recorded in it, not raised.

    `peer` is the second server, which the measured one asks, where the workload has one.

    `KeyboardInterrupt` is raised again after everything measured so far has been recorded.
    """
    workload = plan.workload[planned.workload]
    description: Any = {
        "format": FORMAT,
        **planned.as_record(),
        "title": workload.title,
    }
    with contextlib.ExitStack() as stack:
        try:
            database = _database(plan, workload, contestant, databases)
            places = workload.connection.connect_to
            server = _start(stack, contestant, placement, placement.server_cores, executor, database, places)
            asked = _start(stack, peer, placement, placement.peer_cores, executor) if peer else None
        except ContestantError as error:
            description |= {"server": contestant.describe(), "engine": None}
            record = writer.trial(description | {"placement": placement.as_record()})
            record.finish("failed", str(error))
            return record.folder
        servers = _Servers(server, asked, database)
        spec = executor.prepare(_spec(plan, planned.workload, servers, placement, seed))
        _warm_up(plan, workload, spec, executor)
        used = database.describe() if database else None
        description |= {
            "server": {**contestant.describe(server), "database": used},
            "engine": without_secrets(spec),
            "peer": {**peer.describe(asked), "database": None} if peer else None,
        }
        return _drive(description, workload, spec, servers, placement, writer, executor, observe)


@dataclass(frozen=True)
class _Servers:
    """The measured one, the one that it asks, and the database that it uses, if any."""

    measured: Server
    peer: Server | None
    database: "Database | None"

    def check_alive(self) -> None:
        """Raises `ServerDied` when one of them has ended in the middle of the trial."""
        for server in (self.measured, self.peer):
            if server is not None and not server.alive():
                how = server.exit or "ended"
                raise ServerDied(f"{server.label} {how} in the middle of the trial", server.printed())
        if self.database is not None and not self.database.alive():
            raise ServerDied("the database ended in the middle of the trial")


def _start(
    stack: contextlib.ExitStack,
    contestant: Contestant,
    placement: Placement,
    cores: Sequence[int] | None,
    executor: Executor,
    database: "Database | None" = None,
    connect_to: Sequence[str] = (),
) -> Server:
    """Runs until the stack is left, on cores of its own unless they are shared."""
    own = cores if placement.shared is False else None
    return stack.enter_context(
        contestant.start(
            host=executor.here,
            cores=own,
            database=database.placeholders() if database else None,
            connect_to=connect_to,
        )
    )


def _drive(
    description: Any,
    workload: Workload,
    spec: Mapping[str, Any],
    servers: _Servers,
    placement: Placement,
    writer: RunWriter,
    executor: Executor,
    observe: Observe,
) -> Path:
    """Drive the load as often as the workload says on the same servers; the folder of the last run of it."""
    server = servers.measured
    for run in range(1, workload.runs + 1):
        before = Sampler(server.pid).sample(0) if server.pid is not None else None
        running = executor.start(spec)
        record = writer.trial(
            description
            | {
                "placement": placement.as_record(),
                "before": asdict(before) if before else None,
                "started_unix_ns": running.started_unix_ns,
                "generators": [generator.as_record() for generator in running.generators],
            },
            run=run if run < workload.runs else 0,
        )
        running.keep(record.folder)
        why = _measure(record, servers, running, observe)
        if why and run < workload.runs:
            record = writer.trial(description | {"placement": placement.as_record()})
            record.finish("failed", f"in run {run} of {workload.runs}: {why}", server.last_lines())
            break
    return record.folder


def _database(
    plan: Plan, workload: Workload, contestant: Contestant, databases: "CurrentDatabase | None"
) -> "Database | None":
    table = plan.database_of(workload)
    if databases is None or table is None or not contestant.file.database:
        return None
    return databases.as_asked(table)


def _spec(plan: Plan, name: str, servers: _Servers, placement: Placement, seed: int) -> dict[str, Any]:
    pinned = placement.shared is False
    workload, server = plan.workload[name], servers.measured
    return engine_spec(
        name,
        workload,
        Address(
            host=server.host,
            port=server.port,
            tls=server.scheme == "https",
            peer=servers.peer.url if servers.peer else "",
        ),
        seed=seed,
        threads=plan.threads or (len(placement.generator_cores) if pinned else 1),
        cores=placement.generator_cores if pinned else [],
        real_time=_in_real_time(plan, workload, server, placement),
    )


def _in_real_time(plan: Plan, workload: Workload, server: Server, placement: Placement) -> bool:
    """Whether the load's threads go before all others on their cores: paced ones, where no server may be."""
    paced = isinstance(workload.load, OpenLoad) or workload.load.think.kind != "none"
    if not paced or placement.shared or not real_time_allowed():
        return False
    if placement.shared is False:
        return True
    if max(plan.threads or 1, plan.processes or 1) >= (os.cpu_count() or 1):
        return False  # a core is left to the rest of the machine
    places = workload.connection.connect_to or [f"{server.host}:{server.port}"]
    return not ports.may_be_on(placement.generator_cores, places)


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
    running = executor.start(warm_up)
    with stopping() as stop:
        for _ in _intervals(running, stop):
            pass
        running.pull()


def _measure(record: TrialWriter, servers: _Servers, running: Running, observe: Observe) -> str:
    """Record the load to its end; why it did not end well, or nothing."""
    started = running.started_unix_ns
    server, peer = servers.measured, servers.peer
    trees = {
        "server": server.pid,
        "peer": peer.pid if peer else None,
        "database": servers.database.pid if servers.database else None,
    }

    watchers = contextlib.ExitStack()

    def close(status: Status, why: str = "", output: str = "") -> str:
        running.pull()
        watchers.close()  # outcome.json holds the checksums of what the watchers write
        record.finish(status, why, output, [lost.as_record() for lost in running.lost])
        return why

    with stopping() as stop, watchers:
        for name, pid in trees.items():
            if pid is not None:
                watcher = Watcher(pid, record.folder / f"{name}.ndjson", started)
                watcher.start()
                watchers.callback(watcher.stop)
        try:
            for interval in _intervals(running, stop, servers):
                record.write_interval(interval)
                observe(interval)
        except ServerDied as error:
            _drain(running, record)
            return close("failed", str(error), server.last_lines())
        except ExecutorLost as error:
            watchers.close()
            record.finish("cut short", str(error), "", [lost.as_record() for lost in running.lost])
            raise
        except GeneratorsLost as error:
            if not stop.asked:
                return close("failed", str(error))
        return close("cut short", "stopped by the user") if stop.asked else close("ended")


def _intervals(running: Running, stop: Stop, servers: _Servers | None = None) -> Iterator["Interval"]:
    """Every interval up to the last, which comes sooner once a stop is asked for.

    Raises `ServerDied` when a server ends before the load does.
    """
    told = False
    while True:
        if stop.asked and not told:
            running.stop()
            told = True
        interval = running.next_interval(POLL_S)
        if interval is not None:
            yield interval
            if interval["last"]:
                return
        if servers is not None:
            servers.check_alive()


def _drain(running: Running, record: TrialWriter) -> None:
    """Stop the load and record what it still has to say."""
    running.stop()
    with contextlib.suppress(GeneratorsLost):
        for interval in _intervals(running, Stop()):
            record.write_interval(interval)
