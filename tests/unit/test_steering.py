"""A run is steered by its folder: what reaches its load, what is recorded, and what is refused."""

import contextlib
import os
import socket
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from jostle.analysis.run import analyse
from jostle.errors import NotARun, SteerRefused
from jostle.generator import highest_rate
from jostle.plan.change import Change
from jostle.record import RunRecord
from jostle.report import document_of
from jostle.runner.steering import Acknowledgement, channel, steer, stop
from support.fakes import Laboratory, laboratory


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Laboratory:
    return laboratory(tmp_path / "runs", monkeypatch)


REQUIRED = '[[require]]\nthat = "p50 < 10 s"\n'


def steered(lab: Laboratory, change: str, **more: Any) -> Acknowledgement:
    """Change the first load of a run while it runs."""
    found: list[Acknowledgement] = []
    lab.executor.loads = [lambda: found.append(steer(lab.folder, change, **more))]
    lab.run(lab.plan(rounds=3, more=REQUIRED))
    return found[0]


def refused(lab: Laboratory, change: str, plan: Any = None, **more: Any) -> SteerRefused:
    """Why that load is not changed."""
    found: list[SteerRefused] = []

    def attempt() -> None:
        with pytest.raises(SteerRefused) as error:
            steer(lab.folder, change, **more)
        found.append(error.value)

    lab.executor.loads = [attempt]
    lab.run(lab.plan() if plan is None else plan)
    assert not RunRecord.open(lab.folder).trials[0].steered
    return found[0]


def test_a_change_reaches_the_load_and_stands_in_the_journal_and_in_the_trial(lab: Laboratory) -> None:
    made = steered(lab, "clients=50", by="command")
    assert lab.executor.started[0].steered == [(0, Change("clients", 50), None)]
    assert str(made) == f"{made.contestant}, w: 50 clients from 1.50 s on"
    assert made.at_unix_ns == lab.executor.started[0].started_unix_ns + 1_500_000_000
    record = RunRecord.open(lab.folder)
    entry = {
        "workload": "w",
        "change": "clients=50",
        "by": "command",
        "at_ns": 1_500_000_000,
        "unreached": [],
        "what": "clients",
        "clients": 50,
    }
    (line,) = [line for line in record.journal if line["event"] == "load steered"]
    assert (line["number"], line["steered"]) == (1, entry)
    assert [trial.steered for trial in record.trials] == [[entry], *[[]] * 5]
    assert made.steered == entry
    assert record.complete, record.incomplete_why


def test_of_a_steered_run_nothing_is_claimed_or_required(lab: Laboratory) -> None:
    steered(lab, "clients=50")
    result = analyse(RunRecord.open(lab.folder))
    (check,) = [check for check in result.trials[0].validity.notable if check.name == "steered"]
    assert check.message == "the load was changed while it ran: 50 clients from 1.50 s on"
    assert result.verdict == "valid"
    assert any(check.message in reason for reason in result.reasons)
    assert {one.verdict for one in result.requirements} == {"undecided"}
    assert all(one.message.startswith("not judged: the load was changed") for one in result.requirements)
    assert result.comparisons == []
    assert any("there are no claims, requirements and comparisons of this run" in n for n in result.notes)
    phases = result.trials[0].timeline.phases
    assert [(phase.name, phase.start_s, phase.end_s) for phase in phases] == [
        ("as planned", 0.0, 1.5),
        ("50 clients", 1.5, 3.0),
    ]
    (mark,) = result.trials[0].timeline.marks
    assert (mark.at_s, mark.kind, mark.text) == (1.5, "steered", "50 clients")
    document_of(result)


def test_a_run_that_was_not_steered_is_judged(lab: Laboratory) -> None:
    lab.run(lab.plan(rounds=3, more=REQUIRED))
    result = analyse(RunRecord.open(lab.folder))
    assert {one.verdict for one in result.requirements} == {"pass"}
    assert result.comparisons


def test_a_time_and_a_workload_may_be_named(lab: Laboratory) -> None:
    made = steered(lab, "x2", workload="w", at_s=2.5)
    assert lab.executor.started[0].steered == [(0, Change("scale", 2.0), 2_500_000_000)]
    assert made.steered["at_ns"] == 2_500_000_000


def test_an_unknown_workload_is_refused_with_those_that_run(lab: Laboratory) -> None:
    error = refused(lab, "clients=2", workload="crowd")
    assert error.message == "there is no workload 'crowd' of the load that runs"
    assert "w" in error.hint


def test_what_the_generators_refuse_is_told_with_the_workload(lab: Laboratory) -> None:
    assert refused(lab, "hold").message == "w: it stays as it is anyway"


def test_a_rate_beyond_the_machine_is_refused_with_what_it_can_do(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = refused(lab, "rate=5000000/s")
    assert error.message == (
        "5,000,000/s is beyond this machine: 1 generator thread can send 1,000,000/s at most"
    )
    assert error.hint == "how much it really is: jostle doctor --calibrate"
    load: Any = {"cpu_s_per_request": 10e-6}
    monkeypatch.setattr(
        highest_rate, "stored_floor", lambda _: {"loads": [load, {"cpu_s_per_request": 2e-5}]}
    )
    error = refused(laboratory(lab.base / "calibrated", monkeypatch), "rate=200000/s")
    assert "can send 100,000/s at most" in error.message
    assert error.hint == "that is what its calibration says: jostle doctor"


def test_a_run_that_is_over_is_not_steered(lab: Laboratory) -> None:
    lab.run(lab.plan())
    with pytest.raises(SteerRefused) as error:
        steer(lab.folder, "clients=2")
    assert error.value.message == f"{lab.folder} is over: it can be neither changed nor stopped any more"
    assert error.value.hint == f"what it found: jostle report {lab.folder}"
    assert not (lab.folder / channel.SOCKET).exists()


def test_a_folder_that_is_no_run_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotARun):
        steer(tmp_path, "clients=2")


