"""`jostle explain --all`: explains all contestants, with a table of what is declared and what is found."""

import shlex
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jostle import roster
from jostle.cli.exit_codes import ExitCode
from jostle.cli.options import typed
from jostle.cli.output import report_written
from jostle.contestant import Contestant, find
from jostle.errors import JostleError
from jostle.formatting import plural
from jostle.units import format_rough_span

if TYPE_CHECKING:
    from jostle.explain.documents.roster_table import ExplainedContestant
    from jostle.explain.results import Explanation

__all__ = ["MIN_BUDGET_S", "all_labels", "explain_all"]

MIN_S, MAX_S = 45.0, 180.0
"""The time for one contestant: with less, too few bursts are sent; more time tells little more."""

STARTING_S = 15.0
"""Roughly the time for starting a contestant and choosing its routes."""

MIN_BUDGET_S = MIN_S + STARTING_S
"""With less time not even one contestant has its turn."""

NO_TIME = "the time was over before its turn"
NOT_BEGUN = "its turn has not come"


@dataclass
class _Course:
    """The state of all explanations. `contestants`: those of the table, in its order. `why`: the reason for
    each of them that has none.
    """

    folder: Path
    contestants: list[Contestant]
    cores: int
    why: dict[str, str]

    def path(self, contestant: Contestant, suffix: str) -> Path:
        from jostle.explain.documents.folder import path_in

        return path_in(self.folder, contestant.label, suffix)

    def known(self, contestant: Contestant) -> "Explanation | None":
        """The contestant's explanation in `folder`, if any. Raises `NotARun` for a damaged file."""
        from jostle.explain.results import Explanation
        from jostle.record.jsonl import read_object

        return read_object(self.path(contestant, ".json"), Explanation)

    def keep(self, contestant: Contestant, explanation: "Explanation") -> None:
        from jostle.explain.documents.folder import keep

        keep(self.folder, contestant.label, explanation)

    def entries(self, *, linked: bool) -> "list[ExplainedContestant]":
        from jostle.explain.documents.declared import declared
        from jostle.explain.documents.roster_table import ExplainedContestant

        entries = []
        for one in self.contestants:
            known = self.known(one)
            cores = known.cores if known is not None and known.cores else self.cores
            page = self.path(one, ".html").name if linked and known is not None else ""
            why = self.why.get(one.label, NOT_BEGUN)
            entries.append(
                ExplainedContestant(one.label, declared(one.file, one.variants, cores), known, why, page)
            )
        return entries

    def write(self) -> Path:
        """Write the table with what is known so far: a page, and Markdown without links to other pages."""
        from jostle.explain.documents.roster_table import roster_document
        from jostle.host.facts import machine_and_version
        from jostle.host.files import write_whole
        from jostle.report import Form, render

        host = machine_and_version()
        where = f"{host['cpu_model']}, {plural(len(host['usable_cores']), 'core')} · jostle {host['jostle']}"
        index = self.folder / "index.html"
        for path, form in ((index, Form.html), (self.folder / "explain.md", Form.md)):
            entries = self.entries(linked=path == index)
            write_whole(path, render(roster_document(entries, _when(entries), where), form))
        return index


def all_labels() -> list[str]:
    """Every contestant that speaks HTTP/1.1, also with the settings that its declaration describes."""
    from jostle.explain.documents.declared import labels

    files = {name: roster.load(name)[0] for name in roster.names()}
    return [label for name, file in files.items() if file.takes_http1 for label in labels(name, file)]


def explain_all(
    folder: Path,
    labels: Sequence[str],
    budget_s: float | None,
    examined: "Callable[[str, float], Explanation]",
) -> int:
    """Explain each of `labels`, or all, and write the table into `folder` after each of them.

    `examined(label, seconds)` makes an explanation. Contestants already in `folder` are not measured again,
    and stay in the table whether they are named or not.
    One that cannot be started or explained does not stop the others; the table says why. Returns the exit
    code.
    """
    from jostle.host.cores import available_cores, place
    from jostle.runner.interrupt import let_signals_stop_like_ctrl_c

    let_signals_stop_like_ctrl_c()
    chosen = [find(label) for label in labels or all_labels()]
    with report_written(str(folder), "choose another place for --into"):
        folder.mkdir(parents=True, exist_ok=True)
    cores = len(place(available_cores(), False).server_cores)
    course = _Course(folder, _with_known(chosen, folder), cores, {})
    stopped = False
    left = [one for one in chosen if course.known(one) is None]
    began = time.monotonic()
    for number, one in enumerate(left):
        passed_s = int(time.monotonic() - began)  # whole seconds: the least budget is enough for the first
        seconds = share_s(budget_s, passed_s, len(left) - number)
        if seconds is None:
            course.why |= dict.fromkeys((later.label for later in left[number:]), NO_TIME)
            break
        _say(f"{number + 1} of {len(left)}  {one.label}: {format_rough_span(seconds)} at most")
        try:
            course.why.pop(one.label, None)
            course.keep(one, examined(one.label, seconds))
        except KeyboardInterrupt:
            stopped = True
            break
        except JostleError as error:
            course.why[one.label] = error.message
            _say(f"{one.label} cannot be explained: {error}")
        except Exception as error:  # a bug of ours with one contestant must not stop the others
            course.why[one.label] = f"{type(error).__name__}: {error}"
            traceback.print_exc()
        course.write()
    index = course.write()
    open_ = [one.label for one in chosen if course.known(one) is None]
    if stopped or open_:
        again = shlex.join([*typed(without="--into"), "--into", str(folder)])
        lacking = f"{plural(len(open_), 'contestant')} without an explanation"
        _say(f"{'stopped; ' if stopped else ''}{lacking}; {again} goes on from here")
    print(f"table     {folder / 'explain.md'}\npage      {index}")
    return ExitCode.INVALID_RESULT if stopped or len(open_) == len(chosen) else ExitCode.DONE


def _with_known(chosen: Sequence[Contestant], folder: Path) -> list[Contestant]:
    """Those chosen and those already in `folder`, in the order of the roster."""
    from jostle.explain.documents.folder import path_in

    names = [one.label for one in chosen]
    labels = [label for label in all_labels() if label in names or path_in(folder, label, ".json").exists()]
    return [*map(find, labels), *(one for one in chosen if one.label not in labels)]


def share_s(budget_s: float | None, passed_s: float, left: int) -> float | None:
    """Seconds for the next of `left` contestants; None if time is over. `budget_s`: None for no limit."""
    if budget_s is None:
        return MAX_S
    each = (budget_s - passed_s) / left - STARTING_S
    if budget_s - passed_s < MIN_BUDGET_S:
        return None
    return min(MAX_S, max(MIN_S, each))


def _when(entries: "Sequence[ExplainedContestant]") -> str:
    known = [one.explanation for one in entries if one.explanation is not None]
    return " to ".join(dict.fromkeys((min(days), max(days)))) if (days := [one.day for one in known]) else ""


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
