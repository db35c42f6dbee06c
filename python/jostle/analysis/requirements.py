"""The plan's `[[require]]`: pass, fail, or cannot tell: the whole interval lies on one side of the limit."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scipy.special import betaincinv

from jostle.analysis.bootstrap import mean_over_rounds, quantiles_over_rounds
from jostle.analysis.cells import seed_of
from jostle.analysis.facts import Facts
from jostle.analysis.quantiles import CONFIDENCE
from jostle.analysis.result import Cell, Estimate, Outcome, Requirement
from jostle.analysis.starvation import Form, compare
from jostle.analysis.trial import rss_max
from jostle.errors import PlanError
from jostle.plan.condition import INDICES, Condition, requirement
from jostle.units import format_bytes, format_duration, format_rate, share

__all__ = ["error_share", "judge_requirements", "outcome"]


@dataclass(frozen=True)
class _Asked:
    """One `[[require]]`."""

    condition: Condition
    workload: str
    contestant: str
    confidence: float

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> "_Asked":
        return cls(
            requirement(str(table.get("that", ""))),
            str(table.get("workload", "")),
            str(table.get("contestant", "")),
            share(str(table.get("confidence", CONFIDENCE))),
        )

    def means(self, contestant: str, workload: str) -> bool:
        names = ("", contestant, contestant.partition(":")[0])
        return self.contestant in names and self.workload in ("", workload)


def judge_requirements(
    plan: Mapping[str, Any],
    grouped: Mapping[tuple[str, str], Sequence[Facts]],
    cells: Mapping[tuple[str, str], Cell],
    skipped: Mapping[str, str],
) -> list[Requirement]:
    """Every requirement for every cell that it is about; one whose cells were not measured cannot be told."""
    found: list[Requirement] = []
    for table in plan.get("require", []):
        try:
            asked = _Asked.of(table)
        except PlanError as error:  # the plan of another version of jostle
            found.append(_unreadable(table, error))
            continue
        judged = list(_judge(asked, plan, grouped, cells))
        found += judged or [_not_measured(asked, skipped)]
    return found


def _judge(
    asked: _Asked,
    plan: Mapping[str, Any],
    grouped: Mapping[tuple[str, str], Sequence[Facts]],
    cells: Mapping[tuple[str, str], Cell],
) -> Iterator[Requirement]:
    forms = list(map(Form.of, plan.get("starvation", [])))
    for (contestant, workload), cell in cells.items():
        if not asked.means(contestant, workload):
            continue
        if asked.condition.quantity not in INDICES:
            estimate = _estimate(asked, grouped[contestant, workload])
            yield _requirement(asked, contestant, workload, estimate, [cell])
            continue
        for form in forms:
            if workload != form.beside and not (asked.workload and workload == form.alone):
                continue
            own = {w: group for (name, w), group in grouped.items() if name == contestant}
            own_cells = {w: c for (name, w), c in cells.items() if name == contestant}
            if form.alone in own and form.beside in own:
                compared = compare(form, own, own_cells, [], asked.confidence)
                index = compared.index if asked.condition.quantity == INDICES[0] else compared.blocking
                both = [own_cells[form.alone], own_cells[form.beside]]
                yield _requirement(asked, contestant, form.beside, index, both)


def _estimate(asked: _Asked, trials: Sequence[Facts]) -> Estimate:
    """The quantity over all rounds, with an interval of the confidence that is asked for."""
    measured = [f for f in trials if f.trial.status != "failed" and f.intervals]
    quantity, confidence = asked.condition.quantity, asked.confidence
    if quantity == "throughput":
        return mean_over_rounds([f.throughput for f in measured], "/s", confidence)
    if quantity == "errors":
        return error_share(measured, confidence)
    if quantity == "memory":
        held = [most for f in measured if (most := rss_max(f)) is not None]
        return mean_over_rounds(held, "bytes", confidence)
    service, _, name = quantity.rpartition(" ")
    times = [f.service if service else f.response for f in measured]
    return quantiles_over_rounds(times, seed_of(asked.contestant, asked.workload), confidence)[name]


def error_share(trials: Sequence[Facts], confidence: float = CONFIDENCE) -> Estimate:
    """Failed requests among those that ended; of intervals over requests and over rounds, the wider one.

    Source of the first: Clopper and Pearson, Biometrika 26 (1934). That none failed proves little.
    """
    failed = [sum(f.errors.values()) for f in trials]
    ended = [n + f.ok() for n, f in zip(failed, trials, strict=True)]
    k, n = sum(failed), sum(ended)
    if n == 0:
        return Estimate(None, unit="share", note="no request came to an end")
    tail = (1 - confidence) / 2
    low = float(betaincinv(k, n - k + 1, tail)) if k else 0.0
    high = float(betaincinv(k + 1, n - k, 1 - tail)) if k < n else 1.0
    rounds = mean_over_rounds([f / e for f, e in zip(failed, ended, strict=True) if e], "share", confidence)
    if rounds.low is not None and rounds.high is not None:
        low, high = min(low, rounds.low), min(1.0, max(high, rounds.high))
    return Estimate(k / n, low, high, "share", n=n)


def outcome(below: bool, limit: float, estimate: Estimate) -> Outcome:
    """ "pass" or "fail" where the whole interval lies on one side of the limit; else "cannot tell"."""
    surely_below = estimate.high is not None and estimate.high < limit and estimate.value is not None
    surely_above = estimate.low is not None and estimate.low > limit and estimate.value is not None
    if surely_below == surely_above:
        return "cannot tell"
    return "pass" if surely_below == below else "fail"


def _requirement(
    asked: _Asked, contestant: str, workload: str, estimate: Estimate, cells: Sequence[Cell]
) -> Requirement:
    condition = asked.condition
    verdict = outcome(condition.below, condition.limit, estimate)
    says = f"{condition.quantity} {_interval(estimate, condition.unit)}"
    if any(cell.verdict == "invalid" for cell in cells):
        verdict, says = "cannot tell", f"the trials were invalid ({says})"
    elif verdict == "cannot tell" and estimate.value is not None and not estimate.note:
        says += ": the limit lies within the interval; more rounds would narrow it"
    return Requirement(
        condition.text, contestant, workload, asked.confidence, estimate, condition.limit, verdict, says
    )


def _unreadable(table: Mapping[str, Any], error: PlanError) -> Requirement:
    that, contestant, workload = (str(table.get(key, "")) for key in ("that", "contestant", "workload"))
    unknown = Estimate(None, unit="", note=error.message)
    return Requirement(that, contestant, workload, CONFIDENCE, unknown, 0.0, "cannot tell", error.message)


def _not_measured(asked: _Asked, skipped: Mapping[str, str]) -> Requirement:
    whys = [f"{name}: {why}" for name, why in skipped.items() if asked.means(name, asked.workload)]
    says = "not measured" + (f" ({'; '.join(whys)})" if whys else "")
    nothing = Estimate(None, unit=asked.condition.unit, note=says)
    condition = asked.condition
    about = (asked.contestant, asked.workload)
    return Requirement(
        condition.text, *about, asked.confidence, nothing, condition.limit, "cannot tell", says
    )


def _interval(e: Estimate, unit: str) -> str:
    if e.value is None:
        return f"is not known: {e.note}"
    value = f"{e.bound} {_amount(e.value, unit)}".strip()
    if e.bound or e.low is None or e.high is None:
        return f"{value} ({e.note})" if e.note else value
    return f"{value} [{_amount(e.low, unit)}, {_amount(e.high, unit)}]"


def _amount(value: float, unit: str) -> str:
    match unit:
        case "s":
            return format_duration(value)
        case "/s":
            return format_rate(value)
        case "bytes":
            return format_bytes(value)
        case "share":
            return f"{value * 100:.2g} %"
        case _:
            return f"{value:.2f}"
