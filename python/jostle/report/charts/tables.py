"""The figures behind pictures of response times."""

from collections.abc import Sequence

from jostle.formatting import amount, percent
from jostle.report.document import Column, Table, columns
from jostle.report.views import View
from jostle.report.workload import NOT_OK, quantiles

__all__ = ["quantile_table"]


def quantile_table(views: Sequence[View]) -> Table:
    """A row per series: the number of responses, the share without a right response, and the quantiles."""
    series = [(view, p, s) for view in views for p in view.panels for s in p.series]
    names = list(dict.fromkeys(q for _, _, s in series for q in s.response))
    several = len(views) > 1
    head = columns(
        "comparison | contestant | load" if several else "contestant | load",
        f"responses | {NOT_OK}",
    )
    table = Table(
        f"Response times: {'; '.join(view.title for view in views)}",
        [*head, *(Column(name) for name in names)],
    )
    for view, panel, s in series:
        counts = (amount(s.distribution.n, "count"), percent(s.unanswered))
        about = (view.title, panel.contestant, s.name) if several else (panel.contestant, s.name)
        table.add(*about, *counts, *quantiles(s.response, names))
    return table
