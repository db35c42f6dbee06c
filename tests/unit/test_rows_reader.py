"""Rows are read in a process of its own: what ends it damages one file, and nothing else."""

import os
import signal
from pathlib import Path

import polars
import pytest

from jostle.errors import NotARun
from jostle.record import rows_reader
from jostle.record.rows_reader import count_rows, read_file

CORPUS = Path(__file__).parents[1] / "corpus/rows"
ENDLESS, SOUND = CORPUS / "endless-page", CORPUS / "small"


def worker() -> int:
    assert rows_reader._worker is not None
    return rows_reader._worker._process.pid


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
    with pytest.raises(NotARun, match="rows is damaged"):
        read_file(CORPUS, None)
    count_rows(SOUND)
    assert worker() == first


def test_a_process_that_was_killed_meanwhile_is_replaced() -> None:
    count_rows(SOUND)
    assert rows_reader._worker is not None
    os.kill(worker(), signal.SIGKILL)
    rows_reader._worker._process.wait()
    assert count_rows(SOUND) > 0


def test_who_was_interrupted_does_not_get_the_answer_to_the_question_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    count_rows(SOUND)
    first = worker()

    def interrupted() -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        # After the question was sent, and before its answer was read.
        patch.setattr(rows_reader._worker._process.stdout, "readline", interrupted, raising=False)
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
            rows_reader._end()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert count_rows(SOUND) > 0
    assert worker() == parent
