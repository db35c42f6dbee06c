"""The form of a run folder: which files there are, and what stands in each line of them.

Every JSON object of a run folder has its type here. docs/record.schema.json is made from these types, and
docs/RUN-FOLDER.md lists the files. Times end in their unit; those named `_unix_ns` and `at` are wall clock,
all others count from the start of the trial. A key that is not required may be missing.

Within one format keys are only added. FORMAT grows when a reader of the old one would read a folder wrongly.
"""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

__all__ = [
    "ALL_DECIDED",
    "CUT_SHORT",
    "EXPLAINED",
    "FILES",
    "FORMAT",
    "NUMBERED_BY",
    "SPOILED",
    "ClockEntry",
    "Event",
    "Explained",
    "Fingerprint",
    "GeneratorEntry",
    "GeneratorState",
    "HistogramSummary",
    "HostFacts",
    "IntervalEntry",
    "JournalEntry",
    "Ledger",
    "LedgerEntry",
    "LostGenerator",
    "LostTime",
    "MachineEntry",
    "OutcomeEntry",
    "PlacementEntry",
    "ResourceSample",
    "SeriesEntry",
    "ServerDescription",
    "Status",
    "StreamEntry",
    "TallyEntry",
    "ThreadEntry",
    "TrialDescription",
]

FORMAT = 2
"""Stands in host.json and in every trial.json.

1: the first one.
2: outcome.json has the checksums of the trial's files, the journal those of outcome.json, plan.toml and
   host.json; every line of the journal has its own.
"""

Count = Annotated[int, Field(ge=0, le=2**53)]
Ns = Annotated[int, Field(ge=0, lt=2**63)]
Number = Annotated[int, Field(ge=0, lt=2**31)]
Text = Annotated[str, Field(max_length=1_000_000)]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class Fingerprint(TypedDict):
    """Of a file that is complete: CRC-32 of its bytes (8 hexadecimal digits), and their number.

    It tells a damaged file from a whole one. It does not tell who wrote it.
    """

    bytes: Count
    crc32: Annotated[str, Field(pattern="^[0-9a-f]{8}$")]


# --- the run ------------------------------------------------------------------------------------------------


class FileLimits(TypedDict):
    """Of open files: what applies, and what may be asked for."""

    soft: int
    hard: int


class CgroupEntry(TypedDict, total=False):
    """What a container leaves of the machine; what has no limit is left out."""

    memory_bytes: Count
    cpus: Finite


class Limits(TypedDict, total=False):
    open_files: FileLimits
    cgroup: CgroupEntry


class HostFacts(TypedDict):
    """host.json: the machine, the command, the version. No names of machines or people.

    `started`: local time, ISO 8601. `cpu_pressure`: share of the time in which somebody waited for a core.
    `settings`: of the kernel, by path under /proc/sys. `floor`: what `jostle doctor --calibrate` measured on
    this machine, where it ever did.
    """

    format: int
    jostle: NotRequired[Text]
    kernel: NotRequired[Text]
    cpu_model: NotRequired[Text]
    usable_cores: NotRequired[list[int]]
    started: NotRequired[Text]
    distribution: NotRequired[Text]
    cores: NotRequired[Number]
    memory_bytes: NotRequired[Count]
    limits: NotRequired[Limits]
    settings: NotRequired[dict[str, Text]]
    load_average: NotRequired[Finite]
    cpu_pressure: NotRequired[Finite]
    python: NotRequired[Text]
    argv: NotRequired[list[Text]]
    seed: NotRequired[Ns]
    floor: NotRequired[dict[str, Any]]


CUT_SHORT, SPOILED = "cut-short", "spoiled"
"""Folders of a run for trials that do not count: those stopped in the middle, and those spoiled."""

NUMBERED_BY = {"journeys": "journey", "streams": "request", "pings": "request"}
"""Lists of an interval whose histograms stand in intervals.hlog before those of its series, in this order,
and by which key their entries are numbered there."""

