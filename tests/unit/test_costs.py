"""Ratios of workloads, what a thread costs, and runs before the measured one: from known records."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jostle.analysis.judge.ratios import ratios
from jostle.analysis.metrics import VALUE_OF
from jostle.analysis.results import PublishedFigure, RunResult
from jostle.analysis.run import analyse
from jostle.analysis.summaries.workload import by_workload
from jostle.analysis.trials.data import TrialData
from jostle.plan.recorded import RecordedPlan
from jostle.record import RunRecord
from jostle.report.sections import costs
from support.pictures import pictures_of, validated
from support.rendered import rendered
from support.synthetic import Trial, as_format_1, closed, intervals, make_run

PLAN = """
title = "Two workloads"
contestants = ["go", "haskell:threaded"]
rounds = 3

[workload.hello]
title = "Hello"
request = { get = "/hello" }
load = { clients = 1, for = "5s" }

[workload.buffers]
title = "Buffers"
request = { get = "/alloc/buffers" }
load = { clients = 1, for = "5s" }

[[ratio]]
title = "Buffers beside hello"
metric = "throughput"
workload = "buffers"
against = "hello"

[published]
source = "Someone, Something, 2010"
figures = [
    { contestant = "go", workload = "hello", metric = "throughput", value = 8000, unit = "requests/s" },
    { contestant = "go", workload = "buffers", metric = "throughput", value = 2000, unit = "requests/s" },
    { contestant = "haskell:threaded", workload = "hello", metric = "memory per thread", value = 1.65, unit = "kB" },
]
"""  # noqa: E501


def trials(workloads: Mapping[str, float]) -> list[Trial]:
    return [
        Trial(contestant, workload, number, closed(lambda _, s=seconds: s, 5.0))  # type: ignore[misc]
        for number in (1, 2, 3)
        for contestant in ("go", "haskell:threaded")
        for workload, seconds in workloads.items()
    ]


def changed(folder: Path, **changes: Any) -> Iterator[Path]:
    """Every trial's folder, with keys of its trial.json changed."""
    for trial in (folder / "trials").iterdir():
        description = json.loads((trial / "trial.json").read_text()) | changes
        (trial / "trial.json").write_text(json.dumps(description))
        yield trial


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    """Buffers take four times as long as hello, whoever is asked."""
    made = make_run(
        tmp_path_factory.mktemp("runs"), trials({"hello": 0.005, "buffers": 0.02}), plan_text=PLAN
    )
    return analyse(RunRecord.open(made))


def test_a_ratio_is_taken_round_by_round_and_beside_the_published_one(compared: RunResult) -> None:
    go, haskell = sorted(compared.ratios, key=lambda r: r.contestant)
    for ratio in (go, haskell):
        assert ratio.ratio.value == pytest.approx(0.25, rel=0.02)
        assert ratio.ratio.low is not None
        assert ratio.ratio.low <= 0.25 <= (ratio.ratio.high or 0) + 0.005
    assert (go.published, go.published_against) == (2000, 8000)
    assert haskell.published is None
    (group,) = costs.ratio_groups(compared)
    table = costs.ratios(group)
    assert [column.name for column in table.columns] == [
        "contestant",
        "hello",
        "buffers",
        "ratio",
        "as published",
    ]
    assert "0.250 (2,000 / 8,000)" in [str(row[-1]) for row in table.rows]


def figure(workload: str, metric: str, value: float, unit: str) -> PublishedFigure:
    return PublishedFigure("go", metric, value, unit, "s", workload, beside="go")


@pytest.mark.parametrize(
    ("published", "against", "expected"),
    [
        ((120, "requests/min"), (8, "requests/s"), (2.0, 8.0)),
        ((2000, "requests/5 s"), (8000, "requests/5 s"), (2000, 8000)),
        ((2000, "furlongs"), (8000, "requests/s"), (None, 8000)),
    ],
)
def test_published_figures_of_different_units_are_divided_in_one(
    compared: RunResult, published: Any, against: Any, expected: Any
) -> None:
    trial = [TrialData(t) for t in RunRecord.open(Path(compared.folder)).trials if t.contestant == "go"]
    own = [figure("buffers", "throughput", *published), figure("hello", "throughput", *against)]
    [ratio] = ratios(RecordedPlan.parse(PLAN).ratio, by_workload(trial), own, lambda _: None)
    assert (ratio.published, ratio.published_against) == expected


@pytest.mark.parametrize(
    ("value", "unit", "expected"), [(2, "KiB", 2048.0), (1, "KB", 1000.0), (2, "s", None)]
)
def test_a_published_size_of_a_thread_is_in_bytes_whatever_its_unit(
    tmp_path: Path, value: float, unit: str, expected: float | None
) -> None:
    plan = PLAN.replace('value = 1.65, unit = "kB"', f'value = {value}, unit = "{unit}"')
    made = RunRecord.open(make_run(tmp_path, trials({"hello": 0.005}), plan_text=plan))
    [found] = [f for f in analyse(made).published if f.contestant == "haskell:threaded"]
    assert found.amount == (None if expected is None else pytest.approx(expected))


def test_a_figure_without_a_value_is_left_out_and_ends_no_report(tmp_path: Path) -> None:
    plan = PLAN.replace("value = 8000, ", "")
    made = RunRecord.open(make_run(tmp_path, trials({"hello": 0.005}), plan_text=plan))
    assert [(f.workload, f.value) for f in analyse(made).published] == [("buffers", 2000), ("hello", 1.65)]


