"""The form of a run folder: which files there are, and what each of them contains.

Every JSON object of a run folder has its type here, those of a line of intervals.ndjson in interval_line.py,
and of journal.ndjson in journal_line.py. docs/record.schema.json is generated from these types, and
docs/RUN-FOLDER.md lists the files. Names of times end in their unit; `at` and those that end in `_unix_ns`
are wall-clock times, all others count from the start of the trial. A key that is not required may be missing.

Within one format keys are only added. FORMAT grows when a reader of the old one would read a folder wrongly.
"""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from jostle.record.interval_line import IntervalEntry
from jostle.record.journal_line import Event, Fingerprint, JournalEntry
from jostle.record.lost_generator import LostGenerator
from jostle.record.steered import SteeredEntry
from jostle.record.values import Count, Finite, Ns, Number, Text

__all__ = [
    "BUDGET_SPENT",
    "CUT_SHORT",
    "EXPLAINED",
    "FILES",
    "FORMAT",
    "JOURNAL",
    "SPOILED",
    "STEERED",
    "ClockEntry",
    "Event",
    "Explained",
    "Fingerprint",
    "GeneratorEntry",
    "HostFacts",
    "JournalEntry",
    "Ledger",
    "LedgerEntry",
    "LostTime",
    "MachineEntry",
    "OutcomeEntry",
    "PlacementEntry",
    "ResourceSample",
    "ServerDescription",
    "Status",
    "SteeredEntry",
    "StreamEntry",
    "TallyEntry",
    "TrialDescription",
]

FORMAT = 2
"""The version of this form, which host.json and every trial.json contain.

1: the first one.
2: outcome.json has the checksums of the trial's files, the journal those of outcome.json, plan.toml and
   host.json; every line of the journal has its own.
"""


# --- the run ------------------------------------------------------------------------------------------------


class FileLimits(TypedDict):
    """Limits on open files: the one that applies, and the highest that may be asked for."""

    soft: int
    hard: int


class CgroupEntry(TypedDict, total=False):
    """How much of the machine a container may use; resources without a limit are left out."""

    memory_bytes: Count
    cpus: Finite


class LimitsEntry(TypedDict, total=False):
    open_files: FileLimits
    cgroup: CgroupEntry


class Revision(TypedDict):
    """What git says of a folder: `branch` is "" if none is checked out; `changed`: tracked files differ."""

    commit: Text
    branch: Text
    changed: bool


class HostFacts(TypedDict):
    """host.json: the machine, the command, the version. No names of machines or people."""

    format: int
    jostle: NotRequired[Text]
    kernel: NotRequired[Text]
    cpu_model: NotRequired[Text]
    usable_cores: NotRequired[list[int]]
    started: NotRequired[Text]
    """Local time, ISO 8601."""
    distribution: NotRequired[Text]
    cores: NotRequired[Number]
    memory_bytes: NotRequired[Count]
    limits: NotRequired[LimitsEntry]
    settings: NotRequired[dict[str, Text]]
    """Settings of the kernel, by path under /proc/sys."""
    load_average: NotRequired[Finite]
    cpu_pressure: NotRequired[Finite]
    """Share of the time in which somebody waited for a core."""
    python: NotRequired[Text]
    argv: NotRequired[list[Text]]
    seed: NotRequired[Ns]
    floor: NotRequired[dict[str, Any]]
    """What `jostle doctor --calibrate` measured on this machine, if it was ever run."""
    revision: NotRequired[Revision]
    """That of the folder in which jostle was started."""
    revisions: NotRequired[dict[str, Revision]]
    """Those of the contestants' folders, by label."""


CUT_SHORT, SPOILED = "cut-short", "spoiled"
"""Folders of a run for trials that do not count: those stopped in the middle, and those spoiled."""

BUDGET_SPENT = "the budget is spent"
"""The end of the reason of an event "looked at" if the budget allows no further round."""

Status = Literal["ended", "failed", "cut short"]

# --- a trial ------------------------------------------------------------------------------------------------


