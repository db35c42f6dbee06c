"""Each check: silent where all is well, loud where it is not, and fair to slow servers."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jostle.analysis.results import Validity
from jostle.analysis.run import judge
from jostle.analysis.trials.data import TrialData
from jostle.analysis.validity.limits import within_files, within_ports
from jostle.analysis.validity.remedies import remedy_for
from jostle.record import TrialRecord
from jostle.record.outcomes import ENDED_BY_STOP, Outcome
from support.judging import CONSTANT, POISSON, STEADY, changed, check, edited, judged, names, recorded
from support.synthetic import Request, Trial, back_to_back, closed, open_loop, starvation_trials


def test_sound_trials_are_valid(tmp_path: Path) -> None:
    for trial in starvation_trials(1):
        validity = judge(recorded(tmp_path, trial))
        assert validity.verdict == "valid", (trial.contestant, trial.workload, validity.reasons)
        assert validity.reasons == []


@pytest.mark.parametrize(("cpu", "verdict"), [(0.6, "valid"), (0.85, "suspect"), (0.97, "invalid")])
def test_generator_cpu(tmp_path: Path, cpu: float, verdict: str) -> None:
    validity = judged(tmp_path, closed(STEADY, 5.0), generator_cpu=cpu)
    found = check(validity, "generator CPU")
    assert (found.verdict, validity.verdict) == (verdict, verdict)
    assert found.value == pytest.approx(cpu)
    if verdict != "valid":
        assert "more threads" in found.remedy


def test_the_busiest_thread_counts(tmp_path: Path) -> None:
    def second_thread(interval: dict[str, Any]) -> None:
        interval["threads"].append({"cpu_ns": 990_000_000, "wall_ns": 1_000_000_000})

    validity = changed(tmp_path, Trial("a", "w", 1, closed(STEADY, 5.0), generator_cpu=0.1), second_thread)
    assert check(validity, "generator CPU").verdict == "invalid"


FAILING = [*closed(STEADY, 5.0), *(Request(t, None, t, "connect_failed") for t in (1.0, 2.0, 3.0))]


@pytest.mark.parametrize(
    ("requests", "held", "verdict"),
    [
        (closed(STEADY, 5.0), 9_000, None),
        (closed(STEADY, 5.0), 19_990, "valid"),
        (FAILING, 15_000, "valid"),
        (FAILING, 19_990, "suspect"),
    ],
)
def test_open_files_explain_failed_connects_where_they_ran_out(
    tmp_path: Path, requests: list[Request], held: int, verdict: str | None
) -> None:
    def fuller(interval: dict[str, Any]) -> None:
        interval["generators"] = [{"open_files": 30}, {"open_files": held}]

    validity = changed(tmp_path, Trial("a", "w", 1, requests), fuller)
    found = [c.verdict for c in validity.checks if c.name == "open files"]
    assert found == ([verdict] if verdict else [])


@pytest.mark.parametrize(
    ("reason", "name"),
    [("too many open files", "open files"), ("cannot assign requested address", "local ports")],
)
def test_the_kernel_says_what_the_generator_ran_out_of_whatever_its_limit_was(
    tmp_path: Path, reason: str, name: str
) -> None:
    """The limit was lowered meanwhile, or other programs have the ports: no server was away."""
    blocked = [r for r in closed(STEADY, 5.0) if not 2 <= r.intended < 4]
    failing = [Request(2 + n / 10, None, 2 + n / 10, "connect_failed") for n in range(20)]

    def told(interval: dict[str, Any]) -> None:
        interval["ports"].append({"from": "127.0.0.2", "to": "127.0.0.1:80", "held": 64})
        for series in interval["series"]:
            if failed := series["outcomes"].get("connect_failed"):
                series["failures"] = {"connect_failed": {reason: failed}}

    validity = changed(tmp_path, Trial("a", "w", 1, [*blocked, *failing], interval=0.25), told)
    found = check(validity, name)
    assert (found.verdict, found.value) == ("suspect", 20)
    assert f"20 connects failed for lack of {name}: the generator's limit" in found.message
    assert check(validity, "outage").verdict == "valid"


def test_local_ports_explain_failed_connects_where_they_ran_out(tmp_path: Path) -> None:
    def fuller(interval: dict[str, Any]) -> None:
        interval["ports"].append({"from": "127.0.0.2", "to": "127.0.0.1:80", "held": 28_232})

    found = check(changed(tmp_path, Trial("a", "w", 1, FAILING), fuller), "local ports")
    assert (found.verdict, found.value) == ("suspect", 1.0)
    assert "127.0.0.2 held 28,232 of 28,232 ports to 127.0.0.1:80" in found.message
    assert "source-addresses" in found.remedy
    assert "local ports" not in names(judged(tmp_path / "other", closed(STEADY, 5.0)))


def test_generators_on_other_machines_are_not_held_to_the_limits_of_the_driver(tmp_path: Path) -> None:
    """Ports of several machines are added up under one key: 32,000 of 28,232 ports is nobody's limit."""

    def fuller(interval: dict[str, Any]) -> None:
        interval["ports"].append({"from": "", "to": "127.0.0.1:80", "held": 32_000})
        interval["generators"] = [{"open_files": 19_990}]

    trial = edited(tmp_path, Trial("a", "w", 1, FAILING), fuller)
    described = json.loads((trial.folder / "trial.json").read_text())
    for hosts, expected in (([""], {"open files", "local ports"}), (["10.0.0.11", "10.0.0.12"], set())):
        described["generators"] = [
            {"number": n, "of": len(hosts), "pid": 1, "host": host, "started_unix_ns": 0}
            for n, host in enumerate(hosts, 1)
        ]
        (trial.folder / "trial.json").write_text(json.dumps(described))
        data = TrialData(TrialRecord(trial.folder))
        found = {c.name for c in (within_files(data), within_ports(data)) if c is not None}
        assert found == expected


