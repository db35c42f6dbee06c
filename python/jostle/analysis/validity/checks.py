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
from jostle.analysis.trials.data import BACKGROUND, MEASURED, TrialData
from jostle.analysis.validity.away import answered_throughout
from jostle.analysis.validity.failures import (
    EVEN_IF_NOTHING_WAS_RIGHT,
    RIGHT_INVALID,
    almost_none_right,
    kinds_of,
    requests_failed,
)
from jostle.analysis.validity.figures import RATES, RESPONSE_TIMES, TIMES
from jostle.analysis.validity.generator import (
    accounts_closed,
    all_bore_their_share,
    all_recorded,
    busiest,
    saw_the_same,
    started_together,
)
from jostle.analysis.validity.generator_core import had_its_core
from jostle.analysis.validity.lateness import lateness
from jostle.analysis.validity.limits import memory_limited, within_files, within_ports
from jostle.analysis.validity.lost_time import clock_was_set, time_was_lost
from jostle.analysis.validity.machine import machine, stolen, troubles_in_words
from jostle.analysis.validity.quota import within_quota
from jostle.analysis.validity.remedies import remedy_for
from jostle.analysis.validity.statuses import one_kind_of_response
from jostle.analysis.validity.steady import settled
from jostle.analysis.validity.steered import steered
from jostle.analysis.validity.stopped import server_ran
from jostle.analysis.validity.wake_up import wake_up
from jostle.formatting import percent, tallied
from jostle.quantiles import NAMED
from jostle.record.outcomes import ENDED_BY_STOP, NOT_CONNECTED, TIMEOUTS, Outcome, failures
from jostle.record.verdict import Verdict
from jostle.units import format_count, format_duration, format_rate

__all__ = ["judge_data", "judge_so_far"]

CPU_SUSPECT, CPU_INVALID = 0.80, 0.95
TURNS_CPU = 0.02
"""Share of a core up to which a generator does not disturb the server whose cores it shares."""
SENT_SUSPECT, SENT_INVALID = 0.99, 0.95
MANY_WAITED = 0.1
"""If this share of the requests that were sent waited for a stream, those that were not sent did, too."""
CUT_OFF_SUSPECT = 0.5
"""If more requests than this still waited at the end, not even the median was seen."""
BACKGROUND_SUSPECT = 0.05
"""If more of the background's requests fail, another load than the planned one ran beside this one."""
LITTLE_SUSPECT = 0.01
INTERACTIVE_SUSPECT = 0.02
BY_CHANCE = 3.0
"""Standard deviations by which the sum of random think times may differ from its expectation."""
CLOCK_S, CLOCK_SUSPECT = 1e-6, 0.10
FEW_RESPONSES = 6
"""Fewer responses than this do not even bound the median."""

CYCLES = 100
"""Requests per client with which start and end of a closed loop no longer matter to the interactive law."""

MAX_ARRIVALS, ARRIVALS_FACTOR = 2000, 2.0


def judge_data(data: TrialData) -> Validity:
    """All checks that apply to the trial, and the verdict that follows."""
    if data.trial.status == "failed" or not data.recorded:
        checks = [_ended(data)]
    else:
        left_out = MACHINE_CHECKS if data.trial.simulated else ()
        makes = (make for make in CHECKS if make not in left_out)
        checks = [_about_what_is_there(data, check) for make in makes if (check := make(data)) is not None]
    return _with_cause(Validity.of(checks), data)


def judge_so_far(data: TrialData) -> Validity:
    """The checks that can be made while a trial runs, and the verdict so far."""
    makes = (make for make in CHECKS if make not in AT_THE_END)
    checks = [_about_what_is_there(data, check) for make in makes if (check := make(data)) is not None]
    return Validity.of(checks)


def _about_what_is_there(data: TrialData, check: Check) -> Check:
    """The check without the quantiles that the trial has too few requests for: they spoil no verdict."""
    missing = {name for name, p in NAMED.items() if p > 0.5 and data.response.n < samples_needed(p)}
    missing |= {f"service {name}" for name in missing}
    if not check.affects or set(TIMES) <= set(check.affects):
        return check
    left = tuple(figure for figure in check.affects if figure not in missing)
    return replace(check, affects=left) if left else replace(check, verdict=Verdict.VALID, affects=())