ALL_DECIDED = "the run ends"
"""Ends the reason of the event "looked at" where nothing is open. Other reasons to end are no finding."""

Status = Literal["ended", "failed", "cut short"]

Event = Literal[
    "run started",
    "contestant skipped",
    "trial planned",
    "trial started",
    "generator lost",
    "trial ended",
    "trial failed",
    "trial cut short",
    "cell repeated",
    "extra rounds planned",
    "run resumed",
    "trial set aside",
    "repeats given up",
    "looked at",
    "plan extended",
    "run stopped",
    "run ended",
]


class JournalEntry(TypedDict):
    """A line of journal.ndjson: what happened, and when. Which other keys there are depends on the event.

    run started: seed, contestants, base (the path from the run's folder to the one that the plan's commands
    count from; absolute in older runs), files (plan.toml and host.json). contestant skipped: contestant, why.
    trial planned: number, contestant, workload, round.
    trial started: number. trial ended, failed, cut short: number, why, verdict (if it ended), outcome.
    generator lost: number and the keys of LostGenerator. extra rounds planned ("cell repeated" in format 1):
    contestant, workload, why. run resumed: done, left, host. trial set aside: number, folder, and why
    where the generator or the machine had spoiled it. repeats given up: why. looked
    at (after a round of a run that goes on until all is decided): round, why. plan extended (with further
    workloads): files (plan.toml). run stopped: why.
    """

    at: Ns
    event: Event
    seed: NotRequired[Ns]
    contestants: NotRequired[list[Text]]
    base: NotRequired[Text]
    files: NotRequired[dict[str, Fingerprint]]
    number: NotRequired[Number]
    contestant: NotRequired[Text]
    workload: NotRequired[Text]
    round: NotRequired[Number]
    why: NotRequired[Text]
    verdict: NotRequired[Text]
    outcome: NotRequired[Fingerprint]
    generator: NotRequired[Number]
    of: NotRequired[Number]
    at_ns: NotRequired[Ns]
    until_ns: NotRequired[Ns | None]
    moved_to: NotRequired[Text]
    done: NotRequired[Number]
    left: NotRequired[Number]
    host: NotRequired[dict[str, Any]]
    folder: NotRequired[Text]
    crc32: NotRequired[str]


# --- a trial ------------------------------------------------------------------------------------------------


