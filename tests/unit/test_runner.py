"""A run without servers: its schedule, its journal, its failures, how it stops and how it goes on."""

import errno
import io
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jostle.analysis.run import analyse
from jostle.cli.display import Display
from jostle.cli.progress import RunProgress
from jostle.errors import (
    BuildFailed,
    CannotServe,
    ExecutorLost,
    GeneratorsLost,
    RecordLost,
    StartRefused,
    UnreachableTarget,
    UserError,
)
from jostle.plan import parse_plan, to_toml
from jostle.record import RunRecord
from jostle.record import writer as writer_module
from jostle.runner import disk_space, experiment
from jostle.runner.experiment import resume_experiment
from jostle.runner.observer import IntervalRecorded, RunEvent, RunFolder, TrialEnded, together
from jostle.runner.resume import unfinished
from support.fakes import Laboratory, laboratory


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Laboratory:
    return laboratory(tmp_path / "runs", monkeypatch)


def events(lab: Laboratory) -> list[str]:
    return [entry["event"] for entry in RunRecord.open(lab.folder).journal]


def statuses(lab: Laboratory) -> list[tuple[str, str]]:
    return [(trial.status, trial.why) for trial in RunRecord.open(lab.folder).trials]


def raising(error: BaseException) -> Callable[[], None]:
    def happen() -> None:
        raise error

    return happen


def test_every_round_measures_every_contestant_once_and_the_journal_says_so(lab: Laboratory) -> None:
    seen: list[RunEvent] = []
    lab.observer = seen.append
    assert lab.run(lab.plan(rounds=3)) == lab.folder
    record = RunRecord.open(lab.folder)
    assert record.complete
    assert len(record.trials) == 6
    for number in (1, 2, 3):
        assert sorted(t.contestant for t in record.trials if t.round == number) == ["a", "b"]
    one = ["trial started", "trial ended"]
    assert events(lab) == ["run started", *["trial planned"] * 6, *one * 6, "run ended"]
    ended = [(event.planned.number, event.status) for event in seen if isinstance(event, TrialEnded)]
    assert ended == [(number, "ended") for number in range(1, 7)]
    assert [running.pulled for running in lab.executor.started] == [True] * 6
    assert not any(contestant.running for contestant in lab.contestants.values())


