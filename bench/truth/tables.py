"""The tables of docs/explanation/how-often-right.md, and whether the bars are kept."""

import math
from collections.abc import Sequence
from pathlib import Path

from truth.simulated import CHANGES, ROUNDS, SDS, PageRates, Rates

BEGIN, END = "<!-- truth: made by `make truth` -->", "<!-- truth: end -->"
HIDDEN = "-"


def markdown(cells: Sequence[Rates], pages: Sequence[PageRates], cases: int) -> str:
    by = {(c.quantity, c.rounds, c.sd): c for c in cells}
    names = list(dict.fromkeys(c.quantity for c in cells))
    columns = " | ".join(f"{r} rounds" for r in ROUNDS)
    lines = [
        f"How many intervals miss the true value, in percent ({cases:,} cases each). 3 to 7 is right; "
        f"“{HIDDEN}”: no interval is given; in brackets: the share of cases with an interval, if not all.",
        "",
        f"| figure | sd | {columns} |",
        "|---|---" + "|---" * len(ROUNDS) + "|",
    ]
    for name in names:
        lines += [
            f"| {name} | {sd:g} | " + " | ".join(_miss(by[name, r, sd]) for r in ROUNDS) + " |" for sd in SDS
        ]
    changes = " / ".join(f"{change:.0%}".replace("%", "") for change in CHANGES)
    lines += [
        "",
        f"How often two contestants that differ by {changes} % are reported to differ, in percent. The "
        "first number is the rate of false alarms.",
        "",
        f"| figure | sd | {columns} |",
        "|---|---" + "|---" * len(ROUNDS) + "|",
    ]
    for name in names:
        if by[name, ROUNDS[0], SDS[0]].found:
            lines += [
                f"| {name} | {sd:g} | " + " | ".join(_found(by[name, r, sd]) for r in ROUNDS) + " |"
                for sd in SDS
            ]
    lines += [
        "",
        "Pages with several contestants and workloads (contestants × workloads; four quantities each, five "
        "rounds, sd 0.1). False findings: per page, if nothing differs (at most 0.3). Found: the share of "
        "true differences, if each contestant differs from the first by a fifth. In brackets: the same with "
        "a separate Student's test of each pair.",
        "",
        "| page | differences | false findings | found |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {p.contestants} × {p.workloads} | {p.differences} | {p.false:.2f} ({p.unguarded:.2f}) | "
        f"{p.found:.0%} ({p.unguarded_found:.0%}) |".replace("%", " %")
        for p in pages
    ]
    return "\n".join(lines)


def broken(cells: Sequence[Rates], pages: Sequence[PageRates], cases: int) -> list[str]:
    """Bars that are not kept by more than chance explains (three standard errors)."""
    slack = 3 * math.sqrt(0.05 * 0.95 / cases)
    found = []
    for c in cells:
        if not math.isnan(c.missed) and c.missed > 0.07 + slack / math.sqrt(max(c.shown, 0.01)):
            found.append(f"{c.quantity}, {c.rounds} rounds, sd {c.sd:g}: misses {c.missed:.1%}")
        if c.found and c.found[0.0] > 0.07 + slack:
            found.append(f"{c.quantity}, {c.rounds} rounds, sd {c.sd:g}: {c.found[0.0]:.1%} false alarms")
    found += [
        f"page of {p.contestants} × {p.workloads}: {p.false:.2f} false findings"
        for p in pages
        if p.false > 0.3
    ]
    return found


def write(text: str, document: Path) -> None:
    """Between the two marks of a document."""
    whole = document.read_text(encoding="utf-8")
    before, rest = whole.split(BEGIN, 1)
    _, after = rest.split(END, 1)
    document.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


def _miss(c: Rates) -> str:
    if math.isnan(c.missed):
        return HIDDEN
    return f"{100 * c.missed:.1f}" + (f" [{c.shown:.0%}]".replace("%", " %") if c.shown < 0.995 else "")


def _found(c: Rates) -> str:
    if not any(c.found.values()):
        return HIDDEN if c.rounds < 3 else "0"
    return "/".join(f"{100 * found:.0f}" for found in c.found.values())
