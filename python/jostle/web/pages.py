"""Pages as HTML: their frame; what they show is filled in by their scripts, as text."""

from functools import cache
from importlib import resources
from typing import Any

import jinja2
from starlette.responses import HTMLResponse, Response

__all__ = ["page"]


def page(name: str, status: int = 200, **values: Any) -> Response:
    """A page of `templates`. All values are escaped."""
    return HTMLResponse(_environment().get_template(f"{name}.html.j2").render(**values), status)


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(_template), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )


def _template(name: str) -> str:
    return (resources.files("jostle.web") / "templates" / name).read_text(encoding="utf-8")
