"""The figures of a run as the rows of one table, for CSV and for a data frame."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from jostle.analysis.results import Estimate, RunResult
from jostle.report.sections.goodput import chosen

__all__ = ["COLUMNS", "figures"]

COLUMNS = [
    "form",
    "contestant",
    "workload",
    "trial",
    "metric",
    "value",
    "low",
    "high",
    "bound",
    "unit",
    "n",
    "note",
]


def figures(result: RunResult) -> list[dict[str, Any]]:
    """One row per figure, with those of `COLUMNS` that it has; the `value` of a verdict is text."""
    return [
        *_claim_rows(result),
        *_comparison_rows(result),
        *_cell_rows(result),
        *_goodput_rows(result),
        *_phase_rows(result),
        *_rows_of("request", result.requests),
        *_rows_of("journey", result.journeys),
        *_rows_of("stream", result.streams),
        *_rows_of("pings", result.pings),
        *_trial_rows(result),
    ]


def _claim_rows(result: RunResult) -> Iterator[dict[str, Any]]:
    for number, c in enumerate(result.claims, 1):
        yield {"metric": f"claim {number}", "value": c.verdict, "note": c.statement}
        for part in c.criteria:
            about = {"contestant": part.contestant, "workload": part.workload}
            note = f"{part.verdict}: {part.rule}"
            yield about | _figure(f"claim {number}: {part.subject}", part.estimate) | {"note": note}
    for f in result.published:
        about = {"contestant": f.beside or f.contestant, "workload": f.workload}
        about |= {"unit": f.unit, "note": f.source}
        yield about | {"metric": f"published {f.metric}", "value": f.value}


def _comparison_rows(result: RunResult) -> Iterator[dict[str, Any]]:
    for s in result.starvation:
        about = {"form": s.form, "contestant": s.contestant}
        yield about | _figure("throughput alone", s.alone)
        yield about | _figure("throughput with slow", s.with_slow)
        yield about | _figure("starvation index", s.index)
        yield about | _figure("throughput left", s.left)
        yield about | _figure("blocking index", s.blocking)
        yield about | _figure("slow request alone", s.slow_s)


def _cell_rows(result: RunResult) -> Iterator[dict[str, Any]]:
    for c in result.summaries:
        about = {"contestant": c.contestant, "workload": c.workload}
        yield about | {"metric": "verdict", "value": c.verdict}
        yield about | _figure("throughput", c.throughput)
        for kind, found in (("response", c.response), ("service", c.service), *c.parts.items()):
            for name, estimate in found.items():
                yield about | _figure(f"{kind} time {name}", estimate)
        for kind, count in c.outcomes.items():
            yield about | {"metric": f"outcome {kind}", "value": count, "unit": "requests"}
        for kind, reasons in c.failures.items():
            for why, count in reasons.items():
                yield about | {"metric": f"outcome {kind}: {why}", "value": count, "unit": "requests"}
        for status, count in c.all_statuses.items():
            yield about | {"metric": f"right responses: {status}", "value": count, "unit": "requests"}
        yield about | {"metric": "share not as expected", "value": c.error_share}
        yield about | {"metric": "unavailable", "value": c.unavailable, "unit": "share"}
        yield about | _figure("server CPU per request", c.server_cpu_s_per_request)
        if c.server_rss_max_bytes is not None:
            yield about | {"metric": "server memory", "value": c.server_rss_max_bytes, "unit": "bytes"}


def _goodput_rows(result: RunResult) -> Iterator[dict[str, Any]]:
    for g in result.goodputs:
        about = {"contestant": g.contestant, "workload": g.workload, "note": chosen(g)}
        for metric, found in (
            ("hits", g.hits),
            ("timeouts", g.timeouts),
            ("least hits in a second", g.least_per_s),
            ("most hits in a second", g.most_per_s),
            ("goodput", g.goodput),
            ("dispersion", g.dispersion),
            ("database CPU per request", g.database_cpu_s_per_request),
        ):
            yield _figure(metric, found) | about


def _rows_of(kind: str, results: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Rows for every number and estimate of results about a part of a cell: "stream /events: gap p50"."""
    for one in results:
        about = {"contestant": one.contestant, "workload": one.workload}
        which = getattr(one, "name", None) or getattr(one, "request", "")
        yield from _fields(f"{kind} {which}".rstrip(), one, about)
        for step in getattr(one, "steps", ()):
            yield from _fields(f"{kind} {which}, step {step.name}", step, about)


def _fields(name: str, one: Any, about: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for field in fields(one):
        found, metric = getattr(one, field.name), f"{name}: {field.name.replace('_', ' ')}"
        if isinstance(found, Estimate):
            yield _figure(metric, found) | about
        elif isinstance(found, Mapping):
            for part, figure in found.items():
                if isinstance(figure, Estimate):
                    yield _figure(f"{metric} {part}", figure) | about
                elif isinstance(figure, int):
                    yield about | {"metric": f"{metric} {part}", "value": figure}
        elif isinstance(found, int) and not isinstance(found, bool):
            yield about | {"metric": metric, "value": found}


def _phase_rows(result: RunResult) -> Iterator[dict[str, Any]]:
    """Rows for every figure of loads with phases."""
    for c in result.phased_loads:
        about = {"contestant": c.contestant, "workload": c.workload}
        for name, found in (("clients held", c.held), ("most connections open", c.open_most)):
            plain = {"value": found.value, "low": found.low, "high": found.high}
            yield about | {"metric": name, **plain, "unit": found.unit, "n": found.n, "note": found.note}
        for s in c.phases:
            for name, value, unit in (
                ("most connections open", s.open_most, ""),
                ("throughput", s.throughput_per_s, "/s"),
                ("share not as expected", s.error_share, "share"),
                *(
                    (f"time to {part} {q}", getattr(times, f"{q}_s"), "s")
                    for part, times in (("connect", s.connect), ("headers", s.headers), ("body", s.body))
                    for q in ("mean", "p50", "p90", "p99", "max")
                ),
                ("bytes to the server", s.to_server_per_s, "bytes/s"),
                ("bytes from the server", s.from_server_per_s, "bytes/s"),
                ("server CPU", s.server_cpu, "cores"),
                ("generator CPU", s.generator_cpu, "cores"),
            ):
                yield about | {"metric": f"{s.name}: {name}", "value": value, "unit": unit}


def _trial_rows(result: RunResult) -> Iterator[dict[str, Any]]:
    for t in result.trials:
        about = {"contestant": t.contestant, "workload": t.workload, "trial": t.number}
        yield about | {
            "metric": "verdict",
            "value": t.validity.verdict,
            "note": "; ".join(t.validity.reasons),
        }
        yield about | {"metric": "throughput", "value": t.throughput_per_s, "unit": "/s"}
        for name, estimate in t.response.items():
            yield about | _figure(f"response time {name}", estimate)


def _figure(metric: str, e: Estimate) -> dict[str, Any]:
    """An estimate as part of a row."""
    values = {"value": e.value, "low": e.low, "high": e.high}
    return {"metric": metric, **values, "bound": e.bound, "unit": e.unit, "n": e.n, "note": e.note}
