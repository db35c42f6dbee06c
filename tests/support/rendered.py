"""A result in one of its forms."""

from typing import TYPE_CHECKING

from rich.console import Console

from jostle.report import Form, document_of, render
from jostle.report.export import text

if TYPE_CHECKING:
    from jostle.report import Result

__all__ = ["print_result", "rendered"]


def rendered(result: "Result", form: str) -> str:
    return render(document_of(result), Form(form))


def print_result(result: "Result", console: Console, *, full: bool = False) -> None:
    """Print the result as text on `console`."""
    text.show(document_of(result, full=full), console)
