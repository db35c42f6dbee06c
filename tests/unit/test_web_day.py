"""A day of a run on its page: what is kept of it, and what a new tab gets, stays as large as in an hour."""

import pickle
from itertools import cycle, islice
from pathlib import Path

from jostle.live.column import MAX_COLUMNS
from jostle.live.trial import MAX_ROWS, RunningTrial
from jostle.record import TrialRecord
from jostle.web.drawn import drawn_columns
from support.pages import TRIALS
from support.synthetic import intervals, make_run

DAY_S, HOUR_S, INTERVAL_S = 86_400, 3_600, 10
NS = 1_000_000_000


def test_a_day_takes_no_more_than_an_hour(tmp_path: Path) -> None:
    trial = TRIALS["a stall"]
    run = make_run(tmp_path, [trial])
    (folder,) = (run / "trials").iterdir()
    running = RunningTrial(TrialRecord(folder))
    recorded = [*intervals(trial)][12:20]
    kept, sent = list[int](), list[int]()
    for number, interval in enumerate(islice(cycle(recorded), DAY_S // INTERVAL_S)):
        begin_ns = number * INTERVAL_S * NS
        running.add({**interval, "index": number, "start_ns": begin_ns, "end_ns": begin_ns + INTERVAL_S * NS})
        if (number + 1) * INTERVAL_S % HOUR_S == 0:
            state = running.state()
            assert state is not None
            sent.append(len(drawn_columns(state.columns)))
            kept.append(len(pickle.dumps((running.tally.counts(), running.spent_s, running._columns))))
    assert len(sent) == DAY_S // HOUR_S
    assert DAY_S // INTERVAL_S > 2 * MAX_ROWS > 2 * MAX_COLUMNS
    assert max(kept) > 100_000
    assert max(sent[12:]) < 1.2 * max(sent[:12])
    assert max(kept[12:]) < 1.2 * max(kept[:12])
