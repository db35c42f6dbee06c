"""What viewers of `jostle web` cost: the page's process, and the generator and its lateness, with 0, 1, 5 and
20 of them beside no page at all. And whether one of them changes any figure: ten rounds with and without,
compared by jostle itself. Only by name: `make bench ONLY=web`.
"""

import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from page_watched import page, port_of, viewers
from rows import Effort, Row, Section, spread
from servers import reference
from tools import JOSTLE
from turns import side_by_side
from watched import SERVER_CORE, TOOL_CORE, Watched, watched

from jostle.analysis.stats.sample import from_histograms, quantile_of
from jostle.host.cores import kept_off
from jostle.live.followed import FollowedRun
from jostle.record import RunRecord

VIEWERS: list[int | None] = [None, 0, 1, 5, 20]
"""None: there is no page at all."""

RATE, CLIENTS = 2_000, 64
SETTLE_S = 3.0
MAX_CPU, MAX_MB = 0.02, 5.0
"""Of one viewer, beside a page that nobody watches."""

ROUNDS, QUICK_ROUNDS = 10, 2
TRIAL_S, QUICK_TRIAL_S = 6, 2
LOOKS_EACH_S = 0.1
WARM_UP_S = 4
"""Meanwhile the viewer comes."""

PLAN = """
title = "with and without a viewer"
contestants = ["without", "with"]
rounds = {rounds}
repeats = false
warm-up = "{warm_up}s"

[workload.load]
request = {{ get = "/" }}
load = {{ rate = "{rate}/s", for = "{seconds}s" }}

[contestant.without]
url = "http://{address}"

[contestant.with]
url = "http://{address}"
"""


@dataclass(frozen=True)
class Cost:
    """Of one turn; without a page there is nothing of it."""

    viewers: int | None
    round: int
    generator: float
    """Share of a core, of all of its process."""
    late_p50_us: float
    late_p99_us: float
    page: float = 0.0
    """Share of a core."""
    page_mb: float = 0.0
    events: int = 0
    """That all viewers got."""


Costs = Mapping[int | None, Sequence[Cost]]


def run(effort: Effort) -> Section:
    costs: dict[int | None, list[Cost]] = {count: [] for count in VIEWERS}
    with kept_off({TOOL_CORE}), reference("null") as address:
        for number in range(effort.rounds):
            for count in side_by_side([[count] for count in VIEWERS]):
                costs[count].append(_cost(address, count, number, effort))
                print(f"  {costs[count][-1]}", flush=True)
        compared = _compared(address, effort)
    samples = [asdict(cost) for each in costs.values() for cost in each]
    rows = [*_rows(costs), _difference(compared)]
    return Section(rows, f"{_table(costs)}\n\n{_sentences(compared)}", [*samples, compared])


def _cost(address: str, count: int | None, number: int, effort: Effort) -> Cost:
    """Of a load that so many watch, once all has settled."""
    folder, window_s = effort.folder / f"{number}-{count}", 2 * effort.seconds
    folder.mkdir()
    assert JOSTLE.open is not None
    load = [*JOSTLE.open(f"http://{address}/", RATE, CLIENTS), "--into", str(folder / "runs")]
    of_page: dict[str, Any] = {}
    with watched(load, folder) as generator:
        run = _begun(folder / "runs", generator)
        if count is None:
            window = _Window.of([generator], window_s)
        else:
            with page(folder / "runs", folder / "page") as (served, port):
                with viewers(port, run.name, count, folder / "viewers") as events:
                    window = _Window.of([generator, served], window_s)
                    page_mb = served.memory_bytes() / 1e6
                of_page = {"page": window.busy[1], "page_mb": page_mb, "events": sum(events)}
    late = _late_us(run, window)
    return Cost(count, number, window.busy[0], late[0.5], late[0.99], **of_page)


def _begun(runs: Path, generator: Watched) -> Path:
    """The folder of the only run, once its load is sent."""
    while not (found := [file.parents[2] for file in runs.glob("*/trials/*/intervals.hlog")]):
        generator.check()
        time.sleep(0.05)
    return found[0]


@dataclass(frozen=True)
class _Window:
    """What processes use within it, as shares of a core."""

    begin_ns: int
    end_ns: int
    busy: Sequence[float]

    @classmethod
    def of(cls, processes: Sequence[Watched], length_s: float) -> "_Window":
        """One that begins when all has settled."""
        time.sleep(SETTLE_S)
        begin_ns, before = time.time_ns(), [process.cpu_s() for process in processes]
        time.sleep(length_s)
        end_ns, after = time.time_ns(), [process.cpu_s() for process in processes]
        used_s = [end - start for start, end in zip(before, after, strict=True)]
        return cls(begin_ns, end_ns, [1e9 * one / (end_ns - begin_ns) for one in used_s])


