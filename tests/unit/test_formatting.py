"""How figures are written, in the typography that a reader sees."""

# ruff: noqa: RUF001

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jostle.analysis.results import Estimate
from jostle.formatting import (
    amount,
    change,
    formatted,
    listed,
    percent,
    plural,
    points,
    ratio,
    tallied,
    with_interval,
)


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (Estimate(0.00451, 0.0042, 0.0048, n=100), "4.51 ms [4.20, 4.80]"),
        (Estimate(0.9, 0.0009, 2.0), "900 ms [0.9, 2,000]"),
        (Estimate(12.4e-6, 11e-6, 14e-6), "12 µs [11, 14]"),
        (Estimate(2.31, 2.1, None, bound="≥"), "≥ 2.31 s"),
        (Estimate(1234.0, 1200.0, 1300.0, unit="/s"), "1,234/s [1,200, 1,300]"),
        (Estimate(0.8, 0.78, 0.82, unit=""), "0.80 [0.78, 0.82]"),
        (Estimate(0.3, 0.25, 0.36, unit="share"), "30 % [25, 36]"),
        (Estimate(-0.001, -0.02, 0.01, unit=""), "0.00 [−0.02, 0.01]"),
        (Estimate(0.0, -0.002, 0.003), "0 ms [−2.00, 3.00]"),
        (Estimate(None, note="needs 2995 samples, has 12"), "–"),
        (Estimate(0.5, unit="", note="one round"), "0.50"),
    ],
)
def test_a_value_and_its_interval_share_one_unit(estimate: Estimate, text: str) -> None:
    assert str(formatted(estimate)) == text
    assert formatted(estimate).note == estimate.note


def test_a_column_whose_heading_has_the_unit_takes_the_number_alone() -> None:
    assert formatted(Estimate(1234.0, unit="/s")).number == "1,234"
    assert formatted(Estimate(2.31, bound="≥")).number == "≥ 2.31"


def test_processor_times_are_shown_finer_than_the_clock_of_the_record() -> None:
    assert str(formatted(Estimate(12.4e-6, 11.2e-6, 14e-6), fine=True)) == "12.4 µs [11.2, 14.0]"


def test_a_sentence_says_why_there_is_no_interval_or_no_value() -> None:
    assert with_interval(Estimate(0.3, 0.25, 0.36), "share") == "30 % [25, 36]"
    assert with_interval(Estimate(0.3, note="one round"), "share") == "30 % (one round)"
    assert with_interval(Estimate(None, note="nothing was measured")) == "not known: nothing was measured"


def test_a_change_and_its_interval_share_one_form() -> None:
    assert change(0.52, 0.4, 0.83) == "−48 % [−60, −17]"
    assert change(0.52, 0.33, 0.83) == "÷ 1.92 [1.2, 3.03]"
    assert change(1.052) == "+5.2 %"
    assert change(3.4) == "× 3.4"
    assert points(0.0052, 0.001, 0.009) == "+0.52 points [+0.1, +0.9]"


@given(st.floats(0.01, 100), st.floats(0.01, 100), st.floats(0.01, 100))
def test_no_change_mixes_times_and_percent(a: float, b: float, c: float) -> None:
    text = change(a, b, c)
    assert ("×" in text or "÷" in text) != ("%" in text)


def test_amounts_of_any_unit() -> None:
    assert amount(12345, "requests") == "12,345 requests"
    assert amount(1.5, "cores") == "1.5 cores"
    assert amount(4, "count") == "4"
    assert amount(0.05, "share") == amount(5, "%") == "5 %"
    assert amount(math.inf, "x") == amount(None, "s") == percent(None) == "–"


def test_counts_lists_and_tallies_are_words() -> None:
    assert [plural(1, "request"), plural(10_000, "request")] == ["1 request", "10,000 requests"]
    assert [listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])] == ["a", "a and b", "a, b and c"]
    assert tallied({"500": 635, "503": 4000}) == "4,000 × 503, 635 × 500"
    assert tallied({"\x1b[31m": 1}) == "1 × ·[31m"
    assert tallied({str(n): n for n in range(1, 8)}).endswith("3 × 3, 2 more kinds")


def test_a_small_ratio_is_not_rounded_to_nothing() -> None:
    small = ratio(Estimate(0.00412, 0.0031, 0.005, "ratio"))
    assert (str(small), small.number) == ("0.00412 [0.0031, 0.005]", "0.00412")
    assert str(ratio(Estimate(0.25, 0.2, 0.3, "ratio"))) == "0.25 [0.20, 0.30]"
    assert str(ratio(Estimate(None))) == "–"
