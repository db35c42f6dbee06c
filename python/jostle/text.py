"""Reading texts, making foreign text safe to show, splitting addresses, and keeping secrets out of records.

What counts as a secret, in the plan, the command line and every record: values whose name says so (headers,
environment, parameters, keys of a query), passwords in URLs, and bodies in which such a name occurs.
docs/PLAN.md tells users the same.
"""

import errno
import re
import shlex
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

__all__ = [
    "DEFAULT_PORTS",
    "HIDDEN",
    "first_line",
    "host_and_port",
    "in_ascii",
    "names_a_secret",
    "one_line",
    "plain_lines",
    "quoted",
    "read_text",
    "reason",
    "redact",
    "redact_body",
    "redact_command",
    "rerun",
    "tied",
    "without_password",
]

DEFAULT_PORTS = {
    "http": 80,
    "https": 443,
    "ws": 80,
    "wss": 443,
    "grpc": 80,
    "grpcs": 443,
    "postgres": 5432,
    "postgresql": 5432,
}
"""The port of a URL that names none, by scheme."""

HIDDEN = "(hidden)"
"""Replaces secrets in records."""

_NAME = (
    r"auth(?!or(?!i[sz]))|cookie|token|secret|passw|pwd|session|credential|signature"
    r"|(?:api|access|private)[-_]?key"
)
_SECRET_NAME = re.compile(_NAME, re.IGNORECASE)
_PLACEHOLDER = re.compile(r"((Bearer|Basic|Token) )?\{[^{}]+\}")
"""A variable in place of a secret, which need not be hidden: the secret itself is elsewhere."""
_VALUE = r"(?!\{[^{}]+\}(?:[&#\s]|$))[^&#\s]+"
"""In a query. A variable may stand for a secret; what only begins like one is a secret."""
_PASSWORD = re.compile(
    r"((?<!\w)\w++://[^:/?#@\s]*):(?!\{[^{}@]+\}@[^@/?#\s]*(?:[/?#\s]|$))[^/?#\s]+@"
    rf"|([?&]password=){_VALUE}"
)
_QUERY = re.compile(rf"([?&][^=&#\s]*(?:{_NAME})[^=&#\s]*=){_VALUE}", re.IGNORECASE)


_SPACES = "\N{NO-BREAK SPACE}\N{THIN SPACE}\N{NARROW NO-BREAK SPACE}"


def one_line(text: object) -> str:
    """Foreign text made safe for one line: without control characters, line breaks or bidi marks."""
    return "".join(c if c.isprintable() or c in _SPACES else "·" for c in str(text))


def plain_lines(text: str) -> list[str]:
    """The lines of a foreign text, each made safe; tabs become spaces."""
    return [one_line(line.expandtabs(4)) for line in text.splitlines()]


def host_and_port(url: str) -> tuple[str, int]:
    """Where connections to a URL go, if its scheme is in `DEFAULT_PORTS`; the host is empty if it has none.

    Raises `ValueError` for an invalid host or port, `KeyError` for another scheme.
    """
    parts = urlsplit(url)
    host = in_ascii(parts.hostname) if parts.hostname else ""
    return host, DEFAULT_PORTS[parts.scheme] if parts.port is None else parts.port


def in_ascii(host: str) -> str:
    """A host's name as it is looked up: other letters than those of ASCII as RFC 3490 encodes them.

    Raises `ValueError` for what cannot be the name of a host.
    """
    if any(character.isspace() for character in host):
        raise ValueError("a host name has no spaces")
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        raise ValueError("each part of a host name has 1 to 63 letters, digits or hyphens") from None


def quoted(text: str) -> str:
    """Lines of foreign origin, each after a bar.

    GitHub's runner takes a log line that begins with "::" for a command, even after spaces.
    """
    return "\n".join(f"│ {line}" for line in text.split("\n"))


def first_line(why: str) -> str:
    """The first line of why something failed, without the words that announce the output below it."""
    return why.partition("\n")[0].removesuffix(":").removesuffix("; its last output")


_GIVEN = ("/dev/stdin", "/dev/fd/")
"""How the paths begin of files that are open already: standard input, and <(…) of a shell."""


def read_text(path: Path) -> str:
    """The UTF-8 text of a regular file, or of one that is open already, without a byte order mark.

    Raises `OSError` for other FIFOs and devices, which may never begin or never end.
    """
    if path.exists() and not (path.is_file() or path.is_dir() or str(path).startswith(_GIVEN)):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return path.read_text(encoding="utf-8-sig")


