"""A load that is changed while it runs: by `jostle steer`, on the terminal, from Python."""

import contextlib
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jostle
from jostle.analysis.run import analyse
from jostle.analysis.trials.data import TrialData
from jostle.errors import SteerRefused
from jostle.record import RunRecord
from support.on_terminal import on_terminal
from support.real import Jostle, command, environment, jostle_running, recorded, reference_server
from support.terminal import without_styles
from support.waiting import eventually

PLAN = """\
title = "Steered"
contestants = ["it"]
rounds = 1
repeats = false
warm-up = "0s"
[contestant.it]
url = "{url}"
[workload.w]
request = {{ get = "/" }}
rows = true
load = {{ {load} }}
[[require]]
that = "p50 < 10 s"
"""


@contextlib.contextmanager
def running(tmp_path: Path, url: str, load: str, *words: str) -> Iterator[tuple[Path, Any]]:
    """A run whose first intervals are recorded: its folder, and its process."""
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.format(url=url, load=load))
    with jostle_running("run", plan, "--into", tmp_path / "runs", *words) as process:
        recorded(tmp_path / "runs", 100)
        (folder,) = (tmp_path / "runs").iterdir()
        yield folder, process


def finished(process: "subprocess.Popen[str]") -> str:
    out, complaints = process.communicate(timeout=120)
    assert "Traceback" not in complaints, complaints
    return out + complaints


def stopped(process: "subprocess.Popen[str]") -> str:
    """What a run said that was stopped by its user."""
    process.terminate()
    return finished(process)


def over_s(folder: Path) -> float:
    """How much of the first trial is recorded."""
    (trial,) = RunRecord.open(folder).trials
    return max((interval["end_ns"] for interval in trial.intervals), default=0) / 1e9


def intended_s(folder: Path) -> np.ndarray[Any, Any]:
    """When requests of the first trial were due, in order."""
    rows = RunRecord.open(folder).trials[0].rows(["intended_ns"])
    assert rows is not None
    return np.sort(rows["intended_ns"]) / 1e9


def steered(folder: Path) -> list[Any]:
    return [line["steered"] for line in RunRecord.open(folder).journal if line["event"] == "load steered"]


@pytest.mark.parametrize("processes", [1, 2])
def test_the_rate_of_an_open_load_changes_at_the_moment_that_is_told(
    tmp_path: Path, null_server: str, jostle_command: Jostle, processes: int
) -> None:
    load = 'rate = "100/s", arrivals = "constant", for = "5m"'
    with running(tmp_path, null_server, load, "--processes", str(processes)) as (folder, process):
        eventually(lambda: over_s(folder) > 1, "it does not begin", 60)
        made = jostle_command("steer", folder, "rate=500/s", "--json")
        assert made.returncode == 0, made.stderr
        acknowledged = json.loads(made.stdout)
        at_s = acknowledged["steered"]["at_ns"] / 1e9
        eventually(lambda: over_s(folder) > at_s + 2, "it stands still", 60)
        text = stopped(process)
    due = intended_s(folder)
    assert np.allclose(np.diff(due[due < at_s]), 0.01, atol=1e-6)
    # What was given out already stays, on a machine that is so busy that a thread hears of it late; and one
    # process may hear later than the other that all is over.
    assert np.allclose(np.diff(due[(due > at_s + 1) & (due < at_s + 2)]), 0.002, atol=1e-6)
    gaps = np.diff(due)
    assert gaps.min() > 0.002 - 1e-6, "none comes twice"
    assert gaps.max() < 0.01 + 1e-6, "none is lost"
    assert steered(folder) == [acknowledged["steered"]]
    assert acknowledged["steered"]["by"] == "command"
    assert "the load was changed while it ran: 500/s from" in text
    assert "not judged: the load was changed while it ran" in text
    result = analyse(RunRecord.open(folder))
    assert [one.verdict for one in result.requirements] == ["undecided"]
    assert [phase.name for phase in result.trials[0].timeline.phases] == ["as planned", "500/s"]


@pytest.mark.parametrize("processes", [1, 2])
def test_clients_of_a_closed_load_come_and_go(
    tmp_path: Path, null_server: str, jostle_command: Jostle, processes: int
) -> None:
    def clients() -> list[int]:
        (trial,) = RunRecord.open(folder).trials
        return [interval["workloads"][0]["clients"] for interval in trial.intervals]

    load = 'clients = 4, think = "20ms", for = "5m"'
    with running(tmp_path, null_server, load, "--processes", str(processes)) as (folder, process):
        assert jostle_command("steer", folder, "clients=30").returncode == 0
        eventually(lambda: 30 in clients(), "nobody came")
        assert jostle_command("steer", folder, "x0.1").returncode == 0
        eventually(lambda: clients()[-1] == 3, "nobody left")
        stopped(process)
    assert [(one["what"], one.get("clients")) for one in steered(folder)] == [("clients", 30), ("clients", 3)]
    outcomes = TrialData(RunRecord.open(folder).trials[0]).outcomes()
    assert {kind for kind, count in outcomes.items() if count} <= {"ok", "unfinished"}


