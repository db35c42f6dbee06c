"""The library of `jostle web`: the list, its search and order, two runs compared, a trend, a run deleted."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from support.real import SILENTLY, jostle_running, recorded, reference_server
from support.synthetic import PLAN, Trial, closed, lognormal, make_run
from support.web import Served, opened, web

MEDIANS = (0.002, 0.002, 0.002, 0.002, 0.004, 0.004, 0.004, 0.004)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight runs of one plan, which became slower, and one of another plan."""
    base = tmp_path_factory.mktemp("runs")
    for number, median in enumerate(MEDIANS):
        trial = Trial("node", "w", 1, closed(lognormal(median, 0.1), 2.0, seed=number), 2.0)
        make_run(base, [trial], slug=f"run-{number}")
    other = Trial("go", "w", 1, closed(lognormal(0.001, 0.1), 2.0), 2.0)
    make_run(base, [other], slug="other", plan_text=PLAN.replace("A synthetic run", "<b>Another</b> one"))
    return base


@pytest.fixture(scope="module")
def served(base: Path) -> Iterator[Served]:
    with web(base) as served:
        yield served


def library(browser: Browser, served: Served, said: list[str], **context: Any) -> Page:
    return opened(browser, f"{served.url}/runs#token={served.token}", said, **context)


def names(page: Page) -> list[str]:
    return [str(row.get_attribute("data-run")) for row in page.locator("#runs tbody tr:not([hidden])").all()]


def test_runs_are_found_and_ordered(browser: Browser, served: Served) -> None:
    said: list[str] = []
    page = library(browser, served, said)
    assert len(names(page)) == 9
    assert page.get_by_text("<b>Another</b> one").count() == 1
    page.get_by_role("searchbox").fill("another go")
    assert [name.rpartition("-")[2] for name in names(page)] == ["other"]
    assert page.locator("#count").inner_text().startswith("1 of 9 ")
    page.get_by_role("searchbox").fill("")
    head = page.get_by_role("columnheader", name="p50")
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    values = [float(str(cell.get_attribute("data-value"))) for cell in page.locator("[data-label=p50]").all()]
    assert values == sorted(values)
    assert len(set(values)) > 5
    head.get_by_role("button").click()
    assert names(page)[-1].endswith("other")
    assert said == []


def test_two_chosen_runs_are_compared(browser: Browser, served: Served) -> None:
    said: list[str] = []
    page = library(browser, served, said)
    compare = page.locator("#compare")
    assert compare.is_disabled()
    for number in (1, 6):
        page.get_by_role("checkbox", name=f"run-{number}").check()
    compare.click()
    page.wait_for_selector("h1")
    assert "/compare?run=" in page.url
    assert page.get_by_text("p50").count() > 0
    assert "2.0" in page.inner_text("body"), "the later run with the earlier one"
    page.goto(f"{served.url}/compare?run=nothing&run=neither")
    assert "there is no run" in page.inner_text("main").lower()
    page.goto(f"{served.url}/compare")
    assert "two runs are compared, and none of them" in page.inner_text("main").lower()
    assert [text for text in said if "404" not in text and "400" not in text] == []


def test_a_trend_has_its_change_of_level(browser: Browser, served: Served) -> None:
    said: list[str] = []
    page = library(browser, served, said)
    page.locator("tr", has_text="A synthetic run").first.get_by_role("link", name="trend").click()
    page.wait_for_selector("figure.trend")
    medians = page.locator("figure.trend").filter(has=page.get_by_role("heading", name="p50"))
    assert medians.locator("circle").count() == 8
    assert medians.locator("line.change").count() == 1
    sentence = medians.locator("figcaption p").inner_text()
    assert sentence.startswith("p50 was 3.96 ms [")
    assert "+99 % since " in sentence
    heights = [float(str(circle.get_attribute("cy"))) for circle in medians.locator("circle").all()]
    assert min(heights[:4]) > max(heights[4:]), "slower is higher"
    assert said == []


def test_a_run_is_deleted_only_after_it_was_asked_for(browser: Browser, served: Served, base: Path) -> None:
    doomed = make_run(base, [Trial("node", "w", 1, closed(lognormal(0.01, 0.1), 1.0), 1.0)], slug="doomed")
    said: list[str] = []
    page = library(browser, served, said)
    row = page.locator(f"tr[data-run='{doomed.name}']")
    row.get_by_role("button", name="delete").click()
    page.get_by_role("button", name="Keep it").click()
    assert doomed.is_dir()
    row.get_by_role("button", name="delete").click()
    assert page.get_by_role("dialog").inner_text().count(doomed.name) == 1
    page.get_by_role("button", name="Delete it").click()
    row.wait_for(state="detached")
    assert not doomed.exists()
    assert said == []


def test_who_has_no_token_deletes_nothing(browser: Browser, served: Served, base: Path) -> None:
    said: list[str] = []
    page = opened(browser, f"{served.url}/runs", said)
    page.locator("tr[data-run$=run-0]").get_by_role("button", name="delete").click()
    page.get_by_role("button", name="Delete it").click()
    page.get_by_text("with its token, may delete").wait_for()
    assert len(list(base.glob("*run-0"))) == 1


def test_a_run_that_goes_on_is_said_to_and_stays(browser: Browser, tmp_path: Path) -> None:
    with reference_server("workers") as url:
        with jostle_running("hit", f"{url}/work?us=1000", "-n", "50", "--into", tmp_path, **SILENTLY) as hit:
            hit.wait(60)
        running = ("hit", f"{url}/work?us=1000", "-d", "300s", "--into", tmp_path)
        with jostle_running(*running, **SILENTLY):
            (ended,) = tmp_path.glob("*-hit*")
            recorded(tmp_path, 2_000)
            with web(tmp_path) as served:
                page = library(browser, served, [])
                assert len(names(page)) == 2
                going = page.locator("tr", has_text="going on")
                assert going.get_attribute("data-run") != ended.name
                going.get_by_role("button", name="delete").click()
                page.get_by_role("button", name="Delete it").click()
                page.get_by_text("still goes on: stop it first").wait_for()
                assert going.count() == 1
                page.goto(f"{served.url}/runs/{ended.name}/report")
                page.wait_for_selector("[data-trials][data-ready=yes]", timeout=60_000)


def test_a_phone_has_cards(browser: Browser, served: Served) -> None:
    page = library(browser, served, [], viewport={"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.goto(f"{served.url}/trend?plan=A+synthetic+run")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
