"""Scripts and styles, each under its name: our own, and those that reports carry, too."""

from collections.abc import Sequence
from importlib import resources
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

__all__ = ["static"]

TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}

REPORT: Any = resources.files("jostle.report")

FOLDERS: Sequence[Any] = (resources.files("jostle.web") / "static", REPORT / "scripts")

STYLE: Any = REPORT / "templates" / "page.css"


async def static(request: Request) -> Response:
    """A file by its name, which is none that leads elsewhere."""
    name = request.path_params["name"]
    files = [STYLE, *(file for folder in FOLDERS for file in folder.iterdir())]
    file = next((file for file in files if file.name == name), None)
    kind = TYPES.get(f".{name.rpartition('.')[2]}")
    if file is None or kind is None:
        raise HTTPException(404, "there is no such file")
    return Response(file.read_bytes(), media_type=kind, headers={"cache-control": "no-cache"})
