"""The Stressgrid article's 10,000 devices from one core: each thinks 900 ms ± 10 %, the server sleeps
100 ms ± 10 %, 1 kB, 100 requests on a connection, then another device takes its place.

Beside it, in turn, the same load by a C program of nothing but the system's calls: what the kernel asks of
any generator here and now, whoever writes it.
"""

import json
import subprocess
from pathlib import Path
from statistics import median

from crowd import Crowd, run_crowd
from rows import Effort, Row, Section, spread
from servers import references
from watched import watched

DEVICES = 10_000
RATE = 10_000
MAX_FACTOR = 1.15
"""Times the CPU of the C program."""

SERVERS = 2
"""On one core; each holds half of the devices."""

PAIRS = 2
"""In each round: a single pair is off by 5 %."""

RAMP_S = 5
FLOOR = Path(__file__).parents[1] / "floor.c"


def run(effort: Effort) -> Section:
    hold_s = max(5, round(3 * effort.seconds))
    window = RAMP_S + 1.5, RAMP_S + hold_s - 0.5
    compiled = effort.folder / "floor"
    subprocess.run(["gcc", "-O2", "-o", compiled, FLOOR], check=True)
    found: list[Crowd] = []
    floors: list[dict[str, float]] = []
    for _ in range(PAIRS * effort.rounds):
        with references(SERVERS, "processor-sharing") as addresses:
            found.append(_jostle(addresses, hold_s, effort.folder))
        with references(SERVERS, "processor-sharing") as addresses:
            floors.append(_floor(compiled, addresses, hold_s, effort.folder))
        print(
            f"  jostle {found[-1].between('generator_cpu', *window):.1%} of a core, "
            f"C {_cpu(floors[-1]):.1%}, {found[-1].outcomes}",
            flush=True,
        )
    most = min(crowd.most_clients for crowd in found)
    failures = sum(crowd.failures for crowd in found)
    rate = median(crowd.between("throughput_per_s", *window) for crowd in found)
    cpu = [crowd.between("generator_cpu", *window) for crowd in found]
    ratios = [mine / _cpu(floor) for mine, floor in zip(cpu, floors, strict=True)]
    rows = [
        Row("10,000 devices from one core: clients at once", f"{DEVICES:,}", f"{most:,}", most == DEVICES),
        Row("10,000 devices: failed requests", "0", f"{failures:,}", failures == 0),
        Row("10,000 devices: requests/s", "≈ 10,000", f"{rate:,.0f}", abs(rate / RATE - 1) <= 0.02),
        Row("10,000 devices: the generator's share of one core", "", spread(cpu, ".1%"), None),
        Row(
            "10,000 devices: the same by C and system calls alone",
            "",
            spread([*map(_cpu, floors)], ".1%"),
            None,
        ),
        Row(
            "10,000 devices: jostle’s busiest load thread ÷ all of C",
            f"≤ {MAX_FACTOR:.2f}",
            spread(ratios, ".2f"),
            median(ratios) <= MAX_FACTOR,
        ),
    ]
    system, user = (median(floor[part] for floor in floors) for part in ("system", "user"))
    details = f"Of what C takes, {system:.1%} of a core is the kernel's and {user:.1%} its own."
    return Section(rows, details, [*(crowd.sample() for crowd in found), *(dict(floor) for floor in floors)])


def _jostle(addresses: list[str], hold_s: int, folder: Path) -> Crowd:
    load = (
        f'clients = {DEVICES}, think = "900ms ± 10%", requests-per-client = 100, renew = true, '
        f'ramp-up = "{RAMP_S}s", sustain = "{hold_s}s"'
    )
    return run_crowd("10,000 devices", addresses, 'get = "/sleep?ms=100&jitter=0.1"', load, 1, folder)


def _floor(compiled: Path, addresses: list[str], hold_s: int, folder: Path) -> dict[str, float]:
    """Raises `RuntimeError` with its last words when it fails."""
    ports = [address.rpartition(":")[2] for address in addresses]
    command = [str(compiled), str(DEVICES), str(RAMP_S), str(hold_s), *ports]
    with watched(command, folder) as process:
        if process.process.wait():
            raise RuntimeError(f"floor.c: {process.said()}")
        floor: dict[str, float] = json.loads(process.said())
    return floor


def _cpu(floor: dict[str, float]) -> float:
    return floor["user"] + floor["system"]
