"""A synthetic trial, written to disk and judged, and what a test asks of the judgement."""

import json
from pathlib import Path
from typing import Any

from jostle.analysis.results import Check, Validity
from jostle.analysis.run import judge
from jostle.record import RunRecord, TrialRecord
from support.synthetic import Request, Trial, lognormal, make_run

STEADY = lognormal(0.002, 0.2)
POISSON = {
    "open": {"arrivals": "poisson", "rates": [{"from": 200.0, "to": 200.0}], "max_connections": 10_000}
}
CONSTANT = {"open": {"arrivals": "constant", "rates": [{"from": 200.0, "to": 200.0}]}}


def recorded(tmp_path: Path, trial: Trial) -> TrialRecord:
    return RunRecord.open(make_run(tmp_path, [trial])).trials[0]


def judged(tmp_path: Path, requests: list[Request], **more: Any) -> Validity:
    return judge(recorded(tmp_path, Trial("node", "fast", 1, requests, **more)))


def check(validity: Validity, name: str) -> Check:
    (found,) = [c for c in validity.checks if c.name == name]
    return found


def names(validity: Validity) -> set[str]:
    return {c.name for c in validity.checks}


def edited(tmp_path: Path, trial: Trial, change: Any) -> TrialRecord:
    record = recorded(tmp_path, trial)
    path = record.folder / "intervals.ndjson"
    intervals = [json.loads(line) for line in path.read_text().splitlines()]
    for interval in intervals:
        change(interval)
    path.write_text("".join(json.dumps(i) + "\n" for i in intervals))
    return TrialRecord(record.folder)


def changed(tmp_path: Path, trial: Trial, change: Any) -> Validity:
    """Judge a trial of which `change` has edited each interval on disk."""
    return judge(edited(tmp_path, trial, change))
