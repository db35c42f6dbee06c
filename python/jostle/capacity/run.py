"""Measures what `search` asks for. Each level is a trial of a growing plan, so that the record, the validity
checks and the report work as for any other run.
"""

import math
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jostle.analysis.trials.data import TrialData
from jostle.capacity.block import Block, block_of
from jostle.capacity.block_length import block_s
from jostle.capacity.levels import BROKEN, by_level
from jostle.capacity.question import CapacityQuestion, with_loads
from jostle.capacity.search import Search, SearchStep, estimate_of
from jostle.capacity.workloads import ALONE, DRAIN, HYSTERESIS_CHECK, LevelWorkload, level_workload
from jostle.formatting import amount, percent
from jostle.generator import executor_for, simulated_in
from jostle.plan import Plan
from jostle.record import RunWriter, TrialRecord
from jostle.record.outcomes import Outcome
from jostle.runner.budget import Budget
from jostle.runner.experiment import run_experiment
from jostle.runner.observer import (
    Building,
    Observer,
    RunEvent,
    RunFolder,
    Tell,
    TrialEnded,
    TrialStarted,
    together,
    unobserved,
)
from jostle.runner.schedule import Planned
from jostle.units import exact_duration, exact_number, format_duration, format_rate

__all__ = ["measure"]

AROUND_S = 1.5
"""Seconds that a trial takes in addition to its load."""

FIRST = 0.25
"""The first level of an open load, as a share of the rate that a single worker could serve."""

SHOWN_AS = {ALONE: "one request at a time", HYSTERESIS_CHECK: "overload and back", DRAIN: "what is left"}

DRAINED_BY, DRAIN_TIMEOUT = 3, "2m"
"""After an overload, a server that was not started by the trial answers a few single requests before the next
block begins: the first of them waits until all that was left behind is done."""

FEW_LEFT, USUAL = 10, 3.0
OVER, OVER_S, UNDER = 1.3, 2.0, 0.8
"""The check for recovery: the factor above the capacity, for how long, and the share of it afterwards."""

RETRY_PAUSES_S = (0.5, 1.0, 2.0)
"""Pauses after which a level is tried again if the server was not there: it may have been restarted."""


def measure(
    question: CapacityQuestion, into: Path, seed: int | None, tell: Tell, observer: Observer = unobserved
) -> Path:
    """Measures, and returns the run's folder. `KeyboardInterrupt` is raised only after everything measured so
    far has been recorded. Raises `JostleError`.
    """
    explorer = Explorer(question, secrets.randbits(32) if seed is None else seed, tell)
    return run_experiment(
        explorer.plan,
        into,
        "capacity",
        explorer.seed,
        executor_for(explorer.plan),
        together(observer, explorer.folder, explorer.observe),
        explorer.further,
    )


