"""docs/articles: claims come from the results, and only where they were judged by today's rules."""

from pathlib import Path
from typing import Any

import pytest

from docs.articles import PLACE, filled
from jostle import experiments

DOCS = Path(__file__).parents[2] / "docs"
PAGE = "before\n<!-- claims: threads begin -->\nstale text\n<!-- claims: threads end -->\nafter\n"


CRITERION = {
    "metric": "memory per connection",
    "workload": "connections",
    "rule": "below 1.65 kB",
    "published": None,
}


def results(**change: Any) -> dict[str, Any]:
    claim = {
        "statement": "In Node there is essentially no memory overhead per connection",
        "published": "no figure",
        "verdict": "not reproduced",
        "sentence": "memory per connection of node 9.1 kB, is not below 1.65 kB.",
        "criteria": [CRITERION],
    } | change
    return {
        "experiments": [{"name": "threads", "result": {"claims": [claim]}}, {"name": "x", "result": None}]
    }


def test_a_claim_stands_with_its_verdict_and_the_measured_figure() -> None:
    page = filled(PAGE, results())
    assert page.startswith("before\n<!-- claims: threads begin -->\n- **not measured yet**: We are roughly")
    assert "- **✗ not reproduced**: In Node there is" in page
    assert "Published: no figure. Here: memory per connection of node 9.1 kB" in page
    assert page.endswith("<!-- claims: threads end -->\nafter\n")
    assert "stale text" not in page
    assert filled(page, results()) == page


@pytest.mark.parametrize("other", [{"rule": "below 2 kB"}, {"workload": "threads"}, {"metric": "memory"}])
def test_what_was_judged_by_other_rules_counts_as_not_measured(other: dict[str, str]) -> None:
    page = filled(PAGE, results(criteria=[CRITERION | other]))
    assert "✗" not in page
    assert page.count("not measured yet") == len(experiments.load("threads").claim)


def test_the_pages_hold_a_place_for_every_experiment() -> None:
    pages = [path.read_text() for path in (DOCS / "articles").glob("*.md")]
    assert sorted(match[2] for page in pages for match in PLACE.finditer(page)) == experiments.names()
