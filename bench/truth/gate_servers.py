"""The gate of the documents' CI recipe on real servers: what it finds, and what it cries about.

Run it on an idle machine: every run takes about a minute, and those until decided up to five.
"""

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import jostle

SERVER = Path(__file__).with_name("gate_server.py")

PLAN = """
title = "Is the new version slower than the old one?"
contestants = ["before", "after"]
rounds = {rounds}
warm-up = "500ms"
{budget}

[contestant.before]
command = "{python} {server} {{port}}"
user = "{user}"

[contestant.after]
command = "{python} {server} {{port}} {planted}"
user = "{user}"

[workload.page]
request = {{ get = "/" }}
load = {{ rate = "200/s", for = "2s" }}

[[require]]
that = "not slower"
"""


@dataclass(frozen=True)
class Situation:
    """What is planted, how often, and the bar: the fewest or the most runs that may fail."""

    name: str
    planted: str
    runs: int
    least: int = 0
    most: int | None = None
    until_decided: bool = False
    hogs: int = 0


SITUATIONS = (
    Situation("nothing", "", 40, most=1),
    Situation("nothing, beside two busy programs", "", 20, most=1, hogs=2),
    Situation("+5 ms in 10 % of the requests", "--tail 5", 20, least=19),
    Situation("+3 %, until decided within five minutes", "--slower 3", 20, least=15, until_decided=True),
)


@dataclass(frozen=True)
class Outcome:
    """How many runs failed because one side is slower, and how many could not tell."""

    situation: Situation
    runs: int
    failed: int
    undecided: int

    @property
    def kept(self) -> bool:
        """Whether the bar is kept; of fewer runs than the bar is for, nothing is said."""
        most = self.runs if self.situation.most is None else self.situation.most
        return self.runs < self.situation.runs or self.situation.least <= self.failed <= most


def measure(*, quick: bool) -> list[Outcome]:
    """All situations; `quick`: one run of each."""
    found = []
    for situation in SITUATIONS:
        runs = 1 if quick else situation.runs
        with tempfile.TemporaryDirectory(prefix="jostle-gate-") as folder:
            verdicts = [_verdict(situation, Path(folder), number) for number in range(runs)]
        found.append(Outcome(situation, runs, verdicts.count("fail"), verdicts.count("undecided")))
    return found


def _verdict(situation: Situation, folder: Path, number: int) -> str:
    plan = folder / "plan.toml"
    text = PLAN.format(
        rounds='"until decided"' if situation.until_decided else 10,
        budget='budget = "5m"' if situation.until_decided else "",
        python=sys.executable,
        server=SERVER,
        planted=situation.planted,
        user="root" if os.geteuid() == 0 else "",
    )
    plan.write_text(text.replace('user = ""\n', ""), encoding="utf-8")
    with _hogs(situation.hogs):
        run = jostle.run(plan, into=folder / "runs", seed=number)
    (required,) = run.result.requirements
    print(f"  {situation.name}, run {number + 1}: {required.verdict}: {required.message}", flush=True)
    return required.verdict


@contextlib.contextmanager
def _hogs(count: int) -> Iterator[None]:
    """So many programs that do nothing but compute."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def markdown(found: list[Outcome]) -> str:
    """A row for each situation."""
    lines = ["| planted | runs | slower | undecided | bar |", "|---|---|---|---|---|"]
    for one in found:
        s = one.situation
        bar = f"at least {s.least}" if s.most is None else f"at most {s.most}"
        kept = "" if one.kept else ", not kept"
        lines.append(f"| {s.name} | {one.runs} | {one.failed} | {one.undecided} | {bar} of {s.runs}{kept} |")
    return "\n".join(lines)
