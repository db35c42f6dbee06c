"""What a killed or stopped run still has to do: read from its record, where it goes on."""

from dataclasses import dataclass
from pathlib import Path

from jostle.errors import NotARun
from jostle.plan import Plan, parse_plan
from jostle.record import RunRecord
from jostle.record.layout import JournalEntry
from jostle.runner.schedule import Planned
from jostle.text import HIDDEN

__all__ = ["Unfinished", "unfinished"]


@dataclass(frozen=True)
class Unfinished:
    """A run with its own plan, seed and order of trials.

    `skipped`: contestants that could not run when it began. `base`: the folder that its commands count from.
    `done`: the numbers of the trials that came to their own end, and whether each ended as it should.
    """

    folder: Path
    plan: Plan
    seed: int
    skipped: list[str]
    base: Path | None
    trials: list[Planned]
    done: dict[int, bool]

    @property
    def left(self) -> list[Planned]:
        """What is still to be measured, trials that were cut short included."""
        return [planned for planned in self.trials if planned.number not in self.done]

    @property
    def to_come(self) -> list[Planned]:
        """What is left; of a run that goes on until all is decided everything, as any of it may get further
        rounds.
        """
        return self.trials if self.plan.until_decided else self.left

    @property
    def contestants_left(self) -> list[str]:
        """Those that still have something to do."""
        return list(dict.fromkeys(planned.contestant for planned in self.to_come))


def unfinished(folder: Path) -> Unfinished | None:
    """The run in `folder`; None when it is complete.

    Raises `NotARun` for a folder that is no run, is of another format, or does not hold all that is needed.
    """
    record = RunRecord.open(folder)
    if record.ended:
        return None
    journal = {entry["event"]: entry for entry in reversed(record.journal)}  # the first of each event
    if "trial started" not in journal:
        raise NotARun(
            f"{folder} was stopped before its first trial: there is nothing to keep", "run it again"
        )
    started = journal["run started"]
    plan = _plan(record)
    done = {trial.number: trial.status == "ended" for trial in record.trials if trial.status != "cut short"}
    return Unfinished(
        folder=folder,
        plan=plan,
        seed=int(started["seed"]),
        skipped=[str(e["contestant"]) for e in record.journal if e["event"] == "contestant skipped"],
        base=(folder / started["base"]).resolve() if "base" in started else None,
        trials=[_planned(entry) for entry in record.planned],
        done=done,
    )


def _plan(record: RunRecord) -> Plan:
    """Raises `NotARun` for a plan whose secrets were not written down."""
    plan = parse_plan(record.plan_text, str(record.folder / "plan.toml"), base=record.folder)
    if HIDDEN in record.plan_text:
        raise NotARun(
            f"{record.folder} cannot go on: the secrets of its plan are not kept in the record",
            "run the plan again",
        )
    return plan


def _planned(entry: JournalEntry) -> Planned:
    return Planned(entry["number"], entry["contestant"], entry["workload"], entry["round"])
