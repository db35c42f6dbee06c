"""What is looked for in the events of a stream: a regular expression, or a JSON pointer."""

from typing import Annotated, Any

from pydantic import BeforeValidator

from jostle.errors import BadValue
from jostle.plan.values import check_regex

__all__ = ["EventPattern", "event_pattern"]


def event_pattern(text: str) -> dict[str, str]:
    """The engine's `EventPattern` for "json:/pointer" or a regular expression. Raises `BadValue`."""
    if not text.startswith("json:"):
        check_regex(text)
        return {"regex": text}
    pointer = text.removeprefix("json:")
    if pointer and not pointer.startswith("/"):
        raise BadValue(f"{text!r}: a JSON pointer begins with /", 'write for example "json:/error"')
    return {"json": pointer}


def _checked(value: Any) -> Any:
    if isinstance(value, str):
        event_pattern(value)
    return value


EventPattern = Annotated[str, BeforeValidator(_checked)]
