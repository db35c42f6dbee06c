"""A search for a capacity while it goes on: which levels were tried, and whether the SLO holds there."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jostle.analysis.trials.data import TrialData
from jostle.capacity.block import Block, block_of
from jostle.capacity.levels import Level, by_level
from jostle.capacity.recorded import slos_of
from jostle.capacity.workloads import LevelWorkload, read_level
from jostle.errors import NotARun
from jostle.formatting import MISSING, percent
from jostle.live.followed import Attempt, FollowedRun, TrialPlace
from jostle.record import TrialRecord
from jostle.units import format_duration, format_rate

__all__ = ["SearchSoFar"]

SAYS = {
    "holds": "✓ holds",
    "misses": "✗ misses",
    "undecided": "? not decided",
    "generator": "? the generator was the limit",
    "spoiled": "? disturbed: does not count",
    "away": "? the server was not there",
}

RUNNING = "▶ running"


class SearchSoFar:
    """The blocks of a search, each analysed once, when its trial is over.

    Raises `BadValue` for SLOs that cannot be read.
    """

    def __init__(self, run: FollowedRun) -> None:
        self._run = run
        self.slos = slos_of(run.plan)
        """Empty if the run is no search."""
        self._blocks: dict[Attempt, Block] = {}

    def levels(self, over: Sequence[TrialPlace]) -> list[Level]:
        """All levels of trials that are over, in ascending order."""
        found = []
        for place in over:
            level = _level_of(place)
            if level is not None and place.key not in self._blocks:
                with contextlib.suppress(NotARun):  # damaged: the report says so
                    self._blocks[place.key] = self._block(place, level.level)
            found += [self._blocks[place.key]] if place.key in self._blocks else []
        return by_level(found, self.slos)

    def table(self, over: Sequence[TrialPlace], running: TrialPlace | None) -> Mapping[str, Any]:
        """As `showTables` draws it. `running`: the trial that runs."""
        trying = None if running is None else _level_of(running)
        levels = self.levels(over)
        rows = {level.level: [_shown(level.level, self._unit), *self._row(level)] for level in levels}
        if trying is not None:
            row = rows.setdefault(
                trying.level, [_shown(trying.level, trying.unit), "0", *([MISSING] * len(self.slos))]
            )
            rows[trying.level] = [*row[: 2 + len(self.slos)], RUNNING]
        return {
            "title": "Levels tried",
            "said": "",
            "columns": [
                "blocks",
                *(_broken(slo.limit_s) for slo in self.slos),
                "; ".join(s.text for s in self.slos),
            ],
            "rows": [rows[level] for level in sorted(rows)],
        }

    def _row(self, level: Level) -> Iterator[str]:
        yield str(len(level.blocks))
        for number in range(len(self.slos)):
            yield percent(level.share(number) if level.counted else None)
        yield SAYS[level.provisional_decision]

    @property
    def _unit(self) -> str:
        """Of all levels: they are clients, or a rate."""
        levels = filter(None, map(_level_of, self._run.state.trials))
        return next((level.unit for level in levels), "/s")

    def _block(self, place: TrialPlace, level: float) -> Block:
        trial = self._run.trial(place.number)
        if trial is None:
            raise NotARun(f"there is no trial {place.number}")
        return block_of(TrialData(TrialRecord(trial.folder)), level, self.slos)


def _level_of(place: TrialPlace) -> LevelWorkload | None:
    """None for a trial beside the search."""
    try:
        return read_level(place.workload)
    except ValueError:
        return None


def _shown(level: float, unit: str) -> str:
    return format_rate(level) if unit == "/s" else f"{level:g} clients"


def _broken(limit_s: float | None) -> str:
    return "failed" if limit_s is None else f"over {format_duration(limit_s)}"
