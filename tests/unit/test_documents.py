"""What documents and help texts show can be typed: commands exist and take it, plans can be read."""

import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.core import TyperGroup

from jostle import cli
from jostle.plan import parse_plan
from jostle.plan.servers.contestant import ContestantFile

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    path
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
    if path.name != "CHANGELOG.md" and "results" not in path.parts  # they tell of what may be no longer
]
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"^ {4}(.*)$", re.MULTILINE)
TYPED = re.compile(r"^(?: {2})?(jostle .*)$", re.MULTILINE)
SPOKEN = re.compile(r"`(jostle [^`\n]*)`")
OPTION = re.compile(r"`(--?[a-z][\w-]*)")
EXPLAINED = re.compile(r" {2,}| # ")


def commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """It and all below it, by the words that call them."""
    yield name, command
    if isinstance(command, TyperGroup):
        context = typer.Context(command)
        for below in command.list_commands(context):
            yield from commands(command.get_command(context, below), f"{name} {below}")


COMMANDS = dict(pair for name in cli.COMMANDS for pair in commands(cli.command(name), f"jostle {name}"))


def options(name: str) -> set[str]:
    if name == "jostle":
        return {"-h", "--help", "--version"}
    return {option for p in COMMANDS[name].params for option in [*p.opts, *p.secondary_opts]}


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """The code of a document, each fenced block with its language."""
    yield from FENCED.findall(text)
    yield "", "\n".join(INDENTED.findall(FENCED.sub("", text)))


def shown() -> Iterator[tuple[str, str]]:
    """Where it stands, and a command with all that it needs."""
    for path in DOCUMENTS:
        for language, code in blocks(path.read_text(encoding="utf-8")):
            if language in ("", "sh"):
                yield from ((path.name, line) for line in TYPED.findall(code))
    helps = {"jostle": cli.HELP, **{name: command.help or "" for name, command in COMMANDS.items()}}
    for name, text in helps.items():
        yield from ((f"{name} --help", line) for line in TYPED.findall(text))


def called(line: str) -> tuple[str, list[str]]:
    """The command that a line calls, and what it is given."""
    words = shlex.split(line)
    calls = [" ".join(words[:count]) for count in (1, 2, 3)]
    name = next((call for call in reversed(calls) if call in COMMANDS), "jostle")
    assert name != "jostle" or words[1].startswith("-"), f"there is no command {words[1]}"
    return name, words[len(name.split()) :]


def parse(line: str) -> None:
    """As the command line would, without doing it. Raises what tells a user that it cannot be."""
    name, given = called(line)
    if given or not isinstance(COMMANDS[name], TyperGroup):  # a group by itself shows its help
        COMMANDS[name].make_context(name, given)


SHOWN = list(dict.fromkeys((place, EXPLAINED.split(line)[0]) for place, line in shown()))


def test_commands_are_found_wherever_they_stand() -> None:
    places = {place for place, _ in SHOWN}
    assert places >= {
        "README.md",
        "CI.md",
        "CLUSTER.md",
        *(f"jostle {name} --help" for name in ("hit", "race")),
    }


@pytest.mark.parametrize("line", [pytest.param(line, id=f"{place}: {line}") for place, line in SHOWN])
def test_what_is_shown_can_be_typed(line: str) -> None:
    parse(line)


@pytest.mark.parametrize(
    "line", ["jostle run p.toml --runds 3", "jostle rce", "jostle capacity", "jostle run -x"]
)
def test_what_cannot_be_typed_would_be_noticed(line: str) -> None:
    with pytest.raises((AssertionError, Exception), match=r"no command|No such option|Missing"):
        parse(line)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_commands_and_options_that_the_text_names_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for line in SPOKEN.findall(text):
        name, given = called(line)
        assert {word for word in given if word.startswith("-")} <= options(name), line
    assert {*OPTION.findall(text)} <= {option for name in ("jostle", *COMMANDS) for option in options(name)}


PLANS = [
    (path.name, code)
    for path in DOCUMENTS
    for language, code in blocks(path.read_text(encoding="utf-8"))
    if language == "toml"
]
WORKLOAD = '[workload.{0}]\nrequest = {{ get = "/" }}\nload = {{ clients = 1, for = "1s" }}\n'
JOURNEY = (
    '[workload.{0}]\njourneys = {{ j = 1 }}\nload = {{ clients = 1, for = "1s" }}\n[journey.j]\nsteps = {1}\n'
)
STARVATION = '[[starvation]]\nform = "f"\nalone = "{0}"\nwith = "{0}"\nslow = "{0}"\n'


@pytest.mark.parametrize(("place", "text"), PLANS)
def test_plans_in_documents_can_be_read(place: str, text: str) -> None:
    """Whole ones as they stand, parts beside the rest of a plan; and a contestant.toml."""
    data = tomllib.loads(text)
    if "start" in data:
        assert ContestantFile.model_validate(data).start_command()
        return
    if "title" not in data:
        parts = [part for claim in data.get("claim", []) for part in claim["holds"]]
        parts += data.get("require", [])
        about = sorted({part["workload"] for part in parts if "workload" in part})
        steps = [f'{{ name = "{part["step"]}", get = "/" }}' for part in parts if "step" in part]
        forms = [JOURNEY] if steps else [WORKLOAD, STARVATION]
        tables = [form.format(name, f"[{', '.join(steps)}]") for form in forms for name in about or ["w"]]
        servers = json.dumps(["node", "go", *data.get("contestant", {})])
        text = f'title = "t"\ncontestants = {servers}\n' + "".join(tables) + text
    assert parse_plan(text, place).workload


def test_the_service_of_the_contestants_is_shown_as_it_is() -> None:
    def declared(text: str) -> list[str]:
        lines = [line.partition("//")[0].split() for line in text.splitlines()]
        return [" ".join(line) for line in lines if line and line[0] != "option"]

    shared = (ROOT / "python/jostle/roster/shared/grpc/echo.proto").read_text(encoding="utf-8")
    page = (ROOT / "docs/how-to/grpc.md").read_text(encoding="utf-8")
    shown = page[page.index("// roster.proto\n") :].partition("```")[0]
    assert declared(shown) == declared(shared)


def test_the_notebook_shows_what_it_gives() -> None:
    """GitHub runs nothing: outputs are committed with it."""
    cells = json.loads((ROOT / "docs" / "notebook.ipynb").read_text(encoding="utf-8"))["cells"]
    silent = [c["id"] for c in cells if c["cell_type"] == "code" and not c["outputs"]]
    assert silent == []
    kinds = {kind for c in cells for output in c.get("outputs", []) for kind in output.get("data", {})}
    assert {"text/html", "image/svg+xml"} <= kinds
