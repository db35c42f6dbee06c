"""Who takes part in a run, and in which of its workloads.

The rule: a contestant that cannot serve a workload is skipped in that workload, with the reason; a workload
that none of its contestants can serve is refused, with the reason of each.
"""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from jostle import contestant as contestants
from jostle.contestant import Contestant
from jostle.contestant.fit import check_fit
from jostle.contestant.protocols import EXPLAIN, check_explained
from jostle.errors import CannotServe, PlanError
from jostle.plan import Plan
from jostle.runner.compared import Pair

__all__ = ["Participants", "participants", "with_their_labels"]


@dataclass(frozen=True)
class Participants:
    """`contestants`: those that take part, in the plan's order. `cells`: what is measured, each contestant
    with the workloads that it can serve. `unasked`: labels of those that no chosen workload is measured on.
    `skipped`: by label, with the reason, those that take no part; `skipped_workloads`: by label and workload,
    what those that do take part cannot serve.
    """

    contestants: list[Contestant]
    cells: list[Pair]
    unasked: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    skipped_workloads: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def all_take_part(self) -> bool:
        """Whether everything that the plan asks for can be measured."""
        return not self.skipped and not self.skipped_workloads

    def without(self, reasons: Mapping[str, str]) -> "Participants":
        """Less those that cannot run here; `reasons` by label."""
        return replace(
            self,
            contestants=[one for one in self.contestants if one.label not in reasons],
            cells=[cell for cell in self.cells if cell[0] not in reasons],
            skipped=self.skipped | dict(reasons),
            skipped_workloads={k: v for k, v in self.skipped_workloads.items() if k not in reasons},
        )

    def left_out(self) -> Iterator[tuple[str, str]]:
        """Who is skipped, in which workload if not in all of them, and why."""
        yield from ((label, "none of the chosen workloads is measured on it") for label in self.unasked)
        yield from self.skipped.items()
        for label, reasons in self.skipped_workloads.items():
            yield from ((f"{label} in {workload}", why) for workload, why in reasons.items())


def participants(plan: Plan) -> Participants:
    """Those of `plan`, whose contestants have their labels; nothing is built or started.

    Raises `PlanError` for a contestant that no workload is measured on, and for a workload that nobody can
    serve: `CannotServe` where only one was to. The same for what `explain` asks.
    """
    labels, unasked = _measured(plan)
    found = {label: contestants.find(label, plan.contestant) for label in labels}
    cells: list[Pair] = []
    unfit: dict[str, dict[str, str]] = {}
    for name, workload in plan.selected.items():
        asked = [found[label] for label in workload.measured_on(plan.contestants)]
        check = functools.partial(check_fit, name=name, workload=workload, journeys=plan.journey)
        able, unable = _sorted_out(f"workload.{name}", asked, check)
        cells += [(label, name) for label in able]
        for label, why in unable.items():
            unfit.setdefault(label, {})[name] = why
    if plan.explain is not None:  # whom that leaves out is told when its turn comes
        _sorted_out(EXPLAIN, found.values(), check_explained)
    taking_part = {label for label, _ in cells}
    return Participants(
        [contestant for label, contestant in found.items() if label in taking_part],
        sorted(cells, key=lambda cell: labels.index(cell[0])),
        unasked,
        {k: "; ".join(dict.fromkeys(v.values())) for k, v in unfit.items() if k not in taking_part},
        {k: v for k, v in unfit.items() if k in taking_part},
    )


def _sorted_out(
    what: str, asked: Iterable[Contestant], check: Callable[[Contestant], object]
) -> tuple[list[str], dict[str, str]]:
    """The labels of those that can serve `what`, and the others with the reason. Raises where nobody can."""
    able, unable = list[str](), dict[str, CannotServe]()
    for contestant in asked:
        try:
            check(contestant)
        except CannotServe as error:
            unable[contestant.label] = error
        else:
            able.append(contestant.label)
    if len(unable) == 1 and not able:
        raise next(iter(unable.values()))
    reasons = {label: error.message for label, error in unable.items()}
    if reasons and not able:
        raise PlanError(
            f"none of the contestants can serve {what}",
            "\n".join(f"{label}: {why}" for label, why in reasons.items()),
        )
    return able, reasons


def with_their_labels(plan: Plan) -> Plan:
    """Each contestant under its one label wherever the plan names it, "x:workers=1" or "./x" as "x".

    Raises `UnknownName` for one that does not exist.
    """
    return plan.with_labels(functools.cache(lambda name: contestants.find(name, plan.contestant).label))


def _measured(plan: Plan) -> tuple[list[str], list[str]]:
    """Those of the plan's contestants that a workload is driven on, and those that no chosen one is.

    Raises `PlanError` where one stands in the plan for nothing.
    """
    loaded = {label for w in plan.selected.values() for label in w.measured_on(plan.contestants)}
    unasked = [label for label in plan.contestants if label not in loaded]
    if unasked and not (plan.workloads and loaded):
        raise PlanError(
            f"contestants: no workload is measured on {', '.join(unasked)}",
            "choose workloads as well (--workloads), and they are measured under these; or name them there:\n"
            + "\n".join(_who_is_named(plan)),
        )
    return [label for label in plan.contestants if label in loaded], unasked


def _who_is_named(plan: Plan) -> list[str]:
    """For each workload the contestants that it is for; those that are for the same ones in one line."""
    by_names: dict[str, list[str]] = {}
    for name, workload in plan.selected.items():
        by_names.setdefault(", ".join(workload.contestants), []).append(name)
    return [f"{', '.join(workloads)}: for {names}" for names, workloads in by_names.items()]
