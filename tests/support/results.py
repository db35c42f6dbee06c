"""Makes `RunResult` objects of a known shape without running anything; the same numbers on every machine."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from jostle.analysis.compare.sentences import in_words, summary
from jostle.analysis.results import (
    Check,
    Comparison,
    Difference,
    Distribution,
    Estimate,
    PublishedFigure,
    RunResult,
    Shift,
    StarvationResult,
    Timeline,
    TrialResult,
    Validity,
    WorkloadSummary,
)
from jostle.analysis.topics.starvation.blocking import WaitsFor
from jostle.analysis.topics.starvation.sentences import Meanwhile, sentence
from jostle.record.verdict import Verdict, worst

Times = NDArray[np.float64]

QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}
RATE_PER_S = 400.0
WINDOW_S = 5.0


@dataclass(frozen=True)
class Runtime:
    """A made-up contestant: the time of a fast request, of a slow one, and how long the slow one blocks."""

    name: str
    title: str
    discipline: str
    fast_s: float
    slow_s: float
    blocks: float  # share of the slow request's time for which fast ones wait


RUNTIMES = [
    Runtime("node", "Node.js, http module, one process", "run to completion", 180e-6, 2.31, 1.0),
    Runtime("go", "Go, net/http", "processor sharing", 120e-6, 1.84, 0.0),
    Runtime("java-virtual-threads", "Java, virtual threads", "2 workers", 210e-6, 1.52, 0.0),
    Runtime("python-asyncio", "Python, uvicorn", "run to completion", 420e-6, 7.9, 1.0),
]


def distribution(times: Times) -> Distribution:
    """What the analysis would say of `times` (seconds): density on ln x, quantiles, letter values."""
    times = np.sort(times)
    n = len(times)
    if n == 0:
        return Distribution(0, None, None, None)
    p = np.unique(np.concatenate([np.linspace(0, 0.9, 60), 1 - np.geomspace(0.1, 1 / n, 60)]))
    depths = [(n + 1) / 2]
    while len(depths) < max(1, int(np.log2(n) - np.log2(2 * 1.959964**2)) + 1):
        depths.append((1 + int(depths[-1])) / 2)
    low = [float(np.interp(d - 1, np.arange(n), times)) for d in depths]
    high = [float(np.interp(n - d, np.arange(n), times)) for d in depths]
    x, density = _density(np.log(times)) if n >= 50 else ([], [])
    return Distribution(
        n=n,
        mean_s=float(times.mean()),
        min_s=float(times[0]),
        max_s=float(times[-1]),
        density_x_s=x,
        density=density,
        quantile_p=[float(v) for v in p],
        quantile_s=[float(v) for v in np.quantile(times, p)],
        letter_depth=list(range(1, len(depths) + 1)),
        letter_low_s=low,
        letter_high_s=high,
        values_s=[float(v) for v in times] if n < 50 else [],
    )


def _density(logs: Times) -> tuple[list[float], list[float]]:
    grid = np.linspace(logs.min() - 0.2, logs.max() + 0.2, 300)
    counts, edges = np.histogram(logs, bins=600)
    middles = (edges[1:] + edges[:-1]) / 2
    h = 0.06
    kernel = np.exp(-0.5 * ((grid[:, None] - middles[None, :]) / h) ** 2) / (h * np.sqrt(2 * np.pi))
    density = kernel @ counts / counts.sum()
    return [float(v) for v in np.exp(grid)], [float(v) for v in density]


def quantiles(times: Times) -> dict[str, Estimate]:
    """Estimates with plausible intervals; "≥" and refusals where the sample is small."""
    times, n = np.sort(times), len(times)
    found = {"mean": Estimate(float(times.mean()) if n else None, n=n)}
    for name, p in QUANTILES.items():
        if n * (1 - p) < 0.05:
            found[name] = Estimate(None, n=n, note=f"needs {int(3 / (1 - p))} samples, has {n}")
            continue
        half = 2 * np.sqrt(p * (1 - p) / n)
        value, low = (float(np.quantile(times, q)) for q in (p, max(0.0, p - half)))
        if p + half >= 1:
            found[name] = Estimate(value, low, None, bound="≥", n=n)
        else:
            found[name] = Estimate(value, low, float(np.quantile(times, p + half)), n=n)
    found["max"] = Estimate(float(times[-1]) if n else None, n=n)
    return found


def quartiles(times: Times) -> dict[str, Estimate]:
    return {
        name: Estimate(float(np.quantile(times, p)), n=len(times))
        for name, p in (("p25", 0.25), ("p75", 0.75))
    }


def over_rounds(values: Sequence[float], unit: str) -> Estimate:
    """Mean over rounds with a normal 95 % interval of 1 % or more; no interval for one round."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return Estimate(mean, unit=unit, n=len(values), note="one round gives no interval; it needs 2")
    half = max(1.96 * float(np.std(values, ddof=1)) / np.sqrt(len(values)), 0.01 * mean)
    return Estimate(mean, mean - half, mean + half, unit=unit, n=len(values))


