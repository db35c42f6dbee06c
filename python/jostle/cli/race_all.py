"""`jostle race --all`: every experiment one after another, on one page."""

import os
import secrets
import shlex
import sys
import time
import traceback
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jostle import experiments
from jostle.cli.display import Display
from jostle.cli.exit_codes import ExitCode, is_valid, was_measured
from jostle.cli.options import typed
from jostle.cli.progress import RunProgress
from jostle.errors import JostleError, NotARun, UserError
from jostle.extras import install_command, is_installed
from jostle.generator import executor_for
from jostle.host.files import write_json
from jostle.plan import Plan
from jostle.record.folder import is_run
from jostle.record.jsonl import read_object
from jostle.redaction.commands import rerun
from jostle.runner.budget import Budget
from jostle.runner.duration import trial_s
from jostle.runner.experiment import experiment_in_turns, resume_in_turns
from jostle.runner.observer import Observer, RunEvent, Scheduled, together
from jostle.runner.schedule import first_rounds
from jostle.units import format_rough_span

if TYPE_CHECKING:
    from jostle.analysis.results import RunResult
    from jostle.report.combined import Chapter

__all__ = ["State", "in_order", "race_all"]

FORMAT = 1
STATE = "all.json"
ORDER = ("preemption", "crowd-10k", "crowd-100k", "orders", "starvation", "pair", "threads", "allocation")
"""Experiments from articles, in the order in which we came across these. Our own come last."""


@dataclass
class State:
    """The state of each experiment: `all.json` in the folder, written at every change."""

    folder: Path
    seed: int | None
    done: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path, seed: int | None) -> "State":
        """The state in `folder`, or a new one if it has none. Raises `UserError` for any other folder."""
        file = folder.exists() and not folder.is_dir()
        known = None if file else read_object(folder / STATE, dict[str, Any])
        if known is None:
            if file or is_run(folder):
                raise UserError(
                    f"{folder} is not a folder of jostle race --all", "choose another with --into"
                )
            return cls(folder, secrets.randbits(32) if seed is None else seed)
        if known.get("format") != FORMAT:
            raise UserError(f"{folder} was written by another version of jostle", "choose another folder")
        return cls(folder, known["seed"] if seed is None else seed, known["experiments"])

    def set(self, name: str, **changes: Any) -> None:
        self.done[name] = {**self.done.get(name, {}), **changes}
        self.folder.mkdir(parents=True, exist_ok=True)
        write_json(self.folder / STATE, {"format": FORMAT, "seed": self.seed, "experiments": self.done})

    def of_experiment(self, name: str) -> Mapping[str, Any]:
        return self.done.get(name, {})

    def run_folder(self, name: str) -> Path | None:
        run = self.of_experiment(name).get("run")
        return self.folder / run if run else None


def _noting_folder(state: State, name: str) -> Observer:
    """An observer that notes the run's folder before anything is measured."""

    def note(event: RunEvent) -> None:
        if isinstance(event, Scheduled):
            state.set(name, run=os.path.relpath(event.folder, state.folder), state="begun", why="")

    return note


