"""What the page of a run says of its requests, journeys, streams and generators, on loads that are sent."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from jostle.analysis.run import analyse
from jostle.capacity.recorded import RecordedSearch
from jostle.formatting import amount, formatted
from jostle.record import RunRecord
from jostle.report.sections.verdict_marks import decision_mark
from jostle.units import format_count, format_rate
from support.real import SILENTLY, jostle_running, recorded, reference_server
from support.waiting import eventually
from support.web import opened, web

JOURNEY = """
[journey.visit]
steps = [
  { name = "home", get = "/work?us=300" },
  { name = "search", get = "/work?us=3000" },
]
"""


SIZE: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}}


def table(page: Page, title: str) -> Locator:
    return page.get_by_role("region", name=title, exact=True).locator("table")


def rows(page: Page, title: str) -> list[list[str]]:
    """The texts of a table's cells, name first."""
    found: list[list[str]] = (
        table(page, title)
        .locator("tbody tr")
        .evaluate_all("all => all.map(row => [...row.children].map(cell => cell.textContent))")
    )
    return found


def shown(estimate: dict[str, Any]) -> str:
    """As a table shows a time."""
    bound = f"{estimate['bound']} " if estimate["bound"] else ""
    return bound + amount(estimate["value"], "s")


@pytest.fixture
def said() -> Iterator[list[str]]:
    """What pages complain about: nothing."""
    found: list[str] = []
    yield found
    assert found == []


@contextlib.contextmanager
def watched_to_its_end(
    browser: Browser, said: list[str], base: Path, *words: str, title: str
) -> Iterator[tuple[Page, Any]]:
    """The page of a load that it has shown while it was sent, and what the report says of that load."""
    result = base / "result.json"
    with (
        jostle_running("hit", *words, "--into", base, "-o", result, **SILENTLY) as load,
        web(base) as served,
    ):
        recorded(base, 1_000)
        (journal,) = base.glob("*/journal.ndjson")
        page = opened(browser, f"{served.url}/runs/{journal.parent.name}", said, **SIZE)
        expect(table(page, title).locator("tbody tr").first).to_be_visible()
        expect(page.locator("#state")).to_have_text("The run has ended.")
        assert load.wait(60) in (0, 3)
        eventually(result.exists)
        yield page, json.loads(result.read_text())


def test_each_step_of_a_journey_has_a_row_with_the_figures_of_the_report(
    browser: Browser, tmp_path: Path, said: list[str]
) -> None:
    (tmp_path / "visit.toml").write_text(JOURNEY, encoding="utf-8")
    with reference_server("workers") as url:
        words = (url, "--journey", str(tmp_path / "visit.toml"), "-c", "2", "-d", "3s")
        with watched_to_its_end(browser, said, tmp_path, *words, title="Steps of visit") as (page, result):
            (journey,) = result["journeys"]
            for row, step in zip(rows(page, "Steps of visit"), journey["steps"], strict=True):
                times = [shown(step["response"][name]) for name in ("p50", "p99", "max")]
                assert [row[0], *row[2:]] == [step["name"], *times, "0"]
            sentence = page.locator("#parts .how:visible").inner_text()
            assert sentence.startswith(f"{format_count(journey['completed'])} journeys completed; p50 ")
            the_map_shows_a_step_alone(page, journey["steps"])
            page.set_viewport_size({"width": 390, "height": 844})
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            cell = table(page, "Steps of visit").locator("td").first
            assert cell.evaluate("cell => getComputedStyle(cell, '::before').content") == '"answered"'


def the_map_shows_a_step_alone(page: Page, steps: list[dict[str, Any]]) -> None:
    map_said, alone = page.locator("#map .said"), page.locator("#alone")
    of_all = map_said.inner_text()
    expect(alone).to_be_hidden()
    for step in steps:
        page.get_by_role("button", name=step["name"], exact=True).press("Enter")
        expect(alone).to_have_text(f"Only {step['name']}. All requests")
        answered = f"In the whole run, {format_count(step['outcomes']['ok'])} requests were answered: "
        times = step["response"]
        expect(map_said).to_have_text(
            f"{answered}p50 {shown(times['p50'])}, p99 {shown(times['p99'])}, longest {shown(times['max'])}; "
            "0 % failed."
        )
    expect(page.get_by_role("button", name=steps[-1]["name"], pressed=True)).to_be_focused()
    page.get_by_role("button", name="All requests").click()
    expect(alone).to_be_hidden()
    expect(map_said).to_have_text(of_all)


