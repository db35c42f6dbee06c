"""Idle connections that the server ended with a response are noted, and make no run suspect."""

from pathlib import Path
from typing import Any

from jostle.analysis.run import judge
from jostle.analysis.topics.protocols.dismissals import dismissals_note
from jostle.analysis.trials.data import TrialData
from support.judging import STEADY, edited
from support.synthetic import Trial, closed


def noted(folder: Path, dismissals: dict[str, int]) -> tuple[str, str]:
    """The note, and the verdict."""

    def add(interval: dict[str, Any]) -> None:
        interval["workloads"][0]["dismissals"] = dismissals

    record = edited(folder, Trial("node", "fast", 1, closed(STEADY, 2.0), 2.0), add)
    return dismissals_note([TrialData(record)]), judge(record).verdict


def test_a_408_is_explained_by_the_pause(tmp_path: Path) -> None:
    note, verdict = noted(tmp_path, {"408": 3})
    assert note.startswith("The server ended 6 idle connections with 408, as its idle limit is shorter than")
    _, without = noted(tmp_path / "without", {})
    assert verdict == without


def test_other_statuses_are_named(tmp_path: Path) -> None:
    note, _ = noted(tmp_path, {"408": 1, "503": 2})
    assert "6 idle connections" in note
    assert "503" in note


def test_records_without_the_count_have_no_note(tmp_path: Path) -> None:
    note, _ = noted(tmp_path, {})
    assert note == ""
