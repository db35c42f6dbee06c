"""One trial: its figures, its verdict, and how it went from second to second."""

from typing import Any, Literal

import numpy as np

from jostle.analysis.results import GeneratorStats, Timeline, TrialResult
from jostle.analysis.stats.quantile_ci import quantile_estimate, quantile_estimates
from jostle.analysis.stats.sample import Ints
from jostle.analysis.stats.steady_state import Trend, trend
from jostle.analysis.trials.data import BACKGROUND, MEASURED, TrialData
from jostle.analysis.trials.marks import marks_of
from jostle.analysis.trials.stretches import stretches
from jostle.analysis.validity.checks import judge_data
from jostle.analysis.validity.limits import open_files_limit, port_limit
from jostle.record.outcomes import Outcome

__all__ = ["background", "cpu_per_request", "describe_trial", "rss_max", "until_the_end"]

LONG_ENOUGH = 30
"""Fewest intervals for a trend: with fewer, stationary series are too often called something else."""


def describe_trial(data: TrialData) -> TrialResult:
    """Everything that a report shows of one trial."""
    trial = data.trial
    due = data.total("due") if data.open is not None else None
    return TrialResult(
        number=trial.number,
        contestant=trial.contestant,
        workload=trial.workload,
        round=trial.round,
        status=trial.status,
        reason=trial.why,
        validity=judge_data(data),
        duration_s=data.duration_s,
        throughput_per_s=data.throughput,
        offered_per_s=None if due is None or not data.duration_s else due / data.duration_s,
        response=quantile_estimates(data.response, data.autocorrelation_time),
        service=quantile_estimates(data.service),
        outcomes=data.outcomes(),
        error_share=data.error_share,
        background=background(data),
        generator_cpu=data.generator_cpu,
        pacing_p99_s=quantile_estimate(data.pacing, 0.99).value,
        server_cpu_s_per_request=cpu_per_request(data),
        server_rss_max_bytes=rss_max(data),
        trend=_trend(data),
        timeline=_timeline(data),
        server=dict(trial.server),
        requests=_requests(data),
        received_bytes_per_s=float(data.counts.bytes_in.sum()) / data.duration_s if data.duration_s else 0.0,
        unavailable=data.unavailable,
        connections_opened=data.parts["connect"].whole.n,
        connections_most=int(data.counts.connections.max(initial=0)),
        datagrams=_datagrams(data),
    )


def _datagrams(data: TrialData) -> dict[str, int]:
    """What became of the datagrams of a trial over UDP; empty for others. Late responses count as lost,
    too."""
    requests = data.workload().get("requests") or [{}]
    if requests[0].get("datagram") is None:
        return {}
    return {
        "sent": data.total("sent"),
        "answered": data.ok() + data.outcomes().get(Outcome.WRONG_BODY, 0),
        "lost": data.outcomes().get(Outcome.RESPONSE_TIMEOUT, 0),
        "late": data.total("late_answers"),
        "overtaken": data.total("overtaken_answers"),
        "duplicates": data.total("duplicate_answers"),
        "strays": data.total("stray_answers"),
    }


def _trend(data: TrialData) -> Trend | Literal[""]:
    """The trend of the intervals' medians, but for the last; "" if it is not known or the load not steady."""
    medians = data.responses.figure("p50")[:-1]
    known = [m for m in medians if m is not None]
    if not data.steady_load or data.has_background or len(known) < LONG_ENOUGH or len(known) < len(medians):
        return ""
    return trend(np.array(known))


def cpu_per_request(data: TrialData) -> float | None:
    """CPU time of the server's process tree per success, in seconds; None if the tree was not watched."""
    return data.resource_usage.cpu_s_per(data.ok())


def rss_max(data: TrialData) -> float | None:
    """The most memory that the server's process tree held."""
    return data.resource_usage.rss_max()


def background(data: TrialData) -> dict[str, Any]:
    """What the background workload did. `in_flight` is the mean number of its requests that were running."""
    if not data.has_background:
        return {}
    outcomes = data.outcomes(BACKGROUND)
    ok = outcomes.get(Outcome.OK, 0)
    service_ns = data.total("service_sum_ns", BACKGROUND)
    running_s = data.total("in_flight_ns", BACKGROUND) / 1e9
    return {
        "name": data.workload(BACKGROUND).get("name", ""),
        "requests": sum(outcomes.values()),
        "ok": ok,
        "outcomes": outcomes,
        "service_mean_s": service_ns / ok / 1e9 if ok else None,
        "in_flight": running_s / data.duration_s if data.duration_s else 0.0,
    }


def _requests(data: TrialData) -> list[dict[str, Any]]:
    """Per request name: how its requests ended, the statuses of right responses, and its response times."""
    requests = data.workload().get("requests", [])
    return [
        {
            "name": request["name"],
            "outcomes": data.outcomes(MEASURED, number),
            "statuses": dict(data.statuses(MEASURED, number)),
            "response": quantile_estimates(
                data.response if len(requests) == 1 else data.times_of("response", number)
            ),
        }
        for number, request in enumerate(requests)
    ]


def _timeline(data: TrialData) -> Timeline:
    counts, lengths_s = data.counts, data.lengths_s
    server_t, server_cpu, server_rss = data.resource_usage.line()
    return Timeline(
        t_s=data.middles_s.tolist(),
        throughput_per_s=data.throughputs.tolist(),
        errors_per_s=(counts.failed / lengths_s).tolist(),
        p50_s=data.responses.figure("p50"),
        p99_s=data.responses.figure("p99"),
        max_s=data.responses.figure("max"),
        clients=until_the_end(data, counts.clients),
        in_flight=(counts.in_flight_ns / 1e9 / lengths_s).tolist(),
        generator_cpu=counts.busiest.tolist(),
        server_t_s=server_t,
        server_cpu=server_cpu,
        server_rss_bytes=server_rss,
        phases=stretches(data.steered, data.duration_s) if data.steered else data.phases,
        generator=_generator_stats(data),
        marks=marks_of(data),
    )


def until_the_end(data: TrialData, states: Ints) -> list[int | None]:
    """Counts at the end of each interval; None at the end of the trial, when all clients leave."""
    return [None if last else n for n, last in zip(states.tolist(), data.counts.last, strict=True)]


def _generator_stats(data: TrialData) -> GeneratorStats:
    counts = data.counts
    return GeneratorStats(
        pacing_p99_s=data.pacings.figure("p99"),
        loop_lag_max_s=(counts.loop_lag_max_us / 1e6).tolist(),
        bytes_in_per_s=(counts.bytes_in / data.lengths_s).tolist(),
        bytes_out_per_s=(counts.bytes_out / data.lengths_s).tolist(),
        open_files=counts.open_files.tolist(),
        local_ports=counts.local_ports.tolist(),
        open_files_limit=open_files_limit(data),
        local_ports_limit=port_limit(data),
    )