class Explorer:
    """The search in progress: observes the trials, and yields the next ones."""

    def __init__(self, question: CapacityQuestion, seed: int, tell: Tell) -> None:
        self.question, self.seed = question, seed
        self.simulated = bool(simulated_in(question.plan))
        self.folder = RunFolder()
        self._tell = tell
        self._budget = Budget(question.budget_s)
        self._spent_s = 0.0
        self._number = 1
        self._levels: dict[int, float] = {}
        self._blocks: list[Block] = []
        self._alone: TrialData | None = None
        self.plan = with_loads(question.plan, {}, simulated=self.simulated)

    # --- what the run tells -------------------------------------------------------------------------------

    def observe(self, event: RunEvent) -> None:
        """Tells what happens, and remembers what was measured."""
        match event:
            case Building(label):
                self._tell(f"building {label}", True)
            case TrialStarted(planned, seconds):
                self._spent_s += seconds + AROUND_S
                about = self._about()
                self._tell(f"measuring {self._named(planned)}{f' ({about})' if about else ''}", False)
            case TrialEnded(planned, status, why):
                self._measured(planned, status, why)

    def _measured(self, planned: Planned, status: str, why: str) -> None:
        data = self._data(planned.number)
        if planned.workload == ALONE:
            self._alone = data
            mean = data.service.mean_s
            self._tell(
                f"one at a time: {amount(mean, 's')} a request" if mean else f"one at a time: {status} {why}",
                True,
            )
        elif planned.number in self._levels:
            block = block_of(data, self._levels[planned.number], self.question.slos)
            self._blocks.append(block)
            self._tell(f"{self._named(planned)}: {self._said(block)}", True)

    def _data(self, number: int) -> TrialData:
        assert self.folder.path is not None
        (folder,) = (self.folder.path / "trials").glob(f"{number:03d}-*")
        return TrialData(TrialRecord(folder))

    def _named(self, planned: Planned) -> str:
        if (level := self._levels.get(planned.number)) is None:
            return SHOWN_AS[planned.workload]
        return self._shown_level(level)

    def _shown_level(self, level: float) -> str:
        return f"{level:g} clients" if self.question.closed else format_rate(level)

    def _said(self, block: Block) -> str:
        if not block.counts:
            return f"does not count: {block.limited or block.spoiled or block.away}"
        if block.died:
            return block.died
        parts = []
        level = next(x for x in by_level(self._blocks, self.question.slos) if x.level == block.level)
        for i, slo in enumerate(self.question.slos):
            tally = block.tallies[i]
            share = tally.exceeded / tally.n if tally.n else 0.0
            what = "failed" if slo.limit_s is None else f"over {format_duration(slo.limit_s)}"
            of_all = f" ({percent(level.share(i))} in {len(level.counted)} blocks)"
            parts.append(f"{percent(share)} {what}{of_all if len(level.counted) > 1 else ''}")
        words = {"holds": "holds", "misses": "misses", "undecided": "not decided yet"}
        return f"{', '.join(parts)}: {words.get(level.provisional_decision, level.provisional_decision)}"

    def _about(self) -> str:
        """What is known so far, in words; "" if there is no estimate yet."""
        found = estimate_of(by_level(self._blocks, self.question.slos))
        if found is None:
            return ""
        low, high = (self._shown_level(float(f"{end:.3g}")) for end in (found.low, found.high))
        return f"between {low} and {high}, {format_duration(max(0.0, self._left_s))} left"

    # --- what comes next ----------------------------------------------------------------------------------

    def further(self, _writer: RunWriter) -> Iterator[tuple[Plan, list[Planned]]]:
        """Yields batch after batch, then the check whether the server recovers from an overload."""
        if self._alone is None or self._hopeless(self._alone):
            return
        search, batch = self._search(self._alone), 0
        while True:
            step = search.next(self._blocks, batch)
            affordable = self._affordable(step)
            if not affordable:
                self._tell(step.why if not step.levels else "the time is spent", True)
                break
            for level in affordable:
                yield self._batch(level, step)
                for pause_s in RETRY_PAUSES_S:
                    if not self._blocks[-1].away:
                        break
                    time.sleep(pause_s)
                    yield self._batch(level, step)
                if self._blocks[-1].away:
                    self._tell("the server does not come back", True)
                    return
                if self._left_behind():
                    self._add(DRAIN, {"clients": 1, "requests": DRAINED_BY}, timeout=DRAIN_TIMEOUT)
                    yield self.plan, [self._planned(DRAIN, 1)]
            batch += 1
        found = estimate_of(by_level(self._blocks, self.question.slos))
        if found is not None and OVER * found.level <= self.question.most:
            self._add(HYSTERESIS_CHECK, self._over_and_back(found.level))
            yield self.plan, [self._planned(HYSTERESIS_CHECK, 1)]

    def _batch(self, level: float, step: SearchStep) -> tuple[Plan, list[Planned]]:
        name = level_workload(LevelWorkload(level, self.question.unit, level in step.held_out))
        self._add(name, self._load(level, step))
        planned = self._planned(name, 1 + sum(block.level == level for block in self._blocks))
        self._levels[planned.number] = level
        return self.plan, [planned]

    def _planned(self, name: str, number: int) -> Planned:
        self._number += 1
        return Planned(self._number, self.plan.contestants[0], name, number)

    def _left_behind(self) -> bool:
        """Whether the last block ended with more unfinished requests than Little's law explains, on a server
        that keeps running between trials and so continues to work on them.
        """
        data = self._blocks[-1].data if self._blocks else None
        contestant = self.plan.contestant.get(self.plan.contestants[0])
        if data is None or not data.recorded or contestant is None or contestant.url is None:
            return False
        assert self._alone is not None
        usual = data.throughput * (self._alone.service.mean_s or 0.0)
        return data.outcomes().get(Outcome.UNFINISHED, 0) > FEW_LEFT + USUAL * usual

    def _search(self, alone: TrialData) -> Search:
        mean = alone.service.mean_s or 1e-3
        question = self.question
        return Search(
            question.slos,
            1.0 if question.closed else min(FIRST / mean, question.most),
            question.most,
            question.closed,
            question.precision,
            self.seed,
            model=not question.quick,
        )

    def _hopeless(self, alone: TrialData) -> bool:
        """Whether the server fails or is too slow even without load; `response` reports this."""
        if alone.trial.status != "ended" or not alone.ok() or alone.error_share > BROKEN:
            return True
        (level,) = by_level([block_of(alone, 1.0, self.question.slos)], self.question.slos)
        return level.provisional_decision == "misses"

    def _affordable(self, step: SearchStep) -> list[float]:
        """The first levels of the step, as many as there is time for."""
        left, chosen = self._left_s, list[float]()
        for level in step.levels:
            left -= self._seconds(level, step) + AROUND_S
            if left < 0:
                break
            chosen.append(level)
        return chosen

    @property
    def _left_s(self) -> float:
        """Seconds left of the budget. A simulated run is charged what a real one would take, so that it is
        the same on every machine.
        """
        return self.question.budget_s - self._spent_s if self.simulated else self._budget.left_s

    def _seconds(self, level: float, step: SearchStep | None = None) -> float:
        """The length of a block."""
        model = step is not None and level in step.model
        return block_s(self.question, self._rate(level), step, model=model)

    def _rate(self, level: float) -> float:
        """Requests per second at `level`; for closed clients an estimate from what was measured so far."""
        if not self.question.closed:
            return level
        seen = [(b.level, b.data.throughput) for b in self._blocks if b.data is not None and b.data.recorded]
        known = [rate for at, rate in seen if at <= level]
        assert self._alone is not None
        return max([self._alone.throughput, *known, 1e-3])

    def _load(self, level: float, step: SearchStep) -> dict[str, Any]:
        seconds = exact_duration(self._seconds(level, step))
        if self.question.closed:
            return {"clients": int(level), "for": seconds}
        return {"rate": f"{exact_number(level)}/s", "for": seconds}

    def _over_and_back(self, capacity: float) -> dict[str, Any]:
        """A load above the capacity, then one below it for as long as the backlog takes, plus a block."""
        drain_s = (OVER - UNDER) / (1 - UNDER) * OVER_S
        after_s = exact_duration(round(drain_s + self._seconds(capacity * UNDER), 1))
        above, below = capacity * OVER, capacity * UNDER
        steps = [("above", exact_duration(OVER_S), above), ("back", after_s, below)]
        if self.question.closed:
            whole = [(name, seconds, max(1, math.ceil(level))) for name, seconds, level in steps]
            return {"phases": [{"name": n, "for": s, "clients": c} for n, s, c in whole]}
        rates = [(name, seconds, float(f"{level:.3g}")) for name, seconds, level in steps]
        return {"rates": [{"name": n, "for": s, "rate": f"{exact_number(r)}/s"} for n, s, r in rates]}

    def _add(self, name: str, load: dict[str, Any], **more: Any) -> None:
        self.plan = with_loads(self.plan, {name: load}, simulated=self.simulated, more=more)
