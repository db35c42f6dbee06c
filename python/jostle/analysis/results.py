"""What the analysis of a run says: plain data, the same for the terminal, the page and the exports.

Units stand in the field names: `_s` seconds, `_per_s` per second, `_bytes` bytes; shares are 0 to 1.
"""

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from jostle.record.verdict import Verdict

__all__ = [
    "Check",
    "Claim",
    "CompareResult",
    "Comparison",
    "ConditionResult",
    "CriterionResult",
    "Decision",
    "Difference",
    "Distribution",
    "EarlierRun",
    "Estimate",
    "Finding",
    "Goodput",
    "Mode",
    "Phase",
    "PhaseSummary",
    "PhasedLoad",
    "PhasedTimeline",
    "PublishedFigure",
    "Ratio",
    "Requirement",
    "RunResult",
    "Shift",
    "Starvation",
    "Threads",
    "Timeline",
    "Times",
    "TrialResult",
    "Validity",
    "WorkloadSummary",
]

Decision = Literal["pass", "fail", "cannot tell"]

Finding = Literal["less", "more", "same", "unclear"]

FORMAT = 1
"""Version of the JSON form of `RunResult`."""


@dataclass(frozen=True)
class Estimate:
    """A figure with its 95 % interval.

    `bound` is "≥" where the sample can only bound the value from below (`high` is then None). `value` is None
    where nothing can be said; `note` then says why (for example how many samples it would need).
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    unit: str = "s"
    bound: Literal["", "≥"] = ""
    n: int = 0
    note: str = ""
    this_run_only: bool = False  # of one round: it says what happened, and nothing may be decided by it


@dataclass(frozen=True)
class Check:
    """One validity check: a measured value beside its threshold, and what to do when it fails."""

    name: str
    verdict: Verdict
    value: float | None
    threshold: float | None
    unit: str
    message: str
    remedy: str = ""


@dataclass(frozen=True)
class Validity:
    """`verdict` is the worst of the checks."""

    verdict: Verdict
    checks: list[Check]

    @property
    def reasons(self) -> list[str]:
        """What the failed checks say, worst first."""
        failed = [c for c in self.checks if c.verdict is not Verdict.VALID]
        return [c.message for c in sorted(failed, key=lambda c: -c.verdict.rank)]


@dataclass(frozen=True)
class Distribution:
    """The shape of a set of times, ready to draw. All lists may be empty when there is nothing to show."""

    n: int
    mean_s: float | None
    min_s: float | None
    max_s: float | None
    density_x_s: list[float] = field(default_factory=list)  # ascending, log-spaced
    density: list[float] = field(default_factory=list)  # per e-fold; empty when n < 50
    quantile_p: list[float] = field(default_factory=list)  # 0 … 1 − 1/n, denser towards 1
    quantile_s: list[float] = field(default_factory=list)
    letter_depth: list[int] = field(default_factory=list)  # 1 = median, 2 = fourths, …
    letter_low_s: list[float] = field(default_factory=list)
    letter_high_s: list[float] = field(default_factory=list)
    values_s: list[float] = field(default_factory=list)  # every value, only when n < 50 (rug)


@dataclass(frozen=True)
class Phase:
    """A part of a trial with a load of its own; seconds from the trial's start."""

    name: str
    start_s: float
    end_s: float


@dataclass(frozen=True)
class GeneratorStats:
    """What the generator saw of itself, per interval as in the timeline it stands in."""

    pacing_p99_s: list[float | None] = field(default_factory=list)  # intended start to when its code ran
    loop_lag_max_s: list[float] = field(default_factory=list)  # how late its own timers fired
    bytes_in_per_s: list[float] = field(default_factory=list)
    bytes_out_per_s: list[float] = field(default_factory=list)
    open_files: list[int] = field(default_factory=list)  # of the fullest process
    local_ports: list[int] = field(default_factory=list)  # of the fullest address, to one destination
    open_files_limit: int = 0
    local_ports_limit: int = 0


