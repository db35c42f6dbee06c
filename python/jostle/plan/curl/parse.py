"""The words of a curl command, as its options: one list for each part that `--next` divides."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from jostle.errors import PlanError
from jostle.plan.curl.options import LETTERS, Option, option_named

__all__ = ["Operation", "operations"]


@dataclass
class Operation:
    """What one part of a command says. `given`: options that matter, in order; a flag has "" or "no"."""

    urls: list[str] = field(default_factory=list)
    given: list[tuple[str, str]] = field(default_factory=list)

    def all(self, *names: str) -> list[tuple[str, str]]:
        """The given options with one of these names, in order."""
        return [(name, value) for name, value in self.given if name in names]

    def values(self, name: str) -> list[str]:
        """All values of an option, in order."""
        return [value for given, value in self.given if given == name]

    def last(self, name: str) -> str | None:
        """The value of an option; None if it is not given."""
        return next(reversed(self.values(name)), None)

    def on(self, name: str) -> bool:
        """Whether a flag is set."""
        return self.last(name) == ""


def operations(words: Sequence[str]) -> list[Operation]:
    """The parts of a command, whose first word is curl. Raises `PlanError` for what jostle cannot do."""
    found = [Operation()]
    rest = iter(words[1:])
    only_urls = False
    for word in rest:
        if only_urls or not word.startswith("-") or word == "-":
            found[-1].urls.append(word)
        elif word == "--":
            only_urls = True
        elif word.startswith("--"):
            _take(found, _long(word), None, rest)
        else:
            _letters(found, word[1:], rest)
    for operation in found:
        if not operation.urls:
            raise PlanError("the curl command has no URL", "paste the whole command")
    return found


def _long(word: str) -> tuple[Option, bool]:
    """The option of a word, and whether it is switched on."""
    name = word.removeprefix("--")
    if name.startswith("no-"):
        option = option_named(name.removeprefix("no-"))
        if not option.takes_value:
            return option, False
    return option_named(name), True


def _letters(found: list[Operation], letters: str, rest: Iterator[str]) -> None:
    for index, letter in enumerate(letters):
        if letter not in LETTERS:
            raise PlanError(f"curl has no option -{letter}", "compare the command with its source")
        option = option_named(LETTERS[letter])
        if option.takes_value:
            _take(found, (option, True), letters[index + 1 :] or None, rest)
            return
        _take(found, (option, True), None, rest)


def _take(
    found: list[Operation],
    named: tuple[Option, bool],
    value: str | None,
    rest: Iterator[str],
) -> None:
    option, on = named
    if option.takes_value and value is None:
        value = next(rest, None)
        if value is None:
            raise PlanError(f"--{option.name} of curl has no value", "paste the whole command")
    if option.effect == "refused" and on:
        raise PlanError(f"curl's --{option.name}: {option.why}", "leave it out of the command")
    if option.name == "cookie-jar" and (value or "").isdecimal():
        raise PlanError(
            f"-c {value} behind curl is curl's: a file for cookies",
            f"write it before --: jostle hit -c {value} -- curl …",
        )
    if option.name == "next":
        found.append(Operation())
    elif option.name == "url":
        found[-1].urls.append(value or "")
    elif option.effect == "sent":
        found[-1].given.append((option.name, (value or "") if option.takes_value else "" if on else "no"))
