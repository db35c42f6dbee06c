"""Conditions of a journey's steps: "{id} exists", '{stock} > 0', '{state} == "open"'.

A condition is one test of one value; anything more takes two steps.
"""

import re
from dataclasses import dataclass
from typing import Any

from jostle.errors import BadValue

__all__ = ["EXAMPLES", "When"]

EXAMPLES = (
    'write "{x} exists", "{x} is missing", "{x} == text", "{x} != text", "{x} contains text" '
    'or a comparison of numbers: "{x} > 0", ">=", "<", "<="'
)

_FORM = re.compile(r"\{([^{}\s]+)\}\s+(exists|is missing|contains|==|!=|>=|<=|>|<)(?:\s+(.+?))?\s*")

_NUMBERS = {">": "above", ">=": "at-least", "<": "below", "<=": "at-most"}
_TEXTS = {"==": "equals", "!=": "differs", "contains": "contains"}


@dataclass(frozen=True)
class When:
    """One condition. `test` is in the form of the engine's `TestSpec`."""

    text: str
    name: str
    test: str | dict[str, Any]

    @classmethod
    def read(cls, text: str) -> "When":
        """Read a condition. Raises `BadValue`."""
        found = _FORM.fullmatch(text.strip())
        if found is None:
            raise BadValue(f"{text!r} is not a condition", EXAMPLES)
        name, word, other = found.groups()
        if word in ("exists", "is missing"):
            if other is not None:
                raise BadValue(f"{text!r} says too much behind {word!r}", EXAMPLES)
            return cls(text, name, "exists" if word == "exists" else "missing")
        if other is None:
            raise BadValue(f"{text!r} does not say with what to compare", EXAMPLES)
        if word in _TEXTS:
            quoted = len(other) > 1 and other[0] == other[-1] and other[0] in "\"'"
            return cls(text, name, {_TEXTS[word]: other[1:-1] if quoted else other})
        try:
            return cls(text, name, {_NUMBERS[word]: float(other)})
        except ValueError:
            raise BadValue(f"{text!r}: {other!r} is not a number", EXAMPLES) from None

    @property
    def means_it_is_there(self) -> bool:
        """Whether the value exists whenever the condition holds."""
        return self.test != "missing" and not (isinstance(self.test, dict) and "differs" in self.test)
