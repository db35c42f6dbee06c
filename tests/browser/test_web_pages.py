"""The pages of `jostle web` in Debian's Chromium: on recorded runs, and on a load while it is sent."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from jostle.formatting import amount
from jostle.units import format_count, format_rate
from support.pages import AWAY, FOUR, OPEN, QUICK
from support.real import SILENTLY, jostle_running, recorded, reference_server
from support.synthetic import Trial, closed, make_run, open_loop
from support.waiting import eventually
from support.web import Served, opened, web

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    """The page on a run of three trials: in the second the server stands still for two seconds, in the third
    it is away."""
    base = tmp_path_factory.mktemp("runs")
    trials = [
        Trial(HOSTILE, "w", 1, closed(QUICK, 5.0, clients=4), load=FOUR),
        Trial("b", "w", 1, open_loop(QUICK, 400, 10.0, blocked=[(4.0, 6.0)]), 10.0, 0.25, OPEN),
        AWAY,
    ]
    run = make_run(base, trials)
    with web(base) as page:
        yield page, f"{page.url}/runs/{run.name}"


def watched(browser: Browser, url: str, said: list[str], **context: Any) -> Page:
    """The page of a run, once it shows its figures."""
    page = opened(browser, url, said, **context)
    expect(page.locator("#map .said")).to_contain_text("requests were answered")
    return page


def figure(page: Page, name: str, column: int = -1) -> str:
    """A figure of the table beside the map: of the range (-2) or of the whole trial."""
    row = page.get_by_role("row", name=name, exact=False).filter(has=page.locator(f"th:text-is('{name}')"))
    return row.locator("td").nth(column).inner_text()


def dragged(page: Page, selector: str, start: float, end: float) -> None:
    """Drag over a picture, from and to these shares of its width."""
    page.locator(selector).scroll_into_view_if_needed()
    box = page.locator(selector).bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + start * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + end * box["width"], y, steps=4)
    page.mouse.up()


def test_no_page_violates_its_policy(browser: Browser, served: tuple[Served, str]) -> None:
    said: list[str] = []
    page = watched(browser, served[1], said)
    page.goto(f"{served[0].url}/runs")
    page.goto(f"{served[1]}/report")
    page.wait_for_selector("html[data-ready=yes]", timeout=60_000)
    assert said == []


def test_a_trial_is_drawn_and_texts_stay_texts(browser: Browser, served: tuple[Served, str]) -> None:
    said: list[str] = []
    page = watched(browser, f"{served[1]}?trial=1", said, viewport={"width": 1280, "height": 800})
    expect(page.locator("#where")).to_have_text(f"{HOSTILE}, w, round 1")
    assert page.locator("main img").count() == 0
    expect(page.locator("#state")).to_have_text("The run has ended.")
    colours = page.locator("#map canvas").evaluate(
        "canvas => new Set(new Uint32Array("
        "canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size"
    )
    assert colours > 20
    assert page.locator("#charts figure:visible").count() == 4  # a closed loop cannot be late
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    box = page.locator("#map canvas").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 800, "the picture is on the first screen"
    assert said == []


def test_another_trial_is_a_click_away(browser: Browser, served: tuple[Served, str]) -> None:
    said: list[str] = []
    page = watched(browser, f"{served[1]}?trial=1", said)
    page.get_by_role("button", name="2", exact=True).click()
    expect(page.locator("#where")).to_have_text("b, w, round 1")
    assert page.locator("#charts figure:visible").count() == 5
    assert said == []


def test_a_range_is_chosen_in_any_picture_and_its_checks_are_made(
    browser: Browser, served: tuple[Served, str]
) -> None:
    said: list[str] = []
    page = watched(browser, f"{served[1]}?trial=2", said, viewport={"width": 1280, "height": 800})
    whole = page.locator("#map .said").inner_text()
    dragged(page, "#map canvas", 0.2, 0.4)
    expect(page.locator("#checks-title")).to_contain_text(re.compile(r"from 1\.\d\d s to 3\.\d\d s: ✓ valid"))
    expect(page.locator("#checks")).to_contain_text("Nothing speaks against the figures.")
    assert figure(page, "ok", -2) != figure(page, "ok")
    dragged(page, "#chart-rates .u-over", 0.11, 0.34)
    assert page.locator("#map .said").inner_text().startswith("From 1.00 s to 3.50 s")
    selected = page.locator("#chart-rates .u-select").bounding_box()
    over = page.locator("#chart-rates .u-over").bounding_box()
    assert selected is not None
    assert over is not None
    assert (selected["x"] - over["x"]) / over["width"] == pytest.approx(0.1, abs=0.01)
    assert selected["width"] / over["width"] == pytest.approx(0.25, abs=0.01)
    page.keyboard.press("Escape")
    expect(page.locator("#checks-title")).to_have_text("Checks")
    assert page.locator("#map .said").inner_text() == whole
    dragged(page, "#chart-waiting .u-over", 0.36, 0.59)
    expect(page.locator("#checks")).to_contain_text("no response from 500 ms to the end")
    expect(page.locator("#checks")).to_contain_text("Times count from the start of the range.")
    assert page.locator("#map .said").inner_text().startswith("From 3.50 s to 6.00 s")
    assert said == []


def test_the_keyboard_chooses_a_range_and_opens_tables(browser: Browser, served: tuple[Served, str]) -> None:
    page = watched(browser, f"{served[1]}?trial=2", [])
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    slider = page.get_by_role("slider").first
    slider.focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#map .said")).to_contain_text("From 1.00 s to 10.0 s")
    page.keyboard.press("Escape")
    expect(page.locator("#map .said")).to_contain_text("In the whole run")
    summary = page.locator("#chart-rates summary")
    summary.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#chart-rates details")).to_have_attribute("open", "")
    expect(page.locator("#chart-rates details tbody tr").nth(20)).to_be_attached()


def test_a_phone_shows_one_chart_at_a_time_and_scrolls_one_way(
    browser: Browser, served: tuple[Served, str]
) -> None:
    page = watched(browser, f"{served[1]}?trial=2", [], viewport={"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("#charts figure:visible").count() == 1
    page.get_by_role("button", name="Cores in use").click()
    assert page.locator("#charts figure:visible h3").all_inner_texts() == ["Cores in use"]
    heights = page.locator("button:visible").evaluate_all("all => all.map(one => one.offsetHeight)")
    assert min(heights) >= 44
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_dark_is_dark(browser: Browser, served: tuple[Served, str]) -> None:
    page = watched(browser, f"{served[1]}?trial=2", [], color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"


def test_a_hidden_tab_gives_its_connection_back(browser: Browser, tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    words = ("-c", "4", "-d", "30s", "--into", tmp_path, "-o", result)
    with (
        reference_server("workers") as url,
        jostle_running("hit", f"{url}/work?us=2000", *words, **SILENTLY) as load,
        web(tmp_path) as served,
    ):
        recorded(tmp_path, 2_000)
        said: list[str] = []
        page = watched(browser, f"{served.url}/live", said)
        expect(page.locator("#state")).to_have_text("The run goes on.")
        hide(page, hidden=True)
        expect(page.locator("#state")).to_have_text("Paused while this tab is hidden.")
        left = page.locator("#left").inner_text()
        hide(page, hidden=False)
        expect(page.locator("#left")).not_to_have_text(left)
        other = watched(browser, f"{served.url}/live", said)
        page.reload()
        for each in (page, other):
            expect(each.locator("#state")).to_have_text("The run has ended.")
        assert load.wait(60) in (0, 3)
        eventually(result.exists)
        agree(page, json.loads(result.read_text())["trials"][0])
        assert page.locator("#map .said").inner_text() == other.locator("#map .said").inner_text()
        assert said == []


def hide(page: Page, *, hidden: bool) -> None:
    page.evaluate(
        "hidden => { Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });"
        " document.dispatchEvent(new Event('visibilitychange')); }",
        hidden,
    )


def agree(page: Page, trial: dict[str, Any]) -> None:
    """The last figures of the page are those of the report."""
    for name, title in (("p50", "p50"), ("p90", "p90"), ("p99", "p99"), ("max", "longest")):
        estimate = trial["response"][name]
        bound = f"{estimate['bound']} " if estimate["bound"] else ""
        assert figure(page, title) == bound + amount(estimate["value"], "s"), name
    assert figure(page, "answered") == format_rate(trial["throughput_per_s"])
    assert figure(page, "ok") == format_count(trial["outcomes"]["ok"])
    verdict = trial["validity"]["verdict"]
    expect(page.locator("#verdict h2")).to_contain_text(verdict)


def test_without_javascript_the_report_is_linked(browser: Browser, served: tuple[Served, str]) -> None:
    page = opened(browser, served[1], [], java_script_enabled=False)
    page.get_by_role("link", name="its report as of now").first.click()
    assert page.url == f"{served[1]}/report"
    assert page.get_by_role("heading", level=1).count() == 1


def test_a_browser_without_event_streams_is_told_so_and_the_report_is_linked(
    browser: Browser, served: tuple[Served, str]
) -> None:
    page = browser.new_context().new_page()
    page.add_init_script("delete window.EventSource")
    page.goto(served[1])
    expect(page.locator("#state")).to_have_text("This run cannot be followed here.")
    expect(page.locator("#unable")).to_contain_text("This browser has no event streams")
    page.locator("#unable a").click()
    page.wait_for_url(f"{served[1]}/report")


def test_what_is_marked_is_in_every_picture_and_the_journal_says_when(
    browser: Browser, served: tuple[Served, str]
) -> None:
    said: list[str] = []
    page = watched(browser, f"{served[1]}?trial=3", said, viewport={"width": 1280, "height": 800})
    marked = page.locator("#map .facts")
    expect(marked).to_have_text("✗ 4.25 s no response · ✓ 6.00 s responses again")
    assert said == []
    at = 0.425  # where the outage begins; reading pixels makes Chromium complain
    assert marked_share(page, "#map canvas", 68, 68 + 46, at) > 0.5
    left = page.locator("#chart-cores .u-over").evaluate("over => over.offsetLeft")
    width = page.locator("#chart-cores .u-over").evaluate("over => over.offsetWidth")
    rest = page.locator("#chart-cores canvas").evaluate(
        "(canvas, width) => canvas.clientWidth - width", width
    )
    assert marked_share(page, "#chart-cores canvas", left, rest, at) > 0.5
    assert marked_share(page, "#chart-cores canvas", left, rest, at / 2) == 0
    events = page.locator("#journal li").all_inner_texts()
    assert [re.sub(r"^\d\d:\d\d:\d\d\s*", "", one) for one in events][:2] == [
        "The run ended",
        "Trial 3 ended",
    ]
    assert events[-1].endswith("The run began")


def marked_share(page: Page, canvas: str, left: float, margins: float, part: float) -> float:
    """Of the pixels above one another at this part of a picture, how many have the colour of a loss."""
    found: float = page.locator(canvas).evaluate(
        """(canvas, [left, margins, part]) => {
            const dense = canvas.width / canvas.clientWidth, to = canvas.getContext("2d");
            const probe = new OffscreenCanvas(1, 1).getContext("2d");
            probe.fillStyle = getComputedStyle(canvas).getPropertyValue("--bad").trim();
            probe.fillRect(0, 0, 1, 1);
            const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
            const middle = Math.round((left + (canvas.clientWidth - margins) * part) * dense);
            const shares = [-1, 0, 1].map((off) => {
                const { data } = to.getImageData(middle + off, 0, 1, canvas.height);
                let count = 0;
                for (let i = 0; i < data.length; i += 4) {
                    const [red, green, blue] = [data[i] - r, data[i + 1] - g, data[i + 2] - b].map(Math.abs);
                    count += red + green + blue < 12;
                }
                return count / canvas.height;
            });
            return Math.max(...shares);
        }""",
        [left, margins, part],
    )
    return found