def _with_cause(validity: Validity, data: TrialData) -> Validity:
    """If the generator or the machine is at fault, the worst such check also tells what the machine did."""
    blamed = [check for check in validity.failed if check.cause in ("generator", "machine")]
    if not blamed or data.trial.simulated or not (why := troubles_in_words(data)):
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
        return Check("end", Verdict.VALID, done, None, "share", message)
    return Check(
        "end", Verdict.VALID, done, 1, "share", f"ran for {format_duration(data.duration_s)}{planned}"
    )


def _excess(data: TrialData) -> Check | None:
    """A server that frames its responses wrongly: the next response on the connection cannot be trusted."""
    found = sum((Counter(data.counts.excess.get(w, {})) for w in (MEASURED, BACKGROUND)), Counter[str]())
    if not (total := sum(found.values())):
        return None
    message = f"bytes that belong to no response followed {format_count(total)} responses ({tallied(found)})"
    remedy = "HTTP: look at the server's Content-Length, and at bodies where there is none (HEAD, 204, 304); "
    remedy += "tcp://: does a response end where `until` says? "
    remedy += 'WebSocket: for messages that the server sends of its own accord, match = "echo" or "json:/id"'
    return Check("framing", Verdict.SUSPECT, total, 0, "responses", message, remedy)


def _passed_over(data: TrialData) -> Check | None:
    """Whether the load went to fewer backends than the name has."""
    found = sum((Counter(data.counts.passed_over.get(w, {})) for w in (MEASURED, BACKGROUND)), Counter[str]())
    if not (total := sum(found.values())):
        return None
    message = f"addresses of the host's name did not accept: {tallied(found)}"
    remedy = "start a server there, or load one address (--connect-to)"
    return Check("addresses", Verdict.SUSPECT, total, 0, "connects", message, remedy)


def _responses(data: TrialData) -> Check:
    """Beside a background workload few responses are a finding: that is what blocking looks like."""
    sent, n = data.total("sent"), data.ok()
    if sent == 0:
        only_scripts = data.errors.keys() == {Outcome.SCRIPT_FAILED}
        why = ": the script failed before its first one" if only_scripts else ": no connection could be made"
        message = "no request was sent" + (why if data.errors else "")
        remedy = remedy_for(data.errors) if data.errors else "let it run longer, or raise the rate"
        return Check(
            "responses", Verdict.INVALID, 0, 1, "requests", message, remedy, spares=EVEN_IF_NOTHING_WAS_RIGHT
        )
    if almost_none_right(data):
        message = f"{'none' if n == 0 else f'only {format_count(n)}'} of {format_count(sent)} requests "
        message += f"{'was' if n < 2 else 'were'} answered as expected"
        return Check(
            "responses",
            Verdict.INVALID,
            n / (n + sum(data.errors.values())),
            RIGHT_INVALID,
            "share",
            message,
            remedy_for(data.errors),
            spares=EVEN_IF_NOTHING_WAS_RIGHT,
        )
    if n == 0 and not data.has_background:
        message = f"none of {format_count(sent)} requests was answered as expected"
        remedy = (
            remedy_for(data.errors)
            if data.errors
            else "let it run longer than a response takes: try one by hand"
        )
        return Check("responses", Verdict.SUSPECT, 0, FEW_RESPONSES, "responses", message, remedy)
    if (waiting := _cut_off_share(data)) > CUT_OFF_SUSPECT and not data.has_background:
        message = f"{percent(waiting)} of the requests were neither answered nor failed when the trial ended"
        remedy = "let it run longer, or send less: these figures are of the first responses only"
        return Check("responses", Verdict.SUSPECT, waiting, CUT_OFF_SUSPECT, "share", message, remedy)
    min_responses = min(FEW_RESPONSES, _planned_requests(data))
    if n < min_responses and not data.has_background:
        message = f"only {n} of {format_count(sent)} requests were answered as expected: "
        message += "too few for any quantile"
        remedy = "let it run longer, or send more at once (an open loop does)"
        return Check(
            "responses", Verdict.SUSPECT, n, min_responses, "responses", message, remedy, TIMES, cause="plan"
        )
    needed = samples_needed(0.999)
    message = f"{format_count(n)} responses"
    if n < needed:
        message += f"; p99.9 is left out: it needs {format_count(needed)}"
    return Check("responses", Verdict.VALID, n, min_responses, "responses", message)