class ResourceSample(TypedDict):
    """A line of server.ndjson, peer.ndjson, database.ndjson: what a process tree used.

    CPU time and context switches are those of the whole tree since it began. None: it was not read this time.
    """

    t_ns: Annotated[int, Field(gt=-(2**63), lt=2**63)]
    cpu_user_s: Finite
    cpu_system_s: Finite
    rss_bytes: NotRequired[Count | None]
    pss_bytes: NotRequired[Count | None]
    threads: NotRequired[Number]
    processes: NotRequired[Number]
    voluntary: NotRequired[Count]
    involuntary: NotRequired[Count]
    connections: NotRequired[Number | None]
    peak_rss_bytes: NotRequired[Count]
    peak_virtual_bytes: NotRequired[Count]
    waited_s: NotRequired[Finite]
    stopped: NotRequired[Count]


class MachineEntry(TypedDict):
    """A line of machine.ndjson: what the machine did. All but `mhz` are sums since some earlier moment.

    `busy_s`, `steal_s`: CPU time of the run's cores that anybody used, and that the hypervisor gave to
    another machine. `server_cores_busy_s`: what anybody used of the server's cores alone. `own_cpu_s`: CPU
    time used by jostle and all that it started. `pressure_*`: the kernel's PSI. `waited_s`, `involuntary`:
    for how long the generator's threads on this machine were runnable without a processor, and their
    involuntary context switches. `throttled_s`: CPU time that a quota of jostle's cgroup withheld, over all
    cores. `backlog_drops`: connection attempts that the sockets on which the server listens dropped (older
    records have `backlog_overflows`, of the whole machine). `mhz`: mean frequency of the cores. None: it
    cannot be read here.
    """

    t_ns: int
    busy_s: Finite
    server_cores_busy_s: NotRequired[Finite]
    steal_s: Finite
    """CPU time of the run's cores that the hypervisor gave to another machine."""
    own_cpu_s: Finite
    """CPU time used by jostle and all that it started."""
    pressure_cpu_s: NotRequired[Finite | None]
    pressure_memory_s: NotRequired[Finite | None]
    pressure_io_s: NotRequired[Finite | None]
    waited_s: NotRequired[Finite | None]
    """How long the generator's threads on this machine were runnable without a processor."""
    involuntary: NotRequired[Count | None]
    throttled_s: NotRequired[Finite | None]
    backlog_drops: NotRequired[Count | None]
    """Connection attempts that the sockets on which the server listens dropped (older records have
    `backlog_overflows`, of the whole machine)."""
    backlog_overflows: NotRequired[Count | None]
    mhz: NotRequired[Finite | None]
    """The mean frequency of the cores."""


class MemoryLimitEntry(TypedDict):
    """A memory limit that a plan asks for. `why_not`: why it could not be set, "" if it was."""

    bytes: Count
    why_not: Text


class ServerDescription(TypedDict):
    """The server that was measured, or its peer: what it is and how it was started."""

    label: Text
    title: NotRequired[Text]
    runtime: NotRequired[Text]
    version: NotRequired[Text]
    discipline: NotRequired[Text]
    slice: NotRequired[Text]
    variants: NotRequired[dict[str, Any]]
    command: NotRequired[list[Text]]
    url: NotRequired[Text]
    pid: NotRequired[int | None]
    """None if the server is not ours."""
    user: NotRequired[Text | None]
    """None if the server is not ours."""
    cores: NotRequired[list[int] | None]
    """None if the server is not ours."""
    needs: NotRequired[dict[str, Any]]
    database: NotRequired[dict[str, Any] | None]
    """What it was given, without the password."""
    simulated: NotRequired[dict[str, Any]]
    """The plan's table, if the server was calculated and nothing was measured."""
    memory_limit: NotRequired[MemoryLimitEntry]
    """The `bytes` that its processes may hold together, and `why_not` if that could not be set ("": it
    was)."""
    lines_of_code: NotRequired[dict[str, Count]]
    """The `own` ones, and those `shared` with others."""


class PlacementEntry(TypedDict):
    """Core numbers. `shared`: whether server and generator may use the same core; None if not known."""

    server_cores: list[int]
    generator_cores: list[int]
    shared: bool | None
    peer_cores: NotRequired[list[int] | None]


class GeneratorEntry(TypedDict):
    """A process that generated an equal share of the load; numbers count from 1.

    `offset_ns`: its wall clock minus the driver's before the start, to within `offset_error_ns`.
    """

    number: Number
    of: Number
    pid: int
    started_unix_ns: Ns
    host: NotRequired[Text]
    offset_ns: NotRequired[int]
    offset_error_ns: NotRequired[int]