def test_littles_law(tmp_path: Path) -> None:
    def lose_time(interval: dict[str, Any]) -> None:
        for series in interval["series"]:
            series["busy_sum_ns"] = round(series["busy_sum_ns"] * 0.97)

    trial = Trial("a", "w", 1, open_loop(STEADY, 200, 5.0), load=POISSON)
    validity = changed(tmp_path, trial, lose_time)
    assert check(validity, "Little's law").verdict == "suspect"
    assert check(validity, "Little's law").value == pytest.approx(0.03, abs=0.002)


def test_clients_that_neither_wait_nor_think(tmp_path: Path) -> None:
    """A generator that spends a tenth of each cycle on itself."""
    idle = []
    now = 0.0
    while now < 4.99:
        idle.append(Request(now, now, now + 0.009))
        now += 0.01
    assert check(judged(tmp_path, idle), "interactive law").value == pytest.approx(0.1, abs=0.01)
    assert check(judged(tmp_path, idle), "interactive law").verdict == "suspect"
    thinking = {"closed": {"clients": 1, "think": {"constant": {"ns": 1_000_000}}}}
    assert check(judged(tmp_path, idle, load=thinking), "interactive law").verdict == "valid"


def test_a_blocked_closed_client_is_a_finding(tmp_path: Path) -> None:
    """One request of 4.4 of 5 s, and one that never ended: nothing is wrong with the measurement."""
    background = {"closed": {"clients": 1, "requests": 1}}
    slow = back_to_back(4.4, 5.0, limit=1)
    for blocked in ([(0.0, 4.4)], [(0.0, 60.0)]):
        requests = closed(STEADY, 5.0, blocked=blocked) + slow
        validity = judged(tmp_path, requests, background=background)
        assert validity.verdict == "valid", validity.reasons


def test_nothing_answered_without_a_reason_is_suspect(tmp_path: Path) -> None:
    validity = judged(tmp_path, [Request(0.0, 0.0, 5.0, "unfinished")])
    assert validity.verdict == "suspect"
    assert check(validity, "responses").message == "none of 1 requests was answered as expected"


