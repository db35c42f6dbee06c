"""jostle from Python: run a plan, look at what came out."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jostle.executor import OnThisMachine
from jostle.experiment import Observer, run_experiment
from jostle.live import Silent
from jostle.plan import Plan, load_plan
from jostle.record import RunRecord

if TYPE_CHECKING:
    import polars

    from jostle.analysis.result import RunResult

__all__ = ["Finished", "hit", "open_run", "run"]


@dataclass(frozen=True)
class Finished:
    """A run on disk. `folder` holds the record; everything else is read from it when asked for."""

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

    def report(self) -> Path:
        """Write the page into the run's folder and return its path."""
        from jostle.report import write_page

        path = self.folder / "report.html"
        write_page(self.result, path)
        return path


def run(plan: Plan | str | Path, *, into: Path | str = "runs", observer: Observer | None = None) -> Finished:
    """Run a plan, or the file of one, and wait for its end. Raises `JostleError`."""
    name = "plan"
    if not isinstance(plan, Plan):
        name = Path(plan).stem
        plan = load_plan(Path(plan))
    outcome = run_experiment(
        plan, Path(into), name, None, OnThisMachine(plan.processes), observer or Silent()
    )
    return Finished(outcome.folder)


def hit(url: str, *, into: Path | str = "runs", observer: Observer | None = None, **load: Any) -> Finished:
    """Load one URL now; `load` as in `Plan.for_hit`: clients, seconds, requests, rate, …"""
    return run(Plan.for_hit(url, **load), into=into, observer=observer)


def open_run(folder: Path | str) -> Finished:
    """A run that is already on disk. Raises `NotARun`."""
    finished = Finished(Path(folder))
    finished.record  # noqa: B018 (opened now, so that a wrong folder is told at once)
    return finished
