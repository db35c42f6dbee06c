"""What the terminal shows of a single server: connections, resources, bars without gaps, some notes."""

import io
import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from jostle.analysis.results import Estimate, RunResult
from jostle.analysis.run import analyse
from jostle.record import RunRecord
from jostle.report.document import Preformatted
from jostle.report.sections.phased import section
from jostle.report.sections.trials import not_measured
from support.judging import POISSON, STEADY
from support.pictures import pictures_of, validated
from support.rendered import print_result
from support.results import make_hit
from support.synthetic import Request, Trial, closed, lognormal, make_run, open_loop

RATES = [
    {"name": name, "duration_ns": 2 * 10**9, "from": rate, "to": rate}
    for name, rate in (("low", 5), ("high", 9))
]
STEPS = {"open": {"arrivals": "poisson", "rates": RATES, "max_connections": 9}}


def analysed(tmp_path: Path, requests: list[Request], **more: Any) -> RunResult:
    return analyse(RunRecord.open(make_run(tmp_path, [Trial("a", "w", 1, requests, **more)])))


def printed(result: RunResult) -> str:
    out = io.StringIO()
    print_result(result, Console(file=out, width=80))
    return out.getvalue()


def test_the_number_of_connections_is_shown() -> None:
    found = make_hit()
    trial = replace(found.trials[0], connections_opened=393, connections_most=210)
    assert "connections 393 opened, at most 210 at a time\n" in printed(replace(found, trials=[trial]))
    brief = replace(
        trial, connections_opened=1, connections_most=0
    )  # it was closed before the first interval ended
    assert "connections 1 opened\n" in printed(replace(found, trials=[brief]))
    assert "connections" not in printed(found)  # an older record, or datagrams


def test_connections_are_counted_from_the_record(tmp_path: Path) -> None:
    requests = open_loop(STEADY, 100, 5.0)
    (trial,) = analysed(tmp_path, requests, load=POISSON, open_connections=(2, 7, 3, 3, 1)).trials
    assert trial.connections_most == 7


def test_cpu_and_memory_of_a_watched_server_are_shown() -> None:
    found = make_hit()
    (summary,) = found.summaries
    watched = replace(
        summary, server_cpu_s_per_request=Estimate(197e-6, unit="s"), server_rss_max_bytes=22.5e6
    )
    assert "server      197 µs of CPU per request, at most 22.5 MB of memory\n" in printed(
        replace(found, summaries=[watched])
    )
    unknown = replace(summary, server_cpu_s_per_request=Estimate(None, unit="s"), server_rss_max_bytes=None)
    assert "CPU per request" not in printed(replace(found, summaries=[unknown]))


def test_bars_of_one_response_time_and_a_rare_long_one_have_no_row_of_empty_ones(tmp_path: Path) -> None:
    requests = [*closed(lognormal(0.002, 0.001), 4.0), Request(4.0, 4.0, 4.9)]
    lines = printed(analysed(tmp_path, requests)).splitlines()
    begin = next(n for n, line in enumerate(lines) if line.split()[:2] == ["up", "to"])
    bars = list(itertools.takewhile(lambda line: line.rstrip().endswith("%"), lines[begin + 1 :]))
    empty = [n for n, line in enumerate(bars) if line.rstrip().endswith(" 0 %")]
    assert 2 <= len(bars) <= 5
    assert all(after - before > 1 for before, after in itertools.pairwise(empty))


@pytest.mark.parametrize(
    ("requests", "told"),
    [
        (closed(STEADY, 5.0), False),  # its last request is cut off, as in every closed loop
        ([*closed(STEADY, 5.0), Request(1.0, 1.0, 1.1, "reset")], True),
        ([*closed(STEADY, 5.0), *(Request(4.9, 4.9, 5.0, "unfinished") for _ in range(100))], True),
    ],
)
def test_how_requests_without_a_response_count_is_told_where_there_are_some(
    tmp_path: Path, requests: list[Request], told: bool
) -> None:
    assert any("Kaplan and Meier" in note for note in analysed(tmp_path, requests).notes) is told


def test_clients_do_not_begin_at_once_under_a_ramp(tmp_path: Path) -> None:
    few = closed(lognormal(0.5, 0.1), 5.0, clients=10)
    ramp = [{"name": "ramp-up", "duration_ns": 5 * 10**9, "from": 0, "to": 10, "steps": None}]

    def at_once(closed_load: dict[str, Any]) -> bool:
        load = {"closed": {"clients": 10, **closed_load}}
        return any("first request at once" in n for n in analysed(tmp_path, few, load=load).notes)

    assert at_once({})
    assert not at_once({"phases": ramp})


def test_an_open_load_in_phases_has_a_table_and_no_empty_sentence(tmp_path: Path) -> None:
    requests = [Request(k / 4, k / 4, k / 4 + 0.1) for k in range(15)]
    result = analysed(tmp_path, requests, duration=4.0, load=STEPS)
    text = printed(result)
    assert "over time." not in text
    lines = [line.split() for line in text.splitlines()]
    assert any(line[:2] == ["a", "low"] and "ms" in line for line in lines)
    assert section(replace(result, phased_loads=[])).blocks == []


def test_a_part_that_nothing_was_measured_of_is_not_drawn(tmp_path: Path) -> None:
    """The connections of these requests were opened before, in steps that are in no figure."""
    requests = [Request(k / 4, k / 4, k / 4 + 0.1) for k in range(15)]
    picture = pictures_of(analysed(tmp_path, requests, duration=4.0, load=STEPS))["phased-1"]
    drawn = str(validated(picture))
    assert "time to open a connection" not in drawn
    assert "from the send to the response's headers" in drawn


@pytest.mark.parametrize(
    ("reason", "label"),
    [
        ("cannot connect to 127.0.0.1:80: connection refused\nis the server running?", "what to do"),
        ("node ended with exit code 1; its last output:\n│ no port", "its last output"),
    ],
)
def test_what_stands_below_the_reason_of_a_failed_trial_has_its_name(reason: str, label: str) -> None:
    found = make_hit()
    failed = replace(found.trials[0], status="failed", reason=reason)
    blocks = not_measured(replace(found, trials=[failed])).blocks
    (below,) = [block for block in blocks if isinstance(block, Preformatted)]
    assert below.label == label