def reason(error: OSError | UnicodeDecodeError) -> str:
    """Why an operation failed, as part of a sentence: "connection refused"."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    return error.strerror.lower() if error.strerror else str(error)


def names_a_secret(name: str) -> bool:
    """Whether a value of this name may be a credential: `Authorization`, `X-Api-Key`, `DB_PASSWORD`, …"""
    return _SECRET_NAME.search(name) is not None


def without_password(text: str) -> str:
    """`postgresql://me:secret@here/shop` → `postgresql://me@here/shop`, anywhere in `text`."""
    return _PASSWORD.sub(lambda found: f"{found[1]}@" if found[1] else found[2], text)


def redact(data: Any, known: Collection[str] = ()) -> Any:
    """The same data (tables, lists and texts, as in TOML or JSON), fit for a record.

    Hidden are texts and lists of texts under a key that names a secret; in every other text, passwords and
    values of secret query keys; and the `known` secrets wherever they occur. For `body`, `send`, `tcp` and
    `udp`, see `redact_body`.
    """
    if isinstance(data, dict):
        return {key: _redact_value(str(key), value, known) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [redact(item, known) for item in data]
    return _redact_text(data, known) if isinstance(data, str) else data


def redact_body(body: str) -> str:
    """The body of a request, or `HIDDEN` if the name of a secret occurs in it."""
    return HIDDEN if names_a_secret(body) else body


def redact_command(words: Sequence[str]) -> list[str]:
    """The words of a command, fit for a record.

    Redacted are headers (`-H`), bodies and messages (`-b`, `--data`, `--send`, `--message`), settings
    (`--set`), the value of any option whose name suggests a secret and, in every other word, passwords and
    values of secret query keys.
    """
    redacted: list[str] = []
    hide: Callable[[str], str] | None = None
    """How to hide the next word, if it is the value of the option before it."""
    for word in words:
        if hide is not None:
            redacted.append(hide(word))
            hide = None
            continue
        option, value, rule = _option(word)
        hide = rule if option and not value and not option.endswith("=") else None
        redacted.append(word if hide is not None else option + rule(value))
    return redacted


def rerun(words: Sequence[str], seed: int | None) -> str:
    """The command, fit for a record, that measures the same again: with this seed unless one was typed."""
    again = redact_command(words)
    if seed is not None and not any(word.startswith("--seed") for word in again):
        again += ["--seed", str(seed)]
    return shlex.join(again)


def _option(word: str) -> tuple[str, str, Callable[[str], str]]:
    """The option with its "=", its value, and how the value is made fit for a record."""
    for pattern, rule in _OPTIONS:
        if found := pattern.fullmatch(word):
            return found["option"], found["value"], rule
    return "", word, _redact_text


def _redact_value(name: str, value: Any, known: Collection[str]) -> Any:
    if name == "capture":
        return value  # says where in an answer something is, not what it is
    if isinstance(value, str) and name in ("body", "send", "tcp", "udp"):
        return redact_body(_redact_text(value, known))
    if isinstance(value, dict) and name in ("tcp", "udp"):
        hidden = names_a_secret(_raw_text(value))
        return {"text": HIDDEN} if hidden else redact(value, known)
    if value and names_a_secret(name):
        if isinstance(value, str):
            return value if _PLACEHOLDER.fullmatch(value) else HIDDEN
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return [HIDDEN] * len(value)
    return redact(value, known)


_BRACES = re.compile(r"\{[^{}]*\}")


def _raw_text(sent: dict[str, Any]) -> str:
    """What a request of raw bytes sends, if the plan contains it."""
    if "hex" in sent:
        return bytes.fromhex(_BRACES.sub("", sent["hex"])).decode(errors="replace")
    return str(sent.get("text", ""))


def _redact_text(text: str, known: Collection[str] = ()) -> str:
    for secret in known:
        text = text.replace(secret, HIDDEN)
    hidden = _PASSWORD.sub(lambda found: f"{found[1]}:{HIDDEN}@" if found[1] else found[2] + HIDDEN, text)
    return _QUERY.sub(rf"\1{HIDDEN}", hidden)


def _redact_pair(mark: str, text: str) -> str:
    """Redact "Name: value" of a header or "name=value" of a setting."""
    name, found, value = text.partition(mark)
    if not found or not names_a_secret(name):
        return _redact_text(text)
    blank = " " if value.startswith(" ") else ""
    return f"{name}{mark}{blank}{HIDDEN}"


_OPTIONS: list[tuple[re.Pattern[str], Callable[[str], str]]] = [
    (
        re.compile(r"(?P<option>--header(=|$)|-[A-Za-z]*?H)(?P<value>.*)", re.DOTALL),
        partial(_redact_pair, ":"),
    ),
    (
        re.compile(r"(?P<option>--(?:body|data|send|message)(=|$)|-[A-Za-z]*?b)(?P<value>.*)", re.DOTALL),
        redact_body,
    ),
    (re.compile(r"(?P<option>--set(=|$))(?P<value>.*)", re.DOTALL), partial(_redact_pair, "=")),
    (
        re.compile(rf"(?P<option>--?[\w.-]*({_NAME})[\w.-]*(=|$))(?P<value>.*)", re.DOTALL | re.IGNORECASE),
        lambda _: HIDDEN,
    ),
]


_BEFORE_A_UNIT = re.compile(r"(?<=\d) (?=(?:%|µs|ms|s|min|h|[kMGT]?i?B)(?![\w-]))")


def tied(text: str) -> str:
    """Keep figures and their units on one line."""
    return _BEFORE_A_UNIT.sub("\N{NO-BREAK SPACE}", text)
