"""Fast requests of one server alone and beside slow ones, as the sentences about starvation take them."""

from dataclasses import replace
from typing import Literal

from jostle.analysis.results import Estimate, Mode, StarvationResult
from jostle.analysis.topics.starvation import sentences
from jostle.analysis.topics.starvation.blocking import WaitsFor
from jostle.analysis.topics.starvation.sentences import Meanwhile
from support.sentences import UNKNOWN, e, near

__all__ = ["CALM", "NO_INTERVAL", "quantiles", "starved"]

NO_INTERVAL = e(0.5, unit="")


def quantiles(p50: float, p99: float, longest: float | None, bound: str = "") -> dict[str, Estimate]:
    ends = e(longest, bound=bound) if longest else e(None)
    return {
        "p50": near(p50),
        "p99": replace(near(p99), bound=bound, high=None) if bound else near(p99),
        "max": ends,
    }


CALM = quantiles(0.0004, 0.002, 0.003)


def starved(
    loop: Literal["closed", "open"],
    *,
    index: Estimate = UNKNOWN,
    left: Estimate = UNKNOWN,
    blocking: Estimate = UNKNOWN,
    beside: dict[str, Estimate] = CALM,
    slow_s: float = 4.5,
    share_s: float = 0.9,
    wait_s: float | None = None,
    clients: int = 1,
    slow_clients: int = 1,
    waits: WaitsFor = "its end",
    modes: tuple[Mode, ...] = (),
    trusted: bool = True,
) -> str:
    found = StarvationResult(
        "form", "", "x", "alone", "beside", near(500), near(100), index, left, blocking, near(slow_s), CALM,
        beside, None, None, "", list(modes),
    )  # fmt: skip
    meanwhile = Meanwhile(share_s, wait_s, clients, slow_clients)
    return sentences.sentence(found, loop, meanwhile, waits, trusted=trusted)
