"""The record of a search, complete or stopped early, in the terms of the search."""

from jostle.analysis.stats.crossing import Crossing
from jostle.analysis.trials.data import TrialData
from jostle.capacity import workloads
from jostle.capacity.block import Block, block_of
from jostle.capacity.levels import Level, by_level, crossing_of
from jostle.capacity.slo import Slo, read_slos
from jostle.errors import NotARun
from jostle.plan.criteria.conditions import SLO_PARAMETER
from jostle.plan.recorded import RecordedPlan
from jostle.record import RunRecord
from jostle.units import format_rate

__all__ = ["RecordedSearch", "slos_of"]


def slos_of(plan: RecordedPlan) -> tuple[Slo, ...]:
    """What must hold, if the plan is that of a search; else nothing."""
    texts = str(plan.parameters.get(SLO_PARAMETER, ""))
    return read_slos([part.strip() for part in texts.split(";")]) if texts else ()


class RecordedSearch:
    """What a search for a capacity measured.

    Raises `NotARun` for other runs, such as that of a plan written by hand whose workloads are no levels.
    """

    def __init__(self, record: RunRecord) -> None:
        plan = RecordedPlan.parse(record.plan_text)
        self.slos = slos_of(plan)
        if not self.slos:
            raise NotARun(f"{record.folder} is not a run of jostle capacity", "jostle report shows it")
        self.record, self.plan = record, plan
        self.alone: TrialData | None = None
        self.back: TrialData | None = None
        self.held_out: set[float] = set()
        self.unit = "/s"
        blocks: list[Block] = []
        for trial in record.trials:
            match trial.workload:
                case workloads.ALONE:
                    self.alone = TrialData(trial)
                case workloads.HYSTERESIS_CHECK:
                    self.back = TrialData(trial)
                case workloads.DRAIN:
                    pass
                case name:
                    blocks.append(self._block(TrialData(trial), name))
        self.levels: list[Level] = by_level(blocks, self.slos)

    def _block(self, data: TrialData, name: str) -> Block:
        try:
            level, self.unit, held_out = workloads.read_level(name)
        except ValueError:
            raise NotARun(
                f"{self.record.folder} is not a run of jostle capacity: "
                f"its workload {name!r} is no level of a load",
                "jostle report shows it",
            ) from None
        if held_out:
            self.held_out.add(level)
        return block_of(data, level, self.slos)

    @property
    def crossings(self) -> list[Crossing | None]:
        """Where each SLO ceases to hold; None for one that holds, or breaks, everywhere."""
        return [crossing_of(self.levels, i) for i in range(len(self.slos))] if self.levels else []

    def shown(self, level: float) -> str:
        """The level as it is shown to readers."""
        return format_rate(level) if self.unit == "/s" else f"{level:g} clients"
