"""The Stressgrid article's 10,000 devices from one core: each thinks 900 ms ± 10 %, the server sleeps
100 ms ± 10 %, 1 kB, 100 requests on a connection, then another device takes its place.
"""

from contextlib import ExitStack

from crowd import run_crowd
from rows import Effort, Row, Section
from servers import reference

DEVICES = 10_000
RATE = 10_000
MOST_CPU = 0.25
SERVERS = 2
"""On one core; each holds half of the devices."""


def run(effort: Effort) -> Section:
    ramp, hold = 5, max(5, round(4 * effort.seconds))
    with ExitStack() as stack:
        addresses = [stack.enter_context(reference("processor-sharing")) for _ in range(SERVERS)]
        load = (
            f'clients = {DEVICES}, think = "900ms ± 10%", requests-per-client = 100, renew = true, '
            f'ramp-up = "{ramp}s", sustain = "{hold}s"'
        )
        found = run_crowd("10,000 devices", addresses, "/sleep?ms=100&jitter=0.1", load, 1, effort.folder)
    window = ramp + 1.5, ramp + hold - 0.5
    rate, cpu = found.between("throughput_per_s", *window), found.between("generator_cpu", *window)
    print(f"  {found.most_clients:,} clients, {rate:,.0f}/s, {cpu:.1%} of a core, {found.outcomes}")
    rows = [
        Row(
            "10,000 devices from one core: clients at once",
            f"{DEVICES:,}",
            f"{found.most_clients:,}",
            found.most_clients == DEVICES,
        ),
        Row("10,000 devices: failed requests", "0", f"{found.failures:,}", found.failures == 0),
        Row("10,000 devices: requests/s", "≈ 10,000", f"{rate:,.0f}", abs(rate / RATE - 1) <= 0.02),
        Row(
            "10,000 devices: the generator's share of one core",
            f"≤ {MOST_CPU:.0%}",
            f"{cpu:.1%}",
            cpu <= MOST_CPU,
        ),
    ]
    return Section(rows, samples=[found.sample()])
