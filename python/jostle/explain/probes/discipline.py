"""P3: in which order requests are served. Bursts of requests of several sizes, with and without plugs before
them, in several orders.

The inference itself is in `jostle.explain.discipline.inference`; this module sends what it needs and puts its
results into words."""

import math
from dataclasses import replace

from jostle.analysis.results import Estimate
from jostle.explain.discipline import design
from jostle.explain.discipline.burst import Burst
from jostle.explain.discipline.candidates import Candidate, Family
from jostle.explain.discipline.inference import LEAD, MAX_ERROR, Decision, Inference, Range, infer
from jostle.explain.finding import UNDECIDED, Finding, Topic, decided_finding, undecided
from jostle.explain.probes.parallelism import MIN_S, how_many, max_burst
from jostle.explain.reason import Reason
from jostle.explain.server.target import Route
from jostle.explain.session import Session, equal_probe
from jostle.formatting import amount, percent, plural

__all__ = ["SHARED", "TO_ITS_END", "discipline", "inferred", "leaving", "overtaking", "send_sized", "words"]

TIME = 1 / 8
"""Share of the time allowed for the server's work on all bursts."""

OTHERS = 0.25
"""If other programs had the cores for more than this share of the time on an unsteady machine, no discipline
is reported."""

NAMES = {
    Family.FIRST_COME: "first come, first served",
    Family.LAST_COME: "last come, first served",
    Family.RANDOM_ORDER: "random order",
    Family.GATED_LAST_COME: "batches served from their end",
    Family.GATED_RANDOM_ORDER: "batches served in random order",
    Family.GATED_SLOT: "batches, the last of them first",
    Family.SHARING: "sharing",
    Family.LEAST_ATTAINED: "least attained service first",
    Family.WATCHDOG: "sharing by a watchdog",
    Family.LOCKED_THREADS: "threads under a lock",
    Family.OWN_QUEUES: "a queue for each worker",
    Family.SHARED_QUEUES: "a queue for each worker, which share a core",
    Family.GATED_ANSWERS: "responses that wait for the whole batch",
}


def send_sized(session: Session) -> None:
    """Sends the bursts, with all routes that take long enough and do not just wait."""
    sizes = {
        alone.demand_s: alone.route
        for alone in session.sizes.values()
        if alone.route.role != "wait" and alone.demand_s - session.delay_s >= MIN_S
    }
    if not sizes:
        return
    slow = max(sizes)
    at_once = design.parallelism(session.observed(equal_probe(sizes[slow].name)))
    chosen = design.bursts_to_send(
        list(sizes),
        at_once,
        max_burst=max_burst(session),
        budget=TIME * session.limits.seconds,
        seed=session.seed,
    )
    session.tell(f"who is served when: {plural(len(chosen), 'burst')} of {_listed(list(sizes.values()))}")
    for jobs in chosen:
        session.send_jobs("discipline", jobs, sizes)


def _listed(routes: list[Route]) -> str:
    return ", ".join(route.name for route in routes)


def inferred(session: Session) -> Inference:
    """The inference from all bursts that were sent; its main results are kept in the session."""
    slow = session.slow
    assert slow is not None, "`unfit` was asked"
    bursts = _bursts(session)
    inference = infer(bursts, spread=slow.spread, unsteady=session.unsteady)
    if session.unsteady and session.contended > OTHERS:
        # A server that shares its core with other programs gets it in slices, which would be mistaken for the
        # server's own discipline.
        inference = replace(inference, discipline=Decision(reason=Reason.NOISY), workers=None)
    if inference.at_once.value is not None:
        session.parallelism = inference.at_once.value.low
        session.most_at_once = inference.at_once.value.high
    session.overtaking = inference.overtaking.value
    session.family = inference.discipline.value
    return inference


def _bursts(session: Session) -> list[Burst]:
    equal = session.observed(equal_probe(session.slow.route.name)) if session.slow else []
    return [*equal, *session.observed("discipline")]


SHARED, TO_ITS_END = "shared cores", "computed to the end at a time"
"""The figure of a finding that tells a discipline only in part."""