def test_streams_and_generators_have_a_row_each(browser: Browser, tmp_path: Path, said: list[str]) -> None:
    with reference_server("events") as url:
        stream = f"{url}/events?n=8&first-ms=20&gap-ms=20&format=sse&until=[DONE]"
        words = (stream, "--stream", "sse", "--stream-until", "[DONE]")
        words += ("-c", "4", "-d", "3s", "--processes", "2")
        with watched_to_its_end(browser, said, tmp_path, *words, title="Streams") as (page, result):
            (stream,), (row,) = result["streams"], rows(page, "Streams")
            first, gap = (stream[name] for name in ("first", "gap"))
            times = [first["p50"], first["p99"], gap["p50"], gap["p99"], gap["max"]]
            assert row[2:7] == [shown(one) for one in times]
            assert row[7].startswith(f"{format_count(stream['whole'])} whole")
            one, two = rows(page, "Generators")
            assert (one[0], two[0]) == ("1", "2")
            (trial,) = result["trials"]
            sent = sum(int(row[3].replace(",", "")) for row in (one, two))
            assert sent == sum(trial["outcomes"].values()) - trial["outcomes"].get("never_sent", 0)


PLAN = """
title = "Two of a kind"
contestants = ["one", "two"]
rounds = 2
warm-up = "0s"
repeats = false
[contestant.one]
url = "{one}"
[contestant.two]
url = "{two}"
[workload.work]
request = {{ get = "/work?us=300" }}
load = {{ clients = 1, for = "1s" }}
[[require]]
that = "p50 < 10 s"
[[require]]
that = "throughput > 1,000,000/s"
"""


@contextlib.contextmanager
def ended_run(
    browser: Browser, said: list[str], base: Path, *command: str | Path
) -> Iterator[tuple[Page, Any]]:
    """The page of a run that it has shown while it was measured, and its record."""
    with jostle_running(*command, "--into", base / "runs", **SILENTLY) as run, web(base / "runs") as served:
        recorded(base / "runs", 100)
        (folder,) = (base / "runs").iterdir()
        page = opened(browser, f"{served.url}/runs/{folder.name}", said, **SIZE)
        expect(page.locator("#state")).to_have_text("The run has ended.")
        run.wait(60)
        yield page, RunRecord.open(folder)


def test_contestants_and_requirements_stand_as_in_the_report(
    browser: Browser, tmp_path: Path, said: list[str]
) -> None:
    with reference_server("workers") as one, reference_server("workers") as two:
        plan = tmp_path / "plan.toml"
        plan.write_text(PLAN.format(one=one, two=two), encoding="utf-8")
        with ended_run(browser, said, tmp_path, "run", plan, "--no-pages") as (page, record):
            result = analyse(record, distributions=False)
            expect(table(page, "Contestants").locator("tbody tr")).to_have_count(2)
            expect(table(page, "Contestants").locator("tbody")).to_contain_text("2")
            for row, cell in zip(rows(page, "Contestants"), result.summaries, strict=True):
                figures = (cell.throughput, cell.response["p50"], cell.response["p99"])
                assert row[:3] == [cell.contestant, cell.workload, str(cell.rounds)]
                assert row[3:6] == [str(formatted(one)) for one in figures]
            judged = page.locator("#judged li").all_text_contents()
            assert len(judged) == len(result.requirements) == 4
            for text, required in zip(judged, result.requirements, strict=True):
                mark = decision_mark(required.verdict)
                about = f"{required.that} ({required.about})"
                assert text == f"{mark.symbol} {mark.word}: {about} {required.message}"


def test_a_search_shows_the_levels_of_its_answer(browser: Browser, tmp_path: Path, said: list[str]) -> None:
    with reference_server("workers") as url:
        words = (
            f"{url}/work?us=2000",
            "--slo",
            "p99 < 100 ms",
            "--quick",
            "--budget",
            "12s",
            "--most",
            "100/s",
        )
        with ended_run(browser, said, tmp_path, "capacity", *words) as (page, record):
            levels = RecordedSearch(record).levels
            expect(table(page, "Levels tried").locator("tbody tr")).to_have_count(len(levels))
            told = [[format_rate(one.level), str(len(one.blocks))] for one in levels]
            eventually(
                lambda: [row[:2] for row in rows(page, "Levels tried")] == told, "another number of blocks"
            )
