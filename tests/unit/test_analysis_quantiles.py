"""Quantiles, censoring and shapes: small cases by hand, and properties."""

import itertools
import math
import re

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from jostle.analysis.results import Estimate
from jostle.analysis.stats.bootstrap import (
    picks,
    quantile_replicates,
)
from jostle.analysis.stats.density import describe, letter_values
from jostle.analysis.stats.kaplan_meier import product_limit
from jostle.analysis.stats.over_rounds import (
    AtLeast,
    all_requests,
    mean_over_rounds,
    number,
    quantile_over_rounds,
    quantiles_over_rounds,
    ratio_of_rounds,
    round_quantile,
    typical_over_rounds,
)
from jostle.analysis.stats.quantile_ci import (
    autocorrelation_time,
    quantile_estimate,
    quantile_estimates,
    samples_needed,
)
from jostle.analysis.stats.sample import EMPTY, from_histograms, from_values, pool, slots
from support import histograms

few_times = st.lists(st.integers(1, 12).map(float), min_size=1, max_size=30)


def test_slots_are_hdrhistograms_own() -> None:
    histogram = HdrHistogram(1, 3_600_000_000, 3)
    values = [1, 2, 1023, 1024, 2047, 2048, 2049, 4097, 123_456, 3_599_999_999]
    for value in values:
        histogram.record_value(value)
    low, high, counts = slots(histograms.read(histogram))
    assert counts.sum() == len(values)
    assert low.tolist() == sorted({histogram.get_lowest_equivalent_value(v) for v in values})
    assert high.tolist() == sorted({histogram.get_highest_equivalent_value(v) for v in values})


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=50), st.floats(0.01, 0.999))
@settings(max_examples=20)
def test_histogram_quantiles_and_means_are_hdrhistograms_own(values: list[int], p: float) -> None:
    histogram = HdrHistogram(1, 3_600_000_000, 3)
    for value in values:
        histogram.record_value(value)
    sample = from_histograms([histograms.read(histogram)])
    assert sample.mean_s == pytest.approx(histogram.get_mean_value() / 1e6, rel=1e-9)
    exact = sorted(values)[max(1, math.ceil(p * len(values) - 1e-9)) - 1]
    assert product_limit(sample).quantile(p) == histogram.get_highest_equivalent_value(exact) / 1e6


@given(few_times, st.lists(st.integers(1, 12).map(float), max_size=30))
@settings(max_examples=200)
def test_weighted_product_limit_equals_scipys(seen: list[float], gone: list[float]) -> None:
    expected = stats.ecdf(
        stats.CensoredData.right_censored([*seen, *gone], [False] * len(seen) + [True] * len(gone))
    )
    curve = product_limit(from_values(seen, gone))
    assert curve.values_s.tolist() == expected.cdf.quantiles.tolist()
    assert curve.cdf == pytest.approx(expected.cdf.probabilities, abs=1e-12)


@given(few_times)
def test_nothing_censored_is_the_empirical_distribution(seen: list[float]) -> None:
    sample = from_values(seen)
    curve = product_limit(sample)
    for k in range(1, len(seen) + 1):
        assert curve.quantile(k / len(seen)) == sorted(seen)[k - 1]
    assert curve.effective_n(0.5, sample.n) == pytest.approx(sample.n)


@given(few_times, st.floats(0.01, 0.99))
def test_a_quantile_lies_halfway_between_ranks_as_numpys_hazen(seen: list[float], p: float) -> None:
    found = product_limit(from_values(seen)).estimate(p, len(seen))
    assert found == pytest.approx(float(np.quantile(seen, p, method="hazen")))


def test_the_p99_of_an_exponential_is_not_low_on_average() -> None:
    """That of rank ⌈np⌉ is: by 1 % of its value with 1,000 requests, which 20 rounds are enough to see."""
    rng = np.random.default_rng(1)
    samples = [from_values(times.tolist()) for times in rng.exponential(1, (1000, 1000))]
    off = np.array([number(round_quantile(sample, 0.99)) for sample in samples]) - math.log(100)
    low = np.array([product_limit(sample).quantile(0.99) for sample in samples]) - math.log(100)
    error = 4 * off.std() / math.sqrt(1000)
    assert abs(off.mean()) < error
    assert low.mean() < -error


@given(few_times, few_times, few_times)
def test_pooling_is_recording_together(first: list[float], second: list[float], gone: list[float]) -> None:
    together = from_values(first + second, gone)
    apart = pool([from_values(first), EMPTY, from_values(second, gone)])
    for name in ("values_s", "middles_s", "events", "censored"):
        assert getattr(together, name).tolist() == getattr(apart, name).tolist()


