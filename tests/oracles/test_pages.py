"""Many findings on a page: how many are false where nothing differs, and is found what differs?"""

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from jostle.analysis.compare.family import family_of
from jostle.analysis.compare.page import beyond_chance, by_chance
from jostle.analysis.compare.sides import compare_sides
from jostle.analysis.results import Comparison
from jostle.analysis.stats.many_to_one import against_first, pooled
from support.sides import known_side

METRICS = ("throughput", "p50", "p90", "p99")


def page(rng: np.random.Generator, contestants: int, workloads: int, change: float = 0.0) -> list[Comparison]:
    """Rounds differ by 20 %, contestants by 10 % of their own, of which metrics share the greater part."""
    found = []
    for number in range(workloads):
        level = rng.normal(0, 0.2, 5)
        sides = []
        for contestant in range(contestants):
            shared = rng.normal(0, 0.1, 5)
            own = {q: level + 0.8 * shared + rng.normal(0, 0.06, 5) for q in METRICS}
            effect = math.log1p(change) if contestant else 0.0
            values: dict[str, NDArray[np.float64]] = {q: np.exp(v + effect) for q, v in own.items()}
            sides.append(known_side(f"c{contestant}", values, workload=f"w{number}"))
        family = family_of(sides)
        found += [
            replace(compare_sides(sides[0], s, family), primary="throughput", workload=f"w{number}")
            for s in sides[1:]
        ]
    return beyond_chance(found)


def told(comparisons: list[Comparison], metric: str = "") -> int:
    return sum(
        d.finding in ("less", "more") for c in comparisons for d in c.differences if metric in ("", d.metric)
    )


def test_a_page_of_equals_has_hardly_a_finding() -> None:
    """Four contestants, three workloads, four metrics: 1.8 without a guard."""
    rng = np.random.default_rng(1)
    pages = 25
    false = sum(told(page(rng, 4, 3)) for _ in range(pages))
    assert false <= 0.3 * pages + 3 * math.sqrt(0.3 * pages)


def test_what_differs_is_still_found() -> None:
    """A fifth, with five rounds: 59 % of all such differences by Student's test of each pair by itself."""
    rng = np.random.default_rng(2)
    pages = 40
    found = sum(told(page(rng, 4, 3, change=0.2)) for _ in range(pages))
    assert found >= 0.5 * pages * 3 * 3 * len(METRICS)


@pytest.mark.parametrize("spread", [(0.1, 0.1, 0.1, 0.1), (0.03, 0.03, 0.03, 0.3)])
def test_all_against_the_first_have_one_chance_of_a_false_alarm(spread: tuple[float, ...]) -> None:
    """Whether contestants vary alike or not: three tests at 5 % each would raise one in 12 to 14 % of all
    cases."""
    rng = np.random.default_rng(3)
    cases, alarms = 1500, 0
    for _ in range(cases):
        logs = rng.normal(0, 0.2, 5) + rng.normal(size=(4, 5)) * np.array(spread)[:, None]
        error = pooled(logs)
        contrasts = [against_first(logs[0], other, 3, error) for other in logs[1:]]
        alarms += any(abs(c.middle) > c.half for c in contrasts)
    assert alarms <= int(stats.binom(cases, 0.065).ppf(0.999))


def test_contestants_that_vary_unlike_do_not_share_an_error() -> None:
    rng = np.random.default_rng(4)
    logs = rng.normal(size=(4, 10)) * np.array([0.02, 0.02, 0.02, 0.5])[:, None]
    assert pooled(logs) is None
    assert pooled(rng.normal(size=(4, 10))) is not None


def test_a_page_says_how_many_of_its_findings_are_chance() -> None:
    rng = np.random.default_rng(5)
    assert by_chance([]) == ""
    assert by_chance(page(rng, 2, 1)).startswith(
        "Of 4 rates and quantiles that could be compared on this page, "
    )
    assert "about 0.2 would still differ by chance" in by_chance(page(rng, 2, 1))
    assert "show a difference in it with a probability of at most 8 %" in by_chance(page(rng, 3, 2))
    none_decides = by_chance([replace(c, primary="errors") for c in page(rng, 3, 2)])
    assert none_decides.endswith(" differ. Of the differences, expect at most one in twenty to be chance.")


def test_a_finding_that_may_be_chance_among_so_many_says_so() -> None:
    rng = np.random.default_rng(6)
    for _ in range(40):
        for c in page(rng, 2, 3):
            for d in c.differences:
                if "may be chance among" in d.sentence:
                    assert d.finding == "may be chance"
                    assert d.metric != "throughput"
                    return
    raise AssertionError("no such finding in 40 pages")
