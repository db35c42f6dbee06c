"""Scripts and styles: the files of one folder, each under its name."""

from importlib import resources
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

__all__ = ["static"]

TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}

FOLDER: Any = resources.files("jostle.web") / "static"


async def static(request: Request) -> Response:
    """A file by its name, which is none that leads elsewhere."""
    name = request.path_params["name"]
    file = next((file for file in FOLDER.iterdir() if file.name == name), None)
    kind = TYPES.get(f".{name.rpartition('.')[2]}")
    if file is None or kind is None:
        raise HTTPException(404, "there is no such file")
    return Response(file.read_bytes(), media_type=kind, headers={"cache-control": "no-cache"})