def test_timeouts_hide_the_quantiles_beyond_their_share() -> None:
    """A tenth timed out after 10 s: p50 is known, p99 is at least 10 s."""
    sample = from_values([i / 1000 for i in range(1, 901)], [10.0] * 100)
    estimates = quantile_estimates(sample)
    assert estimates["p50"].value == pytest.approx(0.5005)
    assert estimates["p50"].bound == ""
    for name in ("p99", "max"):
        assert (estimates[name].value, estimates[name].bound, estimates[name].high) == (10.0, "≥", None)
    assert "10 % of the requests failed, or were given up" in estimates["p99"].note


def test_a_handful_that_waited_longer_than_the_others_decides_nothing() -> None:
    """Of 906 requests without a response, 900 are only known to take more than 3 s."""
    assert round_quantile(from_values([0.1] * 94, [3.0] * 900 + [10.0] * 6), 0.5) == AtLeast(3.0)


def test_a_request_given_up_early_is_no_fast_response() -> None:
    """Dropping the unfinished would say 1 ms; half of the requests were still waiting after 1 ms."""
    sample = from_values([0.001] * 500 + [1.0] * 100, [0.5] * 400)
    assert quantile_estimate(sample, 0.49).value == 0.001
    assert quantile_estimate(sample, 0.6).value == 1.0
    assert quantile_estimate(from_values([0.001] * 500 + [1.0] * 100), 0.6).value == 0.001


def test_early_censoring_widens_intervals() -> None:
    rng = np.random.default_rng(1)
    times = rng.exponential(1, 400)
    whole = quantile_estimate(from_values(times.tolist()), 0.9)
    cut = rng.exponential(1, 400)
    seen, gone = times[times <= cut], cut[times > cut]
    censored = quantile_estimate(from_values(seen.tolist(), gone.tolist()), 0.9)
    assert whole.low is not None
    assert whole.high is not None
    assert censored.low is not None
    assert censored.high is None or censored.high - censored.low > whole.high - whole.low
    assert censored.low < 2.3026 < (censored.high or math.inf)


def test_what_a_sample_cannot_bound_is_at_least() -> None:
    estimate = quantile_estimate(from_values([float(i) for i in range(1, 301)]), 0.99)
    assert (estimate.value, estimate.low, estimate.high, estimate.bound) == (293.0, 293.0, None, "≥")
    assert "368" in estimate.note
    bounded = quantile_estimate(from_values([float(i) for i in range(1, 401)]), 0.99)
    assert bounded.bound == ""
    assert bounded.value == 396.5
    assert bounded.high is not None


def test_p999_is_refused_with_the_number_that_it_needs() -> None:
    refused = quantile_estimate(from_values([float(i) for i in range(1, 2995)]), 0.999)
    assert refused.value is None
    assert refused.note == "needs at least 2,995 requests"
    bounded = quantile_estimate(from_values([float(i) for i in range(1, 3001)]), 0.999)
    assert (bounded.value, bounded.bound) == (2993.0, "≥")
    assert quantile_estimate(from_values([float(i) for i in range(1, 3689)]), 0.999).bound == ""


def test_small_samples() -> None:
    assert quantile_estimate(EMPTY, 0.5).note == "nothing was measured"
    assert quantile_estimates(EMPTY)["max"].value is None
    one = quantile_estimates(from_values([0.25]))
    assert (one["p50"].value, one["p50"].low, one["p50"].note) == (
        0.25,
        None,
        "too few requests for an interval",
    )
    assert (one["p90"].value, one["p90"].note) == (None, "needs at least 29 requests")
    assert (one["p99"].value, one["p99"].note) == (None, "needs at least 299 requests")
    assert (one["max"].value, one["max"].bound) == (0.25, "")
    unanswered = quantile_estimates(from_values([], [5.0]))
    assert (unanswered["p50"].value, unanswered["p50"].bound) == (5.0, "≥")
    six = quantile_estimate(from_values([float(i) for i in range(1, 7)]), 0.5)
    assert (six.low, six.value, six.high) == (1.0, 3.5, 6.0)


@given(st.lists(st.floats(0.001, 100), min_size=6, max_size=200), st.floats(0.05, 0.95))
def test_intervals_hold_their_value(times: list[float], p: float) -> None:
    estimate = quantile_estimate(from_values(times), p)
    assert (estimate.value is None) == (p > 0.5 and len(times) < samples_needed(p))
    if estimate.value is not None and estimate.low is not None and estimate.high is not None:
        assert estimate.low <= estimate.value <= estimate.high


def test_autocorrelation_of_noise_is_one_and_of_runs_their_length() -> None:
    rng = np.random.default_rng(1)
    noise = (rng.random(20_000) < 0.1).astype(float)
    assert autocorrelation_time(noise) == pytest.approx(1, abs=0.2)
    runs = np.repeat((rng.random(2000) < 0.1).astype(float), 10)
    assert autocorrelation_time(runs) == pytest.approx(10, rel=0.25)
    assert autocorrelation_time(np.zeros(100)) == 1
    assert autocorrelation_time(np.array([1.0, 0.0])) == 1


