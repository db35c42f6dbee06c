"""A range of a heat map has the figures that jostle computes of the same intervals, to the last digit."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from jostle.analysis.stats.quantile_ci import quantile_estimates
from jostle.analysis.stats.sample import EMPTY, from_histograms, pool, quantile_of
from jostle.analysis.trials.data import TrialData
from jostle.live.column import Column
from jostle.record import RunRecord
from jostle.record.outcomes import error_share
from jostle.report.trial_data import columns_of
from jostle.units import format_count, format_duration, format_rate, format_share
from support.pages import FOUR, QUICK, TRIALS, with_modules
from support.synthetic import Request, Trial, closed, make_run


@pytest.fixture(scope="module")
def page(browser: Browser) -> Page:
    names = ["figuresOf", "drawn", "duration", "rate", "count", "share"]
    return with_modules(browser, ["units", "quantiles", "columns"], names)


def recorded(folder: Path, trial: Trial) -> TrialData:
    (record,) = RunRecord.open(make_run(folder, [trial])).trials
    return TrialData(record)


def expected(data: TrialData, columns: list[Column]) -> dict[str, Any]:
    """What the analysis says of the intervals that these columns are."""
    trial, start_s, end_s = data.trial, columns[0].start_s, columns[-1].end_s
    answered, given_up, failed, pacing = (
        trial.histogram(measure, 0, start_s, end_s)
        for measure in ("response", "censored", "failed", "pacing")
    )
    lost = replace(EMPTY, never=failed.total)
    sample = pool([from_histograms([answered]), data.waits(from_histograms([], [given_up])), lost])
    outcomes: dict[str, int] = {}
    for interval in trial.intervals:
        if start_s <= interval["start_ns"] / 1e9 < end_s:
            for series in interval["series"]:
                for kind, count in series["outcomes"].items():
                    outcomes[kind] = outcomes.get(kind, 0) + count
    return {
        "times": {name: (e.value, e.bound) for name, e in quantile_estimates(sample).items()},
        "outcomes": outcomes,
        "failed": error_share(outcomes),
        "answered": outcomes.get("ok", 0) / (end_s - start_s),
        "late": quantile_of(from_histograms([pacing]), 0.99),
    }


@pytest.mark.parametrize("name", TRIALS)
def test_a_range_has_the_figures_of_its_intervals(page: Page, tmp_path: Path, name: str) -> None:
    data = recorded(tmp_path, TRIALS[name])
    columns = list(columns_of(data))
    rng = random.Random(3)
    ranges = [sorted(rng.sample(range(len(columns)), 2)) for _ in range(12)]
    ranges += [[0, len(columns) - 1], [len(columns) // 2] * 2]
    page.evaluate("columns => { globalThis.columns = columns }", [column.as_data() for column in columns])
    for first, last in ranges:
        found = page.evaluate(
            "([first, last, overloaded]) => figuresOf(columns.slice(first, last + 1), overloaded)",
            [first, last, data.overloaded],
        )
        right = expected(data, columns[first : last + 1])
        times = {quantile: (time["value"], time["bound"]) for quantile, time in found["times"].items()}
        assert times == right["times"]
        assert found["outcomes"] == right["outcomes"]
        for figure in ("failed", "late"):
            assert found[figure] == right[figure]
        assert found["answered"] == pytest.approx(right["answered"], rel=1e-12)


def test_the_whole_trial_has_the_figures_of_the_report(page: Page, tmp_path: Path) -> None:
    """An outage of a closed loop, too, whose clients did not send what they would have."""
    requests = [one for one in closed(QUICK, 10.0, clients=4) if not 4.0 < one.end < 6.0]
    refused = [Request(4.0 + n / 2, 4.0 + n / 2, 4.0 + n / 2, "connect_refused") for n in range(1, 4)]
    data = recorded(tmp_path, Trial("a", "w", 1, [*requests, *refused], 10.0, 0.25, FOUR))
    assert data.missed > 500
    columns = columns_of(data)
    assert sum(column.never for column in columns) == data.never_answered
    found = page.evaluate("columns => figuresOf(columns, false)", [column.as_data() for column in columns])
    told = quantile_estimates(data.response)
    assert {name: (e["value"], e["bound"]) for name, e in found["times"].items()} == {
        name: (e.value, e.bound) for name, e in told.items()
    }


def test_what_is_drawn_of_a_column_is_what_a_terminal_draws(page: Page, tmp_path: Path) -> None:
    for name in ("a stall", "late"):
        columns = columns_of(recorded(tmp_path / name, TRIALS[name]))
        found = page.evaluate(
            "columns => columns.map(drawn).map(one => ({...one, bins: [...one.bins]}))",
            [column.as_data() for column in columns],
        )
        assert [one["bins"] for one in found] == [column.counts.tolist() for column in columns]
        assert [one["p99"] for one in found] == [column.p99_s for column in columns]
        assert {one["late"] for one in found if one["p99"]} == {name == "late"}


def test_figures_are_written_as_jostle_writes_them(page: Page) -> None:
    rng = random.Random(7)
    times = [0.0, 1.125e-3, 1.375e-3, 999.6e-6, 0.9996, 99.96, 100.0, 59.99, 3600.0, 0.0125, 2.5e-6]
    times += [round(10 ** rng.uniform(-6, 4), 6) for _ in range(3_000)]
    numbers = [0, 1, 999, 1_000, 123_456_789]
    rates = [0.0, 0.05, 99.95, 100.5, 101.5, 1234.5] + [10 ** rng.uniform(-3, 6) for _ in range(1_000)]
    shares = [0.0, 1.0, 5e-5, 0.99951, 0.0058, 0.26, 0.9225] + [rng.random() ** 4 for _ in range(1_000)]
    for name, values, write in (
        ("duration", times, format_duration),
        ("count", numbers, format_count),
        ("rate", rates, format_rate),
        ("share", shares, format_share),
    ):
        found = page.evaluate(f"values => values.map({name})", values)
        assert dict(zip(values, found, strict=True)) == {value: write(value) for value in values}
