"""Two contestants, or two runs, under one workload."""

from dataclasses import dataclass, field
from typing import Any, Literal

from jostle.analysis.results.estimate import Decision, DifferenceFinding, Estimate
from jostle.analysis.results.plain_data import plain_data
from jostle.analysis.results.version import FORMAT
from jostle.record.verdict import Verdict

__all__ = ["CompareResult", "Comparison", "ConditionResult", "Difference", "Shift"]


@dataclass(frozen=True)
class Difference:
    """One metric of two contestants: `difference` is b - a in the metric's own unit, `ratio` is b / a."""

    metric: str  # "throughput", "p50", …, "errors"
    a: Estimate
    b: Estimate
    difference: Estimate
    ratio: Estimate
    finding: DifferenceFinding  # b against a; "same": to within `within`
    within: float | None  # no difference is larger than this share; None if it is unbounded
    sentence: str
    verdict: Verdict = Verdict.VALID  # of this metric, the worse of both
    p: float | None = None  # two-sided, for this one alone; None without an interval on the log scale
    p_of_all: float | None = None  # the same, adjusted for all contestants compared with the first
    log_error: float | None = None  # standard error of ln(ratio)
    log_df: float | None = None  # degrees of freedom of that


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
    unit: Literal["round", "run"] = "round"  # what `rounds` counts, and what intervals are over
    unpaired: int = 0  # rounds of either that are left out, because the other was not measured in them
    statuses: str = ""  # how the right responses of both differ: "200 on a, 302 on b"
    primary: str = ""  # the metric that decides by itself; all others of a page are judged together
    earlier_runs: int = 0  # whose spread decides, as there is one run on each side
    confidence: float = 0.95  # of its intervals; higher where a run was looked at repeatedly


@dataclass(frozen=True)
class ConditionResult:
    """A condition on a change ("p99 > +5 %", "slower") for one comparison: "fail" if it surely holds."""

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
        """All of it for `json.dumps`; docs/result.schema.json describes it."""
        return plain_data("jostle comparison", self)
