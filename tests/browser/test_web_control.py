"""The control bar of the live page: a load that is changed, and a run that is stopped, by hand."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from jostle.record import RunRecord
from support.real import SILENTLY, jostle_running, recorded, reference_server
from support.web import Served, opened, web

PHASES = """\
title = "Phases"
contestants = ["it"]
rounds = 1
warm-up = "0s"
[contestant.it]
url = "{url}"
[workload.w]
request = {{ get = "/" }}
[workload.w.load]
rates = [
  {{ name = "long", for = "5m", from = "50/s", to = "90/s" }},
  {{ name = "after", for = "5m", rate = "40/s" }},
]
"""


@contextmanager
def going(tmp_path: Path, *load: str, plan: str = "") -> Iterator[tuple[Served, Path, Any]]:
    """The page on a load while it is sent: the page, the run's folder, its process."""
    runs = tmp_path / "runs"
    with reference_server("run-to-completion") as url:
        words: list[str | Path] = ["hit", url, *load, "-d", "5m"]
        if plan:
            (tmp_path / "plan.toml").write_text(plan.format(url=url))
            words = ["run", tmp_path / "plan.toml"]
        with jostle_running(*words, "--into", runs, **SILENTLY) as process, web(runs) as served:
            recorded(runs, 100)
            (folder,) = runs.iterdir()
            yield served, folder, process


def watched(browser: Browser, served: Served, token: str | None = None, **context: Any) -> Page:
    page = opened(browser, f"{served.url}/live#token={token or served.token}", [], **context)
    expect(page.locator("#control")).to_be_visible()
    expect(page.locator("#change-box")).to_be_visible()
    return page


def steered(folder: Path) -> list[Any]:
    return [line["steered"] for line in RunRecord.open(folder).journal if line["event"] == "load steered"]


def said(page: Page, text: str) -> None:
    expect(page.locator("#control-said")).to_contain_text(text)


def test_a_rate_is_changed_by_number_slider_and_steps_and_each_change_is_listed(
    browser: Browser, tmp_path: Path
) -> None:
    with going(tmp_path, "--rate", "100/s") as (served, folder, _):
        page = watched(browser, served)
        number, slider = (
            page.locator("#control-number"),
            page.get_by_role("slider", name="requests per second"),
        )
        expect(number).to_have_value("100")
        number.fill("200")
        number.press("Enter")
        said(page, "200/s from")
        at_200 = float(slider.input_value())
        slider.focus()
        page.keyboard.press("ArrowRight")
        assert float(number.input_value()) > 200
        assert float(slider.input_value()) == at_200 + 1
        assert slider.get_attribute("aria-valuetext") == f"{float(number.input_value()):.0f}/s"
        chosen = float(number.input_value())
        page.get_by_role("button", name="Set").click()
        said(page, f"{chosen:.0f}/s from")
        page.get_by_role("button", name="+ 10 %").click()
        said(page, f"{chosen * 1.1:.0f}/s from")
        expect(page.locator("#changed li")).to_have_count(3)
        assert [(one["by"], one["per_s"]) for one in steered(folder)] == [
            ("page", 200.0),
            ("page", chosen),
            ("page", pytest.approx(chosen * 1.1)),
        ]
        slider.focus()
        page.keyboard.press("End")
        most = float(number.input_value())
        number.fill(f"{most * 2:.0f}")
        number.press("Enter")
        said(page, "is beyond this machine")
        expect(number).to_have_attribute("aria-invalid", "true")
        assert page.evaluate("document.activeElement.id") == "control-number"
        number.fill("fast")
        number.press("Enter")
        said(page, "is not a rate")
        assert len(steered(folder)) == 3


def test_clients_are_changed_and_more_than_there_are_files_for_are_refused(
    browser: Browser, tmp_path: Path
) -> None:
    with going(tmp_path, "-c", "4", "--think", "20ms") as (served, folder, _):
        page = watched(browser, served)
        number = page.locator("#control-number")
        expect(number).to_have_value("4")
        number.fill("9")
        page.get_by_role("button", name="Set").click()
        said(page, "9 clients from")
        number.fill("1000000000")
        page.get_by_role("button", name="Set").click()
        said(page, "at most")
        assert [one["clients"] for one in steered(folder)] == [9]