def test_autocorrelation_widens_the_interval() -> None:
    sample = from_values([float(i) for i in range(1, 1001)])
    alone, in_runs = quantile_estimate(sample, 0.5), quantile_estimate(sample, 0.5, tau=10)
    assert (alone.low, alone.high) == (469, 532)
    assert in_runs.low is not None
    assert in_runs.high is not None
    assert in_runs.high - in_runs.low == pytest.approx(math.sqrt(10) * 63, rel=0.1)
    refused = quantile_estimate(from_values([1.0] * 5000), 0.999, tau=2)
    assert refused.value is None
    assert "5,990" in refused.note


def test_few_values_are_shown_one_by_one() -> None:
    shape = describe(from_values([0.1, 0.2, 0.2, 0.4]))
    assert shape.values_s == [0.1, 0.2, 0.2, 0.4]
    assert shape.density == []
    assert (shape.n, shape.min_s, shape.max_s) == (4, 0.1, 0.4)
    assert shape.mean_s == pytest.approx(0.225)
    assert describe(EMPTY).n == 0
    assert describe(from_values([], [1.0])).n == 0


def test_shape_of_many_values() -> None:
    rng = np.random.default_rng(2)
    shape = describe(from_values(rng.lognormal(-6, 0.5, 5000).round(6).tolist()))
    assert len(shape.density) == len(shape.density_x_s) == 256
    assert shape.density_x_s[0] == pytest.approx(shape.min_s)
    assert shape.density_x_s[-1] == pytest.approx(shape.max_s)
    assert shape.quantile_p[0] == 0
    assert shape.quantile_p[-1] == pytest.approx(1 - 1 / 5000)
    assert shape.quantile_s == sorted(shape.quantile_s)
    assert shape.quantile_s[-1] == pytest.approx(shape.max_s, rel=0.1)
    assert shape.letter_low_s == sorted(shape.letter_low_s, reverse=True)
    assert shape.values_s == []
    mode = shape.density_x_s[int(np.argmax(shape.density))]
    assert mode == pytest.approx(math.exp(-6), rel=0.15)


def test_values_all_alike_have_no_density() -> None:
    shape = describe(from_values([0.001] * 100))
    assert shape.density == []
    assert shape.letter_low_s[0] == shape.letter_high_s[0] == 0.001


def test_the_quantile_axis_ends_where_censoring_begins() -> None:
    shape = describe(from_values([i / 1000 for i in range(1, 901)], [10.0] * 100))
    assert shape.quantile_p[-1] <= 0.9
    assert shape.quantile_s[-1] <= 0.9
    assert shape.n == 900


def test_without_shapes_only_numbers() -> None:
    shape = describe(from_values([0.1] * 10), shape=False)
    assert (shape.n, shape.mean_s) == (10, pytest.approx(0.1))
    assert shape.quantile_p == shape.values_s == []


@given(st.lists(st.integers(1, 1000).map(float), min_size=1, max_size=300))
def test_letter_values_nest(times: list[float]) -> None:
    depth, low, high = letter_values(from_values(times))
    assert depth[0] == 1
    assert low[0] == high[0] == pytest.approx(float(np.median(times)))
    assert all(a >= b for a, b in itertools.pairwise(low))
    assert all(a <= b for a, b in itertools.pairwise(high))


def test_one_round_or_two_have_no_interval_and_say_what_it_takes() -> None:
    two = [from_values([1.0] * 400), from_values([2.0] * 400)]
    for estimate in (
        mean_over_rounds([5.0], "/s"),
        mean_over_rounds([5.0, 6.0], "/s"),
        ratio_of_rounds([1.0], [2.0]),
        quantiles_over_rounds(two)["p99"],
    ):
        assert estimate.value is not None
        assert (estimate.low, estimate.high) == (None, None)
        assert "at least 3" in estimate.note
    assert mean_over_rounds([], "/s").value is None


def test_means_over_rounds_are_students() -> None:
    values = [10.0, 12.0, 11.0, 9.0, 13.0]
    low, high = stats.t.interval(0.95, 4, np.mean(values), stats.sem(values))
    estimate = mean_over_rounds(values, "/s")
    assert (estimate.value, estimate.n, estimate.unit) == (11, 5, "/s")
    assert (estimate.low, estimate.high) == (pytest.approx(low), pytest.approx(high))


