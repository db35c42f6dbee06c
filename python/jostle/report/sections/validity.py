"""Whether the figures can be trusted: which checks failed, where, how far, and what to do about it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from jostle.analysis.results import Check, RunResult, TrialResult, Validity
from jostle.analysis.validity.catalogue import CATALOGUE
from jostle.analysis.validity.figures import named
from jostle.formatting import MISSING, amount, listed
from jostle.plan.criteria.metrics import METRICS
from jostle.record.trial import NO_OUTCOME
from jostle.record.verdict import Verdict
from jostle.report.document import Depth, Mark, Reason, Section, Table, columns
from jostle.report.sections.brief import BRIEFLY
from jostle.report.sections.verdict_marks import verdict_mark
from jostle.report.views import ALONE, WITH_SLOW
from jostle.text import first_line

__all__ = ["FailedCheck", "affects", "failed_checks", "incomplete", "reasons", "section"]

MAX_NUMBERS = 6
EVERY_FIGURE = "every figure"
MAIN_FIGURES = {"throughput", "p50", "p90", "p99"}
NOTABLE = Mark("•", "note")

AT_LEAST = ("end", "responses")
"""Checks of a minimum whose values often equal the threshold, which hides that it is a minimum."""

WORDS = {Verdict.INVALID: "Do not use", Verdict.SUSPECT: "Doubtful"}


@dataclass(frozen=True)
class FailedCheck:
    """One check that failed, or is notable, in some trials of one workload on one contestant."""

    contestant: str
    workload: str
    worst: Check
    trials: list[int]  # numbers of the trials in which it failed
    rounds: int  # number of trials of the workload on this contestant
    affects: tuple[str, ...]  # figures by their names in plans; empty: all

    @property
    def reason(self) -> Reason:
        """The result in the worst trial, and in how many trials the check failed."""
        failed = len(self.trials)
        worst = " (worst shown)" if failed > 1 else ""
        count = f"in {failed} of {self.rounds} rounds{worst}, " if self.rounds > 1 else ""
        return Reason(
            f"{count}{first_line(self.worst.message)}",
            _mark(self.worst),
            self.contestant,
            self.workload,
            self.worst.remedy,
            BRIEFLY.get(self.worst.name, self.worst.name),
        )


def _mark(check: Check) -> Mark:
    return NOTABLE if check.verdict is Verdict.VALID else verdict_mark(check.verdict)


def failed_checks(result: RunResult) -> list[FailedCheck]:
    """The failed checks of the trials that count, worst first; each check once per workload and contestant,
    with its worst result.
    """
    found = _by_cell(result, lambda validity: validity.failed)
    return sorted(found, key=lambda f: -f.worst.verdict.rank)


def _by_cell(result: RunResult, chosen: Callable[[Validity], list[Check]]) -> list[FailedCheck]:
    counted = {number for summary in result.summaries for number in summary.trials}
    trials = [trial for trial in result.trials if trial.number in counted]
    found: dict[tuple[str, str, str], list[tuple[Check, TrialResult]]] = {}
    for trial in trials:
        for check in chosen(trial.validity):
            found.setdefault((trial.contestant, trial.workload, check.name), []).append((check, trial))
    return [
        FailedCheck(
            contestant,
            workload,
            max((check for check, _ in group), key=lambda check: check.severity),
            [trial.number for _, trial in group],
            sum((t.contestant, t.workload) == (contestant, workload) for t in trials),
            _affected([check for check, _ in group]),
        )
        for (contestant, workload, _), group in found.items()
    ]


def _affected(checks: Sequence[Check]) -> tuple[str, ...]:
    """The figures that are affected by any of the checks; empty: all."""
    if any(not check.affects for check in checks):
        return ()
    return tuple(dict.fromkeys(figure for check in checks for figure in check.affects))


def reasons(result: RunResult) -> list[Reason]:
    """What a reader must know first, each cause once: what is invalid, what the server did, what is in doubt.

    Contestant and workload are not named if there is only one of each.
    """
    alone = len({(t.contestant, t.workload) for t in result.trials}) == 1
    row = _rows(result)
    by_check: dict[str, list[FailedCheck]] = {}
    for one in sorted(_by_cell(result, lambda validity: [*validity.failed, *validity.notable]), key=_urgency):
        by_check.setdefault(one.worst.name, []).append(one)
    total = sum(len(summary.trials) for summary in result.summaries)
    found = [_together(same, total, row) for same in by_check.values()]
    if alone:
        found = [replace(reason, contestant="", workload="") for reason in found]
    if not result.trials:
        nothing = Reason("nothing was measured", verdict_mark(Verdict.INVALID), brief="nothing measured")
        found.insert(0, nothing)
    return found


def _urgency(one: FailedCheck) -> int:
    check = one.worst
    if check.verdict is Verdict.INVALID:
        return 0
    return 1 if check.cause == "server" else 2 if check.verdict is Verdict.SUSPECT else 3


def _together(same: Sequence[FailedCheck], total: int, row: Mapping[str, str]) -> Reason:
    """One reason for what a check found under several workloads or on several contestants."""
    worst = max(same, key=lambda one: one.worst.severity)
    workload = row.get(worst.workload, worst.workload)
    if len(same) == 1:
        return replace(worst.reason, workload=workload)
    trials = sum(len(one.trials) for one in same)
    where = f"in {trials} of {total} trials (worst: {worst.contestant}, {workload}), "
    return replace(worst.reason, text=where + first_line(worst.worst.message), contestant="", workload="")


def _rows(result: RunResult) -> dict[str, str]:
    """Workloads of the starvation experiment, each with the place of its figures in the table."""
    opened = {trial.workload for trial in result.trials if trial.offered_per_s is not None}
    return {
        workload: f"{workload} ({'open' if workload in opened else 'closed'}, {load})"
        for s in result.starvation
        for workload, load in ((s.alone_workload, ALONE), (s.with_workload, WITH_SLOW))
    }


def affects(result: RunResult) -> str:
    """Which figures must not be used, and which are doubtful; "" if every check passed."""
    touched: dict[Verdict, dict[tuple[str, str], set[str]]] = {Verdict.INVALID: {}, Verdict.SUSPECT: {}}
    for failed in failed_checks(result):
        cells = touched[failed.worst.verdict]
        figures = set(failed.affects or (*METRICS, EVERY_FIGURE)) - set(failed.worst.spares)
        cells[failed.contestant, failed.workload] = (
            cells.get((failed.contestant, failed.workload), set()) | figures
        )
    measured = {(trial.contestant, trial.workload): set(METRICS) for trial in result.trials}
    for cell, lost in touched[Verdict.INVALID].items():
        if cell in touched[Verdict.SUSPECT]:
            touched[Verdict.SUSPECT][cell] -= lost
    if measured and all(EVERY_FIGURE in touched[Verdict.INVALID].get(cell, ()) for cell in measured):
        left = [f for f in METRICS if not any(f in lost for lost in touched[Verdict.INVALID].values())]
        return f"Do not use any of the figures{f' but {named(left)}' if left else ''}."
    sentences = [
        f"{word}: {_places(touched[verdict], measured)}."
        for verdict, word in WORDS.items()
        if any(touched[verdict].values())
    ]
    if not sentences:
        return ""
    if all(touched[Verdict.SUSPECT].get(cell, set()) >= MAIN_FIGURES for cell in measured):
        return " ".join(sentences[:-1])  # where all is in doubt, the reasons say enough
    return " ".join([*sentences, "All other figures stand."])


def _places(touched: Mapping[tuple[str, str], set[str]], measured: Collection[tuple[str, str]]) -> str:
    """The figures with their workloads and contestants: "p99 of fast (node, go)". Only the figures if a
    single contestant was measured under a single workload.
    """
    by_figures: dict[str, dict[str, list[str]]] = {}
    for (contestant, workload), figures in touched.items():
        if figures:
            name = EVERY_FIGURE if EVERY_FIGURE in figures else named(sorted(figures, key=_rank))
            by_figures.setdefault(name, {}).setdefault(workload, []).append(contestant)
    if len(measured) == 1:
        return listed(list(by_figures))
    each = {
        figures: "all workloads"
        if sum(map(len, workloads.values())) == len(measured)
        else ", ".join(_place(workload, names, measured) for workload, names in workloads.items())
        for figures, workloads in by_figures.items()
    }
    return "; ".join(f"{figures} of {places}" for figures, places in each.items())


def _rank(figure: str) -> int:
    """Sort key: the figures of plans in their order, then anything else, such as "the rows"."""
    return list(METRICS).index(figure) if figure in METRICS else len(METRICS)


def _place(workload: str, contestants: Sequence[str], measured: Collection[tuple[str, str]]) -> str:
    """The workload, with the contestants unless all are meant."""
    every = {name for name, other in measured if other == workload}
    return (
        workload if every == set(contestants) and len(every) > 1 else f"{workload} ({', '.join(contestants)})"
    )


def incomplete(result: RunResult) -> str:
    """Why the run is incomplete; "" if it is complete. Of a single trial, after how much of its time, unless
    only the run knows why: it was killed, or still goes on.
    """
    if result.complete:
        return ""
    match result.trials:
        case [TrialResult(status="cut short") as only] if only.reason != NO_OUTCOME["why"]:
            ends = (check.message for check in only.validity.checks if check.name == "end")
            return next(ends, "").removeprefix("cut short ")
    return result.incomplete_reason or "the run did not reach its end"


def section(result: RunResult) -> Section:
    """The checks that failed, followed by all checks."""
    failed = failed_checks(result)
    warnings = Section("", [_failed_table(failed)], Depth.MAIN)
    everything = Section("All checks of all trials", [_all_table(result)], Depth.DETAIL)
    title = "Warnings and checks" if failed else "Checks"
    return Section(title, [warnings, everything], Depth.MAIN, key="validity", folded=True)


def _failed_table(failed: Sequence[FailedCheck]) -> Table:
    names = columns(
        "verdict = | check = | contestant = | workload = | which trials | measured | allowed"
        " | affects | what it means | what to do"
    )
    table = Table("Checks that failed, each with its worst trial", names, prose=True)
    for f in failed:
        check = f.worst
        measured, allowed = amount(check.value, check.unit), _allowed([check])
        about = (f.contestant, f.workload, _numbers(f.trials))
        means = (named(f.affects) if f.affects else EVERY_FIGURE, first_line(check.message), check.remedy)
        table.add(verdict_mark(check.verdict), check.name, *about, measured, allowed, *means)
    return table


def _numbers(numbers: Sequence[int]) -> str:
    text = ", ".join(str(n) for n in numbers[:MAX_NUMBERS])
    more = len(numbers) - MAX_NUMBERS
    return f"{text} and {more} more" if more > 0 else text


def _all_table(result: RunResult) -> Table:
    """A row per kind of check: what it asks, how many trials passed it, and its worst value."""
    asks = {entry.name: entry.asks for entry in CATALOGUE}
    table = Table("All checks", columns("check | asks", "valid | suspect | invalid | worst value | allowed"))
    by_name: dict[str, list[Check]] = {}
    for trial in result.trials:
        for check in trial.validity.checks:
            by_name.setdefault(check.name, []).append(check)
    for name, found in by_name.items():
        counts = [str(sum(c.verdict is v for c in found)) for v in Verdict]
        worst = max(found, key=lambda check: check.severity)
        table.add(
            name,
            asks.get(name, ""),
            *counts,
            amount(worst.value, worst.unit),
            _allowed(found),
        )
    return table


def _allowed(found: Sequence[Check]) -> str:
    """The threshold of the worst check, with its direction: "≤ 80 %", "≥ 6 responses"."""
    worst = max(found, key=lambda check: check.severity)
    if worst.threshold is None:
        return MISSING
    sign = "≥" if any(check.is_minimum for check in found) or worst.name in AT_LEAST else "≤"
    return f"{sign} {amount(worst.threshold, worst.unit)}"
