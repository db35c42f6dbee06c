"""The figures behind pictures of response times."""

from jostle.formatting import amount, percent
from jostle.report.document import Column, Table, columns
from jostle.report.views import View
from jostle.report.workload import quantiles

__all__ = ["quantile_table"]


def quantile_table(view: View) -> Table:
    """A row per series: how many requests, how many without an answer, their quantiles."""
    names = list(dict.fromkeys(q for p in view.panels for s in p.series for q in s.response))
    head = columns("contestant | load", "answers | no answer")
    table = Table(f"Response times: {view.title}", [*head, *(Column(name) for name in names)])
    for panel in view.panels:
        for s in panel.series:
            counts = (amount(s.distribution.n, "count"), percent(s.unanswered))
            table.add(panel.contestant, s.name, *counts, *quantiles(s.response, names))
    return table