def fast_times(
    runtime: Runtime, *, slow: bool, open_loop: bool, rng: np.random.Generator
) -> tuple[Times, Times]:
    """(start, response) in seconds of the fast requests of one trial."""
    blocked_s = min(runtime.slow_s * runtime.blocks, WINDOW_S - 0.01) if slow else 0.0
    if open_loop:
        starts = np.sort(rng.uniform(0, WINDOW_S, rng.poisson(RATE_PER_S * WINDOW_S)))
        own = runtime.fast_s * np.exp(rng.normal(0, 0.35, len(starts)))
        waits = np.where(starts < blocked_s, blocked_s - starts, 0.0)
        return starts, own + waits
    room = int((WINDOW_S - blocked_s) / (runtime.fast_s * 6))
    own = runtime.fast_s * np.exp(rng.normal(0, 0.3, max(room, 1)))
    if blocked_s:
        own[0] = blocked_s
    starts = np.concatenate([[0.0], np.linspace(blocked_s, WINDOW_S, len(own))[1:]])
    return starts, own


def timeline(starts: Times, times: Times, *, cores: float, rng: np.random.Generator) -> Timeline:
    """Intervals of a quarter of a second."""
    edges = np.arange(0, WINDOW_S + 0.01, 0.25)
    ends = starts + times
    held = [times[(ends >= a) & (ends < b)] for a, b in itertools.pairwise(edges)]

    def quantile(p: float) -> list[float | None]:
        return [float(np.quantile(h, p)) if len(h) else None for h in held]

    n = len(held)
    return Timeline(
        t_s=[float(t) for t in (edges[1:] + edges[:-1]) / 2],
        throughput_per_s=[len(h) / 0.25 for h in held],
        errors_per_s=[0.0] * n,
        p50_s=quantile(0.5),
        p99_s=quantile(0.99),
        max_s=quantile(1.0),
        clients=[1] * n,
        in_flight=[float(v) for v in rng.uniform(0.4, 1.0, n)],
        generator_cpu=[float(v) for v in rng.uniform(0.15, 0.25, n)],
        server_t_s=[float(t) for t in edges[1:]],
        server_cpu=[float(v) for v in cores * rng.uniform(0.9, 1.0, n)],
        server_rss_bytes=[float(v) for v in 52e6 + np.cumsum(rng.uniform(0, 2e5, n))],
    )


def validity(verdict: Verdict) -> Validity:
    """Three checks; the lag is what fails when `verdict` is not valid."""
    lag = {"valid": 0.021, "suspect": 0.053, "invalid": 0.24}[verdict]
    return Validity(
        verdict,
        [
            Check("generator CPU", Verdict.VALID, 0.22, 0.8, "share", "the generator was idle enough"),
            Check(
                "lateness",
                verdict,
                lag,
                0.05,
                "share",
                "the generator sent requests late: had it been on time, "
                "p99 could be 340 µs instead of 358 µs",
                "measure on an idle machine, or give the generator a core of its own",
                ("p99", "blocking index"),
                "generator",
            ),
            Check(
                "shared cores", Verdict.VALID, 0, 0, "cores", "server and generator had cores of their own"
            ),
        ],
    )