def _cut_off_share(data: TrialData) -> float:
    outcomes = data.outcomes()
    return sum(outcomes.get(kind, 0) for kind in ENDED_BY_STOP) / max(1, sum(outcomes.values()))


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
    clients, requests = data.closed["clients"], sum(data.outcomes().values())
    if requests < CYCLES * clients or data.total("backoffs"):
        return None
    clients_s = clients * data.duration_s
    answered = data.total("response_sum_ns") / 1e9
    pauses = requests - data.total("redirects")  # clients do not think before they follow a redirect
    spent = answered + data.given_up.total_s + data.think_s() * pauses
    residual = abs(clients_s - spent) / clients_s if clients_s else 0.0
    chance = BY_CHANCE * data.think_deviation_s() * math.sqrt(requests) / clients_s if clients_s else 0.0
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
    """Whether one client waits for each response, so generator and server are hardly ever busy together."""
    one = data.closed is not None and data.closed["clients"] == 1
    return one and not data.has_background and not data.steered


def _background(data: TrialData) -> Check | None:
    if not data.has_background:
        return None
    sent, failed = data.total("sent", BACKGROUND), failures(data.outcomes(BACKGROUND))
    if sent == 0:
        message, remedy = "the background workload sent nothing", "let it run longer, or check its request"
        return Check("background", Verdict.INVALID, 0, 1, "requests", message, remedy, cause="plan")
    if not failed:
        message = f"{format_count(sent)} background requests were sent, and none failed"
        return Check("background", Verdict.VALID, 0, BACKGROUND_SUSPECT, "share", message)
    count, right = sum(failed.values()), data.ok(BACKGROUND)
    share = count / (count + right)
    message = f"{percent(share)} of the background requests failed: {', '.join(kinds_of(data, BACKGROUND))}"
    verdict = _graded(share, BACKGROUND_SUSPECT)
    if not right and failed.keys() - TIMEOUTS:
        verdict, message = (
            Verdict.INVALID,
            f"{message}; the load beside the measured one was not the planned one",
        )
    return Check(
        "background",
        verdict,
        share,
        BACKGROUND_SUSPECT,
        "share",
        message,
        remedy_for(failed) or "look at the server's log",
        notable=True,
    )


def _arrivals(data: TrialData) -> Check | None:
    """Sends in the middle of the run. Source: Lancet (ATC 2019): below twice the 1 % critical value.

    Not of journeys: their later steps are sent when the step before has been answered.
    """
    if data.open is None or data.open.get("arrivals") != "poisson" or not data.steady_load:
        return None
    if data.rows is None or data.on_journeys:
        return None
    sent = np.sort(data.rows["sent_ns"])
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


MACHINE_CHECKS = (
    *(time_was_lost, clock_was_set, had_its_core),
    *(machine, stolen, within_quota, server_ran),
)
"""Left out for simulated trials: what happens to the machine does not affect calculated figures."""

CHECKS: list[Callable[[TrialData], Check | None]] = [
    _ended,
    steered,
    all_bore_their_share,
    started_together,
    saw_the_same,
    accounts_closed,
    all_recorded,
    time_was_lost,
    clock_was_set,
    answered_throughout,
    requests_failed,
    settled,
    one_kind_of_response,
    _excess,
    _passed_over,
    _responses,
    _generator_cpu,
    within_files,
    within_ports,
    memory_limited,
    had_its_core,
    lateness,
    wake_up,
    machine,
    stolen,
    within_quota,
    server_ran,
    _offered,
    _littles_law,
    _interactive_law,
    _shared_cores,
    _background,
    _arrivals,
    _clock,
]

AT_THE_END = (
    *(_ended, saw_the_same, accounts_closed, time_was_lost, clock_was_set),
    *(settled, _littles_law, _interactive_law, _arrivals),
)
"""They ask of the whole of a trial, or of what is recorded at its end only."""
