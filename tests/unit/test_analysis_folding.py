"""What is folded as it is read is what would be found if all of it were kept."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from jostle.analysis.results import Phase
from jostle.analysis.stats.sample import from_histograms, pool, quantile_of
from jostle.analysis.trials.data import TrialData
from jostle.analysis.trials.streaming import fold
from jostle.record import TrialRecord
from support.judging import recorded
from support.synthetic import Request, Trial, back_to_back, closed, lognormal


def test_sums_and_figures_are_those_of_all_histograms_together(tmp_path: Path) -> None:
    requests = [r for r in closed(lognormal(0.002, 0.4), 6.0, seed=3) if not 2 < r.end <= 3]
    trial = recorded(tmp_path, Trial("a", "w", 1, requests, 6.0))
    kept = [None if h is None else from_histograms([h]) for h in trial.interval_histograms("response")]
    assert [sample is None for sample in kept] == [False, False, True, False, False, False]
    late = np.array([False, False, True, False, True, True])
    folded = fold(trial.interval_histograms("response"), [late], {"p99": lambda s: quantile_of(s, 0.99)})
    for found, expected in (
        (folded.whole, pool(s for s in kept if s is not None)),
        (
            folded.parts[0],
            pool(s for s, belongs in zip(kept, late, strict=True) if belongs and s is not None),
        ),
    ):
        for column in ("values_s", "middles_s", "events", "censored"):
            assert np.array_equal(getattr(found, column), getattr(expected, column))
    assert folded.figure("p99") == [None if s is None else quantile_of(s, 0.99) for s in kept]


def test_a_phase_that_ends_elsewhere_in_another_round_is_read_again(tmp_path: Path) -> None:
    steps = [{"name": n, "duration_ns": 3 * 10**9, "from": 1, "to": 1} for n in ("first", "second")]
    requests = [Request(t := k / 2, t, t + 0.1 * (k + 1)) for k in range(10)]
    load = {"closed": {"clients": 1, "phases": steps}}
    facts = TrialData(recorded(tmp_path, Trial("a", "w", 1, requests, 6.0, load=load)))
    first, second = facts.phases
    assert [facts.part_within("headers", phase).n for phase in (first, second)] == [5, 5]
    shorter = Phase(second.name, second.start_s, 5.0)
    assert facts.part_within("headers", shorter).n == sum(3 < r.end <= 5 for r in requests)


def test_response_times_beside_a_slow_request_are_of_the_time_that_it_filled(tmp_path: Path) -> None:
    slow = [Request(1.0, 1.0, 3.0, workload=1)]
    requests = [Request(t, t, t + 0.1) for t in (0.2, 1.2, 1.5, 2.5, 3.5, 4.5)]
    trial = Trial("a", "w", 1, requests + slow, background={"closed": {"clients": 1}})
    (beside,) = TrialData(recorded(tmp_path, trial)).responses.parts
    assert beside.n == 3


def test_a_run_that_goes_on_while_it_is_read_is_read_up_to_one_interval(tmp_path: Path) -> None:
    whole = recorded(tmp_path, Trial("a", "w", 1, back_to_back(0.5, 5.0, workload=0))).folder
    growing = tmp_path / "growing"
    shutil.copytree(whole, growing)
    (growing / "outcome.json").unlink()
    lines = (whole / "intervals.ndjson").read_text().splitlines(keepends=True)
    (growing / "intervals.ndjson").write_text("".join(lines[:3]))
    facts = TrialData(TrialRecord(growing))
    assert facts.duration_s == pytest.approx(3.0)
    (growing / "intervals.ndjson").write_text("".join(lines))
    assert len(list(facts.trial.intervals)) == 3
    assert facts.response.n_events == facts.ok()
