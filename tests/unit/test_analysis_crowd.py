"""Loads with phases: who held the clients that came, and each phase by itself."""

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jostle.analysis.metrics import VALUE_OF
from jostle.analysis.results import RunResult
from jostle.analysis.run import analyse
from jostle.analysis.stats.over_rounds import AtLeast
from jostle.analysis.trials.data import TrialData
from jostle.cli.output import console
from jostle.formatting import MISSING
from jostle.record import RunRecord
from jostle.report.sections import phased
from support.pictures import pictures_of, validated
from support.rendered import print_result, rendered
from support.synthetic import Request, Trial, make_run

UP, SUSTAIN, DOWN = 4, 4, 2


def phases(clients: int, *lengths: int) -> list[dict[str, Any]]:
    ends = [("ramp-up", 0, clients), ("sustain", clients, clients), ("ramp-down", clients, 0)]
    return [
        {"name": name, "duration_ns": length * 10**9, "from": begin, "to": end}
        for (name, begin, end), length in zip(ends, lengths, strict=True)
    ]


def crowd_trial(contestant: str, opened: list[int], round_: int = 1, **more: Any) -> Trial:
    """100 clients are asked for; in ramp-up a request a second is answered in 100 ms, then ten in 200 ms."""
    requests = more.pop("requests", None) or [
        Request(t := second + k / 10, t, t + (0.1 if second < UP else 0.2))
        for second in range(UP + SUSTAIN)
        for k in range(1 if second < UP else 8)
    ]
    load = {"closed": {"clients": 100, "phases": phases(100, UP, SUSTAIN, DOWN)}}
    duration = float(UP + SUSTAIN + DOWN)
    return Trial(contestant, "crowd", round_, requests, duration, load=load, open_connections=opened, **more)


HELD = [25, 50, 75, 100, 100, 100, 100, 100, 50, 0]
HALF = [25, 50, 60, 60, 60, 60, 60, 60, 50, 0]


def result(tmp_path: Path, *trials: Trial) -> RunResult:
    return analyse(RunRecord.open(make_run(tmp_path, list(trials))))


def test_who_reached_the_target_and_who_did_not(tmp_path: Path) -> None:
    refused = [Request(0.5, None, 0.6), Request(2.3, None, 2.4, "connect_refused"), Request(4.0, 4.0, 4.5)]
    found = result(
        tmp_path,
        crowd_trial("whole", HELD),
        crowd_trial("half", HALF, requests=refused),
        crowd_trial("whole", HELD, 2),
    )
    whole, half = found.phased_loads
    assert (whole.contestant, whole.asked, whole.reached, whole.refused) == ("whole", 100, True, "")
    assert (whole.open_most.value, whole.held.value, whole.held.n) == (100, 1.0, 2)
    assert (half.reached, half.open_most.value) == (False, 60)
    assert half.held.value == pytest.approx(0.6)
    assert half.refused == "after 2.00 s, with 60 open: 1 connection refused"


def test_each_phase_has_figures_of_its_own(tmp_path: Path) -> None:
    (one,) = result(tmp_path, crowd_trial("a", HELD)).phased_loads
    up, sustain, down, everything = one.phases
    assert [s.name for s in one.phases] == ["ramp-up", "sustain", "ramp-down", "total"]
    assert [s.length_s for s in one.phases] == [4, 4, 2, 10]
    assert [s.open_most for s in one.phases] == [100, 100, 50, 100]
    assert up.throughput_per_s == pytest.approx(1.0)
    assert sustain.throughput_per_s == pytest.approx(8.0)
    assert down.throughput_per_s == 0
    assert down.headers.mean_s is None
    assert everything.headers.n == 4 * 1 + 4 * 8
    assert up.headers.mean_s == pytest.approx(0.09, rel=2e-3)
    assert sustain.headers.p99_s == pytest.approx(0.18, rel=2e-3)
    assert sustain.server_cpu == pytest.approx(0.7)
    assert sustain.generator_cpu == pytest.approx(0.3)
    assert sustain.from_server_per_s == pytest.approx(8 * 1200)


