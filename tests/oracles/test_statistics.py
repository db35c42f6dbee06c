"""Exact values from outside: METHOD E, scipy, R. Each would fail if the formula were another one."""

import math

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from scipy import stats
from scipy.special import ndtri

from jostle.analysis.stats.arrivals import EXPONENTIAL_1_PERCENT, anderson_darling_exponential
from jostle.analysis.stats.density import kernel_density, letter_values, silverman_bandwidth
from jostle.analysis.stats.effect_size import cliffs_delta
from jostle.analysis.stats.isj import isj_bandwidth
from jostle.analysis.stats.quantile_ci import order_statistic_ranks, samples_needed
from jostle.analysis.stats.sample import from_histograms, from_values
from jostle.analysis.stats.steady_state import mser
from jostle.histogram import Histogram
from support.histograms import read


@pytest.mark.parametrize(
    ("n", "p", "ranks", "coverage"),
    [
        (1000, 0.99, (983, 997), 0.97609476),
        (10_000, 0.999, (9983, 9997), 0.97545746),
        (100_000, 0.999, (99880, 99920), 0.95478906),
        (1000, 0.5, (469, 532), 0.95370880),
    ],
)
def test_e15_order_statistic_ranks(n: int, p: float, ranks: tuple[int, int], coverage: float) -> None:
    low, high, covers = order_statistic_ranks(n, p)
    assert (low, high) == ranks
    assert covers == pytest.approx(coverage, abs=5e-9)


def test_e16_no_upper_bound() -> None:
    low, high, _ = order_statistic_ranks(3000, 0.999)
    assert (low, high) == (2993, 3001)


def test_samples_needed_for_p999() -> None:
    assert samples_needed(0.999) == 2995


def test_ranks_are_those_of_scipys_binomial() -> None:
    for n in (1, 2, 5, 6, 40, 299, 12_345):
        for p in (0.5, 0.9, 0.99, 0.999):
            law = stats.binom(n, p)
            low, high, _ = order_statistic_ranks(n, p)
            assert low == int(law.ppf(0.025))
            assert high == int(law.ppf(0.975)) + 1


def test_e17_kernel_density() -> None:
    thirds = np.full(3, 1 / 3)
    at_zero = kernel_density(np.array([-1.0, 0.0, 1.0]), thirds, 1.0, np.array([0.0]))
    assert at_zero[0] == pytest.approx(0.294294576480, abs=1e-12)
    at_ten = kernel_density(np.log([1.0, 10.0, 100.0]), thirds, 0.5, np.log([10.0]))
    assert at_ten[0] == pytest.approx(0.265974723450, abs=1e-12)
    assert at_ten[0] / 10 == pytest.approx(0.0265974723450, abs=1e-13)


def test_e18_bandwidths() -> None:
    ones = np.ones(10, dtype=np.int64)
    assert silverman_bandwidth(np.arange(1.0, 11.0), ones) == pytest.approx(1.71928640469, abs=1e-11)
    points = ndtri((np.arange(1, 1001) - 0.5) / 1000)
    assert isj_bandwidth(points, np.ones(1000, dtype=np.int64)) == pytest.approx(0.294846, abs=1e-6)


def test_isj_of_a_normal_sample_is_near_the_best_bandwidth() -> None:
    """The best is (4/3n)^(1/5) σ. ArviZ, which scales by the grid too, has 0.173 (its pull request 360)."""
    rng, ones = np.random.default_rng(1), np.ones(10_000, dtype=np.int64)
    found = [isj_bandwidth(np.sort(rng.normal(size=10_000)), ones) for _ in range(10)]
    assert np.mean(found) == pytest.approx((4 / 30_000) ** 0.2, rel=0.05)
    assert np.mean(found) == pytest.approx(0.173, abs=0.003)


@pytest.mark.parametrize("scale", [1e-6, 0.01, 1.0, 1e4])
def test_isj_knows_no_unit(scale: float) -> None:
    points, counts = np.log(np.arange(1, 41) / 1000), np.arange(40, 0, -1)
    assert isj_bandwidth(points * scale, counts) == pytest.approx(isj_bandwidth(points, counts) * scale)


def test_isj_of_counts_is_that_of_repeated_values() -> None:
    points, counts = np.log(np.arange(1, 41) / 1000), np.arange(40, 0, -1)
    repeated = np.repeat(points, counts)
    expected = isj_bandwidth(repeated, np.ones(len(repeated), dtype=np.int64))
    assert isj_bandwidth(points, counts) == pytest.approx(expected)


