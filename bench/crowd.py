"""A crowd of clients by `jostle run`, as a user would run it, and what came of it."""

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from watched import watched

__all__ = ["Crowd", "run_crowd"]


class Crowd:
    """The only trial of the run."""

    def __init__(self, result: dict[str, Any]) -> None:
        self.trial = result["trials"][0]
        self.outcomes: dict[str, int] = self.trial["outcomes"]

    @property
    def failures(self) -> int:
        """Requests that ended neither well nor by the end of the run."""
        ends = ("ok", "unfinished", "never_sent")
        return sum(count for kind, count in self.outcomes.items() if kind not in ends)

    @property
    def most_clients(self) -> int:
        return max(count for count in self.trial["timeline"]["clients"] if count is not None)

    def between(self, what: str, begin_s: float, end_s: float) -> float:
        """Mean of a line of the timeline between two moments: throughput_per_s, generator_cpu."""
        timeline = self.trial["timeline"]
        pairs = zip(timeline["t_s"], timeline[what], strict=True)
        found = [value for t, value in pairs if begin_s <= t <= end_s and value is not None]
        return float(sum(found) / len(found))

    def sample(self) -> dict[str, Any]:
        """For the record: everything but the distributions."""
        kept = (
            "duration_s",
            "throughput_per_s",
            "outcomes",
            "generator_cpu",
            "response",
            "timeline",
            "validity",
        )
        return {key: self.trial[key] for key in kept}


def run_crowd(
    title: str, addresses: Sequence[str], request: str, load: str, processes: int, folder: Path
) -> Crowd:
    """Clients on the servers at these addresses, in turn; `request` and `load` as in a plan.

    Raises `RuntimeError` when nothing comes of it.
    """
    plan = folder / "plan.toml"
    plan.write_text(f"""
title = "{title}"
contestants = ["servers"]
rounds = 1
threads = {processes}
processes = {processes}

[workload.crowd]
request = {{ {request} }}
load = {{ {load} }}
timeout = "30s"
connect-timeout = "30s"
connection = {{ connect-to = {json.dumps(list(addresses))} }}

[contestant.servers]
url = "http://{addresses[0]}"
""")
    command = [sys.executable, "-m", "jostle", "run", str(plan), "--into", str(folder / "runs"), "--json"]
    with watched(command, folder) as process:
        process.process.wait()
        said = (folder / "said.txt").read_text()
    found = re.search(r"^\{", said, re.MULTILINE)
    if found is None:
        raise RuntimeError(f"jostle run gave no result: {said[-600:]}")
    result, _ = json.JSONDecoder().raw_decode(said, found.start())
    return Crowd(result)
