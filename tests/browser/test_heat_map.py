"""The heat map of a finished report: its pixels, its ranges by pointer and keys, several trials, a phone."""

import math
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page

from jostle.analysis.run import analyse
from jostle.formatting import MISSING
from jostle.record import RunRecord
from jostle.report.files import write_page
from support.pages import TRIALS, with_modules
from support.synthetic import PLAN, Trial, make_run

REQUIRED = '\n[[require]]\nthat = "p99 < 100 ms"\nconfidence = 0.9\n\n[[require]]\nthat = "errors < 1 %"\n'


def page_of(folder: Path, *trials: Trial, plan: str = PLAN) -> Path:
    run = make_run(folder, trials, plan_text=plan)
    path = folder / "report.html"
    write_page(analyse(RunRecord.open(run)), path)
    return path


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return page_of(tmp_path_factory.mktemp("map"), TRIALS["a stall"], plan=PLAN + REQUIRED)


def opened(browser: Browser, file: Path, **context: Any) -> Page:
    page = browser.new_context(**context).new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(file.as_uri())
    page.wait_for_selector("[data-trials][data-ready=yes]")
    assert said == []
    return page


def figure(page: Page, name: str) -> list[str]:
    """The cells of a row: the range, the whole run."""
    row = page.locator("[data-trials] tbody tr").filter(
        has=page.get_by_role("rowheader", name=name, exact=True)
    )
    return [cell.strip() for cell in row.locator("td").all_inner_texts()]


def drag(page: Page, canvas: Locator, begin: float, end: float) -> None:
    box = canvas.bounding_box()
    assert box is not None
    left, width = box["x"] + 68, box["width"] - 68 - 46  # the margins of the plot
    page.mouse.move(left + begin * width, box["y"] + 90)
    page.mouse.down()
    page.mouse.move(left + end * width, box["y"] + 120, steps=4)
    page.mouse.up()


def test_a_range_is_dragged_and_a_key_shows_the_whole_run(browser: Browser, file: Path) -> None:
    page = opened(browser, file, viewport={"width": 1280, "height": 800})
    canvas = page.locator("[data-trials] canvas")
    canvas.scroll_into_view_if_needed()
    said = page.locator("[data-trials] [role=status]")
    assert said.inner_text().startswith("In the whole run, 3,998 requests")
    whole = figure(page, "p99")[0]
    drag(page, canvas, 0.055, 0.37)
    assert said.inner_text().startswith("From 500 ms to 3.75 s, ")
    quick, told = figure(page, "p99")
    assert told == whole
    assert quick.endswith(" ms")
    assert float(quick.split()[0]) < 30
    assert figure(page, "p99 < 100 ms") == ["✓ holds", "✗ does not hold"]
    assert figure(page, "errors < 1 %") == ["✓ holds", "✓ holds"]
    page.locator("[data-trials] button").focus()
    page.keyboard.press("Escape")
    assert said.inner_text().startswith("In the whole run")
    assert figure(page, "p99")[0] == whole


def test_the_keyboard_alone_chooses_a_range(browser: Browser, file: Path) -> None:
    page = opened(browser, file)
    begin, end = page.get_by_role("slider").all()
    begin.focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    end.focus()
    page.keyboard.press("ArrowLeft")
    said = page.locator("[data-trials] [role=status]").inner_text()
    assert said.startswith("From 1.00 s to 9.75 s, ")
    assert page.get_by_role("img", name=said).count() == 1, "the picture is described by the same sentence"
    assert begin.get_attribute("aria-valuetext") == "1.00 s"
    end.focus()
    page.keyboard.press("Home")
    assert begin.evaluate("input => input.value") == end.evaluate("input => input.value") == "0"


def test_what_waits_is_told_while_nothing_is_answered(browser: Browser, file: Path) -> None:
    page = opened(browser, file, viewport={"width": 1280, "height": 800})
    canvas = page.locator("[data-trials] canvas")
    canvas.scroll_into_view_if_needed()
    drag(page, canvas, 0.46, 0.59)
    said = page.locator("[data-trials] [role=status]").inner_text()
    assert "0 requests were answered; " in said
    assert "due and not answered" in said
    assert figure(page, "p50")[0] == MISSING
    assert int(figure(page, "due, not answered (most)")[0]) > 600


