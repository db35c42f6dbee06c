"""Metrics: what is read, what is refused and in which words, and that what is shown reads back."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jostle import units
from jostle.errors import BadValue, PlanError

MAGNITUDES = st.floats(-8.5, 6.5).map(lambda power: 10**power)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5s", 5.0),
        ("900ms", 0.9),
        ("0.9 s", 0.9),
        ("1m30s", 90.0),
        ("1h 2m 3s", 3723.0),
        ("20min", 1200.0),
        ("250us", 250e-6),
        ("250µs", 250e-6),
        ("1_000ms", 1.0),
        ("0", 0.0),
        ("0s", 0.0),
    ],
)
def test_durations_are_read(text: str, seconds: float) -> None:
    assert units.duration(text) == seconds


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("5", "'5' has no unit of time"),
        ("5 parsecs", "'5 parsecs' has no unit of time: 'parsecs'"),
        ("", "'' is not a duration"),
        ("soon", "'soon' is not a duration"),
        ("-5s", "'-5s' is not a duration"),
        ("5s later", "'5s later' is not a duration"),
        ("9000000h", "'9000000h' is longer than a year"),
    ],
)
def test_what_is_no_duration_is_refused_with_an_example(text: str, says: str) -> None:
    with pytest.raises(BadValue) as refused:
        units.duration(text)
    assert refused.value.message == says
    assert '"5s"' in refused.value.hint


def test_a_bare_number_may_have_a_unit_by_agreement() -> None:
    assert units.duration("10", bare="s") == 10.0
    assert units.rate("2000", bare="s") == 2000.0


@pytest.mark.parametrize(
    ("text", "per_s"),
    [("1000/s", 1000.0), ("60/min", 1.0), ("10k/s", 1e4), ("0.5/s", 0.5), ("12,346/s", 12346.0)],
)
def test_rates_are_read(text: str, per_s: float) -> None:
    assert units.rate(text) == pytest.approx(per_s, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1000", "'1000' does not say per which time"),
        ("1000/fortnight", "'1000/fortnight' does not say per which time"),
        ("fast/s", "'fast/s' is not a rate"),
        ("9e999/s", "'9e999/s' is too much"),
    ],
)
def test_what_is_no_rate_is_refused(text: str, says: str) -> None:
    with pytest.raises(BadValue) as refused:
        units.rate(text)
    assert refused.value.message == says


def test_sizes_shares_and_counts() -> None:
    assert [units.size(text) for text in ("12", "512B", "1kB", "1KiB", "1.5MB")] == [
        12,
        512,
        1000,
        1024,
        1_500_000,
    ]
    assert [units.share(text) for text in ("10%", "0.25", "100%")] == [0.1, 0.25, 1.0]
    assert [units.count(text) for text in ("50", "10_000", "10,000", "10k", "1.5M")] == [
        50,
        10000,
        10000,
        10000,
        1500000,
    ]


@pytest.mark.parametrize(
    ("read", "text", "says"),
    [
        (units.size, "1 stone", "'1 stone' is not a size"),
        (units.share, "150%", "'150%' is more than the whole"),
        (units.share, "half", "'half' is not a share"),
        (units.count, "1.5", "'1.5' is not a whole number"),
        (units.count, "many", "'many' is not a count"),
    ],
)
def test_other_refusals(read, text: str, says: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(PlanError) as refused:
        read(text)
    assert refused.value.message == says
    assert refused.value.hint.startswith("write")


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.000812, "812 µs"),
        (0.00451, "4.51 ms"),
        (1.2, "1.20 s"),
        (72.0, "72.0 s"),
        (750.0, "12.5 min"),
        (7200.0, "2.00 h"),
        (0.0009996, "1.00 ms"),
        (2e-7, "200 ns"),
        (1e-6, "1 µs"),
        (37.4e-6, "37 µs"),
        (0.0, "0 s"),
        (-0.0012, "\N{MINUS SIGN}1.20 ms"),
        (math.inf, "\N{EN DASH}"),
        (math.nan, "\N{EN DASH}"),
    ],
)
def test_durations_are_shown(seconds: float, shown: str) -> None:
    assert units.format_duration(seconds) == shown


def test_a_recorded_time_has_no_fraction_of_a_microsecond() -> None:
    assert [units.format_duration(1e-6), units.format_duration(99.6e-6)] == ["1 µs", "100 µs"]
    assert units.format_duration(37.4e-6, fine=True) == "37.4 µs"


def test_a_share_never_rounds_to_nothing_nor_to_the_whole() -> None:
    shares = (0, 1e-6, 0.0004, 0.0058, 0.05, 0.26, 0.9217, 0.99996, 1, 12.3, -0.03)
    assert [units.format_share(share) for share in shares] == [
        "0 %",
        "< 0.01 %",
        "0.04 %",
        "0.58 %",
        "5 %",
        "26 %",
        "92.2 %",
        "> 99.9 %",
        "100 %",
        "1,230 %",
        "\N{MINUS SIGN}3 %",
    ]


def test_rates_bytes_and_counts_are_shown() -> None:
    assert [units.format_rate(r) for r in (12345.6, 572.4, 57.25, 0.05, math.nan)] == [
        "12,346/s",
        "572/s",
        "57.2/s",
        "0.05/s",
        "\N{EN DASH}",
    ]
    assert [units.format_bytes(b) for b in (512, 1024, 165e6, 2.5e9)] == [
        "512 B",
        "1.02 kB",
        "165 MB",
        "2.50 GB",
    ]
    assert units.format_count(10000) == "10,000"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1060.0, "1,060"),
        (123456.0, "123,456"),
        (1.5, "1.5"),
        (0.05, "0.05"),
        (0.000032, "0.000032"),
        (-2.0, "−2"),
    ],
)
def test_a_plain_number_never_has_an_exponent(value: float, shown: str) -> None:
    assert units.format_number(value) == shown


@given(MAGNITUDES)
def test_a_shown_duration_reads_back_to_three_digits(seconds: float) -> None:
    shown, fine = units.format_duration(seconds), units.format_duration(seconds, fine=True)
    whole = 0.51e-6 if 1e-6 <= seconds < 1e-4 else 1e-9
    assert units.duration(shown) == pytest.approx(seconds, rel=0.0051, abs=whole)
    assert units.duration(fine) == pytest.approx(seconds, rel=0.0051, abs=1e-9)


@given(MAGNITUDES)
def test_a_shown_rate_reads_back_to_three_digits(per_s: float) -> None:
    assert units.rate(units.format_rate(per_s)) == pytest.approx(per_s, rel=0.0051)


@given(st.integers(0, 10**12))
def test_shown_bytes_and_counts_read_back(number: int) -> None:
    assert units.size(units.format_bytes(number)) == pytest.approx(number, rel=0.0051)
    assert units.count(units.format_count(number)) == number


@given(st.integers(0, 366 * 24 * 3600 * 10**9))
def test_an_exact_duration_reads_back_exactly(ns: int) -> None:
    assert round(units.duration(units.exact_duration(ns / 1e9)) * 1e9) == round(ns / 1e9 * 1e9)


@given(st.floats(0, 1e12))
def test_an_exact_number_reads_back_exactly(value: float) -> None:
    assert units.rate(f"{units.exact_number(value)}/s") == value


@given(st.text(max_size=20))
def test_any_text_is_read_or_refused_with_an_example(text: str) -> None:
    for read in (units.duration, units.rate, units.size, units.share, units.count):
        try:
            value = read(text)
        except BadValue as refused:
            value = 0
            hint = refused.hint
        else:
            hint = "write"
        assert math.isfinite(value)
        assert hint.startswith("write")


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.4, "0 s"),
        (59.4, "59 s"),
        (60, "1 min"),
        (172.3, "2 min 52 s"),
        (3599.6, "1 h"),
        (9_300, "2 h 35 min"),
    ],
)
def test_how_long_a_run_took_is_in_whole_units(seconds: float, shown: str) -> None:
    assert units.format_span(seconds) == shown