@pytest.mark.parametrize("kind", Outcome)
def test_every_failure_has_a_remedy_of_its_own_kind(tmp_path: Path, kind: Outcome) -> None:
    """What is to be done about a certificate is not in the server's log, nor done by a longer run."""
    if kind in ("ok", *ENDED_BY_STOP):
        return
    failed = [Request(i / 100, None, i / 100 + 0.001, kind) for i in range(100)]
    validity = judged(tmp_path, failed)
    errors, responses = (check(validity, name) for name in ("errors", "responses"))
    script = kind == Outcome.SCRIPT_FAILED
    why = "the script failed before its first one" if script else "no connection could be made"
    assert responses.message == f"no request was sent: {why}"
    assert errors.remedy == responses.remedy != ""
    assert ("--cacert" in errors.remedy) == (kind == "tls_failed")


def test_a_trial_of_one_request_is_as_planned(tmp_path: Path) -> None:
    one = {"closed": {"clients": 1, "requests": 1}}
    validity = judged(tmp_path, [Request(0.0, 0.0, 2.0)], load=one)
    assert validity.verdict == "valid"


def test_no_request_at_all_is_invalid(tmp_path: Path) -> None:
    assert judged(tmp_path, []).verdict == "invalid"


@pytest.mark.parametrize(
    "kind", ["wrong_status", "wrong_body", "reset", "connect_refused", "response_timeout"]
)
@pytest.mark.parametrize("failed", [1, 20, 500, 1250])
def test_what_a_server_does_badly_is_a_result_and_no_reason_for_doubt(
    tmp_path: Path, kind: Outcome, failed: int
) -> None:
    """Up to a half of 2,500 responses."""
    requests = [Request(i / 500, i / 500, i / 500 + 0.002) for i in range(2500)]
    every = len(requests) // failed
    requests = [replace(r, outcome=kind) if i % every == 0 else r for i, r in enumerate(requests)]
    validity = judged(tmp_path, requests, load=CONSTANT)
    errors = check(validity, "errors")
    assert (validity.verdict, validity.reasons) == ("valid", [])
    assert (errors.verdict, errors.notable, errors.cause) == ("valid", True, "server")
    assert errors.value == pytest.approx(failed / 2500)
    assert validity.verdict_of("p99") == "valid"


def test_failures_are_told_with_their_share_statuses_and_times(tmp_path: Path) -> None:
    requests = [Request(i / 500, i / 500, i / 500 + 0.002) for i in range(2500)]
    some = [replace(r, outcome="wrong_status") if 1000 <= i < 1050 else r for i, r in enumerate(requests)]
    found = check(judged(tmp_path, some, load=CONSTANT), "errors")
    assert found.message == "2 % failed: 50 × 503, from 2.00 s to 3.00 s, so p99 lies among them"


@pytest.mark.parametrize(("right", "verdict"), [(0, "invalid"), (100, "invalid"), (150, "valid")])
def test_almost_nothing_answered_as_expected_is_invalid(tmp_path: Path, right: int, verdict: str) -> None:
    requests = [
        Request(i / 500, i / 500, i / 500 + 0.002, "ok" if i * right % 2500 < right else "wrong_body")
        for i in range(2500)
    ]
    validity = judged(tmp_path, requests, load=CONSTANT)
    assert validity.verdict == verdict
    assert validity.verdict_of("errors") == "valid"
    assert (check(validity, "responses").remedy != "") == (verdict == "invalid")


def test_failures_of_the_background_are_told_and_doubted_where_it_was_another_load(tmp_path: Path) -> None:
    good = closed(STEADY, 5.0)

    def beside(failed: int) -> Validity:
        background = [Request(i / 20, i / 20, i / 20 + 0.01, workload=1) for i in range(90)]
        background = [
            replace(r, outcome="wrong_status") if i < failed else r for i, r in enumerate(background)
        ]
        return judged(tmp_path, good + background, background={"closed": {"clients": 1}})

    few, many, all_of_them = beside(1), beside(20), beside(90)
    assert [v.verdict for v in (few, many, all_of_them)] == ["valid", "suspect", "invalid"]
    assert check(few, "background").message == "1.11 % of the background requests failed: 1 × 503"
    assert check(few, "background").notable


