"""Secrets in what is sent: headers, parameters, forms, JSON, and bodies of any kind."""

import base64
import json
import re
from typing import Any

from jostle.redaction.names import Hide, hidden, names_a_number, names_a_secret
from jostle.redaction.texts import is_a_variable, redact_text

__all__ = [
    "redact_body",
    "redact_body_base64",
    "redact_headers",
    "redact_request",
    "redact_sent",
    "redact_value",
]


def redact_sent(data: Any, hide: Hide = hidden, *, secret: bool = False) -> Any:
    """What is sent (JSON, or a table of names and values): all below a name of a secret is hidden.

    `secret`: whether it stands below such a name. Of numbers only those are hidden whose name is that of a
    PIN or the like.
    """
    if isinstance(data, dict):
        return {
            key: redact_value(value, hide)
            if _is_number(value) and names_a_number(str(key))
            else redact_sent(value, hide, secret=secret or names_a_secret(str(key)))
            for key, value in data.items()
        }
    if isinstance(data, list | tuple):
        return [redact_sent(item, hide, secret=secret) for item in data]
    if not isinstance(data, str):
        return data
    return redact_value(data, hide) if secret else redact_text(data, hide)


def redact_value(secret: Any, hide: Hide = hidden) -> str:
    """What takes the place of a secret: `HIDDEN`, unless it is a variable, whose value stands elsewhere."""
    text = str(secret)
    return text if not text or is_a_variable(text) else hide(text)


def redact_headers(headers: Any, hide: Hide = hidden) -> Any:
    """Headers as a table or as pairs of name and value."""
    if isinstance(headers, dict):
        return redact_sent(headers, hide)
    return [[name, redact_sent({name: value}, hide)[name]] for name, value in headers]


def redact_request(request: str, hide: Hide = hidden) -> str:
    """A request or a message as it was sent: its line, its headers and its body."""
    head, end, body = request.partition("\r\n\r\n")
    line, *fields = head.split("\r\n")
    if not end:
        return redact_body(request, hide)
    lines = [redact_text(line, hide)]
    for field in fields:
        name, colon, value = field.partition(": ")
        lines.append(name + colon + redact_sent({name: value}, hide)[name])
    return "\r\n".join(lines) + end + redact_body(body, hide)


def redact_body(body: str, hide: Hide = hidden) -> str:
    """The body of a request, or a message.

    Of JSON and of a form those values are hidden whose names say so. Any other body is hidden as a whole if a
    word of it names a secret.
    """
    if body.lstrip()[:1] in ("{", "["):
        try:
            data = json.loads(body)
        except ValueError:
            pass
        else:
            fit = redact_sent(data, hide)
            return body if fit == data else json.dumps(fit, ensure_ascii=False)
    redacted = redact_text(body, hide)
    if not _FORM.fullmatch(body) and any(names_a_secret(word) for word in _WORDS.findall(redacted)):
        return hide(body)
    return redacted


_WORDS = re.compile(r"[A-Za-z][\w-]*+")
_FORM = re.compile(r"[^\s=&]+=[^&\s]*(?:&[^\s=&]+=[^&\s]*)*+")


def redact_body_base64(body: str | None, hide: Hide = hidden) -> str | None:
    """A body in base64, None if it holds a secret."""
    text = base64.b64decode(body or "").decode("utf-8", "replace")
    return body if redact_body(text, hide) == text else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
