"""What is inferred of servers whose discipline is known: right, "cannot tell", or wrong, in calculated
servers.
"""

import sys
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from rows import Effort, Row, Section

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from support.known_servers import BEHAVIOURS, NOISE, explained, judged

SEEDS, QUICK_SEEDS = 200, 5
BUDGET_S = 4.0
NOT_WRONG_BAR, DECIDED_BAR = 0.95, 0.85

Case = tuple[str, str]
"""Behaviour and noise."""


def run(effort: Effort) -> Section:
    seeds = range(QUICK_SEEDS if effort.quick else SEEDS)
    cases = [(behaviour.name, noise) for noise in NOISE for behaviour in BEHAVIOURS]
    with ProcessPoolExecutor(2) as pool:
        found = list(pool.map(_outcomes, cases, [seeds] * len(cases)))
    return section(dict(zip(cases, found, strict=True)))


def section(counts: Mapping[Case, Counter[str]]) -> Section:
    """Rows, and the confusion matrix, of outcomes by behaviour and noise."""
    known = {behaviour.name for behaviour in BEHAVIOURS if behaviour.family}
    low = sum((counts[name, "low"] for name in known), Counter())
    every = sum(counts.values(), Counter())
    wrong = every["wrong"]
    not_wrong = 1 - wrong / every.total()
    decided = low["correct"] / low.total()
    return Section(
        [
            Row(
                "discipline of calculated servers: correct or cannot tell",
                f"≥ {NOT_WRONG_BAR:.0%}",
                f"{not_wrong:.2%}",
                not_wrong >= NOT_WRONG_BAR,
            ),
            Row(f"… confidently wrong, of {every.total():,}", "0", str(wrong), wrong == 0),
            Row("… decided, at low noise", f"≥ {DECIDED_BAR:.0%}", f"{decided:.1%}", decided >= DECIDED_BAR),
        ],
        details=_matrix(counts),
        samples=[{"behaviour": name, "noise": noise, **found} for (name, noise), found in counts.items()],
    )


def _outcomes(case: Case, seeds: range) -> Counter[str]:
    name, noise = case
    behaviour = next(one for one in BEHAVIOURS if one.name == name)
    outcomes: Counter[str] = Counter()
    for seed in seeds:
        found = explained(behaviour, NOISE[noise], seed, budget_s=BUDGET_S)
        outcome = judged(behaviour, found)
        outcomes[outcome] += 1
        if outcome == "wrong":
            print(f"wrong: {name}, {noise} noise, seed {seed}: {found}", flush=True)
    return outcomes


def _matrix(counts: Mapping[Case, Counter[str]]) -> str:
    runs = next(iter(counts.values())).total()
    unknown = [behaviour.name for behaviour in BEHAVIOURS if behaviour.family is None]
    lines = [
        f"{runs} seeded runs for each behaviour and noise, bursts of {BUDGET_S:g} s.",
        "Correct / cannot tell / wrong. For these behaviours no candidate is right, and no discipline may be "
        f"told: {'; '.join(unknown)}.",
        "",
        f"| behaviour | {' | '.join(f'{noise} noise' for noise in NOISE)} |",
        "|---|" + "---|" * len(NOISE),
    ]
    for behaviour in BEHAVIOURS:
        cells = [counts[behaviour.name, noise] for noise in NOISE]
        told = " | ".join(f"{cell['correct']} / {cell['undecided']} / {cell['wrong']}" for cell in cells)
        lines.append(f"| {behaviour.name} | {told} |")
    return "\n".join(lines)
