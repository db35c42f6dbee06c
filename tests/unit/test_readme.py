"""The README and the lists beside it name what is there."""

import re
from pathlib import Path

from jostle import experiments, roster
from jostle.cli import COMMANDS

ROOT = Path(__file__).parents[2]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_every_contestant_is_listed_with_what_it_speaks_and_no_other() -> None:
    rows = re.findall(r"^\| `([\w-]+)`.* \| ([^|]+) \|$", text("docs/CONTESTANTS.md"), re.MULTILINE)
    assert rows == [(name, ", ".join(roster.load(name)[0].speaks)) for name in roster.names()]


def test_every_experiment_is_listed() -> None:
    for name in experiments.names():
        assert re.search(rf"jostle race {name}\b", text("docs/EXPERIMENTS.md")), name


def test_every_command_is_shown() -> None:
    for name in COMMANDS:
        assert re.search(rf"jostle {name}\b", text("README.md")), name
