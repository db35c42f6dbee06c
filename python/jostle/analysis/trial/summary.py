"""One trial: its figures, its verdict, and how it went from second to second."""

from typing import Any, Literal

import numpy as np

from jostle.analysis.results import Itself, Timeline, TrialResult
from jostle.analysis.stats.quantile_ci import quantile_estimate, quantile_estimates
from jostle.analysis.stats.sample import Ints
from jostle.analysis.stats.steady_state import Course, course
from jostle.analysis.trial.data import BACKGROUND, MEASURED, Facts
from jostle.analysis.validity.checks import judge_facts
from jostle.analysis.validity.limits import port_range
from jostle.record.outcomes import Outcome

__all__ = ["cpu_per_request", "describe_trial", "rss_max", "until_the_end"]

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
    medians = facts.responses.figure("p50")[:-1]
    known = [m for m in medians if m is not None]
    if not facts.steady_load or facts.has_background or len(known) < LONG_ENOUGH or len(known) < len(medians):
        return ""
    return course(np.array(known))


def cpu_per_request(facts: Facts) -> float | None:
    """CPU time of the server's process tree per success, in seconds; None where the tree was not watched."""
    return facts.vitals.cpu_s_per(facts.ok())


def rss_max(facts: Facts) -> float | None:
    """The most memory that the server's process tree held."""
    return facts.vitals.rss_max()


def _background(facts: Facts) -> dict[str, Any]:
    """What the background workload did. `in_flight` is the mean number of its requests that were running."""
    if not facts.has_background:
        return {}
    outcomes = facts.outcomes(BACKGROUND)
    ok = outcomes.get(Outcome.OK, 0)
    service_ns = facts.total("service_sum_ns", BACKGROUND)
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
    counts, lengths_s = facts.counts, facts.lengths_s
    server_t, server_cpu, server_rss = facts.vitals.line()
    return Timeline(
        t_s=facts.middles_s.tolist(),
        throughput_per_s=facts.throughputs.tolist(),
        errors_per_s=(counts.failed / lengths_s).tolist(),
        p50_s=facts.responses.figure("p50"),
        p99_s=facts.responses.figure("p99"),
        max_s=facts.responses.figure("max"),
        clients=until_the_end(facts, counts.clients),
        in_flight=(counts.in_flight_ns / 1e9 / lengths_s).tolist(),
        generator_cpu=counts.busiest.tolist(),
        server_t_s=server_t,
        server_cpu=server_cpu,
        server_rss_bytes=server_rss,
        phases=facts.phases,
        generator=_itself(facts),
    )


def until_the_end(facts: Facts, states: Ints) -> list[int | None]:
    """Counts at the end of each interval; None at the end of the trial, where all leave."""
    return [None if last else n for n, last in zip(states.tolist(), facts.counts.last, strict=True)]


def _itself(facts: Facts) -> Itself:
    counts = facts.counts
    return Itself(
        pacing_p99_s=facts.pacings.figure("p99"),
        loop_lag_max_s=(counts.loop_lag_max_us / 1e6).tolist(),
        bytes_in_per_s=(counts.bytes_in / facts.lengths_s).tolist(),
        bytes_out_per_s=(counts.bytes_out / facts.lengths_s).tolist(),
        open_files=counts.open_files.tolist(),
        local_ports=counts.local_ports.tolist(),
        open_files_limit=facts.host.get("limits", {}).get("open_files", {}).get("hard", 0),
        local_ports_limit=port_range(facts.host),
    )
