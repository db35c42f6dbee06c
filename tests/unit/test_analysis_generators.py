"""Several generators judged: shares lost or moved, accounts, who was busy, who saw something else."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from jostle.analysis.trials.data import TrialData
from jostle.analysis.validity.generator import (
    accounts_closed,
    all_bore_their_share,
    busiest,
    saw_the_same,
    started_together,
)
from jostle.record import FORMAT, RunWriter, TrialRecord
from jostle.record.layout import LedgerEntry, TallyEntry
from support.synthetic import histogram

SECOND = 10**9
HOSTS = ("10.0.0.11", "10.0.0.12", "10.0.0.13")


def facts(
    base: Path,
    *,
    service: Sequence[float] = (0.001, 0.001, 0.001),
    cpu: Sequence[float] = (0.1, 0.1, 0.1),
    starts: Sequence[int] = (0, 0, 0),
    lost: Sequence[Mapping[str, Any]] = (),
    accounts: Sequence[LedgerEntry] = (),
    responses: int = 300,
) -> TrialData:
    """A trial of ten seconds from three machines with one thread each."""
    trial = RunWriter.create(base, "generators", "", {}).trial(
        {
            "format": FORMAT,
            "number": 1,
            "contestant": "it",
            "workload": "w",
            "round": 1,
            "started_unix_ns": 0,
            "engine": {
                "duration_ns": 10 * SECOND,
                "workloads": [{"name": "w", "requests": [], "load": {"closed": {"clients": 3}}}],
            },
            "generators": [
                {"number": n + 1, "of": 3, "pid": 1, "host": host, "started_unix_ns": starts[n]}
                for n, host in enumerate(HOSTS)
            ],
        }
    )
    generators = [
        {"generator": n + 1, "open_files": 1, "loop_lag_max_us": 0, "sent": [responses], "service": view}
        for n, view in enumerate(histogram([s] * responses) for s in service)
    ]
    trial.write_interval(
        {
            "index": 0,
            "start_ns": 0,
            "end_ns": 10 * SECOND,
            "last": True,
            "series": [],
            "workloads": [],
            "threads": [{"cpu_ns": round(share * SECOND), "wall_ns": SECOND} for share in cpu],
            "generators": generators,
            "rows": None,
        }
    )
    trial.finish("ended", generators_lost=lost)
    if accounts:
        (trial.folder / "generators").mkdir()
        (trial.folder / "generators" / "accounts.json").write_text(json.dumps({"accounts": accounts}))
    return TrialData(TrialRecord(trial.folder))


def test_a_share_that_moved_is_missing_only_in_between(tmp_path: Path) -> None:
    gone = {"generator": 2, "of": 3, "at_ns": 4 * SECOND, "why": "generator 2 of 3 on 10.0.0.12 has died"}
    missing = all_bore_their_share(facts(tmp_path / "a", lost=[{**gone, "until_ns": None, "moved_to": ""}]))
    moved = {**gone, "until_ns": 5 * SECOND, "moved_to": "10.0.0.11"}
    between = all_bore_their_share(facts(tmp_path / "b", lost=[moved]))
    assert missing is not None
    assert between is not None
    assert missing.value == pytest.approx(0.2)
    assert between.value == pytest.approx(1 / 30)
    assert missing.verdict == "invalid"
    assert between.verdict == "suspect"
    assert between.message.endswith("from 4.00 s to 5.00 s, when 10.0.0.11 took over its share")


def account(generator: int, only_in_log: TallyEntry | None) -> LedgerEntry:
    return {
        "generator": generator,
        "host": HOSTS[generator - 1],
        "log": f"run-{generator}",
        "from_ns": 0,
        "copy": f"{generator}.frames",
        "streamed": {"intervals": 8, "sent": 100, "until_ns": 8 * SECOND},
        "only_in_log": only_in_log,
        "whole": only_in_log is not None,
        "why": "",
    }


def test_requests_in_a_log_only_are_told(tmp_path: Path) -> None:
    closed = account(1, {"intervals": 0, "sent": 0, "until_ns": 0})
    only = account(2, {"intervals": 2, "sent": 203, "until_ns": 8 * SECOND})
    away = account(3, None)
    assert accounts_closed(facts(tmp_path / "none")) is None
    fine = accounts_closed(facts(tmp_path / "fine", accounts=[closed]))
    told = accounts_closed(facts(tmp_path / "told", accounts=[closed, only]))
    unknown = accounts_closed(facts(tmp_path / "away", accounts=[closed, only, away]))
    assert fine is not None
    assert told is not None
    assert unknown is not None
    assert (fine.verdict, told.verdict, unknown.verdict) == ("valid", "suspect", "suspect")
    assert "203 of generator 2 on 10.0.0.12 up to 8.00 s" in told.message
    assert "the spool of generator 3 on 10.0.0.13 was not fetched" in unknown.message
    assert "jostle collect RUN" in unknown.remedy


def test_one_that_sees_something_else_is_named(tmp_path: Path) -> None:
    same = saw_the_same(facts(tmp_path / "same", service=(0.0010, 0.0011, 0.0010)))
    far = saw_the_same(facts(tmp_path / "far", service=(0.001, 0.001, 0.004)))
    assert same is not None
    assert far is not None
    assert (same.verdict, far.verdict) == ("valid", "suspect")
    assert far.message.startswith(
        "generator 3 of 3 on 10.0.0.13 saw a median service time of 4.00 ms, the others 1.00"
    )
    tiny = saw_the_same(facts(tmp_path / "tiny", service=(0.00002, 0.00002, 0.00009)))
    assert tiny is not None
    assert tiny.verdict == "valid", "less than can be seen between machines"
    assert saw_the_same(facts(tmp_path / "few", service=(0.001, 0.001, 0.004), responses=20)) is None


def test_the_busiest_and_the_late_one_are_named(tmp_path: Path) -> None:
    assert busiest(facts(tmp_path / "busy", cpu=(0.1, 0.97, 0.2))) == "generator 2 of 3 on 10.0.0.12"
    late = started_together(facts(tmp_path / "late", starts=(0, 0, 6_000_000)))
    assert late is not None
    assert late.verdict == "suspect"
