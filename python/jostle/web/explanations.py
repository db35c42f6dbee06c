"""Explanations of servers that were kept beside the runs: by `jostle explain --into`, and with `--all`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jostle.errors import NotARun
from jostle.record.jsonl import read_object
from jostle.record.layout import Explained
from jostle.text import one_line
from jostle.web.documents import page_in

__all__ = ["KeptExplanation", "explanations_in", "kept_explanation"]


@dataclass(frozen=True)
class KeptExplanation:
    """A folder that `jostle explain` made."""

    folder: str
    page: str
    """The file that is opened first."""
    title: str


def explanations_in(base: Path) -> Sequence[KeptExplanation]:
    """Those directly inside a folder, newest first: their names begin with when they were made."""
    folders = (path for path in base.glob("*") if path.is_dir() and not path.is_symlink())
    found = (_kept(folder) for folder in sorted(folders, reverse=True))
    return [one for one in found if one is not None]


def kept_explanation(base: Path, folder: str, name: str) -> str:
    """A page of such a folder, as HTML. Raises NotARun for anything else."""
    if not any(one.folder == folder for one in explanations_in(base)):
        raise NotARun(f"there is no explanation {folder!r} in {str(base)!r}", "it may have been moved")
    return page_in(base / folder, name)


def _kept(folder: Path) -> KeptExplanation | None:
    if (folder / "explanation.json").is_file() and (folder / "explain.html").is_file():
        return KeptExplanation(folder.name, "explain.html", _target(folder))
    if (folder / "explain.md").is_file() and (folder / "index.html").is_file():
        return KeptExplanation(folder.name, "index.html", "several contestants")
    return None


def _target(folder: Path) -> str:
    """The server that was explained; the name of the folder if its record cannot be read."""
    try:
        known = read_object(folder / "explanation.json", Explained)
    except NotARun:
        known = None
    return folder.name if known is None else one_line(known["target"])
