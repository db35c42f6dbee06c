"""What all readers of run folders share: where runs are, their format, host.json, and the folders inside."""

from collections.abc import Iterator
from pathlib import Path

from jostle.errors import NotARun
from jostle.record.jsonl import read_object
from jostle.record.layout import FORMAT, JOURNAL, HostFacts
from jostle.redaction.commands import redact_command

__all__ = ["check_format", "folders_inside", "is_run", "read_host", "runs_inside"]


def is_run(folder: Path) -> bool:
    """Whether it is the folder of a run, whose record may be damaged."""
    return (folder / JOURNAL).is_file()


def runs_inside(base: Path) -> list[Path]:
    """The runs directly inside a folder, oldest first: their names begin with when they began. Links are left
    out: a run would count twice.
    """
    return sorted(folder for folder in base.glob("*") if is_run(folder) and not folder.is_symlink())


def check_format(found: int, folder: Path, version: str = "") -> None:
    """Raises NotARun for a format that this version does not know."""
    if not 1 <= found <= FORMAT:
        hint = f"read it with jostle {version}, which wrote it, or a later one" if version else ""
        raise NotARun(f"{str(folder)!r} is a run of format {found}; this jostle reads 1 to {FORMAT}", hint)


def read_host(folder: Path) -> HostFacts | None:
    """host.json, with secrets removed from its command line, as older versions of jostle kept them."""
    host = read_object(folder / "host.json", HostFacts)
    if host is not None and "argv" in host:
        host["argv"] = redact_command(host["argv"])
    return host


def folders_inside(base: Path, pattern: str) -> Iterator[Path]:
    """Matching folders inside `base` itself; links are left out, as they may lead out of the run."""
    if base.is_symlink():
        return
    yield from (path for path in base.glob(pattern) if path.is_dir() and not path.is_symlink())
