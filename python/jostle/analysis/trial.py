"""One trial: its figures, its verdict, and how it went from second to second."""

import itertools
from typing import Any, Literal

import numpy as np

from jostle.analysis.facts import BACKGROUND, ENDED_BY_STOP, MEASURED, Facts
from jostle.analysis.histograms import Sample
from jostle.analysis.limits import most_ports, open_files, port_range
from jostle.analysis.quantiles import quantile_estimate, quantile_estimates
from jostle.analysis.result import Itself, Phase, Timeline, TrialResult
from jostle.analysis.steady import Course, course
from jostle.analysis.validity import judge_facts

__all__ = [
    "cpu_per_request",
    "cpu_s",
    "describe_trial",
    "phases_of",
    "quantile_of",
    "rss_max",
    "server_line",
]

LONG_ENOUGH = 20
"""Intervals from which on a course can be told."""


def describe_trial(facts: Facts) -> TrialResult:
    """Everything that a report shows of one trial."""
    trial = facts.trial
    due = facts.total("due") if facts.open is not None else None
    return TrialResult(
        number=trial.number,
        contestant=trial.contestant,
        workload=trial.workload,
        round=trial.round,
        status=trial.status,
        why=trial.why,
        validity=judge_facts(facts),
        duration_s=facts.duration_s,
        throughput_per_s=facts.throughput,
        offered_per_s=None if due is None or not facts.duration_s else due / facts.duration_s,
        response=quantile_estimates(facts.response, facts.autocorrelation_time),
        service=quantile_estimates(facts.service),
        outcomes=facts.outcomes(),
        error_share=facts.error_share,
        background=_background(facts),
        generator_cpu=facts.generator_cpu,
        lag_p99_s=quantile_estimate(facts.pacing, 0.99).value,
        server_cpu_s_per_request=cpu_per_request(facts),
        server_rss_max_bytes=rss_max(facts),
        course=_course(facts),
        timeline=_timeline(facts),
        server=dict(trial.description.get("server", {})),
        requests=_requests(facts),
    )


def _course(facts: Facts) -> Course | Literal[""]:
    """How the medians of the intervals but the last went, where the load is meant to be steady."""
    medians = [quantile_of(sample, 0.5) for sample in facts.response_by_interval[:-1]]
    known = [m for m in medians if m is not None]
    if not facts.steady_load or facts.has_background or len(known) < LONG_ENOUGH or len(known) < len(medians):
        return ""
    return course(np.array(known))


def cpu_per_request(facts: Facts) -> float | None:
    """CPU time of the server's process tree per success, in seconds; None where the tree was not watched."""
    samples = facts.vitals
    if len(samples) < 2 or not facts.ok():
        return None
    return (cpu_s(samples[-1]) - cpu_s(samples[0])) / facts.ok()


def rss_max(facts: Facts) -> float | None:
    """The most memory that the server's process tree held."""
    return max((float(s["rss_bytes"]) for s in facts.vitals if s.get("rss_bytes") is not None), default=None)


def cpu_s(sample: dict[str, Any]) -> float:
    """CPU time of the process tree since it began, as a sample of the vitals has it."""
    return float(sample["cpu_user_s"]) + float(sample["cpu_system_s"])


def _background(facts: Facts) -> dict[str, Any]:
    """What the background workload did. `in_flight` is the mean number of its requests that were running."""
    if not facts.has_background:
        return {}
    outcomes = facts.outcomes(BACKGROUND)
    ok = outcomes.get("ok", 0)
    service_ns = sum(series["service_sum_ns"] for series in facts.series(BACKGROUND))
    running_s = facts.total("in_flight_ns", BACKGROUND) / 1e9
    return {
        "name": facts.workload(BACKGROUND).get("name", ""),
        "requests": sum(outcomes.values()),
        "ok": ok,
        "outcomes": outcomes,
        "service_mean_s": service_ns / ok / 1e9 if ok else None,
        "in_flight": running_s / facts.duration_s if facts.duration_s else 0.0,
    }


def _requests(facts: Facts) -> list[dict[str, Any]]:
    """Per request name: how its requests ended, and its response times."""
    requests = facts.workload().get("requests", [])
    return [
        {
            "name": request["name"],
            "outcomes": facts.outcomes(MEASURED, number),
            "response": quantile_estimates(
                facts.response if len(requests) == 1 else facts.request_response(number)
            ),
        }
        for number, request in enumerate(requests)
    ]


