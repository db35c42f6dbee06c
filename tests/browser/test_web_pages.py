"""The pages of `jostle web` in Debian's Chromium, on a real run."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from support.real import SILENTLY, jostle_running, recorded, reference_server
from support.web import Served, chromium, opened, web


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The page on a load that goes on."""
    base = tmp_path_factory.mktemp("runs")
    with (
        reference_server("workers") as url,
        jostle_running("hit", f"{url}/work?us=1000", "-d", "300s", "--into", base, **SILENTLY),
    ):
        recorded(base, 2_000)
        with web(base) as served:
            yield served


def test_no_page_violates_its_policy(browser: Browser, served: Served) -> None:
    said: list[str] = []
    page = opened(browser, f"{served.url}/live", said)
    page.wait_for_function("document.getElementById('state').textContent !== 'Reading the record …'")
    for path in ("/runs", "/nothing"):
        page.goto(served.url + path)
    page.goto(f"{served.url}/runs")
    page.get_by_role("link", name="report").click()
    page.wait_for_selector("html[data-ready=yes]", timeout=60_000)
    assert [text for text in said if "404" not in text] == []