class ResourceSample(TypedDict):
    """A line of server.ndjson, peer.ndjson, database.ndjson: what a process tree used.

    CPU time and context switches are those of the whole tree since it began. None: not read this time.
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


class MachineEntry(TypedDict):
    """A line of machine.ndjson: what the machine did. Sums since some earlier moment, but for `mhz`.

    `busy_s`, `steal_s`: CPU time of the cores of the run that anybody used, and that the hypervisor gave to
    another machine. `own_cpu_s`: used by jostle and all that it started. `pressure_*`: the kernel's PSI.
    `waited_s`, `involuntary`: of the generator's threads on this machine, time runnable without a processor,
    and involuntary context switches. `mhz`: mean frequency of the cores. None: it cannot be read here.
    """

    t_ns: int
    busy_s: Finite
    steal_s: Finite
    own_cpu_s: Finite
    pressure_cpu_s: NotRequired[Finite | None]
    pressure_memory_s: NotRequired[Finite | None]
    pressure_io_s: NotRequired[Finite | None]
    waited_s: NotRequired[Finite | None]
    involuntary: NotRequired[Count | None]
    mhz: NotRequired[Finite | None]


class MemoryLimitEntry(TypedDict):
    """A limit of memory that a plan asks for. `why_not`: "" where it was set."""

    bytes: Count
    why_not: Text


class ServerDescription(TypedDict):
    """The server that was measured, or its peer: what it is and how it was started.

    `pid`, `user`, `cores`: None where it is not ours. `database`: what it was given, without the password.
    `simulated`: the plan's table, where the server was calculated and nothing was measured. `memory_limit`:
    `bytes` that its processes may hold together, and `why_not` where that could not be set ("": it was).
    `lines_of_code`: `own` ones, and those `shared` with others.
    """

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
    user: NotRequired[Text | None]
    cores: NotRequired[list[int] | None]
    needs: NotRequired[dict[str, Any]]
    database: NotRequired[dict[str, Any] | None]
    simulated: NotRequired[dict[str, Any]]
    memory_limit: NotRequired[MemoryLimitEntry]
    lines_of_code: NotRequired[dict[str, Count]]


class PlacementEntry(TypedDict):
    """Core numbers. `shared`: whether server and generator may use the same core; None where not known."""

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
    """trial.json: what was measured, and with what.

    `engine`: the specification that the engine ran (crates/engine/src/spec), without secrets; None where the
    server did not start. `before`: what the server had used before the load. `continues`: on the server of
    the trial before, which was not started anew.
    """

    format: NotRequired[int]
    number: Annotated[int, Field(ge=1, lt=2**31)]
    contestant: Text
    workload: Text
    round: Number
    title: NotRequired[Text]
    server: NotRequired[ServerDescription]
    peer: NotRequired[ServerDescription | None]
    engine: NotRequired[dict[str, Any] | None]
    placement: NotRequired[PlacementEntry]
    before: NotRequired[ResourceSample | None]
    continues: NotRequired[bool]
    started_unix_ns: NotRequired[Ns]
    generators: NotRequired[list[GeneratorEntry]]


class HistogramSummary(TypedDict):
    """Of a histogram that stands in intervals.hlog: its number of values and their maximum."""

    count: Count
    max_us: Count


class SeriesEntry(TypedDict):
    """One request name of one workload in one phase, within one interval.

    `histograms`: by measure. `outcomes`: by kind. Empty ones are left out of both. `failures`: why, by
    outcome, and how often; of a wrong status it is the code. Older records have `wrong_statuses`.
    """

    workload: Number
    request: Number
    phase: Number
    histograms: dict[str, HistogramSummary]
    outcomes: dict[str, Count]
    failures: NotRequired[dict[str, dict[str, Count]]]
    wrong_statuses: NotRequired[dict[str, Count]]
    service_sum_ns: NotRequired[Ns]
    response_sum_ns: NotRequired[Ns]
    busy_sum_ns: NotRequired[Ns]
    bytes_in: NotRequired[Count]
    bytes_out: NotRequired[Count]


class JourneyEndEntry(TypedDict):
    """Journeys that one step ended, and how that request ended."""

    step: Number
    outcome: Text
    count: Count


class JourneyEntry(TypedDict):
    """One journey of one workload: those that ended within one interval.

    `histograms`: "journey" and "journey_active" (without the pauses) of the completed ones;
    "journey_censored" of those that the end of the load cut off (`unfinished`).
    """

    workload: Number
    journey: Number
    histograms: dict[str, HistogramSummary]
    completed: Count
    unfinished: Count
    ended: list[JourneyEndEntry]


class EventStreamEntry(TypedDict):
    """The streams of events that one request of one workload asked for, within one interval.

    `histograms`: "event_first" from the intended start to the first event; "event_gap" between events;
    "event_longest_gap" and "event_last" (from the intended start) of the streams that were `whole`;
    "event_per_token" of those that say how many `tokens` they had; "event_given_up" of those that had begun
    and were given up, from the intended start ("censored" of the request has them too). `met`: whole ones
    that kept their bounds. `broken_off`: failed after their first event; `unfinished`: had begun when the
    load ended. "event_round_trip": from when a message of the client was due to its answer, where a call of
    gRPC sends them at an interval; `unanswered`: messages whose stream ended without an answer to them.
    """

    workload: Number
    request: Number
    histograms: dict[str, HistogramSummary]
    events: Count
    whole: Count
    met: Count
    tokens: Count
    broken_off: Count
    unfinished: Count
    unanswered: NotRequired[Count]


class PingEntry(TypedDict):
    """The pings over the WebSockets that one request of one workload opened, within one interval.

    `histograms`: "ping" from when a ping was due to its pong. `unanswered`: no pong came within the interval
    of the pings, and the client gave its socket up.
    """

    workload: Number
    request: Number
    histograms: dict[str, HistogramSummary]
    sent: Count
    unanswered: Count


class StreamTimesEntry(TypedDict):
    """One stream of an HTTP/2 connection; its number is 0 where it got none.

    `ready_ns`: it would have been sent, had there been a free stream; `head_ns`: the head of its answer came;
    `bytes`: of the answer. 0: that has not happened.
    """

    stream: Count
    request: Number
    ready_ns: Ns
    sent_ns: Ns
    head_ns: Ns
    end_ns: Ns
    bytes: Count


class HeadOfLineEntry(TypedDict):
    """Streams of one HTTP/2 connection that waited for one another, longer than any before on their thread.

    One of them, `stream`, was blocked for `blocked_ns` of the time from `from_ns` to `until_ns`: it had no
    free stream, or nothing of its answer while that of `behind` came (0: none did). `streams`: the latest
    ones of the connection. `elsewhere_*`: the same request on other connections of the thread, sent and
    answered within that time, and the median from its send to the head of its answer.
    """

    workload: Number
    connection: Number
    blocked_ns: Ns
    stream: Count
    behind: Count
    from_ns: Ns
    until_ns: Ns
    streams: Annotated[list[StreamTimesEntry], Field(max_length=128)]
    elsewhere_connections: Count
    elsewhere_answers: Count
    elsewhere_median_ns: Ns


class WorkloadEntry(TypedDict, total=False):
    """Of one workload within one interval; the state is that at its end.

    `resumed`: TLS handshakes that were not full ones. `excess`: answers after which bytes came that belong
    to none. `passed_over`: addresses of the host's name that did not accept while another one did.
    `redirects`: those that were followed; the request to which each led counts as one of its own.
    `stream_waits`: requests that waited for a free stream of their HTTP/2 connection before they were sent,
    `stream_wait_ns` for how long all of them together. Datagrams over UDP that were not the answer of the
    request in hand: `duplicate_answers` of one that had been answered, `late_answers` of one that had been
    given up, `overtaken_answers` those of them that came after the answer of a later request, and
    `stray_answers` of none that the client remembered.
    """

    due: Count
    sent: Count
    in_flight_ns: Ns
    in_flight: Count
    clients: Count
    connections: Count
    backlog: Count
    connects: Count
    resumed: Count
    excess: dict[str, Count]
    passed_over: dict[str, Count]
    backoffs: Count
    redirects: Count
    stream_waits: Count
    stream_wait_ns: Ns
    duplicate_answers: Count
    late_answers: Count
    overtaken_answers: Count
    stray_answers: Count


class ThreadEntry(TypedDict):
    """CPU and wall time of one thread of a generator within one interval."""

    cpu_ns: Ns
    wall_ns: Ns


PortEntry = TypedDict("PortEntry", {"from": Text, "to": Text, "held": Count})
"""Connections from one local address ("": the kernel chooses) to one destination."""


class GeneratorState(TypedDict, total=False):
    """One of several generators within one interval. `sent`: by workload."""

    generator: Number
    open_files: Count
    loop_lag_max_us: Count
    sent: list[Count]
    service: HistogramSummary | None


class IntervalEntry(TypedDict):
    """A line of intervals.ndjson: what was counted from `start_ns` to `end_ns`.

    `workloads`: those of the specification, then one for each that has steps which every client makes once.
    It is written after the histograms of the interval: where the line stands, they stand too.
    """

    index: Number
    start_ns: Ns
    end_ns: Ns
    last: bool
    series: list[SeriesEntry]
    journeys: NotRequired[list[JourneyEntry]]
    streams: NotRequired[list[EventStreamEntry]]
    pings: NotRequired[list[PingEntry]]
    head_of_line: NotRequired[list[HeadOfLineEntry]]
    workloads: list[WorkloadEntry]
    threads: list[ThreadEntry]
    loop_lag: NotRequired[HistogramSummary | None]
    open_files: NotRequired[Count]
    ports: NotRequired[list[PortEntry]]
    generators: NotRequired[list[GeneratorState]]
    tls_failures: NotRequired[dict[str, Count]]
    rows_lost: NotRequired[Count]
    workers_lost: NotRequired[Count]


class LostGenerator(TypedDict):
    """A generator that ended before its load: from `at_ns` on its share is missing.

    `until_ns`: when the node `moved_to` took it over; None: nobody did.
    """

    generator: Number
    of: Number
    at_ns: Ns
    why: Text
    until_ns: NotRequired[Ns | None]
    moved_to: NotRequired[Text]


class GarbageEntry(TypedDict):
    """What the server's runtime says of its garbage collection during the load: time, and how often."""

    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    collections: Count


