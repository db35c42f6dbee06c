"""Requests that were not sent: whose limit that was, the server's or the generator's."""

import json
from pathlib import Path
from typing import Any

import pytest

from jostle.analysis.run import judge
from jostle.record import TrialRecord
from support.judging import POISSON, STEADY, changed, check, judged, recorded
from support.synthetic import Request, Trial, open_loop


def waiting(limit: float) -> list[Request]:
    """A server that takes 50/s of 200/s on two connections: most requests wait, and some are never sent."""
    requests = []
    for i in range(1000):
        due, sent = i / 200, i / 50
        if sent < limit:
            requests.append(
                Request(due, sent, min(sent + 0.02, 5.0), "ok" if sent + 0.02 <= 5 else "unfinished")
            )
        else:
            requests.append(Request(due, None, 5.0, "never_sent"))
    return requests


def test_a_server_that_cannot_keep_up_is_not_the_generators_fault(tmp_path: Path) -> None:
    few = {"open": {**POISSON["open"], "max_connections": 1}}
    validity = judged(tmp_path, waiting(5.0), load=few)
    offered = check(validity, "offered load")
    assert (offered.verdict, validity.verdict) == ("suspect", "suspect")
    assert "overloaded" in offered.message
    assert check(validity, "lateness").verdict == "valid"


def test_clients_that_may_have_several_connections_are_not_all_busy_with_one_each(tmp_path: Path) -> None:
    few = {"open": {**POISSON["open"], "max_connections": 1}}
    trial = Trial("node", "fast", 1, waiting(5.0), load=few, open_connections=(1,) * 5)
    folder = recorded(tmp_path, trial).folder
    described = json.loads((folder / "trial.json").read_text())
    pages = {"name": "page", "weight": 1, "steps": [], "connections": 6}
    described["engine"]["workloads"][0]["journeys"] = [pages]
    (folder / "trial.json").write_text(json.dumps(described))
    assert "overloaded" not in check(judge(TrialRecord(folder)), "offered load").message


def test_requests_that_the_generator_did_not_send_make_the_run_invalid(tmp_path: Path) -> None:
    validity = judged(tmp_path, waiting(5.0), load=POISSON)
    assert check(validity, "offered load").verdict == "invalid"
    assert check(validity, "offered load").value == pytest.approx(0.25)


def test_requests_for_which_there_was_no_connection_are_not_the_generator_s(tmp_path: Path) -> None:
    requests = open_loop(STEADY, 100, 4.0)
    refused = [
        Request(r.intended, None, r.intended + 0.001, "connect_refused") if 1.0 < r.intended < 2.0 else r
        for r in requests
    ]
    validity = judged(tmp_path, refused, load=POISSON, duration=4.0)
    found = check(validity, "offered load")
    assert found.verdict == "valid"
    n = sum(r.sent is None for r in refused)
    assert found.message.endswith(f"; for {n} there was no connection")


@pytest.mark.parametrize("waits", [0, 50])
def test_where_requests_wait_for_streams_the_server_is_the_limit(tmp_path: Path, waits: int) -> None:
    sent = open_loop(STEADY, 100, 2.0)
    requests = sent + [Request(2.0 + i / 100, None, 4.0, "never_sent") for i in range(200)]
    trial = Trial("a", "w", 1, requests, load=POISSON, duration=4.0)

    def waited(interval: dict[str, Any]) -> None:
        interval["workloads"][0]["stream_waits"] = waits

    found = check(changed(tmp_path, trial, waited), "offered load")
    assert found.cause == ("server" if waits else "generator")
    assert ("all streams that it allows were waiting" in found.message) == bool(waits)
