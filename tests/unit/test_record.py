"""The run folder: written as it happens, readable after any interruption."""

import base64
import json
import math
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader
from hypothesis import given, settings
from hypothesis import strategies as st

from jostle.analysis.stats.sample import slots
from jostle.errors import NotARun
from jostle.record import FORMAT, RunRecord, RunWriter, TrialRecord
from jostle.record.interval_line import ThreadEntry
from jostle.record.jsonl import read_objects
from jostle.record.outcomes import Outcome
from support.synthetic import (
    Request,
    Trial,
    as_format_1,
    back_to_back,
    closed,
    intervals,
    lognormal,
    make_run,
    starvation_trials,
)

STEADY = lognormal(0.002, 0.2)


def one_trial(tmp_path: Path, requests: list[Request] | None = None, **more: object) -> TrialRecord:
    requests = requests if requests is not None else closed(STEADY, 5.0, seed=1)
    folder = make_run(tmp_path, [Trial("node", "fast", 1, requests, **more)])  # type: ignore[arg-type]
    return RunRecord.open(folder).trials[0]


def test_what_was_written_is_read(tmp_path: Path) -> None:
    requests = closed(STEADY, 5.0, seed=1)
    trial = one_trial(tmp_path, requests)
    ok = [r for r in requests if r.outcome == "ok"]
    assert (trial.number, trial.contestant, trial.workload, trial.round) == (1, "node", "fast", 1)
    assert (trial.status, trial.why) == ("ended", "")
    assert [interval["last"] for interval in trial.intervals] == [False] * 4 + [True]
    assert trial.histogram("response").total == len(ok)
    slowest = max(r.end - r.intended for r in ok)
    assert slots(trial.histogram("response"))[1][-1] == pytest.approx(slowest * 1e6, rel=2e-3)
    assert len(list(trial.server_usage())) == 21
    assert trial.rows() is None


def test_histograms_are_selected_by_measure_workload_and_time(tmp_path: Path) -> None:
    requests = [Request(t, t, t + 0.1) for t in (0.1, 1.1, 1.3, 4.1)] + back_to_back(2.0, 5.0)
    trial = one_trial(tmp_path, requests, background={"closed": {"clients": 1}})
    assert trial.histogram("response").total == 4
    assert trial.histogram("response", workload=1).total == 2
    assert trial.histogram("response", workload=None).total == 6
    assert trial.histogram("response", start_s=1, end_s=2).total == 2
    assert trial.histogram("censored", workload=1).total == 1
    assert trial.histogram("tls").total == 0
    counts = [h.total if h else None for h in trial.interval_histograms("response")]
    assert counts == [1, 2, None, None, 1]


def test_narrow_histograms_of_one_interval_are_added(tmp_path: Path) -> None:
    """The engine's are as wide as their values, and a phase may end within an interval."""

    def narrow(value_us: int, highest: int) -> dict[str, object]:
        recorded = HdrHistogram(1, highest, 3)
        recorded.record_value(value_us)
        return {"v2": base64.b64decode(recorded.encode()), "count": 1, "max_us": value_us}

    trial = one_trial(tmp_path)
    (interval,) = intervals(Trial("node", "fast", 1, closed(STEADY, 1.0), duration=1.0))
    series = interval["series"][0]
    interval["series"] = [
        {**series, "phase": phase, "histograms": {"response": narrow(value, highest)}}
        for phase, value, highest in ((0, 900, 2047), (1, 900_000, 1_000_000))
    ]
    writer = RunWriter.create(tmp_path, "narrow", "", {})
    written = writer.trial({**trial.description, "number": 1})
    written.write_interval(interval)
    written.finish("ended")
    (merged,) = TrialRecord(written.folder).interval_histograms("response")
    assert merged is not None
    assert merged.total == 2
    assert slots(merged)[1][-1] == pytest.approx(900_000, rel=1e-3)


def test_interval_logs_open_in_hdrhistograms_own_reader(tmp_path: Path) -> None:
    trial = one_trial(tmp_path)
    path = trial.folder / "intervals.hlog"
    reader = HistogramLogReader(str(path), HdrHistogram(1, 3_600_000_000, 3))
    by_tag: dict[str, int] = {}
    while (histogram := reader.get_next_interval_histogram()) is not None:
        tag = histogram.get_tag()
        by_tag[tag] = by_tag.get(tag, 0) + histogram.get_total_count()
    assert reader.get_start_time_sec() == pytest.approx(trial.description["started_unix_ns"] / 1e9, abs=1e-3)
    assert by_tag["0.0.0.response"] == trial.histogram("response").total
    assert by_tag["generator.loop_lag"] == 5
    head = path.read_text().splitlines()[:5]
    assert head[0].startswith("#[Logged with jostle 0.1.0")
    assert head[1] == "#[Histogram log format version 1.3]"
    assert head[2].startswith("#[StartTime: 1795287164.000 (seconds since epoch), 2026-11-2")
    assert head[4] == '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"'


