"""Simulates what is true and what is said of it, and writes the tables of how-often-right.md.

make truth                  simulated, some ten minutes
make truth SERVERS=1        on real servers instead, some forty minutes on an idle machine
make truth GATE=1           how often a gate in CI cries and finds, on real servers; some four hours, idle
make truth ACTION=1         the same with the script of action.yml: adds ten of each, 30 minutes, idle
make truth VERDICT=1        how often a verdict is right, on real servers; 25 minutes, idle, as root
make truth QUICK=1          does it work? Its figures say nothing
"""

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "bench")]

from truth import action, gate, gate_servers, servers, simulated, spread, tables  # noqa: E402
from truth.verdict import again, rates, table, thresholds  # noqa: E402

RESULTS = ROOT / "bench" / "results"
DOCUMENT = ROOT / "docs" / "explanation" / "how-often-right.md"
CASES, PAGES, SEED = 1000, 100, 13


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--servers", action="store_true", help="real servers, instead of simulating")
    parser.add_argument("--gate", action="store_true", help="the gate on real servers")
    parser.add_argument("--action", action="store_true", help="the script of action.yml on two commits")
    parser.add_argument("--verdict", action="store_true", help="the verdict on real servers")
    parser.add_argument(
        "--judge-again",
        type=Path,
        metavar="FOLDER",
        help="judge the runs that --verdict left in this folder, and measure nothing",
    )
    parser.add_argument("--quick", action="store_true", help="few cases: its figures say nothing")
    options = parser.parse_args()
    begun = time.monotonic()
    if options.servers:
        runs = 2 if options.quick else servers.RUNS
        found = servers.measure(runs)
        print(servers.markdown(found, runs))
        _keep(
            "truth-servers", {"runs": runs, "compared": [asdict(one) for one in found]}, begun, options.quick
        )
        return
    if options.gate:
        of_gate = gate_servers.measure(quick=options.quick)
        print(gate_servers.markdown(of_gate))
        _keep("truth-gate", {"situations": [asdict(one) for one in of_gate]}, begun, options.quick)
        return
    if options.action:
        before = [] if options.quick else action.earlier(RESULTS / "truth-action.json")
        of_action = list(before)
        for run in action.measure(2 if options.quick else action.RUNS):
            of_action.append(run)  # and kept at once: half an hour may be cut short
            if not options.quick:
                tables.write(action.markdown(of_action), DOCUMENT, "action")
            _keep("truth-action", {"runs": [asdict(one) for one in of_action]}, begun, options.quick)
        print(action.markdown(of_action))
        return
    if options.verdict or options.judge_again:
        runs = options.judge_again or table.measured(quick=options.quick, seed=SEED)
        _verdict(runs, begun, quick=options.quick)
        return
    cases, pages = (20, 4) if options.quick else (CASES, PAGES)
    cells = simulated.all_cells(SEED, cases)
    of_pages = simulated.pages(np.random.default_rng(SEED), pages)
    few = spread.coverages(SEED, cases)
    kept_promises = spread.promises(SEED, cases)
    text = "\n\n".join(
        [
            tables.of_records(spread.recorded()),
            tables.of_cells(few),
            tables.of_promises(kept_promises),
            tables.markdown(cells, of_pages, cases),
        ]
    )
    print(text)
    gates = gate.all_cells(SEED, cases)
    of_gates = gate.markdown(gates, cases)
    print(of_gates)
    wrong = [*tables.broken(cells, of_pages, few, kept_promises, cases), *gate.broken(gates, cases)]
    print("\n".join(["", "Bars that are not kept:", *wrong] if wrong else ["", "All bars are kept."]))
    if not options.quick:
        tables.write(text, DOCUMENT)
        tables.write(of_gates, DOCUMENT, "gate")
    tabled = {"cells": cells, "pages": of_pages, "few rounds": few, "promises": kept_promises, "gate": gates}
    kept = {"cases": cases, **{name: [asdict(one) for one in rows] for name, rows in tabled.items()}}
    _keep("truth", {**kept, "bars not kept": wrong}, begun, options.quick)


def _verdict(folder: Path, begun: float, *, quick: bool) -> None:
    """The runs in a folder, judged by the thresholds in use and by others."""
    rows = again.judged_again(folder)
    found = [] if quick else thresholds.tried(folder, rows)
    text = "\n\n".join([rates.markdown(rows), *([thresholds.markdown(found)] if found else [])])
    print(text)
    _keep("verdict", table.kept(rows) | {"thresholds": [asdict(one) for one in found]}, begun, quick)
    if not quick:
        tables.write(text, DOCUMENT, "verdict")


def _keep(name: str, what: dict[str, object], begun: float, quick: bool) -> None:
    if quick:
        return
    facts = {"section": name, "measured": time.strftime("%Y-%m-%dT%H:%M:%S%z")}
    took = {"took_s": round(time.monotonic() - begun, 1)}
    text = json.dumps({**facts, **took, **what}, indent=1, default=str)
    (RESULTS / f"{name}.json").write_text(text.replace("NaN", "null") + "\n", encoding="utf-8")


main()
