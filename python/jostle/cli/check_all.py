"""`jostle check --all`: the time and space that all experiments would take; starts nothing."""

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jostle.cli.exit_codes import ExitCode
from jostle.cli.race_all import State, in_order
from jostle.errors import JostleError
from jostle.plan import Plan
from jostle.runner.disk_space import free_bytes, min_bytes
from jostle.runner.duration import expected_s, is_up_to_the_server
from jostle.runner.preview import preview
from jostle.runner.resume import unfinished
from jostle.runner.schedule import Planned
from jostle.units import format_bytes, format_rough_span

__all__ = ["check_all"]

WIDTH = 80
HEADINGS = ("experiment", "trials", "time", "disk")


@dataclass(frozen=True)
class _Row:
    """One experiment. `notes`: what is left out of it and why, or why it cannot run at all."""

    name: str
    plan: Plan | None = None
    trials: Sequence[Planned] = ()
    notes: tuple[str, ...] = ()
    refused: JostleError | None = None

    @property
    def seconds(self) -> float:
        return expected_s(self.plan, self.trials) if self.plan else 0.0

    @property
    def bytes(self) -> int:
        return min_bytes(self.plan, self.trials) if self.plan else 0

    @property
    def or_more(self) -> bool:
        plan = self.plan
        return plan is not None and any(is_up_to_the_server(plan.workload[t.workload]) for t in self.trials)


def check_all(
    folder: Path, only: Sequence[str] | None, load: Callable[[str], Plan], seed: int | None
) -> ExitCode:
    """Print a row for each experiment, or each of `only`: its trials, and about how long and large they are.

    `load` returns a plan without tuning it; if that fails for all, the first error is raised. What `folder`
    already contains is not counted.
    """
    state = State.of(folder, seed)
    rows = [_row(state, name, load) for name in in_order(only)]
    refused = [row.refused for row in rows if row.refused]
    if refused and len(refused) == len(rows):
        raise refused[0]
    whole = ("all", *_figures(rows))
    lines = [HEADINGS, *((row.name, *_figures([row])) for row in rows), *([whole] if len(rows) > 1 else [])]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for name, *figures in lines:
        cells = [figure.rjust(width) for figure, width in zip(figures, widths[1:], strict=True)]
        print("  ".join([name.ljust(widths[0]), *cells]))
    print()
    plans = [row.plan for row in rows if row.plan is not None]
    if any(plan.until_decided for plan in plans):
        budget = format_rough_span(max(plan.budget for plan in plans))
        _say(f"These are the first rounds. More follow until all is decided, for {budget} in all at most.")
    if any(row.or_more for row in rows):
        _say("+: some loads last until their requests are answered.")
    _say("Building and tuning come on top the first time; disk is the least that records take.")
    free = free_bytes(folder)
    _say(f"Into {folder}{'' if free is None else f', where {format_bytes(free)} are free'}.")
    for row in rows:
        for note in row.notes:
            _say(f"{row.name}: {note}")
    return ExitCode.DONE


def _figures(rows: Sequence[_Row]) -> tuple[str, str, str]:
    trials = sum(len(row.trials) for row in rows)
    if not trials:
        return "0", "-", "-"
    more = "+" if any(row.or_more for row in rows) else ""
    size = format_bytes(sum(row.bytes for row in rows))
    return f"{trials:,}", f"{format_rough_span(sum(row.seconds for row in rows))}{more}", size


def _row(state: State, name: str, load: Callable[[str], Plan]) -> _Row:
    if state.of_experiment(name).get("state") == "done":
        return _Row(name, notes=("it is done already",))
    try:
        begun = state.run_folder(name)
        left = unfinished(begun) if begun is not None and begun.exists() else None
        if left is not None:
            unmeasured = f"{len(left.left)} of {len(left.trials)} trials are left"
            return _Row(name, left.plan, left.left, (unmeasured,))
        found = preview(load(name), state.folder, state.seed)
    except JostleError as error:
        return _Row(name, notes=(f"it cannot run: {error}",), refused=error)
    notes = tuple(f"without {whom}: {why}" for whom, why in found.taking_part.left_out())
    return _Row(name, found.plan, found.trials, notes)


def _say(text: str) -> None:
    print(textwrap.fill(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False))
