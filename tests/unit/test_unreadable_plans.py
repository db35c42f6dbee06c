"""What a recorded plan asks for and this version cannot read is told, and is not taken for granted."""

from pathlib import Path

import pytest

from jostle.analysis.run import analyse
from jostle.capacity.recorded import RecordedSearch
from jostle.errors import NotARun
from jostle.record import RunRecord
from support.synthetic import Trial, closed, lognormal, make_run

PLAN = """
title = "Small"
contestants = ["a"]
rounds = 1
[workload.w]
request = { get = "/fast" }
load = { clients = 1, for = "2s" }
"""

TRIAL = Trial("a", "w", 1, closed(lognormal(0.05, 0.2), 2.0, seed=1), duration=2.0)


def recorded(base: Path, more: str) -> RunRecord:
    return RunRecord.open(make_run(base, [TRIAL], plan_text=PLAN + more))


def test_a_claim_that_cannot_be_read_cannot_be_told(tmp_path: Path) -> None:
    result = analyse(recorded(tmp_path, '[[claim]]\nsays = "It is fast"\nholds = ["p50 of b"]\n'))
    (claim,) = result.claims
    assert (claim.statement, claim.verdict) == ("It is fast", "undecided")
    assert claim.sentence.startswith("It cannot be read: ")


@pytest.mark.parametrize(
    ("more", "key"),
    [
        ('[[starvation]]\nform = "x"\n', "starvation"),
        ('[[ratio]]\ntitle = "x"\n', "ratio"),
        ('[published]\nsource = "A. Author"\n[[published.figures]]\ncontestant = "a"\n', "published.figures"),
    ],
)
def test_other_tables_are_told_in_a_note(tmp_path: Path, more: str, key: str) -> None:
    notes = analyse(recorded(tmp_path, more)).notes
    assert [note for note in notes if note.startswith(f"A [[{key}]] of the recorded plan cannot be read")]


def test_a_plan_that_is_no_toml_is_told(tmp_path: Path) -> None:
    notes = analyse(recorded(tmp_path, '[[require]]\nthat = "p99 < 5 ms\n')).notes
    assert [note for note in notes if note.startswith("The recorded plan cannot be read: ")]


def test_a_plan_that_can_be_read_has_no_such_note(tmp_path: Path) -> None:
    assert not [note for note in analyse(recorded(tmp_path, "")).notes if "cannot be read" in note]


def test_a_run_whose_workloads_are_no_levels_is_no_search_for_a_capacity(tmp_path: Path) -> None:
    """A plan written by hand may have a parameter of this name, too."""
    record = recorded(tmp_path, '[parameters]\ncapacity-slo = "p99 < 5 ms"\n')
    with pytest.raises(NotARun, match="its workload 'w' is no level of a load"):
        RecordedSearch(record)
