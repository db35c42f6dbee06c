"""100,000 clients from this machine to reference servers on this machine: several processes on both sides."""

from crowd import run_crowd
from rows import Effort, Row, Section
from servers import references

CLIENTS = 100_000
PROCESSES = 6
"""On both sides: each has room for 20,000 open files."""

THINK_S = 10


def run(effort: Effort) -> Section:
    clients = CLIENTS // 10 if effort.quick else CLIENTS
    ramp = max(5, clients // 4_000)
    hold = THINK_S + max(5, round(2 * effort.seconds))
    with references(PROCESSES, "null") as addresses:
        load = f'clients = {clients}, think = "{THINK_S}s ± 10%", ramp-up = "{ramp}s", sustain = "{hold}s"'
        found = run_crowd(f"{clients:,} clients", addresses, 'get = "/hello"', load, PROCESSES, effort.folder)
    ok, response = found.outcomes.get("ok", 0), found.trial["response"]
    rate = found.between("throughput_per_s", ramp + 1, ramp + hold - 1)
    print(f"  {found.most_clients:,} clients, {rate:,.0f}/s, {found.outcomes}")
    served = found.most_clients == clients and ok >= clients
    rows = [
        Row(
            f"{clients:,} clients on this machine: connected",
            f"{clients:,}",
            f"{found.most_clients:,}",
            served,
        ),
        Row(f"{clients:,} clients: failed requests", "0", f"{found.failures:,}", found.failures == 0),
    ]
    quantiles = ", ".join(f"{p} {response[p]['value'] * 1e3:.3g} ms" for p in ("p50", "p99", "max"))
    details = (
        f"{PROCESSES} generator processes on one core, {PROCESSES} reference servers on the other: "
        f"{ok:,} answers in all, {rate:,.0f}/s once all were there, response times {quantiles}; "
        f"the busiest generator thread used {found.trial['generator_cpu']:.1%} of a core."
    )
    return Section(rows, details, [found.sample()])