def _timeline(facts: Facts) -> Timeline:
    lengths = facts.lengths_s
    errors = [
        sum(
            n
            for s in interval["series"]
            if s["workload"] == MEASURED
            for k, n in s["outcomes"].items()
            if k != "ok" and k not in ENDED_BY_STOP
        )
        for interval in facts.intervals
    ]
    states = facts.states()
    server_t, server_cpu, server_rss = server_line(facts.vitals)
    return Timeline(
        t_s=[(i["start_ns"] + i["end_ns"]) / 2e9 for i in facts.intervals],
        throughput_per_s=facts.throughputs.tolist(),
        errors_per_s=[count / length for count, length in zip(errors, lengths.tolist(), strict=True)],
        p50_s=[quantile_of(sample, 0.5) for sample in facts.response_by_interval],
        p99_s=[quantile_of(sample, 0.99) for sample in facts.response_by_interval],
        max_s=[quantile_of(sample, 1.0) for sample in facts.response_by_interval],
        clients=[
            None if i["last"] else state["clients"] for i, state in zip(facts.intervals, states, strict=True)
        ],
        in_flight=[
            s["in_flight_ns"] / 1e9 / length for s, length in zip(states, lengths.tolist(), strict=True)
        ],
        generator_cpu=[
            max((t["cpu_ns"] / t["wall_ns"] for t in i["threads"] if t["wall_ns"]), default=0.0)
            for i in facts.intervals
        ],
        server_t_s=server_t,
        server_cpu=server_cpu,
        server_rss_bytes=server_rss,
        phases=phases_of(facts),
        generator=_itself(facts, lengths.tolist()),
    )


def _itself(facts: Facts, lengths: list[float]) -> Itself:
    def per_second(what: str) -> list[float]:
        sums = [sum(s[what] for s in i["series"] if s["workload"] == MEASURED) for i in facts.intervals]
        return [count / length for count, length in zip(sums, lengths, strict=True)]

    return Itself(
        pacing_p99_s=[quantile_of(sample, 0.99) for sample in facts.pacing_by_interval],
        loop_lag_max_s=[(i["loop_lag"] or {}).get("max_us", 0) / 1e6 for i in facts.intervals],
        bytes_in_per_s=per_second("bytes_in"),
        bytes_out_per_s=per_second("bytes_out"),
        open_files=[max(open_files(i)) for i in facts.intervals],
        local_ports=[most_ports(i) for i in facts.intervals],
        open_files_limit=facts.host.get("limits", {}).get("open_files", {}).get("hard", 0),
        local_ports_limit=port_range(facts.host),
    )


def phases_of(facts: Facts) -> list[Phase]:
    """As planned, up to the end of the trial; none where the load is the same throughout."""
    steps = (facts.closed or {}).get("phases") or (facts.open or {}).get("rates") or []
    lengths_s = [(step.get("duration_ns") or 0) / 1e9 for step in steps]
    if len(steps) < 2 or 0 in lengths_s[:-1]:
        return []
    ends = list(itertools.accumulate(lengths_s))
    ends[-1] = facts.duration_s
    found = [
        Phase(str(step.get("name") or number), start, min(end, facts.duration_s))
        for number, (step, start, end) in enumerate(zip(steps, [0.0, *ends], ends, strict=False), 1)
    ]
    return [phase for phase in found if phase.end_s > phase.start_s]


def quantile_of(sample: Sample, p: float) -> float | None:
    """The `p`-quantile of what ended, a plain figure; None where nothing did."""
    if sample.n == 0:
        return None
    rank = sample.events.cumsum().searchsorted(p * sample.n - 1e-9)
    return float(sample.values_s[rank])


def server_line(samples: list[dict[str, Any]]) -> tuple[list[float], list[float], list[float]]:
    """Between each two samples: the middle, cores in use, and memory at the end."""
    times, cores, memory = [], [], []
    for before, after in itertools.pairwise(samples):
        length_s = (after["t_ns"] - before["t_ns"]) / 1e9
        if length_s <= 0:
            continue
        times.append((before["t_ns"] + after["t_ns"]) / 2e9)
        cores.append((cpu_s(after) - cpu_s(before)) / length_s)
        memory.append(float(after["rss_bytes"] or 0))
    return times, cores, memory
