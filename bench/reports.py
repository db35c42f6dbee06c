"""What other tools say of a server, in their own words: the response times that they print."""

import json
import re
import subprocess
from collections.abc import Callable

from tools import K6_SCRIPT
from watched import TOOL_CORE

__all__ = ["PEERS", "report"]

CONNECTIONS = 64
MICROSECONDS = {"us": 1.0, "ms": 1e3, "s": 1e6}


def report(tool: str, url: str, rate: float, seconds: float) -> dict[str, float]:
    """p50 and p99 in microseconds: of one client without a pause (`rate` 0), or of an open loop on at most 64
    connections.
    """
    command, parse = PEERS[tool]
    pinned = ["taskset", "-c", str(TOOL_CORE), *command(url, rate, seconds)]
    output = subprocess.run(pinned, check=True, stdout=subprocess.PIPE, text=True).stdout
    p50, p99 = parse(output)
    return {"p50": p50, "p99": p99}


def _wrk(url: str, rate: float, seconds: float) -> list[str]:
    assert not rate, "wrk knows no rates"
    return ["wrk", "-t1", "-c1", f"-d{round(seconds)}s", "--latency", url]


def _wrk_said(output: str) -> tuple[float, float]:
    found = dict(re.findall(r"^\s+(50|99)%\s+(\S+)$", output, re.MULTILINE))
    values = {part: re.fullmatch(r"([\d.]+)(us|ms|s)", text) for part, text in found.items()}
    p50, p99 = (float(v[1]) * MICROSECONDS[v[2]] for v in (values["50"], values["99"]) if v)
    return p50, p99


def _oha(url: str, rate: float, seconds: float) -> list[str]:
    paced = ["-c", str(CONNECTIONS), "-q", f"{rate:g}", "--latency-correction"] if rate else ["-c", "1"]
    return ["oha", "--no-tui", "--output-format", "json", "-z", f"{seconds:g}s", *paced, url]


def _oha_said(output: str) -> tuple[float, float]:
    found = json.loads(output)["latencyPercentiles"]
    return found["p50"] * 1e6, found["p99"] * 1e6


def _k6(url: str, rate: float, seconds: float) -> list[str]:
    settings = {"URL": url, "VUS": CONNECTIONS if rate else 1, "RATE": round(rate), "SECONDS": f"{seconds:g}"}
    pairs = [word for name, value in settings.items() for word in ("-e", f"{name}={value}")]
    return ["k6", "run", "--quiet", "--no-usage-report", "--address", "", *pairs, str(K6_SCRIPT)]


def _k6_said(output: str) -> tuple[float, float]:
    found = json.loads(output)
    return found["med"] * 1e3, found["p(99)"] * 1e3


PEERS: dict[str, tuple[Callable[[str, float, float], list[str]], Callable[[str], tuple[float, float]]]] = {
    "wrk": (_wrk, _wrk_said),
    "oha": (_oha, _oha_said),
    "k6": (_k6, _k6_said),
}
