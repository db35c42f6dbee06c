"""How long a user waits: for the version, the help, the table of a short hit, its first request, a page."""

import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from rows import Effort, Row, Section, spread
from servers import reference
from tools import JOSTLE

COMMAND = [sys.executable, "-m", "jostle"]
PLAN = """
title = "60 trials"
contestants = ["a", "b", "c"]
rounds = 10

[workload.two]
request = { get = "/" }
load = { clients = 2, for = "200ms" }

[workload.four]
request = { get = "/" }
load = { clients = 4, for = "200ms" }
"""


def run(effort: Effort) -> Section:
    repeats = 2 * effort.rounds + 1
    with reference("null") as address:
        measures = [
            ("jostle --version, seconds", 0.15, lambda: _seconds("--version")),
            ("jostle --help, seconds", 0.15, lambda: _seconds("--help")),
            ("jostle hit URL -n 100, seconds", 0.7, lambda: _seconds("hit", address, "-n", "100")),
            ("first request after the command, seconds", None, _first_request_s),
        ]
        if not effort.quick:
            folder = _run_of_60_trials(effort.folder, address)
            page: Callable[[], float] = lambda: _seconds("report", str(folder), "--format", "html")  # noqa: E731
            measures.append(("the page of a run of 60 trials, seconds", 3.0, page))
        rows, samples = [], []
        for what, bar, measure in measures:
            seconds = sorted(measure() for _ in range(repeats))
            reached = None if bar is None else statistics.median(seconds) <= bar
            rows.append(Row(what, "" if bar is None else f"≤ {bar}", spread(seconds), reached))
            samples.append({"what": what, "seconds": seconds})
    return Section(rows, samples=samples)


def _seconds(*words: str) -> float:
    """From starting the command to its end. Raises `CalledProcessError` for anything but 0 and 1."""
    started = time.monotonic()
    done = subprocess.run([*COMMAND, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seconds = time.monotonic() - started
    if done.returncode not in (0, 3):  # 3: measured, and judged invalid
        done.check_returncode()
    return seconds


def _run_of_60_trials(folder: Path, address: str) -> Path:
    servers = "".join(f'[contestant.{name}]\nurl = "http://{address}"\n' for name in "abc")
    plan = folder / "sixty.toml"
    plan.write_text(PLAN + servers)
    _seconds("run", str(plan), "--into", str(folder / "runs"), "--no-pages")
    [run] = (folder / "runs").glob("*-sixty")
    return run


def _first_request_s() -> float:
    """From starting the command to the first byte of its first request."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        started = time.monotonic()
        process = subprocess.Popen(
            JOSTLE.closed(url, 1), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            while True:
                connection, _ = listener.accept()
                with connection:
                    if connection.recv(1):
                        return time.monotonic() - started
        finally:
            process.terminate()
            process.wait()
