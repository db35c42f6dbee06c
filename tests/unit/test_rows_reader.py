"""Rows are read in a process of its own: what ends it damages one file, and nothing else."""

import os
import signal
from pathlib import Path
from typing import NoReturn

import polars
import pytest

from jostle.errors import NotARun
from jostle.host.procfs import descendants, start_time
from jostle.record import rows_reader
from jostle.record.rows_reader import count_rows, read_file

CORPUS = Path(__file__).parents[1] / "corpus/parquet"
ENDLESS, SOUND = CORPUS / "endless-page", CORPUS / "small"


def worker() -> int:
    """The process that reads for this one: the last that it started."""
    started = {pid: start_time(pid) or 0 for pid in descendants(os.getpid()) if reads_rows(pid)}
    return max(started, key=lambda pid: (started[pid], pid))


def reads_rows(pid: int) -> bool:
    try:
        return "jostle.record.rows_worker" in Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:  # it has ended
        return False


def test_rows_are_those_of_the_file() -> None:
    rows = polars.read_parquet(SOUND)
    assert count_rows(SOUND) == rows.height
    assert read_file(SOUND, None).equals(rows)
    assert read_file(SOUND, ["end_ns", "outcome"]).equals(rows.select("end_ns", "outcome"))


def test_a_page_that_asks_for_all_memory_damages_its_file_only() -> None:
    with pytest.raises(NotARun, match=r"SIGABRT: memory allocation of 2305843009213693952 bytes failed$"):
        read_file(ENDLESS, None)
    assert read_file(SOUND, None).height == count_rows(SOUND)


def test_one_process_reads_all_files() -> None:
    count_rows(SOUND)
    first = worker()
    with pytest.raises(NotARun, match="parquet is damaged"):
        read_file(CORPUS, None)
    count_rows(SOUND)
    assert worker() == first


def test_a_process_that_was_killed_meanwhile_is_replaced() -> None:
    count_rows(SOUND)
    killed = worker()
    os.kill(killed, signal.SIGKILL)
    os.waitid(os.P_PID, killed, os.WEXITED | os.WNOWAIT)  # with all of its threads
    assert count_rows(SOUND) > 0
    assert worker() != killed


def test_who_was_interrupted_does_not_get_the_response_to_the_question_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    count_rows(SOUND)
    first = worker()

    def interrupted(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        # After the question was sent, and before its response is whole.
        patch.setattr(rows_reader.json, "loads", interrupted)
        with pytest.raises(KeyboardInterrupt):
            read_file(SOUND, None)
    assert count_rows(SOUND) == polars.read_parquet(SOUND).height
    assert worker() != first


def test_a_forked_process_asks_its_own() -> None:
    count_rows(SOUND)
    parent = worker()
    child = os.fork()
    if child == 0:
        # pytest must not go on in here, whatever happens.
        code = 1
        try:
            code = 0 if count_rows(SOUND) > 0 and worker() != parent else 2
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert count_rows(SOUND) > 0
    assert worker() == parent
