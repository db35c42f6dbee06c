"""Feeds as people have them: each value is sent as the file has it, or one sentence says what is wrong."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jostle.errors import BadValue, PlanError
from jostle.plan.files import json_lines
from jostle.plan.journeys.feed import Feed
from jostle.plan.values import Params


def rows(feed: Feed, *columns: str) -> list[list[str]]:
    values = list(feed.values(columns))
    return [values[at : at + len(columns)] for at in range(0, len(values), len(columns))]


def csv_feed(folder: Path, content: str | bytes, **keys: str) -> Feed:
    path = folder / "users.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return Feed.model_validate({"csv": str(path), **keys})


def jsonl_feed(folder: Path, content: str) -> Feed:
    path = folder / "rows.jsonl"
    path.write_bytes(content.encode())
    return Feed.model_validate({"jsonl": str(path)})


def test_values_of_json_lines_keep_their_own_text(tmp_path: Path) -> None:
    written = {
        "price": "1.10",
        "n": "1e5",
        "big": "1E400",
        "y": "123456789012345.678901",
        "id": "18446744073709551617",
        "zero": "-0",
        "tiny": "1e-7",
        "nested": '{ "a":1.0,"b" : [1.10, "x, }"] }',
        "list": "[ 1,2 ]",
        "yes": "true",
        "nothing": "null",
    }
    line = (
        "{ "
        + ", ".join(f'"{name}" :{value}' for name, value in written.items())
        + ' , "text": "a\\u00e4\\"" }'
    )
    feed = jsonl_feed(tmp_path, f"\ufeff{line}\n\n  \t\n{line}\n")
    expected = [*written.values(), 'aä"']
    assert rows(feed, *written, "text") == [expected, expected]
    assert feed.columns() == [*written, "text"]


def test_of_members_with_the_same_name_the_last_counts(tmp_path: Path) -> None:
    feed = jsonl_feed(tmp_path, '{"id": 1, "a": [1], "a": [ 2 ], "id": 2.0}\n')
    assert rows(feed, "id", "a") == [["2.0", "[ 2 ]"]]


@given(st.dictionaries(st.text(), st.recursive(st.none() | st.text() | st.integers(), st.lists), min_size=1))
def test_whatever_a_line_holds_is_what_is_sent(members: dict[str, object]) -> None:
    line = json.dumps(members, ensure_ascii=False)
    texts = json_lines.values(Path("rows.jsonl"), 1, line, list(members))
    for value, text in zip(members.values(), texts, strict=True):
        assert text == value if isinstance(value, str) else json.loads(text) == value


WRONG_LINES = [
    ('{"a": NaN}', "line 1: not JSON: NaN is no number in JSON", "one object in each line"),
    ('{"a": 1,}', "line 1: not JSON: ", "one object in each line"),
    ('{"a": "\\ud800"}', "line 1: 'a' has half of a surrogate pair", "both halves"),
    ('{"a": "x\ty"}', "line 1: not JSON: Invalid control character", "one object"),
    ("[1]", "line 1: not a JSON object", '{"user"'),
    ('{"b": 1}', "line 1: there is no 'a'", ""),
    ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", "line 1: not JSON: ", "one object"),
]


@pytest.mark.parametrize(("line", "message", "hint"), WRONG_LINES)
def test_a_line_that_cannot_be_read_is_told(tmp_path: Path, line: str, message: str, hint: str) -> None:
    with pytest.raises(PlanError) as caught:
        rows(jsonl_feed(tmp_path, line + "\n"), "a")
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_a_value_of_a_csv_file_may_be_a_whole_document(tmp_path: Path) -> None:
    document = '{"text": "' + "x" * 140_000 + '"}'
    quoted = document.replace('"', '""')
    feed = csv_feed(tmp_path, f'id,doc\n1,"{quoted}"\n')
    assert rows(feed, "doc") == [[document]]
    column = {"csv": str(feed.path), "column": "doc"}
    assert Params(column, "csv").column() == [document]


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_other_separators_are_named_and_can_be_given(tmp_path: Path, separator: str) -> None:
    content = separator.join(["user", "pass"]) + "\n" + separator.join(["ann", "a,1"]) + "\n"
    assert rows(csv_feed(tmp_path, content, separator=separator), "pass") == [["a,1"]]
    with pytest.raises(BadValue) as caught:
        csv_feed(tmp_path, content).columns()
    assert "line 1: its columns are separated by a" in caught.value.message
    assert "read as separated by a comma" in caught.value.message
    assert "separator = " in caught.value.hint


def test_a_single_column_and_empty_lines_are_read(tmp_path: Path) -> None:
    assert rows(csv_feed(tmp_path, "user\nann\n\n \n\t\nbob\n"), "user") == [["ann"], ["bob"]]
    assert rows(csv_feed(tmp_path, "\ufeffuser,pass\nann,1\n \n"), "user") == [["ann"]]
    assert rows(csv_feed(tmp_path, 'user,pass\n"a\n \nb",1\n'), "user") == [["a\n \nb"]]


WRONG_FILES = [
    ("user,user\na,b\n", "line 1: two columns have the name 'user'", "rename"),
    ("user, pass\na, b\n", "line 1: the column ' pass' has white space around its name", "a comma alone"),
    ('"user", "pass"\n"a", "b"\n', "line 1: the column", "a comma alone"),
    ("sep=;\nuser;pass\na;b\n", "line 1: 'sep=;' is a note for spreadsheets", 'separator = ";"'),
    ("# users\nuser,pass\na,b\n", "line 1: a comment", "no comments"),
    ("user,pass\na,b\n# end\n", "line 3: 1 values for 2 columns", "no lines of comments"),
    ("user,pass\na,b,c\n", "line 2: 3 values for 2 columns", "contains a comma"),
    ('user,pass\n"a \\"b\\"",c\n', "line 2: ", 'written twice: ""'),
    ('user,pass\n"a,b\n', "line 2: ", "a quote not closed"),
    ("user,pass\na\0,b\n", "line 2: a NUL", "UTF-16"),
    ("", "is empty", "first line"),
    ("user,pass\n", "has no rows", "at least one"),
    ("user,pass\na,b\n".encode("utf-16"), "cannot be read: it is UTF-16", "save it as UTF-8"),
    ("user,pass\nn\xe9,b\n".encode("latin-1"), "cannot be read: byte 0xE9 is not UTF-8", "save it as UTF-8"),
    ("user,pass\na,b\n".encode("utf-16-le"), "line 1: a NUL", "UTF-16"),
]


@pytest.mark.parametrize(("content", "message", "hint"), WRONG_FILES)
def test_a_csv_file_that_would_be_misread_is_told(
    tmp_path: Path, content: str | bytes, message: str, hint: str
) -> None:
    feed = csv_feed(tmp_path, content)
    with pytest.raises(PlanError) as caught:
        rows(feed, *(feed.columns() or ["user"]))
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_the_limit_of_a_field_is_told_with_its_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jostle.plan.files.csv_file.MAX_FIELD_CHARACTERS", 2000)
    with pytest.raises(
        PlanError, match=r"line 2: a value of more than 2,000 characters\nis a quote not closed"
    ):
        rows(csv_feed(tmp_path, "user\n" + "x" * 3000 + "\n"), "user")


def test_a_separator_is_for_csv(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1}\n', encoding="utf-8")
    with pytest.raises(ValueError, match="separator is for CSV"):
        Feed.model_validate({"jsonl": str(path), "separator": ";"})
