"""Habits of other load testers: what a refused option is called here."""

import sys
from pathlib import Path

import pytest

from jostle.cli import command, main
from jostle.cli.foreign import ABSENT, TAKEN, foreign_hint, options_of

CURL = "a curl command is taken as it is: jostle hit -- curl …"
URL = "http://127.0.0.1:1"
KNOWN = options_of(command("hit"))


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["-z", "5s", URL], "-z is the duration in hey and oha; here it is -d 5s"),
        (["-z5s", URL], "-z is the duration in hey and oha; here it is -d 5s"),
        (["-q", "100", URL], "-q shows no progress here; a rate is -r 100"),
        ([URL, "--latency"], "--latency in wrk: latencies are always shown"),
        (["-d", "@order.json", URL], "-d is the duration here; the body is -b @order.json"),
        (["-d", "a=b", URL], "-d is the duration here; the body is -b 'a=b'"),
        (
            ["--json", "@order.json", URL],
            "--json prints the result as JSON; a JSON body is --json-body @order.json",
        ),
        (["-rate=50", URL], "long options begin with two dashes: --rate=50"),
        (["-duration", "5s", URL], "long options begin with two dashes: --duration"),
        (["--vus=10", URL], "--vus in k6: here it is -c 10"),
        (["-m", "5", URL], "-m is the method here; the longest time for a response is --timeout 5"),
        (["-t", "10s", URL], "-t is the number of threads here; a time is -d or --timeout 10s"),
        (["-F", "a=b", URL], f"-F is a form in curl and oha; {CURL}"),
        (["--get", URL], f"--get in curl: {CURL}"),
        (["curl", URL, "-s"], "the words of a curl command stand behind --: jostle hit -- curl …"),
    ],
)
def test_a_habit_is_told_what_it_is_called_here(
    words: list[str], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["hit", *words])
    assert (left.value.code, capsys.readouterr().err.splitlines()[-1].strip()) == (2, hint)


def test_what_is_right_here_is_no_habit() -> None:
    for words in (["-d", "10s", URL], ["-q", URL], ["--json", URL], ["-t1", "-c50"], ["-A", "curl", URL], []):
        assert foreign_hint(words, KNOWN) == "", words
    assert foreign_hint(["--", "curl", "-z", "x"], KNOWN) == ""


def test_a_value_of_an_option_is_no_option() -> None:
    for words in (["-H", "-p", URL], ["-b", "-F", URL], ["-qb", "-z", URL], ["--json", "@pasted.txt"]):
        assert foreign_hint(words, KNOWN) == "", words
    assert foreign_hint(["-b", "-F", "-z", "5s", URL], KNOWN).startswith("-z is the duration")


def test_a_server_that_is_down_says_nothing_of_habits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pasted.txt").write_text(f"curl {URL} -X POST -d @{tmp_path}/pasted.txt")
    with pytest.raises(SystemExit):
        main(["hit", "--json", f"@{tmp_path}/pasted.txt", "-q", "-d", "1s"])
    refused = capsys.readouterr().err
    assert "127.0.0.1:1" in refused
    assert "--json" not in refused


def test_the_table_names_only_options_that_are_missing_or_mean_something_else() -> None:
    assert [name for name in ABSENT if name in KNOWN] == []
    assert [name for name in TAKEN if name not in KNOWN] == []
    named = {
        word for _, here in ABSENT.values() for word in here.replace(",", " ").split() if word[:1] == "-"
    }
    assert {word for word in named if word not in KNOWN} == {"--", "--version"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "missing argument 'URL'"),
        ([URL, f"{URL}/b"], "are two URLs, and jostle hit loads one"),
        (["@none.txt"], "@none.txt cannot be read"),
    ],
)
def test_what_is_loaded_is_one_url(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["hit", *words])
    assert says in capsys.readouterr().err


def test_a_text_without_curl_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import io

    monkeypatch.setattr(sys, "stdin", io.StringIO("/a\n/b\n"))
    with pytest.raises(SystemExit):
        main(["hit", "-"])
    told = capsys.readouterr().err
    assert "standard input has no curl command" in told
    assert "jostle hit --urls /dev/stdin" in told