SECONDS = [(second * 10**9 + 1, (second + 1) * 10**9) for second in range(5)]


def test_rows_stand_by_name_in_closed_files_of_a_second_or_more(tmp_path: Path) -> None:
    requests = closed(STEADY, 5.0, seed=1)
    trial = one_trial(tmp_path, requests, rows=True, interval=0.25)
    rows = trial.rows()
    assert rows is not None
    assert len(list(trial.folder.glob("requests-*.npz"))) == 5
    assert len(rows) == len(requests)
    assert rows.are("request", "GET /fast/44").all()
    assert rows.are("workload", "fast").all()
    assert [rows.names["outcome"][number] for number in rows["outcome"]] == [r.outcome for r in requests]
    assert rows["end_ns"].tolist() == [round(r.end * 1e9) for r in requests]


def test_rows_of_the_middle_are_read_without_the_rest(tmp_path: Path) -> None:
    trial = one_trial(tmp_path, closed(STEADY, 5.0, seed=1), rows=True)
    every = trial.rows()
    assert every is not None
    ends = every["end_ns"]
    by_second = [ends[(low <= ends) & (ends <= high)].tolist() for low, high in SECONDS]
    lengths = list(map(len, by_second))
    for at_most, kept in (
        (len(every), slice(0, 5)),
        (len(every) - 1, slice(1, 5)),
        (sum(lengths[1:4]), slice(1, 4)),
        (1, slice(2, 3)),
    ):
        middle = trial.rows(["end_ns", "outcome"], at_most=at_most)
        assert middle is not None
        assert set(middle.columns) == {"end_ns", "outcome"}
        assert middle["end_ns"].tolist() == [end for ends in by_second[kept] for end in ends]


def test_outcomes_of_rows_are_the_engines_in_its_order() -> None:
    source = (Path(__file__).parents[2] / "crates/engine/src/outcome.rs").read_text()
    names = source.split("OUTCOME_NAMES: [&str; OUTCOMES] = [")[1].split("]")[0]
    engines = [n.strip().strip('"') for n in names.split(",") if n.strip()]
    assert engines == list(Outcome)[: len(engines)]


def test_no_run_is_written_over_another(tmp_path: Path) -> None:
    host = {"jostle": "0.1.0"}
    first, second = (RunWriter.create(tmp_path, "same", "", host) for _ in range(2))
    assert first.folder != second.folder


def test_names_are_made_fit_for_folders(tmp_path: Path) -> None:
    writer = RunWriter.create(tmp_path, "../up and/away", "", {"jostle": "0.1.0"})
    assert writer.folder.parent == tmp_path
    trial = writer.trial(
        {"number": 3, "contestant": "http://127.0.0.1:8080/../x", "workload": "…", "round": 1, "engine": None}
    )
    trial.finish("failed", "could not be started", "its last words")
    assert trial.folder.name == "003-http-127.0.0.1-8080-..-x-unnamed"
    (read,) = RunRecord.open(writer.folder).trials
    assert (read.status, read.why, read.server_output_tail) == (
        "failed",
        "could not be started",
        "its last words",
    )
    assert list(read.intervals) == []
    assert read.histogram("response").total == 0


def test_journal_tells_a_whole_run_from_one_cut_short(tmp_path: Path) -> None:
    trials = starvation_trials(1)[:2]
    whole = RunRecord.open(make_run(tmp_path, trials))
    assert whole.complete
    assert whole.incomplete_why == ""
    assert [e["event"] for e in whole.journal][:3] == ["run started", "trial planned", "trial planned"]
    cut = RunRecord.open(make_run(tmp_path, [trials[0], Trial("go", "w", 1, [], status=None)], ended=False))
    assert not cut.complete
    assert cut.incomplete_why.startswith("1 of 2 trials are complete")
    assert "killed" in cut.incomplete_why
    assert [t.status for t in cut.trials] == ["ended", "cut short"]


