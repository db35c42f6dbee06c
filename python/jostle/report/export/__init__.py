"""The forms in which a document can be written, a file for each.

A new form is a file with `render(document)`, and a line of `Form`.
"""

import importlib
from enum import StrEnum
from typing import TYPE_CHECKING

from jostle.errors import UserError
from jostle.formatting import listed

if TYPE_CHECKING:
    from jostle.report.document import Document

__all__ = ["PICTURES", "Form", "forms_of", "render"]


class Form(StrEnum):
    """The forms, named as the modules that write them."""

    text = "text"
    html = "html"
    md = "md"
    json = "json"
    csv = "csv"
    junit = "junit"
    png = "png"
    svg = "svg"

    @property
    def suffix(self) -> str:
        """The suffix of its files."""
        return {Form.text: ".txt", Form.junit: ".xml"}.get(self, f".{self}")


PICTURES = (Form.png, Form.svg)
"""Forms that are several files: `jostle.report.files.write_pictures` makes them."""


def forms_of(document: "Document") -> list[Form]:
    """The forms that the document has: every one can be shown, but not every one has data, rows and cases."""
    needs = {Form.json: document.data, Form.csv: document.rows, Form.junit: document.cases}
    return [form for form in Form if form not in PICTURES and needs.get(form, document) is not None]


def render(document: "Document", form: Form) -> str:
    """The document in this form. Raises `UserError` if it has no such form."""
    if form not in (forms := forms_of(document)):
        raise UserError(f"there is no {form} of this", f"it can be {listed(forms, 'or')}")
    text: str = importlib.import_module(f"{__name__}.{form}").render(document)
    return text
