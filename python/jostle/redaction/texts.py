"""Secrets inside texts: passwords in URLs, `name=value` and `name: value`, tokens of a known form."""

import re
from collections.abc import Iterator

from jostle.redaction.names import Hide, hidden, names_a_secret

__all__ = ["is_a_variable", "redact_text", "without_password"]

_VARIABLE = re.compile(r"((Bearer|Basic|Token) )?\{[^{}]+\}")
"""A variable in place of a secret, which need not be hidden: the secret itself is elsewhere."""

_PASSWORD = re.compile(
    r"(?P<before>(?<![\w+.-])\w[\w+.-]*+:/{1,3}(?:[^:/?#\s\[\"'<>]|'(?=\w))*)"
    r":(?!(?:\d+|\{[^{}]*\})(?:[/?#\s\"'<>]|$))(?!\{[^{}@]+\}@[^@/?#\s]*(?:[/?#\s]|$))"
    r"(?P<secret>[^/?#\s]+|[^\s\"'<>@]{1,1024})@"
)
"""In a URL. A port or a variable is no password, but what only begins like one is."""

_LOGIN = re.compile(
    r"(?P<before>(?:https?|wss?|grpcs?):/{1,3})(?!\{[^{}]+\}:?@)(?P<secret>[^:/?#@\s\"<>]+)(?P<after>:?@)"
)
"""A user without a password: it is a token. Databases ask others for the password of a user."""

_BARE_LOGIN = re.compile(
    r"(?P<before>(?<![^\s\"'=])(?!mailto:)[\w.%~+-]++):(?P<secret>[^/?#@:\s\"'<>]+)@(?=[\w\[])"
)
"""A URL without its scheme: `me:password@here:8080/`."""

_PAIR = re.compile(
    r"(?<![\w.\[\]%-])(?P<name>[\w.\[\]%-]++)"
    r"(?:(?P<quoted>\\*+[\"']?\]?[ \t]*+(?:=>|:?=|:)[ \t]*+(?:\[[ \t]*+)?(?:\\++[\"']|[\"']))"
    r"|(?P<equals>=)|(?P<json>[\"'][ \t]*+:[ \t]*+)|(?P<colon>:[ \t]++))"
)
_VALUES = {
    "quoted": re.compile(r"(?<=\\[\"'])[^\"'\\]*+|(?<=\")(?:[^\"\\]|\\.)*+|(?<=')[^']*+", re.DOTALL),
    "equals": re.compile(r"[^&#\s\"'<>]++"),
    "json": re.compile(r"-?\d[\w.]*+"),
    "colon": re.compile(r"(?:[A-Z][A-Za-z-]+[ ]+)?(?:(?=[^\s\"'<>]*\d)[^\s\"'<>]{4,}|[^\s\"'<>]{16,})"),
}
"""`name = "value"`, `name=value`, `"name": 1234`, and `Name: value` if the value looks like no word of a
sentence. Values are read only behind names of secrets: a text of many names is read once."""

_SCHEME = re.compile(
    r"(?P<before>(?<!\w)(?:Bearer|Basic|Digest|Negotiate|Token)[ ]+)"
    r"(?P<secret>(?=[A-Z]?[a-z]*[\dA-Z_~+/=])[\w.~+/=-]{4,})"
)
"""The credentials of an Authorization header, wherever they stand; "Basic authentication" is prose."""

_KNOWN_FORM = re.compile(
    r"(?<!\w)eyJ[\w-]{8,4096}+\.[\w-]++\.[\w-]*+"
    r"|(?<=-----BEGIN PRIVATE KEY-----)[^-]+|(?<=[A-Z] PRIVATE KEY-----)[^-]{20,}(?=-----END)"
)
"""A JSON web token, and a private key in PEM form."""


def is_a_variable(text: str) -> bool:
    """Whether it is `{name}`, also behind the scheme of an Authorization header."""
    return _VARIABLE.fullmatch(text) is not None


def redact_text(text: str, hide: Hide = hidden) -> str:
    """The text, fit for a record. `hide` is called with each secret, and returns what takes its place."""

    def login(found: re.Match[str]) -> str:
        return f"{found['before']}{hide(found['secret'])}{found['after']}"

    def password(found: re.Match[str]) -> str:
        return f"{found['before']}:{hide(found['secret'])}@"

    text = _KNOWN_FORM.sub(lambda found: hide(found[0]), text)
    if ":" in text:
        text = _PASSWORD.sub(password, text)
        text = _LOGIN.sub(login, text)
        text = _BARE_LOGIN.sub(password, text)
    text = "".join(_without_pairs(text, hide))
    return _SCHEME.sub(lambda found: found["before"] + hide(found["secret"]), text)


def _without_pairs(text: str, hide: Hide) -> Iterator[str]:
    """The text in pieces, with the values of names of secrets hidden.

    Other values are looked through as well: "Referer: http://here/?token=…".
    """
    kept = place = 0
    while found := _PAIR.search(text, place):
        mark = found.lastgroup or ""
        place = found.end("name")
        if not names_a_secret(_key(found, found[mark])):
            continue
        value = _VALUES[mark].match(text, found.end())
        if value and value[0] and not is_a_variable(value[0]):
            yield text[kept : value.start()]
            yield hide(value[0])
            kept = place = value.end()
    yield text[kept:]


def _key(found: re.Match[str], mark: str) -> str:
    """The part of the name that says what the value is: in messages, places of a plan precede a colon."""
    if not mark.startswith(":"):
        return found["name"]
    *tables, key = found["name"].split(".")
    return "" if tables and tables[-1] in ("capture", "tls") else key


def without_password(text: str) -> str:
    """`postgresql://me:secret@here/shop` → `postgresql://me@here/shop`, anywhere in `text`."""
    text = _PASSWORD.sub(lambda found: f"{found['before']}@", text)
    return _PASSWORD_KEY.sub(r"\1", text)


_PASSWORD_KEY = re.compile(r"([?&]password=)(?!\{[^{}]+\}(?:[&#\s]|$))[^&#\s]+")
