"""Rows of runs of earlier versions: Parquet, read with the extra `rows`."""

import shutil
import sys
from pathlib import Path

import polars
import pytest

from jostle.errors import MissingExtra, NotARun
from jostle.record import RunRecord
from jostle.record.rows_parquet import count_rows, read_file

OLD = Path(__file__).parents[1] / "data/run-format-1"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    shutil.copytree(OLD, tmp_path / "run")
    return tmp_path / "run/trials/001-mine-small/requests-00001.parquet"


def test_rows_are_those_of_the_file(file: Path) -> None:
    frame, rows = polars.read_parquet(file), read_file(file, None)
    assert count_rows(file) == len(rows) == frame.height == 64
    assert rows["end_ns"].tolist() == frame["end_ns"].to_list()
    assert [rows.names["outcome"][number] for number in rows["outcome"]] == frame["outcome"].to_list()
    assert rows.frame()["outcome"].to_list() == frame["outcome"].to_list()
    assert rows.frame().columns == frame.columns


def test_rows_without_end_or_of_another_kind_are_refused(file: Path) -> None:
    trial = RunRecord.open(file.parents[2]).trials[0]
    frame = polars.read_parquet(file)
    bomb = polars.DataFrame({"intended_ns": polars.repeat(7, 21_000_000, dtype=polars.UInt64, eager=True)})
    bomb.write_parquet(file, compression="zstd")
    assert file.stat().st_size < 1_000_000
    with pytest.raises(NotARun, match="it has 21,000,000 rows; the most is 20,000,000"):
        trial.rows(["intended_ns"])
    for column, other in (("end_ns", "text"), ("outcome", 5), ("end_ns", 0.5)):
        frame.with_columns(polars.lit(other).alias(column)).write_parquet(file)
        with pytest.raises(
            NotARun, match=rf"parquet of trial 1 is damaged: it has a column '{column}' of type"
        ):
            trial.rows()
    frame.write_parquet(file)
    frame.drop("bytes").write_parquet(file.with_name("requests-00002.parquet"))
    with pytest.raises(
        NotARun, match=r"requests-00002\.parquet of trial 1 is damaged: it has no column 'bytes'"
    ):
        trial.rows()


def test_without_the_extra_it_is_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(
        MissingExtra, match=r"which an earlier jostle wrote as Parquet, needs the extra 'rows'"
    ) as error:
        RunRecord.open(file.parents[2]).trials[0].rows()
    assert error.value.hint == "pip install 'jostle[rows]'"