def discipline(session: Session, inference: Inference) -> Finding:
    """The finding about the discipline, decided if one explains all bursts clearly better than any other."""
    topic, response = Topic.DISCIPLINE, inference.discipline
    evidence = _evidence(session, inference)
    figures = {}
    if inference.error is not None:
        figures["error"] = Estimate(inference.error, unit="share", n=len(session.observed("discipline")))
    if inference.lead is not None:
        figures["lead"] = Estimate(inference.lead, unit="")
    if response.value is None and (rough := _in_part(session, inference)) is not None:
        name, says = rough
        because = UNDECIDED[response.reason][0] if response.reason else "there was no time left for it"
        figures[name] = Estimate(session.parallelism, unit="")
        says += f" cannot be told, because {because}."
        return decided_finding(topic, says, [*evidence, *_objection(inference)], figures)
    if response.value is None:
        return undecided(topic, response.reason, [*evidence, *_objection(inference)], figures)
    if inference.workers is not None:
        high = inference.workers.high
        figures["workers"] = Estimate(inference.workers.low, inference.workers.low, high, "")
    says = words(response.value, inference)
    computes = session.slow is None or session.slow.computes is not False
    if computes and (more := with_more_cores(response.value, inference, session.target.cores)):
        says += f" {more}"
    return decided_finding(topic, says, evidence, figures)


def _in_part(session: Session, inference: Inference) -> tuple[str, str] | None:
    """What is certain of a server that computes if its discipline is not: the name of the figure, and the
    sentence as far as "cannot be told"; None if nothing is.
    """
    slow, at_once = session.slow, inference.at_once.value
    if slow is None or not slow.computes:
        return None
    if at_once is None or at_once.low != at_once.high:
        return None
    if inference.overtaking.value:
        shared = (
            f"Requests share {_count(at_once, 'core').lower()}: short ones overtake a long one that is being"
        )
        return SHARED, f"{shared} computed. In which slices"
    if inference.overtaking.value is False and inference.leave_as_computed.value:
        each = f"{_count(at_once, 'request')} at a time, each to its end"
        return TO_ITS_END, f"{each}. In which order those that wait are served"
    return None


def _objection(inference: Inference) -> list[str]:
    """The measurements that speak against the best candidate, and what would help."""
    error, typical, unlike, lead = inference.error, inference.typical, inference.unlike, inference.lead
    reason = inference.discipline.reason
    if reason in (Reason.NOISY, Reason.NO_FIT) and error is not None and typical is not None:
        lines = []
        if unlike is not None:
            lines.append(
                f"A request that takes {amount(unlike.demand, 's')} by itself took {amount(unlike.low, 's')} "
                f"to {amount(unlike.high, 's')} in {plural(unlike.bursts, 'burst')} that were alike: routes "
                f"that take longer than this difference of {amount(unlike.high - unlike.low, 's')} would "
                "tell more, or a quieter machine."
            )
        if typical > MAX_ERROR:
            lines.append(
                f"Without the worst sixth of the bursts the best fit is off by {percent(typical)}; "
                f"{percent(MAX_ERROR)} is the most that is believed."
            )
        return lines
    if reason is Reason.AMBIGUOUS and lead is not None and lead < LEAD:
        return [f"A lead of {LEAD:.0f} would decide: more bursts increase it (a longer --budget)."]
    return []


COUNTS = (
    "No",
    "One",
    "Two",
    "Three",
    "Four",
    "Five",
    "Six",
    "Seven",
    "Eight",
    "Nine",
    "Ten",
    "Eleven",
    "Twelve",
)


def _count(number: Range | None, noun: str) -> str:
    """How many there are: "Four workers", "3 to 4 workers"."""
    if number is None:
        return f"Some {noun}s"
    if number.low != number.high or number.low >= len(COUNTS):
        return f"{how_many(number)} {noun}s"
    return f"{COUNTS[int(number.low)]} {noun}{'' if number.low == 1 else 's'}"


