"""jostle against its peers and its bars, in one run: the server on core 0, the generator on core 1.

    python bench/run.py                          all of it, about an hour
    python bench/run.py --only memory,devices    some sections
    python bench/run.py --quick                  does it work? Its figures say nothing

What it writes and how to read it: bench/README.md
"""

import argparse
import json
import os
import platform
import subprocess
import tempfile
import time
import traceback
from dataclasses import asdict
from pathlib import Path

from rows import Effort, Section, Sections
from sections import (
    big,
    busy_poll,
    capacity,
    clients,
    connecting,
    cpu,
    devices,
    events,
    explain,
    explain_real,
    faults,
    grpc,
    hour,
    http2,
    install,
    journeys,
    memory,
    open_loop,
    other_tools,
    pacing,
    raw,
    scripts,
    simulator,
    start,
    web,
    websocket,
)
from table import write_table

HERE = Path(__file__).parent
SECTIONS: Sections = {
    "cpu": cpu.run,
    "http2": http2.run,
    "grpc": grpc.run,
    "websocket": websocket.run,
    "events": events.run,
    "raw": raw.run,
    "connecting": connecting.run,
    "memory": memory.run,
    "devices": devices.run,
    "clients": clients.run,
    "pacing": pacing.run,
    "open_loop": open_loop.run,
    "busy_poll": busy_poll.run,
    "simulator": simulator.run,
    "journeys": journeys.run,
    "scripts": scripts.run,
    "start": start.run,
}
BY_HAND: Sections = {
    "other-tools": other_tools.run,
    "hour": hour.run,
    "install": install.run,
    "big": big.run,
    "capacity": capacity.run,
    "explain": explain.run,
    "explain-real": explain_real.run,
    "faults": faults.run,
    "web": web.run,
}

WITHOUT_PEERS = {"big", "capacity", "explain", "explain-real", "faults", "simulator", "web"}
"""Sections that measure nothing beside jostle, and on nothing but its own servers."""
BUILT = {
    "cpu": {"oha", "k6"},
    "grpc": {"ghz"},
    "websocket": {"k6"},
    "connecting": {"oha"},
    "pacing": {"oha", "k6"},
    "busy_poll": {"oha", "k6"},
    "install": {"oha"},
    "journeys": {"k6"},
    "other-tools": {"oha", "k6", "hey", "vegeta", "locust"},
}
"""The peers of a section that have to be built, which takes minutes."""


def main() -> None:
    options = _options()
    if len(os.sched_getaffinity(0)) < 2:
        raise SystemExit("bench: two cores are needed, one for the server and one for the generator")
    if not WITHOUT_PEERS.issuperset(options.only):
        peers = sorted({peer for name in options.only for peer in BUILT.get(name, ())})
        built = subprocess.run([HERE / "peers.sh", *peers], check=True, stdout=subprocess.PIPE, text=True)
        os.environ["PATH"] = f"{built.stdout.strip()}:{os.environ['PATH']}"
    results = Path(options.results)
    results.mkdir(exist_ok=True, parents=True)
    failed = []
    for name in options.only:
        print(f"{name}: {time.strftime('%H:%M:%S')}", flush=True)
        try:
            with tempfile.TemporaryDirectory(prefix="jostle-bench-") as folder:
                effort = Effort(options.rounds, options.seconds, Path(folder), options.quick, options.apps)
                _measure(name, effort, results)
        except Exception:  # whatever it is, the other sections go on
            failed.append(name)
            print(f"{name} could not be measured:\n{traceback.format_exc()}", flush=True)
    print("\n" + write_table(results, [*SECTIONS, *BY_HAND]))
    print(f"figures in {results}")
    if failed:
        raise SystemExit(f"bench: {', '.join(failed)} could not be measured")


def _measure(name: str, effort: Effort, results: Path) -> None:
    busy, begun = os.getloadavg()[0], time.monotonic()
    section: Section = {**SECTIONS, **BY_HAND}[name](effort)
    facts = {
        "section": name,
        "measured": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "took_s": round(time.monotonic() - begun, 1),
        "load_average_before": busy,
        "kernel": platform.release(),
        "cores": os.cpu_count(),
        "rounds": effort.rounds,
        "seconds": effort.seconds,
        "quick": effort.quick,
    }
    (results / f"{name}.json").write_text(json.dumps({**facts, **asdict(section)}, indent=1) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=",".join(SECTIONS), help="sections, comma-separated")
    parser.add_argument("--rounds", type=int, default=3, help="how often every tool has its turn (3)")
    parser.add_argument("--seconds", type=float, default=4.0, help="length of a window (4)")
    parser.add_argument("--quick", action="store_true", help="one short round, to see that everything works")
    parser.add_argument("--apps", default="", help="for the section faults: applications, comma-separated")
    parser.add_argument(
        "--results",
        help="where the figures go (bench/results; with --quick, whose figures say nothing, and with --apps, "
        "which are not all, a new folder)",
    )
    options = parser.parse_args()
    options.only = [name.strip() for name in options.only.split(",") if name.strip()]
    options.apps = [name.strip() for name in options.apps.split(",") if name.strip()]
    known = [*SECTIONS, *BY_HAND]
    if unknown := [name for name in options.only if name not in known]:
        parser.error(f"no section is called {', '.join(unknown)}; there are {', '.join(known)}")
    if options.quick:
        options.rounds, options.seconds = 1, 1.0
    if options.results is None:
        some = options.quick or options.apps
        options.results = tempfile.mkdtemp(prefix="jostle-bench-") if some else HERE / "results"
    return options


if __name__ == "__main__":
    main()
