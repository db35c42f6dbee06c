"""What more rounds could still decide, for runs that continue until all is decided."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from jostle.analysis.compare.pairs import Key
from jostle.analysis.judge.claims import Measured, missing, sides_of
from jostle.analysis.results import Claim, Comparison, Estimate, Requirement, RunResult
from jostle.analysis.stats.enough import LEAST_ROUNDS
from jostle.analysis.summaries import by_workload
from jostle.analysis.trial.data import TrialData
from jostle.plan import claims as asked
from jostle.plan.metrics import INDICES
from jostle.plan.model import Starvation
from jostle.plan.recorded import RecordedPlan
from jostle.record import RunRecord
from jostle.record.verdict import Verdict

__all__ = ["Question", "questions"]


@dataclass(frozen=True)
class Question:
    """A requirement, a claim or a comparison. `cells`: the contestants and workloads that it is about.

    `open`: it is not decided, and more rounds could decide it. They cannot if something was not measured, was
    invalid, or needs more requests in each round.
    """

    text: str
    cells: frozenset[Key]
    open: bool


def questions(record: RunRecord, result: RunResult) -> list[Question]:
    """The requirements and claims of the run's plan; if it has neither, its comparisons.

    `result`: the analysis of `record`, with intervals that hold under repeated looks.
    """
    plan = RecordedPlan.parse(record.plan_text)
    found = [
        *(_requirement(one, result, plan.starvation) for one in result.requirements),
        *_claims(plan, record, result),
    ]
    return found or [_comparison(one) for one in result.comparisons]


def _requirement(one: Requirement, result: RunResult, forms: Sequence[Starvation]) -> Question:
    cells = {(one.contestant, one.workload), *_alone((one.contestant, one.workload), forms)}
    trusted = not _invalid(result, cells)
    undecided = one.verdict == "cannot tell" and trusted and _can_narrow(one.estimate)
    return Question(f"{one.that} ({one.contestant}, {one.workload})", frozenset(cells), undecided)


def _claims(plan: RecordedPlan, record: RunRecord, result: RunResult) -> Iterator[Question]:
    grouped = by_workload([TrialData(trial) for trial in record.trials])
    summaries = {(cell.contestant, cell.workload): cell for cell in result.summaries}
    measured = Measured(grouped, summaries, result.starvation, result.skipped, result.skipped_workloads)
    for one, judged in zip(plan.claim, result.claims, strict=True):
        cells = frozenset(_cells(one, measured, plan.starvation))
        lacking = missing(one.needs, sorted(cells), measured)
        yield Question(one.says, cells, not lacking and _open(judged, result, cells))


def _cells(one: asked.Claim, measured: Measured, forms: Sequence[Starvation]) -> Iterator[Key]:
    for part in one.holds:
        for key in (key for pair in sides_of(part, measured) for key in pair if key is not None):
            yield key
            if part.quantity in INDICES:
                yield from _alone(key, forms)


def _alone(key: Key, forms: Sequence[Starvation]) -> Iterator[Key]:
    """Both workloads of the forms that this one belongs to."""
    for form in forms:
        if key[1] in (form.alone, form.with_):
            yield key[0], form.alone
            yield key[0], form.with_


def _open(judged: Claim, result: RunResult, cells: frozenset[Key]) -> bool:
    if judged.verdict != "cannot tell" or _invalid(result, cells):
        return False
    blocking = [part for part in judged.criteria if part.verdict in ("cannot tell", "size unclear")]
    return all(_can_narrow(part.estimate) and not part.absent for part in blocking) and bool(blocking)


def _comparison(one: Comparison) -> Question:
    (primary,) = [d for d in one.differences if d.quantity == one.primary] or one.differences[:1]
    undecided = primary.finding in ("unclear", "may be chance") and primary.verdict is not Verdict.INVALID
    cells = frozenset({(one.a, one.workload), (one.b, one.workload)})
    text = f"{one.b} against {one.a} ({one.workload})"
    return Question(text, cells, undecided and _can_narrow(primary.ratio))


def _can_narrow(estimate: Estimate) -> bool:
    """Whether there is an interval, which more rounds would shorten, or only too few rounds for one."""
    return estimate.value is not None and (estimate.low is not None or estimate.n < LEAST_ROUNDS)


def _invalid(result: RunResult, cells: Collection[Key]) -> bool:
    return any(
        cell.verdict is Verdict.INVALID
        for cell in result.summaries
        if (cell.contestant, cell.workload) in cells
    )
