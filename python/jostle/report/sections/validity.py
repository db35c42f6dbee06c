"""Whether the figures can be trusted: which checks failed, where, how far, and what to do about it."""

from collections.abc import Sequence
from dataclasses import dataclass

from jostle.analysis.results import Check, RunResult, TrialResult
from jostle.analysis.validity.figures import named
from jostle.formatting import amount
from jostle.record.verdict import Verdict
from jostle.report.document import Depth, Reason, Section, Table, columns
from jostle.report.sections.marks import verdict_mark
from jostle.text import first_line

__all__ = ["FailedCheck", "affects", "failed_checks", "incomplete", "reasons", "section"]

MOST_NUMBERS = 6
MOST_PLACES = 2

EVERY_FIGURE = "every figure"


@dataclass(frozen=True)
class FailedCheck:
    """One check that failed in some trials of one workload on one contestant."""

    contestant: str
    workload: str
    worst: Check
    trials: list[int]  # numbers of those in which it failed
    rounds: int  # how often the workload was tried
    affects: tuple[str, ...]  # figures by their names in plans; empty: all

    @property
    def reason(self) -> Reason:
        """The worst of its trials, and in how many it was not valid."""
        count = f" ({len(self.trials)} of {self.rounds} rounds)" if self.rounds > 1 else ""
        return Reason(
            f"{first_line(self.worst.message)}{count}",
            verdict_mark(self.worst.verdict),
            self.contestant,
            self.workload,
            self.worst.remedy,
        )


def failed_checks(result: RunResult) -> list[FailedCheck]:
    """Worst first; the same check of the same workload once, with its worst trial."""
    failed: dict[tuple[str, str, str], list[tuple[Check, TrialResult]]] = {}
    for trial in result.trials:
        for check in trial.validity.checks:
            if check.verdict is not Verdict.VALID:
                key = (trial.contestant, trial.workload, check.name)
                failed.setdefault(key, []).append((check, trial))
    found = [
        FailedCheck(
            contestant,
            workload,
            max((check for check, _ in group), key=lambda check: check.severity),
            [trial.number for _, trial in group],
            sum((t.contestant, t.workload) == (contestant, workload) for t in result.trials),
            _affected([check for check, _ in group]),
        )
        for (contestant, workload, _), group in failed.items()
    ]
    return sorted(found, key=lambda f: -f.worst.verdict.rank)


def _affected(checks: Sequence[Check]) -> tuple[str, ...]:
    """By any of them."""
    if any(not check.affects for check in checks):
        return ()
    return tuple(dict.fromkeys(figure for check in checks for figure in check.affects))


def reasons(result: RunResult) -> list[Reason]:
    """Why the run is not valid, worst first. A run of one trial does not name it."""
    alone = len({(t.contestant, t.workload) for t in result.trials}) == 1
    found = [f.reason for f in failed_checks(result)]
    if alone:
        found = [Reason(r.text, r.mark, remedy=r.remedy) for r in found]
    if not result.trials:
        found.insert(0, Reason("nothing was measured", verdict_mark(Verdict.INVALID)))
    return found


def affects(result: RunResult) -> str:
    """Which figures of which workloads the failed checks touch; empty where they touch every one."""
    touched: dict[tuple[str, str], list[tuple[str, ...]]] = {}
    for failed in failed_checks(result):
        touched.setdefault((failed.contestant, failed.workload), []).append(failed.affects)
    cells = {(trial.contestant, trial.workload) for trial in result.trials}
    if not touched or (cells == touched.keys() and all(() in groups for groups in touched.values())):
        return ""
    by_figures: dict[str, list[str]] = {}
    for (contestant, workload), groups in touched.items():
        figures = EVERY_FIGURE if () in groups else named(dict.fromkeys(f for g in groups for f in g))
        by_figures.setdefault(figures, []).append(f"{contestant}, {workload}")
    if len(cells) == 1:
        (figures,) = by_figures
        return f"{figures}; all other figures stand."
    each = [f"{figures} ({_some(places)})" for figures, places in by_figures.items()]
    return f"{'; '.join(each)}. All other figures stand."


def _some(places: Sequence[str]) -> str:
    if len(places) <= MOST_PLACES:
        return "; ".join(places)
    return f"{places[0]} and {len(places) - 1} more"


def incomplete(result: RunResult) -> str:
    """Why the run is not whole; empty where it is."""
    return "" if result.complete else result.incomplete_reason or "the run did not reach its end"


def section(result: RunResult) -> Section:
    """The checks that failed, and below them all that were made."""
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
        measured, allowed = (amount(value, check.unit) for value in (check.value, check.threshold))
        about = (f.contestant, f.workload, _numbers(f.trials))
        means = (named(f.affects) if f.affects else EVERY_FIGURE, first_line(check.message), check.remedy)
        table.add(verdict_mark(check.verdict), check.name, *about, measured, allowed, *means)
    return table


def _numbers(numbers: Sequence[int]) -> str:
    text = ", ".join(str(n) for n in numbers[:MOST_NUMBERS])
    more = len(numbers) - MOST_NUMBERS
    return f"{text} and {more} more" if more > 0 else text


def _all_table(result: RunResult) -> Table:
    """Every kind of check: how many trials passed it, and its worst value."""
    table = Table("All checks", columns("check", "valid | suspect | invalid | worst value | allowed"))
    by_name: dict[str, list[Check]] = {}
    for trial in result.trials:
        for check in trial.validity.checks:
            by_name.setdefault(check.name, []).append(check)
    for name, found in by_name.items():
        counts = [str(sum(c.verdict is v for c in found)) for v in Verdict]
        worst = max(found, key=lambda check: check.severity)
        table.add(name, *counts, amount(worst.value, worst.unit), amount(worst.threshold, worst.unit))
    return table