class TrialDescription(TypedDict):
    """trial.json: what was measured, and with what."""

    format: NotRequired[int]
    number: Annotated[int, Field(ge=1, lt=2**31)]
    contestant: Text
    workload: Text
    round: Number
    title: NotRequired[Text]
    server: NotRequired[ServerDescription]
    peer: NotRequired[ServerDescription | None]
    engine: NotRequired[dict[str, Any] | None]
    """The specification that the engine ran (crates/engine/src/spec), without secrets; None if the server did
    not start."""
    placement: NotRequired[PlacementEntry]
    before: NotRequired[ResourceSample | None]
    """What the server had used before the load."""
    continues: NotRequired[bool]
    """Whether it ran on the server of the previous trial, which was not restarted."""
    started_unix_ns: NotRequired[Ns]
    generators: NotRequired[list[GeneratorEntry]]


class GarbageEntry(TypedDict):
    """What the server's runtime reports about its garbage collection during the load: time, and how often."""

    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    collections: Count


class LostTime(TypedDict):
    """What happened to the time of a trial; a key is missing if nothing of the kind did."""

    suspended_ns: NotRequired[Ns]
    """How long the machine was suspended during the load."""
    clock_set_ns: NotRequired[int]
    """By how much its wall clock was set meanwhile; negative: back."""


class OutcomeEntry(LostTime):
    """outcome.json: how the trial ended."""

    status: Status
    why: NotRequired[Text]
    """Empty if it ended as it should."""
    ended_unix_ns: NotRequired[Ns]
    server_output_tail: NotRequired[Text]
    server_away: NotRequired[bool]
    """No load was sent, because the server did not start or could not be connected to."""
    generators_lost: NotRequired[list[LostGenerator]]
    garbage: NotRequired[GarbageEntry | None]
    files: NotRequired[dict[str, Fingerprint]]
    """Those of the trial's folder, by their path in it, as they were when the trial ended."""


# --- generators on other machines ---------------------------------------------------------------------------

FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,199}$")]
"""One component of a path here or on a node, which cannot lead elsewhere."""


class StreamEntry(TypedDict):
    """A line of generators/streams.ndjson: which log a generator writes on its own machine."""

    generator: Number
    host: Text
    log: FileName
    from_ns: Ns
    """When it took over from another one, else 0."""
    copy: FileName
    """The file beside this one with what it has sent."""


class TallyEntry(TypedDict):
    """The number of intervals, and of the requests sent in them, up to `until_ns`."""

    intervals: Count
    sent: Count
    until_ns: Ns


class ClockEntry(TypedDict):
    """A generator's wall clock minus the driver's after the load, to within the error."""

    offset_ns: int
    error_ns: int


class LedgerEntry(StreamEntry):
    """What one generator streamed, what is in its spool only (None: not fetched), and why it is not whole."""

    streamed: TallyEntry
    only_in_log: TallyEntry | None
    whole: bool
    why: Text
    clock_after: NotRequired[ClockEntry | None]


class Ledger(TypedDict):
    """generators/accounts.json."""

    accounts: list[LedgerEntry]


JOURNAL = "journal.ndjson"
"""The file that makes a folder a run."""

STEERED = "steered.ndjson"
"""The file of a trial with the changes of its load."""

EXPLAINED = "explained"
"""The folder of a run with a record and a page for each contestant that was explained after it."""


class Explained(TypedDict):
    """The part of an explanation (docs/explanation.schema.json) that a report shows."""

    target: str
    paragraph: str


FILES: dict[str, Any] = {
    "host.json": HostFacts,
    JOURNAL: JournalEntry,
    "trial.json": TrialDescription,
    "intervals.ndjson": IntervalEntry,
    "outcome.json": OutcomeEntry,
    "server.ndjson": ResourceSample,
    "peer.ndjson": ResourceSample,
    "database.ndjson": ResourceSample,
    "machine.ndjson": MachineEntry,
    STEERED: SteeredEntry,
    "generators/streams.ndjson": StreamEntry,
    "generators/accounts.json": Ledger,
}
"""The type of each JSON file, or of a line of it if the name ends in .ndjson."""
