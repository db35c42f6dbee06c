"""The README names what is there."""

import re
from pathlib import Path

from jostle import experiments, roster
from jostle.cli import COMMANDS

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_every_contestant_is_listed_and_no_other() -> None:
    assert re.findall(r"^\| `([\w-]+)`", README, re.MULTILINE) == roster.names()


def test_every_experiment_and_command_is_shown() -> None:
    for name in {*experiments.names(), *COMMANDS}:
        assert re.search(rf"jostle (race )?{name}\b", README), name
