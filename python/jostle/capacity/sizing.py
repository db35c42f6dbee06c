"""How many workers it takes for an arrival rate, a service time and an SLO: reads the user's words and puts
the response of `jostle.capacity.queueing.sizing` into sentences.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from jostle import units
from jostle.analysis.results.capacity import Sized, Sizing
from jostle.capacity.queueing import finite_source, sizing
from jostle.capacity.queueing.erlang import erlang_b
from jostle.capacity.slo import Slo, read_slo
from jostle.errors import BadValue
from jostle.formatting import percent, plural
from jostle.units import format_duration, format_rate

__all__ = ["sized"]

MAX_CLIENTS = 20_000


class _Model(NamedTuple):
    """What a queueing model says of a number of workers."""

    workers: int | None
    """How many keep the SLO; None if no number does."""
    broken: Callable[[int], float]
    """The share of requests that break the SLO with so many workers."""
    busy: Callable[[int], float]
    """The utilisation of so many workers."""
    assumes: str
    """The assumptions, in words."""


def sized(
    rate: str | None,
    clients: str | None,
    think: str,
    service: str | None,
    variation: float,
    slo: str | None,
) -> Sizing:
    """Answers the question; all texts are as the user types them. Raises `BadValue`."""
    if service is None or slo is None or (rate is None) == (clients is None):
        raise BadValue(
            "how many workers? It takes a load, a service time and an SLO",
            'write for example --rate 300/s --service 12ms --slo "p99 < 100 ms" (or --clients 100)',
        )
    if not 0 <= variation <= 100:
        raise BadValue(f"a variation of {variation:g}", "0 is constant, 1 exponential")
    objective, service_s = read_slo(slo), units.duration(service, bare="s")
    if service_s <= 0:
        raise BadValue("a service time of nothing", "write for example --service 12ms")
    if rate is not None:
        per_s = units.rate(rate, bare="s")
        if per_s <= 0:
            raise BadValue("a rate of nothing", "write for example --rate 300/s")
        load = f"{format_rate(per_s)} of {format_duration(service_s)}"
        busy_workers = per_s * service_s
        if busy_workers > sizing.MAX_WORKERS:
            raise BadValue(
                f"{load} is more work than {sizing.MAX_WORKERS:,} workers can do", "are the units right?"
            )
        rejects = objective.limit_s is None
        model = (
            _rejecting(per_s, service_s, objective)
            if rejects
            else _queueing(per_s, service_s, variation, objective)
        )
    else:
        number = units.count(str(clients))
        model = _crowd(number, units.duration(think, bare="s"), service_s, variation, objective)
        load = f"{plural(number, 'client')} with requests of {format_duration(service_s)}"
        busy_workers = 0.0
    said = _sentences(model, objective, load, busy_workers)
    if rate is not None and objective.limit_s is not None:
        said += _deciding(units.rate(rate, bare="s"), service_s, variation, objective, model.workers)
    return Sizing(
        f"How many workers for {load}?",
        objective.text,
        model.workers,
        said,
        [model.assumes],
        [Sized(c, model.busy(c), model.broken(c)) for c in _around(model.workers)],
    )


VARIED = 0.5
"""Service times that vary by less than this are compared with exponential ones, others with constant ones."""


def _deciding(rate: float, service_s: float, cv: float, slo: Slo, workers: int | None) -> list[str]:
    """Which assumption about service times decides, if another one would give another number."""
    limit_s = slo.limit_s or 0.0
    other = 0.0 if cv >= VARIED else 1.0
    others = sizing.queueing_workers(rate, service_s, other, limit_s, slo.share)
    if others == workers:
        return []
    kinds = {0.0: "constant", 1.0: "exponential"}
    do = "no number does" if others is None else f"{plural(others, 'worker')} do{'es' if others == 1 else ''}"
    alone = "their own " if workers is None else ""
    tail = (
        f" ({alone}{percent(1 - slo.share)} quantile is {format_duration(-service_s * math.log(slo.share))})"
        if 1.0 in (cv, other)
        else ""
    )
    first = kinds.get(cv, f"as varied as --variation {cv:g} says")
    return [
        f"That is so if service times are {first}{tail if cv == 1 else ''}; if they are {kinds[other]}"
        f"{tail if cv != 1 else ''}, {do}. How much do yours vary? --variation"
    ]


def _queueing(rate: float, service_s: float, cv: float, slo: Slo) -> _Model:
    limit_s = slo.limit_s or 0.0
    kind = {0.0: "constant", 1.0: "exponential"}.get(cv, f"gamma distributed (cv {cv:g})")
    how = "exact" if cv == 1 else "the wait is Allen and Cunneen's approximation"
    return _Model(
        sizing.queueing_workers(rate, service_s, cv, limit_s, slo.share),
        lambda c: sizing.queueing_tail(limit_s, c, rate, service_s, cv),
        lambda c: rate * service_s / c,
        "Assumed: Poisson arrivals; one queue without an end, first come, first served; service times "
        f"{kind} (Erlang C, {how}). A slow database or a busy CPU makes service times grow with the load: "
        "measure them there.",
    )


def _rejecting(rate: float, service_s: float, slo: Slo) -> _Model:
    return _Model(
        sizing.rejecting_workers(rate, service_s, slo.share),
        lambda c: erlang_b(c, rate * service_s),
        lambda c: rate * service_s * (1 - erlang_b(c, rate * service_s)) / c,
        "Assumed: Poisson arrivals; no queue, a request that finds all workers busy is rejected and not sent "
        "again; service times of any law (Erlang B, exact).",
    )


def _crowd(clients: int, think_s: float, service_s: float, cv: float, slo: Slo) -> _Model:
    if slo.limit_s is None:
        raise BadValue(
            "clients who wait are never rejected: errors say nothing of workers",
            'ask for a time: "p99 < 100 ms"',
        )
    if cv != 1:
        raise BadValue(
            "the crowd is known for exponential service only", "leave --variation out, or give a --rate"
        )
    if not 1 <= clients <= MAX_CLIENTS:
        raise BadValue(f"{clients:,} clients", f"from 1 to {MAX_CLIENTS:,}; for more, give their --rate")
    limit_s = slo.limit_s
    return _Model(
        sizing.finite_workers(clients, think_s, service_s, limit_s, slo.share),
        lambda c: finite_source.response_tail(limit_s, clients, c, service_s, think_s),
        lambda c: finite_source.closed(clients, c, service_s, think_s).utilisation,
        f"Assumed: each client waits for its response and thinks for {format_duration(think_s)} on average; "
        "one queue, first come, first served; exponential service times (finite source M/M/c//N, exact).",
    )


def _around(workers: int | None) -> list[int]:
    if workers is None:
        return []
    return sorted({max(1, workers + more) for more in (-2, -1, 0, 1, 2)} | {2 * workers})


def _sentences(model: _Model, slo: Slo, load: str, busy_workers: float) -> list[str]:
    if model.workers is None:
        return [f"No number of workers keeps {slo.text}: the service times alone break it."]
    said = [
        f"{plural(model.workers, 'worker')} keep{'s' if model.workers == 1 else ''} {slo.text} for {load}: "
        f"{percent(model.broken(model.workers))} break it, and the workers are busy for "
        f"{percent(min(1.0, model.busy(model.workers)))} of the time."
    ]
    if model.workers > 1:
        fewer = model.workers - 1
        said.append(
            f"With {fewer:,} it would be {percent(model.broken(fewer))}."
            if fewer > busy_workers
            else f"With {fewer:,} the work would pile up: it is {busy_workers:,.1f} workers' worth."
            if slo.limit_s is not None
            else f"With {fewer:,} it would be {percent(model.broken(fewer))}."
        )
    return said
