"""`jostle report --format`: the forms that are files, and JUnit."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from jostle.analysis.results import Check, Validity
from jostle.record.verdict import Verdict
from support.commands import run_command
from support.rendered import rendered
from support.results import RUNTIMES, make_hit, make_starvation
from support.synthetic import Request, Trial, closed, lognormal, make_run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    times = lognormal(0.002, 0.2)
    trials = [Trial("go:procs=1", "a/b", n, closed(times, 2.0, seed=n), 2.0) for n in (1, 2)]
    trials.append(
        Trial("../etc", "a/b", 1, [Request(0.0, 0.0, 1.0), Request(0.0, 0.0, 2.0, "unfinished")], 2.0)
    )
    trials.append(Trial("dead", "a/b", 1, [], 2.0, status="failed", why="it died"))
    return make_run(tmp_path, trials)


def written(folder: Path, form: str) -> list[str]:
    code, output = run_command("report", folder, "--format", form)
    assert code == 0, output
    return output.splitlines()


@pytest.mark.parametrize("form", ["png", "svg"])
def test_pictures(folder: Path, form: str) -> None:
    paths = [Path(line) for line in written(folder, form)]
    assert paths
    assert {path.suffix for path in paths} == {f".{form}"}
    assert all(path.stat().st_size > 1000 for path in paths)


def test_junit(folder: Path) -> None:
    root = ET.fromstring("\n".join(written(folder, "junit")))
    errors = root.findall("testsuite/testcase/error")
    assert [e.get("message") for e in errors] == ["the trial failed: it died"]


def test_junit_gives_each_workload_its_own_reasons() -> None:
    """Not those of a workload whose name begins alike; and a run of one trial has its reason, too."""
    result = make_starvation(RUNTIMES[:1], rounds=1)
    names = {"fast-only": "closed", "fast-with-slow": "closed-paced"}
    wrong = Validity(Verdict.INVALID, [Check("x", Verdict.INVALID, 1, 0, "", "only the paced one is late")])
    trials = [
        replace(t, workload=name, validity=wrong if name == "closed-paced" else t.validity)
        for t in result.trials
        if (name := names.get(t.workload))
    ]
    summaries = [
        replace(c, workload=name, verdict=Verdict.INVALID)
        for c in result.summaries
        if (name := names.get(c.workload))
    ]
    root = ET.fromstring(
        rendered(replace(result, trials=trials, summaries=summaries, starvation=[]), "junit")
    )
    told = {str(c.get("name")): e.get("message") for c in root.iter("testcase") for e in c.findall("error")}
    assert told == {"closed": "the trials were invalid", "closed-paced": "only the paced one is late"}
    (alone,) = ET.fromstring(rendered(make_hit(Verdict.INVALID), "junit")).iter("error")
    assert (alone.get("message") or "").startswith("the generator sent requests late")


def test_the_full_report_has_every_reason_and_table(folder: Path) -> None:
    brief, full = (run_command("report", folder, *more)[1] for more in ((), ("--full",)))
    assert "Warnings" in full
    assert "Warnings" not in brief
    assert "Outcomes" in full


def test_a_terminal_that_knows_only_ascii_gets_the_report_too(folder: Path) -> None:
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "jostle", "report", str(folder), "--full"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert "Warnings" in done.stdout
