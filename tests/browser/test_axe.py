"""No page keeps anybody out: axe-core finds nothing serious, in light and dark, on a desk and on a phone."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from support.axe import barriers
from support.pages import FOUR, OPEN, QUICK
from support.real import SILENTLY, jostle_running, recorded, reference_server
from support.synthetic import Trial, closed, make_run, open_loop
from support.web import Served, opened, web

SIZES = {"desk": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}


@dataclass(frozen=True)
class Shown:
    """Two runs of one plan, one of them with a stall, and their page."""

    served: Served
    runs: list[str]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    base = tmp_path_factory.mktemp("runs")
    trials = [
        Trial("a", "w", 1, closed(QUICK, 5.0, clients=4), load=FOUR),
        Trial("b", "w", 1, open_loop(QUICK, 400, 10.0, blocked=[(4.0, 6.0)]), 10.0, 0.25, OPEN),
    ]
    runs = [make_run(base, trials, slug=f"run-{number}").name for number in range(2)]
    with web(base) as served:
        yield Shown(served, runs)


@pytest.fixture(params=["light", "dark"])
def scheme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=SIZES)
def size(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def at(browser: Browser, shown: Shown, path: str, scheme: str, size: str) -> Page:
    url = f"{shown.served.url}/{path}"
    page = opened(browser, url, [], color_scheme=scheme, viewport=SIZES[size], reduced_motion="reduce")
    page.set_default_timeout(120_000)
    return page


def nothing_serious(page: Page) -> None:
    assert barriers(page) == []
    page.context.close()


def test_the_library(browser: Browser, shown: Shown, scheme: str, size: str) -> None:
    page = at(browser, shown, "runs", scheme, size)
    nothing_serious(page)


def test_a_question_before_a_run_is_deleted(browser: Browser, shown: Shown, scheme: str, size: str) -> None:
    page = at(browser, shown, "runs", scheme, size)
    page.get_by_role("button", name="delete").first.click()
    page.get_by_role("dialog").wait_for()
    nothing_serious(page)


def test_a_run_with_a_range(browser: Browser, shown: Shown, scheme: str, size: str) -> None:
    page = at(browser, shown, f"runs/{shown.runs[0]}?trial=2", scheme, size)
    expect(page.locator("#map .said")).to_contain_text("requests were answered")
    page.get_by_role("slider", name="from").focus()
    page.keyboard.press("ArrowRight")
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    nothing_serious(page)


def test_a_load_while_it_is_sent(browser: Browser, tmp_path: Path, scheme: str, size: str) -> None:
    with (
        reference_server("run-to-completion") as url,
        jostle_running("hit", url, "--rate", "100/s", "-d", "5m", "--into", tmp_path, **SILENTLY),
        web(tmp_path) as served,
    ):
        recorded(tmp_path, 100)
        (run,) = tmp_path.iterdir()
        page = at(browser, Shown(served, []), f"runs/{run.name}#token={served.token}", scheme, size)
        expect(page.locator("#change-box")).to_be_visible()
        if size == "phone":
            page.get_by_text("Change the load").click()
        page.locator("#control-number").fill("fast")
        page.locator("#control-number").press("Enter")
        expect(page.locator("#control-said")).to_contain_text("is not a rate")
        assert barriers(page) == []
        page.locator("#stop").click()
        page.get_by_role("dialog").wait_for()
        nothing_serious(page)


def test_starting_a_run_with_a_mistake(browser: Browser, shown: Shown, scheme: str, size: str) -> None:
    page = at(browser, shown, f"start#token={shown.served.token}", scheme, size)
    page.get_by_label("URL").fill("http://localhost:1/")
    page.get_by_label("or a rate").fill("fast")
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_text("'fast' is not a rate").wait_for()
    page.get_by_label("Or a plan").fill("title = 1\n")
    page.locator("#problems button").first.wait_for()
    nothing_serious(page)


def test_two_runs_compared(browser: Browser, shown: Shown, scheme: str, size: str) -> None:
    first, second = shown.runs
    page = at(browser, shown, f"compare?run={first}&run={second}", scheme, size)
    page.wait_for_selector("html[data-ready=yes]")
    nothing_serious(page)


def test_a_trend(browser: Browser, shown: Shown, scheme: str, size: str) -> None:
    page = at(browser, shown, "trend?plan=A+synthetic+run", scheme, size)
    page.locator("svg").first.wait_for()
    nothing_serious(page)


def test_a_report(browser: Browser, shown: Shown, scheme: str, size: str) -> None:
    page = at(browser, shown, f"runs/{shown.runs[0]}/report", scheme, size)
    page.wait_for_selector("html[data-ready=yes]")
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    page.wait_for_selector("[data-trials][data-ready=yes]")
    nothing_serious(page)


def test_axe_finds_what_is_wrong(browser: Browser) -> None:
    page = browser.new_context().new_page()
    page.set_content("<main><h1>x</h1><img src='data:,'><button></button></main>")
    found = json.dumps(barriers(page))
    assert "image-alt" in found
    assert "button-name" in found
