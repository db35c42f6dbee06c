"""Whether a trial can be trusted. Each check has a measured value, its threshold, a sentence and a remedy.

What a server does badly is a finding, and no reason to mistrust the run; what the generator, the machine or
the plan does badly is one. Thresholds: docs/METHODOLOGY.
"""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from jostle.analysis.results import Check, Validity
from jostle.analysis.stats.arrivals import EXPONENTIAL_1_PERCENT, anderson_darling_exponential
from jostle.analysis.stats.quantile_ci import quantile_estimate, samples_needed
from jostle.analysis.stats.sample import Floats
from jostle.analysis.stats.steady_state import mser
from jostle.analysis.trials.data import BACKGROUND, MEASURED, TrialData
from jostle.analysis.validity.away import answered_throughout
from jostle.analysis.validity.figures import RATES, RESPONSE_TIMES, TIMES
from jostle.analysis.validity.generator import (
    accounts_closed,
    all_bore_their_share,
    all_recorded,
    busiest,
    saw_the_same,
    started_together,
)
from jostle.analysis.validity.lateness import lateness, mostly_lateness
from jostle.analysis.validity.limits import memory_limited, within_files, within_ports
from jostle.analysis.validity.lost_time import clock_was_set, time_was_lost
from jostle.analysis.validity.machine import machine, stolen, told
from jostle.analysis.validity.remedies import remedy_for
from jostle.analysis.validity.statuses import one_kind_of_answer
from jostle.analysis.validity.wake_up import wake_up
from jostle.formatting import percent, tallied
from jostle.record.outcomes import (
    NOT_CONNECTED,
    TIMEOUTS,
    WRONG_ANSWERS,
    Outcome,
    failures,
    outcome_label,
)
from jostle.record.verdict import Verdict
from jostle.text import one_line, shortened
from jostle.units import format_count, format_duration, format_rate

__all__ = ["change_of_logs", "judge_data"]

CPU_SUSPECT, CPU_INVALID = 0.80, 0.95
TURNS_CPU = 0.02
"""Share of a core up to which a generator does not disturb the server whose cores it shares."""
SENT_SUSPECT, SENT_INVALID = 0.99, 0.95
MANY_WAITED = 0.1
"""If this share of the requests that were sent waited for a stream, those that were not sent did, too."""
ERRORS_SUSPECT, ERRORS_INVALID = 0.001, 0.05
HOW_MANY_FAILED = ("errors",)
"""The figure that is sound, whatever failures do to the others."""
LITTLE_SUSPECT = 0.01
INTERACTIVE_SUSPECT = 0.02
BY_CHANCE = 3.0
"""Standard deviations by which the sum of random think times may differ from its expectation."""
CLOCK_S, CLOCK_SUSPECT = 1e-6, 0.10
FEW_ANSWERS = 6
"""Fewer answers than this do not even bound the median."""

CYCLES = 100
"""Requests per client with which start and end of a closed loop no longer matter to the interactive law."""

STEADY_CHANGE = 0.05
"""The halves must also differ by more than this, as MSER-5 finds "no steady state" in 2 % of steady series of
100 intervals (simulated)."""

MAX_ARRIVALS, ARRIVALS_FACTOR = 2000, 2.0


def judge_data(data: TrialData) -> Validity:
    """All checks that apply to the trial, and the verdict that follows."""
    if data.trial.status == "failed" or not data.recorded:
        checks = [_ended(data)]
    else:
        left_out = OF_THE_MACHINE if data.trial.simulated else ()
        makes = (make for make in CHECKS if make not in left_out)
        checks = [check for make in makes if (check := make(data)) is not None]
    return _with_cause(Validity.of(checks), data)


def _with_cause(validity: Validity, data: TrialData) -> Validity:
    """If the generator or the machine is at fault, the worst such check also tells what the machine did."""
    blamed = [check for check in validity.failed if check.cause in ("generator", "machine")]
    if not blamed or data.trial.simulated or not (why := told(data)):
        return validity
    told_with = replace(blamed[0], message=f"{blamed[0].message}; {why}")
    return Validity.of(told_with if check is blamed[0] else check for check in validity.checks)


def _graded(value: float, suspect: float, invalid: float = math.inf) -> Verdict:
    return Verdict.INVALID if value > invalid else Verdict.SUSPECT if value > suspect else Verdict.VALID


def _part(share: float, whole: str) -> str:
    """How much of something: a percentage, or how many times it."""
    return f"{percent(share)} of {whole}" if share < 2 else f"{format_count(share)} times {whole}"


