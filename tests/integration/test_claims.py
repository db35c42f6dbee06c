"""Claims through the command line, on servers whose discipline is known exactly."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.real import Jostle, as_json, command, environment

PLAN = """
title = "Does one slow request starve the fast ones?"
contestants = ["reference-run-to-completion", "reference-processor-sharing", "no-such-runtime"]
rounds = 3
seed = 5

[contestant.no-such-runtime]
command = ["no-such-program", "{port}"]
[[contestant.no-such-runtime.needs]]
command = "no-such-program"
install = "nobody can"

[workload.alone]
request = { get = "/fast/44", expect = "1936" }
load = { clients = 1, for = "1s" }

[workload.with-slow]
request = { get = "/fast/44", expect = "1936" }
load = { clients = 1, for = "1s" }
background = { get = "/work?us=800000", clients = 1, requests = 1 }

[workload.slow]
request = { get = "/work?us=800000" }
load = { clients = 1, requests = 1 }

[[starvation]]
form = "as published"
alone = "alone"
with = "with-slow"
slow = "slow"

[published]
source = "A test, 2026"
setup = "nothing in particular"

[[published.figures]]
contestant = "reference-run-to-completion"
workload = "slow"
metric = "mean"
value = 0.8
unit = "s"

[[claim]]
says = "a slow request is slow"
[[claim.holds]]
metric = "mean"
contestant = "reference-run-to-completion"
workload = "slow"
above = 0.5

[[claim]]
says = "a slow request is a hundred times as quick as a fast one"
[[claim.holds]]
metric = "mean"
contestant = "reference-run-to-completion"
workload = "slow"
against = { workload = "alone" }
below = 0.01

[[claim]]
says = "the third is quick"
holds = [{ metric = "p50", contestant = "no-such-runtime", workload = "alone", below = 1 }]

[[claim]]
says = "run to completion starves"
[[claim.holds]]
metric = "starvation index"
contestant = "reference-run-to-completion"
workload = "with-slow"
above = 0.4
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The plan's result, and the folder of its run."""
    folder = tmp_path_factory.mktemp("claims")
    (folder / "plan.toml").write_text(PLAN)
    finished = subprocess.run(
        command("run", "plan.toml", "--json"),
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=240,
    )
    (run,) = (folder / "runs").iterdir()
    return as_json(finished), run


@pytest.mark.alone
def test_starvation_is_seen_where_it_is_and_not_where_it_is_not(
    measured: tuple[dict[str, Any], Path],
) -> None:
    """Ground truth: a slow request holds 800 of 1000 ms of a run-to-completion server: 0.8 of it, and more
    where the machine is slow."""
    result, run = measured
    index = {row["contestant"]: row["index"] for row in result["starvation"]}
    starved = index["reference-run-to-completion"]
    shared = index["reference-processor-sharing"]
    assert starved["value"] > 0.7
    assert shared["value"] < starved["value"]
    assert 0 <= starved["low"] < starved["value"] < starved["high"] <= 1
    assert (run / "report.html").stat().st_size > 100_000
    assert len(list(run.glob("*.png"))) >= 2
    assert (run / "plan.toml").exists()


@pytest.mark.alone
def test_each_claim_is_decided_by_its_rule(
    jostle_command: Jostle, measured: tuple[dict[str, Any], Path]
) -> None:
    result, run = measured
    reproduced, refuted, unknown, starves = result["claims"]
    assert reproduced["verdict"] == "reproduced", reproduced
    assert refuted["verdict"] == "not reproduced", refuted
    assert unknown["verdict"] == "undecided"
    assert "no-such-runtime was not measured" in unknown["sentence"]
    assert "nobody can" in unknown["sentence"]
    assert starves["criteria"][0]["estimate"]["value"] > 0.4
    (figure,) = result["published"]
    assert figure["measured"]["value"] >= 0.8
    assert dict(result["setup"])["network"] == "loopback"
    told = jostle_command("report", run, "--full").stdout
    assert "✗ not reproduced: a slow request is a hundred times" in told


def test_figures_without_a_source_are_refused(jostle_command: Jostle, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.replace('source = "A test, 2026"\n', ""))
    finished = jostle_command("run", plan)
    assert finished.returncode == 2
    assert "figures without a source" in finished.stderr
    assert "Author, Title, publisher, date" in finished.stderr
