"""Underscores separate the digits of a number; anywhere else they make it no number."""

from collections.abc import Callable

import pytest

from jostle import cli, units
from jostle.cli.exit_codes import ExitCode
from jostle.errors import BadValue

READ: list[tuple[Callable[[str], float], str]] = [
    (units.count, ""),
    (units.count, "k"),
    (units.rate, "/s"),
    (units.size, "kB"),
    (units.share, "%"),
    (units.duration, "ms"),
]


@pytest.mark.parametrize(("read", "unit"), READ)
@pytest.mark.parametrize("number", ["8_", "100_", "1__000", "_8"])
def test_an_underscore_that_separates_nothing_is_refused_with_an_example(
    read: Callable[[str], float], unit: str, number: str
) -> None:
    with pytest.raises(BadValue, match=f"'{number}{unit}'") as refused:
        read(f"{number}{unit}")
    assert refused.value.hint.startswith("write")


def test_one_that_separates_digits_is_none_of_the_number() -> None:
    assert (units.count("1_000_000"), units.rate("1_000/s"), units.duration("1_0.5s")) == (10**6, 1000, 10.5)


@pytest.mark.parametrize(
    "words",
    [
        ["what-if", "--clients", "100_", "--service", "1ms", "--slo", "p99 < 1 s"],
        ["what-if", "runs/x", "workers=100_"],
        ["capacity", "http://127.0.0.1:9/", "--slo", "p99 < 1 s", "--clients", "--most", "100_"],
    ],
)
def test_a_command_names_the_number_that_it_cannot_read(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main(words)
    assert left.value.code == ExitCode.USAGE
    assert capsys.readouterr().err.startswith("jostle: '100_' is not a count\n")