def test_a_run_stopped_by_its_user_says_so(tmp_path: Path) -> None:
    writer = RunWriter.create(tmp_path, "x", "", {"jostle": "0.1.0"})
    writer.journal("trial planned", number=1, contestant="a", workload="w", round=1)
    writer.journal("run stopped", why="stopped by the user")
    assert RunRecord.open(writer.folder).incomplete_why == "0 of 1 trials are complete; stopped by the user"


@given(st.integers(min_value=0, max_value=10_000))
@settings(max_examples=60)
def test_files_torn_at_any_byte_can_be_read(tmp_path_factory: pytest.TempPathFactory, where: int) -> None:
    trial = one_trial(tmp_path_factory.mktemp("torn"), closed(STEADY, 2.0, seed=2), duration=2.0)
    answered = trial.histogram("response").total
    (trial.folder / "outcome.json").unlink()
    for name in ("intervals.hlog", "intervals.ndjson", "server.ndjson"):
        path = trial.folder / name
        content = path.read_bytes()
        path.write_bytes(content[: where * len(content) // 10_000])
    torn = TrialRecord(trial.folder)
    assert torn.status == "cut short"
    assert len(list(torn.intervals)) <= 2
    assert torn.histogram("response").total <= answered
    assert len(list(torn.interval_histograms("response"))) == len(list(torn.intervals))
    assert len(list(torn.server_usage())) <= 9


def test_wherever_a_file_is_cut_histograms_agree_with_the_intervals_that_are_read(tmp_path: Path) -> None:
    """Every byte of every file, without an outcome: as `kill -9` or a full disk may leave a trial."""
    trial = one_trial(tmp_path, closed(lognormal(0.3, 0.2), 1.0, seed=2), duration=1.0, interval=0.5)
    (trial.folder / "outcome.json").unlink()
    wholes = {name: (trial.folder / name).read_bytes() for name in ("intervals.ndjson", "intervals.hlog")}
    every = [dict(interval) for interval in trial.intervals]
    for name, content in wholes.items():
        lengths = set()
        for end in range(len(content)):
            (trial.folder / name).write_bytes(content[:end])
            torn = TrialRecord(trial.folder)
            read = [dict(interval) for interval in torn.intervals]
            assert read == every[: len(read)]
            counted = sum(s["outcomes"].get("ok", 0) for i in read for s in i["series"])
            assert torn.histogram("response").total == counted
            lengths.add(len(read))
        assert lengths == {0, 1}
        (trial.folder / name).write_bytes(content)


def test_an_interval_counts_only_when_it_is_there_whole(tmp_path: Path) -> None:
    trial = one_trial(tmp_path)
    (trial.folder / "outcome.json").unlink()
    path = trial.folder / "intervals.ndjson"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:3]) + lines[3][:40])
    cut = TrialRecord(trial.folder)
    assert len(list(cut.intervals)) == 3
    expected = sum(sum(s["outcomes"].get("ok", 0) for s in i["series"]) for i in cut.intervals)
    assert cut.histogram("response").total == expected


def test_damage_in_the_middle_is_told_and_not_passed_over(tmp_path: Path) -> None:
    trial = one_trial(tmp_path)
    as_format_1(trial.folder.parents[1])
    path = trial.folder / "intervals.hlog"
    text = path.read_text()
    line = next(line for line in text.splitlines() if ".response," in line)
    path.write_text(text.replace(line, line[:-40]))
    with pytest.raises(NotARun, match="response histogram of the interval at 0 s is damaged"):
        TrialRecord(trial.folder).histogram("response")


def test_kill_9_loses_nothing_that_was_handed_over(tmp_path: Path) -> None:
    """The writer is killed right after its third interval; all three can be read, with the journal."""
    script = textwrap.dedent("""
        import os, signal, sys
        from pathlib import Path
        from support.synthetic import Trial, closed, engine_spec, intervals, lognormal
        from jostle.record import RunWriter
        made = Trial("node", "fast", 1, closed(lognormal(0.002, 0.2), 5.0, seed=1))
        run = RunWriter.create(Path(sys.argv[1]), "killed", "", {"jostle": "0.1.0"})
        run.journal("trial started", number=1)
        trial = run.trial({"number": 1, "contestant": "node", "workload": "fast", "round": 1,
                           "started_unix_ns": 0, "engine": engine_spec(made)})
        for interval, _ in zip(intervals(made), range(3)):
            trial.write_interval(interval)
        os.kill(os.getpid(), signal.SIGKILL)
    """)
    paths = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "python")]
    killed = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
    assert killed.returncode == -signal.SIGKILL
    record = RunRecord.open(next(tmp_path.iterdir()))
    assert [e["event"] for e in record.journal] == ["trial started"]
    (trial,) = record.trials
    assert trial.status == "cut short"
    assert len(list(trial.intervals)) == 3
    assert trial.histogram("response").total > 1000


