"""The page in Debian's Chromium: no network, no console errors, charts; light, dark, phone, paper, keys."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from jostle.analysis.results import RunResult
from jostle.record.verdict import Verdict
from jostle.report.files import write_page
from support.results import RUNTIMES, make_hit, make_plain, make_starvation


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_page(make_starvation(RUNTIMES[:2], bad={3: Verdict.SUSPECT}), path)
    return path


def opened(browser: Browser, file: Path, **context: object) -> Page:
    """The page with all its charts drawn; fails on a console message, an error or a request to anywhere."""
    page = browser.new_context(**context).new_page()  # type: ignore[arg-type]
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on(
        "request", lambda request: said.append(request.url) if not request.url.startswith("file:") else None
    )
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-ready=yes]", timeout=60_000)
    assert said == []
    return page


def test_every_chart_is_drawn_and_fits(browser: Browser, file: Path) -> None:
    page = opened(browser, file, viewport={"width": 1200, "height": 900})
    page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
    figures = page.locator("figure[data-chart]")
    assert figures.count() == 2 + 2 * (3 + 1 + 2)  # strips and stall; tabs, throughput and two timelines each
    shown = figures.count() - 2 * 2  # of each three tabs one
    page.wait_for_function(f"document.querySelectorAll('figure svg.marks').length === {shown}")
    for name in ("Percentiles", "Density"):
        for tab in page.get_by_role("tab", name=name).all():
            tab.click()
    page.wait_for_function(f"document.querySelectorAll('figure svg.marks').length === {figures.count()}")
    for i in range(figures.count()):
        if not figures.nth(i).is_visible():
            continue  # behind another tab
        box = figures.nth(i).locator("svg").first.bounding_box()
        assert box is not None
        assert box["width"] > 350
        assert box["height"] > 60
        assert figures.nth(i).locator("svg path, svg line").count() > 5
    assert page.evaluate("document.documentElement.scrollWidth") <= 1200


@pytest.mark.parametrize("make", [make_hit, make_plain, partial(make_starvation, RUNTIMES[:2])])
def test_the_first_screen_holds_the_picture(
    browser: Browser, tmp_path: Path, make: Callable[[], RunResult]
) -> None:
    write_page(make(), tmp_path / "report.html")
    page = opened(browser, tmp_path / "report.html", viewport={"width": 1280, "height": 800})
    chart = page.locator("figure[data-chart] .chart").first.bounding_box()
    verdict = page.locator("#verdict").bounding_box()
    assert chart is not None
    assert verdict is not None
    assert verdict["y"] + verdict["height"] < 130, "the verdict is a line below the title"
    assert chart["y"] + chart["height"] <= 800


def test_a_reason_is_a_click_away_and_stays_on_paper(browser: Browser, file: Path) -> None:
    page = opened(browser, file)
    reason = page.get_by_text("had it been on time")
    assert not reason.first.is_visible()
    page.locator("#verdict summary").click()
    assert reason.first.is_visible()
    page.locator("#verdict summary").click()
    page.emulate_media(media="print")
    assert page.get_by_text("? Suspect").first.is_visible()


def test_a_table_is_cards_on_a_phone(browser: Browser, file: Path) -> None:
    page = opened(browser, file, viewport={"width": 390, "height": 844})
    table = page.get_by_role("table", name="Alone and with the slow request")
    assert table.evaluate("t => t.scrollWidth <= document.documentElement.clientWidth")
    cell = table.locator("td[data-label=p99]").first
    label = cell.evaluate("td => getComputedStyle(td, '::before').content")
    assert label == '"p99"'
    rows = table.locator("tbody tr")
    assert all("node" in row or "go" in row for row in rows.all_inner_texts()), "each has its contestant"


def test_a_phone_scrolls_in_one_direction_only(browser: Browser, file: Path) -> None:
    page = opened(browser, file, viewport={"width": 375, "height": 800}, device_scale_factor=2)
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    widths = page.locator(".chart > svg, .chart svg.marks").evaluate_all("all => all.map(s => s.clientWidth)")
    assert widths
    assert max(widths) <= 375
    sizes = page.locator(".chart text").evaluate_all(
        "all => all.map(t => parseFloat(getComputedStyle(t).fontSize))"
    )
    assert min(sizes) >= 12


def test_charts_are_drawn_again_when_the_width_changes(browser: Browser, file: Path) -> None:
    page = opened(browser, file, viewport={"width": 1200, "height": 900})
    page.set_viewport_size({"width": 700, "height": 900})
    page.wait_for_function("[...document.querySelectorAll('svg.marks')].every(s => s.clientWidth <= 700)")
    assert page.evaluate("document.documentElement.scrollWidth") <= 700


def test_dark_is_dark_and_so_are_its_charts(browser: Browser, file: Path) -> None:
    colours = {}
    for scheme in ("light", "dark"):
        page = opened(browser, file, color_scheme=scheme)
        colours[scheme] = page.evaluate(
            "[getComputedStyle(document.body).backgroundColor,"
            " getComputedStyle(document.querySelector('figure .mark-text text')).fill,"
            " getComputedStyle(document.querySelector('figure .mark-rect path')).fill]"
        )
    assert colours["light"][0] == "rgb(255, 255, 255)"
    assert all(a != b for a, b in zip(colours["light"], colours["dark"], strict=True))


def test_paper_is_white_even_in_the_dark(browser: Browser, file: Path) -> None:
    page = opened(browser, file, color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_the_keyboard_reaches_everything(browser: Browser, file: Path) -> None:
    page = opened(browser, file)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#results"
    first = page.locator("figure summary").first
    first.focus()
    page.keyboard.press("Enter")
    assert page.locator("figure details").first.get_attribute("open") is not None
    page.evaluate("location.hash = '#distributions'")
    page.wait_for_selector("#distributions[open]")  # a link unfolds what it leads to
    page.get_by_role("tab", name="ECDF").first.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.textContent") == "Percentiles"
    assert page.get_by_role("tab", selected=True).first.text_content() == "Percentiles"
    assert page.locator(".scroll:not([tabindex='0'])").count() == 0


def test_a_screen_reader_is_told_what_each_chart_shows(browser: Browser, file: Path) -> None:
    page = opened(browser, file)
    charts = page.get_by_role("img")
    assert 0 < charts.count() <= page.locator("figure[data-chart]").count()  # none that is folded
    assert page.get_by_role("img", name="p99 beside slow requests").count() == 1
    assert page.get_by_role("img", name="completes nothing from").count() == 1
    assert page.get_by_role("heading", level=1).count() == 1
    assert (
        page.get_by_role("table", name="Alone and with the slow request").count() == 1
    )  # the others are folded