def _ended(data: TrialData) -> Check:
    planned = f" of {format_duration(data.planned_s)}" if data.planned_s is not None else ""
    status, why = data.trial.status, data.trial.why
    done = data.duration_s / data.planned_s if data.planned_s else None
    if status == "failed":
        message, remedy = f"the trial failed: {why}", "see the server's last output"
        return Check("end", Verdict.INVALID, done, 1, "share", message, remedy)
    if not data.recorded:
        return Check(
            "end", Verdict.INVALID, 0, 1, "share", f"nothing was recorded: {why or status}", "run it again"
        )
    if status == "cut short":
        message = f"cut short after {format_duration(data.duration_s)}{planned}: {why}"
        return Check("end", Verdict.SUSPECT, done, 1, "share", message, "run it again to its end")
    return Check(
        "end", Verdict.VALID, done, 1, "share", f"ran for {format_duration(data.duration_s)}{planned}"
    )


def _wrong_answers(data: TrialData) -> Check:
    found = {w: data.outcomes(w) for w in (MEASURED, BACKGROUND)}
    wrong = {str(kind): sum(o.get(kind, 0) for o in found.values()) for kind in sorted(WRONG_ANSWERS)}
    wrong[Outcome.SCRIPT_FAILED] = sum(map(data.scripts_failed, found))
    total = sum(wrong.values())
    if not total:
        return Check("verified work", Verdict.VALID, 0, 0, "wrong answers", "every answer was the right one")
    kinds = ", ".join(f"{format_count(n)} {outcome_label(k)}" for k, n in wrong.items() if n)
    codes = tallied(sum((Counter(data.reasons(Outcome.WRONG_STATUS, w)) for w in found), Counter()))
    kinds += f" ({codes})" if codes else ""
    if refused := next((data.counts.refused[w] for w in found if w in data.counts.refused), ""):
        kinds += f", for example {shortened(one_line(refused))}"
    return Check(
        "verified work",
        Verdict.INVALID,
        total,
        0,
        "wrong answers",
        f"wrong answers: {kinds}",
        remedy_for(wrong),
        spares=HOW_MANY_FAILED,
    )


def _errors(data: TrialData) -> Check:
    """Timeouts alone never make a run invalid: they are counted as censored response times."""
    share = data.error_share
    errors = {kind: n for kind, n in data.errors.items() if kind not in WRONG_ANSWERS}
    answered = data.ok() + sum(data.errors.values())
    failed = sum(n for kind, n in errors.items() if kind not in TIMEOUTS) / answered if answered else 0.0
    verdict = _graded(share, ERRORS_SUSPECT)
    threshold = ERRORS_SUSPECT
    if failed > ERRORS_INVALID:
        verdict, threshold = Verdict.INVALID, ERRORS_INVALID
    if not data.errors:
        return Check("errors", Verdict.VALID, 0, ERRORS_SUSPECT, "share", "no request failed")
    kinds = ", ".join(f"{format_count(n)} {outcome_label(k)}" for k, n in sorted(data.errors.items()))
    why = tallied(sum((Counter(data.reasons(kind)) for kind in errors), Counter()))
    message = f"{percent(share)} of the requests failed ({kinds}{f'; {why}' if why else ''})"
    remedy = remedy_for(data.errors) if verdict is not Verdict.VALID else ""
    return Check("errors", verdict, share, threshold, "share", message, remedy, spares=HOW_MANY_FAILED)


def _excess(data: TrialData) -> Check | None:
    """A server that frames its answers wrongly: the next answer on the connection cannot be trusted."""
    found = sum((Counter(data.counts.excess.get(w, {})) for w in (MEASURED, BACKGROUND)), Counter[str]())
    if not (total := sum(found.values())):
        return None
    message = f"bytes that belong to no answer followed {format_count(total)} answers ({tallied(found)})"
    remedy = "HTTP: look at the server's Content-Length, and at bodies where there is none (HEAD, 204, 304); "
    remedy += "tcp://: does an answer end where `until` says? "
    remedy += 'WebSocket: for messages that the server sends of its own accord, match = "echo" or "json:/id"'
    return Check("framing", Verdict.SUSPECT, total, 0, "answers", message, remedy)


