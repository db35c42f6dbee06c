"""Which contestant a label names: one of the plan's own tables, one of the roster, or one in a folder."""

from collections.abc import Mapping
from pathlib import Path

from jostle import roster
from jostle.contestant.contestant import Contestant
from jostle.contestant.settings import canonical, read_settings
from jostle.errors import PlanError, UnknownName
from jostle.plan.labels import split
from jostle.plan.servers.contestant import ContestantFile

__all__ = ["find", "is_known"]


def find(
    label: str, tables: Mapping[str, ContestantFile] | None = None, base: Path | None = None
) -> Contestant:
    """The contestant that `label` (`name:key=value,flag`) names.

    The name is one of `tables` (a plan's own), one of the roster, or, with a slash in it, the path of a
    folder with a contestant.toml. `base`: the folder to which paths are relative, by default the current one.
    Raises `UnknownName` with the nearest names, `PlanError`.
    """
    tables, base = tables or {}, (base or Path.cwd()).absolute()
    folder: Path | None
    name = split(label)[0]
    if name in tables:
        file, folder = _own(name, tables[name], base)
        copied = bool(file.build.commands or file.build.include)
    elif "/" in name:
        folder = (base / name).resolve()
        file = ContestantFile.load(folder / "contestant.toml")
        copied = bool(file.build.commands or file.build.include)
    elif name in roster.names():
        file, folder = roster.load(name)
        copied = True
    else:
        raise UnknownName("contestant", name, {*tables, *roster.names()})
    variants = read_settings(label, file.variants)
    return Contestant(
        canonical(name, variants, file.variants), name, file, variants, folder, file.url, copied
    )


def is_known(label: str) -> bool:
    """Whether it names a contestant of the roster or a folder with a contestant.toml, rather than a URL."""
    name = label.partition(":")[0]
    return name in roster.names() or ("/" in name and (Path(name) / "contestant.toml").is_file())


def _own(name: str, table: ContestantFile, base: Path) -> tuple[ContestantFile, Path | None]:
    """A plan's table, merged over its folder's contestant.toml if the table does not say how to start."""
    if table.url is not None or table.simulate is not None:
        return table, None
    folder = (base / (table.folder or ".")).resolve()
    if table.folder is not None and not folder.is_dir():
        raise PlanError(f"contestant.{name}.folder: {folder} is not a folder")
    if table.start_command():
        return table, folder
    file = ContestantFile.load(folder / "contestant.toml")
    merged = {**file.model_dump(exclude_unset=True), **table.model_dump(exclude_unset=True)}
    return ContestantFile.of(merged, f"contestant.{name}"), folder
