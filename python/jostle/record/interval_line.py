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
    """One request name of one workload in one phase, within one interval.

    `histograms`: by measure. `outcomes`: by kind. Empty ones are left out of both. `statuses`: of the right
    responses, by code. `failures`: the reasons by outcome, and how often; for a wrong status, the code. Older
    records have `wrong_statuses`. `refused`: method and path of one request with a wrong status, as they were
    sent, unless they hold a secret.
    """

    workload: Number
    request: Number
    phase: Number
    histograms: dict[str, HistogramSummary]
    outcomes: dict[str, Count]
    statuses: NotRequired[dict[str, Count]]
    failures: NotRequired[dict[str, dict[str, Count]]]
    wrong_statuses: NotRequired[dict[str, Count]]
    refused: NotRequired[Text]
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
    """The streams of events that one request of one workload asked for, within one interval.

    `histograms`: "event_first" from the intended start to the first event; "event_gap" between events;
    "event_longest_gap" and "event_last" (from the intended start) of the streams that were `whole`;
    "event_per_token" of those that say how many `tokens` they had (`without_tokens`: whole ones that were to
    say it, and did not); "event_given_up" of those that had begun
    and were given up, from the intended start ("censored" of the request has them too). `met`: whole ones
    that kept their bounds. `broken_off`: failed after their first event; `unfinished`: had begun when the
    load ended. "event_round_trip": from when a message of the client was due to its response, if a gRPC call
    sends messages periodically; `unanswered`: messages whose stream ended before their response.
    """

    workload: Number
    request: Number
    histograms: dict[str, HistogramSummary]
    events: Count
    whole: Count
    met: Count
    tokens: Count
    without_tokens: NotRequired[Count]
    broken_off: Count
    unfinished: Count
    unanswered: NotRequired[Count]


class PingEntry(TypedDict):
    """The pings over the WebSockets that one request of one workload opened, within one interval.

    `histograms`: "ping" from when a ping was due to its pong. `unanswered`: no pong came within the interval
    of the pings, and the client gave up its socket.
    """

    workload: Number
    request: Number
    histograms: dict[str, HistogramSummary]
    sent: Count
    unanswered: Count


class StreamTimesEntry(TypedDict):
    """One stream of an HTTP/2 connection; its number is 0 if it got none.

    `ready_ns`: when it would have been sent, had there been a free stream; `head_ns`: when the head of its
    response came; `bytes`: the response's length. 0: that has not happened.
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
    """One workload within one interval; the state is that at its end.

    `resumed`: resumed TLS handshakes. `excess`: responses that were followed by bytes which belong to none.
    `dismissals`: idle connections that the server ended with a response, by its status.
    `passed_over`: addresses of the host that did not accept a connection while another one did. `redirects`:
    those that were followed; the request to which each led is counted separately. `resent`: requests that an
    HTTP/2 server announced not to have processed, and that were sent again. `stream_waits`: requests that
    waited for a free stream of their HTTP/2 connection before they were sent; `stream_wait_ns`: for how long,
    all of them together. Datagrams over UDP that did not answer the request in flight: `duplicate_answers` to
    a request that had been answered, `late_answers` to one that had been given up, `overtaken_answers` those
    of them that came after the response to a later request, and `stray_answers` to no request that the client
    remembered.
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
    dismissals: NotRequired[dict[str, Count]]
    passed_over: dict[str, Count]
    backoffs: Count
    redirects: Count
    resent: Count
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
