"""Contestants found, their commands looked up, their builds made once."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from jostle import roster
from jostle.contestant import Contestant, find
from jostle.errors import BuildFailed, MissingRuntime, PlanError, StartFailed, UnknownName, UserError
from jostle.host.users import User
from jostle.plan import parse_plan, to_toml
from jostle.plan.overrides import Overrides
from jostle.plan.servers.contestant import ContestantFile

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs servers as somebody else")


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache of this test alone, open to an unprivileged user as pytest's own folders are not."""
    with TemporaryDirectory(prefix="jostle-test-") as folder:
        Path(folder).chmod(0o755)
        monkeypatch.setenv("JOSTLE_CACHE", folder)
        yield Path(folder)


def mine(folder: Path, *, settings: str = "", **table: object) -> Contestant:
    file = ContestantFile.of(
        {"command": "./server {port}", "folder": str(folder), **table}, "contestant.mine"
    )
    return find(f"mine:{settings}", {"mine": file})


def test_the_nearest_contestant_is_offered() -> None:
    with pytest.raises(UnknownName, match=r"there is no contestant 'nod'\ndid you mean 'node'"):
        find("nod")


def test_a_plans_own_table_comes_first() -> None:
    own = ContestantFile.of({"url": "http://127.0.0.1:9000", "pid": 1}, "contestant.node")
    contestant = find("node", {"node": own})
    assert (contestant.url, contestant.missing(), contestant.build()) == (
        "http://127.0.0.1:9000",
        [],
        None,
    )


def test_a_folder_with_a_contestant_toml(tmp_path: Path) -> None:
    (tmp_path / "server").mkdir()
    (tmp_path / "server" / "contestant.toml").write_text(
        'title = "mine"\ncommand = "./run {port} {w}"\n[variants.w]\ndefault = 2\n'
    )
    by_path = find("./server:w=3", base=tmp_path)
    assert (by_path.label, by_path.folder, by_path.variants) == (
        "./server:w=3",
        tmp_path / "server",
        {"w": 3},
    )
    table = ContestantFile.of({"folder": "server", "title": "changed"}, "contestant.mine")
    by_table = find("mine", {"mine": table}, tmp_path)
    assert (by_table.file.title, by_table.file.start_command()) == ("changed", ["./run", "{port}", "{w}"])


def test_what_a_folder_s_contestant_toml_says_holds_for_what_the_table_leaves_out(tmp_path: Path) -> None:
    """Also once the plan has been changed, which writes its defaults out."""
    (tmp_path / "server").mkdir()
    (tmp_path / "server" / "contestant.toml").write_text(
        'title = "mine"\ncommand = "./run {port}"\nuser = "me"\nready = { path = "/health" }\n'
    )
    (tmp_path / "plan.toml").touch()
    text = """
    title = "t"
    contestants = ["mine"]
    contestant.mine = { folder = "server", title = "changed" }
    workload.w = { request = { get = "/" }, load = { clients = 1, for = "1s" } }
    """
    plan = parse_plan(text, "plan.toml", base=tmp_path).changed(Overrides(rounds=2))
    for one in (plan, parse_plan(to_toml(plan), "again", base=tmp_path)):
        file = find("mine", one.contestant, tmp_path).file
        assert (file.title, file.user, file.ready.path) == ("changed", "me", "/health")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"contestant\.mine\.folder: .*absent is not a folder"):
        mine(tmp_path / "absent")


def test_a_missing_command_is_told_with_what_brings_it(tmp_path: Path) -> None:
    needs = [{"command": "no-such-command", "install": "apt-get install no-such-package"}]
    contestant = mine(tmp_path, needs=needs)
    assert [need.install for need in contestant.missing()] == ["apt-get install no-such-package"]
    with pytest.raises(MissingRuntime) as caught:
        contestant.build()
    assert str(caught.value) == (
        "mine needs 'no-such-command': it is not installed\napt-get install no-such-package"
    )


