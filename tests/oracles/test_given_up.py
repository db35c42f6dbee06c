"""Times of which many were given up, think times that chance draws, and throughputs of few requests."""

import math
from pathlib import Path

import numpy as np
import pytest

from jostle.analysis import metrics
from jostle.analysis.stats.kaplan_meier import restricted_mean
from jostle.analysis.stats.over_rounds import AtLeast, round_quantile
from jostle.analysis.stats.quantile_ci import quantile_estimate
from jostle.analysis.stats.sample import from_values
from jostle.analysis.trials.data import TrialData
from jostle.analysis.validity.checks import judge_data
from jostle.record import RunRecord
from support.synthetic import Request, Trial, closed, make_run


def test_a_handful_among_many_that_were_given_up_have_no_p99() -> None:
    """Six responses, 900 given up before: the last response was taken for the p99, with an interval of width
    0."""
    sample = from_values([0.01, 0.02, 0.03, 1.0, 5.0, 10.0], [0.5] * 900)
    found = quantile_estimate(sample, 0.99)
    assert found.bound == "≥"
    assert found.value == 0.5
    assert found.high is None
    assert round_quantile(sample, 0.99) == AtLeast(0.5)


def test_random_censoring_of_every_second_request_makes_no_false_p99() -> None:
    """It missed in 38 %."""
    rng = np.random.default_rng(1)
    truth, misses = math.log(100), 0
    for _ in range(100):
        times, ends = rng.exponential(1, 1000), rng.exponential(1, 1000)
        found = quantile_estimate(
            from_values(times[times <= ends].tolist(), ends[times > ends].tolist()), 0.99
        )
        if found.low is not None:
            misses += found.low > truth or (found.high is not None and found.high < truth)
    assert misses <= 12


def test_a_mean_with_timeouts_is_a_bound_and_not_that_of_the_lucky() -> None:
    """Exponential of 2 s, timeout 3 s: of those answered 1.14 s; as far as 3 s go, 2 (1 - e^-1.5) = 1.55
    s."""
    rng = np.random.default_rng(2)
    times = rng.exponential(2, 20_000)
    sample = from_values(times[times < 3].tolist(), [3.0] * int((times >= 3).sum()))
    assert restricted_mean(sample) == pytest.approx(2 * (1 - math.exp(-1.5)), rel=0.02)
    assert isinstance(metrics.TIME_METRICS["mean"](sample), AtLeast)
    assert metrics.TIME_METRICS["mean"](from_values([1.0, 3.0])) == 2


def test_a_request_that_the_end_cut_off_among_shorter_ones_leaves_the_mean_known() -> None:
    answered = np.random.default_rng(3).exponential(0.01, 2_000)
    sample = from_values(answered.tolist(), [0.004])
    mean = metrics.TIME_METRICS["mean"](sample)
    assert not isinstance(mean, AtLeast)
    assert mean == pytest.approx(float(answered.mean()), rel=0.002)
    late = metrics.TIME_METRICS["mean"](from_values(answered.tolist(), [10.0]))
    assert isinstance(late, AtLeast)


def trial_of(tmp_path: Path, trial: Trial) -> TrialData:
    (found,) = RunRecord.open(make_run(tmp_path, [trial])).trials
    return TrialData(found)


@pytest.mark.parametrize("responses", [1, 3, 10])
def test_few_requests_have_their_whole_throughput(tmp_path: Path, responses: int) -> None:
    """Responses of 1 s, and half of one more: one response in 1.5 s is 1/s, and not 0.67."""
    seconds = responses + 0.5
    data = trial_of(tmp_path, Trial("a", "w", 1, closed(lambda _: 1.0, seconds), seconds, interval=0.5))
    assert data.throughput == pytest.approx(1.0, rel=0.01)


def test_a_blocked_server_has_no_more_throughput_for_what_the_end_cuts_off(tmp_path: Path) -> None:
    requests = closed(lambda _: 0.1, 5.0, blocked=[(0.25, 60.0)])
    assert trial_of(tmp_path, Trial("a", "w", 1, requests, 5.0)).throughput == pytest.approx(2 / 5.0)


def test_exponential_think_times_do_not_break_the_interactive_law(tmp_path: Path) -> None:
    """One client, 300 requests: 73 % of sound trials were suspect."""
    suspect = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        now, requests = 0.0, []
        while now < 33.0:
            requests.append(Request(now, now, now + 0.01))
            now += 0.01 + float(rng.exponential(0.1))
        requests = [r for r in requests if r.end <= 33.0]
        load = {"closed": {"clients": 1, "think": {"exponential": {"mean_ns": 100_000_000}}}}
        trial = Trial("a", "w", 1, requests, 33.0, interval=1.0, load=load)
        checks = judge_data(trial_of(tmp_path / str(seed), trial)).checks
        (law,) = [check for check in checks if check.name == "interactive law"]
        suspect += law.verdict != "valid"
    assert suspect <= 2
