"""A run of an hour at 5,000 requests/s: memory after the first minute and at the end. Only when asked
for: `make bench ONLY=hour`.
"""

import time

from rows import Effort, Row, Section
from servers import nginx
from tools import JOSTLE
from watched import watched

RATE = 5_000
MINUTE_S, HOUR_S = 60, 3600
MAX_GROWTH = 0.05


def run(effort: Effort) -> Section:
    minute, hour = (3, 12) if effort.quick else (MINUTE_S, HOUR_S)
    samples: list[dict[str, float]] = []
    with nginx() as server:
        command = [*JOSTLE.closed(server.url, 100), "--rate", f"{RATE}/s", "-d", f"{hour + 60}s"]
        with watched(command, effort.folder) as process:
            started = time.monotonic()
            while (now := time.monotonic() - started) < hour:
                time.sleep(minute / 6)
                process.check()
                samples.append({"t_s": now, "memory_bytes": process.memory_bytes(), "cpu_s": process.cpu_s()})
            requests = server.requests()
    later = [s["memory_bytes"] for s in samples if s["t_s"] >= minute]
    growth = max(later) / later[0] - 1
    row = Row(
        f"{hour / 3600:.3g} h at {RATE:,} requests/s: growth of memory after the first minute",
        f"≤ {MAX_GROWTH:.0%}",
        f"{growth:.1%}",
        growth <= MAX_GROWTH,
    )
    return Section(
        [row], f"{requests:,} requests; {later[0] / 1e6:.1f} MB after a minute.", [dict(s) for s in samples]
    )
