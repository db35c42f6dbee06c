"""Options of other load testers, and of curl, that `jostle hit` has under another name."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import takewhile
from typing import TYPE_CHECKING

from jostle.errors import UserError

if TYPE_CHECKING:
    import typer

__all__ = ["WORDS", "foreign_hint", "foreign_hints", "options_of"]

WORDS = "jostle.words"
"""The key of a command's words in the `meta` of its context."""

_CURL_ITSELF = "a curl command is taken as it is: jostle hit -- curl …"

ABSENT = {
    "-a": ("the login in hey", "-u USER:PASSWORD"),
    "-C": ("a cookie in ab", "-H 'Cookie: NAME=VALUE'"),
    "-D": ("the file of the body in hey and oha", "-b @FILE"),
    "-e": ("the referrer in curl", "-H 'Referer: URL'"),
    "-F": ("a form in curl and oha", _CURL_ITSELF),
    "-g": ("globbing in curl", _CURL_ITSELF),
    "-G": ("data in the query in curl", _CURL_ITSELF),
    "-i": ("HEAD in ab, or a body in autocannon", "-X HEAD, or -b @FILE"),
    "-I": ("HEAD in curl", "-X HEAD"),
    "-j": ("the result as JSON in oha and autocannon", "--json"),
    "-l": ("in bombardier and autocannon", "nothing: latencies are always shown"),
    "-p": ("the file of the body in ab, or pipelining", "-b @FILE; requests are not pipelined"),
    "-P": ("a form in ab", "-u USER:PASSWORD"),
    "-R": ("the rate in wrk2", "-r RATE"),
    "-s": ("a script in wrk, or the timeout in ab", "--journey FILE.luau, or --timeout TIME"),
    "-T": (
        "the timeout in wrk, or the type of the body in ab and hey",
        "--timeout TIME, or -H 'Content-Type: …'",
    ),
    "-V": ("the version", "jostle --version"),
    "-w": ("a table in ab, or workers", "-c N for clients, --output FILE.html for a page"),
    "-x": ("a proxy in curl and hey", "--connect-to IP:PORT, if the proxy takes requests as a server does"),
    "-z": ("the duration in hey and oha", "-d {value}"),
    "--body-file": ("in bombardier", "-b @FILE"),
    "--concurrency": ("in siege and h2load", "-c {value}"),
    "--connect": ("in other tools", "--connect-to IP:PORT"),
    "--cookie": ("in curl", "-H 'Cookie: {value}'"),
    "--data-ascii": ("in curl", "-b {value}"),
    "--data-binary": ("in curl", "-b {value}"),
    "--data-raw": ("in curl", "-b {value}"),
    "--data-urlencode": ("in curl", _CURL_ITSELF),
    "--disable-keepalive": ("in hey and oha", "--no-keepalive"),
    "--fail": ("in curl", "nothing: other statuses than 200 to 399 count as wrong; see --expect-status"),
    "--form": ("in curl", _CURL_ITSELF),
    "--get": ("in curl", _CURL_ITSELF),
    "--head": ("in curl", "-X HEAD"),
    "--http2-prior-knowledge": ("in curl", "--http2 with an http:// URL"),
    "--iterations": ("in k6", "-n {value}"),
    "--json-output": ("in other tools", "--json"),
    "--latencies": ("in bombardier", "nothing: latencies are always shown"),
    "--latency": ("in wrk", "nothing: latencies are always shown"),
    "--latency-correction": (
        "in oha",
        "nothing: with --rate, times always count from when a request was due",
    ),
    "--max-time": ("in curl", "--timeout {value}"),
    "--max-workers": ("in vegeta", "-c {value}"),
    "--no-tui": ("in oha", "-q"),
    "--qps": ("in oha and fortio", "-r {value}"),
    "--redirect": ("in oha", "--max-redirs {value}"),
    "--referer": ("in curl", "-H 'Referer: {value}'"),
    "--request": ("in curl", "-X {value}"),
    "--rps": ("in k6", "-r {value}"),
    "--run-time": ("in Locust", "-d {value}"),
    "--script": ("in wrk", "--journey FILE.luau"),
    "--stage": ("in k6", "phases in a plan: jostle init writes one"),
    "--targets": ("in vegeta", "--urls {value}"),
    "--time": ("in siege", "-d {value}"),
    "--url": ("in curl", "just the URL"),
    "--urls-from-file": ("in oha", "--urls {value}"),
    "--users": ("in Locust", "-c {value}"),
    "--vus": ("in k6", "-c {value}"),
    "--workers": ("in vegeta and autocannon", "-c {value} for clients, -t for threads"),
}
"""Option → where it is what, and what it is here. `{value}` is what was given behind it."""