@dataclass(frozen=True)
class Timeline:
    """Per interval, from the start of the trial. Lists of equal length; None where it was not measured."""

    t_s: list[float]  # middle of the interval
    throughput_per_s: list[float]
    errors_per_s: list[float]
    p50_s: list[float | None]
    p99_s: list[float | None]
    max_s: list[float | None]
    clients: list[int | None]  # at the end of the interval; None at the end of the trial, where all leave
    in_flight: list[float]  # mean over the interval
    generator_cpu: list[float]  # busiest thread, share of one core
    server_t_s: list[float]  # own axis: vitals are taken at their own times
    server_cpu: list[float]  # cores in use by the whole process tree
    server_rss_bytes: list[float]
    phases: list[Phase] = field(default_factory=list)  # empty where the load is the same throughout
    generator: GeneratorStats = field(default_factory=GeneratorStats)


@dataclass(frozen=True)
class TrialResult:
    """One workload on one contestant, once."""

    number: int
    contestant: str
    workload: str
    round: int
    status: Literal["ended", "failed", "cut short"]
    reason: str  # of a failure; "" otherwise
    validity: Validity
    duration_s: float
    throughput_per_s: float  # completed as expected
    offered_per_s: float | None  # open loop: due per second
    response: dict[str, Estimate]  # "p50", "p90", "p99", "p99.9", "max"
    service: dict[str, Estimate]
    outcomes: dict[str, int]  # by kind, without the zeros
    error_share: float
    background: dict[str, Any]  # of the background workload: requests, ok, service_mean_s, …; {} if none
    generator_cpu: float  # share of one core, busiest thread
    lag_p99_s: float | None
    server_cpu_s_per_request: float | None
    server_rss_max_bytes: float | None
    trend: Literal["", "flat", "warm-up", "slowdown", "none"]  # of the medians over time; "": too short
    timeline: Timeline
    server: dict[str, Any]  # label, versions, variants, cores
    requests: list[dict[str, Any]]  # per request name: name, outcomes, response quantiles


@dataclass(frozen=True)
class WorkloadSummary:
    """One workload on one contestant, over all rounds. Intervals are over rounds where there are ≥ 2."""

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
    response_of_all_requests: dict[str, Estimate] = field(default_factory=dict)
    """Of the requests of all rounds together: another figure than `response`, which is of a typical start."""
    parts: dict[str, dict[str, Estimate]] = field(default_factory=dict)
    """What the times are made of, pooled over rounds: connect, and dns, tcp, tls of it; headers, body."""
    failures: dict[str, dict[str, int]] = field(default_factory=dict)
    """Why requests failed, by outcome, most frequent first; of `wrong_status` it is the code."""


@dataclass(frozen=True)
class PublishedFigure:
    """A figure as published, beside which the measured one stands; once for each contestant that it means."""

    contestant: str
    quantity: str
    value: float
    unit: str
    source: str
    workload: str = ""
    note: str = ""
    beside: str = ""  # whose measured one it is, which may be a variant of the contestant; "": not measured
    measured: Estimate | None = None  # the same quantity here, over all rounds; None: not measured

    @property
    def amount(self) -> float | None:
        """In the base unit of its quantity; None where its unit is not one of the quantity."""
        from jostle.plan.claims import in_base_unit  # late: plans take long to import

        return in_base_unit(self.value, self.unit, self.quantity)


@dataclass(frozen=True)
class Mode:
    """Rounds that went alike: the share of the throughput alone that is left beside a slow request."""

    rounds: int
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Starvation:
    """What one slow request does to the fast ones of one contestant, in one form of the experiment.

    `index` is 1 − with/alone, 0 (unharmed) to 1 (starved); `blocking` is
    (p99 with slow − p99 alone) / slow request's time alone, 0 to 1 (METHOD: indices).
    """

    form: str
    title: str
    contestant: str
    alone_workload: str
    with_workload: str
    alone: Estimate  # fast requests per second
    with_slow: Estimate
    index: Estimate
    blocking: Estimate
    slow_s: Estimate  # the slow request by itself
    alone_response: dict[str, Estimate]
    with_response: dict[str, Estimate]
    published_alone: PublishedFigure | None
    published_with: PublishedFigure | None
    sentence: str
    modes: list[Mode] = field(default_factory=list)  # two, the lower first, where the rounds fall into two


