"""Foreign text made safe, addresses taken apart, and why the operating system refused."""

import errno
import os
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jostle.redaction.commands import redact_command
from jostle.redaction.data import redact
from jostle.text import one_line, plain_lines, quoted, read_text, reason


def test_why_an_operation_failed() -> None:
    refused = OSError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
    assert reason(refused) == "connection refused"
    assert reason(TimeoutError("timed out")) == "timed out"


def test_what_may_never_end_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", Path("/dev/zero")):
        with pytest.raises(OSError, match="not a regular file"):
            read_text(path)


def test_a_pipe_of_the_shell_is_read() -> None:
    given, writer = os.pipe()
    os.write(writer, b"title")
    os.close(writer)
    assert read_text(Path(f"/dev/fd/{given}")) == "title"
    os.close(given)


def test_every_foreign_line_stands_behind_a_bar() -> None:
    assert quoted("one\n::error::two\n") == "│ one\n│ ::error::two\n│ "


def test_foreign_text_cannot_move_the_cursor() -> None:
    assert one_line("a\x1b[2Jb\r\nc\u202e") == "a·[2Jb··c·"
    assert plain_lines("a\tb\n\x1bc") == ["a   b", "·c"]


@given(st.text())
def test_no_control_character_passes(text: str) -> None:
    safe = one_line(text)
    assert len(safe) == len(text)
    assert not any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in safe)


def test_a_word_as_long_as_a_body_is_looked_through_once() -> None:
    """In base64 a body is one word. Looking at it anew from each of its characters would take hours."""
    word = "A" * 2_000_000
    hidden = {"body": f"{word} http://me:(hidden)@host/"}
    assert redact({"body": f"{word} http://me:secret@host/"}) == hidden


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://me:{password}@host/", "http://me:{password}@host/"),
        ("http://me:{pass@host/", "http://me:(hidden)@host/"),
        ("http://me:{a}@b@host/", "http://me:(hidden)@host/"),
        ("/login?password={password}&user={user}", "/login?password={password}&user={user}"),
        ("/login?password={pass", "/login?password=(hidden)"),
        ("/login?password={a}b", "/login?password=(hidden)"),
        ("/feed?token={token}&user={user}", "/feed?token={token}&user={user}"),
        ("/feed?api_key={k}&token={t", "/feed?api_key={k}&token=(hidden)"),
        ("/feed?token={a}b", "/feed?token=(hidden)"),
    ],
)
def test_a_variable_is_no_password_and_what_only_begins_like_one_is(text: str, shown: str) -> None:
    assert redact_command(["jostle", text]) == ["jostle", shown]
