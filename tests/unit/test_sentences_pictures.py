"""What stands above pictures."""

from dataclasses import replace

import numpy as np

from jostle.analysis.results import StarvationResult
from jostle.report.charts import titles
from jostle.report.views import Panel, Series, View
from support.results import distribution
from support.sentences import UNKNOWN, Row, by_row, check, e, near


def panel(name: str, *, index: float | None = None, blocking: float | None = None, p99: float | None = 0.002,
          alone: bool = True, n: int = 50) -> Panel:  # fmt: skip
    times = distribution(np.linspace(0.001, 0.002, n))
    beside = Series("with slow", "w", {"p99": e(p99)} if p99 else {}, times)
    before = [Series("alone", "w", {"p99": e(0.0002)}, times)] if alone else []
    if index is None and blocking is None:
        return Panel(name, [replace(beside, name="w")])
    found = StarvationResult(
        "f", "", name, "a", "b", near(5), near(1), e(index, unit=""), UNKNOWN, e(blocking, unit=""), near(1),
        {}, {}, None, None, "",
    )  # fmt: skip
    return Panel(name, [*before, beside], found)


def view(*panels: Panel, open_loop: bool = False) -> View:
    return View("v", "a view", list(panels), tuple(panel.contestant for panel in panels), open_loop)


TABLE = [
    Row(
        "Beside slow requests, node completes 80 % fewer fast ones per trial, and go 2 % fewer.",
        lambda: titles.about_throughput(view(panel("go", index=0.02), panel("node", index=0.8))),
        (lambda: titles.about_throughput(view(panel("go", index=0.8), panel("node", index=0.02))),),
    ),
    Row(
        "Beside slow requests, node completes 80 % fewer fast ones per trial.",
        lambda: titles.about_throughput(view(panel("node", index=0.8))),
        (lambda: titles.about_throughput(view(panel("node", index=0.8), panel("go", index=0.0))),),
    ),
    Row(
        "Beside slow requests, nobody completes over 2 % fewer fast ones per trial.",
        lambda: titles.about_throughput(view(panel("go", index=0.02, blocking=0.01))),
        (lambda: titles.about_throughput(view(panel("go", index=0.02, blocking=0.6), open_loop=True)),),
    ),
    Row(
        "What slow requests cost is not known for go: the table says why.",
        lambda: titles.about_throughput(view(panel("go", blocking=0.1), panel("node", index=0.8))),
        (lambda: titles.about_throughput(view(panel("go", index=0.0), panel("node", index=0.8))),),
    ),
    Row(
        "on go the p99 grows by 0.60 times what a slow request takes.",
        lambda: titles.about_throughput(view(panel("go", index=0.02, blocking=0.6), open_loop=True)),
        (lambda: titles.about_throughput(view(panel("go", index=0.02, blocking=0.05), open_loop=True)),),
    ),
    Row(
        "p99 beside slow requests: node 2.00 ms (alone: 200 µs), go 1.00 ms (alone: 200 µs).",
        lambda: titles.about_quantile(view(panel("go", index=0, p99=0.001), panel("node", index=0.8)), "p99"),
        (lambda: titles.about_quantile(view(panel("node", index=0.8)), "p99"),),
    ),
    Row(
        "node answered no request (alone: 200 µs)",
        lambda: titles.about_quantile(view(panel("node", index=0.8, p99=None, n=0)), "p99"),
        (lambda: titles.about_quantile(view(panel("node", index=0.8, p99=None)), "p99"),),
    ),
    Row(
        "node unknown (alone: 200 µs)",
        lambda: titles.about_quantile(view(panel("node", index=0.8, p99=None)), "p99"),
        (lambda: titles.about_quantile(view(panel("node", index=0.8)), "p99"),),
    ),
    Row(
        "p99: 1.00 ms on go, 2.00 ms on node.",
        lambda: titles.about_quantile(view(panel("node"), panel("go", p99=0.001)), "p99"),
        (lambda: titles.about_quantile(view(panel("node")), "p99"),),
    ),
    Row(
        "p99: 2.00 ms.",
        lambda: titles.about_quantile(view(panel("node")), "p99"),
        (lambda: titles.about_quantile(view(panel("node"), panel("go", p99=0.001)), "p99"),),
    ),
    Row(
        "p99: 1.00 ms on go; unknown for node.",
        lambda: titles.about_quantile(view(panel("node", p99=None), panel("go", p99=0.001)), "p99"),
        (
            lambda: titles.about_quantile(view(panel("node"), panel("go", p99=0.001)), "p99"),
            lambda: titles.about_quantile(view(panel("go", p99=0.001)), "p99"),
        ),
    ),
    Row(
        "p99: too few requests were answered.",
        lambda: titles.about_quantile(view(panel("node", p99=None)), "p99"),
        (lambda: titles.about_quantile(view(panel("node")), "p99"),),
    ),
]


@by_row(TABLE)
def test_a_sentence_is_printed_for_its_numbers_and_for_no_others(row: Row) -> None:
    check(row)