def test_another_jdk_on_the_path_is_not_taken_for_the_right_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (java,) = (need for need in roster.load("java-virtual-threads")[0].needs if need.command == "java-25")
    older = tmp_path / "java"
    older.write_text("#!/bin/sh\necho openjdk 17.0.15\n")
    older.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    need = java.model_copy(update={"paths": [str(tmp_path / "temurin-25" / "bin" / "java")]}).data()
    with pytest.raises(MissingRuntime, match=r"(?s)needs 'java-25': it is not installed.*temurin-25-jdk"):
        mine(tmp_path, needs=[need]).build()


def test_a_command_whose_version_command_fails_counts_as_missing(tmp_path: Path) -> None:
    needs = [{"command": "sh", "version": ["{command}", "-c", "exit 3"]}]
    (missing,) = mine(tmp_path, needs=needs).missing()
    assert "its version command failed" in missing.reason


def test_versions_are_the_first_line_that_is_printed(tmp_path: Path) -> None:
    needs = [{"command": "sh", "version": ["{command}", "-c", "echo; echo 1.2.3 >&2"]}]
    assert mine(tmp_path, needs=needs).versions() == {"sh": "1.2.3"}


def test_versions_are_told_in_english(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    needs = [{"command": "sh", "version": ["{command}", "-c", "echo $LC_ALL"]}]
    assert mine(tmp_path, needs=needs).versions() == {"sh": "C.UTF-8"}


def test_who_may_run_a_program(cache: Path) -> None:
    program, folder = cache / "closed" / "program", cache / "closed"
    folder.mkdir()
    program.write_text("#!/bin/sh\n")
    nobody = User("nobody", 54321, 54321)
    program.chmod(0o755)
    folder.chmod(0o755)
    assert nobody.can_run(program)
    program.chmod(0o744)
    assert not nobody.can_run(program)
    program.chmod(0o755)
    folder.chmod(0o700)
    assert not nobody.can_run(program)
    assert not nobody.can_enter(folder)
    assert not nobody.can_run(cache / "absent")


def sources(cache: Path) -> Path:
    folder = cache / "sources"
    folder.mkdir()
    (folder / "input").write_text("one")
    return folder


COUNTED = {"commands": [["sh", "-c", 'echo x >> "$LOG"; cp input output; echo {w} >> output']], "env": {}}
VARIANTS = {"w": {"default": 1}, "unused": {"default": 1}}


def counted(folder: Path, log: Path, settings: str = "") -> Contestant:
    build = COUNTED | {"env": {"LOG": str(log)}}
    return mine(folder, settings=settings, build=build, variants=VARIANTS)


def test_a_build_is_made_once_for_its_sources_and_settings(cache: Path) -> None:
    folder, log = sources(cache), cache / "log"
    told: list[str] = []
    contestant = counted(folder, log)
    assert not contestant.is_built()
    built = contestant.build(told.append)
    assert built is not None
    assert contestant.is_built()
    assert (built / "output").read_text() == "one1\n"
    assert not (folder / "output").exists()
    assert counted(folder, log, "unused=2").build(told.append) == built
    assert told == ["building mine"]
    other = counted(folder, log, "w=2").build()
    (folder / "input").write_text("two")
    changed = counted(folder, log).build()
    assert len({built, other, changed}) == 3
    assert log.read_text() == "x\n" * 3


def including(folder: Path, *entries: str) -> Contestant:
    return mine(folder, build={"include": list(entries)})


def test_files_that_several_servers_share_are_copied_into_each_build(cache: Path) -> None:
    folder, shared = sources(cache), cache / "shared"
    (shared / "lib").mkdir(parents=True)
    (shared / "lib" / "routes").write_text("routes")
    (cache / "one-file").write_text("alone")
    built = including(folder, "../shared", "../one-file").build()
    assert built is not None
    assert (built / "input").read_text() == "one"
    assert (built / "lib" / "routes").read_text() == "routes"
    assert (built / "one-file").read_text() == "alone"


def test_a_build_is_made_again_when_a_shared_file_changes(cache: Path) -> None:
    folder, shared = sources(cache), cache / "shared"
    shared.mkdir()
    (shared / "routes").write_text("one")
    before = including(folder, "../shared").build()
    assert including(folder, "../shared").is_built()
    (shared / "routes").write_text("two")
    assert not including(folder, "../shared").is_built()
    after = including(folder, "../shared").build()
    assert before is not None
    assert after is not None
    assert [(built / "routes").read_text() for built in (before, after)] == ["one", "two"]


def test_a_shared_file_never_replaces_a_servers_own(cache: Path) -> None:
    folder, shared = sources(cache), cache / "shared"
    shared.mkdir()
    (shared / "input").write_text("another")
    with pytest.raises(BuildFailed, match=r"shared/input, but has .*sources/input in its place"):
        including(folder, "../shared").build()


def test_a_shared_folder_that_does_not_exist(cache: Path) -> None:
    with pytest.raises(BuildFailed, match=r"includes .*absent, which does not exist"):
        including(sources(cache), "../absent").build()


def test_what_is_built_can_be_read_by_all(cache: Path) -> None:
    folder = sources(cache)
    (folder / "input").chmod(0o600)
    (folder / "program").write_text("#!/bin/sh\n")
    (folder / "program").chmod(0o700)
    built = mine(folder, build={"commands": [["true"]]}).build()
    assert built is not None
    modes = [(built / name).stat().st_mode & 0o777 for name in (".", "input", "program")]
    assert modes == [0o755, 0o644, 0o755]


def test_a_build_that_was_cut_short_is_made_again(cache: Path) -> None:
    folder, log = sources(cache), cache / "log"
    contestant = counted(folder, log)
    built = contestant.build()
    assert built is not None
    built.with_name(built.name + ".json").unlink()
    (built / "left-over").write_text("half")
    contestant.build()
    assert log.read_text() == "x\n" * 2
    assert not (built / "left-over").exists()


def test_two_who_build_at_once_build_once(cache: Path) -> None:
    folder, log = sources(cache), cache / "log"
    slow = COUNTED | {"env": {"LOG": str(log)}}
    slow = slow | {"commands": [["sleep", "0.3"], *COUNTED["commands"]]}
    contestant = mine(folder, build=slow, variants=VARIANTS)
    told: list[str] = []
    threads = [threading.Thread(target=contestant.build, args=(told.append,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert log.read_text() == "x\n"
    assert sorted(line.split()[0] for line in told) == ["building", "waiting", "waiting"]


def test_a_build_that_fails_shows_its_last_lines(cache: Path) -> None:
    script = "for i in $(seq 100); do echo line $i; done; echo the reason >&2; exit 7"
    contestant = mine(sources(cache), build={"commands": [["sh", "-c", script]]})
    with pytest.raises(BuildFailed) as caught:
        contestant.build()
    told = str(caught.value)
    assert "ended with exit code 7; its last output:" in told
    assert "the reason" in told
    assert "│ line 82\n" in told
    assert "│ line 81\n" not in told
    assert not contestant.is_built()


def test_a_build_command_that_is_not_there(cache: Path) -> None:
    contestant = mine(sources(cache), build={"commands": [["no-such-compiler", "x"]]})
    with pytest.raises(
        BuildFailed, match="`no-such-compiler x` could not be run: no such command: no-such-compiler"
    ):
        contestant.build()


def test_a_cache_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("JOSTLE_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(UserError, match="cannot make the cache folder") as caught:
        mine(tmp_path, build={"commands": [["true"]]}).build()
    assert "JOSTLE_CACHE" in str(caught.value)


def test_a_cache_in_which_nothing_can_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOSTLE_CACHE", str(tmp_path))
    monkeypatch.setattr(os, "access", lambda path, _: Path(path) != tmp_path / "builds")  # root may all
    with pytest.raises(
        UserError, match=r"cannot make files in the cache folder .*/builds: permission"
    ) as caught:
        mine(tmp_path, build={"commands": [["true"]]}).build()
    assert caught.value.hint == "set JOSTLE_CACHE to a folder that you may write to"


@as_root
def test_a_user_who_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="there is no user 'no-such-user'"):
        mine(tmp_path, user="no-such-user").start()


@as_root
def test_a_folder_that_the_servers_user_may_not_enter(cache: Path) -> None:
    folder = sources(cache)
    folder.chmod(0o700)
    with pytest.raises(StartFailed, match=r"would run as user 'nobody', who cannot enter .*sources"):
        mine(folder).start()
