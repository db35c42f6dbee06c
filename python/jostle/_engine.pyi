"""The typed boundary to the Rust engine (`crates/bindings`)."""

from typing import Literal, NotRequired, TypedDict

class Hist(TypedDict):
    """A HdrHistogram of microseconds, 1 µs to 1 h, 3 digits."""

    v2: bytes  # V2 encoding, deflated: in base64 it is what an .hlog file holds
    count: int
    max_us: int

class Series(TypedDict):
    """One request name of one workload in one phase, within one interval.

    Texts are at most 200 characters, and at most 8 for each outcome; further ones are counted under "other".
    """

    workload: int
    request: int
    phase: int
    histograms: dict[str, Hist]  # by measure; empty ones are left out
    outcomes: dict[str, int]  # by kind; zeros are left out
    statuses: dict[str, int]  # of the right responses; none for protocols that have no status
    failures: dict[str, dict[str, int]]  # by outcome: why, and how often; of "wrong_status" it is the code
    refused: NotRequired[str]  # method and path of one request with a wrong status, as they were sent
    service_sum_ns: int
    response_sum_ns: int
    busy_sum_ns: int
    bytes_in: int
    bytes_out: int

class WorkloadState(TypedDict):
    due: int
    sent: int
    in_flight_ns: int
    in_flight: int
    clients: int
    connections: int
    backlog: int
    connects: int
    resumed: int  # TLS handshakes that resumed an earlier session of the same client; all others were full
    excess: dict[str, int]  # responses after which bytes came that belong to none
    dismissals: dict[str, int]  # idle connections that the server ended with a response, by its status
    passed_over: dict[str, int]  # addresses of the host's name that did not accept while another one did
    backoffs: int  # waits of closed clients after a failed connect
    redirects: int  # that were followed: the request to which each led counts as one of its own
    resent: int  # requests that were sent again because the server had not processed them (HTTP/2)
    stream_waits: int  # requests that had to wait for a free stream of their connection (HTTP/2)
    stream_wait_ns: int  # how long all of them together
    duplicate_answers: int  # datagrams whose request had been answered before
    late_answers: int  # datagrams whose request had been given up
    overtaken_answers: int  # those of them that came after the response of a later request
    stray_answers: int  # datagrams that answered no request which their client remembered

class JourneyEnd(TypedDict):
    """Journeys that one step ended, in one way."""

    step: int
    outcome: str
    count: int

class JourneySeries(TypedDict):
    """One journey of one workload: those that ended within one interval."""

    workload: int
    journey: int
    histograms: dict[str, Hist]  # "journey", "journey_active", "journey_censored"; empty ones are left out
    completed: int
    unfinished: int  # cut off by the end of the load
    ended: list[JourneyEnd]

class StreamSeries(TypedDict):
    """The streams of events of one request: an event counts where it came, a stream where it ended.

    `histograms`: "event_first", "event_gap", "event_longest_gap", "event_last", "event_per_token" and
    "event_given_up".
    """

    workload: int
    request: int
    histograms: dict[str, Hist]
    events: int
    whole: int
    met: int  # whole ones that kept their bounds
    tokens: int  # as the whole ones say themselves
    without_tokens: int  # whole ones that were to say it, and did not
    broken_off: int  # failed after their first event
    unfinished: int  # had begun, and were cut off by the end of the load
    unanswered: int

class PingSeries(TypedDict):
    """The pings over the WebSockets that one request of one workload opened, within one interval."""

    workload: int
    request: int
    histograms: dict[str, Hist]  # "ping": a ping is due → its pong
    sent: int
    unanswered: int  # no pong within the interval: the client gave its socket up

class StreamTimes(TypedDict):
    """One stream of an HTTP/2 connection. Times in ns from the start of the run; 0: it has not happened."""

    stream: int
    request: int
    ready_ns: int
    sent_ns: int
    head_ns: int
    end_ns: int
    bytes: int

class HeadOfLine(TypedDict):
    """Streams of one HTTP/2 connection that waited for one another, longer than any before."""

    workload: int
    connection: int
    blocked_ns: int
    stream: int
    behind: int  # 0: they waited for a free stream
    from_ns: int
    until_ns: int
    streams: list[StreamTimes]
    elsewhere_connections: int
    elsewhere_answers: int
    elsewhere_median_ns: int

class Trace(TypedDict):
    """One request of a journey and its response, each up to 16 KiB; where the specification has `trace`."""

    journey: int
    step: int
    intended_ns: int
    end_ns: int  # 0 without a whole response
    outcome: str
    why: str
    request: bytes
    head: bytes
    body: bytes
    body_bytes: int  # of the whole body
    notes: list[str]  # cookies that are not kept, or not sent everywhere
    captured: dict[str, bytes]