def test_a_run_that_ended_before_most_responses_is_not_valid(tmp_path: Path) -> None:
    answered = [Request(0.0, 0.0, 1.5, client=i) for i in range(30)]
    waiting = [Request(0.0, 0.0, 5.0, "unfinished", client=i) for i in range(30, 100)]
    validity = judged(tmp_path, answered + waiting, load={"closed": {"clients": 100}})
    assert validity.verdict == "suspect"
    assert check(validity, "responses").message == (
        "70 % of the requests were neither answered nor failed when the trial ended"
    )


def test_shared_cores(tmp_path: Path) -> None:
    assert judged(tmp_path, closed(STEADY, 5.0), shared=True).verdict == "suspect"


def test_shared_cores_with_one_request_in_flight(tmp_path: Path) -> None:
    """The generator waits while the server works: what counts is what it used."""
    idle = judged(tmp_path, closed(STEADY, 5.0), shared=True, generator_cpu=0.01)
    assert check(idle, "cores").verdict == "valid"
    assert check(idle, "cores").value == pytest.approx(0.01)


def test_a_background_that_never_ran_makes_the_comparison_invalid(tmp_path: Path) -> None:
    validity = judged(tmp_path, closed(STEADY, 5.0), background={"closed": {"clients": 1}})
    assert check(validity, "background").verdict == "invalid"


def test_a_server_that_died(tmp_path: Path) -> None:
    validity = judged(
        tmp_path, closed(STEADY, 5.0), status="failed", why="node ended in the middle of the trial"
    )
    assert validity.verdict == "invalid"
    assert validity.reasons == ["the trial failed: node ended in the middle of the trial"]


def test_what_was_measured_before_a_cut_stands_and_is_not_held_against_the_laws(tmp_path: Path) -> None:
    record = recorded(tmp_path, Trial("a", "w", 1, closed(STEADY, 5.0), status=None))
    path = record.folder / "intervals.ndjson"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:3]))
    validity = judge(TrialRecord(record.folder))
    assert validity.verdict == "valid"
    assert check(validity, "end").message.startswith("cut short after 3.00 s of 5.00 s")
    assert "Little's law" not in names(validity)


def test_poisson_sends_are_checked_where_rows_tell(tmp_path: Path) -> None:
    poisson = open_loop(STEADY, 200, 5.0)
    assert "arrivals" not in names(judged(tmp_path, poisson, load=POISSON))
    assert check(judged(tmp_path, poisson, load=POISSON, rows=True), "arrivals").verdict == "valid"
    regular = [Request(i / 200, i / 200, i / 200 + 0.002) for i in range(1, 999)]
    assert check(judged(tmp_path, regular, load=POISSON, rows=True), "arrivals").verdict == "suspect"


def test_the_later_steps_of_journeys_are_no_poisson_process(tmp_path: Path) -> None:
    """A step follows the response to the one before, so the sends are bunched though no journey starts
    late."""
    first = open_loop(STEADY, 200, 5.0)
    steps = [*first, *(replace(r, intended=r.end, sent=r.end, end=r.end + 1e-3) for r in first)]
    assert check(judged(tmp_path, steps, load=POISSON, rows=True), "arrivals").verdict == "suspect"
    assert "arrivals" not in names(judged(tmp_path, steps, load=POISSON, rows=True, journeys=True))


def drifting(factor: float) -> list[Request]:
    """Response times that grow to `factor` times their size within 10 s."""
    rng = np.random.default_rng(1)
    requests, now = [], 0.0
    while now < 9.95:
        service = 0.002 * (1 + (factor - 1) * now / 10) * float(rng.lognormal(0, 0.1))
        requests.append(Request(now, now, now + service))
        now += service
    return requests


