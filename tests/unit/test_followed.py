"""What a page knows of a run by its journal: also when that is damaged, or gone."""

import json
from pathlib import Path

import pytest

from jostle.live.followed import FollowedRun
from jostle.record.folder import runs_inside
from jostle.record.layout import JOURNAL
from support.synthetic import Trial, closed, lognormal, make_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    trials = [Trial("a", "w", number, closed(lognormal(0.01, 0.1), 1.0), 1.0) for number in (1, 2)]
    return make_run(tmp_path, trials)


def test_a_damaged_journal_is_said_to_be_and_what_was_read_stays(run: Path) -> None:
    journal = run / JOURNAL
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]))
    followed = FollowedRun(run)
    assert followed.read()
    assert followed.state.status == "killed"
    trials = followed.state.trials
    assert [trial.status for trial in trials] == ["ended", "ended"]
    journal.write_bytes(b"".join(lines[:-1]) + b'{"event": "trial started"}\n')
    assert followed.read()
    assert followed.state.status == "damaged"
    assert "journal.ndjson" in followed.state.why
    assert followed.state.trials == trials
    assert not followed.read(), "nothing more is known of it"


def test_a_journal_that_is_gone_is_a_run_that_is_gone(run: Path) -> None:
    followed = FollowedRun(run)
    followed.read()
    (run / JOURNAL).unlink()
    assert followed.read()
    assert followed.state.status == "gone"
    assert len(followed.state.trials) == 2
    assert runs_inside(run.parent) == []


def test_thousands_of_trials_are_read_in_one_go(run: Path) -> None:
    numbers = range(3, 10_001)
    entries = [
        {"event": "trial planned", "number": n, "contestant": "a", "workload": "w", "round": n}
        for n in numbers
    ]
    entries += [{"event": "trial started", "number": number} for number in numbers]
    with (run / JOURNAL).open("a") as journal:
        journal.writelines(json.dumps({"at": 1, **entry}) + "\n" for entry in entries)
    followed = FollowedRun(run)
    followed.read()
    trials = followed.state.trials
    assert [(trial.number, trial.attempt) for trial in trials] == [(n, 1) for n in range(1, 10_001)]
    assert followed.state.newest == 10_000
