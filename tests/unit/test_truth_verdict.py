"""Runs of the table of verdicts are judged again as they are, and with other thresholds."""

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from jostle.analysis.trials.data import TrialData
from jostle.analysis.validity import generator_core, machine
from support.judging import POISSON
from support.synthetic import Trial, lognormal, make_run, open_loop

BENCH = Path(__file__).parents[2] / "bench"
UNDISTURBED, HOG = "undisturbed; go, open", "50 % hog on the server's core; go, open"


@pytest.fixture
def truth(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    monkeypatch.syspath_prepend(str(BENCH))
    from truth.verdict import again, rates, thresholds

    return {"again": again, "rates": rates, "thresholds": thresholds}


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    """Three undisturbed runs and two beside a program, all alike, and one that something else disturbed."""
    folder = tmp_path / "measured"
    for place, (key, others) in enumerate(
        [(UNDISTURBED, 0.0)] * 3 + [(HOG, 0.0)] * 2 + [(UNDISTURBED, 0.5)], 1
    ):
        trials = [
            Trial(
                "go",
                "page",
                n,
                open_loop(lognormal(0.002, 0.3), 200.0, 2.0, seed=10 * place + n),
                load=POISSON,
                duration=2.0,
            )
            for n in (1, 2, 3)
        ]
        own = folder / f"{place:03}"
        make_run(own / "runs", trials)
        facts = {
            "situation": key,
            "number": 0,
            "took_s": 1.0,
            "stolen": 0.0,
            "others": others,
            "exit_code": 0,
        }
        (own / "run.json").write_text(json.dumps(facts))
    return folder


@pytest.fixture
def hogged(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the last two runs, others had 30 % of the time of the server's core."""

    def share(data: TrialData) -> float:
        return 0.3 if {"004", "005"} & set(data.trial.folder.parts) else 0.0

    monkeypatch.setattr(machine, "server_kept_waiting", share)


@pytest.mark.usefixtures("hogged")
def test_figures_are_sorted_by_what_is_true_and_what_was_said(truth: Any, measured: Path) -> None:
    rows = truth["again"].judged_again(measured)
    assert {row.situation.name: len(row.runs) for row in rows} == {
        UNDISTURBED.split(";")[0]: 3,
        HOG.split(";")[0]: 2,
    }
    wrong, thrown = truth["rates"].shares(rows)
    assert wrong == 0
    assert thrown == pytest.approx(2 * 2 / (5 * 6))  # p90 and p99 of two runs of five, six figures each
    assert "| good, but thrown away: at most 15 % of those that are good | 4 of 30" in truth[
        "rates"
    ].markdown(rows)


@pytest.mark.usefixtures("hogged")
def test_each_threshold_is_tried_alone_and_put_back(truth: Any, measured: Path) -> None:
    rows = truth["again"].judged_again(measured)
    before = machine.SUSPECT_ABOVE, machine.ALL, generator_core.SUSPECT_ABOVE
    tried = truth["thresholds"].tried(measured, rows)
    assert before == (machine.SUSPECT_ABOVE, machine.ALL, generator_core.SUSPECT_ABOVE)
    thrown = {(one.name, one.value): one.good_thrown_away for one in tried}
    in_use = {one.name: one.value for one in tried if one.in_use}
    assert in_use == dict(zip(in_use, before, strict=True))
    as_it_is = truth["rates"].shares(rows)[1]
    assert (
        thrown["machine.SUSPECT_ABOVE", machine.SUSPECT_ABOVE]
        == thrown["generator_core.SUSPECT_ABOVE", 0.25]
        == as_it_is
    )
    assert thrown["machine.SUSPECT_ABOVE", 0.4] == 0.0
    assert thrown["machine.ALL", 0.2] > as_it_is
    shown = truth["thresholds"].markdown(tried)
    assert f"| machine.SUSPECT_ABOVE | **20 %** | 0.0 % | {100 * as_it_is:.1f} % |" in shown
    assert "| machine.SUSPECT_ABOVE | 40 % | 0.0 % | 0.0 % |" in shown


def test_the_command_judges_a_folder_again(measured: Path) -> None:
    found = subprocess.run(
        [sys.executable, "-m", "truth", "--judge-again", str(measured), "--quick"],
        env={"PYTHONPATH": str(BENCH)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.startswith("5 runs of 2 situations, 30 figures. What became of each figure:")
    assert (
        "| wrong, but called good: at most 2 % of those called good | 0 of 30 (0.0 %) | yes |" in found.stdout
    )