def test_a_run_that_never_settles(tmp_path: Path) -> None:
    steady = judged(tmp_path, drifting(1.0), duration=10.0, interval=0.1)
    assert check(steady, "steady state").verdict == "valid"
    drift = judged(tmp_path, drifting(2.0), duration=10.0, interval=0.1)
    assert check(drift, "steady state").verdict == "suspect"
    assert "second half differs" in check(drift, "steady state").message


def test_steady_state_is_not_asked_of_loads_that_change(tmp_path: Path) -> None:
    phases = {"closed": {"clients": 1, "phases": [{"name": "up", "duration_ns": 1, "from": 0, "to": 1}]}}
    validity = judged(tmp_path, drifting(2.0), duration=10.0, interval=0.1, load=phases)
    assert "steady state" not in names(validity)


def test_clock_resolution(tmp_path: Path) -> None:
    fast = [Request(i / 1000, i / 1000, i / 1000 + 5e-6) for i in range(4999)]
    assert check(judged(tmp_path, fast, load=POISSON), "clock resolution").verdict == "suspect"


def test_p999_is_announced_as_left_out(tmp_path: Path) -> None:
    says = check(judged(tmp_path, closed(STEADY, 5.0)), "responses").message
    assert "p99.9 is left out: it needs 2,995" in says


def test_think_times_of_every_kind(tmp_path: Path) -> None:
    kinds: list[tuple[Any, float]] = [
        ("none", 0),
        ({"constant": {"ns": 2_000_000}}, 0.002),
        ({"uniform": {"ns": 3_000_000, "spread": 0.1}}, 0.003),
        ({"exponential": {"mean_ns": 4_000_000}}, 0.004),
        ({"list": {"ns": [1_000_000, 3_000_000]}}, 0.002),
    ]
    for think, seconds in kinds:
        load = {"closed": {"clients": 1, "think": think}}
        assert TrialData(recorded(tmp_path, Trial("a", "w", 1, [], load=load))).think_s() == seconds


def test_why_handshakes_failed_is_told_and_bounded(tmp_path: Path) -> None:
    requests = [Request(i / 10, None, i / 10 + 0.01, "tls_failed") for i in range(100)]
    trial = Trial("node", "fast", 1, requests, 10.0)

    def why() -> Iterator[dict[str, int]]:
        for second in range(100):
            yield {"expired": 10} | {f"for {second * 20 + i}.example": 1 for i in range(20)}

    def fail(interval: dict[str, Any]) -> None:
        for series in interval["series"]:
            series["failures"] = {"tls_failed": next(reasons)}

    def fail_of_before(interval: dict[str, Any]) -> None:
        interval["tls_failures"] = next(reasons)
        for series in interval["series"]:
            series["wrong_statuses"] = {}

    for name, change in (("now", fail), ("before", fail_of_before)):
        reasons = why()
        errors = check(changed(tmp_path / name, trial, change), "errors").message
        assert "failed: 100 TLS failed (137 × other, 100 × expired, 1 × for 0.example, " in errors
        assert ", 60 more kinds), " in errors


def test_status_codes_are_those_of_records_of_before_as_well(tmp_path: Path) -> None:
    requests = [Request(i / 10, i / 10, i / 10 + 0.01, "wrong_status") for i in range(10)]
    trial = Trial("node", "fast", 1, requests, 1.0)

    def rewrite(interval: dict[str, Any]) -> None:
        for series in interval["series"]:
            series["wrong_statuses"] = series.pop("failures")["wrong_status"]

    now = judge(recorded(tmp_path / "now", trial))
    before = changed(tmp_path / "before", trial, rewrite)
    for validity in (now, before):
        assert ": 10 × 503, " in check(validity, "errors").message


