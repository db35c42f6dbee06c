"""Reads a run folder, whole or cut short: what was written can be read after any interruption.

Nothing in the folder is trusted. A file that cannot be read as what it should be raises `NotARun` with its
name; a trial with such a file is left out of `RunRecord.trials` and named in `RunRecord.damage`.
"""

import fcntl
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from jostle.errors import NotARun
from jostle.host.files import open_regular
from jostle.record.folder import check_format, folders_inside, is_run, read_host, runs_inside
from jostle.record.journal import read_journal
from jostle.record.journal_line import RunResumed, RunStopped, TrialOver, TrialPlanned, TrialSetAside
from jostle.record.jsonl import check_fingerprint, damaged, is_as_before, read_bytes, read_object
from jostle.record.layout import EXPLAINED, JOURNAL, Explained, Fingerprint, HostFacts, JournalEntry
from jostle.record.trial import TrialRecord

__all__ = ["RunRecord"]


class RunRecord:
    """One run. Open it with `RunRecord.open`."""

    def __init__(self, folder: Path, host: HostFacts) -> None:
        self.folder = folder
        self.host = host

    @classmethod
    def open(cls, folder: Path | str) -> "RunRecord":
        """Open the folder of a run. Raises NotARun if it is not a run, or if its format is newer."""
        folder = Path(folder)
        if not folder.exists():
            raise NotARun(
                f"there is no folder {str(folder)!r}", "give the folder of a run, for example one under runs/"
            )
        if not is_run(folder):
            raise NotARun(f"{str(folder)!r} is not a run of jostle: it has no {JOURNAL}", _newest_in(folder))
        try:
            host = read_host(folder)
        except NotARun as error:
            raise NotARun(f"{str(folder)!r} is not a run of jostle: {error.message}") from None
        if host is None:
            raise NotARun(f"{str(folder)!r} is not a run of jostle: its host.json is missing")
        check_format(host["format"], folder, host.get("jostle", ""))
        return cls(folder, host)

    @cached_property
    def plan_text(self) -> str:
        """The plan as it ran (TOML). Raises NotARun if it cannot be read."""
        path = self.folder / "plan.toml"
        try:
            return (read_bytes(path, MAX_PLAN_BYTES) or b"").decode("utf-8")
        except UnicodeDecodeError as error:
            raise damaged(path, f"it is not UTF-8: {error.reason}") from None

    @cached_property
    def explained(self) -> dict[str, str]:
        """Contestant → the paragraph that says how it behaves, if the run was asked to explain them."""
        found: dict[str, str] = {}
        for path in sorted((self.folder / EXPLAINED).glob("*.json")):
            try:
                known = read_object(path, Explained)
            except NotARun as error:
                known = {
                    "target": path.stem,
                    "paragraph": f"Its explanation cannot be read: {error.message}.",
                }
            if known is not None:
                found[known["target"]] = known["paragraph"]
        return found

    @property
    def journal(self) -> list[JournalEntry]:
        """What happened, in order. Raises NotARun if the journal cannot be read."""
        return self._journal[0]

    @cached_property
    def _journal(self) -> tuple[list[JournalEntry], list[str]]:
        return read_journal(self.folder / JOURNAL, checked=self.host["format"] >= 2)

    @property
    def trials(self) -> list[TrialRecord]:
        """All trials that began and can be read, by number."""
        return self._trials[0]

    @property
    def damage(self) -> list[str]:
        """A sentence for each damaged file, and for each trial that is missing; empty for a sound folder."""
        return [*self._journal[1], *self._changed_files(), *self._trials[1], *self._missing()]

    @cached_property
    def _trials(self) -> tuple[list[TrialRecord], list[str]]:
        """The trials that are sound, and why the others are not."""
        sound: dict[int, TrialRecord] = {}
        damage: list[str] = []
        outcomes = {number: e["outcome"] for number, e in self._over().items() if "outcome" in e}
        for folder in sorted(folders_inside(self.folder / "trials", "*")):
            trial = TrialRecord(folder)
            try:
                if read_bytes(folder / "trial.json") is None:
                    continue  # nothing was written yet when jostle was killed; `_missing` reports others
                if (expected := outcomes.get(trial.number)) is not None:
                    check_fingerprint(folder / "outcome.json", expected)
                trial.check()
                if trial.number in sound:
                    raise NotARun(f"{folder.name} has the number of another trial")
            except NotARun as error:
                damage.append(error.message)
            else:
                sound[trial.number] = trial
        return [sound[number] for number in sorted(sound)], damage

    def _changed_files(self) -> Iterator[str]:
        """A sentence for each file that is not as the journal states.

        A plan that was extended is the last one in the journal, or the one before it if jostle was killed in
        between.
        """
        stated: dict[str, list[Fingerprint]] = {}
        for entry in self.journal:
            if entry["event"] == "run started" or entry["event"] == "plan extended":
                for name, expected in entry.get("files", {}).items():
                    stated.setdefault(name, []).append(expected)
        for name, known in stated.items():
            if name not in ("plan.toml", "host.json"):
                continue
            try:
                check_fingerprint(self.folder / name, known[-1])
            except NotARun as error:
                if len(known) < 2 or not is_as_before(self.folder / name, known[-2]):
                    yield error.message

    def _missing(self) -> Iterator[str]:
        """A sentence on trials that ended by the journal, or should have, but have no readable record."""
        over = set(self._over())
        if self.ended:
            over |= {planned["number"] for planned in self.planned}
        missing = sorted(over - {trial.number for trial in self.trials})
        if missing:
            numbers = ", ".join(map(str, missing[:10])) + (", …" if len(missing) > 10 else "")
            yield f"no readable record of trial {numbers} ({len(missing)} of {len(self.planned)} planned)"

    def _over(self) -> dict[int, TrialOver]:
        """How trials came to an end, by number, without those that were set aside since then."""
        found: dict[int, TrialOver] = {}
        for entry in self.journal:
            match entry["event"]:
                case "trial ended" | "trial failed" | "trial cut short":
                    found[entry["number"]] = entry
                case "trial set aside":
                    found.pop(entry["number"], None)
        return found

    @property
    def repeated(self) -> list[TrialSetAside]:
        """The events "trial set aside" of trials that were spoiled: number, folder, why, causes."""
        return [e for e in self.journal if e["event"] == "trial set aside" and e.get("why")]

    @property
    def planned(self) -> list[TrialPlanned]:
        """The events "trial planned", with number, contestant, workload and round."""
        return [entry for entry in self.journal if entry["event"] == "trial planned"]

    @property
    def ended(self) -> bool:
        """Whether the run came to its own end."""
        return any(entry["event"] == "run ended" for entry in self.journal)

    @property
    def being_written(self) -> bool:
        """Whether a jostle on this machine holds the folder now, as `RunWriter` does."""
        try:
            with open_regular(self.folder / JOURNAL) as journal:
                fcntl.flock(journal, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:  # a file system without locks
            return False
        return False

    @property
    def complete(self) -> bool:
        """Whether the run came to its own end, and its record is whole."""
        return self.ended and not self.damage

    @property
    def resumed(self) -> list[RunResumed]:
        """When and where it was resumed: "at" (Unix ns), "done", "left", "host" (facts of the machine)."""
        return [entry for entry in self.journal if entry["event"] == "run resumed"]

    @property
    def incomplete_why(self) -> str:
        """Empty for a complete run; else what is missing and why."""
        return "; ".join([*self._unfinished(), *self.damage])

    @property
    def in_progress(self) -> bool:
        """Whether a jostle on this machine is still measuring it."""
        return not self.ended and self._stopped is None and self.being_written

    @property
    def _stopped(self) -> RunStopped | None:
        """How the run was stopped; None if its journal just ends, or if it went on since then."""
        entry: JournalEntry
        for entry in reversed(self.journal):
            if entry["event"] == "run stopped":
                return entry
            if entry["event"] == "run resumed":
                return None
        return None

    def _unfinished(self) -> Iterator[str]:
        if self.ended:
            return
        over = sum(trial.status != "cut short" for trial in self.trials)
        stopped = self._stopped
        why = (
            stopped.get("why") or "stopped"
            if stopped
            else "it is still being written"
            if self.in_progress
            else "its journal just ends: jostle was killed, or could write no more"
        )
        yield f"{over} of {len(self.planned)} trials are complete; {why}"


MAX_PLAN_BYTES = 4 << 20


def _newest_in(folder: Path) -> str:
    """If someone gave the folder of all runs, a hint with the name of the newest one."""
    runs = runs_inside(folder)
    return f"it holds {len(runs)} runs, the newest is {str(runs[-1])!r}" if runs else ""