TAKEN = {
    "-d": (re.compile(r"[@{\[]|[^\d\s]*="), "-d is the duration here; the body is -b {value}"),
    "--json": (
        re.compile(r"""[@{\["]"""),
        "--json prints the result as JSON; a JSON body is --json-body {value}",
    ),
    "-m": (
        re.compile(r"[\d.]+s?$"),
        "-m is the method here; the longest time for a response is --timeout {value}",
    ),
    "-q": (re.compile(r"[\d.]+(/s)?$"), "-q shows no progress here; a rate is -r {value}"),
    "-r": (re.compile(r"ate\b"), "long options begin with two dashes: --r{value}"),
    "-t": (
        re.compile(r"\d+(\.\d+)?(ms|s|m)$"),
        "-t is the number of threads here; a time is -d or --timeout {value}",
    ),
}
"""Options that mean something else here: how values for the other meaning begin, and what is said."""


@contextmanager
def foreign_hints(context: "typer.Context") -> Iterator[None]:
    """While a plan is made of the command's words: a refusal says what a word of another tool is here."""
    try:
        yield
    except UserError as error:
        if hint := foreign_hint(context.meta[WORDS], options_of(context.command)):
            raise UserError(error.message, hint) from None
        raise


def options_of(command: "typer._click.Command") -> dict[str, bool]:
    """The names of a command's options, and whether each takes a value."""
    return {
        name: not getattr(option, "is_flag", False)
        for option in command.params
        for name in (*option.opts, *option.secondary_opts)
    }


def foreign_hint(words: Sequence[str], known: Mapping[str, bool]) -> str:
    """What the words of a command that was refused are called here; "" if they are no habit of another tool.

    `known`: as of `options_of`.
    """
    options: list[tuple[str, str]] = []
    arguments = 0
    before = ""
    rest = takewhile(lambda word: word != "--", words)
    following = [*words[1:], ""]
    for word, next_word in zip(rest, following, strict=False):
        if _takes_next(before, known):
            before = ""  # this word is a value
            continue
        if word == "curl" and not before.startswith("-"):
            return "the words of a curl command stand behind --: jostle hit -- curl …"
        before = word
        if word.startswith("-"):
            options.append((word, next_word))
        else:
            arguments += 1
    hints = (_of(word, next_word, known, spare=arguments > 1) for word, next_word in options)
    return next(filter(None, hints), "")


def _takes_next(word: str, known: Mapping[str, bool]) -> bool:
    """Whether the word behind this one is its value: behind --timeout, or behind the last letter of -Lc."""
    if word.startswith("--") or not word.startswith("-"):
        return known.get(word, False)
    letters = [f"-{letter}" for letter in word[1:]]
    return (
        bool(letters)
        and known.get(letters[-1], False)
        and not any(known.get(one, True) for one in letters[:-1])
    )


def _of(word: str, following: str, known: Mapping[str, bool], *, spare: bool) -> str:
    """`spare`: there are more arguments than one, so that one may be meant as the value of a switch."""
    name, equals, own = word.partition("=")
    if not name.startswith("--") and f"-{name}" in known and len(name) > 2:
        return f"long options begin with two dashes: -{word}"  # as vegeta writes them
    if name not in known and name in ABSENT:
        return _absent(name, own if equals else following if not following.startswith("-") else "")
    if not name.startswith("--"):
        name, own = name[:2], word[2:]
    if name in TAKEN:
        pattern, says = TAKEN[name]
        value = own or following
        if pattern.match(value) and (own or known[name] or spare):
            return says.format(value=_quoted(value))
    letter = word[:2]
    if letter not in known and letter in ABSENT and not word.startswith("--"):
        return _absent(letter, word[2:])
    return ""


def _absent(name: str, value: str) -> str:
    where, here = ABSENT[name]
    here = here.format(value=_quoted(value or "…"))
    if here == _CURL_ITSELF:
        return f"{name} {where}: {here}" if where.startswith("in ") else f"{name} is {where}; {here}"
    if here.startswith("nothing: "):
        return f"{name} {where}: {here.removeprefix('nothing: ')}"
    return (
        f"{name} {where}: here it is {here}"
        if where.startswith("in ")
        else f"{name} is {where}; here it is {here}"
    )


def _quoted(value: str) -> str:
    """The value as it is typed."""
    return value if re.fullmatch(r"[\w./:@%+,…-]*", value) else f"'{value}'"
