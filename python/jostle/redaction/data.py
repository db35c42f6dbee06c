"""Secrets in tables: plans, specifications, records."""

import base64
import binascii
from collections.abc import Callable, Collection, Iterator
from typing import Any

from jostle.redaction.commands import redact_command
from jostle.redaction.names import HIDDEN, Hide, hidden, names_a_secret
from jostle.redaction.sent import (
    redact_body,
    redact_body_base64,
    redact_headers,
    redact_sent,
    redact_value,
)
from jostle.redaction.texts import redact_text

__all__ = ["redact", "replace_secrets", "secrets_in"]


def redact(data: Any, hide: Hide = hidden) -> Any:
    """The same data (tables, lists and texts, as in TOML or JSON), fit for a record.

    Hidden are texts and lists of texts under a key that names a secret; what the keys of `_RULES` hold, as
    their rule says; in every other text what `redact_text` finds. `hide` is called with each secret, and
    returns what takes its place.
    """
    if isinstance(data, dict):
        return {key: _value(str(key), value, hide) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [redact(item, hide) for item in data]
    return redact_text(data, hide) if isinstance(data, str) else data


MIN_KNOWN = 6
"""The fewest characters of a secret that is looked for everywhere; shorter ones occur by chance."""


def secrets_in(data: Any) -> frozenset[str]:
    """The secrets that `redact` hides, as far as they can be looked for in other texts.

    Left out are short ones, and those that are also a name in `data`, such as that of a contestant.
    """
    found: set[str] = set()

    def note(secret: str) -> str:
        found.update((secret, *_credentials(secret)))
        return HIDDEN

    redact(data, note)
    return frozenset(s for s in found - set(_names(data)) - {HIDDEN} if len(s) >= MIN_KNOWN)


def replace_secrets(data: Any, secrets: Collection[str]) -> Any:
    """The same data with `HIDDEN` in place of each of the `secrets`, wherever it stands in a text."""
    if not secrets:
        return data
    if isinstance(data, dict):
        return {key: replace_secrets(value, secrets) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [replace_secrets(item, secrets) for item in data]
    if isinstance(data, str):
        for secret in sorted(secrets, key=len, reverse=True):
            data = data.replace(secret, HIDDEN)
    return data


def _credentials(header: str) -> Iterator[str]:
    """What an Authorization header holds: "Bearer x" → "x"; of "Basic …" also the password."""
    scheme, _, rest = header.partition(" ")
    if scheme.isalpha() and rest and " " not in rest:
        yield rest
        if scheme == "Basic":
            try:
                yield base64.b64decode(rest, validate=True).decode().partition(":")[2]
            except (binascii.Error, UnicodeDecodeError):
                return


def _names(data: Any) -> Iterator[str]:
    """The keys in it, and the names of contestants."""
    if isinstance(data, dict):
        yield from map(str, data)
        for key, value in data.items():
            yield from (
                (str(item) for item in value if key == "contestants") if isinstance(value, list) else ()
            )
            yield from _names(value)
    elif isinstance(data, list | tuple):
        for item in data:
            yield from _names(item)


def _value(name: str, value: Any, hide: Hide) -> Any:
    if name in _NAMED and isinstance(value, dict):
        return {key: redact(item, hide) for key, item in value.items()}
    if (rule := _RULES.get(name)) is not None:
        return rule(value, hide)
    if value and names_a_secret(name):
        if isinstance(value, str):
            return redact_value(value, hide)
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return [redact_value(item, hide) for item in value]
    return redact(value, hide)


_NAMED = ("contestant", "journey", "workload")
"""Tables of tables, by names that users choose."""


def _as_it_is(value: Any, _: Hide) -> Any:
    return value


def _command(words: Any, hide: Hide) -> Any:
    if isinstance(words, list) and all(isinstance(word, str) for word in words):
        return redact_command(words, hide)
    return [_command(each, hide) for each in words] if isinstance(words, list) else redact(words, hide)


def _body(sent: Any, hide: Hide) -> Any:
    """A text that is sent, or a table that says how it is written."""
    if isinstance(sent, str):
        return redact_body(sent, hide)
    if isinstance(sent, dict) and isinstance(sent.get("hex"), str):
        encoded = base64.b64encode(bytes.fromhex("".join(_outside_braces(sent["hex"])))).decode()
        return sent if redact_body_base64(encoded, hide) == encoded else {"text": HIDDEN}
    if isinstance(sent, dict) and isinstance(sent.get("text"), str):
        return {**sent, "text": redact_body(sent["text"], hide)}
    return redact_sent(sent, hide)


def _body_in_hex(body: str, hide: Hide) -> str:
    encoded = base64.b64encode(bytes.fromhex(body)).decode()
    return body if redact_body_base64(encoded, hide) == encoded else HIDDEN.encode().hex()


def _outside_braces(text: str) -> Iterator[str]:
    for piece in text.split("{"):
        yield piece.rpartition("}")[2]


def _params(params: Any, hide: Hide) -> Any:
    """Values by name. A table among them is a range, a column of a file, or the place of a variable."""
    if not isinstance(params, dict):
        return redact(params, hide)
    return {
        name: {"choice": redact_sent({name: value["choice"]}, hide)[name]}
        if isinstance(value, dict) and "choice" in value
        else value
        if isinstance(value, dict)
        else redact_sent({name: value}, hide)[name]
        for name, value in params.items()
    }


def _expect(expected: Any, hide: Hide) -> Any:
    """What a response must hold."""
    if isinstance(expected, str):
        return redact_body(expected, hide)
    if not isinstance(expected, dict):
        return expected
    rules = dict.fromkeys(("body", "contains", "lacks", "exact"), _expect) | {"json": _expected_json}
    return {key: rules[key](value, hide) if key in rules else value for key, value in expected.items()}


def _expected_json(expected: Any, hide: Hide) -> Any:
    secret = names_a_secret(expected["pointer"])
    return {**expected, "value": redact_sent(expected["value"], hide, secret=secret)}


def _tls(tls: Any, hide: Hide) -> Any:
    """A plan names the file of the key; a specification has the key itself, under another name."""
    if not isinstance(tls, dict):
        return tls
    return {key: value if key == "key" else _value(key, value, hide) for key, value in tls.items()}


_RULES: dict[str, Callable[[Any, Hide], Any]] = {
    **dict.fromkeys(("capture", "usage", "until", "match", "when", "stop-when", "services"), _as_it_is),
    **dict.fromkeys(("command", "commands", "argv"), _command),
    **dict.fromkeys(("body", "send", "tcp", "udp"), _body),
    **dict.fromkeys(("env", "form", "json", "message", "parameters", "variants"), redact_sent),
    **dict.fromkeys(("headers", "metadata"), redact_headers),
    "body-hex": _body_in_hex,
    "body_base64": redact_body_base64,
    "expect": _expect,
    "params": _params,
    "tls": _tls,
}
"""How the values of certain keys of plans, specifications and records are redacted. The first row says where
in a response something is, not what it is."""