def _passed_over(data: TrialData) -> Check | None:
    """Whether the load went to fewer backends than the name has."""
    found = sum((Counter(data.counts.passed_over.get(w, {})) for w in (MEASURED, BACKGROUND)), Counter[str]())
    if not (total := sum(found.values())):
        return None
    message = f"addresses of the host's name did not accept: {tallied(found)}"
    remedy = "start a server there, or load one address (--connect-to)"
    return Check("addresses", Verdict.SUSPECT, total, 0, "connects", message, remedy)


def _answers(data: TrialData) -> Check:
    """Beside a background workload few answers are a finding: that is what blocking looks like."""
    sent, n = data.total("sent"), data.ok()
    if sent == 0:
        only_scripts = data.errors.keys() == {Outcome.SCRIPT_FAILED}
        why = ": the script failed before its first one" if only_scripts else ": no connection could be made"
        message = "no request was sent" + (why if data.errors else "")
        remedy = remedy_for(data.errors) if data.errors else "let it run longer, or raise the rate"
        return Check("answers", Verdict.INVALID, 0, 1, "requests", message, remedy)
    if n == 0 and not data.has_background:
        message = f"none of {format_count(sent)} requests was answered as expected"
        remedy = (
            remedy_for(data.errors)
            if data.errors
            else "let it run longer than an answer takes: try one by hand"
        )
        return Check("answers", Verdict.SUSPECT, 0, FEW_ANSWERS, "answers", message, remedy)
    least = min(FEW_ANSWERS, _planned_requests(data))
    if n < least and not data.has_background:
        message = f"only {n} of {format_count(sent)} requests were answered as expected: "
        message += "too few for any quantile"
        remedy = "let it run longer, or send more at once (an open loop does)"
        return Check("answers", Verdict.SUSPECT, n, least, "answers", message, remedy, TIMES, cause="plan")
    needed = samples_needed(0.999)
    message = f"{format_count(n)} answers"
    if n < needed:
        message += f"; p99.9 is left out: it needs {format_count(needed)}"
    return Check("answers", Verdict.VALID, n, least, "answers", message)


def _planned_requests(data: TrialData) -> float:
    """How many requests the plan asks for: a trial that is meant to have only a few is no failure."""
    return (data.closed or data.open or {}).get("requests") or math.inf


def _generator_cpu(data: TrialData) -> Check:
    share = data.generator_cpu
    verdict = _graded(share, CPU_SUSPECT, CPU_INVALID)
    message = f"{busiest(data)}'s busiest thread used {percent(share)} of a core"
    if verdict is not Verdict.VALID:
        message += ": the figures may show the generator's limit and not the server's"
    remedy = "give the generator more threads and cores, or send less" if verdict is not Verdict.VALID else ""
    limit = CPU_INVALID if verdict is Verdict.INVALID else CPU_SUSPECT
    return Check("generator CPU", verdict, share, limit, "share", message, remedy, cause="plan")


def _offered(data: TrialData) -> Check | None:
    """Open loop: what was due against what was sent. Failed connects are not the generator's fault."""
    if data.open is None or data.total("due") == 0:
        return None
    due, sent = data.total("due"), data.total("sent")
    unconnected = sum(n for kind, n in data.errors.items() if kind in NOT_CONNECTED)
    share = min(1.0, (sent + unconnected) / due)
    offered, achieved = format_rate(due / data.duration_s), format_rate(sent / data.duration_s)
    message = f"{achieved} of {offered} due were sent ({percent(sent / due)})"
    message += f"; for {format_count(unconnected)} there was no connection" if unconnected else ""
    if share >= SENT_SUSPECT:
        return Check("offered load", Verdict.VALID, share, SENT_SUSPECT, "share", message)
    limit = data.most_connections
    no_stream = 0 < MANY_WAITED * sent <= data.total("stream_waits")
    if no_stream or data.counts.connections.max() >= limit:
        full = "streams that it allows" if no_stream else f"{format_count(limit)} connections"
        message += f": all {full} were waiting for the server, which is overloaded"
        remedy = (
            "a finding about the server; response times then grow with the length of the run: lower the rate"
        )
        return Check(
            "offered load",
            Verdict.SUSPECT,
            share,
            SENT_SUSPECT,
            "share",
            message,
            remedy,
            RESPONSE_TIMES,
        )
    verdict = Verdict.SUSPECT if share >= SENT_INVALID else Verdict.INVALID
    remedy = "give the generator more threads and cores, or lower the rate"
    limit = SENT_INVALID if verdict is Verdict.INVALID else SENT_SUSPECT
    return Check("offered load", verdict, share, limit, "share", message, remedy, cause="generator")


