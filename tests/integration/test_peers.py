"""jostle, wrk and h2load say the same of the same server under the same closed load, in one run.

They are held against one another, not against absolute figures: they take short turns, so that whatever else
this machine does meets all of them, and the best turn of each counts, as a disturbance only makes one slower.
"""

import re
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from jostle.record.outcomes import ENDED_BY_STOP, Outcome
from support.real import as_json, command, environment, reference_server

pytestmark = pytest.mark.alone

TURNS = 5
SECONDS = 1
CLIENTS = 16

Measured = tuple[float, float]
"""Requests per second, and the median response time in seconds."""


def jostle(url: str) -> Measured:
    finished = subprocess.run(
        command("hit", url, "-c", str(CLIENTS), "-d", f"{SECONDS}s", "--json"),
        capture_output=True,
        text=True,
        timeout=60,
        env=environment(),
    )
    trial = as_json(finished)["trials"][0]
    assert set(trial["outcomes"]) <= {Outcome.OK} | ENDED_BY_STOP, trial["outcomes"]
    return trial["throughput_per_s"], trial["response"]["p50"]["value"]


def wrk(url: str) -> Measured:
    said = _said("wrk", "-t1", f"-c{CLIENTS}", f"-d{SECONDS}s", "--latency", url)
    median = re.search(r"\n\s+50%\s+([\d.]+)(us|ms|s)\n", said)
    assert median, said
    seconds = float(median[1]) * {"us": 1e-6, "ms": 1e-3, "s": 1.0}[median[2]]
    return _number(r"Requests/sec:\s+([\d.]+)", said), seconds


def h2load(url: str) -> Measured:
    with tempfile.NamedTemporaryFile() as log:  # a line per request: start, status, duration in µs
        said = _said("h2load", "--h1", "-t1", f"-c{CLIENTS}", f"-D{SECONDS}", f"--log-file={log.name}", url)
        durations = [int(line.split("\t")[2]) for line in Path(log.name).read_text().splitlines()]
    return _number(r"finished in [^,]+, ([\d.]+) req/s", said), statistics.median(durations) / 1e6


def _said(*arguments: str) -> str:
    finished = subprocess.run(arguments, capture_output=True, text=True, timeout=60)
    assert finished.returncode == 0, f"{arguments[0]}: {finished.stdout}{finished.stderr}"
    return finished.stdout


def _number(pattern: str, said: str) -> float:
    found = re.search(pattern, said)
    assert found, said
    return float(found[1])


TOOLS: dict[str, Callable[[str], Measured]] = {"jostle": jostle, "wrk": wrk, "h2load": h2load}


AT_MOST_APART = 0.10
"""A share. The service takes 5 ms, and what each tool adds to it some hundredths of that."""


def test_three_tools_agree() -> None:
    """16 clients, 5 ms of service each: the server decides.

    On a server that answers at once the tools' own costs decide, and wrk and h2load differ from one another
    by more than a factor of two: nothing can be said there.
    """
    turns: dict[str, list[Measured]] = {tool: [] for tool in TOOLS}
    with reference_server("processor-sharing") as url:
        for _ in range(TURNS):
            for tool, measure in TOOLS.items():
                turns[tool].append(measure(f"{url}/sleep?ms=5"))
    most = [max(per_s for per_s, _ in taken) for taken in turns.values()]
    assert _apart(most) <= AT_MOST_APART, f"requests/s: {turns}"
    least = [min(median_s for _, median_s in taken) for taken in turns.values()]
    assert _apart(least) <= AT_MOST_APART, f"medians: {turns}"


def _apart(values: Iterable[float]) -> float:
    """How much larger the largest is than the smallest, as a share of that."""
    least, *_, most = sorted(values)
    return most / least - 1
