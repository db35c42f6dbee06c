"""However many requests a trial has, its histograms are read as often as those of a few."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jostle.analysis.run import analyse
from jostle.analysis.stats.sample import from_histograms
from jostle.analysis.trials.data import TrialData
from jostle.histogram import Histogram
from jostle.record import RunRecord
from jostle.record import intervals as recorded_intervals
from jostle.record.hlog import HistogramEntry, read_entries
from support.several import as_journeys, as_mix, as_streams, run_of

FEW, MANY = 3, 12


@pytest.mark.parametrize("kind", [as_mix, as_journeys, as_streams])
def test_the_histograms_are_read_as_often_for_many_requests_as_for_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Callable[[dict[str, Any], int], None]
) -> None:
    read: list[Path] = []

    def noted(path: Path, wanted: Callable[..., bool]) -> Iterator[HistogramEntry]:
        read.append(path)
        return read_entries(path, wanted)

    monkeypatch.setattr(recorded_intervals, "read_entries", noted)

    def times_read(count: int) -> int:
        trial = run_of(tmp_path, count, kind)
        read.clear()
        result = analyse(RunRecord.open(trial.folder.parents[1]))
        shown = {"as_mix": result.requests, "as_journeys": result.journeys, "as_streams": result.streams}
        assert len(shown[kind.__name__]) == count
        return len(read)

    assert times_read(FEW) == times_read(MANY)


def test_times_of_one_request_are_those_of_its_merged_histogram(tmp_path: Path) -> None:
    trial = run_of(tmp_path, FEW, as_mix)
    data = TrialData(trial)
    for request in range(FEW):
        for measure in ("response", "censored", "failed"):
            whole = Histogram()
            for _, of, recorded in trial.histograms_by_request(measure, 0):
                if of == request:
                    whole.add(recorded)
            merged = from_histograms([whole])
            found = data.recorded_of(measure, request)
            for name in ("values_s", "middles_s", "events", "censored"):
                assert getattr(found, name).tolist() == getattr(merged, name).tolist()
        times = data.times_of("response", request)
        assert (times.n_events, int(times.censored.sum()), times.never) == (20, 10, 10)
    assert data.recorded_of("response", FEW).n == 0