def make_starvation(
    runtimes: Sequence[Runtime] = tuple(RUNTIMES),
    *,
    rounds: int = 3,
    open_form: bool = True,
    bad: Mapping[int, Verdict] | None = None,
    seed: int = 7,
    title: str = "Does one slow request starve the fast ones?",
) -> RunResult:
    """The starvation experiment on made-up servers; `bad` gives trials (by number) another verdict."""
    rng = np.random.default_rng(seed)
    bad = bad or {}
    kinds: list[tuple[str, str, bool, bool]] = [
        ("fast-only", "Fast requests alone", False, False),
        ("fast-with-slow", "Fast requests beside a slow one", True, False),
    ]
    if open_form:
        kinds += [
            ("open-only", "Fast stream alone", False, True),
            ("open-with-slow", "Fast stream beside a slow one", True, True),
        ]
    trials: list[TrialResult] = []
    summaries: list[WorkloadSummary] = []
    for runtime in runtimes:
        for workload, cell_title, slow, open_loop in kinds:
            made: list[tuple[TrialResult, Times]] = []
            for number in range(1, rounds + 1):
                starts, times = fast_times(runtime, slow=slow, open_loop=open_loop, rng=rng)
                index = len(trials) + 1
                trial = make_trial(
                    index,
                    runtime,
                    workload,
                    number,
                    bad.get(index, Verdict.VALID),
                    starts,
                    times,
                    slow,
                    open_loop,
                    rng,
                )
                trials.append(trial)
                made.append((trial, times))
            summaries.append(make_summary(runtime, workload, cell_title, made))
    by_key = {(c.contestant, c.workload): c for c in summaries}
    forms = [("as published", "As published: one closed client for 5 s", "fast-only", "fast-with-slow")]
    if open_form:
        forms.append(("as it ought to be", "Open loop: 400 fast requests/s", "open-only", "open-with-slow"))
    starved = [
        starvation_of(runtime, form, form_title, by_key[runtime.name, alone], by_key[runtime.name, beside])
        for form, form_title, alone, beside in forms
        for runtime in runtimes
    ]
    return make_result(title, trials, summaries, starved, runtimes)


def make_trial(
    number: int,
    runtime: Runtime,
    workload: str,
    round_number: int,
    verdict: Verdict,
    starts: Times,
    times: Times,
    slow: bool,
    open_loop: bool,
    rng: np.random.Generator,
) -> TrialResult:
    """One trial; two requests of it time out when its verdict is invalid."""
    outcomes = {"ok": len(times)} | ({"response_timeout": 2} if verdict is Verdict.INVALID else {})
    return TrialResult(
        number=number,
        contestant=runtime.name,
        workload=workload,
        round=round_number,
        status="ended",
        reason="",
        validity=validity(verdict),
        duration_s=WINDOW_S,
        throughput_per_s=len(times) / WINDOW_S,
        offered_per_s=RATE_PER_S if open_loop else None,
        response=quantiles(times),
        service=quantiles(times * 0.97),
        outcomes=outcomes,
        error_share=1 - outcomes["ok"] / sum(outcomes.values()),
        background={"requests": 1, "ok": 1, "service_mean_s": runtime.slow_s} if slow else {},
        generator_cpu=0.22,
        pacing_p99_s=38e-6 if open_loop else None,
        server_cpu_s_per_request=runtime.fast_s * 0.8,
        server_rss_max_bytes=54e6,
        trend="",
        timeline=timeline(starts, times, cores=1.0 if slow else 0.4, rng=rng),
        server={"label": runtime.name, "versions": {}, "variants": {}, "cores": [0]},
        requests=[],
    )


