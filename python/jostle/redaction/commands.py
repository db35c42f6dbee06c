"""Secrets in the words of a command line: jostle's own, and those that start contestants."""

import re
import shlex
from collections.abc import Callable, Sequence

from jostle.redaction.names import Hide, hidden, names_a_secret
from jostle.redaction.sent import redact_body, redact_value
from jostle.redaction.texts import redact_text

__all__ = ["redact_command", "rerun"]

OWN_FILES = ("--key", "--cert")
"""Options of jostle itself that name a file, not a secret."""


def redact_command(words: Sequence[str], hide: Hide = hidden) -> list[str]:
    """The words of a command, fit for a record.

    Redacted are headers (`-H`), users with their passwords (`-u`), bodies, forms and messages (`-b`, `-d`,
    `--json`, `--send`, …), settings (`--set`), the value of any option whose name suggests a secret and, in
    every other word, what `redact_text` hides. Behind the word curl, `-b` is a cookie. Where URLs stand (of
    jostle and of curl), a login is hidden as a whole, as a user alone may be a token.
    """
    own, curl = words[:1] == ["jostle"], False
    redacted: list[str] = []
    rule: RedactionRule | None = None
    """How to hide the next word, if it is the value of the option before it."""
    for word in words:
        if rule is not None and not _is_an_option(word):
            redacted.append(rule(word, hide))
            rule = None
            continue
        curl = curl or _RUNS_CURL.fullmatch(word) is not None
        option, value, rule = _option(word, curl=curl)
        if (own or curl) and rule is _plain and (login := _LOGIN_OF_A_PLACE.match(word)):
            redacted.append(redact_value(login[0], hide) + redact_text(word[login.end() :], hide))
            rule = None
            continue
        if own and option.rstrip("=") in OWN_FILES:
            rule = _as_it_is
        if option and not value and not option.endswith("="):
            redacted.append(word)
        else:
            redacted.append(option + rule(value, hide))
            rule = None
    return redacted


def rerun(words: Sequence[str], seed: int | None) -> str:
    """The command, fit for a record, that measures the same again: with this seed unless one was typed."""
    again = redact_command(words)
    if seed is not None and not any(word.startswith("--seed") for word in again):
        again += ["--seed", str(seed)]
    return shlex.join(again)


RedactionRule = Callable[[str, Hide], str]


def _as_it_is(text: str, _: Hide) -> str:
    return text


def _pair(text: str, hide: Hide) -> str:
    """Redact "Name: value" of a header, "name=value" of a setting or a form, "user:password"."""
    found = _PAIR.fullmatch(text)
    if found is None or not found["value"] or not names_a_secret(found["name"]):
        return redact_text(text, hide)
    return found["name"] + found["mark"] + redact_value(found["value"], hide)


_PAIR = re.compile(r"(?P<name>[^:=]*)(?P<mark>[:=][ \t]*)(?P<value>.*)", re.DOTALL)


def _plain(word: str, hide: Hide) -> str:
    """A word that is no option; what a shell is to carry out is a command itself."""
    if any(c.isspace() for c in word):
        try:
            words = shlex.split(word)
        except ValueError:
            return hide(word) if _CURL.search(word) else redact_text(word, hide)
        redacted = redact_command(words, hide)
        if redacted != words:
            return shlex.join(redacted)
    return redact_text(word, hide)


_LOGIN_OF_A_PLACE = re.compile(r"(?!-|@|unix:@)[^\s/?#]+(?=@[\w\[])")
"""In a URL without its scheme; `unix:@name` is a socket."""


def _login(text: str, hide: Hide) -> str:
    user, colon, password = text.partition(":")
    return user + colon + redact_value(password, hide) if colon else redact_text(text, hide)


def _is_an_option(word: str) -> bool:
    """Whether a word is an option, and not the value of the option before it."""
    return re.fullmatch(r"--[a-z][\w-]*(=.*)?", word, re.DOTALL) is not None


def _option(word: str, *, curl: bool) -> tuple[str, str, RedactionRule]:
    """The option with its "=", its value, and how the value is made fit for a record."""
    whole = _in_full(word) if curl else word
    if curl and (found := _COOKIE.fullmatch(whole)):
        return _typed(word, found["value"]), found["value"], redact_value
    found = _LONG.fullmatch(whole)
    if found is not None and names_a_secret(found["option"]):
        return _typed(word, found["value"]), found["value"], redact_value
    for pattern, rule in _CURLS_OPTIONS if curl else _OPTIONS:
        if found := pattern.fullmatch(whole):
            return _typed(word, found["value"]), found["value"], rule
    return "", word, _plain


def _typed(word: str, value: str) -> str:
    """The option as it was typed."""
    return word[: len(word) - len(value)]


_LONG = re.compile(
    r"(?P<option>--?(?!(?:no|with|without|enable|disable)-)[A-Za-z][\w.-]*+(?:=|$))(?P<value>.*)", re.DOTALL
)


_CURL = re.compile(r"(?<![^\s/\\])curl(?:\.exe)?(?!\S)", re.IGNORECASE)
_RUNS_CURL = re.compile(r"(?:.*[/\\])?curl(?:\.exe)?", re.DOTALL | re.IGNORECASE)

_FLAGS = "kLsSvifgNj"
_CURLS_FLAGS = "0-346aBfgGhIijJklLMnNOpqRsSvVZ#:"
"""Letters without a value, behind which one with a value may stand: -kH."""


def _options(flags: str) -> list[tuple[re.Pattern[str], RedactionRule]]:
    """How the values of options are made fit for a record: of long ones, and of letters behind `flags`."""
    return [
        (re.compile(rf"(?P<option>--(?:{long})(?:=|$)|-[{flags}]*[{short}])(?P<value>.*)", re.DOTALL), rule)
        for long, short, rule in (
            ("header|proxy-header|metadata", "H", _pair),
            ("user|proxy-user", "uU", _login),
            ("body|data|data-[a-z]+|json|json-body|send|message|url-query", "bd", redact_body),
            ("form|form-string|set|env|build-arg", "Fe", _pair),
        )
    ]


_COOKIE = re.compile(rf"(?P<option>--cookie(?:=|$)|-[{_CURLS_FLAGS}]*b)(?P<value>.*)", re.DOTALL)
_OPTIONS = _options(_FLAGS)
_CURLS_OPTIONS = _options(_CURLS_FLAGS)

_CURLS_SECRETS = (
    *("header", "user", "cookie", "json", "form", "form-string", "url-query", "oauth2-bearer", "key", "pass"),
    *("data", "data-ascii", "data-binary", "data-raw", "data-urlencode", "tlspassword"),
    *("proxy-header", "proxy-user", "proxy-pass", "proxy-key", "proxy-key-type", "proxy-tlspassword"),
)
"""The options of curl whose values are hidden: it takes the beginning of a name for the whole."""
_CURLS_OTHERS = ("head", "url", "proxy")
"""Whole names with which one of those begins."""


def _in_full(word: str) -> str:
    """An option of curl by its whole name, if that is one of `_CURLS_SECRETS`."""
    name, equals, value = word[2:].partition("=")
    if not word.startswith("--") or not name or name in _CURLS_OTHERS:
        return word
    whole = name if name in _CURLS_SECRETS else next((o for o in _CURLS_SECRETS if o.startswith(name)), name)
    return f"--{whole}{equals}{value}"
