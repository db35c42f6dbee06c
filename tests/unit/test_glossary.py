"""The glossary and the code have the same outcomes, in the same groups, and the same verdicts."""

import re
from pathlib import Path

from jostle.record.outcomes import CENSORED, ENDED_BY_STOP, TIMEOUTS, WRONG_ANSWERS, Outcome, failures
from jostle.record.verdict import Verdict

TEXT = (Path(__file__).parents[2] / "docs" / "GLOSSARY.md").read_text(encoding="utf-8")


def table(first: str) -> list[list[str]]:
    """The rows of the table whose first column has that heading."""
    _, _, rest = TEXT.partition(f"\n| {first} |")
    lines = rest.partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines]


def test_outcomes_are_those_of_the_code() -> None:
    assert {row[0] for row in table("outcome")} == {str(outcome) for outcome in Outcome}


def test_outcomes_are_grouped_as_in_the_code() -> None:
    kinds = {Outcome(row[0]): set(row[2].split(", ")) for row in table("outcome")}
    groups = {
        "success": {Outcome.OK},
        "censored": CENSORED,
        "timeout": TIMEOUTS,
        "ended by the stop": ENDED_BY_STOP,
        "wrong answer": WRONG_ANSWERS,
    }
    for name, members in groups.items():
        assert {outcome for outcome, kind in kinds.items() if name in kind} == members, name
    errors = set(failures(dict.fromkeys(Outcome, 1)))
    assert {outcome for outcome, kind in kinds.items() if "failure" in kind} == (
        errors - CENSORED - WRONG_ANSWERS
    )


def test_verdicts_are_those_of_the_code_in_the_same_order() -> None:
    assert [row[0] for row in table("verdict")] == [str(verdict) for verdict in Verdict]


def test_no_word_is_defined_twice() -> None:
    words = re.findall(r"^\| \*\*(.+?)\*\*", TEXT, re.MULTILINE)
    assert len(words) > 90
    assert len(words) == len(set(words))
