"""What a plan would run, in lines with a label each, as `jostle check` prints them."""

from collections.abc import Iterator
from pathlib import Path

from jostle.cli.power import out_of_reach, rounds_will_find
from jostle.formatting import listed, plural
from jostle.plan.workload import Workload
from jostle.report.workload import describe_load
from jostle.runner.duration import is_up_to_the_server, trial_s
from jostle.runner.preview import Preview
from jostle.runner.schedule import first_rounds
from jostle.units import format_bytes, format_rough_span

__all__ = ["preview_lines"]


def preview_lines(found: Preview, into: Path) -> Iterator[tuple[str, str]]:
    """Labels and texts. `into`: the folder for the record."""
    yield "plan", found.plan.title
    yield from _contestants(found)
    for name, tune in found.plan.tune.items():
        begin = found.plan.parameters[name]
        assumed = f"{begin:,}" if isinstance(begin, int) else begin
        yield "to tune", f"{name}: {tune.goal}, measured at the start; what follows assumes {assumed}"
    for name, workload in found.plan.selected.items():
        yield from _workload(found, name, workload)
    yield from _rounds(found)
    yield "time", _time(found)
    yield "disk", _disk(found, into)


def _ready(found: Preview) -> list[str]:
    return [contestant.label for contestant in found.taking_part.contestants]


def _contestants(found: Preview) -> Iterator[tuple[str, str]]:
    yield "contestants", ", ".join(_ready(found))
    for whom, why in found.taking_part.left_out():
        yield "skipped", f"{whom}: {why}"
    if found.unbuilt:
        yield "to build", ", ".join(found.unbuilt)


def _workload(found: Preview, name: str, workload: Workload) -> Iterator[tuple[str, str]]:
    if not workload.measured_on(found.plan.contestants):
        yield "not run", f"{name}: it is for {', '.join(workload.contestants)}"
    on = [label for label, measured in found.taking_part.cells if measured == name]
    if on:
        whom = "" if on == _ready(found) else f", on {', '.join(on)}"
        load = describe_load(workload.load.data(), workload.connection.data()) or "a load in phases"
        or_more = " or more" if is_up_to_the_server(workload) else ""
        each = f"{format_rough_span(trial_s(found.plan, workload))}{or_more}"
        beside = ", beside a background load" if workload.background is not None else ""
        yield "workload", f"{name}: {load}{beside}{whom} ({each} each)"


def _rounds(found: Preview) -> Iterator[tuple[str, str]]:
    """The trials and their order, and which differences so many rounds find."""
    rounds = first_rounds(found.plan)
    yield "trials", f"{plural(len(found.trials), 'trial')} in {plural(rounds, 'round')}"
    if found.seed is None:
        yield "order", "random in each round; --seed N fixes it"
    else:
        for number in range(1, rounds + 1):
            order = [f"{t.contestant} {t.workload}" for t in found.trials if t.round == number]
            yield f"round {number}", ", ".join(order)
    if found.plan.until_decided:
        yield "then", f"more rounds until all is decided, for at most {format_rough_span(found.plan.budget)}"
    if len(_ready(found)) > 1:
        yield "finds", rounds_will_find(rounds, len(_ready(found)) - 1)
    for text in out_of_reach(found.plan):
        yield "note", text


def _time(found: Preview) -> str:
    workloads = (found.plan.workload[trial.workload] for trial in found.trials)
    open_ended = any(map(is_up_to_the_server, workloads))
    more = ", or more: some loads last until their requests are answered" if open_ended else ""
    tuned = f"; tuning {listed(list(found.plan.tune))} will change that" if found.plan.tune else ""
    return (
        f"about {format_rough_span(found.seconds)}{', after building' if found.unbuilt else ''}{more}{tuned}"
    )


def _disk(found: Preview, into: Path) -> str:
    free = "" if found.free_bytes is None else f"; {format_bytes(found.free_bytes)} are free"
    rows = ", plus a row per request" if any(w.rows for w in found.plan.selected.values()) else ""
    return f"at least {format_bytes(found.least_bytes)} in {into}/{rows}{free}"
