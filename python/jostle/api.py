"""jostle from Python: run a plan, look at the result, compare."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jostle import experiments, roster
from jostle.errors import PlanError, UnknownName
from jostle.extras import require
from jostle.generator import executor_for
from jostle.plan import Plan
from jostle.plan.hit.plan import hit_plan
from jostle.plan.loading import Settings
from jostle.plan.loading import load_plan as read_plan
from jostle.record import RunRecord
from jostle.runner.experiment import run_experiment
from jostle.runner.observer import Observer, unobserved
from jostle.runner.tune import print_to_stderr, tuned

if TYPE_CHECKING:
    import polars

    from jostle.analysis.results import CompareResult, RunResult
    from jostle.plan.criteria.conditions import Condition, OverallChange
    from jostle.report.export.notebook import Chart
    from jostle.runner.steering import Acknowledgement

__all__ = [
    "Comparison",
    "Run",
    "compare",
    "compare_commits",
    "compare_plans",
    "hit",
    "load_experiment",
    "load_plan",
    "open_run",
    "run",
    "steer",
    "stop",
]


@dataclass(frozen=True)
class Run:
    """A run on disk, which a notebook displays. Everything is read from `folder` when it is needed."""

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
        """A row per figure of each contestant, workload and trial: metric, value, interval, unit, n.

        Raises MissingExtra.
        """
        require("rows", "run.figures")
        import polars

        from jostle.report.figures import figures

        rows = [row for row in figures(self.result) if not isinstance(row.get("value"), str)]
        return polars.DataFrame(rows, infer_schema_length=None)

    @property
    def requests(self) -> "polars.DataFrame":
        """A row per request of every trial whose workload says `rows = true`. Raises MissingExtra."""
        require("rows", "run.requests")
        import polars

        frames = [
            rows.frame().with_columns(
                trial=polars.lit(trial.number),
                contestant=polars.lit(trial.contestant),
                workload_name=polars.lit(trial.workload),
            )
            for trial in self.record.trials
            if (rows := trial.rows()) is not None
        ]
        return polars.concat(frames) if frames else polars.DataFrame()

    def charts(self) -> "dict[str, Chart]":
        """The pictures of the report, by key: "density-1", "timeline-1-node", …"""
        from jostle.report import document_of
        from jostle.report.export import notebook

        return notebook.charts(document_of(self.result))

    def report(self) -> Path:
        """Write the page into the run's folder, and return its path."""
        from jostle.report.files import write_page

        path = self.folder / "report.html"
        write_page(self.result, path)
        return path

    def _repr_html_(self) -> str:
        from jostle.report import document_of
        from jostle.report.export.html import fragment

        return fragment(document_of(self.result))


@dataclass(frozen=True)
class Comparison:
    """What differs between two runs, or two contestants of one run; a notebook displays it."""

    result: "CompareResult"

    def chart(self, workload: str | None = None) -> "Chart":
        """The shift function of one workload (by default the first).

        Raises `PlanError` if there is none, for example after a single round.
        """
        from jostle.analysis.stats.enough import TOO_FEW_ROUNDS
        from jostle.report.export import notebook

        found = {c.workload: c for c in self.result.comparisons}
        name = next(iter(found)) if workload is None else workload
        if name not in found:
            raise UnknownName("workload in this comparison", name, found)
        chart = notebook.shift_chart(found[name])
        if chart is None:
            raise PlanError(f"{name}: no bands can be drawn", TOO_FEW_ROUNDS)
        return chart

    def _repr_html_(self) -> str:
        from jostle.report import document_of
        from jostle.report.export.html import fragment

        return fragment(document_of(self.result))


def load_plan(
    path: Path | str,
    *,
    scale: str = "",
    settings: Settings | None = None,
    share_cores: bool = False,
    tell: Callable[[str], None] = print_to_stderr,
) -> Plan:
    """Read a plan file, and calibrate its tuned parameters on this machine, which starts a server.

    `scale`: the name of a `[scale.NAME]` table. `settings`: parameters to change. `share_cores`: server and
    generator share their cores, whatever the plan says. `tell` is told what is measured. Raises
    `JostleError`.
    """
    return tuned(
        lambda known: read_plan(
            path, environment=roster.environment(), scale=scale, settings=known, share_cores=share_cores
        ),
        settings or {},
        tell,
    )