def test_ratios_are_told_in_every_form(compared: RunResult) -> None:
    assert "Buffers beside hello" in rendered(compared, "md")
    assert "0.250 (2,000 / 8,000)" in rendered(compared, "html")
    picture = pictures_of(compared)["ratio-1"]
    validated(picture)
    assert "0.25 on" in picture.title


def test_a_small_ratio_is_told_in_table_and_picture(compared: RunResult) -> None:
    small = [replace(r, ratio=replace(r.ratio, value=0.00412)) for r in compared.ratios]
    picture = pictures_of(replace(compared, ratios=small))["ratio-1"]
    assert "0.00412 on" in picture.title
    assert str(costs.ratios(small).rows[0][3]).startswith("0.00412 [")
    assert "0.00412" in [row.get("text") for rows in picture.datasets.values() for row in rows]


def spawning(tmp_path: Path, *, peak_before: int, peak_after: int) -> RunResult:
    """Servers that hold 60 MB before a request starts 10,000 threads, and 72 MB at their samples."""
    folder = make_run(tmp_path, [t for t in trials({"hello": 0.5}) if t.round < 3], plan_text=PLAN)
    before = {"t_ns": 0, "cpu_user_s": 0.0, "cpu_system_s": 0.0, "rss_bytes": 60_000_000}
    before |= {"peak_virtual_bytes": 100_000_000}
    for trial in changed(folder, before=before | {"peak_rss_bytes": peak_before}):
        described = json.loads((trial / "trial.json").read_text())
        described["engine"]["workloads"][0]["requests"][0]["path"] = "/spawn/10000"
        (trial / "trial.json").write_text(json.dumps(described))
        samples = [json.loads(line) for line in (trial / "server.ndjson").read_text().splitlines()]
        held = {"rss_bytes": 72_000_000, "peak_rss_bytes": peak_after, "peak_virtual_bytes": 5_220_000_000}
        lines = [json.dumps(s | held) for s in samples]
        (trial / "server.ndjson").write_text("\n".join(lines) + "\n")
    as_format_1(folder)
    return analyse(RunRecord.open(folder))


def test_a_thread_costs_what_the_kernel_remembers(tmp_path: Path) -> None:
    """The peak came and went between two samples: 80 MB, 20 MB more than before, for 10,000 threads."""
    result = spawning(tmp_path, peak_before=61_000_000, peak_after=80_000_000)
    for threads in result.threads:
        assert threads.count == 10_000
        assert threads.memory_bytes.value == pytest.approx(2000)
        assert threads.time_s.value == pytest.approx(0.5 / 10_000, rel=0.02)
    published = {threads.contestant: threads.published_bytes for threads in result.threads}
    assert published == {"go": None, "haskell:threaded": pytest.approx(1650)}
    (group,) = costs.thread_groups(result)
    assert group[0].virtual_bytes.value == pytest.approx(512_000)  # 5,120 MB of stacks that may be used
    table = costs.threads(result, group)
    assert "2.00 kB" in str(table.rows[0][1])
    assert "512 kB" in str(table.rows[0][3])
    validated(pictures_of(result)["threads-1"])


def test_a_peak_from_before_the_load_is_not_the_threads(tmp_path: Path) -> None:
    """It had held 90 MB when it started up: what counts are the samples."""
    result = spawning(tmp_path, peak_before=90_000_000, peak_after=90_000_000)
    assert [t.memory_bytes.value for t in result.threads] == pytest.approx([1200, 1200])


def test_other_workloads_start_no_threads(compared: RunResult) -> None:
    assert compared.threads == []


def test_earlier_runs_stand_beside_the_measured_one(tmp_path: Path) -> None:
    """The first run is half as fast."""
    folder = make_run(tmp_path, trials({"hello": 0.005}), plan_text=PLAN)
    from jostle.record import RunWriter

    writer = RunWriter.resume(folder)
    for trial in (folder / "trials").iterdir():
        description = json.loads((trial / "trial.json").read_text())
        first = writer.trial(description, run=1) if not (trial / "run-1").exists() else None
        assert first is not None
        slow = Trial("go", "hello", 1, closed(lambda _: 0.01, 5.0))
        for interval in intervals(slow):
            first.write_interval(interval)
        first.finish("ended")
    result = analyse(RunRecord.open(folder))
    assert len(result.trials) == 6
    assert [(e.contestant, e.run) for e in result.earlier] == [("go", 1), ("haskell:threaded", 1)]
    for earlier in result.earlier:
        cell = next(c for c in result.summaries if c.contestant == earlier.contestant)
        assert earlier.throughput.value == pytest.approx((cell.throughput.value or 0) / 2, rel=0.02)
    trial = TrialData(next(t for t in RunRecord.open(folder).trials if t.contestant == "go"))
    assert VALUE_OF["change from run before"](trial) == pytest.approx(2.0, rel=0.02)
    settles = (
        PLAN
        + """
[[claim]]
says = "Go answers something, warm or not"
needs = { settled = "3 %" }
holds = [{ metric = "throughput", contestant = "go", workload = "hello", above = 1 }]
[[claim]]
says = "Go answers less than one and a half times of what it was measured at"
needs = { settled = "3 %" }
holds = [{ metric = "throughput", contestant = "go", workload = "hello", below = 300 }]
"""
    )
    (folder / "plan.toml").write_text(settles)
    wide, narrow = analyse(RunRecord.open(folder)).claims
    assert wide.verdict == "reproduced", "another doubling would not change it"
    assert narrow.verdict == "undecided", "another doubling would break it"
    assert (
        "what a further run might show, as the throughput still changed from one run to the next: × 2.00"
        in narrow.sentence
    )
    table = costs.earlier(result)
    assert [row[2] for row in table.rows] == ["first", "measured", "first", "measured"]