def race_all(
    folder: Path,
    only: Sequence[str] | None,
    load: Callable[[str], Plan],
    seed: int | None,
    *,
    quiet: bool = False,
    verbose: bool = False,
) -> int:
    """Run every experiment, or `only` these, into `folder`, and write the page. Returns the exit code.

    `load` returns an experiment's plan; if it fails for all, the first error is raised. What `folder` already
    contains is not measured again, and a run that was cut short continues where it stopped. An experiment
    that fails does not stop the others. If rounds are added until all is decided, all experiments share one
    budget: after the first rounds of each, the next round goes to the experiment with the question that will
    probably be decided in the least time. If none will be, it goes to the one that has spent the least time
    on further rounds.
    """
    from jostle.runner.interrupt import let_signals_stop_like_ctrl_c

    names = in_order(only)
    state = State.of(folder, seed)
    let_signals_stop_like_ctrl_c()
    plans = _plans(state, names, load)
    results: dict[str, RunResult] = {}
    budget = Budget(max((plan.budget for plan in plans.values()), default=0.0))
    waiting = [
        _Experiment(state, name, plan, budget, Display(sys.stderr, quiet=quiet), verbose=verbose)
        for name, plan in plans.items()
        if state.of_experiment(name).get("state") != "done"
    ]
    stopped = False
    try:
        for number, one in enumerate(waiting, 1):
            left = _time_left(state, plans, one.name)
            _say(f"\n{number} of {len(waiting)}  {one.name}: {one.plan.title} ({left})")
            one.turn()
            _write(state, names, results, pngs=False)
        while waiting := [one for one in waiting if one.state == "waits"]:
            one = min(waiting, key=lambda one: (one.decided_in_s, one.further_s))
            left = format_rough_span(max(0.0, budget.left_s))
            _say(f"\n{one.name}: until all is decided ({left} of the budget left)")
            one.turn()
            if one.state != "waits":
                results.pop(one.name, None)
                _write(state, names, results, pngs=False)
    except KeyboardInterrupt:
        stopped = True
        for one in waiting:
            if one.state != "done":  # its last turns are not on the page yet
                results.pop(one.name, None)
    finally:
        for one in waiting:
            one.leave()
    paths = _write(state, names, results, pngs=is_installed("pictures"))
    if stopped:
        again = shlex.join([*typed(without="--into"), "--into", str(folder)])
        _say(f"stopped; {again} goes on from here")
    for path in paths[:1]:
        print(f"\nall       {path}")
        if not is_installed("pictures"):
            print(f"pictures  as PNG files, too: {install_command('pictures')}")
    sound = all(
        state.of_experiment(name).get("state") == "done"
        and name in results
        and was_measured(results[name])
        and is_valid(results[name])
        for name in names
    )
    return ExitCode.DONE if sound else ExitCode.INVALID_RESULT


def in_order(only: Sequence[str] | None) -> list[str]:
    """Every experiment, or `only` these, in the order of the page. Raises `UnknownName`."""
    known = experiments.names()
    for name in only or ():
        if name not in known:
            experiments.load(name)
    ordered = [*(name for name in ORDER if name in known), *(name for name in known if name not in ORDER)]
    return [name for name in ordered if only is None or name in only]


def _plans(state: State, names: Sequence[str], load: Callable[[str], Plan]) -> dict[str, Plan]:
    """The plans. What cannot be loaded is noted, unless it is done. Raises the first error if nothing can."""
    plans, errors = dict[str, Plan](), dict[str, JostleError]()
    for name in names:
        try:
            plans[name] = load(name)
        except JostleError as error:
            errors[name] = error
    if errors and not plans:
        raise next(iter(errors.values()))
    for name, why in errors.items():
        if state.of_experiment(name).get("state") != "done":
            state.set(name, state="failed", why=str(why))
            _say(f"{name} cannot run: {why}")
    return plans


class _Experiment:
    """One of the experiments, which advances turn by turn."""

    def __init__(
        self, state: State, name: str, plan: Plan, budget: Budget, display: Display, *, verbose: bool
    ) -> None:
        self.name, self.plan = name, plan
        self.further_s = 0.0
        """The time that its further rounds have taken."""
        self.decided_in_s = 0.0
        """The measuring time in which its next question will probably be decided."""
        self._state = state
        self._display = display
        observer = together(_noting_folder(state, name), RunProgress(display, verbose=verbose))
        self._turns = _turns(state, name, plan, budget, observer)

    @property
    def state(self) -> str:
        """One of "waits" (for another turn), "done", "failed", and "begun" if a turn was cut short."""
        return str(self._state.of_experiment(self.name).get("state", ""))

    def turn(self) -> None:
        """Run its first rounds, or what is left of them; later one further round.

        Everything that it raises except Ctrl-C is noted and printed.
        """
        started, is_further = time.monotonic(), self.state == "waits"
        before_s = _took(self._state.of_experiment(self.name))
        noted = {}
        try:
            self.decided_in_s = next(self._turns)
            noted = {"state": "waits", "why": ""}
        except StopIteration:
            noted = {"state": "done", "why": ""}
        except JostleError as error:
            noted = {"state": "failed", "why": str(error)}
            _say(f"{self.name} failed: {error}")
        except Exception as error:  # a bug of ours in one experiment must not stop the others
            noted = {"state": "failed", "why": f"{type(error).__name__}: {error}"}
            traceback.print_exc()
        finally:
            self._display.close()
            took_s = time.monotonic() - started
            if is_further:
                self.further_s += took_s
            self._state.set(self.name, took_s=round(before_s + took_s, 1), **noted)

    def leave(self) -> None:
        """End its turns. If it waits for one, its record says so."""
        self._turns.close()