@dataclass(frozen=True)
class Difference:
    """One quantity of two contestants: `difference` is b - a in the quantity's own unit, `ratio` is b / a."""

    quantity: str  # "throughput", "p50", …, "errors"
    a: Estimate
    b: Estimate
    difference: Estimate
    ratio: Estimate
    finding: Finding  # b against a; "same": to within `within`
    within: float | None  # no difference larger than this share; None where nothing bounds it
    sentence: str


@dataclass(frozen=True)
class Shift:
    """Δ(p) = Q_b(p) - Q_a(p) in seconds. The bands hold for all p at once; None is unknown."""

    p: list[float] = field(default_factory=list)
    a_s: list[float | None] = field(default_factory=list)
    b_s: list[float | None] = field(default_factory=list)
    difference_s: list[float | None] = field(default_factory=list)
    low_s: list[float | None] = field(default_factory=list)
    high_s: list[float | None] = field(default_factory=list)


@dataclass(frozen=True)
class Comparison:
    """One workload on two contestants, or on one contestant in two runs.

    `cliffs_delta` is P(a request of b takes longer) - P(it takes less), -1 to 1.
    """

    workload: str
    title: str
    a: str
    b: str
    rounds: tuple[int, int]
    paired: bool  # by round: both were measured in the same rounds of one run
    verdict: Verdict  # the worse of both
    differences: list[Difference]
    cliffs_delta: Estimate
    shift: Shift
    sentence: str


@dataclass(frozen=True)
class Requirement:
    """A `[[require]]` of the plan on one workload of one contestant: the interval decides, not the value."""

    that: str
    contestant: str
    workload: str
    confidence: float
    estimate: Estimate  # its interval has this confidence
    limit: float
    verdict: Decision
    message: str


@dataclass(frozen=True)
class Ratio:
    """A quantity of one contestant under one workload, beside the same under another; paired by round."""

    title: str
    quantity: str
    contestant: str
    workload: str
    against: str
    value: Estimate
    against_value: Estimate
    ratio: Estimate
    published: float | None  # both in the unit of the article
    published_against: float | None


@dataclass(frozen=True)
class Threads:
    """What a thread of one contestant costs, seen from outside."""

    contestant: str
    workload: str
    count: int  # threads per request
    memory_bytes: Estimate  # per thread
    time_s: Estimate  # per thread
    before_bytes: Estimate  # of the whole server
    peak_bytes: Estimate
    published_bytes: float | None  # per thread


@dataclass(frozen=True)
class EarlierRun:
    """A run of the load before the measured one, on the same started server; over all rounds."""

    contestant: str
    workload: str
    run: int  # from 1
    throughput: Estimate
    response: dict[str, Estimate]
    error_share: float


@dataclass(frozen=True)
class Goodput:
    """What clients that do not wait for ever got of one contestant under one workload; means over rounds.

    `hits` and `timeouts` are requests in a trial; `least_per_s` and `most_per_s` are hits in a second of it.
    """

    contestant: str
    workload: str
    timeout_s: float | None
    database: dict[str, Any]  # delay_ms, pool, index, customers as they are known; {} where there was none
    hits: Estimate
    timeouts: Estimate
    least_per_s: Estimate
    most_per_s: Estimate
    goodput: Estimate  # answered within the timeout, counted from when it was due
    dispersion: Estimate  # standard deviation over mean of the throughput per second
    database_cpu_s_per_request: Estimate


@dataclass(frozen=True)
class Times:
    """Times of so many things, in seconds; None where there were none."""

    n: int
    mean_s: float | None
    p50_s: float | None
    p90_s: float | None
    p99_s: float | None
    max_s: float | None


@dataclass(frozen=True)
class PhaseSummary:
    """How one phase of a load went on one contestant, over all rounds; the last one is the whole load."""

    name: str
    length_s: float
    open_most: int  # connections at once
    open_mean: float
    throughput_per_s: float
    error_share: float
    connect: Times  # to open a connection
    headers: Times  # from the send to the end of the answer's headers
    body: Times  # from there to the last byte
    to_server_per_s: float  # bytes
    from_server_per_s: float
    server_cpu: float | None  # cores in use
    generator_cpu: float