@pytest.mark.parametrize("gap", [1e-3, 1.0, 100.0])
def test_isj_has_no_solution_for_two_values(gap: float) -> None:
    assert math.isnan(isj_bandwidth(np.array([0.0, gap]), np.array([5, 1])))


def test_silverman_on_counts_equals_silverman_on_repeated_values() -> None:
    points, counts = np.array([1.0, 2.0, 5.0, 9.0]), np.array([3, 1, 4, 2])
    repeated = np.repeat(points, counts)
    expected = silverman_bandwidth(repeated, np.ones(10, dtype=np.int64))
    assert silverman_bandwidth(points, counts) == pytest.approx(expected)


def test_isj_sees_two_modes_where_silverman_sees_one() -> None:
    points = np.sort(np.concatenate([ndtri((np.arange(1, 501) - 0.5) / 500) * 0.1 + m for m in (0.0, 4.0)]))
    ones = np.ones(1000, dtype=np.int64)
    assert silverman_bandwidth(points, ones) > 5 * isj_bandwidth(points, ones)


def stalled(backfilled: bool) -> Histogram:
    """10,000 times 1 ms and one stall of 100 s, in µs; back-filled for one request every 10 ms or not."""
    histogram = HdrHistogram(1, 3_600_000_000, 3)
    histogram.record_value(1000, 10_000)
    if backfilled:
        histogram.record_corrected_value(100_000_000, 10_000)
    else:
        histogram.record_value(100_000_000)
    return read(histogram)


def test_e21_histograms_reproduce_a_stall_within_a_thousandth() -> None:
    naive = from_histograms([stalled(backfilled=False)])
    assert naive.mean_s == pytest.approx(0.0109989001100, rel=1e-3)
    sample = from_histograms([stalled(backfilled=True)])
    assert sample.n == 20_000
    assert sample.mean_s == pytest.approx(25.003, rel=1e-3)
    rank = np.cumsum(sample.events)
    for p, seconds in ((0.5, 0.001), (0.75, 50.0), (0.99, 98.0)):
        assert sample.values_s[np.searchsorted(rank, p * sample.n)] == pytest.approx(seconds, rel=1e-3)


def test_e22_mser() -> None:
    found = mser(np.array([10, 8, 6, 2, 1, 2, 1, 2, 1, 2.0]), batch=1)
    assert found.batches == 3
    assert found.value == pytest.approx(0.0349854227405, abs=1e-12)
    assert found.settled


def test_e23_cliffs_delta() -> None:
    no_rounds = np.zeros((0, 1), dtype=np.int64)
    a, b = from_values([1, 2, 3, 4, 5]), from_values([3, 4, 5, 6, 7])
    assert cliffs_delta([a], [b], (no_rounds, no_rounds)).value == pytest.approx(0.64, abs=1e-12)
    assert cliffs_delta([b], [a], (no_rounds, no_rounds)).value == pytest.approx(-0.64, abs=1e-12)


def test_mser_5_never_settles_on_a_ramp() -> None:
    assert not mser(np.arange(100.0)).settled


def test_letter_values_of_50_000_are_13_deep() -> None:
    depth, low, high = letter_values(from_values([float(i) for i in range(1, 50_001)]))
    assert len(depth) == 13
    assert low[:3] == [25000.5, 12500.5, 6250.5]
    assert high[:3] == [25000.5, 37500.5, 43750.5]


def test_anderson_darling_is_scipys() -> None:
    gaps = np.random.default_rng(3).exponential(0.002, 500)
    expected = stats.anderson(gaps, "expon", method="interpolate").statistic * (1 + 0.6 / 500)
    assert anderson_darling_exponential(gaps) == pytest.approx(expected, rel=1e-9)


def test_anderson_darling_tells_a_metronome_from_a_poisson_process() -> None:
    rng = np.random.default_rng(4)
    assert anderson_darling_exponential(rng.exponential(1, 1000)) < EXPONENTIAL_1_PERCENT
    assert anderson_darling_exponential(rng.uniform(0.9, 1.1, 1000)) > 100


def test_density_per_e_fold_integrates_to_one() -> None:
    from jostle.analysis.stats.density import log_density

    rng = np.random.default_rng(5)
    times = np.concatenate(
        [rng.lognormal(math.log(0.001), 0.3, 4000), rng.lognormal(math.log(0.1), 0.2, 1000)]
    )
    x, density = log_density(from_values(np.round(times, 6).tolist()))
    assert np.trapezoid(density, np.log(x)) == pytest.approx(1, abs=0.02)
    slow = np.array(x) > 0.02
    assert np.trapezoid(np.array(density)[slow], np.log(x)[slow]) == pytest.approx(0.2, abs=0.02)
