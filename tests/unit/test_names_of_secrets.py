"""What docs/PLAN.md lists as names of secrets is what the code hides."""

import re
from pathlib import Path

import pytest

from jostle.redaction.names import names_a_secret

PLAN = (Path(__file__).parents[2] / "docs" / "PLAN.md").read_text(encoding="utf-8")


def listed(before: str) -> list[str]:
    """The words that a line of the list names."""
    item = re.split(r"\n- |\n\n", PLAN.partition(before)[2])[0]
    return re.split(r",\s+|\s+or\s+", " ".join(item.split()))


ANYWHERE, AS_A_WORD, AT_THE_END = map(
    listed, ("anywhere in the name: ", "as one of its words: ", "at the end of one of its words: ")
)


def test_the_words_are_found() -> None:
    assert {"auth", "cookie", "xsrf"} <= set(ANYWHERE)
    assert {"sas", "connection-string"} <= set(AS_A_WORD)
    assert {"key", "pw"} <= set(AT_THE_END)


@pytest.mark.parametrize("word", [*ANYWHERE, *AS_A_WORD, *AT_THE_END])
def test_a_name_with_a_listed_word_is_hidden(word: str) -> None:
    for name in (word, f"X-{word.title()}-2", f"my_{word.upper()}", f"user[{word}]"):
        assert names_a_secret(name), name


@pytest.mark.parametrize("word", ANYWHERE)
def test_some_words_count_within_others(word: str) -> None:
    assert names_a_secret(f"x{word}x")


@pytest.mark.parametrize("word", AT_THE_END)
def test_some_words_count_at_the_end_of_others(word: str) -> None:
    assert names_a_secret(f"db{word}")
    assert not names_a_secret(f"{word}enger")


@pytest.mark.parametrize("word", sorted(set(AS_A_WORD) - {"connection-string"}))
def test_some_words_count_only_alone(word: str) -> None:
    assert not names_a_secret(f"qu{word}e")


@pytest.mark.parametrize(
    "name",
    [
        *("author", "Accept", "X-Custom", "k", "keyboard", "monkey", "passenger", "ping", "assigned"),
        *("Idempotency-Key", "cacheKey", "Sec-WebSocket-Key", "status_code", "countryCode", "max_tokens"),
    ],
)
def test_other_names_are_not(name: str) -> None:
    assert not names_a_secret(name)
