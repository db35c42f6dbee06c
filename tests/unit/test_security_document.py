"""What docs/PLAN.md lists as names of secrets is what the code hides."""

import re
from pathlib import Path

import pytest

from jostle.text import names_a_secret

ROOT = Path(__file__).parents[2]
TESTS = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", (ROOT / "docs" / "SECURITY.md").read_text())
PLAN = (Path(__file__).parents[2] / "docs" / "PLAN.md").read_text(encoding="utf-8")
WORDS = re.split(
    r",\s+|\s+or\s+", PLAN.partition("whose name contains ")[2].partition(",\n- ")[0].replace("\n", " ")
)


def test_the_words_are_found() -> None:
    assert {"auth", "cookie", "private-key"} <= set(WORDS)


@pytest.mark.parametrize("word", WORDS)
def test_a_name_with_a_listed_word_is_hidden(word: str) -> None:
    for name in (word, f"X-{word.title()}-2", f"my_{word.upper()}"):
        assert names_a_secret(name), name


@pytest.mark.parametrize("name", ["author", "Accept", "X-Custom", "k", "key"])
def test_other_names_are_not(name: str) -> None:
    assert not names_a_secret(name)


def test_tests_are_named() -> None:
    assert len(TESTS) > 15


@pytest.mark.parametrize(("file", "name"), TESTS)
def test_a_test_that_is_named_exists(file: str, name: str) -> None:
    assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8")
