"""The script of action.yml on a repository of two commits: does it find what the second one planted, and stay
quiet where nothing was?

Run it on an idle machine: every run takes about a minute.
"""

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from support.versions import repository_of_two

SCRIPT = Path(__file__).parents[2] / "scripts" / "ci" / "compare-commits"
RUNS = 10
"""Of each repository."""
ROUNDS, SECONDS = 10, 2
TAILS_MS = {"5 ms in 10 % of the requests": 5, "nothing": 0}
SLOWER, QUIET = 1, 0


@dataclass(frozen=True)
class Found:
    """How the runs of one repository ended. `median_s`: how long a run took."""

    planted: str
    runs: int
    slower: int
    quiet: int
    median_s: float

    @property
    def right(self) -> int:
        return self.quiet if self.planted == "nothing" else self.slower


def measure(runs: int) -> list[Found]:
    """So many runs of each repository, in turns."""
    codes: dict[str, list[int]] = {planted: [] for planted in TAILS_MS}
    took: dict[str, list[float]] = {planted: [] for planted in TAILS_MS}
    with tempfile.TemporaryDirectory(prefix="jostle-action-") as name:
        Path(name).chmod(0o755)
        tops = {
            planted: repository_of_two(Path(name, str(tail)), tail, rounds=ROUNDS, seconds=SECONDS)
            for planted, tail in TAILS_MS.items()
        }
        for number in range(1, runs + 1):
            for planted, top in tops.items():
                begun = time.monotonic()
                codes[planted].append(_compared(top, Path(name, f"{top.name}-{number}")))
                took[planted].append(time.monotonic() - begun)
                print(f"  {planted}, run {number}: exit code {codes[planted][-1]}", flush=True)
    return [
        Found(planted, runs, found.count(SLOWER), found.count(QUIET), sorted(took[planted])[runs // 2])
        for planted, found in codes.items()
    ]


def _compared(top: Path, into: Path) -> int:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    words = [str(SCRIPT), "bench/plan.toml", "HEAD~1", "HEAD", str(into)]
    return subprocess.run(
        words, cwd=top, env={**os.environ, "PATH": path}, check=False, stdout=subprocess.DEVNULL
    ).returncode


def markdown(found: list[Found]) -> str:
    """A row for each repository."""
    lines = [
        "| the second commit adds | runs | slower | not slower | right | a run takes |",
        "|---|---|---|---|---|---|",
    ]
    for one in found:
        others = f"{one.right} of {one.runs}"
        lines.append(
            f"| {one.planted} | {one.runs} | {one.slower} | {one.quiet} | {others} | {one.median_s:.0f} s |"
        )
    return "\n".join(lines)
