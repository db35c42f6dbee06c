"""Figures as text, in the typography that a reader sees."""

# ruff: noqa: RUF001

import pytest

from jostle.analysis.results import Check, Estimate, PublishedFigure
from jostle.report.text import amount, check_value, percent, published, published_per_s, shown, when
from jostle.text import one_line
from support.results import PUBLISHED


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (Estimate(0.00451, 0.0042, 0.0048, n=100), "4.51 ms (4.20–4.80)"),
        (Estimate(0.9, 0.0009, 2.0), "900 ms (900 µs–2.00 s)"),
        (Estimate(2.31, 2.1, None, bound="≥"), "≥ 2.31 s"),
        (Estimate(1234.0, 1200.0, 1300.0, unit="/s"), "1,234/s (1,200–1,300)"),
        (Estimate(0.8, 0.78, 0.82, unit=""), "0.80 (0.78–0.82)"),
        (Estimate(-0.001, -0.02, 0.01, unit=""), "0.00 (−0.02 to 0.01)"),
        (Estimate(None, note="needs 2995 samples, has 12"), "–"),
        (Estimate(0.5, unit="", note="one round"), "0.50"),
    ],
)
def test_an_estimate_reads_well(estimate: Estimate, text: str) -> None:
    assert str(shown(estimate)) == text
    assert shown(estimate).note == estimate.note


def test_percentages_never_round_something_to_nothing() -> None:
    assert [percent(s) for s in (0, 1e-6, 0.0004, 0.05, 0.26, 1, None)] == [
        "0 %",
        "< 0.01 %",
        "0.04 %",
        "5.00 %",
        "26.0 %",
        "100 %",
        "–",
    ]


def test_amounts_of_any_unit() -> None:
    assert amount(12345, "requests") == "12,345 requests"
    assert amount(1.5, "cores") == "1.5 cores"
    assert amount(float("inf"), "x") == "–"
    assert amount(None, "s") == "–"


def test_a_share_of_a_check_is_a_percentage() -> None:
    check = Check("generator CPU", "valid", 0.22, 0.8, "share", "")
    assert (check_value(check, check.value), check_value(check, check.threshold)) == ("22.0 %", "80.0 %")


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


def test_foreign_text_cannot_move_the_cursor() -> None:
    assert one_line("a\x1b[2Jb\r\nc\u202e") == "a·[2Jb··c·"


def test_moments() -> None:
    assert when("2026-11-21T18:52:34+00:00") == "21 Nov 2026, 18:52 UTC"
    assert when("2026-11-21T18:52:34+0100") == "21 Nov 2026, 18:52 UTC+01:00"
    assert when("yesterday") == "yesterday"
