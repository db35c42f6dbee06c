"""What `jostle explain` says of faulty applications, asked as an engineer on call would ask it: which faults
it finds and names, and which sentences are wrong. All of them, three times: some 3 hours."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rows import Effort, Row, Section

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from faults.hall import APPLICATIONS, Application, started
from faults.judge import judged
from jostle.formatting import MISSING
from jostle.host.cores import available_cores, kept_off, place

RUNS = 3
FOUND_BAR = 0.80
PATIENCE_S = 900.0

KEPT = ("paragraph", "absent", "command", "unknown", "seconds", "requests", "pressure")
"""What is kept of each explanation besides its sentences."""


def run(effort: Effort) -> Section:
    if unknown := set(effort.apps) - APPLICATIONS.keys():
        raise SystemExit(
            f"no application is called {', '.join(unknown)}; there are {', '.join(APPLICATIONS)}"
        )
    chosen = [APPLICATIONS[name] for name in effort.apps or APPLICATIONS]
    samples = []
    for number in range(1 if effort.quick else RUNS):
        for application in chosen:
            samples.append(sample(application, explained(application)))
            print(f"{number + 1}. {application.name}: {summary(samples[-1])}", flush=True)
    return section(samples)


def explained(application: Application) -> dict[str, Any]:
    """What the command says, as JSON; {"error": …} where it says nothing."""
    cores = place(available_cores(), share=False)
    with started(application, cores.server_cores) as running, kept_off(cores.server_cores):
        first, *more = [str(running.server.pid) if word == "PID" else word for word in application.explain]
        command = [sys.executable, "-m", "jostle", "explain", running.url + first, *more, "--json", "--quiet"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            return {"error": f"it did not end within {PATIENCE_S:g} s"}
    try:
        found: dict[str, Any] = json.loads(done.stdout)
    except json.JSONDecodeError:
        return {"error": done.stderr.strip() or f"exit code {done.returncode}"}
    return found


def sample(application: Application, explanation: Mapping[str, Any]) -> dict[str, Any]:
    """What was said in one run, each sentence with its verdict."""
    about = {"application": application.name, "faults": [fault.kind for fault in application.faults]}
    if error := explanation.get("error"):
        return {**about, "error": error, "found": [False] * len(application.faults), "wrong": 0}
    result = judged(application, explanation)
    return {
        **about,
        "found": result.found,
        "wrong": len(result.wrong),
        "said": [vars(one) for one in result.said],
        "evidence": [
            {"topic": one["topic"], "says": one["says"], "evidence": one["evidence"]}
            for one in explanation["findings"]
        ],
        **{key: explanation[key] for key in KEPT},
    }


def summary(one: Mapping[str, Any]) -> str:
    if "error" in one:
        return f"not explained: {one['error']}"
    faults = zip(one["faults"], one["found"], strict=True)
    told = [f"{kind} {'found' if found else 'not found'}" for kind, found in faults]
    told += [f"wrong: {said['says']} ({said['why']})" for said in one["said"] if said["verdict"] == "wrong"]
    return "; ".join(told) or "nothing said that is not so"


def section(samples: Sequence[Mapping[str, Any]]) -> Section:
    """Rows, and a line for each application."""
    planted = [found for one in samples for found in one["found"]]
    share = sum(planted) / len(planted) if planted else None
    wrong = sum(one["wrong"] for one in samples)
    clean = [one for one in samples if not one["faults"]]
    false = sum(one["wrong"] for one in clean)
    return Section(
        [
            Row(
                f"explain, faulty applications: found and named, of {len(planted)}",
                f"≥ {FOUND_BAR:.0%}",
                MISSING if share is None else f"{share:.0%}",
                None if share is None else share >= FOUND_BAR,
            ),
            Row(f"… wrong sentences, in {len(samples)} runs", "0", str(wrong), wrong == 0),
            Row(
                f"… of these on applications without a fault, in {len(clean)} runs",
                "0",
                str(false),
                false == 0 if clean else None,
            ),
        ],
        details=_table(samples),
        samples=[dict(one) for one in samples],
    )


def _table(samples: Sequence[Mapping[str, Any]]) -> str:
    lines = ["| application | fault | found | wrong sentences |", "|---|---|---|---|"]
    for name in dict.fromkeys(one["application"] for one in samples):
        own = [one for one in samples if one["application"] == name]
        wrong = Counter(
            said["says"] for one in own for said in one.get("said", ()) if said["verdict"] == "wrong"
        )
        told = "; ".join(f"{says} ({times} ×)" if times > 1 else says for says, times in wrong.items())
        faults = [
            (kind, f"{sum(one['found'][number] for one in own)} of {len(own)}")
            for number, kind in enumerate(own[0]["faults"])
        ]
        for kind, found in faults or [("none", "")]:
            lines.append(f"| {name} | {kind} | {found} | {told} |")
            name = told = ""
    return "\n".join(lines)