def test_what_came_after_responses_and_addresses_that_were_passed_over_are_counted(tmp_path: Path) -> None:
    trial = Trial("node", "fast", 1, closed(STEADY, 2.0), 2.0)

    def add(interval: dict[str, Any]) -> None:
        interval["workloads"][0] |= {
            "excess": {"more": 2},
            "passed_over": {"[::1]:80: connection refused": 1},
            "resumed": 3,
        }

    record = edited(tmp_path, trial, add)
    validity = judge(record)
    framing, addresses = check(validity, "framing"), check(validity, "addresses")
    assert (framing.verdict, framing.value) == ("suspect", 4)
    assert framing.message == "bytes that belong to no response followed 4 responses (4 × more)"
    assert (addresses.verdict, addresses.value) == ("suspect", 2)
    assert not {"framing", "addresses"} & names(judge(recorded(tmp_path / "sound", trial)))
    data = TrialData(record)
    assert data.counts.excess[0] == {"more": 4}
    assert data.counts.passed_over[0] == {"[::1]:80: connection refused": 2}
    assert data.total("resumed") == 6


def test_lost_rows_and_threads_are_told(tmp_path: Path) -> None:
    trial = Trial("node", "fast", 1, closed(STEADY, 5.0))

    def lose_rows(interval: dict[str, Any]) -> None:
        interval["rows_lost"] = 2

    def lose_a_thread(interval: dict[str, Any]) -> None:
        interval["workers_lost"] = 1

    rows = check(changed(tmp_path / "rows", trial, lose_rows), "record")
    assert (rows.verdict, rows.value) == ("suspect", 10)
    threads = check(changed(tmp_path / "threads", trial, lose_a_thread), "record")
    assert (threads.verdict, threads.value) == ("invalid", 1)
    assert "record" not in names(judge(recorded(tmp_path / "sound", trial)))


def test_clients_that_backed_off_are_not_held_to_the_interactive_law(tmp_path: Path) -> None:
    def back_off(interval: dict[str, Any]) -> None:
        interval["workloads"][0]["backoffs"] = 1

    trial = Trial("node", "fast", 1, closed(STEADY, 5.0))
    assert "interactive law" not in names(changed(tmp_path, trial, back_off))


def with_generators(tmp_path: Path, starts: list[int], lost: list[dict[str, Any]]) -> Validity:
    """A sound trial of 5 s that several generators bore."""
    record = recorded(tmp_path, Trial("node", "fast", 1, closed(STEADY, 5.0)))
    generators = [
        {"number": n, "of": len(starts), "pid": 1, "started_unix_ns": at} for n, at in enumerate(starts, 1)
    ]
    for name, key, value in (
        ("trial.json", "generators", generators),
        ("outcome.json", "generators_lost", lost),
    ):
        path = record.folder / name
        path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
    return judge(TrialRecord(record.folder))


@pytest.mark.parametrize(
    ("at_s", "missing", "verdict"), [(4.9, 0.01, "suspect"), (4.0, 0.1, "invalid"), (0.0, 0.5, "invalid")]
)
def test_the_share_of_a_generator_that_died(
    tmp_path: Path, at_s: float, missing: float, verdict: str
) -> None:
    lost = {
        "generator": 2,
        "of": 2,
        "at_ns": round(at_s * 1e9),
        "why": "generator 2 of 2 was ended by SIGKILL",
    }
    found = with_generators(tmp_path, [0, 0], [lost])
    told = check(found, "generators")
    assert (told.verdict, told.value) == (verdict, pytest.approx(missing))
    assert "generator 2 of 2 was ended by SIGKILL" in told.message
    assert "Little's law" not in names(found)


def test_generators_that_did_not_start_together(tmp_path: Path) -> None:
    together = with_generators(tmp_path / "together", [0, 5_000_000], [])
    assert check(together, "start").verdict == check(together, "generators").verdict == "valid"
    assert check(with_generators(tmp_path / "apart", [0, 6_000_000], []), "start").verdict == "suspect"
    assert "start" not in names(with_generators(tmp_path / "alone", [0], []))


def test_an_outcome_of_another_version_has_no_remedy() -> None:
    assert remedy_for({"quic_failed": 5, Outcome.RESET: 1}) == ""
    assert remedy_for({"quic_failed": 1, Outcome.RESET: 5})