def test_a_ramp_is_held_and_the_next_phase_ends_the_run_sooner(
    tmp_path: Path, null_server: str, jostle_command: Jostle
) -> None:
    load = (
        'rates = [{ name = "up", for = "5m", from = "10/s", to = "1000/s" }, '
        '{ name = "there", for = "1s", rate = "50/s" }]'
    )
    with running(tmp_path, null_server, load) as (folder, process):
        held = jostle_command("steer", folder, "hold")
        assert "/s from" in held.stdout, held.stderr
        made = jostle_command("steer", folder, "next")
        assert "it, w: there from" in made.stdout, made.stderr
        finished(process)
    (_, next_phase) = steered(folder)
    assert (next_phase["what"], next_phase["phase"], next_phase["name"]) == ("phase", 1, "there")
    *_, last = RunRecord.open(folder).trials[0].intervals
    assert last["end_ns"] == next_phase["at_ns"] + 1_000_000_000


def test_mistakes_are_told_and_change_nothing(
    tmp_path: Path, null_server: str, jostle_command: Jostle
) -> None:
    def refused(*words: str) -> str:
        told = jostle_command("steer", folder, *words)
        assert (told.returncode, told.stdout) == (2, ""), told
        return told.stderr.removeprefix("jostle: ")

    with running(tmp_path, null_server, 'rate = "100/s", for = "5m"') as (folder, process):
        assert refused("rate=fast").startswith("'fast' is not a rate\n  write for example")
        assert refused("rate=900000000/s").startswith("900,000,000/s is beyond this machine: ")
        assert refused("clients=5").startswith(
            "w: its load is open, requests are due at a rate: change the rate"
        )
        assert refused("hold").startswith("w: it stays as it is anyway: there is nothing to hold")
        assert refused("next").startswith("w: no phase of it is left")
        assert refused("x2", "--workload", "crowd").startswith(
            "there is no workload 'crowd' of the load that runs"
        )
        assert refused("x2", "--at", "2h").startswith("w: the load is over")
        stopped(process)
    assert refused("rate=5/s").startswith(f"{folder} is over: it can be neither changed nor stopped any more")
    assert not steered(folder)
    assert "jostle: there is no folder" in jostle_command("steer", "nowhere", "hold").stderr


def test_more_clients_than_there_are_files_for_are_refused_with_how_many_there_are(
    tmp_path: Path, null_server: str, jostle_command: Jostle
) -> None:
    with running(tmp_path, null_server, 'clients = 2, think = "10ms", for = "5m"') as (folder, process):
        told = jostle_command("steer", folder, "clients=1_000_000_000")
        assert told.returncode == 2
        assert told.stderr.startswith("jostle: w: 1000000000 clients need "), told.stderr
        assert "here: at most " in told.stderr
        stopped(process)


def test_plus_and_minus_change_the_load_by_a_tenth(tmp_path: Path) -> None:
    coloured = {k: v for k, v in environment().items() if k not in ("NO_COLOR", "COLUMNS", "TERM")}
    with reference_server("run-to-completion") as url:
        words = command("hit", url, "--rate", "100/s", "-d", "5m", "--into", tmp_path)
        with on_terminal(words, coloured, columns=120) as terminal:
            terminal.read_until(lambda text: text.count("not answered │") > 3)
            terminal.press("+")
            terminal.read_until(lambda text: "steered to 110/s" in without_styles(text))
            terminal.press("-")
            terminal.read_until(lambda text: "steered to 100/s" in without_styles(text))
            assert "╋" in terminal.text
            terminal.press("q")
            terminal.wait()
            assert terminal.is_as_it_was
    (folder,) = tmp_path.iterdir()
    assert [(one["by"], round(one["per_s"], 6)) for one in steered(folder)] == [
        ("terminal", 110.0),
        ("terminal", 100.0),
    ]
    assert "Traceback" not in terminal.text


def test_from_python(tmp_path: Path, null_server: str) -> None:
    with running(tmp_path, null_server, 'rate = "100/s", for = "5m"') as (folder, process):
        made = jostle.steer(folder, "x2")
        assert (made.trial, made.steered["what"], made.contestant) == (1, "rate", "it")
        stopped(process)
    (trial,) = RunRecord.open(folder).trials
    assert trial.steered == [made.steered]
    with pytest.raises(SteerRefused, match="is over"):
        jostle.steer(folder, "x2")


@pytest.mark.parametrize("processes", [1, 2])
def test_a_run_is_stopped_from_another_process_and_reported(
    tmp_path: Path, null_server: str, jostle_command: Jostle, processes: int
) -> None:
    load = 'rate = "100/s", for = "5m"'
    with running(tmp_path, null_server, load, "--processes", str(processes)) as (folder, process):
        told = jostle_command("steer", folder, "stop", "--at", "9s")
        assert told.returncode == 2
        assert "a run is stopped as a whole, and at once" in told.stderr
        told = jostle_command("steer", folder, "stop")
        assert (told.returncode, told.stdout) == (0, f"{folder} stops; what was measured is reported\n")
        text = finished(process)
    (trial,) = RunRecord.open(folder).trials
    assert (trial.status, trial.why) == ("cut short", "stopped by the user")
    assert RunRecord.open(folder).journal[-1]["event"] == "run stopped"
    assert "p99" in text, "what was measured is reported"
    told = jostle_command("steer", folder, "stop")
    assert told.returncode == 2
    assert "is over: it can be neither changed nor stopped any more" in told.stderr
