"""The tables of docs/explanation/how-often-right.md, and whether the bars are kept."""

import math
from collections.abc import Sequence
from pathlib import Path

from truth.simulated import CHANGES, ROUNDS, SDS, PageRates, Rates
from truth.spread import Coverage, Promise, Recorded

BEGIN, END = "<!-- {name}: made by `make truth` -->", "<!-- {name}: end -->"
HIDDEN = "-"


def markdown(cells: Sequence[Rates], pages: Sequence[PageRates], cases: int) -> str:
    by = {(c.metric, c.rounds, c.sd): c for c in cells}
    names = list(dict.fromkeys(c.metric for c in cells))
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
        "Pages with several contestants and workloads (contestants × workloads; four metrics each, five "
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


def of_records(found: Sequence[Recorded]) -> str:
    """What is assumed where a run tells nothing of it, and whether the committed results agree."""
    lines = [
        "What is assumed of a cell of which nothing else is known, with 1.5 degrees of freedom, and what the "
        "valid cells of [the published experiments](../results/results.md) with three rounds or more say of "
        "it: the median of their sd, and in which share of them one round, or two, predict another one (95 "
        "% is right).",
        "",
        "| figure | cells | median sd | assumed sd | one round predicts | two rounds predict |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {r.metric} | {r.cells} | {r.median:.3f} | {r.assumed:g} | {_percent(r.held[1])} | "
        f"{_percent(r.held[2])} |"
        for r in found
    ]
    return "\n".join(lines)


def of_cells(found: Sequence[Coverage]) -> str:
    """Coverage and width with what is usual beside the rounds of a cell."""
    rounds = sorted({c.rounds for c in found})
    by = {(c.case, c.rounds): c for c in found}
    columns = " | ".join(f"{r} rounds" for r in rounds)
    lines = [
        "How many intervals hold the true value, in percent, with the usual spread beside that of the "
        "rounds: the mean of all cells, in brackets that of the cell in which fewest do (chance takes 1 off "
        "the worst of many); then the median half-width, and Student's for comparison, in percent. Of one "
        "cell, the usual spread is the recorded one of a p99; of several, what they have in common. Two "
        "rounds decide requirements, but have no interval in tables.",
        "",
        f"| cells | {columns} |",
        "|---|" + "---|" * len(rounds),
    ]
    for case in dict.fromkeys(c.case for c in found):
        parts = [by[case, r] for r in rounds]
        lines.append(
            f"| {case} | "
            + " | ".join(
                f"{100 * c.held:.1f} ({100 * c.worst:.1f}); {100 * c.half:.0f}, {100 * c.student:.0f}"
                for c in parts
            )
            + " |"
        )
    return "\n".join(lines)


def of_promises(found: Sequence[Promise]) -> str:
    """What `jostle check` promises, and whether it is kept."""
    lines = [
        "What `jostle check` promises to find in 80 % of runs for two contestants whose rounds vary as "
        "assumed, how often it is found, and how often a difference is reported where there is none.",
        "",
        "| figure | rounds | difference | found | false alarms |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {p.metric} | {p.rounds} | {100 * p.change:.1f} % | {_percent(p.found)} | "
        f"{_percent(p.false_alarms)} |"
        for p in found
    ]
    return "\n".join(lines)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def broken(
    cells: Sequence[Rates],
    pages: Sequence[PageRates],
    few: Sequence[Coverage],
    promises: Sequence[Promise],
    cases: int,
) -> list[str]:
    """Bars that are not kept by more than chance explains (three standard errors)."""
    slack = 3 * math.sqrt(0.05 * 0.95 / cases)
    found = []
    for c in cells:
        if not math.isnan(c.missed) and c.missed > 0.07 + slack / math.sqrt(max(c.shown, 0.01)):
            found.append(f"{c.metric}, {c.rounds} rounds, sd {c.sd:g}: misses {c.missed:.1%}")
        if c.found and c.found[0.0] > 0.07 + slack:
            found.append(f"{c.metric}, {c.rounds} rounds, sd {c.sd:g}: {c.found[0.0]:.1%} false alarms")
    found += [
        f"{c.case}, {c.rounds} rounds: {c.held:.1%} hold"
        for c in few
        if c.rounds > 2 and not 0.93 - slack <= c.held <= 0.97 + slack
    ]
    found += [
        f"{c.case}, {c.rounds} rounds: {c.worst:.1%} hold in the worst cell"
        for c in few
        if c.rounds > 2 and c.worst < 0.9 - slack
    ]
    found += [
        f"{p.metric}, {p.rounds} rounds: {p.change:.1%} found in {p.found:.1%}"
        for p in promises
        if p.found < 0.8 - 2 * slack
    ]
    found += [
        f"page of {p.contestants} × {p.workloads}: {p.false:.2f} false findings"
        for p in pages
        if p.false > 0.3
    ]
    return found


def write(text: str, document: Path, name: str = "truth") -> None:
    """Between the two marks of this name in a document."""
    begin, end = (mark.format(name=name) for mark in (BEGIN, END))
    whole = document.read_text(encoding="utf-8")
    before, rest = whole.split(begin, 1)
    _, after = rest.split(end, 1)
    document.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")


def _miss(c: Rates) -> str:
    if math.isnan(c.missed):
        return HIDDEN
    return f"{100 * c.missed:.1f}" + (f" [{c.shown:.0%}]".replace("%", " %") if c.shown < 0.995 else "")


def _found(c: Rates) -> str:
    if not any(c.found.values()):
        return HIDDEN if c.rounds < 3 else "0"
    return "/".join(f"{100 * found:.0f}" for found in c.found.values())