def load_experiment(
    name: str,
    *,
    scale: str = "",
    settings: Settings | None = None,
    share_cores: bool = False,
    tell: Callable[[str], None] = print_to_stderr,
) -> Plan:
    """The plan of an experiment such as "starvation", as `load_plan`. `scale`: "quick", "as-published"."""
    return tuned(
        lambda known: experiments.load(name, scale=scale, settings=known, share_cores=share_cores),
        settings or {},
        tell,
    )


def run(
    plan: Plan | Path | str,
    *,
    into: Path | str = "runs",
    seed: int | None = None,
    observer: Observer = unobserved,
) -> Run:
    """Run a plan, or the file of one, and wait for its end: what `jostle run` does, without its pages.

    `into`: the folder in which the run gets a folder of its own. `seed`: for the order of trials and all
    arrivals; by default the plan's own, or one that is drawn and recorded. Raises `JostleError`.
    """
    if not isinstance(plan, Plan):
        return _run(load_plan(plan), Path(into), Path(plan).stem, seed, observer)
    return _run(plan, Path(into), "plan", seed, observer)


def hit(
    url: str,
    *,
    into: Path | str = "runs",
    seed: int | None = None,
    observer: Observer = unobserved,
    **options: Any,
) -> Run:
    """Load one URL now: what `jostle hit` does.

    `options`: clients, seconds, requests, rate, think, headers, body, expect, timeout, …; all are listed in
    `jostle.plan.hit.plan.PLACES`. Raises `JostleError`.
    """
    return _run(hit_plan(url, options), Path(into), "hit", seed, observer)


def _run(plan: Plan, into: Path, name: str, seed: int | None, observer: Observer) -> Run:
    if plan.tune:
        raise PlanError(
            f"the plan leaves {', '.join(plan.tune)} to be tuned for this machine",
            "read it with jostle.load_plan, or set a value: settings={…}",
        )
    return Run(run_experiment(plan, into, name, seed, executor_for(plan), observer))


def open_run(folder: Path | str) -> Run:
    """A run that is already on disk. Raises `NotARun`."""
    run = Run(Path(folder))
    run.record  # noqa: B018 (read now, so that a wrong folder is refused at once)
    return run


RunLike = Run | Path | str


def steer(run: RunLike, change: str, *, workload: str = "", at_s: float | None = None) -> "Acknowledgement":
    """Change the load of a run while it runs, from any process of this machine that may read its folder.

    `change`: "rate=500/s", "clients=50", "x2", "hold" or "next". `workload`: by default the measured one.
    `at_s`: when, in seconds from the start of the trial; soon if it is not given. Returns once the generators
    have acknowledged it: `steered` says what the load does, and from when on. Raises `SteerRefused`, which
    says why nothing was changed, `BadValue` and `NotARun`.
    """
    from jostle.runner.steering import steer

    return steer(run.folder if isinstance(run, Run) else run, change, workload=workload, at_s=at_s)


def stop(run: RunLike) -> None:
    """End a run from any process of this machine that may read its folder, as Ctrl-C on its terminal would:
    no more is sent, and what was measured is reported. Returns once that begins.

    A run that this program started ends with `KeyboardInterrupt` there. Raises `SteerRefused` if it is over,
    or cannot be stopped: in a thread of a program, say. Raises `NotARun`.
    """
    from jostle.runner.steering import stop

    stop(run.folder if isinstance(run, Run) else run)


