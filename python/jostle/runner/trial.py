"""One trial: start the server, warm it up, send the load, record, stop.

The server is started anew for every trial, except within a group of `together`. Everything is written to disk
as it happens, so that a trial that is cut short can still be read.
"""

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jostle.contestant import Contestant, Server
from jostle.contestant.certificate import check_certificate
from jostle.errors import (
    ContestantError,
    ExecutorLost,
    GeneratorsLost,
    RecordLost,
    ServerDied,
    StartRefused,
    UnreachableTarget,
    UserError,
)
from jostle.generator import Executor, Running
from jostle.generator.busy_poll import leaves_others_alone
from jostle.generator.spec.address import Address
from jostle.generator.spec.recorded import without_secrets
from jostle.generator.spec.run import engine_spec
from jostle.host import ports
from jostle.host.cores import Placement, kept_off, real_time_allowed
from jostle.host.facts import machine_and_version
from jostle.host.floor import stored_floor
from jostle.host.limits import cgroup_limits
from jostle.host.machine_usage import MachineSampler
from jostle.host.resource_usage import Sampler, Samples, Watcher
from jostle.plan import OpenLoad, Plan, Workload
from jostle.record import RunWriter, TrialWriter, written
from jostle.record.layout import GarbageEntry, Status
from jostle.record.outcomes import Outcome
from jostle.runner.interrupt import Stop, stopping
from jostle.runner.schedule import Planned
from jostle.runner.steering import SteeringDesk

if TYPE_CHECKING:
    from jostle._engine import Interval
    from jostle.database import Database
    from jostle.database.current import CurrentDatabase

__all__ = ["ServerPool", "TrialContext", "run_trial"]

POLL_S = 0.1
"""How often a waiting trial checks for Ctrl-C, and whether the server is still alive."""


@dataclass(frozen=True)
class TrialContext:
    """What one trial needs. `observe` is called with every recorded interval and the folder of its record."""

    planned: Planned
    plan: Plan
    contestant: Contestant
    peer: Contestant | None
    """The second server, which the measured one calls, if the workload has one."""
    seed: int
    placement: Placement
    quiet: bool
    """Nothing else used this machine when the run began."""
    databases: "CurrentDatabase | None"
    writer: RunWriter
    executor: Executor
    server_pool: "ServerPool"
    desk: SteeringDesk
    """Where changes of its load come in."""
    continues: bool
    """The trial uses the servers of the one before, from `kept`."""
    stays: bool
    """Its servers are kept for the next one."""
    observe: Callable[["Interval", Path], None]

    @property
    def workload(self) -> Workload:
        return self.plan.workload[self.planned.workload]


@dataclass(frozen=True)
class _Ending:
    """How a load ended; `why` is "" if it ended as it should."""

    status: Status
    why: str = ""
    server_output_tail: str = ""
    per_s: float = 0.0
    """Throughput of the measured load."""
    busy: bool = False
    """The server may still be working on background requests that were cut off by the end."""
    away: bool = False
    """It was not there, so that no load was sent."""


@dataclass(frozen=True)
class _Garbage:
    """The garbage collection that a server's runtime reports, since some moment before the load."""

    seconds: float
    collections: int

    @classmethod
    def of(cls, context: TrialContext, server: Server) -> "_Garbage | None":
        """Ask the server. None if the workload does not ask for it, or the server does not tell."""
        path = context.contestant.file.garbage
        if not context.workload.garbage or not path:
            return None
        response = server.ask(path)
        seconds, collections = response.get("seconds"), response.get("collections")
        if not isinstance(seconds, int | float) or not isinstance(collections, int):
            return None
        return cls(float(seconds), collections)

    def since(self, before: "_Garbage") -> GarbageEntry:
        return {
            "seconds": max(0.0, self.seconds - before.seconds),
            "collections": max(0, self.collections - before.collections),
        }


