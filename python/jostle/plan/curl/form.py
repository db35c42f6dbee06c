"""The body of curl's -F: multipart/form-data (RFC 7578), with the bytes that curl would choose."""

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePath

from jostle.errors import PlanError
from jostle.plan.curl.data import content

__all__ = ["FORM_DATA", "form_body"]

FORM_DATA = "multipart/form-data"

_TYPES = {
    ".gif": "image/gif", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png",
    ".svg": "image/svg+xml", ".txt": "text/plain", ".htm": "text/html", ".html": "text/html",
    ".pdf": "application/pdf", ".xml": "application/xml",
}  # fmt: skip
"""What curl says of a file by its name."""
_ANY = "application/octet-stream"
_SETTING = re.compile(r"\s*(type|filename|headers|encoder)=", re.IGNORECASE)
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"\s*(?=;|$)', re.DOTALL)


@dataclass
class _Part:
    name: str
    content: bytes
    filename: str | None = None
    type: str | None = None


def form_body(
    given: Iterable[tuple[str, str]], stdin: Callable[[], bytes], *, type: str, backslashes: bool
) -> tuple[bytes, str]:
    """The body for -F and --form-string, and its boundary, which follows from the content.

    `type`: its Content-Type; another than multipart/form-data makes attachments of its parts. `backslashes`:
    names are escaped by backslashes (--form-escape). Raises `PlanError`.
    """
    parts = [_part(option, value, stdin) for option, value in given]
    digest = hashlib.sha256(b"\0".join(part.content for part in parts)).hexdigest()
    boundary = f"{'-' * 24}{digest[:16]}"
    disposition = "form-data" if type.lower().startswith(FORM_DATA) else "attachment"
    body = b"".join(
        f"--{boundary}\r\n{_head(part, disposition, backslashes)}\r\n".encode() + part.content + b"\r\n"
        for part in parts
    )
    return body + f"--{boundary}--\r\n".encode(), boundary


def _head(part: _Part, disposition: str, backslashes: bool) -> str:
    def escaped(text: str) -> str:
        if backslashes:
            return text.replace("\\", "\\\\").replace('"', '\\"')
        return text.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")

    lines = f'Content-Disposition: {disposition}; name="{escaped(part.name)}"'
    if part.filename is not None:
        lines += f'; filename="{escaped(part.filename)}"'
    return lines + (f"\r\nContent-Type: {part.type}\r\n" if part.type else "\r\n")


def _part(option: str, given: str, stdin: Callable[[], bytes]) -> _Part:
    name, equals, value = given.partition("=")
    if not equals:
        raise PlanError(f"curl's -F: {given!r} is no name=content", "paste the whole command")
    if option == "form-string":
        return _Part(name, value.encode())
    if value.startswith("=(") or value.startswith("("):
        raise PlanError(
            "curl's -F with parts within parts is not known to jostle",
            "write the body to a file: --data-binary @FILE",
        )
    kind = value[0] if value[:1] in ("@", "<") else ""
    word, rest = _word(value[len(kind) :])
    settings = _settings(rest)
    if kind and "," in word:
        raise PlanError("curl's -F: jostle sends one file in a part", "give each its own -F")
    part = _Part(name, content(word, stdin) if kind else word.encode())
    part.filename = settings.get("filename", PurePath(word).name if kind == "@" else None)
    part.type = settings.get("type") or _type_of(part, word if kind else "")
    return part


def _type_of(part: _Part, path: str) -> str | None:
    for name in filter(None, (part.filename, path)):
        if (known := _TYPES.get(PurePath(name).suffix.lower())) is not None:
            return None if known == "text/plain" and part.filename is None else known
    return _ANY if part.filename is not None and path else None


def _word(text: str) -> tuple[str, str]:
    """A text up to the next semicolon, or in quotes, and what comes behind it."""
    if quoted := _QUOTED.match(text):
        return re.sub(r"\\([\\\"])", r"\1", quoted[1]), text[quoted.end() + 1 :]
    word, _, rest = text.partition(";")
    return word, rest


def _settings(text: str) -> dict[str, str]:
    settings: dict[str, str] = {}
    last = ""
    while text:
        found = _SETTING.match(text)
        if found is None:
            word, rest = _word(text)
            if last == "type":  # "text/plain;charset=utf-8" is one type
                settings["type"] += f";{word}"
            text = rest
            continue
        last = found[1].lower()
        if last in ("headers", "encoder"):
            raise PlanError(
                f"curl's -F: jostle does not know {last}=", "write the body to a file: --data-binary @FILE"
            )
        settings[last], text = _word(text[found.end() :])
    return settings
