"""What the schemas of all documents have in common."""

from collections.abc import Iterable
from typing import Any, Literal

__all__ = ["close", "definitions_of", "without_titles"]


def definitions_of(
    types: Iterable[type], mode: Literal["validation", "serialization"] = "validation"
) -> dict[str, Any]:
    """The schemas of the types and of all that they consist of, by name; a field's docstring describes it."""
    from pydantic import ConfigDict, TypeAdapter

    # pydantic takes such an option only for a type that has none of its own, such as a tuple.
    together: Any = tuple[tuple(types)]  # type: ignore[misc]
    adapter = TypeAdapter(together, config=ConfigDict(use_attribute_docstrings=True))
    definitions: dict[str, Any] = adapter.json_schema(mode=mode)["$defs"]
    return definitions


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
