"""A server's user who may not run its program: told before the run, with how to change it."""

from pathlib import Path

import pytest

from jostle.contestant.contestant import Contestant
from jostle.errors import MissingRuntime
from jostle.host.users import User
from jostle.plan.servers.contestant import ContestantFile

NOBODY = User("nobody", 65534, 65534)


@pytest.fixture(autouse=True)
def _servers_run_as_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(User, "of", lambda _name: NOBODY)


def before(folder: Path, command: str) -> Contestant:
    return Contestant("before", "before", ContestantFile(command=command), folder=folder, copied=False)


def test_a_program_behind_a_closed_folder_is_told_with_the_folder_and_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A virtual environment's python is a link, here to a folder that is only its owner's."""
    private = tmp_path / "private"
    private.mkdir()
    (private / "python3").write_bytes(b"")
    (tmp_path / "python").symlink_to(private / "python3")
    monkeypatch.setattr(User, "_may_execute", lambda _user, path: path != private)
    with pytest.raises(MissingRuntime) as told:
        before(tmp_path, "./python server.py {port}").versions()
    assert told.value.message == (
        f"before would run as user 'nobody', who may not enter {private}, where ./python leads: "
        'user = "root" in [contestant.before] changes that'
    )


def test_a_program_of_the_path_is_the_first_that_the_user_may_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As execvp does: what it may not enter is passed over."""
    private, public = tmp_path / "private", tmp_path / "public"
    for folder in (private, public):
        folder.mkdir()
        (folder / "python3").write_bytes(b"")
    monkeypatch.setattr(User, "_may_execute", lambda _user, path: path != private)
    monkeypatch.setenv("PATH", f"{private}:{public}")
    assert before(tmp_path, "python3 server.py {port}").versions() == {}
    monkeypatch.setenv("PATH", str(private))
    with pytest.raises(MissingRuntime, match=f"may not enter {private}, where python3 leads"):
        before(tmp_path, "python3 server.py {port}").versions()


@pytest.mark.parametrize("command", ["sh -c true", "{build}/server", "./not-there"])
def test_what_everybody_may_run_or_is_not_known_yet_is_not_refused(tmp_path: Path, command: str) -> None:
    assert before(tmp_path, command).versions() == {}
