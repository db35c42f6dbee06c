"""Two contestants, or two runs: differences that are there, that are not, and that cannot be told."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from jostle.analysis.compare import pairs
from jostle.analysis.compare.page import by_chance
from jostle.analysis.compare.sentences import size_of_effect
from jostle.analysis.compare.side import SHIFT_LEVELS, Round, Side, pair
from jostle.analysis.compare.sides import _half, _why_not_compared, compare_sides
from jostle.analysis.results import Comparison, Difference, Estimate
from jostle.analysis.stats.effect_size import cliffs_delta
from jostle.analysis.stats.moderated import not_known
from jostle.analysis.stats.sample import EMPTY, Ints, from_values
from jostle.record.verdict import Verdict
from support.sides import make_side, side_of

NONE: Ints = np.zeros((0, 1), dtype=np.int64)


def two(scale: float, rounds: int = 5, run: str = "", **more: int) -> Comparison:
    """b is `scale` times as slow as a, on rounds that differ by more than that."""
    rng = np.random.default_rng(3)
    levels = np.exp(rng.normal(0, 0.1, rounds))
    a = make_side("old", levels, noise=0.01, requests=400, rng=rng)
    b = make_side("new", levels, scale=scale, noise=0.01, requests=400, run=run, rng=rng, **more)
    return compare_sides(a, b) if run else compare_sides(*pair(a, b))


def of(comparison: Comparison, metric: str) -> Difference:
    (found,) = [d for d in comparison.differences if d.metric == metric]
    return found


def test_a_difference_is_found_with_its_size() -> None:
    found = two(1.5)
    throughput, median = of(found, "throughput"), of(found, "p50")
    assert (throughput.finding, median.finding) == ("less", "more")
    for d, truth in ((throughput, 1 / 1.5), (median, 1.5)):
        assert d.ratio.low is not None
        assert d.ratio.high is not None
        assert d.ratio.low < truth < d.ratio.high
    assert median.difference.value == pytest.approx(0.005, rel=0.15)
    assert median.sentence.startswith("p50: longer on new: +")
    assert throughput.sentence.startswith("throughput: lower on new: −3")
    assert found.sentence.startswith("new against old: throughput lower (−3")
    assert found.paired
    assert found.cliffs_delta.low is not None
    assert found.cliffs_delta.low > 0.147
    assert size_of_effect(found.cliffs_delta) == "large"


def test_a_bound_above_the_other_figure_says_by_how_much_it_is() -> None:
    """A p50 of which only a lower bound is known has no interval, but is not just "undecided"."""
    rng = np.random.default_rng(4)
    a, b = (make_side(n, np.ones(5), noise=0.01, requests=400, rng=rng) for n in ("old", "new"))

    def with_p50(side: Side, found: Estimate) -> Side:
        summary = replace(side.summary, response={**side.summary.response, "p50": found})
        return replace(side, summary=summary)

    given_up = with_p50(a, Estimate(0.994, unit="s", bound="≥"))
    answered = with_p50(b, Estimate(0.0127, unit="s"))
    assert _why_not_compared(given_up, answered, "p50", few=False) == (
        "not all requests to old were answered, so its p50 is only known to be at least 78.3 times that of "
        "new"
    )
    shorter = with_p50(a, Estimate(0.001, unit="s", bound="≥"))
    assert _why_not_compared(shorter, answered, "p50", few=False) == "not all requests were answered"
    assert _why_not_compared(shorter, answered, "p50", few=True).startswith(
        "too few requests: each side needs at least 20"
    )


def test_that_nothing_differs_by_more_than_so_much_is_a_response() -> None:
    rng = np.random.default_rng(5)
    levels = np.exp(rng.normal(0, 0.1, 8))
    a, b = (make_side(n, levels, noise=0.003, requests=2000, rng=rng) for n in ("old", "new"))
    found = compare_sides(a, b)
    throughput = of(found, "throughput")
    assert throughput.finding == "same"
    assert throughput.within is not None
    assert 0 < throughput.within < 0.05
    assert throughput.sentence.startswith("throughput: no difference larger than ")
    assert "no difference larger than" in found.sentence


def test_what_cannot_be_told_is_not_told() -> None:
    rng = np.random.default_rng(6)
    found = compare_sides(
        *(make_side(n, np.ones(3), noise=0.2, requests=400, rng=rng) for n in ("old", "new"))
    )
    median = of(found, "p50")
    assert median.finding == "undecided"
    assert "undecided" in median.sentence
    assert "more rounds may decide it" in found.sentence


def test_two_runs_have_no_rounds_in_common() -> None:
    """How far runs of the same server lie apart is not known from two of them."""
    paired, apart = two(1.5), two(1.5, run="another")
    assert not apart.paired
    for metric in ("throughput", "p50", "p99", "errors"):
        known, unknown = (of(c, metric) for c in (paired, apart))
        assert known.difference.value == pytest.approx(unknown.difference.value)
        assert (unknown.finding, unknown.difference.low, unknown.ratio.low) == ("undecided", None, None)
    assert apart.sentence == (
        "new against old: undecided, as one run on each side does not show how much runs of the same server "
        "differ."
    )
    assert apart.cliffs_delta.low is None


def test_one_round_gives_figures_and_no_interval() -> None:
    found = two(1.5, rounds=1)
    assert "needs at least 3 rounds, preferably 5" in found.sentence
    for d in found.differences:
        assert (d.ratio.low, d.difference.low, d.finding) == (None, None, "undecided")
    assert of(found, "p50").ratio.value == pytest.approx(1.5, rel=0.1)
    assert found.cliffs_delta.low is None
    assert set(found.shift.low_s) == {None}
    assert found.shift.difference_s[4] is not None


def test_only_rounds_that_both_have_are_paired() -> None:
    rng = np.random.default_rng(1)
    a = make_side("a", np.ones(5), rng=rng)
    b = make_side("b", np.ones(5), rng=rng)
    lacking = replace(b, rounds=b.rounds[1:4])
    ours, theirs = pair(a, lacking)
    assert [r.number for r in ours.rounds] == [r.number for r in theirs.rounds] == [2, 3, 4]
    assert compare_sides(ours, theirs).rounds == (3, 3)
    assert compare_sides(a, replace(b, rounds=[], run="another")).rounds == (5, 0)
    nothing = compare_sides(*pair(a, replace(b, rounds=[])))
    assert nothing.rounds == (0, 0)
    assert "no round in common" in nothing.sentence
    assert all(d.ratio.value is None for d in nothing.differences)


def test_all_figures_of_a_comparison_are_of_the_rounds_that_both_have() -> None:
    """Also of a quantile that is not compared, as too few requests lie beyond it."""
    rng = np.random.default_rng(1)
    a = make_side("a", np.array([1.0, 2.0, 3.0, 9.0, 1.0]), requests=300, rng=rng)
    b = make_side("b", np.ones(5), requests=300, rng=rng)
    ours, theirs = pair(a, replace(b, rounds=b.rounds[:3]))
    found, same = compare_sides(ours, theirs), compare_sides(side_of("a", list(a.rounds[:3])), theirs)
    assert (
        of(found, "p99").sentence
        == "p99 cannot be compared: too few requests: each side needs at least 20 beyond this quantile."
    )
    for metric in ("throughput", "p50", "p99"):
        assert of(found, metric).a.value == pytest.approx(of(same, metric).a.value)


def test_no_difference_is_given_from_a_figure_that_is_not() -> None:
    rng = np.random.default_rng(1)
    apart = make_side("a", np.array([1.0, 1.0, 30.0, 30.0]), requests=400, rng=rng)
    alike = make_side("b", np.ones(4), requests=400, rng=rng)
    lone = of(compare_sides(apart, alike), "p50")
    assert (lone.a.value, lone.difference.value, lone.ratio.value) == (None, None, None)
    assert "more than tenfold apart" in lone.sentence
    together = of(compare_sides(apart, replace(apart, label="c")), "p50")  # round by round they are alike
    assert (together.difference.value, together.ratio.value) == (None, pytest.approx(1.0))


def test_a_side_that_answered_nobody_is_compared_as_far_as_it_goes() -> None:
    rng = np.random.default_rng(1)
    a = make_side("a", np.ones(3), rng=rng)
    b = side_of("b", [Round(n, EMPTY, 0.0, 0, 0) for n in (1, 2, 3)])
    found = compare_sides(a, b)
    assert of(found, "throughput").finding == "less"
    assert of(found, "p50").sentence == "p50 cannot be compared: nothing was measured."
    assert found.cliffs_delta.value is None
    assert set(found.shift.difference_s) == {None}


def test_a_side_that_answers_where_the_other_answered_nobody_has_no_ratio() -> None:
    rng = np.random.default_rng(1)
    a = side_of("a", [Round(n, EMPTY, 0.0, 0, 0) for n in (1, 2, 3)])
    found = compare_sides(a, make_side("b", np.ones(3), rng=rng))
    throughput = of(found, "throughput")
    assert (throughput.finding, throughput.ratio.value) == ("more", None)
    assert throughput.sentence.startswith("throughput: higher on b: 0/s on a, ")
    assert found.sentence.startswith("b against a: throughput ")
    assert "/s instead of 0/s" in found.sentence


def test_two_sides_that_answered_nobody_cannot_be_compared() -> None:
    a, b = (side_of(name, [Round(n, EMPTY, 0.0, 0, 0) for n in (1, 2, 3)]) for name in ("a", "b"))
    found = compare_sides(a, b)
    assert of(found, "throughput").sentence == "throughput cannot be compared: it is 0 on both."
    assert "more rounds" not in found.sentence


def test_a_difference_in_an_invalid_figure_is_no_finding() -> None:
    """As where the generator was late at times, which spoils the p99 and nothing else."""
    rng = np.random.default_rng(3)
    a, b = (make_side(n, np.ones(5), scale=s, requests=3000, rng=rng) for n, s in (("a", 1.0), ("b", 1.5)))
    late = replace(b.summary, verdict=Verdict.SUSPECT, verdicts={"p99": Verdict.INVALID})
    found = compare_sides(a, replace(b, summary=late))
    assert of(found, "p99").finding == "more"
    assert of(found, "p99").sentence.startswith("the figure is invalid (p99: longer on b")
    assert found.sentence.endswith("; p99 must not be used (invalid).")
    assert "p99 +" not in found.sentence
    known = sum(d.p is not None for d in found.differences)
    assert by_chance([found]).startswith(f"Of {known - 1} rates and quantiles")


def test_runs_without_errors_do_not_vary_in_them() -> None:
    assert _half(np.zeros(3), np.zeros(3), 0.0, 0, 0.95) == 0.0


def test_errors_are_compared_in_points_and_none_is_bounded_by_the_number_of_requests() -> None:
    none = of(two(1.0), "errors")
    assert none.difference.value == 0
    assert none.difference.high == pytest.approx(1.959964**2 / (2000 + 1.959964**2))  # Newcombe
    assert none.sentence.startswith("errors: undecided, 0 % on old, 0 % on new")
    some = of(two(1.0, failed=40), "errors")
    assert some.finding == "more"
    assert some.difference.value == pytest.approx(40 / 440)
    assert some.sentence.startswith("errors: more on new: 0 % on old, 9.09 % on new, +9.1 points [")


def test_quantiles_with_few_requests_beyond_them_are_not_compared() -> None:
    rng = np.random.default_rng(2)
    found = compare_sides(*(make_side(n, np.ones(3), requests=100, rng=rng) for n in "ab"))
    assert of(found, "p99").ratio.value is None
    assert "cannot be compared" in of(found, "p99").sentence
    assert found.shift.p == SHIFT_LEVELS
    assert found.shift.difference_s[-1] is None  # 300 requests have no p99.9
    assert found.shift.difference_s[-2] is not None


def test_the_shift_function_shows_where_in_the_distribution_the_difference_lies() -> None:
    """Only the slowest fifth is slower."""
    rng = np.random.default_rng(4)
    sides = []
    for label, tail in (("a", 0.0), ("b", 0.02)):
        rounds = []
        for number in range(1, 7):
            times = np.exp(rng.normal(np.log(0.01), 0.1, 1500))
            times[:300] += tail
            rounds.append(Round(number, from_values(times.tolist()), 1e3, 1500, 0))
        sides.append(side_of(label, rounds))
    shift = compare_sides(*sides).shift
    at = dict(zip(shift.p, zip(shift.low_s, shift.high_s, strict=True), strict=True))
    low, high = at[0.5]
    assert low is not None
    assert high is not None
    assert low < 0.0005
    low, _ = at[0.95]
    assert low is not None
    assert low > 0.015


def test_bands_are_wider_than_intervals_of_one_quantile() -> None:
    found = two(1.2)
    median, shift = of(found, "p50").difference, found.shift
    at = shift.p.index(0.5)
    low, high = shift.low_s[at], shift.high_s[at]
    assert low is not None
    assert high is not None
    assert median.low is not None
    assert median.high is not None
    assert high - low > median.high - median.low


def test_no_comparison_is_dropped_however_many_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    made = {name: make_side(name, np.ones(3), requests=60, rng=rng) for name in "ab"}
    monkeypatch.setattr(pairs, "side", lambda _trials, _summary, name, _usual: made[name])
    keys = [(name, f"workload {number}") for number in range(40) for name in "ab"]
    summaries = {key: made[key[0]].summary for key in keys}
    found = pairs.with_the_first({key: [] for key in keys}, summaries, "ab", not_known)
    assert [(c.a, c.b) for c in found] == [("a", "b")] * 40


SOME = st.lists(st.integers(1, 20), min_size=1, max_size=30)


@given(SOME, SOME)
def test_cliffs_delta_is_the_rank_statistic(a: list[int], b: list[int]) -> None:
    found = cliffs_delta([from_values(a)], [from_values(b)], (NONE, NONE))
    u = float(stats.mannwhitneyu(b, a).statistic)
    assert found.value == pytest.approx(2 * u / (len(a) * len(b)) - 1)


def test_censored_times_count_only_where_the_order_is_sure() -> None:
    given_up = cliffs_delta([from_values([1, 2])], [from_values([], [1.5])], (NONE, NONE))
    assert given_up.value == pytest.approx(0.5)  # surely longer than 1, perhaps than 2
    both = cliffs_delta([from_values([], [1.0])], [from_values([], [9.0])], (NONE, NONE))
    assert both.value == 0


@pytest.mark.parametrize(
    ("delta", "word"), [(0.1, "negligible"), (-0.2, "small"), (0.4, "medium"), (-1.0, "large"), (None, "")]
)
def test_sizes_of_effects(delta: float | None, word: str) -> None:
    ends = (None, None) if delta is None else (delta - 0.01, delta + 0.01)
    assert size_of_effect(Estimate(delta, *ends, unit="")) == word


def test_the_same_sides_give_the_same_figures() -> None:
    assert two(1.1) == two(1.1)
    assert isinstance(side_of("a", []), Side)
