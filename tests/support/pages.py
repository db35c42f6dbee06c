"""Trials that a page shows, and its modules inside a browser without a server."""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from jostle.report.export.html import inlined
from support.synthetic import Request, Trial, closed, lognormal, open_loop

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

OPEN = {"open": {"arrivals": "poisson", "rates": [{"from": 400, "to": 400, "duration_ns": None}]}}
FOUR = {"closed": {"clients": 4}}
QUICK = lognormal(0.004, 0.5)


def some_fail(requests: list[Request], share: float, outcome: str = "wrong_status") -> list[Request]:
    rng = random.Random(5)
    return [replace(one, outcome=outcome) if rng.random() < share else one for one in requests]


def server_away(requests: list[Request], start: float, end: float) -> list[Request]:
    """Nobody can connect who is due between these times."""
    return [
        replace(one, outcome="connect_failed", end=one.intended + 0.001)
        if start <= one.intended < end
        else one
        for one in requests
    ]


AWAY = Trial("c", "w", 1, server_away(open_loop(QUICK, 400, 10.0), 4.0, 6.0), 10.0, 0.25, OPEN)
"""From 4.25 s to 6.00 s no response comes."""

TRIALS = {
    "closed loop": Trial("a", "w", 1, closed(QUICK, 5.0, clients=4), load=FOUR),
    "failures": Trial("a", "w", 1, some_fail(closed(QUICK, 5.0, clients=4), 0.02), load=FOUR),
    "timeouts": Trial(
        "a", "w", 1, some_fail(open_loop(QUICK, 400, 5.0), 0.03, "response_timeout"), load=OPEN
    ),
    "a stall": Trial("a", "w", 1, open_loop(QUICK, 400, 10.0, blocked=[(4.0, 6.0)]), 10.0, 0.25, OPEN),
    "an overload": Trial("a", "w", 1, open_loop(QUICK, 400, 5.0, blocked=[(2.0, 9.0)]), 5.0, 0.25, OPEN),
    "few": Trial("a", "w", 1, open_loop(QUICK, 80, 5.0), 5.0, 0.25, OPEN),
    "late": Trial("a", "w", 1, open_loop(QUICK, 400, 5.0), load=OPEN, pacing=0.008),
}


def with_modules(browser: "Browser", modules: Sequence[str], names: Sequence[str]) -> "Page":
    """An empty page in which `names` of the modules can be used."""
    page = browser.new_page()
    text = inlined(modules).removesuffix("})();\n")
    page.add_script_tag(content=f"{text}Object.assign(globalThis, {{ {', '.join(names)} }});\n}})();")
    return page
