"""The requests of a mix, a row for each."""

from collections.abc import Sequence

from jostle.analysis.results import RequestResult, RunResult
from jostle.formatting import amount, formatted, percent
from jostle.record.outcomes import error_share
from jostle.report.document import Block, Depth, Section, Table, columns
from jostle.report.workload import REQUEST_COLUMNS, not_as_expected, quantiles, statuses_in_words

__all__ = ["section"]

MAX_ROWS = 20
"""How many requests the answer shows: those with the longest p99. The full report has more."""
MAX_ROWS_FULL_REPORT = 500


def section(result: RunResult) -> Section:
    """Empty if no workload sends several requests."""
    found = result.requests
    title, shown, rest = "Requests", found, list[Block]()
    if len(found) > MAX_ROWS:
        title = f"The {MAX_ROWS} of {len(found):,} requests with the longest p99"
        shown = sorted(found, key=_p99, reverse=True)[:MAX_ROWS]
        more = f", the first {MAX_ROWS_FULL_REPORT}" if len(found) > MAX_ROWS_FULL_REPORT else ""
        every = f"All {len(found):,} requests{more}"
        rest = [Section(every, _tables(every, found[:MAX_ROWS_FULL_REPORT]), Depth.MAIN)]
    return Section(title, [*_tables(title, shown), *rest] if found else [], key="requests")


def _p99(request: RequestResult) -> float:
    """Longest where the figure is not known, so that a request that never worked is seen."""
    p99 = request.response.get("p99")
    return float("inf") if p99 is None or p99.value is None else p99.value


def _tables(caption: str, found: Sequence[RequestResult]) -> list[Block]:
    """A row of figures for each, and one for each of which there is more to say of how it ended."""
    cells = {(one.workload, one.contestant) for one in found}
    words = "workload = | contestant = | request =" if len(cells) > 1 else "request ="
    figures = Table(caption, columns(words, REQUEST_COLUMNS))
    ends = Table(f"{caption}: how they ended", columns(f"{words} | right responses = | not as expected ="))
    for one in found:
        about = (one.workload, one.contestant, one.name) if len(cells) > 1 else (one.name,)
        figures.add(
            *about,
            amount(one.requests, "count"),
            formatted(one.throughput),
            *quantiles(one.response, ("p50", "p95", "p99", "max")),
            percent(error_share(one.outcomes)),
        )
        ended = statuses_in_words(one.statuses), not_as_expected(one.outcomes)
        if any(ended):
            ends.add(*about, *ended)
    return [figures, ends] if ends.rows else [figures]