def make_summary(
    runtime: Runtime, workload: str, title: str, made: Sequence[tuple[TrialResult, Times]]
) -> WorkloadSummary:
    """All rounds of one workload on one contestant."""
    trials = [t for t, _ in made]
    times = np.concatenate([t for _, t in made])
    outcomes: dict[str, int] = {}
    for trial in trials:
        for kind, count in trial.outcomes.items():
            outcomes[kind] = outcomes.get(kind, 0) + count
    return WorkloadSummary(
        contestant=runtime.name,
        workload=workload,
        title=title,
        rounds=len(trials),
        verdict=worst(t.validity.verdict for t in trials),
        throughput=over_rounds([t.throughput_per_s for t in trials], "/s"),
        response=quantiles(times),
        service=quantiles(times * 0.97),
        quartiles=quartiles(times),
        outcomes=outcomes,
        error_share=1 - outcomes["ok"] / sum(outcomes.values()),
        response_distribution=distribution(times),
        service_distribution=distribution(times * 0.97),
        server_cpu_s_per_request=over_rounds([t.server_cpu_s_per_request or 0.0 for t in trials], "s"),
        server_rss_max_bytes=54e6,
        trials=[t.number for t in trials],
    )


def starvation_of(
    runtime: Runtime, form: str, title: str, alone: WorkloadSummary, beside: WorkloadSummary
) -> StarvationResult:
    """The comparison of two cells; only node and the published form have published figures."""
    a, b = alone.throughput.value or 1.0, beside.throughput.value or 0.0
    index = 1 - b / a
    interval = (None, None) if alone.rounds < 2 else (max(index - 0.012, -0.02), min(index + 0.012, 1.0))
    blocking = ((beside.response["p99"].value or 0) - (alone.response["p99"].value or 0)) / runtime.slow_s
    published = runtime.name == "node" and form == "as published"
    found = StarvationResult(
        form=form,
        title=title,
        contestant=runtime.name,
        alone_workload=alone.workload,
        with_workload=beside.workload,
        alone=alone.throughput,
        with_slow=beside.throughput,
        index=Estimate(index, *interval, unit="", n=alone.rounds),
        left=Estimate(None, unit="ratio", n=alone.rounds, note="the slow request runs until the end"),
        blocking=Estimate(
            min(1.0, blocking),
            *(None if e is None else min(1.0, max(0.0, blocking)) for e in interval),
            unit="",
            n=alone.rounds,
        ),
        slow_s=Estimate(runtime.slow_s, runtime.slow_s * 0.99, runtime.slow_s * 1.01, n=alone.rounds),
        alone_response=alone.response,
        with_response=beside.response,
        published_alone=PUBLISHED[0] if published else None,
        published_with=PUBLISHED[1] if published else None,
        sentence="",
    )
    loop: Literal["closed", "open"] = "closed" if form == "as published" else "open"
    waits: WaitsFor = "its end" if runtime.blocks else "a turn"
    meanwhile = Meanwhile(min(1.0, runtime.slow_s / WINDOW_S), None, 1)
    return replace(found, sentence=sentence(found, loop, meanwhile, waits, trusted=True))


PUBLISHED = [
    PublishedFigure(
        "node",
        "throughput",
        value,
        "requests/5 s",
        "Node.js and Haskell, an article of 2016",
        workload,
        beside="node",
        measured=Estimate(here, here * 0.99, here * 1.01, "/s", n=3),
    )
    for workload, value, here in (("fast-only", 572, 925.8), ("fast-with-slow", 114, 498.0))
]


def make_result(
    title: str,
    trials: list[TrialResult],
    summaries: list[WorkloadSummary],
    starved: list[StarvationResult],
    runtimes: Sequence[Runtime],
    **changes: Any,
) -> RunResult:
    """A whole result around trials and cells; `changes` replaces any field."""
    verdict = worst(t.validity.verdict for t in trials) if trials else Verdict.INVALID
    reasons = [
        f"trial {t.number} ({t.contestant}, {t.workload}): {r}" for t in trials for r in t.validity.reasons
    ]
    fields: dict[str, Any] = {
        "title": title,
        "folder": "runs/2026-11-21T18-52-34-starvation",
        "started": "2026-11-21T18:52:34+00:00",
        "complete": True,
        "incomplete_reason": "",
        "verdict": verdict,
        "reasons": reasons,
        "summaries": summaries,
        "trials": trials,
        "starvation": starved,
        "published": PUBLISHED if starved else [],
        "contestants": {r.name: describe(r) for r in runtimes},
        "skipped": {},
        "host": HOST,
        "plan_text": f'title = "{title}"\nrounds = 3\n',
        "rerun": "jostle race starvation --seed 7",
        "seed": 7,
    }
    return RunResult(**(fields | changes))