def test_quantities_of_claims_are_of_the_time_with_all_clients(tmp_path: Path) -> None:
    folder = make_run(tmp_path, [crowd_trial("a", HALF)])
    facts = TrialData(RunRecord.open(folder).trials[0])
    assert VALUE_OF["clients held"](facts) == pytest.approx(0.6)
    assert VALUE_OF["sustained throughput"](facts) == pytest.approx(8.0)
    assert VALUE_OF["time to headers"](facts) == pytest.approx(0.18, rel=2e-3)
    steady = make_run(tmp_path, [Trial("a", "w", 1, [Request(0.1, 0.1, 0.2)])])
    facts = TrialData(RunRecord.open(steady).trials[0])
    assert [VALUE_OF[q](facts) for q in ("clients held", "sustained throughput", "time to headers")] == [
        None,
        None,
        None,
    ]
    assert result(tmp_path, Trial("a", "w", 1, [Request(0.1, 0.1, 0.2)])).phased_loads == []


def test_an_open_loop_in_steps_has_phases_and_no_target(tmp_path: Path) -> None:
    rates = [
        {"name": name, "duration_ns": 2 * 10**9, "from": rate, "to": rate}
        for name, rate in (("low", 5), ("high", 9))
    ]
    load = {"open": {"arrivals": "poisson", "rates": rates, "max_connections": 9}}
    requests = [Request(k / 4, k / 4, k / 4 + 0.1) for k in range(15)]
    (one,) = result(tmp_path, Trial("a", "steps", 1, requests, 4.0, load=load)).phased_loads
    assert (one.asked, one.reached, one.held.value) == (None, None, None)
    assert [s.name for s in one.phases] == ["low", "high", "total"]


def test_a_run_cut_short_before_the_sustained_phase_holds_nobody_yet(tmp_path: Path) -> None:
    trial = crowd_trial("a", HELD[:3], status=None)
    short = Trial(**{**trial.__dict__, "duration": 3.0, "requests": trial.requests[:3]})
    (one,) = analyse(RunRecord.open(make_run(tmp_path, [short], ended=False))).phased_loads
    assert one.held.value is None
    assert one.held.note
    assert [s.name for s in one.phases] == ["ramp-up", "total"]


def test_tables_pictures_and_exports_have_it(tmp_path: Path) -> None:
    found = result(tmp_path, crowd_trial("whole", HELD), crowd_trial("half", HALF))
    found.skipped["go"] = "it cannot hold 100 connections here"
    found.skipped_workloads["node"] = {"crowd": "it has no /sleep", "other": "nor this"}
    rows = {str(row[0]): row for row in phased.held(found).rows}
    assert [str(summary) for summary in rows["whole"][2:7]] == [
        "✓\N{NO-BREAK SPACE}yes",
        "none",
        "100",
        "100",
        "100 %",
    ]
    assert str(rows["half"][2]) == "✗\N{NO-BREAK SPACE}no"
    assert "cannot hold" in str(rows["go"][3])
    assert [str(cell) for cell in rows["node"][1:4]] == ["crowd", "not measured", "it has no /sleep"]
    picture = pictures_of(found)["phased-1"]
    assert picture.title == "whole holds 100 clients; half has 60 of 100 at most."
    assert len(validated(picture)["vconcat"]) == 6  # no connection was opened: no panel
    for text in (rendered(found, "html"), rendered(found, "md")):
        assert "Who reached the target, and who did not" in text
        assert "Phase by phase" in text
    assert "sustain: time to headers p99" in rendered(found, "csv")


def terminal(found: RunResult) -> str:
    written = io.StringIO()
    print_result(found, console(written))
    return written.getvalue()


def test_a_terminal_has_the_figures_of_each_phase_unless_there_are_many(tmp_path: Path) -> None:
    found = result(tmp_path, crowd_trial("whole", HELD))
    lines = terminal(found).splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("contestant  phase"))
    assert lines[start].split() == ["contestant", "phase", "open", "per", "s", "failed", "p50", "p99"]
    (sustain,) = [line.split() for line in lines[start:] if line.split()[:1] == ["sustain"]]
    assert sustain[1] == "100"
    assert sustain[-1] in ("ms", "s")
    (load,) = found.phased_loads
    many = replace(found, phased_loads=[replace(load, contestant=f"server-{n}") for n in range(4)])
    assert "sustain" not in terminal(many)


