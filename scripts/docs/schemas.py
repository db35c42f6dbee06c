"""What the schemas of all documents have in common."""

from collections.abc import Iterable
from typing import Any

__all__ = ["close", "without_titles"]


def without_titles(data: Any) -> Any:
    """A schema without the titles that only repeat its names."""
    if isinstance(data, list):
        return [without_titles(item) for item in data]
    if not isinstance(data, dict):
        return data
    return {
        key: without_titles(value)
        for key, value in data.items()
        if not (key == "title" and isinstance(value, str))
    }


def close(definitions: Iterable[dict[str, Any]]) -> None:
    """Makes all properties required and forbids others: what jostle writes has exactly these keys."""
    for about in definitions:
        if "properties" in about:  # not an enumeration
            about["additionalProperties"] = False
            about["required"] = sorted(about["properties"])
