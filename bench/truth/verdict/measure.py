"""Runs every situation several times with the real command, interleaved, and keeps the folders."""

import json
import os
import random
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from truth.verdict.commands import command_of
from truth.verdict.plants import Place
from truth.verdict.situations import Situation, key_of

__all__ = ["BUDGET_S", "Measured", "measure", "measured_in"]

BUDGET_S = 25 * 60.0
FIRST_S = 10.0
"""As long as nothing is known of a situation, its run is assumed to take so long."""
ENDS_S = 120.0
"""No run takes longer; one that does is ended."""


@dataclass(frozen=True)
class Measured:
    """A run of a situation: where it is, how long it took, and which share of this machine's CPU time was
    stolen, or used by programs that neither belong to the run nor to what was planted.
    """

    key: str
    number: int
    folder: Path
    took_s: float
    stolen: float
    others: float
    exit_code: int

    @property
    def record(self) -> Path | None:
        """The run's folder; None if it has none."""
        return next(iter(sorted(self.folder.glob("runs/*/"))), None)


def measure(situations: Sequence[Situation], folder: Path, seed: int, budget_s: float) -> None:
    """One run after the other, until all are done or the budget is spent. Each has a folder in `folder`."""
    rng = random.Random(seed)
    todo = [(s, n, (n + rng.random()) / s.runs) for s in situations for n in range(s.runs)]
    todo.sort(key=lambda one: one[2])
    begun, usually_s = time.monotonic(), dict[str, float]()
    for place, (situation, number, _) in enumerate(todo):
        if time.monotonic() - begun + usually_s.get(key_of(situation), FIRST_S) > budget_s:
            print(f"  the budget is spent: {len(todo) - place} of {len(todo)} runs are left out", flush=True)
            return
        own = folder / f"{place:03}"
        own.mkdir(parents=True)
        found = _run(situation, number, own, seed + place, folder)
        usually_s[found.key] = found.took_s
        spent = time.monotonic() - begun
        print(f"  {spent:5.0f} s, {place + 1} of {len(todo)}: {found.key}: {_first_line(own)}", flush=True)


def _run(situation: Situation, number: int, folder: Path, seed: int, all_of_them: Path) -> Measured:
    place, before, begun = Place(folder), _cpu_s(), time.monotonic()
    modes = all_of_them / "modes"
    with (
        command_of(situation, folder, seed, modes) as command,
        situation.plant(place) if situation.plant else nullcontext(()) as words,
        (folder / "terminal.txt").open("w") as text,
        subprocess.Popen(
            [*words, *command],
            cwd=folder,
            stdout=text,
            stderr=subprocess.PIPE,
            env={**os.environ, "COLUMNS": "80"},
        ) as process,
    ):
        place.pid_file.write_text(str(process.pid))
        try:
            _, errors = process.communicate(timeout=ENDS_S)
        except subprocess.TimeoutExpired:
            process.terminate()
            _, errors = process.communicate()
    (folder / "errors.txt").write_bytes(errors)
    stolen, busy, own, whole = (after - first for after, first in zip(_cpu_s(), before, strict=True))
    facts = {
        "situation": key_of(situation),
        "number": number,
        "seed": seed,
        "exit_code": process.returncode,
        "took_s": round(time.monotonic() - begun, 2),
        "stolen": round(stolen / whole, 4),
        "others": round((busy - own) / whole, 4),
    }
    (folder / "run.json").write_text(json.dumps(facts), encoding="utf-8")
    return _measured(folder)


def measured_in(folder: Path) -> Iterator[Measured]:
    """The runs that `measure` left in a folder."""
    for one in sorted(folder.glob("*/run.json")):
        yield _measured(one.parent)


def _measured(folder: Path) -> Measured:
    facts = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    return Measured(
        facts["situation"],
        facts["number"],
        folder,
        facts["took_s"],
        facts["stolen"],
        facts["others"],
        facts["exit_code"],
    )


def _cpu_s() -> tuple[float, float, float, float]:
    """CPU time so far of all cores: stolen, used, used by this process and its children, in all."""
    with Path("/proc/stat").open() as file:
        ticks = [int(word) / os.sysconf("SC_CLK_TCK") for word in file.readline().split()[1:9]]
    return ticks[7], sum(ticks[:3]), sum(os.times()[:4]), sum(ticks)


def _first_line(folder: Path) -> str:
    return next(iter((folder / "terminal.txt").read_text().splitlines()), "nothing printed")