def test_a_ramp_is_held_and_the_next_phase_begins(browser: Browser, tmp_path: Path) -> None:
    with going(tmp_path, plan=PHASES) as (served, folder, _):
        page = watched(browser, served)
        page.get_by_role("button", name="Hold").click()
        said(page, "/s from")
        page.get_by_role("button", name="Next phase").click()
        said(page, "after from")
        assert [one["what"] for one in steered(folder)] == ["rate", "phase"]
        expect(page.locator("#control-number")).to_have_value("40")


def test_a_run_is_stopped_after_it_was_asked_for(browser: Browser, tmp_path: Path) -> None:
    with going(tmp_path, "--rate", "100/s") as (served, folder, process):
        page = watched(browser, served)
        stop = page.get_by_role("button", name="Stop …")
        stop.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog")).to_contain_text("Stop this run?")
        assert page.evaluate("document.activeElement.textContent") == "Let it go on"
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        assert RunRecord.open(folder).in_progress
        stop.click()
        page.get_by_role("button", name="Stop it").click()
        expect(page.locator("#state")).to_have_text(re.compile("The run was stopped. stopped by the user"))
        assert process.wait(180) is not None
        expect(page.locator("#control")).to_be_hidden()
        page.get_by_role("link", name="The report of this run").click()
        page.wait_for_selector("html[data-ready=yes]", timeout=60_000)
    (trial,) = RunRecord.open(folder).trials
    assert trial.why == "stopped by the user"


def test_with_a_wrong_token_nothing_is_changed_or_stopped(browser: Browser, tmp_path: Path) -> None:
    with going(tmp_path, "--rate", "100/s") as (served, folder, _):
        page = watched(browser, served, "wrong")
        page.get_by_role("button", name="+ 10 %").click()
        said(page, "Only who opened the address that jostle printed")
        page.get_by_role("button", name="Stop …").click()
        page.get_by_role("button", name="Stop it").click()
        said(page, "Only who opened the address that jostle printed")
        expect(page.get_by_role("button", name="Stop …")).to_be_enabled()
        assert RunRecord.open(folder).in_progress
        assert not steered(folder)


def test_a_run_that_is_over_says_so_to_a_page_that_has_not_heard_of_it(
    browser: Browser, tmp_path: Path
) -> None:
    with going(tmp_path, "--rate", "100/s") as (served, folder, process):
        page = watched(browser, served)
        page.evaluate(
            "Object.defineProperty(document, 'hidden', { value: true, configurable: true });"
            "document.dispatchEvent(new Event('visibilitychange'))"
        )
        process.terminate()
        process.wait(60)
        page.get_by_role("button", name="Hold").click()
        said(page, f"{folder} is over: it can be neither changed nor stopped any more")


def test_on_a_phone_stop_is_in_reach_of_a_thumb(browser: Browser, tmp_path: Path) -> None:
    with going(tmp_path, "--rate", "100/s") as (served, _, _):
        page = watched(browser, served, viewport={"width": 390, "height": 844})
        expect(page.locator("#live")).to_be_visible()
        box = page.get_by_role("button", name="Stop …").bounding_box()
        assert box is not None
        assert box["y"] > 844 * 2 / 3
        assert box["y"] + box["height"] <= 844
        assert box["height"] >= 44
        assert not page.locator("#change").is_visible(), "it does not cover what it changes"
        page.get_by_text("Change the load").click()
        expect(page.locator("#change")).to_be_visible()
        page.evaluate("document.querySelector('.uplot').scrollIntoView({ block: 'end' })")
        page.get_by_role("button", name="Stop …").click()  # a chart below it takes no taps
        expect(page.get_by_role("dialog")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
