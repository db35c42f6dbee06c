"""Debian's Chromium, for each file of this folder."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from support.web import chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser
