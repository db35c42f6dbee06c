"""The command `jostle` by itself: help, version, and what it does not load for them."""

import re
import subprocess
import sys
from collections.abc import Sequence

import pytest

import jostle
from jostle import cli
from jostle.contestant import Contestant
from support.commands import run_command
from support.real import environment

HEAVY = (
    "typer",
    "pydantic",
    "rich",
    "numpy",
    "polars",
    "altair",
    "jinja2",
    "jostle.plan.curl.translate",
)


def loaded(code: str, names: Sequence[str] = HEAVY) -> list[str]:
    """Which of the modules of these names a fresh Python has loaded after `code`."""
    said = f"import sys\n{code}\nprint([name for name in {names} if name in sys.modules], file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, env=environment())
    assert done.returncode == 0, done.stderr
    found: list[str] = eval(done.stderr.splitlines()[-1])
    return found


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["-h"]])
def test_help_and_version_load_no_library(words: list[str]) -> None:
    names = (*HEAVY, "ipaddress", "jostle.redaction.texts")
    assert loaded(f"from jostle.cli import main\nmain({words})", names) == []


def test_an_import_of_jostle_loads_no_library() -> None:
    assert loaded("import jostle") == []


def test_the_plan_of_a_hit_needs_no_more_than_its_model() -> None:
    assert loaded("from jostle.plan.hit.plan import hit_plan\nhit_plan('http://localhost/', {})") == [
        "pydantic"
    ]


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["--version"])
    assert capsys.readouterr().out == f"jostle {jostle.__version__}\n"
    cli.main(["-h"])
    shown = capsys.readouterr().out
    assert shown == cli.HELP
    assert [name for name in cli.COMMANDS if f"\n  jostle {name}" not in shown] == []


def test_without_a_command_it_shows_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main([])
    assert left.value.code == 2
    assert capsys.readouterr().out == cli.HELP


def test_a_mistyped_command_is_told_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main(["rnu", "plan.toml"])
    assert left.value.code == 2
    assert capsys.readouterr().err == "jostle: there is no command 'rnu'\n  did you mean 'run'?\n"


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_help_under_both_options(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for option in ("-h", "--help"):
        with pytest.raises(SystemExit) as left:
            cli.main([name, option])
        assert left.value.code == 0
        assert capsys.readouterr().out.startswith(f"Usage: jostle {name} ")


def test_pages_are_left_out_when_asked_to(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(
        "jostle.cli.execution.run_plan", lambda *_, output, **__: asked.append(output.pages) or 0
    )
    for more in ([], ["--no-pages"]):
        with pytest.raises(SystemExit):
            cli.main(["race", "pair", *more])
    assert asked == [True, False]


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_no_help_shows_types_of_python(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main([name, "--help"])
    shown = capsys.readouterr().out
    assert not re.search(r"<(str|int|list|Path|text)\b", shown)
    assert not re.search(r"\w\.\.\.", shown), "a summary is cut off"


def test_the_options_of_hit_are_in_groups(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["hit", "--help"])
    titles = re.findall(r"^(\w.*):$", capsys.readouterr().out, re.MULTILINE)
    kinds = ["Messages (ws://), bytes (tcp://) and datagrams (udp://)", "gRPC (grpc://)"]
    groups = [*kinds, "Response", "Stream of events", "Connections", "TLS", "Generator", "Output"]
    assert titles == ["Arguments", "Load", "Request", *groups, "Options"]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("jostle ra", ["race"]),
        ("jostle hit --expect-", ["--expect-not", "--expect-status"]),
        ("jostle race pre", ["preemption"]),
        ("jostle contestants ver", ["verify"]),
    ],
)
def test_a_shell_is_offered_what_can_come_next(
    words: str, offered: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_JOSTLE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    with pytest.raises(SystemExit) as left:
        cli.main([])
    assert left.value.code == 0
    assert capsys.readouterr().out.split() == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_script(shell: str) -> None:
    code, script = run_command("completion", shell)
    assert code == 0
    assert f"_JOSTLE_COMPLETE=complete_{shell}" in script


def test_the_list_of_contestants_fits_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(Contestant, "missing", lambda _: [])
    _, listed = run_command("contestants", "list")
    assert max(map(len, listed.splitlines())) <= 80
    assert "…" not in listed
    assert re.search(
        r"^reference-processor-sharing +reference +yes +processor sharing *$", listed, re.MULTILINE
    )
