"""SHA256SUMS: the checksum of every file of a release, as `sha256sum --check` reads them."""

import hashlib
from pathlib import Path

__all__ = ["NAME", "write"]

NAME = "SHA256SUMS"


def write(folder: Path) -> Path:
    """Of all other files in `folder`, by name."""
    sums = folder / NAME
    files = sorted(path for path in folder.iterdir() if path != sums)
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    sums.write_text("".join(lines), encoding="utf-8")
    return sums