class ThreadState(TypedDict):
    cpu_ns: int
    wall_ns: int

class Rows(TypedDict):
    """Columns of equal length, little-endian: u16, u16, u32, u64, u64, u64, u64, u8, u16, u64."""

    workload: bytes
    request: bytes
    client: bytes
    intended_ns: bytes
    sent_ns: bytes
    headers_ns: bytes
    end_ns: bytes
    outcome: bytes
    status: bytes
    bytes: bytes

PortUse = TypedDict("PortUse", {"from": str, "to": str, "held": int})
"""Connections from one local address ("": the kernel chooses) to one destination; each holds a port of it."""

class GeneratorState(TypedDict):
    """One of several generator processes, within one interval. Its threads stand among those of all."""

    generator: int  # from 1
    open_files: int
    loop_lag_max_us: int
    sent: list[int]  # by workload
    service: Hist | None  # of the measured workload

class Interval(TypedDict):
    index: int
    start_ns: int
    end_ns: int
    last: bool
    open_files: int
    ports: list[PortUse]  # at the end of the interval
    loop_lag: Hist | None
    series: list[Series]
    journeys: list[JourneySeries]
    streams: NotRequired[list[StreamSeries]]  # where responses are streams of events
    pings: NotRequired[list[PingSeries]]  # where clients ping their WebSockets
    head_of_line: NotRequired[list[HeadOfLine]]  # where clients share HTTP/2 connections
    traces: NotRequired[list[Trace]]
    workloads: list[WorkloadState]  # those of the specification, then those of steps that clients make once
    threads: list[ThreadState]
    generators: NotRequired[list[GeneratorState]]  # where there are several
    rows: Rows | None
    rows_lost: int  # left out: nobody fetched them, or too many requests were never sent
    workers_lost: int  # threads that have died so far

class Simulation:
    """A simulated run: `RunSpec` and `ServerSpec` of the crates as JSON. Raises `ValueError`."""

    def __init__(self, spec_json: str, server_json: str) -> None: ...
    def next_interval(self) -> Interval | None:
        """Calculates the next one; None after the last."""

class Run:
    """A run of the engine in threads of its own.

    Raises ValueError for a specification that cannot run, OSError where no further thread can be started.
    """

    def __init__(self, spec_json: str) -> None: ...
    def next_interval(self, timeout_s: float) -> Interval | None: ...
    def steer(
        self, workload: int, change_json: str, at_ns: int | None = None
    ) -> tuple[int, Literal["rate", "clients", "phase"], float]:
        """Change the load of a workload (`Change` of the crate) from `at_ns` after the start on; None: soon.

        From when on, and what it does then. Raises ValueError for a change that cannot be made.
        """

    def stop(self) -> None: ...
    @property
    def started_unix_ns(self) -> int: ...

def merge_v2(parts: list[bytes]) -> Hist | None:
    """The sum of several `Hist["v2"]`, exactly; None when nothing is in them. Raises ValueError."""

def compile_protos(files: list[str], imports: list[str]) -> bytes:
    """The `FileDescriptorSet` of `.proto` files and of what they import from there. Raises ValueError."""

def grpc_methods(schema: bytes) -> list[tuple[str, bool, bool]]:
    """Each as it is called, "package.Service/Method", and whether it takes and gives a stream of messages."""

def grpc_reflected(
    target_json: str, service: str, types: list[str], metadata: list[tuple[str, str]], patience_s: float
) -> tuple[bytes | None, list[str]]:
    """The `FileDescriptorSet` of a service as the server of this `TargetSpec` has it; else its services.

    `types`: messages that are asked for as well, and left out if the server does not know them. `metadata`:
    goes with each question. Raises PermissionError if the server wants to know first who asks, ValueError if
    what it says cannot be read, and ConnectionError if it says nothing.
    """

def grpc_refusal(
    schema: bytes, method: str, message_json: str
) -> tuple[str, str, tuple[str, list[str]] | None] | None:
    """Why the method does not take this message, or list of messages; None if it does.

    Where in it, why, and a field that is not there with those that are.
    """

def script_requests(file: str, source: str) -> list[tuple[str, str, list[int], bool]]:
    """Method, name and accepted statuses of each request of a Luau script, in the order of their numbers, and
    whether it may ask for a whole URL.

    Raises ValueError for a script that cannot run, with the line in `file`.
    """

def burst_answers(
    discipline_json: str, bursts: list[list[tuple[int, int, int]]], seed: int, room: int | None = None
) -> list[list[int | None]]:
    """When each request of each burst is answered, in ns: `DisciplineSpec` of the simulator as JSON.

    A request is when it arrives (ns), what service it demands (ns), and its connection; the server is idle at
    the beginning. None: it found `room` others there, and was refused. `seed`: of a random order. Raises
    ValueError.
    """