def test_a_cell_has_the_colour_of_its_count(browser: Browser) -> None:
    page = with_modules(browser, ["units", "quantiles", "columns", "marks", "heat_map"], ["HeatMap"])
    page.set_viewport_size({"width": 900, "height": 500})
    differing = page.evaluate(
        """() => {
          document.body.innerHTML = '<canvas style="width: 700px; height: 400px; --bad: #f00"></canvas>';
          const canvas = document.querySelector("canvas"), map = new HeatMap(canvas, () => {});
          const columns = Array.from({ length: 20 }, (_, i) => {
            const bins = new Float64Array(192);
            for (let bin = 70; bin < 110; bin += 3) bins[bin] = (i * bin) % 23;
            const times = { start: i * 1e5, end: (i + 1) * 1e5, p50: null, p99: null };
            return { ...times, bins, unanswered: i, late: false };
          });
          map.show(columns, 2e6, [], []);
          const to = canvas.getContext("2d");
          const at = (x, y) => `rgb(${[...to.getImageData(x, y, 1, 1).data].slice(0, 3).join(", ")})`;
          const found = [];
          columns.forEach(({ bins }, number) => {
            for (let bin = 70; bin < 110; bin++) {
              const { x, y, width, height } = map.cell(number, bin);
              const colour = at(x + width / 2, y + height / 2);
              const right = bins[bin] ? map.colour(bins[bin]) : "rgb(255, 255, 255)";
              if (colour !== right) found.push([number, bin, bins[bin], colour, right]);
            }
          });
          const colours = [1, 2, 5, 22].map((count) => map.colour(count));
          const bars = columns.map((_, i) => {
            const ys = [...Array(30).keys()];
            return ys.filter((y) => at(map.cell(i, 80).x + 3, y) === "rgb(255, 0, 0)").length;
          });
          return { found, colours, bars, last: map.cell(19, 80) };
        }"""
    )
    assert differing["found"] == []
    assert len(set(differing["colours"])) == 4
    assert differing["bars"] == [math.ceil(30 * waiting / 19) for waiting in range(20)]
    assert differing["last"]["x"] + differing["last"]["width"] == 700 - 46


def test_one_trial_at_a_time(browser: Browser, tmp_path: Path) -> None:
    stalls, late = TRIALS["a stall"], TRIALS["late"]
    file = page_of(tmp_path, stalls, Trial("b", "w", 1, late.requests, 5.0, 0.25, late.load))
    page = opened(browser, file)
    select = page.locator("[data-trials] select")
    assert select.locator("option").all_inner_texts() == ["a", "b"]
    page.get_by_role("slider").first.fill("3")
    assert page.locator("[data-trials] [role=status]").inner_text().startswith("From")
    select.select_option("b")
    count = sum(request.outcome == "ok" for request in late.requests)
    page.get_by_text(f"In the whole run, {count:,} requests").wait_for()


def test_a_phone_shows_it_without_scrolling_sideways(browser: Browser, file: Path) -> None:
    page = opened(browser, file, viewport={"width": 390, "height": 844}, has_touch=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for control in page.locator("[data-trials] :is(button, input)").all():
        box = control.bounding_box()
        assert box is not None
        assert box["height"] >= 44


def test_the_page_has_no_more_words_before_its_picture(browser: Browser, file: Path) -> None:
    page = opened(browser, file)
    before = page.evaluate(
        """() => {
          const picture = document.querySelector("figure .chart").getBoundingClientRect().top;
          const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          let count = 0;
          while (words.nextNode()) {
            const parent = words.currentNode.parentElement;
            if (parent.closest("script, style, noscript") || !parent.checkVisibility()) continue;
            if (parent.getBoundingClientRect().top >= picture) continue;
            count += words.currentNode.data.split(/\\s+/).filter(Boolean).length;
          }
          return count;
        }"""
    )
    assert before <= 120