def test_a_line_of_another_form_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.ndjson"
    path.write_text('{"cpu_ns": 1, "wall_ns": 2}\n[2]\n')
    objects = read_objects(path, ThreadEntry)
    assert next(objects) == {"cpu_ns": 1, "wall_ns": 2}
    with pytest.raises(NotARun, match=r"x\.ndjson is damaged: line 2, input should be an object"):
        next(objects)


def test_what_is_no_run_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(NotARun, match="there is no folder"):
        RunRecord.open(tmp_path / "absent")
    file = tmp_path / "file"
    file.write_text("x")
    for path in (file, tmp_path):
        with pytest.raises(NotARun, match=r"has no journal\.ndjson"):
            RunRecord.open(path)


def test_the_folder_of_all_runs_offers_the_newest(tmp_path: Path) -> None:
    folder = make_run(tmp_path, [])
    with pytest.raises(NotARun) as caught:
        RunRecord.open(tmp_path)
    assert caught.value.hint == f"it holds 1 runs, the newest is {str(folder)!r}"


def test_another_format_is_refused_by_name(tmp_path: Path) -> None:
    folder = make_run(tmp_path, [])
    host = json.loads((folder / "host.json").read_text())
    (folder / "host.json").write_text(json.dumps({**host, "format": FORMAT + 1, "jostle": "9.0"}))
    with pytest.raises(NotARun) as caught:
        RunRecord.open(folder)
    assert f"format {FORMAT + 1}; this jostle reads 1 to {FORMAT}" in caught.value.message
    assert "9.0" in caught.value.hint
    (folder / "host.json").write_text("{")
    with pytest.raises(NotARun, match=r"host\.json is damaged: invalid JSON"):
        RunRecord.open(folder)
    (folder / "host.json").unlink()
    with pytest.raises(NotARun, match=r"host\.json is missing"):
        RunRecord.open(folder)


def test_a_trial_without_its_description_is_left_out_and_named(tmp_path: Path) -> None:
    folder = make_run(tmp_path, starvation_trials(1)[:2])
    first = RunRecord.open(folder).trials[0].folder
    (first / "trial.json").write_text('{"number": 1')
    record = RunRecord.open(folder)
    assert [t.number for t in record.trials] == [2]
    assert not record.complete
    assert "trial.json of trial 1 is damaged: invalid JSON" in record.incomplete_why
    assert "no readable record of trial 1 (1 of 2 planned)" in record.incomplete_why
    (first / "trial.json").unlink()
    assert "no readable record of trial 1" in RunRecord.open(folder).incomplete_why
    with pytest.raises(NotARun, match="is not a trial"):
        _ = TrialRecord(first).description


def test_importing_the_record_does_not_pay_for_frames() -> None:
    heavy = "print([m for m in ('numpy', 'polars', 'jostle.histogram') if m in __import__('sys').modules])"
    code = f"import jostle.record\n{heavy}"
    path = str(Path(__file__).parents[2] / "python")
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}
    )
    assert said.stdout == "[]\n"


def test_times_of_intervals_survive_to_the_nanosecond(tmp_path: Path) -> None:
    """An interval is known by its start: odd nanoseconds in a long run must not lose it."""
    writer = RunWriter.create(tmp_path, "odd", "", {"jostle": "0.1.0"})
    trial = writer.trial({"number": 1, "contestant": "a", "workload": "w", "round": 1, "started_unix_ns": 1})
    from support.synthetic import histogram

    series = {"workload": 0, "request": 0, "phase": 0, "outcomes": {"ok": 1}}
    start = 0
    for index, length in enumerate((1_500, 999_999_999, 86_400_000_000_123, 777)):
        trial.write_interval(
            {
                "index": index,
                "start_ns": start,
                "end_ns": start + length,
                "last": False,
                "loop_lag": None,
                "series": [{**series, "histograms": {"response": histogram([0.001])}}],
                "workloads": [],
                "threads": [],
                "rows": None,
            }
        )
        start += length
    read = TrialRecord(trial.folder)
    assert all(h is not None for h in read.interval_histograms("response"))
    assert read.histogram("response", end_s=math.inf).total == 4
