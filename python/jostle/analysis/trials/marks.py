"""The moments of a trial that its pictures mark: phases, changes by hand, what was lost."""

from collections.abc import Iterable, Iterator

from jostle.analysis.results import Mark
from jostle.analysis.trials.data import TrialData
from jostle.record.lost_generator import LostGenerator
from jostle.record.steered import described

__all__ = ["marks_of", "of_lost"]


def marks_of(data: TrialData) -> list[Mark]:
    """All of them, in order; where the load began is none."""
    return sorted({*_marks(data)}, key=lambda mark: mark.at_s)


def _marks(data: TrialData) -> Iterator[Mark]:
    for one in data.steered:
        yield Mark(one["at_ns"] / 1e9, "steered", described(one))
    for phase in data.phases[1:]:
        yield Mark(phase.start_s, "phase", phase.name)
    for outage in data.outages:
        yield Mark(outage.start_s, "lost", "no response")
        if outage.ends:
            yield Mark(outage.end_s, "back", "responses again")
    yield from of_lost(data.trial.generators_lost)


def of_lost(generators: Iterable[LostGenerator]) -> Iterator[Mark]:
    """Of generators that were lost, and of shares that another one took over."""
    for one in generators:
        name = f"generator {one['generator']} of {one['of']}"
        yield Mark(one["at_ns"] / 1e9, "lost", f"{name} lost")
        if (until_ns := one.get("until_ns")) is not None:
            yield Mark(until_ns / 1e9, "back", f"{name} replaced")
