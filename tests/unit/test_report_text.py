"""What a report writes of checks, published figures and moments."""

import pytest

from jostle.analysis.results import Check, PublishedFigure
from jostle.report.text import check_value, published, published_per_s, when
from support.results import PUBLISHED


def test_a_share_of_a_check_is_a_percentage() -> None:
    check = Check("generator CPU", "valid", 0.22, 0.8, "share", "")
    assert (check_value(check, check.value), check_value(check, check.threshold)) == ("22 %", "80 %")


@pytest.mark.parametrize(
    ("unit", "per_s"),
    [
        ("requests/5 s", 114.4),
        ("requests/s", 572.0),
        ("hits/60s", 572 / 60),
        ("ms", None),
        ("s", None),
        ("x/0 s", None),
    ],
)
def test_published_rates(unit: str, per_s: float | None) -> None:
    assert published_per_s(PublishedFigure("node", "throughput", 572, unit, "")) == per_s


def test_published_pairs() -> None:
    assert published(*PUBLISHED) == "572 → 114 requests/5 s"
    assert published(None, PUBLISHED[1]) == "? → 114 requests/5 s"
    assert published(None, None) == ""


def test_moments() -> None:
    assert when("2026-11-21T18:52:34+00:00") == "21 Nov 2026, 18:52 UTC"
    assert when("2026-11-21T18:52:34+0100") == "21 Nov 2026, 18:52 UTC+01:00"
    assert when("\x1b[2Jyesterday") == "at an unknown time"