class LostTime(TypedDict):
    """What happened to the time of a trial; a key is missing where nothing of the kind did.

    `suspended_ns`: how long the machine was suspended during the load. `clock_set_ns`: by how much its wall
    clock was set meanwhile; negative: back.
    """

    suspended_ns: NotRequired[Ns]
    clock_set_ns: NotRequired[int]


class OutcomeEntry(LostTime):
    """outcome.json: how the trial ended. `why`: "" where it ended as it should.

    `files`: those of the trial's folder, by their path in it, as they were when the trial ended.
    """

    status: Status
    why: NotRequired[Text]
    ended_unix_ns: NotRequired[Ns]
    server_output_tail: NotRequired[Text]
    generators_lost: NotRequired[list[LostGenerator]]
    garbage: NotRequired[GarbageEntry | None]
    files: NotRequired[dict[str, Fingerprint]]


# --- generators on other machines ---------------------------------------------------------------------------

FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,199}$")]
"""Part of a path here or on a node: never one that leads elsewhere."""


class StreamEntry(TypedDict):
    """A line of generators/streams.ndjson: which log a generator writes on its own machine.

    `copy`: what it has sent, beside this file. `from_ns`: when it took over from another one, else 0.
    """

    generator: Number
    host: Text
    log: FileName
    from_ns: Ns
    copy: FileName


