"""What a killed or stopped run still has to do, read from its record."""

from dataclasses import dataclass
from pathlib import Path

from jostle.analysis.resuming import why_not_resumed
from jostle.errors import NotARun
from jostle.plan import Plan, parse_plan
from jostle.record import RunRecord
from jostle.runner.schedule import Planned

__all__ = ["Unfinished", "unfinished"]


@dataclass(frozen=True)
class Unfinished:
    """An unfinished run with its plan, seed and order of trials."""

    folder: Path
    plan: Plan
    seed: int
    base: Path | None
    """The folder to which its commands are relative."""
    trials: list[Planned]
    done: dict[int, bool]
    """The numbers of the trials that were not cut short, and whether each ended as it should."""
    repeats_given_up: list[str]
    """Why no trial of it is repeated any more; empty as long as they are."""

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
    """The run in `folder`; None if it has come to its end.

    Raises `NotARun` for a folder that is not a run, has another format, or lacks something that is needed.
    """
    record = RunRecord.open(folder)
    if record.ended:
        return None
    if why := why_not_resumed(record):
        raise NotARun(f"{folder} cannot go on: {why}", "run it again")
    started = next(entry for entry in record.journal if entry["event"] == "run started")
    done = {trial.number: trial.status == "ended" for trial in record.trials if trial.status != "cut short"}
    return Unfinished(
        folder=folder,
        plan=parse_plan(record.plan_text, str(folder / "plan.toml"), base=folder),
        seed=int(started["seed"]),
        base=(folder / started["base"]).resolve() if "base" in started else None,
        trials=[
            Planned(entry["number"], entry["contestant"], entry["workload"], entry["round"])
            for entry in record.planned
        ],
        done=done,
        repeats_given_up=[e.get("why", "") for e in record.journal if e["event"] == "repeats given up"],
    )
