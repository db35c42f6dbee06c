"""JSON: all of a result for other programs. docs/result.schema.json describes it."""

import json

from jostle.report.document import Document

__all__ = ["render"]


def render(document: Document) -> str:
    """The document's data; "kind" says of what, and "format" is the version of its form."""
    assert document.data is not None, "the document has no data"
    return json.dumps(document.data(), indent=2) + "\n"
