"""What several sections say of a workload, and of moments and published figures."""

from dataclasses import replace

import pytest

from jostle.analysis.results import Distribution, PublishedFigure
from jostle.report.workload import (
    as_published,
    describe_outcomes,
    moment,
    not_answered,
    published_per_s,
    quantile_of_all,
    unanswered,
    unanswered_label,
)
from support.results import make_hit


@pytest.mark.parametrize(
    ("unit", "per_s"),
    [("requests/5 s", 114.4), ("requests/s", 572.0), ("hits/60s", 572 / 60), ("ms", None), ("x/0 s", None)],
)
def test_published_rates(unit: str, per_s: float | None) -> None:
    assert published_per_s(PublishedFigure("node", "throughput", 572, unit, "")) == pytest.approx(per_s)


def test_published_figures_are_written_as_their_authors_wrote_them() -> None:
    assert as_published(PublishedFigure("node", "throughput", 10000, "requests/s", "")) == "10,000 requests/s"
    assert as_published(None) == ""


def test_moments() -> None:
    assert moment("2026-11-21T18:52:34+00:00") == "21 Nov 2026, 18:52 UTC"
    assert moment("2026-11-21T18:52:34+0100") == "21 Nov 2026, 18:52 UTC+01:00"
    assert moment("\x1b[2Jyesterday") == "at an unknown time"


def test_who_was_not_answered_stands_beside_who_failed() -> None:
    """98 responses, 1,165 requests still waiting at the end: nothing failed, and 92 % got no response."""
    outcomes = {"ok": 98, "unfinished": 1165}
    assert unanswered(outcomes) == not_answered(outcomes) == pytest.approx(0.9224, abs=1e-4)
    assert unanswered_label(outcomes) == "92.2 % not answered"
    assert unanswered_label({"ok": 50, "reset": 50}) == "50 % failed"
    assert unanswered_label({"ok": 50, "reset": 25, "response_timeout": 25}) == "50 % failed or not answered"
    assert unanswered_label({"ok": 92, "response_timeout": 8}) == "8 % not answered"
    assert unanswered_label({"ok": 1}) == ""
    assert unanswered({}) == 0


def test_a_quartile_of_all_requests_is_unknown_where_the_responses_end() -> None:
    found = Distribution(10, None, 0.1, 0.5, quantile_p=[0.0, 0.2, 0.4], quantile_s=[0.1, 0.3, 0.5])
    assert quantile_of_all(found, 0.3) == pytest.approx(0.4)
    assert quantile_of_all(found, 0.4) == 0.5
    assert quantile_of_all(found, 0.5) is None


def test_outcomes_are_told_with_their_causes() -> None:
    summary = make_hit().summaries[0]
    failed = replace(
        summary,
        outcomes={"ok": 10, "wrong_status": 3, "tls_failed": 1},
        failures={"wrong_status": {"503": 2, "500": 1}, "tls_failed": {"expired\x1b[2J": 1}},
    )
    text = describe_outcomes(failed)
    assert "3 wrong status (2 × 503, 1 × 500)" in text
    assert "1 TLS failed (1 × expired·[2J)" in text
