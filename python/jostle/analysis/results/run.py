"""A whole run."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from jostle.analysis.results.comparison import Comparison
from jostle.analysis.results.head_of_line import HeadOfLine
from jostle.analysis.results.journeys import JourneyResult
from jostle.analysis.results.judgement import ClaimResult, RequirementResult
from jostle.analysis.results.phased import PhasedLoad
from jostle.analysis.results.pings import PingResult
from jostle.analysis.results.plain_data import plain_data
from jostle.analysis.results.requests import RequestResult
from jostle.analysis.results.streams import StreamResult
from jostle.analysis.results.trial import EarlierRun, TrialResult
from jostle.analysis.results.version import FORMAT
from jostle.analysis.results.workload import (
    Garbage,
    Goodput,
    PublishedFigure,
    RatioResult,
    StarvationResult,
    Threads,
    WorkloadSummary,
)
from jostle.record.verdict import Verdict

__all__ = ["RunResult"]


@dataclass(frozen=True)
class RunResult:
    """Everything that a report shows."""

    title: str
    folder: str  # "" if the record was not kept
    started: str  # ISO 8601
    complete: bool
    incomplete_reason: str
    verdict: Verdict
    reasons: list[str]
    summaries: list[WorkloadSummary]
    trials: list[TrialResult]
    starvation: list[StarvationResult]
    published: list[PublishedFigure]
    contestants: dict[str, dict[str, Any]]  # label → title, runtime, version, …
    skipped: dict[str, str]  # contestant → why it was not measured
    host: dict[str, Any]
    plan_text: str
    rerun: str  # the command
    seed: int
    requirements: list[RequirementResult] = field(default_factory=list)
    phased_loads: list[PhasedLoad] = field(default_factory=list)  # of loads with phases
    comparisons: list[Comparison] = field(default_factory=list)  # each contestant with the plan's first one
    claims: list[ClaimResult] = field(default_factory=list)
    setup: list[tuple[str, str]] = field(default_factory=list)  # what was used here: fact, value
    published_setup: str = ""
    article: str = ""  # the http or https address of the publication, or nothing
    took_s: float | None = None  # from its first event to its last, without the turns of other runs
    ratios: list[RatioResult] = field(default_factory=list)
    threads: list[Threads] = field(default_factory=list)
    earlier: list[EarlierRun] = field(default_factory=list)
    garbage: list[Garbage] = field(default_factory=list)
    journeys: list[JourneyResult] = field(default_factory=list)  # of workloads that have them
    requests: list[RequestResult] = field(default_factory=list)  # of workloads that list several
    streams: list[StreamResult] = field(default_factory=list)  # of requests that ask for one
    pings: list[PingResult] = field(default_factory=list)  # where clients ping their WebSockets
    head_of_line: list[HeadOfLine] = field(default_factory=list)  # where clients share HTTP/2 connections
    goodputs: list[Goodput] = field(default_factory=list)  # of cells with timeouts or a database
    behaviour: dict[str, str] = field(default_factory=dict)  # contestant → how it behaves, if explained
    skipped_workloads: dict[str, dict[str, str]] = field(default_factory=dict)
    """contestant → workload → why it was only measured under others"""
    finish: str = ""  # the command that measures the rest of the run; "" if there is none
    of_the_generator: list[str] = field(default_factory=list)
    """How much of the times may be the generator's own: sentences that belong beside the figures."""
    notes: list[str] = field(default_factory=list)
    format: int = FORMAT

    def not_measured(self) -> Iterator[tuple[str, str]]:
        """Which contestants were skipped, in which workload if not in all of them, and why."""
        yield from self.skipped.items()
        for contestant, reasons in self.skipped_workloads.items():
            yield from ((f"{contestant} in {workload}", why) for workload, why in reasons.items())

    def as_json(self) -> dict[str, Any]:
        """All of it for `json.dumps`; docs/result.schema.json describes it."""
        return plain_data("jostle result", self)
