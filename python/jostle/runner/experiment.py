"""Runs an experiment: all trials round after round, in random order, each on a freshly started server.

Experiments that share a budget take turns: first the first rounds of each, then one further round at a time.
"""

import contextlib
import itertools
import os
import random
import secrets
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from jostle import contestant as contestants
from jostle.analysis.results.keys import Key
from jostle.analysis.validity.spoiled import MAX_REPEATS, causes_of, spoiled_by
from jostle.contestant import Contestant
from jostle.contestant.compatibility import check_fit
from jostle.errors import (
    ContestantError,
    JostleError,
    MissingRuntime,
    RecordLost,
    UserError,
)
from jostle.formatting import listed
from jostle.generator import Executor
from jostle.generator.spec.address import Address
from jostle.generator.spec.run import engine_spec
from jostle.host.cores import Placement, available_cores, place
from jostle.host.facts import host_facts, machine_and_version
from jostle.host.git import revision
from jostle.host.pressure import BUSY, cpu_pressure
from jostle.plan import Plan, Workload, to_toml
from jostle.plan.workload import SAME
from jostle.record import RunWriter, TrialRecord
from jostle.record.layout import CUT_SHORT, SPOILED, Event, Status
from jostle.redaction.data import secrets_in
from jostle.runner.budget import Budget
from jostle.runner.disk_space import check_disk_space, check_folder, min_bytes
from jostle.runner.duration import load_s
from jostle.runner.earlier_runs import note_earlier_runs
from jostle.runner.extra_rounds import plan_repeats
from jostle.runner.observer import (
    Building,
    IntervalRecorded,
    Observer,
    Repeated,
    Scheduled,
    Skipped,
    TrialEnded,
    TrialStarted,
)
from jostle.runner.participants import Participants, participants, with_their_labels
from jostle.runner.schedule import Planned, note_planned, schedule
from jostle.runner.steering import SteeringDesk, steerable
from jostle.runner.trial import ServerPool, TrialContext, run_trial

if TYPE_CHECKING:
    from jostle.database.current import CurrentDatabase
    from jostle.runner.resume import Unfinished

__all__ = [
    "Further",
    "Turns",
    "experiment_in_turns",
    "find_room",
    "resume_experiment",
    "resume_in_turns",
    "run_experiment",
]

T = TypeVar("T")

Further = Callable[[RunWriter], Iterator[tuple[Plan, list[Planned]]]]
"""Yields trials that depend on what was measured, and is asked for more when the ones before are over. Each
time it yields a plan, which may have more workloads than the one before, and trials of it that are not yet in
the journal."""


Turns = Generator[float, None, Path]
"""A run that pauses where others may have their turn, and continues when it is resumed. It yields the
measuring time in which the next of its questions will probably be decided; infinite if none will be. Returns
the run's folder."""


def run_experiment(
    plan: Plan,
    base: Path,
    slug: str,
    seed: int | None,
    executor: Executor,
    observer: Observer,
    further: Further | None = None,
) -> Path:
    """Run every trial of `plan`, record it in a new folder under `base`, and return that folder.

    `seed` overrides the plan's own; if neither is given, one is drawn and recorded. `further` yields the
    trials that follow those of the plan.

    `participants` decides who takes part in what. Of these, contestants that lack a runtime here are skipped
    and named. Raises `MissingRuntime` or `ContestantError` if none is left, and `KeyboardInterrupt` once what
    was measured has been recorded.
    """
    return _at_once(experiment_in_turns(plan, base, slug, seed, executor, observer, further))


