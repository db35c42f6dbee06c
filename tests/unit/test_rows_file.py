"""Files of rows: what is written is read, numpy opens it, and no file harms its reader."""

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from jostle.errors import NotARun
from jostle.record.outcomes import Outcome
from jostle.record.row_columns import COLUMNS, Rows, joined
from jostle.record.rows_file import MAX_ROWS, content, count_rows, read_file

NAMES = {"workload": ["w"], "request": ["GET /", "GET /né"], "outcome": list(map(str, Outcome))}


def rows(n: int = 5) -> Rows:
    numbers = {"workload": 0, "request": np.arange(n) % 2, "outcome": np.arange(n) % 3}
    return Rows(
        {name: np.zeros(n, kind) + numbers.get(name, np.arange(n) * 7) for name, kind in COLUMNS.items()},
        NAMES,
    )


def with_array(path: Path, name: str, array: np.ndarray) -> None:
    """The file with another array of this name."""
    packed = io.BytesIO()
    arrays = {**np.load(io.BytesIO(content(rows()))), name: array}
    np.savez_compressed(packed, **arrays)
    path.write_bytes(packed.getvalue())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "requests-00001.npz"
    path.write_bytes(content(rows()))
    return path


def test_what_is_written_is_read(path: Path) -> None:
    found = read_file(path, None)
    assert count_rows(path) == len(found) == 5
    assert found.names == NAMES
    for name in COLUMNS:
        assert found[name].tolist() == rows()[name].tolist()
    assert set(read_file(path, ["end_ns", "outcome"]).columns) == {"end_ns", "outcome"}
    assert content(found) == path.read_bytes()


def test_numpy_opens_it(path: Path) -> None:
    found = np.load(path)
    assert found["request_names"][found["request"]].tolist() == [
        "GET /",
        "GET /né",
        "GET /",
        "GET /né",
        "GET /",
    ]
    assert found["end_ns"].dtype == np.uint64


def test_a_frame_has_names_in_place_of_numbers(path: Path) -> None:
    frame = read_file(path, ["request", "end_ns"]).frame()
    assert frame["request"].to_list() == ["GET /", "GET /né", "GET /", "GET /né", "GET /"]
    assert frame["end_ns"].to_list() == [0, 7, 14, 21, 28]


def test_parts_may_number_names_by_themselves() -> None:
    ours, theirs = rows(2), rows(2)
    theirs = Rows(theirs.columns, {**NAMES, "request": ["GET /né", "PUT /"]})
    both = joined([ours, theirs])
    assert [both.names["request"][number] for number in both["request"]] == [
        "GET /",
        "GET /né",
        "GET /né",
        "PUT /",
    ]
    assert both.are("request", "PUT /").tolist() == [False, False, False, True]
    assert not both.are("request", "unknown").any()


@pytest.mark.parametrize(
    ("name", "array", "why"),
    [
        ("end_ns", np.zeros(5), "'end_ns' of type float64"),
        ("end_ns", np.zeros((5, 1), np.uint64), "'end_ns' is not as long as it says"),
        ("end_ns", np.zeros(4, np.uint64), "its columns have different lengths"),
        ("end_ns", np.zeros(MAX_ROWS + 1000, np.uint64), "has 160,008,128 bytes; the most is 160,000,000"),
        ("outcome", np.full(5, 200, np.uint8), "'outcome' has a number without a name"),
        ("outcome_names", np.arange(5), "'outcome_names' of type int64"),
        ("outcome_names", np.array([{}], dtype=object), "'outcome_names' of type object"),
    ],
)
def test_a_file_without_end_or_of_another_kind_is_refused(
    path: Path, name: str, array: np.ndarray, why: str
) -> None:
    with_array(path, name, array)
    assert path.stat().st_size < 1_000_000
    with pytest.raises(NotARun, match=rf"requests-00001.npz is damaged: .*{why}"):
        read_file(path, None)


def test_what_is_missing_or_no_archive_is_refused(path: Path) -> None:
    whole = path.read_bytes()
    for damaged in (b"", b"PK", whole[:100], whole[:-30], whole[:200] + b"\xff" * 50 + whole[250:]):
        path.write_bytes(damaged)
        with pytest.raises(NotARun, match=r"requests-00001\.npz is damaged"):
            read_file(path, None)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("end_ns.npy", b"no array")
    with pytest.raises(NotARun, match=r"requests-00001\.npz is damaged"):
        read_file(path, ["end_ns"])
    with pytest.raises(NotARun, match=r"requests-00001\.npz is damaged: .*'sent_ns\.npy'"):
        read_file(path, ["sent_ns"])
