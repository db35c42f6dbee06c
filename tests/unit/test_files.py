"""Files are written whole, and neither written nor read through a link."""

import errno
import os
import threading
from pathlib import Path

import pytest

from jostle.host.files import open_regular, open_to_append, write_json, write_whole


def test_a_link_is_replaced_and_its_target_stays(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    link = tmp_path / "report.html"
    link.symlink_to(victim)
    (tmp_path / "report.html.part").symlink_to(victim)
    write_whole(link, "a page")
    assert victim.read_text() == "precious"
    assert (link.is_symlink(), link.read_text()) == (False, "a page")


def test_a_file_is_there_whole_or_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"
    write_whole(path, b"before")

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, "after", sync=True)
    assert path.read_bytes() == b"before"
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


def test_the_usual_permissions_are_given(tmp_path: Path) -> None:
    write_whole(tmp_path / "x", "")
    (tmp_path / "y").write_text("")
    assert (tmp_path / "x").stat().st_mode == (tmp_path / "y").stat().st_mode


def test_text_that_is_no_unicode_is_written_all_the_same(tmp_path: Path) -> None:
    write_json(tmp_path / "x.json", {"version": "\ud800 ü"})
    assert (tmp_path / "x.json").read_text(encoding="utf-8") == '{\n  "version": "? ü"\n}\n'


def test_writers_at_the_same_time_do_not_mix(tmp_path: Path) -> None:
    contents = [bytes([number]) * 200_000 for number in range(8)]
    threads = [threading.Thread(target=write_whole, args=(tmp_path / "x", content)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "x").read_bytes() in contents
    assert len(list(tmp_path.iterdir())) == 1


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    regular = tmp_path / "regular"
    regular.write_bytes(b"12345")
    with open_regular(regular, at_most=5) as file:
        assert file.read() == b"12345"
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to(regular)
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "fifo", tmp_path / "link", tmp_path / "folder", Path("/dev/zero")):
        with pytest.raises(OSError):  # noqa: PT011 (of many kinds)
            open_regular(path)
        with pytest.raises(OSError):  # noqa: PT011
            open_to_append(path)
    with pytest.raises(OSError, match="more than the 4 allowed"):
        open_regular(regular, at_most=4)
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "absent")


def test_what_is_appended_comes_after_what_is_there(tmp_path: Path) -> None:
    for line in ("one\n", "two\n"):
        with open_to_append(tmp_path / "x") as file:
            file.write(line)
    assert (tmp_path / "x").read_text() == "one\ntwo\n"