@dataclass(frozen=True)
class PhasedTimeline:
    """One trial over time, per interval as in `Timeline`."""

    trial: int
    t_s: list[float]
    clients: list[int | None]  # that are to be there
    open: list[int | None]  # connections
    throughput_per_s: list[float]
    connect_mean_s: list[float | None]
    connect_p99_s: list[float | None]
    headers_mean_s: list[float | None]
    headers_p99_s: list[float | None]
    body_mean_s: list[float | None]
    body_p99_s: list[float | None]
    to_server_per_s: list[float]  # bytes
    from_server_per_s: list[float]
    generator_cpu: list[float]  # cores in use by all threads
    server_t_s: list[float]  # own axis
    server_cpu: list[float]
    phases: list[Phase]


@dataclass(frozen=True)
class PhasedLoad:
    """A load with phases on one contestant: did it hold the clients that came, and how did each phase go?"""

    contestant: str
    workload: str
    title: str
    asked: int | None  # the most clients at any time; None in an open loop
    open_most: Estimate  # connections at once
    held: Estimate  # share of the clients asked for, while all of them are to be there
    reached: bool | None  # in every round nearly all of them were open at once
    refused: str  # when the first connection was refused or lost; "": none was
    phases: list[PhaseSummary]
    timeline: PhasedTimeline  # of the round of the median throughput


@dataclass(frozen=True)
class CriterionResult:
    """One thing that must hold if a claim is to be reproduced: the interval decides, not the value."""

    measure: str  # what is measured: "spread of node, closed / the same of go"
    rule: str  # "above 1.5"
    contestant: str
    workload: str
    quantity: str
    estimate: Estimate
    verdict: Literal["holds", "fails", "cannot tell"]
    message: str


@dataclass(frozen=True)
class Claim:
    """What an article says, and whether this run reproduces it."""

    statement: str
    published: str
    verdict: Literal["reproduced", "not reproduced", "cannot tell"]
    sentence: str  # names the part that decides
    criteria: list[CriterionResult]


@dataclass(frozen=True)
class ConditionResult:
    """A condition on a change ("p99 > +5 %") for one comparison: "fail" where it surely holds."""

    condition: str
    workload: str
    a: str
    b: str
    verdict: Decision
    message: str


@dataclass(frozen=True)
class CompareResult:
    """What `jostle compare` says: `a` and `b` are folders of runs, or contestants of one run."""

    title: str
    a: str
    b: str
    comparisons: list[Comparison]
    conditions: list[ConditionResult]
    notes: list[str]
    format: int = FORMAT

    def as_json(self) -> dict[str, Any]:
        """Plain dictionaries and lists."""
        return asdict(self)


@dataclass(frozen=True)
class RunResult:
    """Everything that a report shows."""

    title: str
    folder: str
    started: str  # ISO 8601
    complete: bool
    incomplete_reason: str
    verdict: Verdict
    reasons: list[str]
    summaries: list[WorkloadSummary]
    trials: list[TrialResult]
    starvation: list[Starvation]
    published: list[PublishedFigure]
    contestants: dict[str, dict[str, Any]]  # label → title, runtime, version, discipline, variants
    skipped: dict[str, str]  # contestant → why it was not measured
    host: dict[str, Any]
    plan_text: str
    rerun: str  # the command
    seed: int
    requirements: list[Requirement] = field(default_factory=list)
    phased_loads: list[PhasedLoad] = field(default_factory=list)  # of loads with phases
    comparisons: list[Comparison] = field(default_factory=list)  # each contestant with the plan's first one
    claims: list[Claim] = field(default_factory=list)
    setup: list[tuple[str, str]] = field(default_factory=list)  # what was used here: fact, value
    published_setup: str = ""
    ratios: list[Ratio] = field(default_factory=list)
    threads: list[Threads] = field(default_factory=list)
    earlier: list[EarlierRun] = field(default_factory=list)
    goodputs: list[Goodput] = field(default_factory=list)  # of cells with timeouts or a database
    notes: list[str] = field(default_factory=list)
    format: int = FORMAT

    def as_json(self) -> dict[str, Any]:
        """Plain dictionaries and lists."""
        return asdict(self)