def _turns(
    state: State, name: str, plan: Plan, budget: Budget, observer: Observer
) -> Generator[float, None, None]:
    from jostle.runner.resume import unfinished

    begun = state.run_folder(name)
    if begun is not None:
        try:
            run = unfinished(begun)
            if run is not None:
                _say(f"{len(run.left)} of {len(run.trials)} trials are left")
                yield from resume_in_turns(run, executor_for(run.plan), observer, budget)
            return
        except NotARun as error:
            _say(f"{error.message}; it is run again")
    executor, runs = executor_for(plan), state.folder / "runs"
    yield from experiment_in_turns(plan, runs, name, state.seed, executor, observer, shared=budget)


def _write(state: State, names: Sequence[str], results: "dict[str, RunResult]", *, pngs: bool) -> list[Path]:
    """Write the page with all results so far, and each experiment's full report. Returns the paths."""
    from jostle.report.combined import CombinedReport

    chapters = [_chapter(state, name, results) for name in names]
    again = rerun(typed(without="--into"), state.seed)
    return CombinedReport(chapters, again).write(state.folder, pictures=pngs)


def _chapter(state: State, name: str, results: "dict[str, RunResult]") -> "Chapter":
    from jostle.analysis.run import analyse
    from jostle.record import RunRecord
    from jostle.report.combined import Chapter
    from jostle.report.files import write_page

    plan, noted = experiments.load(name), state.of_experiment(name)
    why = str(noted.get("why", "")) or ("" if noted else "it was not begun")
    source = plan.published.source if plan.published else ""
    run = state.run_folder(name)
    if run is None:
        return Chapter(name, plan.title, source, why=why or "it was not begun")
    page = state.folder / "reports" / f"{name}.html"
    try:
        if name not in results:
            results[name] = analyse(RunRecord.open(run))
            page.parent.mkdir(exist_ok=True)
            write_page(results[name], page)
        found = Chapter(name, plan.title, source, results[name], why, f"reports/{name}.html", _took(noted))
        found.check()
    except Exception as error:  # one record that cannot be shown must not spoil the page
        traceback.print_exc()
        results.pop(name, None)
        return Chapter(name, plan.title, source, why=f"its record cannot be shown: {error}")
    return found


def _took(noted: Mapping[str, Any]) -> float:
    return float(noted.get("took_s", 0.0))


def _time_left(state: State, plans: Mapping[str, Plan], name: str) -> str:
    """The time that first rounds still take, here and in all that are left, corrected by those so far."""
    finished = [n for n in plans if state.of_experiment(n).get("state") in ("done", "waits")]
    planned_s = sum(_expected_s(plans[n]) for n in finished)
    seen_s = sum(_took(state.of_experiment(n)) for n in finished)
    factor = seen_s / planned_s if planned_s and seen_s else 1.0
    left_s = {
        n: max(0.0, _expected_s(plan) * factor - _took(state.of_experiment(n)))
        for n, plan in plans.items()
        if n not in finished
    }
    this = f"about {format_rough_span(left_s[name])}" if name in left_s else "its first rounds are measured"
    return f"{this}; {format_rough_span(sum(left_s.values()))} for all that is left"


def _expected_s(plan: Plan) -> float:
    return first_rounds(plan) * sum(
        trial_s(plan, workload) * len(workload.measured_on(plan.contestants))
        for workload in plan.selected.values()
    )


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