def test_who_cannot_serve_a_workload_is_skipped_in_it_and_the_result_says_so(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check_fit(contestant: Any, name: str, **_: Any) -> None:
        if (contestant.label, name) == ("b", "streams"):
            raise CannotServe("b speaks HTTP/1.1", "these do: a")

    monkeypatch.setattr("jostle.runner.participants.check_fit", check_fit)
    streams = """
    [workload.streams]
    request = { get = "/" }
    load = { clients = 1, for = "1s" }
    """
    plan = parse_plan(to_toml(lab.plan(rounds=1)) + streams, "plan.toml")
    lab.run(plan)
    record = RunRecord.open(lab.folder)
    (skipped,) = (e for e in record.journal if e["event"] == "contestant skipped")
    assert (skipped["contestant"], skipped["workload"], skipped["why"]) == (
        "b",
        "streams",
        "b speaks HTTP/1.1",
    )
    measured = {(entry["contestant"], entry["workload"]) for entry in record.planned}
    assert ("a", "streams") in measured
    assert any(contestant == "b" for contestant, _ in measured)
    assert ("b", "streams") not in measured
    assert [*analyse(record).not_measured()] == [("b in streams", "b speaks HTTP/1.1")]


def test_contestants_meet_the_same_arrivals_in_a_round_and_others_in_the_next(lab: Laboratory) -> None:
    lab.run(lab.plan(rounds=2))
    seeds = [spec["seed"] for spec in lab.executor.specs]
    assert seeds[0] == seeds[1] != seeds[2] == seeds[3]


def test_a_server_that_does_not_start_in_a_later_round_costs_that_trial(lab: Laboratory) -> None:
    lab.contestants["a"].fails_at = (3,)
    lab.run(lab.plan(rounds=3))
    found = {t.round: t for t in RunRecord.open(lab.folder).trials if t.contestant == "a"}
    assert [found[number].status for number in (1, 2, 3)] == ["ended", "ended", "failed"]
    assert found[3].why == "a did not start\nits last output"
    assert found[3].server["title"] == "a, a fake"
    assert events(lab)[-1] == "run ended"
    assert events(lab).count("trial failed") == 1


def test_generators_lost_in_the_warm_up_cost_that_trial(lab: Laboratory) -> None:
    lab.executor.loads = [raising(GeneratorsLost("all generators have died", "send less"))]
    lab.run(lab.plan(warm_up="1s"))
    assert statuses(lab) == [("failed", "all generators have died\nsend less"), ("ended", "")]
    assert events(lab)[-1] == "run ended"


def test_generators_lost_in_the_load_cost_that_trial_and_keep_what_was_measured(lab: Laboratory) -> None:
    lab.executor.loads = [raising(GeneratorsLost("all generators have died"))]
    lab.run(lab.plan())
    assert statuses(lab) == [("failed", "all generators have died"), ("ended", "")]
    assert len(list(RunRecord.open(lab.folder).trials[0].intervals)) == 1


def test_a_load_that_is_refused_at_first_is_the_users_mistake(lab: Laboratory) -> None:
    lab.executor.loads = [StartRefused("too many connections", "use fewer")]
    with pytest.raises(StartRefused, match="too many connections"):
        lab.run(lab.plan())
    assert events(lab)[-1] == "run stopped"
    assert RunRecord.open(lab.folder).incomplete_why.endswith("too many connections")


def test_a_load_that_is_refused_later_costs_that_trial(lab: Laboratory) -> None:
    lab.executor.loads = [lambda: None, StartRefused("no ports are left")]
    lab.run(lab.plan(rounds=2))
    assert [status for status, _ in statuses(lab)] == ["ended", "failed", "ended", "ended"]
    assert statuses(lab)[1][1] == "no ports are left"
    assert events(lab)[-1] == "run ended"


def test_a_load_that_is_refused_after_a_resume_costs_that_trial(lab: Laboratory) -> None:
    lab.executor.loads = [lambda: None, lambda: signal.raise_signal(signal.SIGINT)]
    with pytest.raises(KeyboardInterrupt):
        lab.run(lab.plan(rounds=2))
    lab.executor.loads.append(StartRefused("no ports are left"))
    left = unfinished(lab.folder)
    assert left is not None
    resume_experiment(left, lab.executor, lab.observer)
    assert [status for status, _ in statuses(lab)] == ["ended", "failed", "ended", "ended"]
    assert events(lab)[-1] == "run ended"


def test_a_server_of_ones_own_that_is_gone_later_costs_that_trial(lab: Laboratory) -> None:
    lab.contestants["a"].fails_with = UnreachableTarget
    lab.contestants["a"].fails_at = (2,)
    lab.run(lab.plan(rounds=3))
    found = {t.round: t for t in RunRecord.open(lab.folder).trials if t.contestant == "a"}
    assert [found[number].status for number in (1, 2, 3)] == ["ended", "failed", "ended"]
    assert found[2].why == "a did not start\nits last output"
    assert events(lab)[-1] == "run ended"


def test_a_server_of_ones_own_that_is_not_there_at_first_ends_the_run(lab: Laboratory) -> None:
    for label in ("a", "b"):
        lab.contestants[label].fails_with, lab.contestants[label].fails_at = UnreachableTarget, (1,)
    with pytest.raises(UnreachableTarget):
        lab.run(lab.plan(rounds=2))
    assert [status for status, _ in statuses(lab)] == ["failed"]
    assert events(lab)[-1] == "run stopped"


def test_a_server_that_dies_in_the_load_costs_that_trial(lab: Laboratory) -> None:
    def die() -> None:
        for contestant in lab.contestants.values():
            for server in contestant.running:
                server.dead = True

    lab.executor.loads = [die]
    lab.run(lab.plan())
    (first, why), second = statuses(lab)
    assert (first, second) == ("failed", ("ended", ""))
    assert "ended in the middle of the trial" in why
    trial = RunRecord.open(lab.folder).trials[0]
    assert trial.server_output_tail == "out of luck"
    assert lab.executor.started[0].stopped


def test_a_server_that_dies_with_the_last_interval_is_named_all_the_same(lab: Laboratory) -> None:
    def die(event: RunEvent) -> None:
        if isinstance(event, IntervalRecorded) and event.interval["last"]:
            for server in lab.contestants["a"].running:
                server.dead = True

    lab.observer = die
    lab.run(lab.plan())
    ended = {trial.contestant: trial.status for trial in RunRecord.open(lab.folder).trials}
    assert ended == {"a": "failed", "b": "ended"}


def test_a_peer_that_cannot_be_built_fails_the_trials_that_need_it(lab: Laboratory) -> None:
    peer = lab.contestants["peer"]
    peer.build_fails, peer.fails_at = BuildFailed("the peer does not compile"), (1, 2)
    more = '[contestant.peer]\nurl = "http://127.0.0.1:3"'
    lab.run(lab.plan(more=more, workload='peer = "peer"', path="/pair/1/2?where=remote&peer={peer}"))
    assert [status for status, _ in statuses(lab)] == ["failed", "failed"]
    assert events(lab)[-1] == "run ended"


def test_a_lost_executor_ends_the_run_and_keeps_what_was_measured(lab: Laboratory) -> None:
    lab.executor.loads = [raising(ExecutorLost("the head is gone"))]
    with pytest.raises(ExecutorLost):
        lab.run(lab.plan())
    assert statuses(lab) == [("cut short", "the head is gone")]
    last = RunRecord.open(lab.folder).journal[-1]
    assert (last["event"], last["why"]) == ("run stopped", "the head is gone")


@pytest.mark.parametrize("number", [signal.SIGINT])
def test_ctrl_c_ends_the_trial_whole_and_the_run(lab: Laboratory, number: signal.Signals) -> None:
    lab.executor.loads = [lambda: None, lambda: signal.raise_signal(number)]
    with pytest.raises(KeyboardInterrupt):
        lab.run(lab.plan(rounds=2))
    assert statuses(lab) == [("ended", ""), ("cut short", "stopped by the user")]
    assert len(list(RunRecord.open(lab.folder).trials[1].intervals)) == 3
    assert RunRecord.open(lab.folder).incomplete_why == "1 of 4 trials are complete; stopped by the user"
    assert not any(contestant.running for contestant in lab.contestants.values())


def test_a_run_goes_on_where_it_was_stopped(lab: Laboratory) -> None:
    lab.executor.loads = [lambda: None, lambda: signal.raise_signal(signal.SIGINT)]
    with pytest.raises(KeyboardInterrupt):
        lab.run(lab.plan(rounds=2))
    before = [(t.number, t.contestant) for t in RunRecord.open(lab.folder).trials]
    left = unfinished(lab.folder)
    assert left is not None
    assert left.base == Path.cwd()
    assert [planned.number for planned in left.left] == [2, 3, 4]
    assert resume_experiment(left, lab.executor, lab.observer) == lab.folder
    record = RunRecord.open(lab.folder)
    assert record.complete
    assert [(t.number, t.contestant) for t in record.trials][:2] == before
    assert [t.status for t in record.trials] == ["ended"] * 4
    assert (lab.folder / "cut-short").is_dir()
    assert unfinished(lab.folder) is None


def test_no_file_of_a_run_names_the_folder_that_it_was_made_in(
    lab: Laboratory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs are published; who made them need not tell how their folders are called."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(lab, "base", Path("runs"))
    lab.run(lab.plan())
    files = [path for path in lab.folder.rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if str(tmp_path).encode() in path.read_bytes()] == []


def test_our_own_bug_ends_the_run_and_its_journal_names_it(lab: Laboratory) -> None:
    lab.executor.loads = [raising(ZeroDivisionError("division by zero"))]
    with pytest.raises(ZeroDivisionError):
        lab.run(lab.plan())
    assert RunRecord.open(lab.folder).journal[-1]["why"] == "ZeroDivisionError: division by zero"
    assert not any(contestant.running for contestant in lab.contestants.values())


def test_an_observer_that_cannot_show_anything_ends_no_run(lab: Laboratory) -> None:
    class Closed(io.StringIO):
        writes = 0

        def write(self, _: str) -> int:
            self.writes += 1
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    stream, folder = Closed(), RunFolder()
    lab.observer = together(folder, RunProgress(Display(stream), verbose=True))
    lab.run(lab.plan())
    assert statuses(lab) == [("ended", "")] * 2
    assert folder.path == lab.folder
    assert stream.writes == 1


def full_disk(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_in_a_trial_stops_the_load_and_says_how_to_go_on(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill() -> None:
        monkeypatch.setattr(writer_module, "append_line", full_disk)

    lab.executor.loads = [lambda: None, fill]
    with pytest.raises(RecordLost) as caught:
        lab.run(lab.plan(rounds=2))
    assert caught.value.message == f"the disk of {lab.folder} is full"
    assert f"jostle run --resume {lab.folder}" in caught.value.hint
    assert lab.executor.started[-1].stopped
    assert not any(contestant.running for contestant in lab.contestants.values())
    assert [status for status, _ in statuses(lab)] == ["ended", "cut short"]
    monkeypatch.undo()
    assert RunRecord.open(lab.folder).incomplete_why.startswith("1 of 4 trials are complete")


def test_a_folder_that_vanishes_in_a_trial_ends_the_run_with_one_message(lab: Laboratory) -> None:
    lab.executor.loads = [lambda: shutil.rmtree(lab.folder)]
    with pytest.raises(RecordLost, match=r"is gone: nothing more can be recorded"):
        lab.run(lab.plan())
    assert lab.executor.started[-1].pulled
    assert not any(contestant.running for contestant in lab.contestants.values())


def test_a_run_does_not_begin_where_its_record_has_no_room(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """4 trials of 30 intervals: 76 kB at least."""
    room = os.statvfs_result((4096, 4096, 1000, 18, 18, 0, 0, 0, 0, 255))
    monkeypatch.setattr(disk_space.os, "statvfs", lambda _: room)
    with pytest.raises(UserError, match=r"takes at least 76\.0 kB, and 73\.7 kB are free"):
        lab.run(lab.plan(rounds=2))
    assert not lab.base.exists()
    lab.run(lab.plan(rounds=1))


def test_a_name_that_is_too_long_has_the_room_of_the_folder_above(tmp_path: Path) -> None:
    assert disk_space.free_bytes(tmp_path / ("x" * 300)) is not None


def test_a_file_has_no_room(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for base in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(UserError, match="file is not a folder"):
            disk_space.free_bytes(base)


def test_a_folder_that_may_not_be_written_is_refused_before_anything_is_built(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_space.os, "access", lambda *_: False)  # root may write everywhere
    monkeypatch.setattr(experiment, "_built", lambda *_: pytest.fail("built"))
    with pytest.raises(UserError, match=f"you may not write in {lab.base.parent}\n"):
        lab.run(lab.plan(rounds=1))


def test_a_folder_that_cannot_be_filled_at_the_start_does_not_stay(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "write_json", full_disk)
    with pytest.raises(UserError, match="no space left on device") as caught:
        lab.run(lab.plan())
    assert "--into" in caught.value.hint
    assert list(lab.base.iterdir()) == []


def test_a_warm_up_by_few_clients_sends_no_overload(lab: Laboratory) -> None:
    plan = lab.plan(warm_up="1s")
    (name,) = plan.workload
    measured = plan.workload[name].model_copy(update={"warm_up_clients": 2})
    lab.run(plan.model_copy(update={"workload": {name: measured}}))
    loads = [spec["workloads"][0]["load"]["closed"]["clients"] for spec in lab.executor.specs]
    assert loads == [2, 1, 2, 1]
