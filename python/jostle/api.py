"""jostle from Python: run a plan, look at what came out, compare."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jostle.errors import PlanError, UnknownName
from jostle.generator import executor_for
from jostle.plan import Plan, load_plan
from jostle.record import RunRecord
from jostle.runner.experiment import run_experiment
from jostle.runner.observer import Observer, Silent

if TYPE_CHECKING:
    import polars

    from jostle.analysis.results import CompareResult, RunResult

__all__ = ["Compared", "Finished", "compare", "hit", "open_run", "run"]


@dataclass(frozen=True)
class Finished:
    """A run on disk, which shows itself in a notebook. Everything is read from `folder` when asked for."""

    folder: Path

    @cached_property
    def record(self) -> RunRecord:
        """The record as it was written."""
        return RunRecord.open(self.folder)

    @cached_property
    def result(self) -> "RunResult":
        """The analysis: verdicts, estimates with intervals, distributions."""
        from jostle.analysis.run import analyse

        return analyse(self.record)

    @property
    def figures(self) -> "polars.DataFrame":
        """A row per figure of every contestant, workload and trial: quantity, value, interval, unit, n."""
        import polars

        from jostle.report import figures

        rows = [row for row in figures(self.result) if not isinstance(row.get("value"), str)]
        return polars.DataFrame(rows, infer_schema_length=None)

    @property
    def requests(self) -> "polars.DataFrame":
        """A row per request of every trial whose workload says `rows = true`."""
        import polars

        frames = [
            rows.with_columns(
                trial=polars.lit(trial.number),
                contestant=polars.lit(trial.contestant),
                workload_name=polars.lit(trial.workload),
            )
            for trial in self.record.trials
            if (rows := trial.rows()) is not None
        ]
        return polars.concat(frames) if frames else polars.DataFrame()

    def charts(self) -> dict[str, Any]:
        """The pictures of the report as altair charts, by key: "density-1", "timeline-1-node", …"""
        from jostle.report.render import notebook

        return notebook.run_charts(self.result)

    def report(self) -> Path:
        """Write the page into the run's folder and return its path."""
        from jostle.report import write_page

        path = self.folder / "report.html"
        write_page(self.result, path)
        return path

    def _repr_html_(self) -> str:
        from jostle.report.render import notebook

        return notebook.run_html(self.result)


@dataclass(frozen=True)
class Compared:
    """What differs between two runs, or two contestants of one; shows itself in a notebook."""

    result: "CompareResult"

    def chart(self, workload: str | None = None) -> Any:
        """The shift function of one workload (the first, when not named) as an altair chart.

        Raises `PlanError` where there is none, as after one round only.
        """
        from jostle.report.render import notebook

        found = {c.workload: c for c in self.result.comparisons}
        name = next(iter(found)) if workload is None else workload
        if name not in found:
            raise UnknownName("workload in this comparison", name, found)
        chart = notebook.shift_chart(found[name])
        if chart is None:
            raise PlanError(f"{name}: no bands can be drawn", "it takes at least 2 rounds, better 5")
        return chart

    def _repr_html_(self) -> str:
        from jostle.report.render import notebook

        return notebook.comparison_html(self.result)


def run(plan: Plan | str | Path, *, into: Path | str = "runs", observer: Observer | None = None) -> Finished:
    """Run a plan, or the file of one, and wait for its end. Raises `JostleError`."""
    name = "plan"
    if not isinstance(plan, Plan):
        name = Path(plan).stem
        plan = load_plan(Path(plan))
    outcome = run_experiment(plan, Path(into), name, None, executor_for(plan), observer or Silent())
    return Finished(outcome.folder)


def hit(url: str, *, into: Path | str = "runs", observer: Observer | None = None, **load: Any) -> Finished:
    """Load one URL now; `load` as in `Plan.for_hit`: clients, seconds, requests, rate, …"""
    return run(Plan.for_hit(url, **load), into=into, observer=observer)


def open_run(folder: Path | str) -> Finished:
    """A run that is already on disk. Raises `NotARun`."""
    finished = Finished(Path(folder))
    finished.record  # noqa: B018 (opened now, so that a wrong folder is told at once)
    return finished


def compare(
    a: Finished | Path | str,
    b: Finished | Path | str | None = None,
    *,
    contestants: Sequence[str] | None = None,
    fail_if: str | Sequence[str] = (),
) -> Compared:
    """The run `b` against the run `a`, or of `contestants` (two names) of `a` the second against the first.

    `fail_if`: one condition or more, as "p99 > +5 %", judged in `result.conditions`. Raises `PlanError`,
    `NotARun`, `NotComparable`, `UnknownName`.
    """
    from jostle.analysis.compare.two import compare_records, judge_conditions
    from jostle.plan.conditions import change

    records = [_record(side) for side in (a, b) if side is not None]
    conditions = [change(text) for text in ([fail_if] if isinstance(fail_if, str) else fail_if)]
    return Compared(judge_conditions(compare_records(records, contestants), conditions))


def _record(run: Finished | Path | str) -> RunRecord:
    return run.record if isinstance(run, Finished) else RunRecord.open(Path(run))