def test_between_two_trials_there_is_no_load_to_change(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[str] = []

    def between(_: object) -> None:
        if lab.base.exists() and not found:
            with pytest.raises(SteerRefused) as error:
                steer(lab.folder, "clients=2")
            found.append(error.value.message)

    start = lab.contestants["a"].start
    monkeypatch.setattr(lab.contestants["a"], "start", lambda **more: (between(more), start(**more))[1])
    lab.run(lab.plan())
    assert found == ["no load is running now: the run is between two trials"]


def test_a_run_that_goes_on_until_all_is_decided_is_not_steered(lab: Laboratory) -> None:
    plan = lab.plan().model_copy(update={"rounds": "until decided", "budget": 1.0})
    assert "of a changed load nothing is" in refused(lab, "clients=2", plan).message


def test_a_steered_trial_is_not_measured_again(lab: Laboratory) -> None:
    lab.executor.spoiled = {0}
    steered(lab, "clients=50")
    assert not RunRecord.open(lab.folder).repeated


def test_the_socket_is_for_its_user_alone(lab: Laboratory) -> None:
    modes: list[int] = []
    lab.executor.loads = [lambda: modes.append((lab.folder / channel.SOCKET).stat().st_mode)]
    lab.run(lab.plan())
    assert [stat.S_IMODE(mode) for mode in modes] == [0o600]
    assert stat.S_ISSOCK(modes[0])


@pytest.mark.parametrize(
    "line",
    [
        b"no JSON\n",
        b"[]\n",
        b"{}\n",
        b'{"change": "hold", "workload": "", "at_s": -1, "by": "me"}\n',
        b"x" * 100_000,
    ],
)
def test_whatever_comes_in_the_load_goes_on(lab: Laboratory, line: bytes) -> None:
    said: list[bytes] = []

    def say() -> None:
        with socket.socket(socket.AF_UNIX) as connection:
            os.chdir(lab.folder)
            connection.connect(channel.SOCKET)
            with contextlib.suppress(ConnectionError):  # it does not listen to all of what is too long
                connection.sendall(line)
                connection.shutdown(socket.SHUT_WR)
                said.append(connection.makefile("rb").read())
        steer(lab.folder, "clients=2")

    before = Path.cwd()
    try:
        lab.executor.loads = [say]
        lab.run(lab.plan())
    finally:
        os.chdir(before)
    assert all(not response or "no change" in response.decode() for response in said)
    assert len(RunRecord.open(lab.folder).trials[0].steered) == 1


def test_a_long_path_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = laboratory(tmp_path / ("long" * 40), monkeypatch)
    assert steered(lab, "clients=50").steered["what"] == "clients"


def test_the_socket_of_a_killed_run_is_replaced(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as killed:
        before = Path.cwd()
        os.chdir(tmp_path)
        try:
            killed.bind(channel.SOCKET)
        finally:
            os.chdir(before)
    with pytest.raises(channel.NobodyThere):
        channel.request(tmp_path, {})
    with channel.serving(tmp_path, lambda what: {"said": what}):
        assert channel.request(tmp_path, {"a": 1}) == {"said": {"a": 1}}


def test_where_there_are_no_sockets_the_run_goes_on_and_says_so_when_asked(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(_: Path) -> socket.socket:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(channel, "_listener", none)
    assert "nobody is reached through its folder" in refused(lab, "clients=2").message
    assert RunRecord.open(lab.folder).complete


def test_a_run_is_stopped_by_its_folder_as_by_ctrl_c(lab: Laboratory) -> None:
    def twice() -> None:
        stop(lab.folder)
        stop(lab.folder)  # does not hurry it

    lab.executor.loads = [twice]
    with pytest.raises(KeyboardInterrupt):
        lab.run(lab.plan(rounds=3))
    assert lab.executor.started[0].stopped
    record = RunRecord.open(lab.folder)
    (trial,) = record.trials
    assert (trial.status, trial.why) == ("cut short", "stopped by the user")
    assert len(list(trial.intervals)) == 3, "what was measured is recorded"
    assert record.journal[-1]["event"] == "run stopped"
    with pytest.raises(SteerRefused, match="is over: it can be neither changed nor stopped"):
        stop(lab.folder)


def test_a_run_whose_load_must_not_be_changed_may_be_stopped(lab: Laboratory) -> None:
    lab.executor.loads = [lambda: stop(lab.folder)]
    with pytest.raises(KeyboardInterrupt):
        lab.run(lab.plan().model_copy(update={"rounds": "until decided", "budget": 1.0}))


def test_a_run_in_a_thread_of_a_program_is_not_stopped_from_outside(lab: Laboratory) -> None:
    found: list[str] = []

    def attempt() -> None:
        with pytest.raises(SteerRefused) as error:
            stop(lab.folder)
        found.append(error.value.message)

    lab.executor.loads = [attempt]
    thread = threading.Thread(target=lab.run, args=(lab.plan(),))
    thread.start()
    thread.join()
    assert found == ["the program that runs it does not let it be stopped from outside"]
    assert RunRecord.open(lab.folder).complete