def experiment_in_turns(
    plan: Plan,
    base: Path,
    slug: str,
    seed: int | None,
    executor: Executor,
    observer: Observer,
    further: Further | None = None,
    shared: Budget | None = None,
) -> Turns:
    """As `run_experiment`, in turns with others that share a budget; without `shared`, in one turn."""
    if seed is None:
        seed = plan.seed if plan.seed is not None else secrets.randbits(32)
    check_folder(base)  # before anything is built
    plan = with_their_labels(plan)
    able = participants(plan)
    find_room(plan, able.contestants, able.cells, executor)
    for whom, why in able.left_out():
        observer(Skipped(whom, why))
    taking_part = _built(able, observer)
    ready = taking_part.contestants
    trials = schedule(taking_part.cells, plan, seed)
    check_disk_space(base, min_bytes(plan, trials))
    facts = host_facts(seed) | _revisions(plan, ready)
    writer = RunWriter.create(base, slug, to_toml(plan), facts, secrets_in(plan.data()))
    working_folder = os.path.relpath(Path.cwd(), writer.folder.resolve())
    writer.journal_start(seed=seed, contestants=[c.label for c in ready], base=working_folder)
    if plan.require:
        note_earlier_runs(writer)
    for label, why in taking_part.skipped.items():
        writer.journal("contestant skipped", contestant=label, why=why)
    for label, reasons in taking_part.skipped_workloads.items():
        for name, why in reasons.items():
            writer.journal("contestant skipped", contestant=label, workload=name, why=why)
    note_planned(trials, writer)
    observer(Scheduled(trials, writer.folder))
    quiet = facts.get("cpu_pressure", 0.0) < BUSY
    desk = SteeringDesk(writer, _why_not_steered(plan, searches=further is not None))
    session = _Session(plan, _by_label(ready), writer, executor, observer, seed, quiet, desk)
    yield from _run_all(session, trials, trials, further, shared)
    return writer.folder


def resume_experiment(run: "Unfinished", executor: Executor, observer: Observer) -> Path:
    """Run the trials of `run` that are left, into its own folder, which is returned, and with its own seed.

    What was cut short is kept beside the trials, but not counted. Raises `UserError` if the run is still in
    progress, `CannotServe` or a `ContestantError` if a contestant that is needed can no longer run here, and
    `KeyboardInterrupt` once what was measured has been recorded.
    """
    return _at_once(resume_in_turns(run, executor, observer))


def resume_in_turns(
    run: "Unfinished", executor: Executor, observer: Observer, shared: Budget | None = None
) -> Turns:
    """As `resume_experiment`, in turns with others that share a budget; without `shared`, in one turn."""
    left = [contestants.find(label, run.plan.contestant, run.base) for label in run.contestants_left]
    cells = list(dict.fromkeys((one.contestant, one.workload) for one in run.to_come))
    find_room(run.plan, left, cells, executor)
    for contestant in left:
        for name in (workload for label, workload in cells if label == contestant.label):
            check_fit(contestant, name, run.plan.workload[name], run.plan.journey)
        _build(contestant, observer)
    writer = RunWriter.resume(run.folder)
    writer.journal("run resumed", done=len(run.done), left=len(run.left), host=machine_and_version())
    for planned in run.left:
        if aside := writer.set_aside(planned.number, CUT_SHORT):
            writer.journal("trial set aside", number=planned.number, folder=aside)
    observer(Scheduled(run.trials, run.folder))
    quiet = (cpu_pressure() or 0.0) < BUSY
    desk = SteeringDesk(writer, _why_not_steered(run.plan, searches=False))
    session = _Session(run.plan, _by_label(left), writer, executor, observer, run.seed, quiet, desk)
    session.measured.update(number for number, sound in run.done.items() if sound)
    session.given_up.extend(run.repeats_given_up)
    yield from _run_all(session, run.trials, run.left, shared=shared)
    return run.folder


def _revisions(plan: Plan, ready: Iterable[Contestant]) -> dict[str, Any]:
    """The state of the repository that jostle was started in, and of those of the plan's own contestants."""
    here = revision(Path.cwd())
    own = {c.label: c.folder for c in ready if c.folder is not None and c.name in plan.contestant}
    found = {label: state for label, folder in own.items() if (state := revision(folder)) is not None}
    return ({"revision": here} if here else {}) | ({"revisions": found} if found else {})


def _at_once(turns: Generator[float, None, T]) -> T:
    while True:
        try:
            next(turns)
        except StopIteration as end:
            found: T = end.value
            return found


def _by_label(ready: Iterable[Contestant]) -> dict[str, Contestant]:
    return {contestant.label: contestant for contestant in ready}


