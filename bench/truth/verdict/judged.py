"""What a result says: its first lines, the verdict on each figure with its interval, and what it blames."""

from dataclasses import dataclass
from pathlib import Path

from jostle.analysis.judge.few_rounds import judged
from jostle.analysis.results import Estimate, RunResult
from jostle.analysis.run import analyse
from jostle.analysis.stats.quantile_ci import CONFIDENCE
from jostle.analysis.summaries.usual import usual_in
from jostle.analysis.summaries.workload import by_workload
from jostle.analysis.trials.data import TrialData
from jostle.record import RunRecord
from jostle.record.verdict import Verdict
from jostle.report import Form, document_of, render

__all__ = ["FIGURES", "Figure", "Said", "said_by"]

FIGURES = ("throughput", "p50", "p90", "p99", "mean", "errors")
FIRST_LINES = 3


@dataclass(frozen=True)
class Figure:
    """A figure of a cell, with the interval by which it is judged: over three rounds or more that of the
    tables, of one or two with the usual spread between runs.
    """

    cell: str
    metric: str
    value: float
    low: float | None
    high: float | None
    bound: str
    verdict: Verdict


@dataclass(frozen=True)
class Said:
    """`checks`: those that failed or have something to say, each with its largest value."""

    verdict: Verdict
    lines: list[str]
    figures: list[Figure]
    checks: dict[str, float | None]

    @property
    def head(self) -> str:
        """The first lines, as one text."""
        return " ".join(" ".join(self.lines[:FIRST_LINES]).split())


def said_by(folder: Path) -> Said:
    """Judged by this version of jostle, and by its thresholds as they are now."""
    record = RunRecord.open(folder)
    result = analyse(record, distributions=False)
    lines = render(document_of(result), Form.text).splitlines()
    return Said(result.verdict, lines[:8], _figures(record, result), _checks(result))


def _figures(record: RunRecord, result: RunResult) -> list[Figure]:
    counted = {number for summary in result.summaries for number in summary.trials}
    grouped = by_workload([data for t in record.trials if (data := TrialData(t)).trial.number in counted])
    usual = usual_in(record, grouped)
    found = []
    for summary in result.summaries:
        trials = [data for data in grouped[summary.contestant, summary.workload] if data.usable]
        for metric in FIGURES:
            estimate = judged(metric, trials, CONFIDENCE, usual).estimate if trials else Estimate(None)
            if estimate.value is not None:
                found.append(
                    Figure(
                        f"{summary.contestant}, {summary.workload}",
                        metric,
                        estimate.value,
                        estimate.low,
                        estimate.high,
                        estimate.bound,
                        summary.verdicts.get(metric, summary.verdict),
                    )
                )
    return found


def _checks(result: RunResult) -> dict[str, float | None]:
    counted = {number for summary in result.summaries for number in summary.trials}
    found: dict[str, float | None] = {}
    for trial in result.trials:
        if trial.number in counted:
            for check in (*trial.validity.failed, *trial.validity.notable):
                before = found.get(check.name)
                found[check.name] = max(filter(None, (before, check.value)), default=None)
    return found
