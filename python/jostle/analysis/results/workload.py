"""One contestant under one workload, over all rounds, and pairs of workloads on one contestant."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from jostle.analysis.results.estimate import Distribution, Estimate
from jostle.record.verdict import Verdict

__all__ = [
    "Garbage",
    "Goodput",
    "Mode",
    "PublishedFigure",
    "RatioResult",
    "StarvationResult",
    "Threads",
    "Times",
    "WorkloadSummary",
]


@dataclass(frozen=True)
class WorkloadSummary:
    """One workload on one contestant, over all rounds. Intervals are over rounds if there are ≥ 2."""

    contestant: str
    workload: str
    title: str
    rounds: int
    verdict: Verdict
    throughput: Estimate  # unit "/s"
    response: dict[str, Estimate]
    service: dict[str, Estimate]
    outcomes: dict[str, int]
    error_share: float
    response_distribution: Distribution
    service_distribution: Distribution
    server_cpu_s_per_request: Estimate
    server_rss_max_bytes: float | None
    trials: list[int]  # numbers
    quartiles: dict[str, Estimate] = field(default_factory=dict)
    """The first and third quartile of `response`: "p25" and "p75"."""
    response_of_all_requests: dict[str, Estimate] = field(default_factory=dict)
    """Quantiles of the requests of all rounds together; those of a typical start are in `response`."""
    parts: dict[str, dict[str, Estimate]] = field(default_factory=dict)
    """Quantiles of the parts of the times, over rounds: connect, containing dns, tcp, tls; headers; body."""
    failures: dict[str, dict[str, int]] = field(default_factory=dict)
    """Why requests failed, by outcome, most frequent first; for `wrong_status`, the code."""
    statuses: dict[str, dict[str, int]] = field(default_factory=dict)
    """Right responses by request name and status. Empty for older records, and where there are no
    statuses."""
    disturbed: list[str] = field(default_factory=list)
    """Figures, by their names in plans, that others or the generator made much worse in some trial."""
    kept_waiting: float = 0.0
    """The largest share of a trial's time for which others kept server or generator from a core, or the
    generator stood still, where the intervals hold what the figures would be without it; else 0."""
    unavailable: float = 0.0
    """The share of the time in which the server was away, over all rounds."""
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    """The verdicts on single figures, by their names in plans, if they are not all the same."""

    @property
    def all_statuses(self) -> dict[str, int]:
        """Right responses to all requests by status."""
        return dict(sum(map(Counter, self.statuses.values()), Counter()))

    def verdict_of(self, figure: str) -> Verdict:
        """Whether this figure can be trusted, by its name in plans."""
        return self.verdicts.get(figure, self.verdict)


@dataclass(frozen=True)
class PublishedFigure:
    """A published figure with the measured one beside it; one for each contestant that it means."""

    contestant: str
    metric: str
    value: float
    unit: str
    source: str
    workload: str = ""
    note: str = ""
    beside: str = ""  # the contestant or variant that was measured; "": none was
    measured: Estimate | None = None  # the same metric here, over all rounds; None: not measured

    @property
    def amount(self) -> float | None:
        """The value in the base unit of its metric; None if its unit does not fit the metric."""
        from jostle.plan.criteria.claims import in_base_unit  # imported late: plans take long to import

        return in_base_unit(self.value, self.unit, self.metric)


@dataclass(frozen=True)
class Mode:
    """Rounds that are alike in a share: of the throughput alone that is left beside a slow request, or of the
    longest median.
    """

    rounds: int
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class StarvationResult:
    """What one slow request does to the fast ones of one contestant, in one form of the experiment.

    `index` is 1 − with/alone, 0 (unharmed) to 1 (starved); `left` is the throughput while the slow request
    runs ÷ that in the rest of the same trial; `blocking` is (p99 with slow − p99 alone) / the time of the
    slow request alone; above 1, fast requests queue behind several slow ones.
    """

    form: str
    title: str
    contestant: str
    alone_workload: str
    with_workload: str
    alone: Estimate  # fast requests per second
    with_slow: Estimate
    index: Estimate
    left: Estimate  # no value if the slow request runs until the end
    blocking: Estimate
    slow_s: Estimate  # the slow request by itself
    alone_response: dict[str, Estimate]
    with_response: dict[str, Estimate]
    published_alone: PublishedFigure | None
    published_with: PublishedFigure | None
    sentence: str
    modes: list[Mode] = field(default_factory=list)  # two, the lower first, if rounds form two groups
    slow_workload: str = ""  # of the slow request by itself; "" if it was never answered there


@dataclass(frozen=True)
class RatioResult:
    """A metric of one contestant under one workload against the same under another; paired by round."""

    title: str
    metric: str
    contestant: str
    workload: str
    against: str
    value: Estimate
    against_value: Estimate
    ratio: Estimate
    published: float | None  # both in the same unit
    published_against: float | None


@dataclass(frozen=True)
class Threads:
    """What a thread of one contestant costs, seen from outside."""

    contestant: str
    workload: str
    count: int  # threads per request
    memory_bytes: Estimate  # per thread
    virtual_bytes: Estimate  # of address space, per thread
    time_s: Estimate  # per thread
    before_bytes: Estimate  # of the whole server
    peak_bytes: Estimate
    published_bytes: float | None  # per thread


@dataclass(frozen=True)
class Garbage:
    """What the runtime of one contestant reports about its garbage collection under one workload."""

    contestant: str
    workload: str
    share: Estimate  # of the load's time
    collections_per_1000: Estimate  # for each 1,000 responses


@dataclass(frozen=True)
class Goodput:
    """What clients that do not wait for ever got from one contestant under one workload; means over rounds.

    `hits` and `timeouts` are requests in a trial; `least_per_s` and `most_per_s` are hits in a second of it.
    """

    contestant: str
    workload: str
    timeout_s: float | None
    database: dict[str, Any]  # delay_ms, pool, index, customers as far as known; {} without a database
    hits: Estimate
    timeouts: Estimate
    least_per_s: Estimate
    most_per_s: Estimate
    goodput: Estimate  # answered within the timeout, counted from when it was due
    dispersion: Estimate  # standard deviation over mean of the throughput per second
    database_cpu_s_per_request: Estimate


@dataclass(frozen=True)
class Times:
    """Figures of `n` times, in seconds; None if there were none."""

    n: int
    mean_s: float | None
    p50_s: float | None
    p90_s: float | None
    p99_s: float | None
    max_s: float | None