def _late_us(run: Path, window: _Window) -> dict[float, float]:
    """How late the generator was within the window, by quantile."""
    (trial,) = RunRecord.open(run).trials
    begun_ns = trial.description["started_unix_ns"]
    start_s, end_s = ((at - begun_ns) / 1e9 for at in (window.begin_ns, window.end_ns))
    late = from_histograms([trial.histogram("pacing", start_s=start_s, end_s=end_s)])
    return {p: round(1e6 * (quantile_of(late, p) or 0.0)) for p in (0.5, 0.99)}


def _compared(address: str, effort: Effort) -> dict[str, Any]:
    """What jostle says of its trials with a viewer beside those without one. All have a page."""
    folder = effort.folder / "compared"
    folder.mkdir()
    rounds, seconds = (QUICK_ROUNDS, QUICK_TRIAL_S) if effort.quick else (ROUNDS, TRIAL_S)
    plan, runs, result = (folder / name for name in ("plan.toml", "runs", "result.json"))
    plan.write_text(
        PLAN.format(address=address, rate=RATE, rounds=rounds, seconds=seconds, warm_up=WARM_UP_S)
    )
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "jostle",
        "run",
        plan,
        "--into",
        runs,
        "-o",
        result,
        "--no-pages",
    ]
    seen: list[int] = []
    with watched([*command, "--web"], folder, SERVER_CORE, TOOL_CORE) as process:
        run = FollowedRun(_begun(runs, process))
        port = port_of(process)
        while process.process.poll() is None:
            if (number := _trial_with_viewer(run)) is not None:
                with viewers(port, run.folder.name, 1, folder / f"viewer-{len(seen)}") as events:
                    while _trial_with_viewer(run) == number:
                        time.sleep(LOOKS_EACH_S)
                seen += events
            time.sleep(LOOKS_EACH_S)
        if len(seen) != rounds:
            raise RuntimeError(f"{len(seen)} trials were watched: {process.said()}")
    (comparison,) = json.loads(result.read_text())["comparisons"]
    print(f"  {comparison['sentence']}", flush=True)
    return {"events_of_trials": seen, "comparison": comparison}


def _trial_with_viewer(run: FollowedRun) -> int | None:
    """The number of the trial that goes on, if it is one with a viewer."""
    run.read()
    going = (trial for trial in run.state.trials if trial.status == "running" and trial.contestant == "with")
    return next((trial.number for trial in going), None)


def _rows(costs: Costs) -> list[Row]:
    """Differences are of pairs from the same round."""
    cpu = [one.page - none.page for one, none in zip(costs[1], costs[0], strict=True)]
    mb = [one.page_mb - none.page_mb for one, none in zip(costs[1], costs[0], strict=True)]
    return [
        Row(
            "one viewer of `jostle web`: CPU of the page, of a core",
            f"≤ {MAX_CPU:.0%}",
            spread(cpu, ".2%"),
            median(cpu) <= MAX_CPU,
        ),
        Row(
            "one viewer of `jostle web`: memory of the page, MB",
            f"≤ {MAX_MB:.0f}",
            spread(mb),
            median(mb) <= MAX_MB,
        ),
    ]


def _difference(compared: Mapping[str, Any]) -> Row:
    comparison = compared["comparison"]
    found = [one["metric"] for one in comparison["differences"] if one["finding"] in ("less", "more")]
    return Row(
        f"{comparison['rounds'][0]} rounds with and without a viewer: metrics found to differ",
        "0",
        ", ".join(found) or "0",
        not found,
    )


def _table(costs: Costs) -> str:
    lines = [
        "| viewers | page, of a core | page, MB | generator, of a core | late p50, µs | late p99, µs |",
        "|---|---|---|---|---|---|",
    ]
    for count, each in costs.items():
        watched_by = "no page" if count is None else f"{count}"
        of_page = (
            ["", ""]
            if count is None
            else [spread([c.page for c in each], ".2%"), spread([c.page_mb for c in each], ".1f")]
        )
        generator = spread([cost.generator for cost in each], ".2%")
        late = [spread([c.late_p50_us for c in each], ".0f"), spread([c.late_p99_us for c in each], ".0f")]
        lines.append(f"| {' | '.join([watched_by, *of_page, generator, *late])} |")
    return "\n".join(lines)


def _sentences(compared: Mapping[str, Any]) -> str:
    comparison = compared["comparison"]
    of_metrics = "\n".join(f"- {one['sentence']}" for one in comparison["differences"])
    return f"{comparison['sentence']}\n\n{of_metrics}"