def ramped(name: str, late: float, jitter: float = 0.0, clients: int = 100) -> Trial:
    """A ramp of ten seconds; from its sixth on responses take `late` instead of 0.1 s."""
    requests = [
        Request(t := second + k / 10, t, t + ((late + jitter * (k % 2)) if second >= 6 else 0.1 + 0.001 * k))
        for second in range(14)
        for k in range(5)
    ]
    load = {"closed": {"clients": clients, "phases": phases(clients, 10, 4, 2)}}
    return Trial(name, "crowd", 1, requests, 16.0, load=load, open_connections=[clients] * 16)


def test_a_jump_in_the_ramp_is_told_from_a_creep(tmp_path: Path) -> None:
    made = make_run(tmp_path, [ramped("flat", 0.1), ramped("jumps", 0.5, 0.2)])
    flat, jumps = (TrialData(t) for t in RunRecord.open(made).trials)
    mean, deviation = VALUE_OF["growth of headers"], VALUE_OF["growth of their deviation"]
    assert mean(flat) == pytest.approx(1.0, abs=0.05)
    assert mean(jumps) == pytest.approx(5.7, abs=0.5)
    assert (deviation(jumps) or 0) > 10
    assert VALUE_OF["time to headers"](jumps) == pytest.approx(0.52, abs=0.03)


def test_clients_are_counted_until_the_responses_come_late(tmp_path: Path) -> None:
    """From the sixth second of the ramp on responses take half a second: five steps were in time."""
    opened = [10, 20, 30, 40, 50, 60, 70, 80, 90, *[100] * 7]
    late, never = (replace(ramped("x", slow), open_connections=opened) for slow in (0.5, 0.105))
    made = make_run(tmp_path, [late, replace(never, contestant="y")])
    of_late, of_never = (TrialData(t) for t in RunRecord.open(made).trials)
    assert VALUE_OF["clients in time"](of_late) == 60
    assert VALUE_OF["clients in time"](of_never) == AtLeast(100)
    found = analyse(RunRecord.open(made))
    (crowd, _) = found.phased_loads
    assert [step.open for step in crowd.ramp] == [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]
    grown = [str(row[5]) for row in phased.ramp(found).rows[:10]]
    assert grown[0] == MISSING
    assert float(grown[6]) == pytest.approx(4.9, abs=0.2)


def test_published_levels_stand_in_the_picture_where_they_fit(tmp_path: Path) -> None:
    plan = """
title = "crowd"
contestants = ["whole"]
[workload.crowd]
request = { get = "/" }
load = { clients = 100, ramp-up = "4s", sustain = "4s", ramp-down = "2s" }
[published]
source = "Someone, 2019"
figures = [
  { contestant = "whole", workload = "crowd", metric = "clients held", value = 0.6, unit = "share" },
  { contestant = "whole", workload = "crowd", metric = "sustained throughput", value = 9999, unit = "/s" },
]
"""
    made = make_run(tmp_path, [crowd_trial("whole", HELD)], plan_text=plan)
    picture = pictures_of(analyse(RunRecord.open(made)))["phased-1"]
    validated(picture)
    drawn = [row["published"] for rows in picture.datasets.values() for row in rows if "published" in row]
    assert drawn == [60, 60]  # ten thousand a second would flatten the ten that were measured
    assert "as published" in picture.reading


def test_what_a_crowd_costs_is_told_per_connection_and_response(tmp_path: Path) -> None:
    folder = make_run(tmp_path, [ramped("one", 0.1)])
    data = TrialData(RunRecord.open(folder).trials[0])
    assert VALUE_OF["memory per connection"](data) is None  # what it held before is not known
    before = {"t_ns": 0, "cpu_user_s": 0.0, "cpu_system_s": 0.0, "rss_bytes": 40_000_000}
    vars(data.trial)["description"] = {**data.trial.description, "before": before}
    held = data.resource_usage.rss_max()
    assert held is not None
    assert VALUE_OF["memory per connection"](data) == pytest.approx((held - 40_000_000) / 100)
    for name in ("bytes per request", "bytes per response", "server cores"):
        assert isinstance(VALUE_OF[name](data), float), name


def test_without_a_ramp_nothing_grows(tmp_path: Path) -> None:
    made = make_run(tmp_path, [Trial("steady", "hello", 1, [Request(0.0, 0.0, 0.1)], 1.0)])
    assert VALUE_OF["growth of headers"](TrialData(RunRecord.open(made).trials[0])) is None
