"""What all tests share: the path to tests/support, and golden files with a switch that writes them anew."""

import difflib
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from support.golden import Golden

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # `from support.results import …`


def pytest_configure() -> None:
    # A shell that starts pytest in the background lets it, and all that it starts, ignore Ctrl-C; nohup lets
    # them ignore a terminal that is closed.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    # An example that takes long on a busy machine is no failure: where a test holds a time within bounds, the
    # figure of that time is what it tests.
    settings.register_profile("no deadline", deadline=None)
    settings.load_profile("no deadline")


SPREAD = (
    "tests/contract/test_roster.py",
    "tests/faults/",
    "tests/integration/test_documents_run.py",
    "tests/integration/test_explain.py",
)
"""Files whose tests take long and share little: each goes to any worker. All other files stay on one."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return nodeid if nodeid.startswith(SPREAD) else super()._split_scope(nodeid)

    return Scheduling(config, log)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the files in tests/golden anew")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> "Golden":
    """golden("name.md", text): the text is what tests/golden/name.md holds."""

    def check(name: str, text: str) -> None:
        path = HERE / "golden" / name
        if request.config.getoption("--update-golden"):
            path.write_text(text, encoding="utf-8")
            return
        assert path.exists(), f"{path} is missing: run pytest --update-golden and read what it wrote"
        held = path.read_text(encoding="utf-8")
        if held != text:
            lines = difflib.unified_diff(held.splitlines(), text.splitlines(), "golden", "now", lineterm="")
            pytest.fail(
                "\n".join([f"{name} differs (pytest --update-golden accepts it)", *lines]), pytrace=False
            )

    return check


CHROMIUM_OPTIONS = [
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-sync",
]


PAGE_PATIENCE_MS = 120_000
"""How long a page may take to show something: it is only nice, and other tests use the cores beside it."""


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """Debian's Chromium, started once for all tests that one worker runs."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PAGE_PATIENCE_MS)
    chromium = shutil.which("chromium")
    assert chromium, "Chromium is missing: apt-get install -y --no-install-recommends chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_OPTIONS)
        yield browser
        browser.close()