def _littles_law(data: TrialData) -> Check | None:
    """∫ N dt, kept by a counter, against Σ R over all requests: they are the same thing counted twice."""
    if not data.whole:
        return None
    integral, busy = data.total("in_flight_ns"), data.total("busy_sum_ns")
    if max(integral, busy) == 0:
        return None
    residual = abs(integral - busy) / max(integral, busy)
    verdict = _graded(residual, LITTLE_SUSPECT)
    message = f"Little's law holds to {percent(residual)}"
    remedy = ""
    if verdict is not Verdict.VALID:
        message = f"Little's law is off by {percent(residual)}: some time of some requests was not recorded"
        remedy = "this should not happen: please report it with the run folder"
    return Check(
        "Little's law", verdict, residual, LITTLE_SUSPECT, "share", message, remedy, cause="generator"
    )


def _interactive_law(data: TrialData) -> Check | None:
    """Closed loop: clients are either waiting or thinking, N T = Σ R + Z C; the rest is the generator's own.

    Failed and unfinished requests count as waiting, so that a blocked server is no violation. Clients that
    paused after failed connects did neither, so such trials are not checked.
    """
    if data.closed is None or not data.whole or not data.steady_load:
        return None
    if data.on_journeys:
        return None  # each step has a pause of its own
    if any(data.closed.get(limit) for limit in ("requests", "requests_per_client")):
        return None
    clients, requests = data.closed["clients"], data.response.n
    if requests < CYCLES * clients or data.total("backoffs"):
        return None
    there = clients * data.duration_s
    answered = data.total("response_sum_ns") / 1e9
    pauses = requests - data.total("redirects")  # clients do not think before they follow a redirect
    spent = answered + data.given_up.total_s + data.think_s() * pauses
    residual = abs(there - spent) / there if there else 0.0
    chance = BY_CHANCE * data.think_deviation_s() * math.sqrt(requests) / there if there else 0.0
    limit = INTERACTIVE_SUSPECT + chance
    verdict = _graded(residual, limit)
    message = f"the clients' time is accounted for to {percent(residual)}"
    remedy = ""
    if verdict is not Verdict.VALID:
        message = (
            f"{percent(residual)} of the clients' time was the generator's own: neither waiting nor thinking"
        )
        remedy = (
            "the true throughput is higher by about as much: use fewer clients per thread, or an open loop"
        )
    return Check(
        "interactive law",
        verdict,
        residual,
        limit,
        "share",
        message,
        remedy,
        RATES,
        cause="generator",
    )


def _shared_cores(data: TrialData) -> Check | None:
    shared = data.trial.description.get("placement", {}).get("shared")
    if shared is None:
        return None
    if not shared:
        message = "server and generator had cores of their own"
        if data.busy_poll:
            message += "; the generator polled instead of sleeping"
        return Check("cores", Verdict.VALID, None, None, "", message)
    if _takes_turns(data) and data.generator_cpu <= TURNS_CPU:
        message = (
            "server and generator shared cores, with one request in flight: they take turns, and the "
            f"generator used {percent(data.generator_cpu)} of a core"
        )
        return Check("cores", Verdict.VALID, data.generator_cpu, TURNS_CPU, "share", message)
    message = "server and generator shared cores: each slows the other down"
    remedy = "use a machine with more cores, or remove share-cores from the plan"
    return Check("cores", Verdict.SUSPECT, None, None, "", message, remedy, cause="plan")


def _takes_turns(data: TrialData) -> bool:
    """Whether one client waits for each answer, so generator and server are hardly ever busy together."""
    return data.closed is not None and data.closed["clients"] == 1 and not data.has_background


def _background(data: TrialData) -> Check | None:
    if not data.has_background:
        return None
    sent = data.total("sent", BACKGROUND)
    failed = sum(n for kind, n in failures(data.outcomes(BACKGROUND)).items() if kind not in WRONG_ANSWERS)
    if sent == 0:
        message = "the background workload sent nothing"
        return Check(
            "background",
            Verdict.INVALID,
            0,
            1,
            "requests",
            message,
            "let it run longer, or check its request",
            cause="plan",
        )
    if failed:
        message = f"{format_count(failed)} of {format_count(sent)} background requests failed"
        remedy = "raise their timeout above the time that they take, or look at the server's log"
        return Check("background", Verdict.SUSPECT, failed, 0, "failed requests", message, remedy)
    message = f"{format_count(sent)} background requests were sent, and none failed"
    return Check("background", Verdict.VALID, failed, 0, "failed requests", message)


