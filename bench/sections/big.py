"""Runs that are long, wide or many: what analysis, page and history take. Only when asked for: ONLY=big.

The folders are one real second, recorded again and again (bench/folders.py). Reading them is measured.
"""

import contextlib
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from folders import Planned, real_second, write_rows, write_run
from rows import Effort, Row, Section

HOUR_S = 3600
MAX_MB_PER_HOUR, MAX_PAGE_MB, MAX_HISTORY_S = 150, 5, 2


@dataclass(frozen=True)
class Taken:
    """By one command: wall time, and the most memory that it held."""

    seconds: float
    peak_mb: float
    page_mb: float = 0.0


def run(effort: Effort) -> Section:
    hours = [1] if effort.quick else [1, 3, 24]
    trials, contestants, runs, rows = (40, 10, 20, 2) if effort.quick else (10_000, 200, 1_000, 100)
    second, folder = real_second(2_000), effort.folder
    found: dict[str, Taken] = {}
    small = _reported(write_run(folder, "small", [Planned("a", "w", 1, 2)], second))
    found["one trial of 2 s"] = small
    for hour in hours:
        length = HOUR_S // 10 if effort.quick else hour * HOUR_S
        made = write_run(folder, f"{hour}h", [Planned("a", "w", 1, length)], second)
        found[f"{hour} h at 2,000/s"] = _reported(made)
    many = [Planned(f"c{n % 10}", "w", n // 10 + 1, 2) for n in range(trials)]
    found[f"{trials:,} trials"] = _reported(write_run(folder, "trials", many, second))
    wide = [Planned(f"c{n}", "w", round_, 2) for round_ in (1, 2) for n in range(contestants)]
    found[f"{contestants} contestants"] = _reported(write_run(folder, "wide", wide, second))
    found[f"{rows} million rows"] = _reported(write_rows(folder, "rows", rows * 1_000_000, second))
    several = folder / "history"
    for number in range(runs):
        write_run(several, f"r{number}", [Planned("a", "w", 1, 2)], second)
    found[f"history of {runs:,} runs, anew"] = _taken("history", several)
    found[f"history of {runs:,} runs"] = again = _taken("history", several)
    return Section([*_bars(found, small, again, max(hours))], _details(found), [_sample(found)])


def _bars(found: dict[str, Taken], small: Taken, history: Taken, hours: int) -> list[Row]:
    longest = found[f"{hours} h at 2,000/s"]
    per_hour = (longest.peak_mb - small.peak_mb) / hours
    page = max(taken.page_mb for taken in found.values())
    return [
        Row(
            f"analysis and page of {hours} h at 2,000/s: memory for each hour, MB",
            f"≤ {MAX_MB_PER_HOUR}",
            f"{per_hour:,.1f}",
            per_hour <= MAX_MB_PER_HOUR,
        ),
        Row("the largest page of all these, MB", f"≤ {MAX_PAGE_MB}", f"{page:.2f}", page <= MAX_PAGE_MB),
        Row(
            "history, seconds",
            f"≤ {MAX_HISTORY_S}",
            f"{history.seconds:.2f}",
            history.seconds <= MAX_HISTORY_S,
        ),
    ]


def _reported(folder: Path) -> Taken:
    taken = _taken("report", folder, "-o", folder / "report.html")
    return Taken(taken.seconds, taken.peak_mb, (folder / "report.html").stat().st_size / 1e6)


def _taken(*words: str | Path) -> Taken:
    """Exit codes that only judge the run count as success.

    Memory is VmHWM, which begins anew with the command: getrusage would count what this process held. The
    process that reads rows counts, too.
    """
    begun, peak_kb = time.monotonic(), 0
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(
            [sys.executable, "-m", "jostle", *map(str, words)], stdout=subprocess.DEVNULL, stderr=complaints
        )
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while process.poll() is None:
            with contextlib.suppress(OSError):
                peak_kb = max(peak_kb, sum(map(_peak_kb, [process.pid, *children.read_text().split()])))
            time.sleep(0.02)
        complaints.seek(0)
        if process.returncode != 0:
            raise RuntimeError(f"jostle {' '.join(map(str, words))}: {complaints.read().decode()}")
    taken = Taken(time.monotonic() - begun, peak_kb / 1e3)
    print(f"  {words[0]} {Path(words[1]).name}: {taken.seconds:.1f} s, {taken.peak_mb:.0f} MB", flush=True)
    return taken


def _peak_kb(process: int | str) -> int:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    return int(found[1]) if found else 0


def _details(found: dict[str, Taken]) -> str:
    lines = ["| what | seconds | peak MB | page MB |", "|---|---|---|---|"]
    for what, taken in found.items():
        page = f"{taken.page_mb:.2f}" if taken.page_mb else ""
        lines.append(f"| {what} | {taken.seconds:.1f} | {taken.peak_mb:,.0f} | {page} |")
    return "\n".join(lines)


def _sample(found: dict[str, Taken]) -> dict[str, object]:
    return {what: vars(taken) for what, taken in found.items()}
