"""A line of intervals.ndjson: what a generator counted within one interval."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from jostle.record.values import Count, Ns, Number, Text

__all__ = ["NUMBERED_BY", "HistogramSummary", "IntervalEntry", "SeriesEntry", "ThreadEntry"]

NUMBERED_BY = {"journeys": "journey", "streams": "request", "pings": "request"}
"""Lists of an interval whose histograms precede those of its series in intervals.hlog, in this order, and the
key by which their entries are numbered there."""


class HistogramSummary(TypedDict):
    """A histogram of intervals.hlog, reduced to its number of values and their maximum."""

    count: Count
    max_us: Count


class SeriesEntry(TypedDict):
    """One request name of one workload in one phase, within one interval. What is empty is left out of it."""

    workload: Number
    request: Number
    phase: Number
    histograms: dict[str, HistogramSummary]
    """By measure."""
    outcomes: dict[str, Count]
    """By kind."""
    statuses: NotRequired[dict[str, Count]]
    """Of the right responses, by code."""
    failures: NotRequired[dict[str, dict[str, Count]]]
    """The reasons by outcome, and how often; for a wrong status, the code. Older records have
    `wrong_statuses`."""
    wrong_statuses: NotRequired[dict[str, Count]]
    refused: NotRequired[Text]
    """Method and path of one request with a wrong status, as they were sent, unless they hold a secret."""
    service_sum_ns: NotRequired[Ns]
    response_sum_ns: NotRequired[Ns]
    busy_sum_ns: NotRequired[Ns]
    bytes_in: NotRequired[Count]
    bytes_out: NotRequired[Count]


class JourneyEndEntry(TypedDict):
    """Number of journeys that one step ended with the same outcome of its request."""

    step: Number
    outcome: Text
    count: Count


class JourneyEntry(TypedDict):
    """One journey of one workload: its iterations that ended within one interval.

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
    """The streams of events that one request of one workload asked for, within one interval."""

    workload: Number
    request: Number
    histograms: dict[str, HistogramSummary]
    """Of "event_first", from the intended start to the first event; of "event_gap", between events; of
    "event_longest_gap" and "event_last" (from the intended start), of the streams that were `whole`; of
    "event_per_token", of those that say how many `tokens` they had; of "event_given_up", of those that had
    begun and were given up, from the intended start ("censored" of the request has them too); of
    "event_round_trip", from when a message of the client was due to its response, if a gRPC call sends
    messages periodically."""
    events: Count
    whole: Count
    met: Count
    """Whole ones that kept their bounds."""
    tokens: Count
    without_tokens: NotRequired[Count]
    """Whole ones that were to say how many tokens they had, and did not."""
    broken_off: Count
    """Failed after their first event."""
    unfinished: Count
    """Had begun when the load ended."""
    unanswered: NotRequired[Count]
    """Messages whose stream ended before their response."""


class PingEntry(TypedDict):
    """The pings over the WebSockets that one request of one workload opened, within one interval."""

    workload: Number
    request: Number
    histograms: dict[str, HistogramSummary]
    """Of "ping", from when a ping was due to its pong."""
    sent: Count
    unanswered: Count
    """No pong came within the interval of the pings, and the client gave up its socket."""


class StreamTimesEntry(TypedDict):
    """One stream of an HTTP/2 connection; its number is 0 if it got none. Times are 0 until they come."""

    stream: Count
    request: Number
    ready_ns: Ns
    """When it would have been sent, had there been a free stream."""
    sent_ns: Ns
    head_ns: Ns
    """When the head of its response came."""
    end_ns: Ns
    bytes: Count
    """The length of the response."""


class HeadOfLineEntry(TypedDict):
    """Streams of one HTTP/2 connection that waited for one another, longer than any before on their thread.

    One of them, `stream`, was blocked for `blocked_ns` of the time from `from_ns` to `until_ns`: it had no
    free stream, or got nothing of its response while that of `behind` came (0: none did). `streams`: the
    latest ones of the connection. `elsewhere_*`: the same request on other connections of the thread, sent
    and answered within that time, and the median from its send to the head of its response.
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
    """One workload within one interval; the state is that at its end."""

    due: Count
    sent: Count
    in_flight_ns: Ns
    in_flight: Count
    clients: Count
    connections: Count
    backlog: Count
    connects: Count
    resumed: Count
    """Resumed TLS handshakes."""
    excess: dict[str, Count]
    """Responses that were followed by bytes which belong to none."""
    dismissals: NotRequired[dict[str, Count]]
    """Idle connections that the server ended with a response, by its status."""
    passed_over: dict[str, Count]
    """Addresses of the host that did not accept a connection while another one did."""
    backoffs: Count
    redirects: Count
    """Those that were followed; the request to which each led is counted separately."""
    resent: Count
    """Requests that an HTTP/2 server announced not to have processed, and that were sent again."""
    stream_waits: Count
    """Requests that waited for a free stream of their HTTP/2 connection before they were sent."""
    stream_wait_ns: Ns
    """For how long these waited, all of them together."""
    duplicate_answers: Count
    """Datagrams over UDP in answer to a request that had been answered."""
    late_answers: Count
    """Datagrams over UDP in answer to a request that had been given up."""
    overtaken_answers: Count
    """Duplicate and late ones that came after the response to a later request."""
    stray_answers: Count
    """Datagrams over UDP in answer to no request that the client remembered."""


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
    The line is written after the histograms of the interval: if it is there, they are there too.
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