def _arrivals(data: TrialData) -> Check | None:
    """Sends in the middle of the run. Source: Lancet (ATC 2019): below twice the 1 % critical value.

    Not of journeys: their later steps are sent when the step before has been answered.
    """
    if data.open is None or data.open.get("arrivals") != "poisson" or not data.steady_load:
        return None
    if data.rows is None or data.on_journeys:
        return None
    sent = np.sort(data.rows["sent_ns"].to_numpy())
    gaps = np.diff(sent[sent > 0].astype(float)) / 1e9
    surplus = max(0, len(gaps) - MAX_ARRIVALS)
    gaps = gaps[surplus // 2 : len(gaps) - (surplus - surplus // 2)]
    if len(gaps) < CYCLES:
        return None
    statistic, limit = anderson_darling_exponential(gaps), ARRIVALS_FACTOR * EXPONENTIAL_1_PERCENT
    verdict = _graded(statistic, limit)
    message = "requests were sent as a Poisson process"
    if verdict is not Verdict.VALID:
        message = "requests did not follow the plan's Poisson process: they were bunched or too evenly spaced"
    remedy = "the generator was late, or all connections were busy: see lateness and offered load"
    return Check(
        "arrivals",
        verdict,
        statistic,
        limit,
        "",
        message,
        remedy if verdict is not Verdict.VALID else "",
        TIMES,
        cause="generator",
    )


def _steady_state(data: TrialData) -> Check | None:
    """MSER-5 on throughput and on log p99, if the load is meant to be steady and the run is long."""
    if not data.settles:
        return None
    throughput, p99 = data.throughputs[:-1], data.responses.figure("p99 to settle")[:-1]
    changes: dict[tuple[str, ...], float] = {} if mser(throughput).settled else {RATES: _change(throughput)}
    if all(p99):
        logs = np.log(np.array(p99, dtype=float))
        changes |= {} if mser(logs).settled else {TIMES: change_of_logs(logs)}
    change = max(changes.values(), default=0.0)
    verdict = _graded(change, STEADY_CHANGE)
    if verdict is Verdict.VALID:
        return Check("steady state", verdict, change, STEADY_CHANGE, "share", "the run settled")
    message = f"no steady state: the second half differs from the first by {percent(change)}"
    remedy = "let it run longer, or give it a warm-up"
    affects = tuple(figure for group, c in changes.items() if c > STEADY_CHANGE for figure in group)
    return Check("steady state", verdict, change, STEADY_CHANGE, "share", message, remedy, affects)


def _change(series: Floats) -> float:
    half = len(series) // 2
    first, second = float(series[:half].mean()), float(series[half:].mean())
    return abs(second - first) / abs(first) if first else math.inf


def change_of_logs(series: Floats) -> float:
    """The same for a series of logarithms, in terms of the values themselves, whatever their unit."""
    half = len(series) // 2
    return abs(math.expm1(float(series[half:].mean()) - float(series[:half].mean())))


def _clock(data: TrialData) -> Check | None:
    if data.response.n_events == 0:
        return None
    median = quantile_estimate(data.response.only_events(), 0.5).value or CLOCK_S
    share = CLOCK_S / median
    verdict = _graded(share, CLOCK_SUSPECT)
    message = f"times are recorded to 1 µs, {_part(share, 'the median response time')}"
    remedy = "differences of a few microseconds mean nothing here" if verdict is not Verdict.VALID else ""
    return Check(
        "clock resolution", verdict, share, CLOCK_SUSPECT, "share", message, remedy, TIMES, cause="generator"
    )


OF_THE_MACHINE = (time_was_lost, clock_was_set, machine, stolen)
"""Left out for simulated trials: what happens to the machine does not affect calculated figures."""

CHECKS: list[Callable[[TrialData], Check | None]] = [
    _ended,
    all_bore_their_share,
    started_together,
    saw_the_same,
    accounts_closed,
    all_recorded,
    time_was_lost,
    clock_was_set,
    _wrong_answers,
    one_kind_of_answer,
    answered_throughout,
    _errors,
    _excess,
    _passed_over,
    _answers,
    _generator_cpu,
    within_files,
    within_ports,
    memory_limited,
    lateness,
    mostly_lateness,
    wake_up,
    machine,
    stolen,
    _offered,
    _littles_law,
    _interactive_law,
    _shared_cores,
    _background,
    _arrivals,
    _steady_state,
    _clock,
]
