"""Explanations in a folder: a JSON record and an HTML page for each contestant."""

import re
from collections.abc import Callable
from pathlib import Path

from jostle.contestant import is_known
from jostle.errors import JostleError
from jostle.explain.documents.document import explanation_document
from jostle.explain.results import Explanation
from jostle.explain.run import explain
from jostle.host.files import write_json, write_whole
from jostle.plan import Plan
from jostle.plan.labels import split
from jostle.record.layout import EXPLAINED
from jostle.report import Form, render

__all__ = ["explain_contestants", "keep", "path_in"]


def path_in(folder: Path, label: str, suffix: str) -> Path:
    """The path of a contestant's record (".json") or page (".html"); the name needs no quoting in a link."""
    return folder / f"{re.sub(r'[^A-Za-z0-9.=-]+', '-', label)}{suffix}"


def keep(folder: Path, label: str, explanation: Explanation) -> None:
    """Writes the page and the record."""
    write_whole(path_in(folder, label, ".html"), render(explanation_document(explanation), Form.html))
    write_json(path_in(folder, label, ".json"), explanation.as_json())


def explain_contestants(
    plan: Plan,
    run: Path,
    tell: Callable[[str], None],
    examined: Callable[..., Explanation] = explain,
) -> None:
    """Explains each contestant of a run if its plan asks for it, and keeps the results in the run's folder.
    Existing explanations are not repeated. A contestant that cannot be explained does not stop the others.
    """
    folder = run / EXPLAINED
    for label in plan.contestants if plan.explain is not None else ():
        if path_in(folder, label, ".json").exists():
            continue
        if split(label)[0] in plan.contestant or not is_known(label):
            tell(f"{label} is not explained: no contract names its routes (jostle explain URL --slow PATH)")
            continue
        tell(f"explaining {label}")
        try:
            found = examined(label, budget=plan.explain, share_cores=plan.share_cores)
        except JostleError as error:
            tell(f"{label} is not explained: {error.message}")
            continue
        folder.mkdir(exist_ok=True)
        keep(folder, label, found)
