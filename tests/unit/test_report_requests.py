"""A mix has figures for each of its requests, in every form of the report."""

import csv
import io
from dataclasses import replace

import pytest

from jostle.analysis.results import Estimate, RequestResult, RunResult
from jostle.cli.output import console
from support.rendered import print_result, rendered
from support.results import make_hit


def one(name: str, p99: float | None, *, failed: int = 0, workload: str = "hit") -> RequestResult:
    return RequestResult(
        contestant="node",
        workload=workload,
        name=name,
        requests=1000 + failed,
        outcomes={"ok": 1000, **({"wrong_status": failed} if failed else {})},
        throughput=Estimate(100.0, unit="/s", n=1),
        response={
            "p50": Estimate(0.002),
            "p95": Estimate(0.0077),
            "p99": Estimate(p99),
            "max": Estimate(0.5),
        },
    )


def of(*requests: RequestResult) -> RunResult:
    return replace(make_hit(), requests=list(requests))


def terminal(result: RunResult, *, full: bool = False) -> str:
    written = io.StringIO()
    print_result(result, console(written), full=full)
    return written.getvalue()


MIX = of(one("/hello", 0.01), one("POST /orders", 0.35, failed=7), one("/gone", None))


def test_every_request_has_a_row_in_every_form() -> None:
    told = terminal(MIX)
    assert told.index("/hello") < told.index("POST /orders") < told.index("/gone")
    rows = [line for line in told.splitlines() if line.startswith("POST /orders")]
    assert len(rows) == 2  # its figures, and how it ended
    for figure in ("1,007", "100", "2.00 ms", "7.70 ms", "350 ms", "500 ms"):
        assert figure in rows[0]
    assert rows[0].endswith("0.7 %")
    assert rows[1].endswith("7 × wrong status")
    heading = next(line for line in told.splitlines() if line.startswith("request "))
    for name in ("requests", "per s", "p50", "p95", "p99", "longest", "failed"):
        assert name in heading
    assert "| POST /orders |" in rendered(MIX, "md")
    assert "POST /orders" in rendered(MIX, "html")
    rows = {row["metric"]: row for row in csv.DictReader(io.StringIO(rendered(MIX, "csv")))}
    assert rows["request POST /orders: response p99"]["value"] == "0.35"
    assert rows["request POST /orders: response p95"]["value"] == "0.0077"
    assert rows["request POST /orders: throughput"]["value"] == "100"
    assert rows["request POST /orders: outcomes wrong_status"]["value"] == "7"
    assert [row["name"] for row in MIX.as_json()["requests"]] == ["/hello", "POST /orders", "/gone"]


def test_of_many_the_response_shows_the_slowest_and_the_full_report_all() -> None:
    many = of(*(one(f"/n{number:02d}", number / 1000) for number in range(1, 51)), one("/never", None))
    told = terminal(many)
    assert "The 20 of 51 requests with the longest p99" in told
    assert [name for name in ("/never", "/n50", "/n32", "/n31", "/n01") if f"\n{name}" in told] == [
        "/never",
        "/n50",
        "/n32",
    ]
    full = terminal(many, full=True)
    assert "All 51 requests" in full
    assert "\n/n01" in full


def test_several_workloads_are_told_apart() -> None:
    assert "other" not in terminal(MIX)
    assert "other" in terminal(of(one("/a", 0.01), one("/a", 0.02, workload="other")))


@pytest.mark.parametrize("full", [False, True])
def test_one_request_has_no_table(full: bool) -> None:
    assert "\nRequests" not in terminal(make_hit(), full=full)


def test_statuses_of_right_responses_stand_beside_them_if_there_are_several_or_redirects() -> None:
    several = replace(one("/login", 0.01), statuses={"200": 900, "302": 100})
    assert "900 × 200, 100 × 302" in terminal(of(several, one("/hello", 0.01)))
    assert "right responses" not in terminal(
        of(replace(several, statuses={"200": 1000}), one("/hello", 0.01))
    )
