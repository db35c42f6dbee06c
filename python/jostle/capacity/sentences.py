"""The answer in words: up to which load the SLO holds, what was the limit, and how the server behaves."""

import math
from collections.abc import Iterator, Sequence

from jostle.analysis.results import Estimate
from jostle.analysis.results.capacity import CapacityAnswer, FittedModel, Hysteresis, LevelResult
from jostle.analysis.trials.data import TrialData
from jostle.capacity.doubts import other_responses, went_away
from jostle.capacity.recorded import RecordedSearch
from jostle.formatting import percent, plural
from jostle.units import format_count, format_duration, format_rate

__all__ = ["behaves_like", "model_sentences", "sentences", "written"]

OWN = 0.1
"""From this share of the p99 on, the generator's own lateness is told."""

IDLE, WAITING = 0.7, 0.5
"""CPU time is not the limit if the server uses fewer cores than the first, and a request by itself computes
for a smaller share of its time than the second: requests that only compute may queue for a core that is often
idle.
"""


def sentences(
    search: RecordedSearch,
    answer: CapacityAnswer,
    capacity: Estimate,
    why: str,
    decides: int,
    curve: Sequence[LevelResult],
    back: Hysteresis | None,
) -> list[str]:
    """All sentences but those of the model, the answer first."""
    slo = " and ".join(one.text for one in search.slos)
    first = search.slos[decides].text
    gone = went_away(search)
    return [
        *_answer(answer, slo, first, capacity, why, gone),
        *_doubts(gone if gone != why else "", other_responses(search)),
        *(_at_the_limit(curve, capacity, search.alone) if answer == "found" else ()),
        *([f"{back.message[:1].upper()}{back.message[1:]}."] if back else []),
    ]


def _doubts(gone: str, unlike: str) -> Iterator[str]:
    if gone:
        yield f"{gone[:1].upper()}{gone[1:]}. Only what was measured before counts."
    if unlike:
        yield (
            f"{unlike[:1].upper()}{unlike[1:]}. If those are not the responses that are meant, name the "
            "right statuses, so that others fail: --expect-status 200."
        )


def written(capacity: Estimate) -> str:
    """With its interval: "310/s (295 to 322)", "42 clients (40 to 44)"."""
    value, low, high = (_amount(end, capacity.unit) for end in (capacity.value, capacity.low, capacity.high))
    unit = " clients" if capacity.unit == "clients" else "/s"
    ends = f" ({low} to {high})" if capacity.low is not None and capacity.high is not None else ""
    return f"{value}{unit}{ends}"


def _amount(value: float | None, unit: str) -> str:
    if value is None:
        return "?"
    return format_count(value) if unit == "clients" else format_rate(value).removesuffix("/s")


def _answer(
    answer: CapacityAnswer, slo: str, first: str, capacity: Estimate, why: str, gone: str
) -> Iterator[str]:
    lower_bound = written(Estimate(capacity.value, unit=capacity.unit))
    match answer:
        case "found":
            which = f" ({first} breaks first)" if first != slo else ""
            yield f"{slo} holds up to {written(capacity)}{which}."
            if capacity.note:
                yield f"{capacity.note[:1].upper()}{capacity.note[1:]}."
        case "generator":
            yield f"The generator, not the server, was the limit {why}."
            if capacity.value is not None:
                yield f"So the capacity of the server is not known; {slo} held at least up to {lower_bound}."
        case "at least":
            higher = "" if gone else ": its capacity is higher"
            yield f"{slo} held at every level up to {lower_bound}, the highest decided{higher}."
        case "none":
            yield f"There is no load at which {slo} can be said to hold: {why}."
        case "undecided":
            yield f"Cannot tell up to where {slo} holds: {why}."


def _at_the_limit(curve: Sequence[LevelResult], capacity: Estimate, alone: TrialData | None) -> Iterator[str]:
    """How busy the generator and the server were at the highest level that may hold."""
    below = [x for x in curve if x.level <= (capacity.high or 0) and x.decided in ("holds", "undecided")]
    if not below:
        return
    level = below[-1]
    generator = f"the generator used {percent(level.generator_cpu)} of a core"
    if level.lateness_p99_s is not None:
        generator += f" and was at most {format_duration(level.lateness_p99_s)} late (p99)"
    if level.server_cores is None:
        yield f"At that load {generator}."
        return
    p99 = level.response["p99"].value
    if p99 and level.lateness_p99_s is not None and level.lateness_p99_s >= OWN * p99:
        yield (
            f"Of its p99 of {format_duration(p99)} up to {format_duration(level.lateness_p99_s)} were the "
            "generator's own: the server may carry more, which a generator with more threads would show."
        )
    cores = f"the server {level.server_cores:.2f} cores"
    yield f"At that load {generator}, {cores}."
    service_s = alone.service.mean_s if alone is not None else None
    computes_s = level.server_cores / level.achieved_per_s if level.achieved_per_s else math.inf
    if level.server_cores < IDLE and computes_s < WAITING * (service_s or 0.0):
        yield "CPU is not the limit: workers, a pool, a lock, or something it waits for must be."


def behaves_like(model: FittedModel) -> str:
    """What it resembles: "4 workers, first come, first served"."""
    if not model.workers:
        return "a server without a limit of its own"
    if model.discipline == "processor-sharing":
        return f"{plural(model.workers, 'core')} that all requests share"
    return f"{plural(model.workers, 'worker')}, first come, first served"


def model_sentences(fitted: FittedModel | None, note: str) -> Iterator[str]:
    """How the server behaves by the model; `note` says why there is none."""
    if fitted is None:
        yield f"{note[:1].upper()}{note[1:]}."
        return
    service = format_duration(fitted.service_mean_s)
    like = f"{behaves_like(fitted)}, {service} of service each"
    if not fitted.accepted:
        yield f"Model rejected: {like} fits the lower levels best, but {fitted.why}."
        return
    held = sorted({one.level for one in fitted.predictions})
    p99 = [abs(one.error) for one in fitted.predictions if one.metric == "p99"]
    off = f", p99 within {percent(max(p99))}" if p99 else ""
    unseen = plural(len(held), "level")
    tested = [one.accepted for one in fitted.predictions if one.bar is not None]
    what = "its predictions" if all(tested) else f"{sum(tested)} of its {len(tested)} predictions"
    yield f"It behaves like {like}: {what} held at {unseen} that it was not fitted to{off}."
    low, high = fitted.band
    if low != high:
        which = f"{low or 'no limit'} to {high}"
        yield f"The levels up to 60 % of the load do not tell how many exactly: {which} fit as well."