@dataclass(frozen=True)
class _Servers:
    """The measured server, the peer that it calls, and the database that it uses, if any."""

    measured: Server
    peer: Server | None
    database: "Database | None"

    def check_alive(self) -> None:
        """Raise `ServerDied` if one of them has ended in the middle of the trial."""
        for server in (self.measured, self.peer):
            if server is not None and not server.alive():
                how = server.exit or "ended"
                raise ServerDied(f"{server.label} {how} in the middle of the trial", server.printed())
        if self.database is not None and not self.database.alive():
            raise ServerDied("the database ended in the middle of the trial")

    def processes(self) -> dict[str, int]:
        """The processes that can be watched, by the name of their file in the record."""
        pids = {
            "server": self.measured.pid,
            "peer": self.peer.pid if self.peer else None,
            "database": self.database.pid if self.database else None,
        }
        return {name: pid for name, pid in pids.items() if pid is not None}


class ServerPool:
    """The servers of a trial, kept for the next one of its group."""

    def __init__(self) -> None:
        self._servers: _Servers | None = None
        self._stack = contextlib.ExitStack()

    def store(self, servers: _Servers, stack: contextlib.ExitStack) -> None:
        """Keep the servers, which then no longer end with `stack`."""
        self._servers, self._stack = servers, stack.pop_all()

    def acquire(self, stack: contextlib.ExitStack) -> _Servers | None:
        """The kept servers, which end with `stack` from now on. None if there are none, or one has ended."""
        servers, self._servers = self._servers, None
        stack.enter_context(self._stack.pop_all())
        try:
            if servers is not None:
                servers.check_alive()
        except ServerDied:
            return None
        return servers

    def stop(self) -> None:
        """End the servers if they are still kept."""
        self._servers = None
        self._stack.close()


class _Load:
    """The intervals of a running load up to the last one, which comes early if a stop was asked for.

    Raises `ServerDied` if a server ends before the load does, `GeneratorsLost` if no generator is left.
    """

    def __init__(self, running: Running, stop: Stop, servers: _Servers | None = None) -> None:
        self._running = running
        self._stop = stop
        self._servers = servers
        self._ending = False
        self._over = False

    def __iter__(self) -> Iterator["Interval"]:
        while not self._over:
            if self._stop.requested and not self._ending:
                self.end()
            interval = self._running.next_interval(POLL_S)
            if interval is not None:
                self._over = interval["last"]
                yield interval
            if self._servers is not None:
                self._servers.check_alive()

    def end(self) -> None:
        """End the load. Its remaining intervals still come, whatever happens to the servers."""
        self._running.stop()
        self._ending = True
        self._servers = None

    def discard(self) -> None:
        """End the load, and discard its remaining intervals."""
        self.end()
        with contextlib.suppress(GeneratorsLost):
            for _ in self:
                pass


def run_trial(context: TrialContext) -> Path:
    """Run one trial and return its folder.

    Failures of a server or of generators are recorded in the trial and not raised, so the run continues.
    After recording what was measured, it raises `KeyboardInterrupt`; `ExecutorLost` and `RecordLost`, after
    which no trial can run; and the `UserError` of a load that cannot run: there is no room for it here, or
    nothing answers where it should go.
    """
    with contextlib.ExitStack() as running, contextlib.ExitStack() as stack:
        try:
            kept = context.server_pool.acquire(running) if context.continues else None
            servers = kept or _start_servers(running, context)
            unplaced = _spec(context, servers, context.workload)
            if context.contestant.url is not None:
                check_certificate(unplaced["workloads"][0]["target"])
            spec = context.executor.prepare(unplaced)
            # Other work of this process, such as recording, would interrupt a thread that busy-polls.
            stack.enter_context(kept_off(spec["cores"] if spec["busy_poll"] else ()))
            _warm_up(context, servers, spec)
        except ExecutorLost:
            raise
        except (ContestantError, GeneratorsLost) as error:
            return _failed_before_the_load(context, error)
        except UserError as error:
            _failed_before_the_load(context, error)
            raise
        folder, busy = _drive(context, servers, spec, continues=kept is not None)
        if context.stays and not busy:
            context.server_pool.store(servers, running)
        return folder