def _run_all(
    session: "_Session",
    trials: Sequence[Planned],
    left: Sequence[Planned],
    further: Further | None = None,
    shared: Budget | None = None,
) -> Generator[float, None, None]:
    """Run the trials that are left, and close the run. However it ends, its journal says why."""
    try:
        _build_peers(session.plan, session.observer)
        with steerable(session.writer.folder, session.desk):
            yield from _rounds(session, trials, left, further, shared)
    except BaseException as error:
        with contextlib.suppress(RecordLost):
            session.writer.journal("run stopped", why=_why_stopped(error))
        raise
    session.writer.journal("run ended")


def _rounds(
    session: "_Session",
    trials: Sequence[Planned],
    left: Sequence[Planned],
    further: Further | None,
    shared: Budget | None,
) -> Generator[float, None, None]:
    """Run all rounds."""
    plan, writer = session.plan, session.writer
    budget = shared or Budget(plan.budget)
    with contextlib.ExitStack() as stack:
        equipped = _equipped(session, stack)
        equipped.run_all(left)
        if further is not None:
            _further(equipped, trials, further)
        if plan.until_decided and shared is None:
            _at_once(_until_decided(session, trials, budget, equipped=equipped))
        if more := plan_repeats(plan, writer, session.seed, session.contestants):
            names = listed(list(dict.fromkeys(trial.contestant for trial in more)))
            why = f"rounds of {names} fall into two groups, so there are as many again"
            session.observer(Scheduled([*trials, *more], writer.folder, why))
            equipped.run_all(more)
    if plan.until_decided and shared is not None:
        yield from _until_decided(session, trials, shared, equipped=None)


def _until_decided(
    session: "_Session", trials: Sequence[Planned], budget: Budget, *, equipped: "_Session | None"
) -> Generator[float, None, None]:
    """Run further rounds as long as anything is undecided.

    Before each round it yields the measuring time in which the next question will probably be decided.
    `equipped`: the session with its databases; without it each round has its own, as others may have their
    turns in between.
    """
    from jostle.runner.until_decided import (
        RoundsUntilDecided,  # numpy would delay the first request
    )

    known = list(trials)
    rounds = RoundsUntilDecided(session.plan, session.writer, session.seed, budget)
    while True:
        look = rounds.look()
        if equipped is None:
            session.writer.journal("run waits")
        yield rounds.decided_in_s(look)
        more = rounds.after(look)
        if not more:
            return
        known += more
        session.observer(Scheduled(known, session.writer.folder, "not everything is decided yet"))
        with contextlib.ExitStack() as stack:
            (equipped or _equipped(session, stack)).run_all(more)


def _equipped(session: "_Session", stack: contextlib.ExitStack) -> "_Session":
    """The session with its databases. They and the kept servers end with `stack`."""
    databases = stack.enter_context(_databases(session.plan, session.contestants.values()))
    stack.callback(session.server_pool.stop)
    return replace(session, databases=databases)


def _further(session: "_Session", trials: Sequence[Planned], further: Further) -> None:
    """Run the trials that `further` yields."""
    known = list(trials)
    for plan, more in further(session.writer):
        if plan != session.plan:
            session.writer.extend_plan(to_toml(plan))
            session = replace(session, plan=plan)
        note_planned(more, session.writer)
        known += more
        session.observer(Scheduled(known, session.writer.folder))
        session.run_all(more)


def _why_not_steered(plan: Plan, *, searches: bool) -> str:
    """Why the loads of a run must not be changed; "" if they may be."""
    if searches:
        return "each load of this run follows from what was measured before: another one would mislead it"
    if plan.until_decided:
        return "this run goes on until everything is decided, and of a changed load nothing is"
    return ""


