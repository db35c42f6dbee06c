"""What the analysis of a run says: plain data, the same for the terminal, the page and the exports.

Field names contain their units: `_s` seconds, `_per_s` per second, `_bytes` bytes; shares are 0 to 1.
"""

from jostle.analysis.results.capacity import CapacityResult, Sizing, WhatIf
from jostle.analysis.results.comparison import CompareResult, Comparison, ConditionResult, Difference, Shift
from jostle.analysis.results.estimate import Decision, DifferenceFinding, Distribution, Estimate
from jostle.analysis.results.head_of_line import BlockingCause, HeadOfLine, StreamOfConnection
from jostle.analysis.results.journeys import JourneyResult, StepResult
from jostle.analysis.results.judgement import (
    ARTICLE_VERDICTS,
    OWN_VERDICTS,
    ClaimResult,
    ClaimVerdict,
    CriterionResult,
    PartVerdict,
    RequirementResult,
)
from jostle.analysis.results.phased import PhasedLoad, PhasedTimeline, PhaseSummary, RampStep
from jostle.analysis.results.pings import PingResult
from jostle.analysis.results.requests import RequestResult
from jostle.analysis.results.run import RunResult
from jostle.analysis.results.streams import EventTimes, StreamResult
from jostle.analysis.results.trial import EarlierRun, GeneratorStats, Mark, Phase, Timeline, TrialResult
from jostle.analysis.results.validity import Check, Validity
from jostle.analysis.results.version import FORMAT
from jostle.analysis.results.workload import (
    Garbage,
    Goodput,
    Mode,
    PublishedFigure,
    RatioResult,
    StarvationResult,
    Threads,
    Times,
    WorkloadSummary,
)

__all__ = [
    "ARTICLE_VERDICTS",
    "FORMAT",
    "OWN_VERDICTS",
    "BlockingCause",
    "CapacityResult",
    "Check",
    "ClaimResult",
    "ClaimVerdict",
    "CompareResult",
    "Comparison",
    "ConditionResult",
    "CriterionResult",
    "Decision",
    "Difference",
    "DifferenceFinding",
    "Distribution",
    "EarlierRun",
    "Estimate",
    "EventTimes",
    "Garbage",
    "GeneratorStats",
    "Goodput",
    "HeadOfLine",
    "JourneyResult",
    "Mark",
    "Mode",
    "PartVerdict",
    "Phase",
    "PhaseSummary",
    "PhasedLoad",
    "PhasedTimeline",
    "PingResult",
    "PublishedFigure",
    "RampStep",
    "RatioResult",
    "RequestResult",
    "RequirementResult",
    "RunResult",
    "Shift",
    "Sizing",
    "StarvationResult",
    "StepResult",
    "StreamOfConnection",
    "StreamResult",
    "Threads",
    "Timeline",
    "Times",
    "TrialResult",
    "Validity",
    "WhatIf",
    "WorkloadSummary",
]