def _start_servers(stack: contextlib.ExitStack, context: TrialContext) -> _Servers:
    """Start the servers, which run until the stack is closed. Raises `ContestantError`."""
    placement, workload = context.placement, context.workload
    database = _database(context)
    measured = _start(
        stack,
        context,
        context.contestant,
        placement.server_cores,
        database=database.placeholders() if database else None,
        connect_to=workload.connection.connect_to,
        memory=workload.memory,
    )
    peer = _start(stack, context, context.peer, placement.peer_cores) if context.peer else None
    return _Servers(measured, peer, database)


def _start(
    stack: contextlib.ExitStack,
    context: TrialContext,
    contestant: Contestant,
    cores: Sequence[int] | None,
    *,
    database: Mapping[str, str] | None = None,
    connect_to: Sequence[str] = (),
    memory: int | None = None,
) -> Server:
    """Start a server, pinned to `cores` unless cores are shared."""
    own = cores if context.placement.shared is False else None
    here = context.executor.here
    server = contestant.start(host=here, cores=own, database=database, connect_to=connect_to, memory=memory)
    return stack.enter_context(server)


def _database(context: TrialContext) -> "Database | None":
    """The database as the workload needs it; None if the contestant uses none."""
    table = context.plan.database_of(context.workload)
    if context.databases is None or table is None or not context.contestant.file.database:
        return None
    return context.databases.matching(table)


def _spec(context: TrialContext, servers: _Servers, workload: Workload) -> dict[str, Any]:
    placement, plan, server = context.placement, context.plan, servers.measured
    pinned = placement.shared is False
    own_cores = _has_own_cores(context, server)
    return engine_spec(
        context.planned.workload,
        workload,
        Address(
            host=server.host,
            port=server.port,
            tls=server.scheme == "https",
            authorization=server.authorization,
            peer=servers.peer.url if servers.peer else "",
        ),
        seed=context.seed,
        threads=plan.threads or workload.connection.threads(len(placement.generator_cores) if pinned else 1),
        cores=placement.generator_cores if pinned else [],
        real_time=own_cores and _paced(plan, context.workload) and real_time_allowed(),
        busy_poll=_busy_poll(context, own_cores=own_cores),
        allowed_hosts=plan.cluster.allow_targets if plan.cluster else (),
        journeys=plan.journey,
        reflect=True,
    )


def _paced(plan: Plan, workload: Workload) -> bool:
    journeys = [plan.journey[name] for name in workload.journeys]
    pauses = (pause for journey in journeys for pause in journey.pauses)
    return (
        isinstance(workload.load, OpenLoad)
        or workload.load.think.kind != "none"
        or any(pause.kind != "none" for pause in pauses)
        or any(journey.script is not None for journey in journeys)  # it may sleep
    )


def _busy_poll(context: TrialContext, *, own_cores: bool) -> bool | None:
    """Whether to busy-poll, as the plan says; None if the executor decides, by whether cores suffice."""
    placement, wanted = context.placement, context.plan.busy_poll
    if wanted != "auto" or not own_cores or not context.quiet:
        return wanted == "always"
    cores = placement.generator_cores
    if placement.shared is None:
        others = [core for core in range(os.cpu_count() or 1) if core not in cores]
    else:
        others = [*placement.server_cores, *(placement.peer_cores or [])]
    alone = leaves_others_alone(cores, others, stored_floor(machine_and_version()), cgroup_limits().cpus)
    return None if alone else False


def _has_own_cores(context: TrialContext, server: Server) -> bool:
    """Whether the generator's cores are certainly free of servers."""
    placement, plan, workload = context.placement, context.plan, context.workload
    if placement.shared is not None:
        return not placement.shared
    if max(plan.threads or 1, plan.processes or 1) >= (os.cpu_count() or 1):
        return False  # one core is needed by the rest of the machine
    places = workload.connection.connect_to or [f"{server.host}:{server.port}"]
    return not ports.may_be_on(placement.generator_cores, places)