def words(family: Family, inference: Inference) -> str:
    """The discipline as a sentence."""
    workers = inference.workers
    match family:
        case Family.FIRST_COME:
            return f"{_count(workers, 'worker')}, first come, first served."
        case Family.LAST_COME:
            return f"{_count(workers, 'worker')}, last come, first served."
        case Family.RANDOM_ORDER:
            return f"{_count(workers, 'worker')}; those who wait are served in random order."
        case Family.GATED_LAST_COME:
            return "One worker takes all who wait as a batch, and serves the batch from its end."
        case Family.GATED_RANDOM_ORDER:
            return "One worker takes all who wait as a batch, and serves the batch in random order."
        case Family.GATED_SLOT:
            return (
                "One worker takes all who wait as a batch, and serves the last of them first, then the "
                "others as they came, as in Tokio."
            )
        case Family.SHARING:
            return f"Requests share {_count(workers, 'core').lower()}, {_slices(inference)}."
        case Family.LEAST_ATTAINED:
            cores = _count(workers, "core").lower()
            return f"Requests share {cores}; who has had least of them goes first, so newcomers overtake."
        case Family.WATCHDOG:
            cores = _count(workers, "core").lower()
            return (
                f"Requests share {cores}; a watchdog looks about every {_every(inference)}, and a request "
                f"gives way that ran at two looks in a row, as in Go."
            )
        case Family.LOCKED_THREADS:
            threads = _count(inference.threads, "thread").lower()
            each = "each, of which one computes at a time"
            return f"{_count(workers, 'process').replace('processs', 'processes')} of {threads} {each}."
        case Family.OWN_QUEUES:
            return f"{_count(workers, 'worker')}, each with a queue of its own."
        case Family.SHARED_QUEUES:
            return f"{_count(workers, 'worker')} on one core, each with a queue of its own."
        case Family.GATED_ANSWERS if inference.best is not None and inference.best.timer:
            return (
                f"{_count(workers, 'worker')}; every request is computed to its end, but if a timer that "
                f"ticks about every {_every(inference)} did so meanwhile, the response leaves only when all "
                "that wait are computed, as in GHC."
            )
        case Family.GATED_ANSWERS:
            return (
                f"{_count(workers, 'worker')}; every request is computed to its end, but the response to "
                f"one that takes "
                f"{_from(inference)} leaves only when all that wait are computed."
            )


def with_more_cores(family: Family, inference: Inference, cores: int | None) -> str:
    """What a server that computes on one core, as far as is known, would look like with more: a sentence;
    "" if it would look the same.
    """
    one = inference.workers is not None and inference.workers.low == inference.workers.high == 1
    match family:
        case Family.LOCKED_THREADS if one and cores in (1, None):
            return "Processes of one thread look the same on one core; on more they compute side by side."
        case Family.SHARED_QUEUES:
            return "On a core each they would compute side by side."
        case Family.SHARING | Family.WATCHDOG | Family.LEAST_ATTAINED if one and cores == 1:
            return "It had only this core: whether it would use more cannot be seen."
        case _ if one and cores == 1:
            return "It had one core: whether it would have more workers with more cannot be seen."
    return ""


def _slices(inference: Inference) -> str:
    length = inference.slice
    if length is None or not length.high:
        return "all at the same pace"
    low, high = amount(length.low, "s"), amount(length.high, "s")
    if not length.low:
        return f"in slices of {high} at most, if in any"
    text = f"in slices of about {high}" if low == high else f"in slices of {low} to {high}"
    return f"{text}, the newest first" if inference.newest_first else text


def _every(inference: Inference) -> str:
    length = inference.slice
    return "10 ms" if length is None or not length.high else amount(math.sqrt(length.low * length.high), "s")


def _from(inference: Inference) -> str:
    length = inference.slice
    return "long" if length is None else f"{amount(length.low, 's')} or more"


def _evidence(session: Session, inference: Inference) -> list[str]:
    lines = [f"{plural(len(_bursts(session)), 'burst')}."]
    if inference.best is not None and inference.error is not None:
        lines.append(
            f"Best fit: {_named(inference.best)}, with an error of {percent(inference.error)} (root mean "
            "square of the logarithms)."
        )
    if inference.rival is not None and inference.lead is not None:
        lines.append(
            f"Next best: {_named(inference.rival)}, which fits worse (its BIC is higher by "
            f"{inference.lead:.0f})."
        )
    return lines


def _named(candidate: Candidate) -> str:
    threads = f" × {candidate.threads} threads" if candidate.threads else ""
    slices = f", slices of {amount(candidate.slice, 's')}" if candidate.slice else ""
    return f"{NAMES[candidate.family]} ({candidate.workers}{threads}{slices})"


def overtaking(inference: Inference) -> Finding:
    """Whether short requests are answered before long ones that came earlier."""
    return _yes_or_no(
        Topic.OVERTAKING,
        inference.overtaking,
        "Short requests overtake long ones that came earlier.",
        "Short requests do not overtake long ones that came earlier.",
    )


def leaving(inference: Inference) -> Finding:
    """Whether a response leaves when it is computed."""
    return _yes_or_no(
        Topic.LEAVING,
        inference.leave_as_computed,
        "Responses leave as they are computed.",
        "No response leaves before all that wait are computed.",
    )


def _yes_or_no(topic: Topic, decision: Decision[bool], yes: str, no: str) -> Finding:
    if decision.value is None:
        return undecided(topic, decision.reason, [])
    return decided_finding(topic, yes if decision.value else no)
