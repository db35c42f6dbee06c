"""The script of action.yml on a repository of two commits: does it find what the second one planted, and stay
quiet where nothing was?

Run it on an idle machine: every measurement takes about a minute, and what is found is measured again. Runs
are added to those of bench/results/truth-action.json; without that file it begins anew.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from jostle.analysis.trials.data import TrialData
from jostle.record import RunRecord
from support.versions import repository_of_two

SCRIPT = Path(__file__).parents[2] / "scripts" / "ci" / "compare-commits"
RUNS = 10
"""Of each repository."""
ROUNDS, SECONDS = 10, 2
TAILS_MS = {"5 ms in 10 % of the requests": 5, "nothing": 0}
SLOWER = 1
"""The exit code."""


@dataclass(frozen=True)
class ActionRun:
    """One run of the script."""

    planted: str
    slower_at_first: bool
    exit_code: int | None
    """None in the first ten of each, in which nothing was measured again."""
    took_s: float
    said: Sequence[str] = ()
    """What was decided, measurement by measurement."""
    machine: Sequence[str] = ()
    """What others and the hypervisor took of the cores, measurement by measurement."""


def measure(runs: int) -> Iterator[ActionRun]:
    """So many runs of each repository, in turns, each as it ends."""
    with tempfile.TemporaryDirectory(prefix="jostle-action-") as name:
        Path(name).chmod(0o755)
        tops = {
            planted: repository_of_two(Path(name, str(tail)), tail, rounds=ROUNDS, seconds=SECONDS)
            for planted, tail in TAILS_MS.items()
        }
        for number in range(1, runs + 1):
            for planted, top in tops.items():
                run = _compared(planted, top, Path(name, f"{top.name}-{number}"))
                said = " / ".join(run.said)
                print(f"  {planted}, run {number}: exit code {run.exit_code}; {said}", flush=True)
                yield run


def earlier(results: Path) -> list[ActionRun]:
    """The runs of earlier times, which `results` has if it is there."""
    if not results.exists():
        return []
    return [ActionRun(**run) for run in json.loads(results.read_text(encoding="utf-8"))["runs"]]


def _compared(planted: str, top: Path, into: Path) -> ActionRun:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    words = [str(SCRIPT), "bench/plan.toml", "HEAD~1", "HEAD", str(into)]
    begun = time.monotonic()
    done = subprocess.run(
        words, cwd=top, env={**os.environ, "PATH": path}, check=False, stdout=subprocess.DEVNULL
    )
    took_s = time.monotonic() - begun
    again = into / "again.md"
    return ActionRun(
        planted,
        done.returncode == SLOWER or again.exists(),
        done.returncode,
        took_s,
        [_decided(table) for table in (into / "comparison.md", again) if table.exists()],
        [_taken(RunRecord.open(run)) for run in sorted(into.glob("*-interleaved"))],
    )


def _decided(table: Path) -> str:
    """The sentences on the condition, without the marks of Markdown."""
    lines = table.read_text(encoding="utf-8").replace("\\", "").splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("- "))
    return " ".join(line.removeprefix("- ").removeprefix("  - ") for line in lines[at : at + 2])


def _taken(run: RunRecord) -> str:
    """Mean shares of a core, in the trials of each side."""
    parts = []
    for side in dict.fromkeys(trial.contestant for trial in run.trials):
        machines = [TrialData(trial).machine for trial in run.trials if trial.contestant == side]
        lasted, others, steal = (
            sum(float(np.nansum(of)) for of in column)
            for column in zip(*((m.length_s, m.others_s, m.steal_s) for m in machines), strict=True)
        )
        parts.append(f"{side}: others {others / lasted:.2f}, steal {steal / lasted:.2f} cores")
    return "; ".join(parts)


def markdown(found: Sequence[ActionRun]) -> str:
    """A row for each repository."""
    lines = [
        "| the second commit adds | runs | slower at first | measured again | slower again | a run takes |",
        "|---|---|---|---|---|---|",
    ]
    for planted in TAILS_MS:
        runs = [run for run in found if run.planted == planted]
        first = [run for run in runs if run.slower_at_first]
        again = [run for run in first if run.exit_code is not None]
        slower = sum(run.exit_code == SLOWER for run in again)
        whole = [run.took_s for run in runs if run.exit_code is not None or not run.slower_at_first]
        took = f"{np.median(whole):.0f} s" if whole else ""
        lines.append(f"| {planted} | {len(runs)} | {len(first)} | {len(again)} | {slower} | {took} |")
    return "\n".join(lines)
