"""Goodput within the timeout, timeouts, evenness of the throughput, and the database's share of the work."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from jostle.analysis import metrics
from jostle.analysis.results import Goodput
from jostle.analysis.run import analyse
from jostle.analysis.trials.data import TrialData
from jostle.record import RunRecord
from support.synthetic import Request, Trial, closed, make_run

NEAR = {
    "private": True,
    "url": "postgresql://…",
    "delay_ms": 0.0,
    "pool": 10,
    "index": True,
    "customers": 8000,
}


def hits(per_second: Sequence[int], response_s: float = 0.01) -> list[Request]:
    """So many responses in each second, evenly, each after the same time."""
    return [
        Request(second + i / count, second + i / count, second + i / count + response_s)
        for second, count in enumerate(per_second)
        for i in range(count)
    ]


def analysed(tmp_path: Path, *trials: Trial) -> tuple[list[Goodput], list[TrialData]]:
    record = RunRecord.open(make_run(tmp_path, trials))
    return analyse(record, distributions=False).goodputs, [TrialData(trial) for trial in record.trials]


def test_hits_and_what_can_be_compared(tmp_path: Path) -> None:
    trials = [
        Trial("node", "closed", number, hits([40, 20, 30, 30, 30]), database=NEAR) for number in (1, 2, 3)
    ]
    (row,), _ = analysed(tmp_path, *trials)
    assert (row.contestant, row.workload, row.timeout_s) == ("node", "closed", 10.0)
    assert row.database == {"delay_ms": 0.0, "pool": 10, "index": True, "customers": 8000}
    assert (row.hits.value, row.timeouts.value) == (150, 0)
    assert (row.least_per_s.value, row.most_per_s.value) == (20, 40)
    assert row.goodput.value == pytest.approx(30)
    assert row.goodput.low is not None
    assert row.goodput.high is not None
    assert 29.9 < row.goodput.low < 30 < row.goodput.high < 30.1
    assert row.dispersion.value == pytest.approx(50**0.5 / 30)
    assert row.database_cpu_s_per_request.value == pytest.approx(0.7 * 5 / 150)


def test_what_comes_late_or_never_is_no_goodput(tmp_path: Path) -> None:
    late = [Request(0.0, 4.0, 12.0) for _ in range(5)]  # waited for a connection, then was answered
    lost = [Request(0.0, 0.0, 10.0, "response_timeout") for _ in range(3)]
    trial = Trial("go", "open", 1, [*hits([10] * 20), *late, *lost], duration=20)
    (row,), (facts,) = analysed(tmp_path, trial)
    assert (row.hits.value, row.timeouts.value, row.goodput.value) == (205, 3, pytest.approx(10))
    assert row.database == {}
    assert row.database_cpu_s_per_request.value is None
    assert metrics.VALUE_OF["goodput"](facts) == 10
    assert metrics.VALUE_OF["database cpu"](facts) is None


def test_if_all_are_answered_in_time_it_is_the_throughput(tmp_path: Path) -> None:
    """So few responses that those which the stop cut off count in the throughput."""
    requests = closed(lambda _: 1.9, 10.0, clients=10)
    trial = Trial("node", "closed", 1, requests, duration=10, load={"closed": {"clients": 10}}, database=NEAR)
    _, (facts,) = analysed(tmp_path, trial)
    assert metrics.VALUE_OF["goodput"](facts) == pytest.approx(facts.throughput)
    assert facts.throughput > 50 / 10


def test_cells_without_timeouts_and_database_have_no_row(tmp_path: Path) -> None:
    assert analysed(tmp_path, Trial("go", "closed", 1, hits([10] * 5)))[0] == []


def test_a_server_that_never_started_has_no_row(tmp_path: Path) -> None:
    failed = Trial("go", "closed", 1, [], status="failed", why="it did not start", database=NEAR)
    assert analysed(tmp_path, failed)[0] == []
