"""A tab while what it shows ends: its page, the run, its record; and one viewer too many."""

import contextlib
import http.client
import os
import shutil
import signal
import socket
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, expect

from jostle.record.folder import runs_inside
from jostle.record.layout import JOURNAL
from jostle.web.events import MAX_VIEWERS
from support.real import SILENTLY, jostle_running, recorded, reference_server
from support.synthetic import Trial, closed, lognormal, make_run
from support.web import opened, web


def says(page: Page, text: str) -> None:
    expect(page.locator("#state")).to_contain_text(text)


def test_a_tab_comes_back_with_its_page_and_tells_how_a_run_was_killed(
    browser: Browser, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    with (
        reference_server("workers") as url,
        jostle_running("hit", f"{url}/work?us=1000", "-d", "300s", "--into", tmp_path, **SILENTLY) as load,
    ):
        recorded(tmp_path, 2_000)
        (run,) = runs_inside(tmp_path)
        with web(tmp_path, "--port", port) as served:
            page = opened(browser, f"{served.url}/runs/{run.name}", [])
            says(page, "The run goes on.")
            os.kill(served.pid, signal.SIGKILL)
            says(page, "Nobody answers at this address")
        left = page.locator("#left").inner_text()
        with web(tmp_path, "--port", port):
            says(page, "The run goes on.")
            expect(page.locator("#left")).not_to_have_text(left)
            load.kill()
            says(page, "The run ended without a word: jostle was killed")
            figures = page.locator("#figures").inner_text()
            shutil.rmtree(tmp_path)
            page.reload()
            expect(page.locator("body")).to_contain_text("there is no run", ignore_case=True)
    assert "answered" in figures


def test_a_run_that_goes_away_leaves_its_figures(browser: Browser, tmp_path: Path) -> None:
    with (
        reference_server("workers") as url,
        jostle_running("hit", f"{url}/work?us=1000", "-d", "300s", "--into", tmp_path, **SILENTLY),
        web(tmp_path) as served,
    ):
        recorded(tmp_path, 2_000)
        (run,) = runs_inside(tmp_path)
        page = opened(browser, f"{served.url}/runs/{run.name}", [])
        expect(page.locator("#figures")).to_contain_text("answered")
        shutil.rmtree(run)
        says(page, "The folder of the run is gone. What was read of it stays here until you leave.")
        expect(page.locator("#figures")).to_contain_text("answered")


def test_what_is_damaged_is_said_in_words(browser: Browser, tmp_path: Path) -> None:
    trials = [Trial("a", "w", 1, closed(lognormal(0.01, 0.1), 3.0), 3.0)]
    runs = {slug: make_run(tmp_path, trials, slug=slug) for slug in ("trial", "journal", "host")}
    (runs["trial"] / "trials" / "001-a-w" / "intervals.ndjson").write_text("no JSON\n")
    with (runs["journal"] / JOURNAL).open("a") as journal:
        journal.write("no JSON\n")
    (runs["host"] / "host.json").unlink()
    sentences = {
        "trial": "The run has ended. intervals.ndjson of trial 1 is damaged: line 1,",
        "journal": "The record of the run cannot be read any further: journal.ndjson is damaged:",
        "host": "is not a run of jostle: its host.json is missing",
    }
    with web(tmp_path) as served:
        for slug, sentence in sentences.items():
            page = opened(browser, f"{served.url}/runs/{runs[slug].name}", [])
            says(page, sentence)
            assert "<" not in page.locator("#state").inner_text()


def test_one_viewer_too_many_is_told_and_gets_its_turn(browser: Browser, tmp_path: Path) -> None:
    run = make_run(tmp_path, [Trial("a", "w", 1, closed(lognormal(0.01, 0.1), 3.0), 3.0)])
    with web(tmp_path) as served, contextlib.ExitStack() as viewers:
        for _ in range(MAX_VIEWERS):
            connection = http.client.HTTPConnection(urlsplit(served.url).netloc)
            viewers.callback(connection.close)
            connection.request("GET", f"/runs/{run.name}/events")
            assert connection.getresponse().status == 200
        page = opened(browser, f"{served.url}/runs/{run.name}", [])
        says(page, "32 viewers watch already. Close one of their tabs, then reload this page.")
        viewers.close()
        says(page, "The run has ended.")
