"""What documents and lists name is there, and they name all that there is."""

import json
import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from docs.reference import commands, files
from jostle import experiments, roster
from jostle.cli import COMMANDS
from jostle.cli.exit_codes import ExitCode
from jostle.plan.hit.plan import PLACES
from jostle.plan.journeys.builder import JourneyBuilder
from jostle.record.outcomes import CENSORED, ENDED_BY_STOP, TIMEOUTS, WRONG_RESPONSES, Outcome, failures
from jostle.record.verdict import Verdict
from jostle.roster.lines_of_code import lines_of_code

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "bench" / "README.md"])
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def anchor(heading: str) -> str:
    """As GitHub makes it of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def broken_links(path: Path, text: str) -> list[str]:
    """Those that lead nowhere."""
    found = []
    for link in LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue  # the network is not asked
        target, _, place = link.partition("#")
        file = path.parent / target if target else path
        if not file.exists():
            found.append(link)
        elif place:
            headings = HEADING.findall(file.read_text(encoding="utf-8") if target else text)
            found += [link] if place not in map(anchor, headings) else []
    return found


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    assert broken_links(path, path.read_text(encoding="utf-8")) == []


def test_a_link_that_leads_nowhere_would_be_noticed() -> None:
    text = "# A heading: `code`\n[1](#a-heading-code) [2](#another) [3](absent.md) [4](https://example.org/)"
    assert broken_links(ROOT / "README.md", text) == ["#another", "absent.md"]


def paths(text: str) -> set[str]:
    return set(re.findall(r"`((?:bench|crates|docs|python|scripts|tests)\b[\w./-]*)`", text))


def test_contributing_names_paths_that_exist_and_every_package() -> None:
    contributing = text("CONTRIBUTING.md")
    assert [path for path in sorted(paths(contributing)) if not (ROOT / path).exists()] == []
    table = " ".join(re.findall(r"^\| .* \| (.*) \|$", contributing, re.MULTILINE))
    packages = sorted(path.parent.name for path in (ROOT / "python" / "jostle").glob("*/__init__.py"))
    assert [name for name in packages if f"`python/jostle/{name}" not in table] == []


def test_the_picture_of_contributing_has_the_layers_that_are_enforced() -> None:
    contracts = tomllib.loads(text("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    (layers,) = (c["layers"] for c in contracts if c["type"] == "layers" and c["containers"] == ["jostle"])
    assert "\n" + "".join(f"    {layer}\n" for layer in layers) + "\n" in text("CONTRIBUTING.md")


def test_tests_that_the_page_on_security_names_exist() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", text("docs/SECURITY.md"))
    assert named
    assert [pair for pair in named if f"def {pair[1]}(" not in text(pair[0])] == []


def glossary(first: str) -> list[list[str]]:
    """The rows of the table whose first column has that heading."""
    _, _, rest = text("docs/GLOSSARY.md").partition(f"\n| {first} |")
    lines = rest.partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines]


def test_outcomes_of_the_glossary_are_those_of_the_code_in_the_same_groups() -> None:
    kinds = {Outcome(row[0]): set(row[2].split(", ")) for row in glossary("outcome")}
    assert kinds.keys() == set(Outcome)
    errors = set(failures(dict.fromkeys(Outcome, 1)))
    groups = {
        "success": {Outcome.OK},
        "censored": CENSORED,
        "timeout": TIMEOUTS,
        "ended by the stop": ENDED_BY_STOP,
        "wrong response": WRONG_RESPONSES,
        "failure": errors - CENSORED - WRONG_RESPONSES,
    }
    for name, members in groups.items():
        assert {outcome for outcome, kind in kinds.items() if name in kind} == members, name


def test_verdicts_of_the_glossary_are_those_of_the_code_in_the_same_order() -> None:
    assert [row[0] for row in glossary("verdict")] == [str(verdict) for verdict in Verdict]


def test_the_glossary_defines_no_word_twice() -> None:
    words = Counter(re.findall(r"^\| \*\*(.+?)\*\*", text("docs/GLOSSARY.md"), re.MULTILINE))
    assert [word for word, count in words.items() if count > 1] == []


def listed(name: str) -> str:
    file, _ = roster.load(name)
    settings = [f"`:{variant}`" for variant in file.variants]
    scheduling = f"{file.discipline}, slice {file.slice}" if file.slice else file.discipline
    cells = [" ".join([f"`{name}`", *settings]), file.title, scheduling, ", ".join(file.speaks)]
    return f"| {' | '.join(cells)} |"


def test_every_contestant_is_listed_as_it_is_declared_and_no_other() -> None:
    rows = re.findall(r"^\| `.*$", text("docs/CONTESTANTS.md"), re.MULTILINE)
    assert rows == [listed(name) for name in roster.names()]


def test_readmes_of_contestants_tell_the_lines_of_code_that_are_counted() -> None:
    told, counted = {}, {}
    for name in roster.names():
        readme = text(f"python/jostle/roster/{name}/README.md")
        if found := re.search(r"([0-9]+) lines of (?:code|configuration)", readme):
            told[name] = int(found[1])
            lines = lines_of_code(*roster.load(name))
            counted[name] = lines and lines.own
    assert told
    assert counted == told


def test_every_experiment_is_listed() -> None:
    for name in experiments.names():
        assert re.search(rf"jostle race {name}\b", text("docs/EXPERIMENTS.md")), name


def test_every_command_is_in_the_readme_and_on_its_page() -> None:
    readme, page = text("README.md"), text("docs/reference/cli.md")
    names = [name for name, _ in commands()]
    assert {f"jostle {name}" for name in COMMANDS} <= set(names)
    assert [name for name in COMMANDS if not re.search(rf"jostle {name}\b", readme)] == []
    assert [name for name in names if f"## {name}\n" not in page] == []


def test_every_exit_code_is_explained() -> None:
    page = text("docs/reference/exit-codes.md")
    assert [code for code in ExitCode if f"\n| {code.value} | " not in page] == []


def test_every_call_on_a_journey_is_on_the_page_of_python() -> None:
    page = text("docs/reference/python.md")
    calls = [name for name in vars(JourneyBuilder) if not name.startswith("_")]
    assert [name for name in calls if not re.search(rf"`\.?{name}[`(]", page)] == []


def test_every_option_of_hit_is_on_the_page_of_python_with_its_name_on_the_command_line() -> None:
    table = files(ROOT / "docs")[ROOT / "docs/reference/python.md"]
    rows = re.findall(r"^\| `(\w+)` \| (.*) \| `(.*)` \|$", table, re.MULTILINE)
    typed = {name: options for name, options, _ in rows}
    assert typed.keys() == {*PLACES, "pid"}
    assert typed["seconds"] == "`-d`, `--duration`"
    assert typed["source_addresses"] == "`--source-address`"
    assert typed["rows"] == ""
    assert ("ca", "`--cacert`", "workload.NAME.connection.tls.ca") in rows


def findings() -> str:
    found = re.search(r"## What they found\n(.*?)\n## ", text("docs/EXPERIMENTS.md"), re.DOTALL)
    assert found
    return " ".join(found[1].split())


def test_every_finding_is_a_figure_of_the_published_run() -> None:
    number = r"[\d.]+"
    figures = re.findall(rf"{number}(?: %| kB)? \[{number}, {number}\]", findings())
    assert figures
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
        f"decided {verdicts.total() - verdicts['undecided']} of them",
        f"{reproduced} were reproduced, {other_size} show the same direction",
        f"and {not_reproduced} were not reproduced",
    ):
        assert told in findings()