def compare(
    a: RunLike | Sequence[RunLike],
    b: RunLike | Sequence[RunLike] | None = None,
    *,
    contestants: Sequence[str] | None = None,
    fail_if: str | Sequence[str] = (),
) -> Comparison:
    """Compare run `b` with run `a`, or the second of two `contestants` of `a` with the first.

    With lists of at least three runs each, the run is the unit of comparison. `fail_if`: one or more
    conditions such as "p99 > +5 %", judged in `result.conditions`. Raises `PlanError`, `NotARun`,
    `NotComparable`, `UnknownName`.
    """
    from jostle.analysis.compare.two import compare_many, compare_records, judge_conditions, metrics_of
    from jostle.analysis.two_runs import by_earlier_runs

    conditions = _changes(fail_if)
    metrics = metrics_of(conditions)
    several = [side for side in (a, b) if not isinstance(side, Run | Path | str) and side is not None]
    if several and contestants is not None:
        raise PlanError(
            "two contestants are compared within one run", 'jostle.compare(run, contestants=["node", "go"])'
        )
    if len(several) == 2:
        first, second = ([_record(run) for run in side] for side in several)
        found = compare_many(first, second, metrics)
    elif several:
        raise PlanError(
            "several runs are compared with several", "jostle.compare([a1, a2, a3], [b1, b2, b3])"
        )
    else:
        records = [_record(side) for side in (a, b) if isinstance(side, Run | Path | str)]
        found = compare_records(records, contestants, metrics)
        if len(records) == 2:
            found = by_earlier_runs(found, *records)
    return Comparison(judge_conditions(found, conditions))


def compare_plans(
    first: Plan | Path | str,
    second: Plan | Path | str,
    *,
    into: Path | str = "runs",
    seed: int | None = None,
    fail_if: str | Sequence[str] = (),
    observer: Observer = unobserved,
    sides: tuple[str, str] = ("first", "second"),
) -> Comparison:
    """Run two plans as one, with their contestants side by side in every round, and compare these in pairs.

    Contestants at the same place in the two plans are a pair; `sides` are added to names that both have. The
    plans may differ only in their contestants, such as two versions of a server; their requirements and
    claims are not judged. Raises `JostleError`.
    """
    import time
    from dataclasses import replace

    from jostle.analysis.compare.reach import reach
    from jostle.analysis.compare.two import compare_contestants, judge_conditions, metrics_of
    from jostle.plan.interleaved import interleaved, not_judged
    from jostle.units import format_span

    conditions = _changes(fail_if)  # before anything is measured: it tells mistakes
    plans = [plan if isinstance(plan, Plan) else load_plan(plan) for plan in (first, second)]
    plan, pairs = interleaved(plans[0], plans[1], sides)
    begun = time.monotonic()
    measured = _run(plan, Path(into), "interleaved", seed, observer)
    took = f"It took {format_span(time.monotonic() - begun)}."
    metrics = metrics_of(conditions)
    found = [compare_contestants(measured.record, *pair, metrics) for pair in pairs]
    whole = replace(
        found[0],
        title=f"{second if not isinstance(second, Plan) else 'the second plan'} against "
        f"{first if not isinstance(first, Plan) else 'the first'}",
        comparisons=[c for result in found for c in result.comparisons],
        notes=[
            *dict.fromkeys(note for result in found for note in result.notes),
            *filter(None, [not_judged(*plans)]),
            " ".join(filter(None, [*(reach(c) for result in found for c in result.comparisons), took])),
            f"Run: {measured.folder}",
        ],
    )
    return Comparison(judge_conditions(whole, conditions))


def compare_commits(
    plan: Path | str,
    base: str,
    head: str,
    *,
    into: Path | str = "runs",
    seed: int | None = None,
    fail_if: str | Sequence[str] = (),
    observer: Observer = unobserved,
) -> Comparison:
    """Measure the plan's servers as they are in two commits of its repository, in one run, and compare these.

    The commits are checked out beside the repository, and removed afterwards; the plan is the file as it is.
    Raises `JostleError`: if a contestant is not started in a folder of the repository, for example.
    """
    from dataclasses import replace

    from jostle.host.worktrees import checked_out
    from jostle.plan.moved import moved

    _changes(fail_if)  # before anything is checked out or tuned
    read = load_plan(plan)
    with checked_out(Path(plan).absolute().parent, (base, head)) as (top, trees):
        sides = [moved(read, top, tree, ref) for tree, ref in zip(trees, (base, head), strict=True)]
        found = compare_plans(
            *sides, into=into, seed=seed, fail_if=fail_if, observer=observer, sides=("before", "after")
        )
    return Comparison(replace(found.result, title=f"{head} against {base}"))


def _changes(fail_if: str | Sequence[str]) -> "list[Condition | OverallChange]":
    from jostle.plan.criteria.conditions import change

    return [change(text) for text in ([fail_if] if isinstance(fail_if, str) else fail_if)]


def _record(run: RunLike) -> RunRecord:
    return run.record if isinstance(run, Run) else RunRecord.open(Path(run))