def test_quantiles_over_rounds_see_a_round_that_differs() -> None:
    """In one of five rounds everything took a hundred times longer: who knows what the next one will do."""
    rng = np.random.default_rng(1)
    usual = [from_values(rng.lognormal(-6, 0.1, 1000).tolist()) for _ in range(4)]
    odd = from_values((100 * rng.lognormal(-6, 0.1, 1000)).tolist())
    estimate = quantiles_over_rounds([*usual, odd])["p90"]
    assert (estimate.value, estimate.low, estimate.high) == (None, None, None)
    begin = "the rounds fall into two groups more than tenfold apart, so no mean is given: "
    assert re.fullmatch(begin + r"(\d\.\d\d ms, ){4}\d\d\d ms", estimate.note)
    assert len(estimate.rounds) == 5
    same = quantiles_over_rounds(usual)["p90"]
    assert same.low is not None
    assert same.high is not None
    assert same.high < 1.06 * same.low


def test_the_typical_start_is_not_that_of_most_requests() -> None:
    """Two fast rounds served ten times as many requests as two slow ones: still half of the starts."""
    fast, slow = from_values([0.01] * 4000), from_values([0.1] * 400)
    rounds = [fast, fast, slow, slow]
    assert quantiles_over_rounds(rounds)["p50"].value == pytest.approx(0.01 * 10**0.5)
    assert all_requests(rounds)["p50"].value == 0.01
    assert all_requests(rounds)["p50"].low is None


def test_rounds_that_agree_to_the_last_digit_have_an_interval_that_is_not_empty() -> None:
    found = quantiles_over_rounds([from_values([0.01] * 400)] * 3)["p99"]
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.01 < found.high


def test_failures_lie_beyond_every_quantile() -> None:
    """Five of a hundred were refused at once: the p99 is not that of the successes, and not even bounded."""
    whole = from_values([i / 1000 for i in range(1, 951)], never=50)
    found = quantile_estimates(whole)
    assert found["p50"].value == pytest.approx(0.5005)  # of all 1,000
    assert found["p90"].value == pytest.approx(0.9005)
    for name in ("p99", "max"):
        assert (found[name].value, found[name].bound, found[name].high) == (0.95, "≥", None)
    assert "5 % of the requests failed" in found["p99"].note
    assert quantile_estimate(from_values([], never=10), 0.5).note == "nothing was answered as expected"
    assert pool([whole, whole]).never == 100


def test_replicates_are_of_rounds_and_not_of_requests() -> None:
    """The noise of requests is in the rounds: drawn again it would count twice."""
    sample = from_values([float(i) for i in range(1, 1001)])
    found = quantile_replicates([sample], [0.5], picks(1, 1, 100))[0]
    assert set(found) == {500.0}
    refused = from_values([1.0] * 50, never=50)
    assert set(quantile_replicates([refused], [0.4, 0.6], picks(1, 1, 10))[1]) == {math.inf}


def test_a_round_that_knows_no_end_leaves_no_upper_bound() -> None:
    whole = [from_values([0.01] * 400 + [0.02] * 100) for _ in range(4)]
    hung = from_values([0.01] * 100, [0.15] * 400)
    estimate = quantiles_over_rounds([*whole, hung])["p90"]
    assert estimate.bound == "≥"
    assert estimate.high is None


def test_rounds_in_two_groups_have_no_mean_though_the_upper_one_is_only_bounded() -> None:
    exact, bounded = [0.0002, 0.0002], [AtLeast(0.999), AtLeast(0.999)]
    apart = typical_over_rounds([*exact, *bounded], "s")
    assert apart.value is None
    assert apart.note.endswith("so no mean is given: 200 µs, 200 µs, ≥ 999 ms, ≥ 999 ms")
    # A round that was given up early may belong to either group.
    unknown = typical_over_rounds([*exact, AtLeast(0.0002), *bounded], "s")
    assert unknown.bound == "≥"


a_round = st.tuples(
    st.lists(st.integers(1, 10**6), min_size=1, max_size=40),  # responses, in ms
    st.lists(st.integers(1, 10**6), max_size=20),  # given up after so long
)


@settings(max_examples=300, deadline=None)
@given(st.lists(a_round, min_size=1, max_size=6))
def test_five_numbers_are_in_order(rounds: list[tuple[list[int], list[int]]]) -> None:
    """However much rounds differ. With "≥" one may lie anywhere above, but what follows is no smaller."""
    samples = [from_values([s / 1e3 for s in seen], [s / 1e3 for s in lost]) for seen, lost in rounds]
    whole = describe(pool(samples), shape=False)
    all_answered = not any(lost for _, lost in rounds)
    ends = Estimate(whole.min_s), Estimate(whole.max_s if all_answered else None)
    middle = [quantile_over_rounds(samples, p) for p in (0.25, 0.5, 0.75)]
    five = [e for e in (ends[0], *middle, ends[1]) if e.value is not None]
    for below, above in itertools.combinations(five, 2):
        assert above.bound == "≥" or below.value <= above.value * (1 + 1e-9)
