"""Who takes part in a run, and in which of its workloads.

A contestant that cannot serve a workload is skipped there, with the reason. A workload that none of its
contestants can serve is refused, with the reason of each.
"""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from jostle import contestant as contestants
from jostle.analysis.results.keys import Key
from jostle.contestant import Contestant
from jostle.contestant.compatibility import check_fit
from jostle.contestant.protocols import EXPLAIN, check_explained
from jostle.errors import CannotServe, ContestantError, MissingRuntime, PlanError
from jostle.plan import Plan

__all__ = ["Participants", "participants", "with_their_labels"]


@dataclass(frozen=True)
class Participants:
    """Who takes part in what."""

    contestants: list[Contestant]
    """Those that take part, in the plan's order."""
    cells: list[Key]
    """What is measured: each contestant with each workload that it can serve."""
    unasked: list[str] = field(default_factory=list)
    """Labels of contestants on which no chosen workload is measured."""
    skipped: dict[str, str] = field(default_factory=dict)
    """Contestants that take no part, with the reason, by label."""
    skipped_workloads: dict[str, dict[str, str]] = field(default_factory=dict)
    """Workloads that a contestant cannot serve though it takes part, with the reason, by label and
    workload."""

    def without(self, missing: Mapping[str, MissingRuntime]) -> "Participants":
        """A copy without the contestants that cannot run here. `missing`: why not, by label.

        Raises `MissingRuntime` if there was only one contestant, and `ContestantError` if none is left.
        """
        left = [one for one in self.contestants if one.label not in missing]
        if not left:
            if len(missing) == 1:
                raise next(iter(missing.values()))
            raise ContestantError(
                "none of the contestants can run here", "\n".join(map(str, missing.values()))
            )
        return replace(
            self,
            contestants=left,
            cells=[cell for cell in self.cells if cell[0] not in missing],
            skipped=self.skipped | {label: str(error) for label, error in missing.items()},
            skipped_workloads={k: v for k, v in self.skipped_workloads.items() if k not in missing},
        )

    def left_out(self) -> Iterator[tuple[str, str]]:
        """Who is skipped (and in which workload, if not in all), and why."""
        yield from ((label, "none of the chosen workloads is measured on it") for label in self.unasked)
        yield from ((label, "; ".join(why.splitlines())) for label, why in self.skipped.items())
        for label, reasons in self.skipped_workloads.items():
            yield from ((f"{label} in {workload}", why) for workload, why in reasons.items())


def participants(plan: Plan) -> Participants:
    """The participants of a plan that names contestants by their labels. Nothing is built or started.

    Raises `PlanError` for a contestant on which no workload is measured, and for a workload (or `explain`)
    that no contestant can serve; `CannotServe` if only one contestant was meant to.
    """
    labels, unasked = _measured(plan)
    found = {label: contestants.find(label, plan.contestant) for label in labels}
    cells: list[Key] = []
    unfit: dict[str, dict[str, str]] = {}
    for name, workload in plan.selected.items():
        chosen = [found[label] for label in workload.measured_on(plan.contestants)]
        check = functools.partial(check_fit, name=name, workload=workload, journeys=plan.journey)
        able, unable = _sorted_out(f"workload.{name}", chosen, check)
        cells += [(label, name) for label in able]
        for label, why in unable.items():
            unfit.setdefault(label, {})[name] = why
    if plan.explain is not None:  # who is left out of it is reported later
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
    what: str, candidates: Iterable[Contestant], check: Callable[[Contestant], object]
) -> tuple[list[str], dict[str, str]]:
    """The labels of contestants that can serve `what`, and the reasons of the others. Raises if none can."""
    able, unable = list[str](), dict[str, CannotServe]()
    for contestant in candidates:
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
    """The plan with each contestant's canonical label wherever it is named ("x:workers=1" or "./x" as "x").

    Raises `UnknownName` for a contestant that does not exist.
    """
    return plan.with_labels(functools.cache(lambda name: contestants.find(name, plan.contestant).label))


def _measured(plan: Plan) -> tuple[list[str], list[str]]:
    """The labels of contestants on which a chosen workload is measured, and of the others.

    Raises `PlanError` if a contestant is listed although no workload is measured on it.
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
    """Lines that say which contestants each workload is for; workloads for the same ones share a line."""
    by_names: dict[str, list[str]] = {}
    for name, workload in plan.selected.items():
        by_names.setdefault(", ".join(workload.contestants), []).append(name)
    return [f"{', '.join(workloads)}: for {names}" for names, workloads in by_names.items()]
