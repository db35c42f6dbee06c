"""What others did to a closed loop is a part of its figures where it is bounded, and else a doubt."""

import re
from pathlib import Path
from typing import Any

import pytest

from jostle.analysis import metrics
from jostle.analysis.judge.few_rounds import judged
from jostle.analysis.stats.quantile_ci import CONFIDENCE
from jostle.analysis.summaries.usual import usual_in
from jostle.analysis.trials.data import TrialData
from jostle.analysis.trials.kept_waiting import KeptWaiting
from jostle.analysis.validity import generator_core, machine
from jostle.analysis.validity.figures import RATES
from jostle.record import RunRecord
from support.judging import POISSON
from support.synthetic import Trial, closed, lognormal, make_run, open_loop

SHARE = 0.3
NOTHING = KeptWaiting(0.0, 0.0)
TIMES = lognormal(0.004, 0.4)


@pytest.fixture
def rounds(tmp_path: Path) -> list[TrialData]:
    trials = [
        Trial("node", "fast", n, closed(TIMES, 5.0, clients=4, seed=n), load={"closed": {"clients": 4}})
        for n in (1, 2, 3)
    ]
    return [TrialData(one) for one in RunRecord.open(make_run(tmp_path, trials)).trials]


def kept(rounds: list[TrialData], waiting: KeptWaiting) -> list[TrialData]:
    for data in rounds:
        data.__dict__["kept_waiting"] = waiting
    return rounds


@pytest.mark.parametrize("waiting", [KeptWaiting(SHARE, 0.0), KeptWaiting(None, SHARE)])
def test_intervals_hold_what_the_figures_would_be_without_others(
    rounds: list[TrialData], waiting: KeptWaiting
) -> None:
    before = {
        name: metrics.estimate(name, kept(rounds, NOTHING)) for name in ("throughput", "mean", "p50", "p99")
    }
    after = {name: metrics.estimate(name, kept(rounds, waiting)) for name in before}
    assert after["throughput"].high == pytest.approx(before["throughput"].high / (1 - SHARE))
    assert after["throughput"].low == before["throughput"].low
    for name in ("mean", "p50"):
        assert after[name].low == pytest.approx(before[name].low * (1 - SHARE), rel=0.01)
    low, undisturbed = after["p99"].low, before["p99"].low
    assert low
    assert undisturbed
    assert low < (1 - SHARE) * undisturbed  # others come in bursts
    assert low > (after["p50"].low or 0.0)  # but quantiles stay in their order
    assert {name: one.value for name, one in after.items()} == {
        name: one.value for name, one in before.items()
    }


def test_so_does_that_by_which_a_single_round_is_judged(tmp_path: Path, rounds: list[TrialData]) -> None:
    (first, *_) = rounds
    usual = usual_in(RunRecord.open(next(tmp_path.iterdir())), {("node", "fast"): [first]})
    before = judged("throughput", kept([first], NOTHING), CONFIDENCE, usual).estimate
    after = judged("throughput", kept([first], KeptWaiting(SHARE, 0.0)), CONFIDENCE, usual).estimate
    assert before.high
    assert after.high == pytest.approx(before.high / (1 - SHARE))


def test_a_closed_loop_beside_others_is_told_of_them_and_not_doubted(
    monkeypatch: pytest.MonkeyPatch, rounds: list[TrialData]
) -> None:
    for check, share in (
        (machine.machine, "jostle.analysis.validity.machine.server_kept_waiting"),
        (generator_core.had_its_core, "jostle.analysis.validity.generator_core.generator_kept_waiting"),
    ):
        monkeypatch.setattr(share, lambda _: SHARE)
        found = check(rounds[0])
        assert found is not None
        assert (found.verdict, found.notable, found.again, found.affects) == ("valid", True, True, ())
        assert ", which may be up to 1." in found.message
        assert re.search(r" of p50 \(\d\.\d+ ms\), .* of p99 \(\d+\.\d+ ms\)", found.message)


def test_where_most_of_the_time_was_lost_all_is_in_doubt(
    monkeypatch: pytest.MonkeyPatch, rounds: list[TrialData]
) -> None:
    monkeypatch.setattr("jostle.analysis.validity.machine.server_kept_waiting", lambda _: 0.6)
    found = machine.machine(rounds[0])
    assert found is not None
    assert found.verdict == "suspect"
    assert {*RATES, "p50", "p99"} <= set(found.affects)
    undisturbed = metrics.estimate("p99", kept(rounds, NOTHING))
    assert metrics.estimate("p99", kept(rounds, KeptWaiting(0.6, 0.0))) == undisturbed


def test_a_time_of_which_hardly_anything_may_be_the_server_s_is_in_doubt(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One in 50 takes 200 times as long as the rest, which is little beside what others took."""
    rare: Any = lambda rng: 0.2 if rng.random() < 0.02 else 0.001  # noqa: E731
    trial = Trial("node", "fast", 1, closed(rare, 20.0), duration=20.0)
    data = TrialData(RunRecord.open(make_run(tmp_path, [trial])).trials[0])
    monkeypatch.setattr("jostle.analysis.validity.machine.server_kept_waiting", lambda _: 0.45)
    found = machine.machine(data)
    assert found is not None
    assert found.verdict == "suspect"
    assert {"p99", "service p99"} <= set(found.affects)
    assert not {"p50", "throughput", "mean"} & set(found.affects)


def test_requests_of_an_open_loop_wait_behind_those_that_wait(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trial = Trial("node", "fast", 1, open_loop(TIMES, 200.0, 5.0), load=POISSON)
    data = TrialData(RunRecord.open(make_run(tmp_path, [trial])).trials[0])
    monkeypatch.setattr("jostle.analysis.validity.machine.server_kept_waiting", lambda _: SHARE)
    found = machine.machine(data)
    assert found is not None
    assert (found.verdict, found.notable) == ("suspect", False)
    assert "p99" in found.affects
    before = metrics.estimate("p99", kept([data], NOTHING))
    assert metrics.estimate("p99", kept([data], KeptWaiting(SHARE, 0.0))) == before