HOST = {
    "format": 1,
    "jostle": "0.1.0",
    "kernel": "Linux 6.18.0",
    "cpu_model": "Example CPU @ 2.50GHz",
    "cores": 2,
    "memory_bytes": 25_769_803_776,
    "limits": {"open_files": 1_048_576},
    "python": "3.11.7",
    "argv": ["jostle", "race", "starvation"],
}


def describe(runtime: Runtime) -> dict[str, Any]:
    """The entry of `RunResult.contestants`."""
    return {
        "title": runtime.title,
        "runtime": runtime.title.split(",")[0],
        "version": "1.2.3",
        "discipline": runtime.discipline,
        "variants": {},
    }


def make_plain(
    runtimes: Sequence[Runtime] = tuple(RUNTIMES[:2]), *, rounds: int = 2, seed: int = 7
) -> RunResult:
    """A run of two workloads without a starvation comparison, as `jostle run` makes it."""
    whole = make_starvation(runtimes, rounds=rounds, seed=seed, title="Two ways to ask")
    names = {"fast-only", "open-only"}
    trials = [t for t in whole.trials if t.workload in names]
    summaries = [c for c in whole.summaries if c.workload in names]
    return make_result("Two ways to ask", trials, summaries, [], runtimes, rerun="jostle run two-ways.toml")


def make_comparison(
    a: str = "node", b: str = "go", *, rounds: int = 3, slower_s: float = 0.002
) -> Comparison:
    """One workload on two contestants, of which `b` is slower by `slower_s` in the tail."""
    one = rounds < 2
    note = "one round: an interval needs at least 2, preferably 5" if one else ""

    def about(value: float, unit: str, half: float) -> Estimate:
        return Estimate(value, None if one else value - half, None if one else value + half, unit, note=note)

    differences = [
        Difference(
            metric,
            about(x, unit, x / 50),
            about(y, unit, y / 50),
            about(y - x, unit, x / 30),
            about(y / x if x else 1.0, "", 0.03),
            "more",
            0.2,
            "",
        )
        for metric, unit, x, y in (
            ("throughput", "/s", 900.0, 1100.0),
            ("p50", "s", 0.001, 0.0011),
            ("p99", "s", 0.004, 0.004 + slower_s),
        )
    ]
    levels = [0.1, 0.5, 0.9, 0.99, 0.999]
    shift = Shift(
        levels,
        [0.001 + p / 300 for p in levels],
        [0.001 + p / 300 + slower_s * p for p in levels],
        [slower_s * p for p in levels],
        [None if one or p > 0.99 else slower_s * (p - 0.4) for p in levels],
        [None if one or p > 0.99 else slower_s * (p + 0.4) for p in levels],
    )
    delta = about(0.21, "", 0.05)
    compared = Comparison(
        "fast-only",
        "Fast requests alone",
        a,
        b,
        (rounds, rounds),
        True,
        Verdict.VALID,
        [replace(d, sentence=in_words(d, a, b)) for d in differences],
        delta,
        shift,
        "",
    )
    return replace(compared, sentence=summary(compared))


def make_hit(verdict: Verdict = Verdict.VALID, *, seed: int = 7) -> RunResult:
    """One workload on one server, once, as `jostle hit` makes it."""
    rng = np.random.default_rng(seed)
    runtime = Runtime("127.0.0.1:8080", "http://127.0.0.1:8080/", "", 250e-6, 1.0, 0.0)
    starts, times = fast_times(runtime, slow=False, open_loop=True, rng=rng)
    trial = make_trial(1, runtime, "hit", 1, verdict, starts, times, False, True, rng)
    summary = make_summary(runtime, "hit", "GET /", [(trial, times)])
    rerun = "jostle hit http://127.0.0.1:8080/ --rate 400/s -d 5s"
    return make_result("GET http://127.0.0.1:8080/", [trial], [summary], [], [runtime], rerun=rerun)
