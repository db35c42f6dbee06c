"""A capacity of a server that goes away, or gives other responses under load; the highest level asked for."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from jostle.analysis.results import CapacityResult
from jostle.capacity.answer import capacity_of
from jostle.capacity.block import Block, SloTally
from jostle.capacity.levels import by_level, first_limited
from jostle.capacity.recorded import RecordedSearch
from jostle.capacity.search import estimate_of
from jostle.capacity.slo import read_slos
from jostle.cli.capacity import _max_level
from jostle.errors import PlanError
from jostle.record import RunRecord
from support.judging import POISSON, STEADY
from support.synthetic import Trial, closed, make_run, open_loop

SLOS = read_slos(["p99 < 100 ms"])


def counted(level: float, exceeded: int) -> Block:
    return Block(level, 1, (SloTally(2000, exceeded),))


@pytest.mark.parametrize(
    ("most", "clients", "level"),
    [
        ("500", True, 500),
        ("100 clients", True, 100),
        ("1 client", True, 1),
        ("2000/s", False, 2000),
        ("50", False, 50),
    ],
)
def test_the_highest_level_is_written_as_the_help_says(most: str, clients: bool, level: float) -> None:
    assert _max_level(most, clients=clients) == level


@pytest.mark.parametrize(
    ("most", "clients", "word"),
    [("100 clients", False, "add --clients"), ("0", True, "leaves no load"), ("2000/s", True, "not a count")],
)
def test_a_highest_level_of_another_kind_is_refused(most: str, clients: bool, word: str) -> None:
    with pytest.raises(PlanError, match=word):
        _max_level(most, clients=clients)


def test_a_server_that_is_not_there_is_no_limit_of_the_generator() -> None:
    blocks = [counted(25, 0), counted(50, 400), Block(40, 1, (SloTally(0, 0),), away="connection refused")]
    away = by_level(blocks, SLOS)[1]
    assert (away.level, away.decided) == (40, "away")
    assert first_limited(by_level(blocks, SLOS)) == math.inf
    found = estimate_of(by_level(blocks, SLOS))
    assert found is not None
    assert 25 <= found.level <= 50
    (again,) = by_level([blocks[2], counted(40, 0)], SLOS)
    assert again.decided == "holds"


def measured(tmp_path: Path, levels: Sequence[Trial]) -> CapacityResult:
    alone = Trial("srv", "alone", 1, closed(STEADY, 2.0), duration=2.0)
    plan = 'title = "x"\nparameters.capacity-slo = "errors < 10 %"\n'
    run = make_run(tmp_path, [alone, *levels], plan_text=plan)
    return capacity_of(RecordedSearch(RunRecord.open(run)))


def at(rate: float, status: int = 200) -> Trial:
    requests = [replace(one, status=status) for one in open_loop(STEADY, rate, 2.0)]
    return Trial("srv", f"rate-{rate:g}", 1, requests, duration=2.0, load=POISSON)


def away_at(rate: float) -> Trial:
    return Trial("srv", f"rate-{rate:g}", 1, [], status="failed", why=REFUSED, away=True)


REFUSED = "cannot connect to 127.0.0.1:80: connection refused\nis the server running?"


def test_a_server_that_goes_away_is_told_as_that_with_the_response_of_what_counts(tmp_path: Path) -> None:
    result = measured(tmp_path, [at(200), at(400), away_at(800)])
    assert result.answer == "at least"
    assert result.sentences[0] == "errors < 10 % held at every level up to 400/s, the highest decided."
    assert result.sentences[-1] == (
        "The server no longer accepts connections since the level of 400/s: cannot connect to 127.0.0.1:80: "
        "connection refused. Only what was measured before counts."
    )
    assert [level.decided for level in result.levels][-1] == "away"
    assert not any("·" in said or "\n" in said for said in (*result.sentences, result.levels[-1].why))


def test_a_level_at_which_the_server_went_away_does_not_say_that_no_load_holds(tmp_path: Path) -> None:
    requests = [
        one if one.end < 1 else replace(one, sent=None, outcome="connect_refused")
        for one in open_loop(STEADY, 200.0, 2.0)
    ]
    died = Trial("srv", "rate-200", 1, requests, duration=2.0, load=POISSON)
    result = measured(tmp_path, [died, away_at(100)])
    assert result.answer == "undecided"
    assert "since the level of 200/s" in result.sentences[0]


def test_a_server_that_is_there_for_no_level_is_told_as_that(tmp_path: Path) -> None:
    result = measured(tmp_path, [away_at(200)])
    assert result.answer == "undecided"
    (said,) = result.sentences
    assert "the server no longer accepts connections from the first level on: cannot connect" in said


def test_other_responses_under_load_are_told_with_the_level(tmp_path: Path) -> None:
    result = measured(tmp_path, [at(200), at(400, status=302)])
    assert result.sentences[1] == (
        "From 400/s on, right responses were not the same: 302 at 400/s, 200 to one request at a time. If "
        "those are not the responses that are meant, name the right statuses, so that others fail: "
        "--expect-status 200."
    )
    assert [set(level.statuses) for level in result.levels] == [{"200"}, {"302"}]