def _why_stopped(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "stopped by the user"
    if isinstance(error, GeneratorExit):
        return "stopped while others had their turn"
    return error.message if isinstance(error, JostleError) else f"{type(error).__name__}: {error}"


def _databases(plan: Plan, ready: Iterable[Contestant]) -> AbstractContextManager["CurrentDatabase | None"]:
    """The databases of the run, on the server's cores; None if no contestant uses one.

    The first is started here, so that a failure is reported before anything is measured.
    """
    ready = list(ready)
    labels = [contestant.label for contestant in ready]
    users = {contestant.label for contestant in ready if contestant.file.database}
    used = [workload for workload in plan.selected.values() if users & {*workload.measured_on(labels)}]
    tables = [table for table in map(plan.database_of, used) if table is not None]
    if not tables:
        return contextlib.nullcontext()
    from jostle.database.current import CurrentDatabase

    databases = CurrentDatabase(place(available_cores(), plan.share_cores).server_cores)
    databases.matching(tables[0])
    return databases


def find_room(
    plan: Plan, found: Sequence[Contestant], cells: Collection[Key], executor: Executor, *, ask: bool = True
) -> None:
    """Raise `StartRefused` for a load for which this machine has no room, before anything is started.

    `cells`: the contestants and workloads that are to be measured. `ask`: servers that run already may be
    asked for their gRPC services.
    """
    urls = {contestant.label: contestant.url for contestant in found}
    for url, name in dict.fromkeys((urls[label], workload) for label, workload in cells):
        # The port of a contestant that is started here is not known yet.
        address = Address.of(url) if url is not None else Address(host=executor.here, port=80)
        reflect = ask and url is not None
        spec = engine_spec(name, plan.workload[name], address, journeys=plan.journey, reflect=reflect)
        executor.prepare(spec)


def _built(taking_part: Participants, observer: Observer) -> Participants:
    """Build the participants; those that cannot run here are skipped.

    Raises `BuildFailed`, and what `Participants.without` raises if none is left, whose message names them.
    """
    missing: dict[str, MissingRuntime] = {}
    for contestant in taking_part.contestants:
        try:
            _build(contestant, observer)
        except MissingRuntime as error:
            missing[contestant.label] = error
    ready = taking_part.without(missing)
    for label, lack in missing.items():
        observer(Skipped(label, str(lack)))
    return ready


def _build(contestant: Contestant, observer: Observer) -> None:
    """Build a contestant. Raises `MissingRuntime`, `BuildFailed`."""
    if not contestant.is_built():
        observer(Building(contestant.label))
    contestant.build()


def _peer(plan: Plan, workload: Workload, measured: Contestant | None = None) -> Contestant | None:
    """The contestant that the measured server calls; with `peer = "same"` it is `measured` itself."""
    return measured if workload.peer in ("", SAME) else contestants.find(workload.peer, plan.contestant)


def _build_peers(plan: Plan, observer: Observer) -> None:
    """Build all peers. If one cannot be built, every trial that needs it fails with the reason."""
    found = [_peer(plan, workload) for workload in plan.selected.values()]
    for peer in {contestant.label: contestant for contestant in found if contestant}.values():
        try:
            _build(peer, observer)
        except ContestantError as error:
            observer(Skipped(f"{peer.label}, the peer", str(error)))


@dataclass(frozen=True)
class _Session:
    """What all trials of one run share."""

    plan: Plan
    contestants: Mapping[str, Contestant]
    writer: RunWriter
    executor: Executor
    observer: Observer
    seed: int
    quiet: bool
    desk: SteeringDesk
    databases: "CurrentDatabase | None" = None
    server_pool: ServerPool = field(default_factory=ServerPool)
    measured: set[int] = field(default_factory=set)
    """The numbers of the trials that ended as they should."""
    given_up: list[str] = field(default_factory=list)
    """Why trials are no longer repeated in this run; empty as long as they are."""

    def run_all(self, trials: Sequence[Planned]) -> None:
        """Run the trials round after round.

        Raises the `UserError` of a load that cannot run if nothing has been measured before it. Later on,
        only the trial fails.
        """
        for _, group in itertools.groupby(trials, key=lambda planned: planned.round):
            repeats = MAX_REPEATS if self.plan.repeats and not self.given_up else 0
            if self._run_round(list(group), repeats):
                self.given_up.append("no repeat of a round was any better")
                self.writer.journal("repeats given up", why=self.given_up[0])

    def _run_round(self, trials: Sequence[Planned], repeats: int) -> bool:
        """Run a round. Trials that the generator or the machine spoiled are measured again at its end, under
        their own numbers. Returns whether there were repeats and none of them helped.
        """
        waiting, spoiled, at_first = list(trials), list[Planned](), list[Planned]()
        for left in range(repeats, -1, -1):
            spoiled = []
            for planned, before, after in _with_neighbours(waiting):
                closed = self._measure(planned, before, after)
                if closed.sound:
                    self.measured.add(planned.number)
                if closed.spoiled_by:
                    spoiled.append(planned)
                    if left:
                        self._set_aside(planned, closed)
            if left == repeats:
                at_first = spoiled
            if not spoiled or not left:
                break
            waiting = spoiled
        return bool(repeats and spoiled and spoiled == at_first)

    def _measure(self, planned: Planned, before: Planned | None, after: Planned | None) -> "_Closed":
        try:
            return self._run(planned, before, after)
        except UserError:
            if not self.measured:
                raise
            return self._close(planned, self.writer.trial_folder(planned.number))

    def _set_aside(self, planned: Planned, closed: "_Closed") -> None:
        folder, why = self.writer.set_aside(planned.number, SPOILED), closed.spoiled_by
        self.writer.journal(
            "trial set aside", number=planned.number, folder=folder, why=why, causes=closed.causes
        )
        self.observer(Repeated(planned, why))

    def _on_one_server(self, planned: Planned, other: Planned | None) -> bool:
        """Whether the trial before or after (`other`) runs on the same started server."""
        return other is not None and (planned.contestant, planned.round, other.workload) in {
            (other.contestant, other.round, name) for name in self.plan.group_of(planned.workload)
        }

    def _run(self, planned: Planned, before: Planned | None, after: Planned | None) -> "_Closed":
        workload = self.plan.workload[planned.workload]
        self.writer.journal("trial started", number=planned.number)
        self.observer(TrialStarted(planned, load_s(workload, self.plan.journey)))
        contestant = self.contestants[planned.contestant]
        context = TrialContext(
            planned=planned,
            plan=self.plan,
            contestant=contestant,
            peer=_peer(self.plan, workload, contestant) if workload.peer else None,
            seed=_trial_seed(self.seed, planned),
            placement=self._placement(planned),
            quiet=self.quiet,
            databases=self.databases,
            writer=self.writer,
            executor=self.executor,
            server_pool=self.server_pool,
            desk=self.desk,
            continues=self._on_one_server(planned, before),
            stays=self._on_one_server(planned, after),
            observe=lambda interval, folder: self.observer(IntervalRecorded(planned, interval, folder)),
        )
        return self._close(planned, run_trial(context))

    def _placement(self, planned: Planned) -> Placement:
        contestant = self.contestants[planned.contestant]
        cores = available_cores()
        if not contestant.is_started_here:  # its owner decided where it runs, or it is simulated
            return Placement(cores, cores, shared=None)
        workload = self.plan.workload[planned.workload]
        placement = place(cores, self.plan.share_cores or workload.share_cores)
        return placement.with_peer() if workload.peer else placement

    def _close(self, planned: Planned, folder: Path) -> "_Closed":
        from jostle.analysis.run import judge  # imported late: numpy would delay the first request

        trial = TrialRecord(folder)
        validity = judge(trial) if trial.status == "ended" else None
        self.writer.generators_lost(planned.number, trial.generators_lost)
        fields: dict[str, Any] = {"number": planned.number, "why": trial.why}
        if validity is not None:
            fields["verdict"] = validity.verdict
        events: dict[Status, Event] = {
            "ended": "trial ended",
            "failed": "trial failed",
            "cut short": "trial cut short",
        }
        self.writer.journal_outcome(events[trial.status], folder, **fields)
        self.observer(TrialEnded(planned, trial.status, trial.why, validity))
        sound = trial.status == "ended"
        if validity is None or trial.steered:
            return _Closed(sound)  # a second time nobody would steer it like this
        return _Closed(sound, spoiled_by(validity), causes_of(validity))


@dataclass(frozen=True)
class _Closed:
    """Whether a trial ended as it should, and why it is to be measured again ("" if it counts).

    `causes`: the causes of that, "generator" and "machine".
    """

    sound: bool
    spoiled_by: str = ""
    causes: list[str] = field(default_factory=list)


def _with_neighbours(
    trials: Sequence[Planned],
) -> Iterator[tuple[Planned, Planned | None, Planned | None]]:
    """Each trial with the one before it and the one after it."""
    return zip(trials, [None, *trials[:-1]], [*trials[1:], None], strict=True)


def _trial_seed(seed: int, planned: Planned) -> int:
    """Trials of one round share their arrivals, so that contestants meet the same load; rounds differ."""
    return random.Random(f"{seed}/{planned.workload}/{planned.round}").getrandbits(63)
