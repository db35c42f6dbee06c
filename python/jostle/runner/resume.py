"""What a killed or stopped run still has to do, read from its record."""

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
    """An unfinished run with its plan, seed and order of trials.

    `skipped`: contestants that could not run when it began. `base`: the folder to which its commands are
    relative. `done`: the numbers of the trials that were not cut short, and whether each ended as it should.
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
        """The trials that are still to be measured, including those that were cut short."""
        return [planned for planned in self.trials if planned.number not in self.done]

    @property
    def to_come(self) -> list[Planned]:
        """The trials that are left, or all trials if the run continues until everything is decided, since
        each of them may get further rounds.
        """
        return self.trials if self.plan.until_decided else self.left

    @property
    def contestants_left(self) -> list[str]:
        """The contestants that may still be measured."""
        return list(dict.fromkeys(planned.contestant for planned in self.to_come))


def unfinished(folder: Path) -> Unfinished | None:
    """The run in `folder`; None if it is complete.

    Raises `NotARun` for a folder that is not a run, has another format, or lacks something that is needed.
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
    """Read the run's plan. Raises `NotARun` if it had secrets, as these are not recorded."""
    plan = parse_plan(record.plan_text, str(record.folder / "plan.toml"), base=record.folder)
    if HIDDEN in record.plan_text:
        raise NotARun(
            f"{record.folder} cannot go on: the secrets of its plan are not kept in the record",
            "run the plan again",
        )
    return plan


def _planned(entry: JournalEntry) -> Planned:
    return Planned(entry["number"], entry["contestant"], entry["workload"], entry["round"])