def _warm_up(context: TrialContext, servers: _Servers, spec: Mapping[str, Any]) -> None:
    """Send the workload's warm-up without recording it. Raises `GeneratorsLost`.

    `spec`: the measured load, which is also the warm-up unless the workload says otherwise.
    """
    own = context.workload.warm_up
    seconds = own if own is not None else context.plan.warm_up
    if seconds == 0:
        return
    warming = context.workload.warming
    if warming is not context.workload:
        spec = context.executor.prepare(_spec(context, servers, warming))
    warm_up = {
        **spec,
        "duration_ns": round(seconds * 1e9),
        "rows": False,
        "workloads": [load for load in spec["workloads"] if load["role"] == "measured"],
    }
    running = context.executor.start(warm_up)
    with stopping() as stop:
        for _ in _Load(running, stop):
            pass
        running.pull()


def _drive(
    context: TrialContext, servers: _Servers, spec: Mapping[str, Any], *, continues: bool
) -> tuple[Path, bool]:
    """Send the load as often as the workload says, on the same servers.

    Returns the folder of the last of these runs, and whether the servers may still be busy with it.
    """
    runs, warm = context.workload.runs, list[float]()
    description = _description(context, servers, spec)
    if continues:
        description["continues"] = True
    for run in range(1, runs + 1):
        last = run == runs or _settled(context.workload, warm)
        pid = servers.measured.pid
        before = Sampler(pid).sample(0) if pid is not None else None
        garbage = _Garbage.of(context, servers.measured)
        try:
            running = context.executor.start(spec)
        except ExecutorLost:
            raise
        except (GeneratorsLost, UserError) as error:
            folder = _record_failure(context, description, _Ending("failed", str(error)))
            if isinstance(error, UserError):
                raise
            return folder, True
        started = {
            "before": asdict(before) if before else None,
            "started_unix_ns": running.started_unix_ns,
            "generators": [generator.as_record() for generator in running.generators],
        }
        try:
            record = context.writer.trial(description | started, run=0 if last else run)
        except RecordLost:
            _Load(running, Stop()).discard()
            raise
        ending = _measure(context, record, servers, spec, running, garbage)
        if last:
            break
        warm.append(ending.per_s)
        if ending.why:
            why = f"in run {run} of {runs}: {ending.why}"
            folder = _record_failure(context, description, _Ending("failed", why, ending.server_output_tail))
            return folder, True
    return record.folder, ending.busy


def _settled(workload: Workload, per_s: Sequence[float]) -> bool:
    """Whether the throughputs of the last two runs differ by no more than `settle`."""
    if workload.settle is None or len(per_s) < 2 or not per_s[-2]:
        return False
    return abs(per_s[-1] / per_s[-2] - 1) <= workload.settle


def _measure(
    context: TrialContext,
    record: TrialWriter,
    servers: _Servers,
    spec: Mapping[str, Any],
    running: Running,
    garbage: "_Garbage | None",
) -> _Ending:
    """Record the load to its end. `garbage`: the server's garbage collection up to the start."""
    with stopping() as stop:
        load = _Load(running, stop, servers)
        try:
            with written(context.writer.folder):
                running.save_logs_to(record.folder)
                with (
                    context.desk.trial(context.planned, spec, running, record.folder),
                    _watched(context, servers, record.folder, running),
                ):
                    ending = _record_load(context, record, servers, load, running, stop)
                running.pull()
        except ExecutorLost as error:
            _finish(record, _Ending("cut short", str(error)), running)
            raise
        except RecordLost:
            load.discard()
            record.abandon()
            raise
        except StartRefused as error:
            load.discard()
            _finish(record, _Ending("failed", str(error)), running)
            raise
        after = _Garbage.of(context, servers.measured) if ending.status == "ended" else None
        _finish(record, ending, running, after.since(garbage) if after and garbage else None)
        return ending


