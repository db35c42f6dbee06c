"""The requests of a mix, a row for each."""

from collections.abc import Sequence

from jostle.analysis.results import RequestResult, RunResult
from jostle.formatting import amount, formatted, tallied
from jostle.record.outcomes import Outcome, outcome_label
from jostle.report.document import Block, Depth, Section, Table, columns
from jostle.report.workload import quantiles, statuses_in_words

__all__ = ["section"]

MAX_ROWS = 20
"""How many requests the response shows: those with the longest p99. The full report has more."""
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
        rest = [Section(every, [_table(every, found[:MAX_ROWS_FULL_REPORT])], Depth.MAIN)]
    return Section(title, [_table(title, shown), *rest] if found else [], key="requests")


def _p99(request: RequestResult) -> float:
    """Longest where the figure is not known, so that a request that never worked is seen."""
    p99 = request.response.get("p99")
    return float("inf") if p99 is None or p99.value is None else p99.value


def _table(caption: str, found: Sequence[RequestResult]) -> Table:
    cells = {(one.workload, one.contestant) for one in found}
    of_cell = "workload = | contestant = | " if len(cells) > 1 else ""
    told = any(statuses_in_words(one.statuses) for one in found)
    names = [
        *columns(f"{of_cell}request =", "requests = | throughput | p50 = | p99 = | longest"),
        *columns("right responses = | not as expected =" if told else "not as expected ="),
    ]
    table = Table(caption, names)
    for one in found:
        table.add(
            *((one.workload, one.contestant) if of_cell else ()),
            one.name,
            amount(one.requests, "count"),
            formatted(one.throughput),
            *quantiles(one.response, ("p50", "p99", "max")),
            *([tallied(one.statuses)] if told else []),
            tallied({outcome_label(kind): n for kind, n in one.outcomes.items() if kind != Outcome.OK}),
        )
    return table