class TallyEntry(TypedDict):
    """Intervals, and the requests in them, up to `until_ns`."""

    intervals: Count
    sent: Count
    until_ns: Ns


class ClockEntry(TypedDict):
    """A generator's wall clock minus the driver's after the load, to within the error."""

    offset_ns: int
    error_ns: int


class LedgerEntry(StreamEntry):
    """What one generator sent, what is in its spool only (None: not fetched), and why it is not whole."""

    streamed: TallyEntry
    only_in_log: TallyEntry | None
    whole: bool
    why: Text
    clock_after: NotRequired[ClockEntry | None]


class Ledger(TypedDict):
    """generators/accounts.json."""

    accounts: list[LedgerEntry]


EXPLAINED = "explained"
"""The folder of a run with a record and a page for each contestant that was explained after it."""


class Explained(TypedDict):
    """Of an explanation (docs/explanation.schema.json) what a report shows."""

    target: str
    paragraph: str


FILES: dict[str, Any] = {
    "host.json": HostFacts,
    "journal.ndjson": JournalEntry,
    "trial.json": TrialDescription,
    "intervals.ndjson": IntervalEntry,
    "outcome.json": OutcomeEntry,
    "server.ndjson": ResourceSample,
    "peer.ndjson": ResourceSample,
    "database.ndjson": ResourceSample,
    "machine.ndjson": MachineEntry,
    "generators/streams.ndjson": StreamEntry,
    "generators/accounts.json": Ledger,
}
"""The type of each JSON file; of a line where the name ends in .ndjson."""