def _record_load(
    context: TrialContext,
    record: TrialWriter,
    servers: _Servers,
    load: _Load,
    running: Running,
    stop: Stop,
) -> _Ending:
    answered, end_ns, unfinished = 0, 0, 0
    try:
        for interval in load:
            context.observe(record.write_interval(interval), record.folder)
            context.writer.generators_lost(
                context.planned.number, (lost.as_record() for lost in running.lost)
            )
            answered += sum(s["outcomes"].get(Outcome.OK, 0) for s in interval["series"] if not s["workload"])
            end_ns = interval["end_ns"]
            unfinished += sum(
                s["outcomes"].get(Outcome.UNFINISHED, 0) for s in interval["series"] if s["workload"]
            )
    except ServerDied as error:
        output = servers.measured.last_lines()
        load.end()
        with contextlib.suppress(GeneratorsLost):
            for interval in load:
                context.observe(record.write_interval(interval), record.folder)
        return _Ending("failed", str(error), output)
    except ExecutorLost:
        raise
    except GeneratorsLost as error:
        if not stop.requested:
            return _Ending("failed", str(error))
    if stop.requested:
        return _Ending("cut short", "stopped by the user")
    return _Ending("ended", per_s=answered * 1e9 / end_ns if end_ns else 0.0, busy=unfinished > 0)


@contextlib.contextmanager
def _watched(context: TrialContext, servers: _Servers, folder: Path, running: Running) -> Iterator[None]:
    """Write samples of the servers and the machine into the folder until the context is left."""
    place = context.placement
    cores = {*place.server_cores, *place.generator_cores, *(place.peer_cores or ())}
    here = [generator.pid for generator in running.generators if not generator.host]
    with contextlib.ExitStack() as watchers:
        samplers: dict[str, Samples] = {name: Sampler(pid) for name, pid in servers.processes().items()}
        samplers["machine"] = MachineSampler(cores, place.server_cores, here, servers.measured.port)
        for name, sampler in samplers.items():
            watcher = Watcher(sampler, folder / f"{name}.ndjson", running.started_unix_ns)
            watcher.start()
            watchers.callback(watcher.stop)
        yield


def _finish(
    record: TrialWriter, ending: _Ending, running: Running, garbage: GarbageEntry | None = None
) -> None:
    """Close the record. The watchers must have ended: outcome.json has the checksums of their files."""
    lost = [lost.as_record() for lost in running.lost]
    record.finish(ending.status, ending.why, ending.server_output_tail, lost, garbage)


def _description(context: TrialContext, servers: _Servers, spec: Mapping[str, Any]) -> Any:
    """The content of trial.json, without what is known only once the load has started."""
    database, peer = servers.database, context.peer
    used = database.describe() if database else None
    return _planned(context) | {
        "server": {**context.contestant.describe(servers.measured), "database": used},
        "engine": without_secrets(dict(spec)),
        "peer": {**peer.describe(servers.peer), "database": None} if peer else None,
    }


def _planned(context: TrialContext) -> Any:
    """What is known about the trial before anything is started."""
    return {
        **context.planned.as_record(),
        "title": context.workload.title,
        "placement": context.placement.as_record(),
        "server": context.contestant.describe(),
        "engine": None,
    }


def _failed_before_the_load(context: TrialContext, error: Exception) -> Path:
    away = isinstance(error, ContestantError | UnreachableTarget)
    return _record_failure(context, _planned(context), _Ending("failed", str(error), away=away))


def _record_failure(context: TrialContext, description: Any, ending: _Ending) -> Path:
    """Record a failed trial that has no intervals."""
    record = context.writer.trial(description)
    record.finish(ending.status, ending.why, ending.server_output_tail, server_away=ending.away)
    return record.folder
