"""What each tool says of a server, in its own words: the figures that it prints at the end of a run."""

import csv
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from tools import K6_SCRIPT
from watched import TOOL_CORE

__all__ = ["CLOSED", "OPEN", "Attack", "Report", "command_of", "report"]

LOCUST_FILE = Path(__file__).parent / "locustfile.py"
MICROSECONDS = {"us": 1.0, "ms": 1e3, "s": 1e6}


@dataclass(frozen=True)
class Attack:
    """So many clients for a time; with a `rate` (per second) an open loop over so many connections."""

    url: str
    clients: int
    seconds: float
    rate: float = 0


@dataclass(frozen=True)
class Report:
    """Requests per second, and response times in microseconds."""

    rate: float
    p50: float
    p99: float
    longest: float


@dataclass(frozen=True)
class Peer:
    """`command` makes the words of a command, given a folder for its files; `read` what it printed (and the
    folder)."""

    command: Callable[[Attack, Path], list[str]]
    read: Callable[[str, Path], Report]
    stdin: Callable[[Attack], str] = lambda _: ""


def command_of(tool: str, attack: Attack, folder: Path = Path()) -> list[str]:
    """The command by which `tool` is told to send `attack`, as a user would type it."""
    return (OPEN if attack.rate else CLOSED)[tool].command(attack, folder)


def report(tool: str, attack: Attack) -> dict[str, float]:
    """What `tool`, on its core, prints of `attack`; the fields of `Report`."""
    peer = (OPEN if attack.rate else CLOSED)[tool]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        done = subprocess.run(
            ["taskset", "-c", str(TOOL_CORE), *peer.command(attack, folder)],
            check=False,
            input=peer.stdin(attack),
            capture_output=True,
            text=True,
        )
        try:
            return asdict(peer.read(done.stdout, folder))
        except (ValueError, KeyError, IndexError, TypeError, StopIteration) as error:
            raise RuntimeError(f"{tool} said {done.stdout[-500:]!r}, {done.stderr[-500:]!r}") from error


def _wrk(attack: Attack, _: Path) -> list[str]:
    paced = ["-R", f"{attack.rate:g}"] if attack.rate else []
    words = ["-t1", f"-c{attack.clients}", f"-d{round(attack.seconds)}s", "--latency", *paced, attack.url]
    return ["wrk2" if attack.rate else "wrk", *words]


def _read_wrk(output: str, _: Path) -> Report:
    """Of wrk and of wrk2, whose percentiles have three more digits."""
    found = dict(re.findall(r"^\s+(50|99|100)(?:\.000)?%\s+(\S+)$", output, re.MULTILINE))
    longest = re.search(r"^\s+Latency\s+\S+\s+\S+\s+(\S+)", output, re.MULTILINE)
    rate = re.search(r"^Requests/sec:\s+([\d.]+)", output, re.MULTILINE)
    if not (longest and rate):
        raise ValueError(output)
    times = [found["50"], found["99"], longest[1]]
    return Report(float(rate[1]), *(_microseconds(text) for text in times))


def _microseconds(text: str) -> float:
    found = re.fullmatch(r"([\d.]+)(us|ms|s)", text)
    if not found:
        raise ValueError(text)
    return float(found[1]) * MICROSECONDS[found[2]]


def _oha(attack: Attack, _: Path) -> list[str]:
    paced = ["-q", f"{attack.rate:g}", "--latency-correction"] if attack.rate else []
    words = ["-c", str(attack.clients), "-z", f"{attack.seconds:g}s", *paced, attack.url]
    return ["oha", "--no-tui", "--output-format", "json", *words]


def _read_oha(output: str, _: Path) -> Report:
    found = json.loads(output)
    times, summary = found["latencyPercentiles"], found["summary"]
    return Report(summary["requestsPerSec"], times["p50"] * 1e6, times["p99"] * 1e6, summary["slowest"] * 1e6)


