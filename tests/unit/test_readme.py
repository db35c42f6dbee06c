"""The README and the lists beside it name what is there."""

import json
import re
from collections import Counter
from pathlib import Path

from jostle import experiments, roster
from jostle.cli import COMMANDS

ROOT = Path(__file__).parents[2]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def listed(name: str) -> str:
    file, _ = roster.load(name)
    settings = [f"`:{variant}`" for variant in file.variants]
    scheduling = f"{file.discipline}, slice {file.slice}" if file.slice else file.discipline
    cells = [" ".join([f"`{name}`", *settings]), file.title, scheduling, ", ".join(file.speaks)]
    return f"| {' | '.join(cells)} |"


def test_every_contestant_is_listed_as_it_is_declared_and_no_other() -> None:
    rows = re.findall(r"^\| `.*$", text("docs/CONTESTANTS.md"), re.MULTILINE)
    assert rows == [listed(name) for name in roster.names()]


def test_every_experiment_is_listed() -> None:
    for name in experiments.names():
        assert re.search(rf"jostle race {name}\b", text("docs/EXPERIMENTS.md")), name


def test_every_command_is_shown() -> None:
    for name in COMMANDS:
        assert re.search(rf"jostle {name}\b", text("README.md")), name


def findings() -> str:
    found = re.search(r"## What the experiments found\n(.*?)\n## ", text("README.md"), re.DOTALL)
    assert found
    return " ".join(found[1].split())


def test_every_finding_is_a_figure_of_the_published_run() -> None:
    number = r"[\d.]+"
    figures = re.findall(rf"{number}(?: %| kB)? \[{number}, {number}\]", findings())
    assert len(figures) > 10
    judged = text("docs/results/results.json")
    assert [figure for figure in figures if figure not in judged] == []


def test_the_findings_are_counted_as_in_the_published_run() -> None:
    results = json.loads(text("docs/results/results.json"))
    claims = [claim for each in results["experiments"] for claim in each["result"]["claims"]]
    verdicts = Counter(claim["verdict"] for claim in claims if not claim["ours"])
    reproduced, other_size, not_reproduced = (
        verdicts[verdict] for verdict in ("reproduced", "same direction, other size", "not reproduced")
    )
    for told in (
        f"make {verdicts.total()} claims",
        f"decided {verdicts.total() - verdicts['cannot tell']} of them",
        f"{reproduced} were reproduced, {other_size} show the same direction",
        f"and {not_reproduced} were not reproduced",
    ):
        assert told in findings()
