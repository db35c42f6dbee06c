"""Earlier runs of a plan on this machine: what they say of how much its rounds vary is noted before a run.

It is kept in the run's journal, so that the run says the same wherever it is read, and after the earlier ones
are gone.
"""

from pathlib import Path

from jostle.record import RunWriter
from jostle.record.folder import runs_inside
from jostle.record.setting import setting_in

__all__ = ["note_earlier_runs"]

MAX_RUNS = 20
"""So many earlier runs are used, the latest."""

MAX_TRIALS = 60
"""If they have more trials than this together, the earliest are left out: reading them would take long."""


def note_earlier_runs(writer: RunWriter) -> None:
    """Note in the journal what the latest complete runs of the same plan beside this one say, if any do."""
    folders = _same_plan(writer.folder)
    if not folders:
        return
    from jostle.analysis.earlier import spreads_of  # numpy would delay the first request
    from jostle.analysis.history import indexed

    runs = [run for run in indexed(writer.folder.parent, folders) if run.complete]
    if spreads := spreads_of(runs):
        writer.journal("earlier runs", runs=len(runs), spreads=spreads)


def _same_plan(folder: Path) -> list[Path]:
    """The latest runs beside `folder` with its plan, on its machine."""
    setting = setting_in(folder)
    found, trials = list[Path](), 0
    for path in reversed(runs_inside(folder.parent)):
        if path == folder or setting is None or setting_in(path) != setting:
            continue
        trials += sum(1 for _ in (path / "trials").glob("*"))
        if trials > MAX_TRIALS or len(found) == MAX_RUNS:
            break
        found.append(path)
    return found[::-1]