def _hey(attack: Attack, _: Path) -> list[str]:
    paced = ["-q", f"{attack.rate / attack.clients:g}"] if attack.rate else []
    return ["hey", "-c", str(attack.clients), "-z", f"{attack.seconds:g}s", *paced, attack.url]


def _read_hey(output: str, _: Path) -> Report:
    rate = re.search(r"Requests/sec:\s+([\d.]+)", output)
    longest = re.search(r"Slowest:\s+([\d.]+) secs", output)
    times = dict(re.findall(r"(50|99)%+ in ([\d.]+) secs", output))
    if not (rate and longest):
        raise ValueError(output)
    return Report(float(rate[1]), *(float(text) * 1e6 for text in (times["50"], times["99"], longest[1])))


def _k6(attack: Attack, _: Path) -> list[str]:
    settings = {
        "URL": attack.url, "VUS": attack.clients, "RATE": round(attack.rate), "SECONDS": f"{attack.seconds:g}"
    }  # fmt: skip
    pairs = [word for name, value in settings.items() for word in ("-e", f"{name}={value}")]
    return ["k6", "run", "--quiet", "--no-usage-report", "--address", "", *pairs, str(K6_SCRIPT)]


def _read_k6(output: str, _: Path) -> Report:
    found = json.loads(output)
    return Report(found["rate"], *(found[name] * 1e3 for name in ("med", "p(99)", "max")))


def _locust(attack: Attack, folder: Path) -> list[str]:
    crowd = ["-u", str(attack.clients), "-r", str(attack.clients), "-t", f"{round(attack.seconds)}s"]
    words = ["-f", str(LOCUST_FILE), "--host", attack.url, *crowd, "--csv", str(folder / "locust")]
    return ["locust", "--headless", "--only-summary", *words]


def _read_locust(_: str, folder: Path) -> Report:
    with (folder / "locust_stats.csv").open(newline="") as file:
        row = next(row for row in csv.DictReader(file) if row["Name"] == "Aggregated")
    columns = ("50%", "99%", "Max Response Time")
    return Report(float(row["Requests/s"]), *(float(row[column]) * 1e3 for column in columns))


def _vegeta(attack: Attack, _: Path) -> list[str]:
    paced = ["-rate", f"{attack.rate:g}/1s"] if attack.rate else ["-rate", "0"]
    words = ["-duration", f"{attack.seconds:g}s", *paced, "-max-workers", str(attack.clients)]
    sent = " ".join(["vegeta", "attack", *words])
    return ["bash", "-c", f"{sent} | vegeta report -type=json"]


def _read_vegeta(output: str, _: Path) -> Report:
    found = json.loads(output)
    times = found["latencies"]
    return Report(found["throughput"], *(times[name] / 1e3 for name in ("50th", "99th", "max")))


def _jostle(attack: Attack, _: Path) -> list[str]:
    paced = ["--rate", f"{attack.rate:g}/s", "--arrivals", "constant"] if attack.rate else []
    words = [attack.url, "-c", str(attack.clients), "-d", f"{attack.seconds:g}s", *paced]
    return [sys.executable, "-m", "jostle", "hit", *words, "--json"]


def _read_jostle(output: str, _: Path) -> Report:
    (found,) = json.loads(output)["summaries"]
    times = found["response"]
    return Report(
        found["throughput"]["value"], *(times[name]["value"] * 1e6 for name in ("p50", "p99", "max"))
    )


CLOSED = {
    "wrk": Peer(_wrk, _read_wrk),
    "oha": Peer(_oha, _read_oha),
    "hey": Peer(_hey, _read_hey),
    "k6": Peer(_k6, _read_k6),
    "locust": Peer(_locust, _read_locust),
    "vegeta": Peer(_vegeta, _read_vegeta, lambda attack: f"GET {attack.url}\n"),
    "jostle": Peer(_jostle, _read_jostle),
}
"""Tools that have a closed loop."""
OPEN = {
    "wrk2": Peer(_wrk, _read_wrk),
    **{name: CLOSED[name] for name in ("oha", "hey", "k6", "vegeta", "jostle")},
}
"""Tools that send at a rate."""
