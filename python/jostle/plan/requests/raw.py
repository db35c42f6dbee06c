"""Requests that are bytes without a protocol: what is sent, where the response ends, how it is recognised."""

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from jostle.errors import BadValue
from jostle.plan.base import Table
from jostle.plan.values import File, PositiveCount, check_regex, shown

__all__ = [
    "PLACEHOLDER",
    "SERIALS",
    "Hex",
    "RawSent",
    "RawUntil",
    "Sent",
    "Until",
    "bytes_matched",
    "sent_as",
    "unescaped",
    "until_as",
]

PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
SERIALS = re.compile(r"\{([A-Za-z_]\w*:u(8|16|32|64))\}")
"""Placeholders for a number of the given width that differs in each request of a client."""
_SERIAL = re.compile(r"[A-Za-z_]\w*:u\d+")
_RANGE = re.compile(r"bytes:(\d{1,5})\.\.(\d{1,5})")

_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|[rnt0\\]|.|$)", re.DOTALL)
_CONTROL = {"r": b"\r", "n": b"\n", "t": b"\t", "0": b"\0", "\\": b"\\"}


def unescaped(text: str) -> bytes:
    r"""The bytes of a text with the escapes \r \n \t \0 \\ and \xHH. Raises `BadValue` for any other."""
    parts: list[bytes] = []
    end = 0
    for found in _ESCAPE.finditer(text):
        parts.append(text[end : found.start()].encode())
        escape, end = found[1], found.end()
        if len(escape) == 3:
            parts.append(bytes.fromhex(escape[1:]))
        elif escape in _CONTROL:
            parts.append(_CONTROL[escape])
        else:
            raise BadValue(
                rf"\{escape} in {shown(text)} is no escape",
                r"write \r, \n, \t, \0, \xHH, or \\ for a backslash",
            )
    return b"".join([*parts, text[end:].encode()])


def _written(data: bytes) -> dict[str, str]:
    """The table with which a plan states these bytes."""
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"hex": data.hex()}


def sent_as(text: str) -> dict[str, str]:
    """The table for `jostle hit --send`: @FILE, hex:BYTES, or a text with escapes. Raises `BadValue`."""
    if text.startswith("@"):
        return {"file": text[1:]}
    if text.startswith("hex:"):
        return {"hex": text.removeprefix("hex:")}
    return _written(unescaped(text))


def until_as(text: str) -> dict[str, Any]:
    """The table for `jostle hit --until`: close, length:N, regex:PATTERN, hex:BYTES, or a text with escapes.

    Raises `BadValue`.
    """
    if text == "close":
        return {"close": True}
    kind, colon, rest = text.partition(":")
    if colon and kind in ("regex", "hex"):
        return {kind: rest}
    if colon and kind == "length":
        if not rest.isdecimal():
            raise BadValue(f"{rest!r} is no number of bytes", "write for example length:7")
        return {"length": int(rest)}
    return _written(unescaped(text))


def _hex(value: Any) -> Any:
    if isinstance(value, str):
        try:
            bytes.fromhex(value)
        except ValueError:
            raise BadValue(
                f"{shown(value)} is not hexadecimal", 'write two digits for each byte, for example "0d 0a"'
            ) from None
    return value


Hex = Annotated[str, BeforeValidator(_hex)]


def _hex_with_gaps(value: Any) -> Any:
    """Check hexadecimal bytes with `{name}` and `{name:u16}` between them."""
    if isinstance(value, str):
        for part in PLACEHOLDER.split(value)[::2]:
            _hex(part)
    return value


HexWithGaps = Annotated[str, BeforeValidator(_hex_with_gaps)]


def bytes_matched(match: str) -> tuple[int, int] | None:
    """Start and end of a match such as `bytes:0..2`; None for other matches.

    Raises `BadValue` if the range is empty or cannot be read.
    """
    if not match.startswith("bytes:"):
        return None
    found = _RANGE.fullmatch(match)
    if found is None or int(found[1]) >= int(found[2]):
        raise BadValue(
            f"{shown(match)} names no bytes of a datagram",
            'write for example "bytes:0..2": the first two of at most 65,507',
        )
    return int(found[1]), int(found[2])


def _regex(value: Any) -> Any:
    if isinstance(value, str):
        check_regex(value)
        if re.search(value, "") is not None:
            raise BadValue(
                f"{shown(value)} matches the empty text, so that a response would end before it begins",
                "write one that needs at least one byte, and no ^, $ or \\b",
            )
    return value


def _text(value: Any) -> Any:
    return {"text": value} if isinstance(value, str) else value


class Sent(Table):
    """What is sent; exactly one key. A text stands for `{ text = … }`."""

    text: str | None = Field(
        default=None,
        description="text; `{name}` is filled from `params`, and `{id:u16}` (u8, u16, u32, u64) is a number "
        "of that many bits, highest byte first, which differs in each request of a client",
    )
    hex: HexWithGaps | None = Field(
        default=None,
        description='bytes, hexadecimal: "50 49 4e 47 0d 0a"; `{name}` and `{id:u16}` as in a text',
    )
    file: File | None = Field(default=None, description="a file whose content is sent")

    @model_validator(mode="after")
    def _one(self) -> "Sent":
        given = [key for key in ("text", "hex", "file") if getattr(self, key) is not None]
        if len(given) != 1:
            raise BadValue(
                "text, hex and file each say what is sent", 'give one of them, for example "PING\\r\\n"'
            )
        if self.text == "" or (self.hex is not None and not self.hex.strip()):
            raise BadValue("nothing is sent, so that nothing answers it", "give at least one byte")
        for name in self.gaps:
            if _SERIAL.fullmatch(name) and not SERIALS.fullmatch(f"{{{name}}}"):
                raise BadValue(f"{{{name}}} has an unknown width", "write :u8, :u16, :u32 or :u64")
        return self

    @property
    def gaps(self) -> list[str]:
        """Everything in braces. In a text, braces need not be placeholders."""
        return PLACEHOLDER.findall(self.text or self.hex or "")

    def template(self) -> bytes:
        """The bytes that are sent, with `{name}` not yet filled in. Not for a file."""
        if self.hex is None:
            return (self.text or "").encode()
        parts = PLACEHOLDER.split(self.hex)
        gaps = (f"{{{name}}}".encode() for name in parts[1::2])
        literals = [bytes.fromhex(part) for part in parts[::2]]
        return literals[0] + b"".join(gap + after for gap, after in zip(gaps, literals[1:], strict=True))


class Until(Table):
    """Where a response ends; exactly one key. A text stands for `{ text = … }`."""

    text: str | None = Field(default=None, description="after this text", min_length=1)
    hex: Hex | None = Field(default=None, description="after these bytes, hexadecimal", min_length=2)
    length: PositiveCount | None = Field(default=None, description="after this many bytes")
    regex: Annotated[str | None, BeforeValidator(_regex)] = Field(
        default=None,
        description="as soon as this regular expression has matched; it must not match the empty text, "
        r"nor use ^, $ or \b",
    )
    close: Literal[True] | None = Field(default=None, description="when the server closes the connection")

    @model_validator(mode="after")
    def _one(self) -> "Until":
        keys = ("text", "hex", "length", "regex", "close")
        given = [key for key in keys if getattr(self, key) is not None]
        if len(given) != 1:
            raise BadValue(
                f"{', '.join(keys[:-1])} and close each say where the response ends",
                'give one of them, for example "\\r\\n" or { length = 7 }',
            )
        return self


RawSent = Annotated[Sent, BeforeValidator(_text)]
RawUntil = Annotated[Until, BeforeValidator(_text)]
