"""The generators that are compared: how each is called, and how many requests it says that it completed."""

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["TOOLS", "Tool"]


@dataclass(frozen=True)
class Tool:
    """`command(url, connections, seconds)`, and what it printed: `requests` completed and, where it tells it,
    `inner_cpu_s`, the CPU time of its load threads alone."""

    name: str
    command: Callable[[str, int, int], list[str]]
    requests: Callable[[str], int]
    inner_cpu_s: Callable[[str], float | None] = lambda _: None


def _jostle_requests(stdout: str) -> int:
    return int(json.loads(stdout)["trials"][0]["outcomes"]["ok"])


def _jostle_cpu(stdout: str) -> float:
    trial = json.loads(stdout)["trials"][0]
    return float(trial["generator_cpu"]) * float(trial["duration_s"])


def _wrk_requests(stdout: str) -> int:
    found = re.search(r"(\d+) requests in", stdout)
    assert found, stdout
    return int(found[1])


def _oha_requests(stdout: str) -> int:
    return sum(json.loads(stdout)["statusCodeDistribution"].values())


TOOLS = [
    Tool(
        "jostle",
        lambda url, c, s: [sys.executable, "-m", "jostle", "hit", url, "-c", str(c), "-d", f"{s}s", "--json"],
        _jostle_requests,
        _jostle_cpu,
    ),
    Tool("wrk", lambda url, c, s: ["wrk", "-t1", f"-c{c}", f"-d{s}s", url], _wrk_requests),
    Tool(
        "oha",
        lambda url, c, s: ["oha", "--no-tui", "-c", str(c), "-z", f"{s}s", "--output-format", "json", url],
        _oha_requests,
    ),
]
