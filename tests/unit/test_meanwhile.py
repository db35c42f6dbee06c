"""What is seen while background requests run."""

from pathlib import Path

from jostle.analysis.trials.data import TrialData
from jostle.record import RunRecord
from support.synthetic import Request, Trial, closed, lognormal, make_run


def test_an_interval_is_filled_if_every_background_client_is_busy_in_it(tmp_path: Path) -> None:
    """Of two slow requests, one runs for two seconds and the other for four."""
    slow = [Request(0.0, 0.0, 2.0, workload=1), Request(0.0, 0.0, 4.0, workload=1)]
    requests = closed(lognormal(0.01, 0.1), 5.0) + slow
    trial = Trial("node", "beside", 1, requests, background={"closed": {"clients": 2}})
    (recorded,) = RunRecord.open(make_run(tmp_path, [trial])).trials
    assert TrialData(recorded).filled.tolist() == [True, True, False, False, False]
