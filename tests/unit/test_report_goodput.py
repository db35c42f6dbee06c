"""Goodput in every form of a report; absent where there is nothing to say of it."""

import io

import pytest
from rich.console import Console

from jostle.analysis.results import RunResult
from jostle.analysis.run import analyse
from jostle.record import RunRecord
from jostle.report.sections import goodput
from support.rendered import print_result, rendered
from support.synthetic import Request, Trial, make_run

FAR = {"private": True, "delay_ms": 3.0, "pool": 10, "index": False, "customers": 8000}


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    answered = [Request(i / 40, i / 40, i / 40 + 0.01) for i in range(198)]
    lost = [Request(0.0, 0.0, 10.0, "response_timeout") for _ in range(2)]
    trials = [Trial("node", "paced", number, [*answered, *lost], database=FAR) for number in (1, 2)]
    trials.append(Trial("go", "closed", 1, answered))
    return analyse(RunRecord.open(make_run(tmp_path_factory.mktemp("goodput"), trials)), distributions=False)


def test_tables(result: RunResult) -> None:
    (hits,) = goodput.hits(result).rows
    assert [str(value) for value in hits[:4]] == ["paced", "node", "198", "2"]
    (row,) = goodput.goodput(result).rows
    assert row[:4] == ("paced", "node", "delay 3 ms, pool 10, no index", "10.0 s")
    assert str(row[4]).startswith("39.6/s")
    assert str(row[-1]).startswith("17.7 ms")  # 3.5 s of CPU for 198 responses


def test_every_form_of_the_report_shows_it(result: RunResult) -> None:
    out = io.StringIO()
    print_result(result, Console(file=out, width=80))
    assert "Goodput within the timeout" in out.getvalue()
    assert max(map(len, out.getvalue().splitlines())) <= 80
    assert "delay 3 ms, pool 10, no index" in rendered(result, "html").replace("\N{NO-BREAK SPACE}", " ")
    assert "delay 3 ms, pool 10, no index" in rendered(result, "md")
    rows = [line for line in rendered(result, "csv").splitlines() if ",goodput," in line]
    assert len(rows) == 1
    assert '"delay 3 ms, pool 10, no index"' in rows[0]
