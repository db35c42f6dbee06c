"""Each probe against responses that are made up: what is decided, and what cannot be told and why."""

import os
import re
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import jsonschema
import pytest

from docs.explanation_schema import explanation_schema
from jostle.analysis.results import Estimate
from jostle.contestant import is_known
from jostle.errors import PlanError, UnknownName, UnreachableTarget
from jostle.explain.discipline.burst import Burst
from jostle.explain.discipline.fit import RepeatDifference
from jostle.explain.discipline.inference import Decision, Inference, Range
from jostle.explain.documents.document import explanation_document
from jostle.explain.finding import Finding, Topic, decided_finding
from jostle.explain.light import sent_late
from jostle.explain.probes.blocking import blocking, judge, measure, verdict
from jostle.explain.probes.cache import asked_anew
from jostle.explain.probes.discipline import discipline as told_discipline
from jostle.explain.probes.discipline import send_sized
from jostle.explain.probes.gone import PATIENCE, gone
from jostle.explain.probes.gone import verdict as verdict_of_gone
from jostle.explain.probes.keep_alive import between
from jostle.explain.probes.overload import queue_limit, recovery
from jostle.explain.probes.parallelism import fits, unlike
from jostle.explain.probes.rate_limit import bucket, rate_limit
from jostle.explain.probes.service import robust_spread
from jostle.explain.probes.slots import decide, send_bursts, slots
from jostle.explain.probes.warm_up import settled_after
from jostle.explain.reason import Reason
from jostle.explain.results import Explanation, InterferenceCell
from jostle.explain.run import target_of as process_target
from jostle.explain.send import LightStream, Response, as_burst
from jostle.explain.server.limits import GENTLE, THOROUGH, Budget
from jostle.explain.server.observe import Usage
from jostle.explain.server.routes import MAX_S, contract_routes
from jostle.explain.server.target import Route, check, intermediary
from jostle.explain.session import Baseline, Session
from jostle.explain.slow_responses.requests import Requests
from jostle.host.halts import Halt
from jostle.plan.servers.contestant import ContestantFile
from jostle.record.outcomes import Outcome
from jostle.report.document import figures_in
from jostle.report.export import html, md
from support.pictures import validated
from support.served import FAST, HALF, QUARTER, SLOW, WAIT, FakeSender, Server, explained, look_at, target_of


def response(due: float, took: float | None, status: int = 200, *, sent: float | None = None) -> Response:
    outcome = Outcome.OK if status == 200 else Outcome.WRONG_STATUS
    end = None if took is None else due + took
    return Response("fast", 0, due, due if sent is None else sent, end, end, outcome, status)


def of(explanation: Explanation, topic: Topic) -> Finding:
    finding = explanation.finding(topic)
    assert finding is not None, topic
    return finding


ALL_ROUTES = (FAST, SLOW, HALF, QUARTER, WAIT)


@pytest.fixture(scope="module")
def one_worker() -> Explanation:
    return explained(Server(), *ALL_ROUTES, limits=THOROUGH)


def test_one_worker_is_told_and_blocks(one_worker: Explanation) -> None:
    assert of(one_worker, Topic.DISCIPLINE).says == "One worker, first come, first served."
    assert of(one_worker, Topic.PARALLELISM).says == "1 request progresses at once."
    assert of(one_worker, Topic.BLOCKING).says.startswith("/slow holds up everything else for 40.")
    assert one_worker.paragraph.startswith("/slow holds up everything else for 40.")
    assert "One worker, first come, first served." in one_worker.paragraph


def test_waiting_side_by_side_is_told_from_computing_in_turn(one_worker: Explanation) -> None:
    by_route = {one.says.split(" ")[5]: one for one in one_worker.findings if "requests for" in one.says}
    assert by_route["/wait"].says.startswith("At least ")


def test_four_workers_are_counted() -> None:
    explanation = explained(Server(workers=4), *ALL_ROUTES, limits=THOROUGH)
    assert of(explanation, Topic.DISCIPLINE).says == "Four workers, first come, first served."
    at_once = of(explanation, Topic.PARALLELISM).figure("at once")
    assert at_once is not None
    assert (at_once.low, at_once.high) == (4, 4)


@dataclass
class Unsteady(Server):
    """On a machine that takes turns between two speeds, and changes after every burst."""

    factor: float = 1.0

    def demand(self, route: str) -> float:
        return super().demand(route) * (1.0 if route.startswith("/wait") else self.factor)

    def ends(self, jobs: Sequence[tuple[float, float]]) -> list[float]:
        ends = super().ends(jobs)
        if len(jobs) > 1:
            self.factor = 2.5 - self.factor
        return ends


@pytest.mark.parametrize(("shared", "words"), [(False, "first come, first served"), (True, "share")])
def test_a_machine_that_changes_its_speed_hides_no_discipline(
    shared: bool, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each burst is held against what a request takes just before it."""
    monkeypatch.setattr(Session, "contended", 0.0)
    explanation = explained(Unsteady(workers=2, shared=shared), FAST, SLOW, HALF, QUARTER, limits=THOROUGH)
    assert words in of(explanation, Topic.DISCIPLINE).says
    assert of(explanation, Topic.PARALLELISM).says == "2 requests progress at once."


def test_shared_cores_are_told_from_workers() -> None:
    explanation = explained(Server(workers=2, shared=True), *ALL_ROUTES, limits=THOROUGH)
    assert of(explanation, Topic.DISCIPLINE).says.startswith("Requests share two cores, ")
    assert "do not wait" in of(explanation, Topic.BLOCKING).says


def test_bursts_that_differ_by_themselves_count_nothing() -> None:
    assert not unlike({2: [1.0, 1.12], 4: [2.0, 2.05], 8: [4.1]})
    assert unlike({2: [1.0, 1.1], 64: [2.0, 2.7]})
    explanation = explained(Server(noise=0.3), *ALL_ROUTES, limits=THOROUGH)
    for topic in (Topic.DISCIPLINE, Topic.PARALLELISM):
        assert of(explanation, topic).reason is Reason.NOISY


def test_what_holds_up_others_for_a_part_of_its_time_progresses_in_no_whole_number() -> None:
    """Of 16 requests that compute for 60 ms and then wait for 40 the last one is answered after 1 s."""
    assert not fits({2: [1.6], 16: [9.97]}, Range(2, 2))
    assert fits({2: [1.0], 16: [8.1]}, Range(2, 2))
    assert fits({5: [3.05]}, Range(2, 2)), "as workers do that serve one after another"
    assert fits({16: [16.2]}, Range(1, 1))
    assert fits({16: [9.97]}, Range(1, 2))


def test_a_server_that_is_never_full_keeps_its_discipline_to_itself() -> None:
    explanation = explained(Server(workers=100), FAST, SLOW)
    assert of(explanation, Topic.DISCIPLINE).reason is Reason.NOT_SATURATED
    assert of(explanation, Topic.PARALLELISM).says == "At least 16 requests progress at once."
    assert "--thorough" in explanation.command


def test_routes_that_take_the_same_time_do_not_tell_who_is_served_when() -> None:
    server = Server(demands={"/fast": 0.040, "/slow": 0.040})
    explanation = explained(server, FAST, SLOW)
    assert of(explanation, Topic.DISCIPLINE).reason is Reason.EQUAL_TIMES
    assert of(explanation, Topic.BLOCKING).reason is Reason.EQUAL_TIMES


def test_routes_that_are_too_short_get_no_figure() -> None:
    explanation = explained(Server(), FAST)
    for topic in (Topic.DISCIPLINE, Topic.PARALLELISM, Topic.OVERTAKING, Topic.SLOTS):
        assert of(explanation, topic).reason is Reason.TOO_FAST
        assert of(explanation, topic).option == "--slow PATH"
    assert explanation.command == "jostle explain http://127.0.0.1:1 --slow PATH --pid PID --overload"
    assert of(explanation, Topic.BLOCKING).reason is Reason.NO_ROUTE


def test_behind_a_proxy_nothing_is_said_about_the_server() -> None:
    explanation = explained(Server(), FAST, SLOW, via="1.1 varnish")
    for topic in (Topic.DISCIPLINE, Topic.PARALLELISM, Topic.INTERMEDIARY):
        finding = of(explanation, topic)
        assert finding.reason is Reason.INTERMEDIARY
        assert "via: 1.1 varnish" in finding.says


def test_a_gentle_look_stays_within_its_limits() -> None:
    said: list[tuple[str, bool]] = []
    explanation = explained(Server(), *ALL_ROUTES, tell=lambda *told: said.append(told))
    assert explanation.connections <= GENTLE.connections
    assert said[0] == ("gentle: at most 16 connections at once, 50 requests/s on average and 180 s", True)
    asked = [text for text, stays in said if not stays]
    found = [text for text, stays in said[1:] if stays]
    assert len(asked) > 8
    spent = re.compile(r"asking .+ \([\d a-z]+ of 3 min, [\d,]+ requests? so far\)")
    assert all(spent.fullmatch(text) for text in asked)
    notable = {one.says for one in explanation.findings if one.decided and one.notable}
    assert found
    assert {text.removeprefix("found so far: ") for text in found} <= notable
    assert of(explanation, Topic.QUEUE_LIMIT).reason is Reason.NOT_ASKED


def token_bucket(rate: float, burst: float) -> Callable[[float], bool]:
    """Whether a request at a time is refused."""
    tokens, last = burst, 0.0

    def refuses(at: float) -> bool:
        nonlocal tokens, last
        tokens, last = min(burst, tokens + rate * max(0.0, at - last)), at
        if tokens < 1:
            return True
        tokens -= 1
        return False

    return refuses


def session_of(sender: Any = None, **more: Any) -> Session:
    budget = Budget(THOROUGH, now=lambda: 0.0)
    return Session(
        target_of(FAST, SLOW), sender or FakeSender(Server(), budget), budget, lambda _: None, **more
    )


def test_where_nothing_was_overloaded_nothing_is_said_of_a_recovery() -> None:
    session = session_of(overload=True, parallelism=1.0)
    session.alone = {SLOW.name: Baseline(SLOW, 0.300, 0.01)}
    assert queue_limit(session).reason is recovery(session).reason is Reason.TOO_SLOW
    session.sender.timeout_s = 1.0  # 40 requests of 40 ms would take longer than that
    session.alone = {SLOW.name: Baseline(SLOW, 0.040, 0.01)}
    assert queue_limit(session).reason is Reason.TOO_SLOW


def test_without_a_route_that_takes_long_enough_no_sized_bursts_are_sent() -> None:
    session = session_of()
    session.alone = {FAST.name: Baseline(FAST, 0.0001, 0.01)}
    send_sized(session)
    assert session.budget.requests == 0


def test_a_stream_that_was_ended_early_decides_nothing() -> None:
    session = session_of(parallelism=1.0)
    session.alone = {FAST.name: Baseline(FAST, 0.001, 0.01), SLOW.name: Baseline(SLOW, 0.040, 0.01)}
    session.slots_of = {SLOW.name: Decision(Range(1, 1))}
    measure(session)
    session.sender.stopped = True
    (finding,) = blocking(session)
    assert finding.reason is Reason.REFUSED
    assert "more requests were answered at once than may be sent" in finding.says


def beside_clients(clients: int, median_s: float, mean_s: float, error_s: float) -> Session:
    """Where a request of 1 ms takes this beside so many for the slow route, which takes 40 ms."""
    session = session_of()
    session.alone = {FAST.name: Baseline(FAST, 0.001, 0.01), SLOW.name: Baseline(SLOW, 0.040, 0.01)}
    session.interference = [
        InterferenceCell(FAST.name, "", 0, 150, 0.001, 0.0012, 0.001, 0.00002),
        InterferenceCell(FAST.name, SLOW.name, clients, 150, median_s, 0.040, mean_s, error_s),
    ]
    return session


@pytest.mark.parametrize(
    ("computes", "cores", "says"),
    [
        (None, None, "/slow: one at a time. "),
        (0.1, 1, "/slow: one at a time. "),
        (0.98, 1, "/slow: as many at a time as there are cores for it (1), as it computes."),
        (0.98, None, "/slow: as many at a time as there are cores for it (1), as it computes."),
    ],
)
def test_what_computes_is_limited_by_its_cores_and_by_no_pool(
    computes: float | None, cores: int | None, says: str
) -> None:
    session = session_of()
    session.target = replace(session.target, cores=cores)
    session.alone = {
        FAST.name: Baseline(FAST, 0.0005, 0.01),
        SLOW.name: Baseline(SLOW, 0.040, 0.01, cpu_share=computes),
    }
    session.waits_beside = {SLOW.name: "free"}
    send_bursts(session)
    decide(session)
    (finding,) = slots(session)
    assert finding.says.startswith(says)
    assert (finding.hurts_s > 0) is ("as it computes" not in says)


def test_who_gives_way_after_a_slice_holds_up_nobody() -> None:
    session = beside_clients(1, 0.010, 0.010, 0.001)
    rows = [(FAST.name, 0, at / 10, at / 10 + 0.001) for at in range(100)]
    rows += [(SLOW.name, 1, at + 0.04, at + 0.08) for at in range(10)]
    rows += [(FAST.name, 2, at + 0.05, at + 0.0801) for at in range(10)]
    session.requests = Requests.of(rows)
    judge(session)
    (finding,) = blocking(session)
    assert finding.says.startswith("/slow holds up everything else for 40.0")
    session.alone[SLOW.name] = replace(session.alone[SLOW.name], cpu_share=0.97)
    (finding,) = blocking(session)
    assert "while it computes: one thread serves all routes" in finding.says, "no slice is as long"
    session.overtaking = True
    (finding,) = blocking(session)
    assert "holds up" not in finding.says
    session.overtaking, session.alone[SLOW.name] = None, Baseline(SLOW, 0.009, 0.01, cpu_share=0.97)
    (finding,) = blocking(session)
    assert finding.says.startswith("/slow holds up everything else for 9.00 ms while it computes.")


def test_who_holds_up_others_for_a_part_of_its_time_is_told_with_that_part() -> None:
    session = beside_clients(1, 0.010, 0.010, 0.001)
    rows = [(FAST.name, 0, at / 10, at / 10 + 0.001) for at in range(100)]
    rows += [(SLOW.name, 1, at + 0.04, at + 0.08) for at in range(10)]
    rows += [(FAST.name, 2, at + 0.045, at + 0.0641) for at in range(10)]
    rows += [(FAST.name, 2, at + 0.07, at + 0.071) for at in range(10)]
    session.requests = Requests.of(rows)
    judge(session)
    (finding,) = blocking(session)
    assert finding.says.startswith(
        "/slow holds up everything else for 23.1 ms (21.1 to 25.1) of its 40.0 ms: "
    )
    assert "sent between 0 % and 57.7 % of the time of one for /slow" in finding.evidence[0]
    session.waits_beside = {SLOW.name: "free"}
    assert session.free_beside(SLOW.name) is False, "so its requests wait for no lock or pool of their own"


def test_beside_a_route_that_blocks_now_and_then_it_is_not_said_that_nobody_waits() -> None:
    session = beside_clients(4, 0.001, 0.0012, 0.0002)
    session.rare_blockers = (SLOW.name,)
    judge(session)
    (finding,) = blocking(session)
    assert finding.says == "Apart from its rare slow ones, requests for /slow keep nobody waiting."
    assert not finding.absent


def test_a_number_of_workers_is_told_only_if_it_was_counted() -> None:
    session = beside_clients(4, 0.010, 0.011, 0.001)
    judge(session)
    (finding,) = blocking(session)
    assert "at a time" not in finding.says, "four was the number of clients"
    session.slots_of = {SLOW.name: Decision(Range(4, 4))}
    judge(session)
    (finding,) = blocking(session)
    assert finding.says.startswith("Four at a time, whatever is asked for: ")
    at_once = finding.figure("at once")
    assert at_once is not None
    assert at_once.value == 4


def test_what_computes_is_not_said_to_be_served_one_at_a_time_if_it_may_give_way() -> None:
    session = beside_clients(1, 0.020, 0.020, 0.002)
    session.slots_of = {SLOW.name: Decision(Range(1, 1))}
    session.alone[SLOW.name] = replace(session.alone[SLOW.name], cpu_share=0.97)
    judge(session)
    (finding,) = blocking(session)
    assert finding.says.startswith("Short requests wait for a part of a long one: ")
    session.overtaking = False
    (finding,) = blocking(session)
    assert finding.says.startswith("One at a time, whatever is asked for: ")


def test_a_few_that_take_much_longer_do_not_show_that_nobody_waits() -> None:
    session = beside_clients(4, 0.001, 0.0142, 0.0136)
    judge(session)
    assert session.waits_beside == {SLOW.name: "free"}, "most do not"
    (finding,) = blocking(session)
    assert not finding.decided
    assert finding.reason is Reason.NOISY
    session = beside_clients(4, 0.001, 0.0012, 0.0002)
    judge(session)
    (finding,) = blocking(session)
    assert finding.absent == "short requests that wait for long ones"


def test_a_rate_limit_is_told_by_its_bucket() -> None:
    refuses = token_bucket(20, 10)
    found_bucket = bucket([response(i / 50, 0.001, 429 if refuses(i / 50) else 200) for i in range(500)])
    assert found_bucket is not None
    rate, burst = found_bucket
    assert rate == pytest.approx(20, rel=0.05)
    assert burst == pytest.approx(10, abs=2)
    assert bucket([response(i / 50, 0.001) for i in range(50)]) is None


def test_who_refused_bursts_is_asked_at_the_highest_rate_allowed() -> None:
    budget = Budget(THOROUGH, now=lambda: 0.0)
    server = Server(refuses=token_bucket(100, 20))
    session = Session(target_of(FAST), FakeSender(server, budget), budget, lambda _: None)
    session.light = LightStream([response(float(i), 0.001) for i in range(20)], [])
    assert rate_limit(session).says == "No rate limit up to 1.05/s."
    session.refusals = 7
    finding = rate_limit(session)
    rate, burst = finding.figure("rate"), finding.figure("burst")
    assert rate is not None
    assert burst is not None
    assert rate.value == pytest.approx(100, rel=0.02)
    assert burst.value == pytest.approx(20, abs=1.5)
    assert finding.says.endswith("at once, and refuses the rest with 429.")


def test_a_server_that_refuses_what_bursts_ask_is_not_taken_for_full() -> None:
    explanation = explained(Server(refuses=lambda at: at > 1.0), FAST, SLOW)
    assert (
        not of(explanation, Topic.RATE_LIMIT).decided
        or "limits the rate" in of(explanation, Topic.RATE_LIMIT).says
    )


def test_pauses_are_told_with_period_and_length() -> None:
    pauses = [(begin, 0.1) for begin in range(2, 40, 2)]
    explanation = explained(Server(pauses=pauses), FAST)
    finding = of(explanation, Topic.PAUSES)
    every, longest = finding.figure("every"), finding.figure("longest")
    assert every is not None
    assert longest is not None
    assert every.value == pytest.approx(2.0, rel=0.01)
    assert longest.value == pytest.approx(0.1, rel=0.2)
    assert explanation.paragraph.startswith("Every 2.00 s (")


def test_without_pauses_it_says_how_short_one_may_have_been_missed() -> None:
    finding = of(explained(Server(), FAST), Topic.PAUSES)
    assert finding.absent.startswith("pauses of ")
    assert "in 95 cases of 100" in finding.evidence[0]


def test_what_the_generator_sent_late_is_not_the_server_s_pause() -> None:
    fine = [response(i * 0.1, 0.001) for i in range(10)]
    late = [response(1.0, 0.051, sent=1.05)]
    behind = [response(2.0, 0.1), response(2.05, 0.051, sent=2.1)]
    assert sent_late(fine) == []
    assert sent_late([*fine, *late]) == [Halt(1.0, 1.05)]
    assert sent_late(behind) == [], "its connection was taken"


def test_40_ms_between_head_and_body_are_named() -> None:
    slow_body = Server(delay_s=0.041, demands={"/fast": 0.042})
    assert "Nagle" in of(explained(slow_body, FAST), Topic.DELAYED_BODY).says
    assert of(explained(Server(), FAST), Topic.DELAYED_BODY).says == "Head and body come together."


@pytest.mark.parametrize(
    ("times", "count"),
    [
        ([1.0] * 20, 0),
        ([5.0, 3.0, 2.0, *[1.0] * 20], 3),
        ([5.0, *[1.0] * 20], 1),
        ([1.0, 1.0, 9.0, *[1.0] * 20], 0),
    ],
)
def test_a_warm_up_ends_with_the_last_slow_request_in_a_row(times: list[float], count: int) -> None:
    assert settled_after(times) == count


def test_an_idle_limit_lies_between_two_pauses() -> None:
    assert between([(1, False), (2, False), (6, True), (8, True)]) == (2, 6)
    assert between([(1, False), (2, False)]) == (2, None)
    assert between([(1, True), (2, False)]) is None
    finding = of(explained(Server(idle_limit_s=5.0), FAST), Topic.KEEP_ALIVE)
    assert finding.says.startswith("An idle connection is closed between 4 and 6 s;")


@pytest.mark.parametrize(
    ("mean", "median", "p90", "clients", "at_once", "says"),
    [(0.5, 0.5, 0.9, 1, 1, "waits"), (0.01, 0.0, 0.02, 1, 1, "free"), (0.2, 0.2, 0.25, 1, 1, "partly"),
     (0.2, 0.2, 0.44, 4, 4, "waits"), (0.2, 0.2, 0.9, 1, 4, "partly"), (0.01, 0.0, 0.02, 4, 4, "free"),
     (0.1, 0.01, 0.1, 4, 4, "free")],
)  # fmt: skip
def test_whether_a_request_waits_is_judged_by_what_waiting_would_take(
    mean: float, median: float, p90: float, clients: int, at_once: float, says: str
) -> None:
    assert verdict(mean, median, p90, 1.0, clients, at_once) == says


def test_a_gentle_look_does_not_keep_a_fast_server_busy() -> None:
    server = Server(demands={"/fast": 0.0005, "/slow": 0.004})
    assert explained(server, FAST, SLOW).interference == [], "the light stream tells"
    assert of(explained(server, FAST, SLOW, limits=THOROUGH), Topic.BLOCKING).decided


def test_a_query_of_its_own_makes_a_question_new() -> None:
    assert asked_anew(FAST, 3).path == "/fast?jostle=3"
    assert asked_anew(HALF, 3).path == "/slow?half&jostle=3"


def test_the_spread_forgets_a_single_stall() -> None:
    assert robust_spread([1.0, 1.01, 0.99, 1.0, 50.0]) < 0.03


@pytest.mark.parametrize(
    ("outcome", "status", "what"),
    [(Outcome.OK, 200, ""), (Outcome.WRONG_STATUS, 503, "answered with 503"), (Outcome.RESET, 0, "reset"),
     (Outcome.CONNECT_REFUSED, 0, "refused"), (Outcome.RESPONSE_TIMEOUT, 0, "never answered")],
)  # fmt: skip
def test_the_fate_of_a_request_is_named(outcome: Outcome, status: int, what: str) -> None:
    assert replace(response(0, 1), outcome=outcome, status=status).fate == what


def test_a_burst_counts_from_its_first_sending_without_the_network() -> None:
    first = replace(response(0.0, 0.2), sent_s=0.1, connection=3)
    never = replace(response(0.0, None), sent_s=None, outcome=Outcome.NEVER_SENT)
    failed = replace(response(0.15, 0.01, 500), connection=4)
    burst = as_burst([first, never, failed], {"fast": 0.05}, delay_s=0.01)
    assert [job.at for job in burst.jobs] == pytest.approx([0.0, 0.05])
    assert [job.demand for job in burst.jobs] == pytest.approx([0.04, 0.04])
    assert [job.connection for job in burst.jobs] == [3, 4]
    assert burst.ends[0] == pytest.approx(0.09)
    assert burst.ends[1] is None


def test_a_redirect_and_an_error_are_refused_in_words() -> None:
    target = target_of(FAST)
    with pytest.raises(PlanError, match=r"redirected \(301\)") as moved:
        check(target, look_at(target, 301, location="/login"))
    assert "http://127.0.0.1:1/login" in moved.value.hint
    with pytest.raises(PlanError, match="answers 404"):
        check(target, look_at(target, 404))
    check(target, look_at(target))


def test_a_secret_of_a_route_stands_in_no_record() -> None:
    secret = Route("/fast?token=s3cret", "fast")
    server = Server(demands={secret.name: 0.0005})
    explanation = explained(server, secret)
    assert "s3cret" not in str(explanation)
    assert "GET /fast?token=(hidden) takes " in explanation.paragraph


def test_a_proxy_is_known_by_what_it_says() -> None:
    target = target_of(FAST)
    assert intermediary(look_at(target, server="cloudflare")) == "server: cloudflare"
    assert intermediary(look_at(target, server="nginx")) == ""


def test_a_contestant_is_told_from_an_address() -> None:
    assert is_known("node")
    assert is_known("reference-workers:workers=4")
    for address in ("localhost:8080/x", "http://node/", "127.0.0.1:1"):
        assert not is_known(address)


def test_the_long_route_of_a_contestant_takes_what_bursts_need() -> None:
    """A nanosecond a count, and half a millisecond besides."""

    def serve(route: Route, count: int) -> list[float]:
        return [0.0005 + int(route.path.split("/")[-1]) * 1e-9] * count

    file = ContestantFile.of({"start": {"command": ["x"]}}, "contestant.x")
    routes = contract_routes(file, serve)
    assert [route.role for route in routes] == ["fast", "slow", "slow", "slow", "slow", "wait"]
    assert MAX_S / 1.25 <= serve(routes[1], 1)[0] <= MAX_S * 1.25
    bare = ContestantFile.of({"start": {"command": ["x"]}, "absent": {"/": "a file"}}, "contestant.x")
    assert [route.path for route in contract_routes(bare, serve)] == ["/hello"]


def test_a_runtime_that_still_compiles_is_asked_for_longer_requests_until_its_times_stay() -> None:
    """The first forty requests take twenty times as long as later ones."""
    served = 0

    def serve(route: Route, count: int) -> list[float]:
        nonlocal served
        times = [int(route.path.split("/")[-1]) * (40e-9 if served + n < 40 else 2e-9) for n in range(count)]
        served += count
        return times

    file = ContestantFile.of({"start": {"command": ["x"]}}, "contestant.x")
    longest = contract_routes(file, serve)[1]
    assert MAX_S / 1.25 <= serve(longest, 1)[0] <= MAX_S * 1.25


def test_an_explanation_agrees_with_its_schema(one_worker: Explanation) -> None:
    schema = explanation_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator: Any = jsonschema.Draft202012Validator(schema)
    assert [error.message for error in validator.iter_errors(_plain(one_worker.as_json()))] == []
    assert list(validator.iter_errors({**_plain(one_worker.as_json()), "findings": [1]})) != []


def _plain(data: dict[str, Any]) -> dict[str, Any]:
    import json

    parsed: dict[str, Any] = json.loads(json.dumps(data))
    return parsed


def test_the_page_has_the_paragraph_the_findings_and_the_pictures(one_worker: Explanation) -> None:
    document = explanation_document(one_worker)
    drawn = {figure.key: picture for figure in figures_in(document.sections) if (picture := figure.draw())}
    assert {
        "burst-behind-plugs",
        "burst-sizes",
        "interference",
        "pauses",
    } <= {*drawn}
    assert sum(key.startswith("burst-equal") for key in drawn) == 4, "one for each route"
    for picture in drawn.values():
        validated(picture)
    page = html.render(document)
    assert one_worker.paragraph.split(".")[0] in page
    assert "What would help" in page
    assert "One worker" in md.render(document)


def test_the_package_is_the_function_that_users_call() -> None:
    import jostle

    assert callable(jostle.explain)
    with pytest.raises(UnknownName, match="nodee"):
        jostle.explain("nodee")
    with pytest.raises(PlanError, match="its contract names its routes"):
        jostle.explain("node", slow=["/x"])
    with pytest.raises(PlanError, match="node/slow/3: a contestant is explained without a path"):
        jostle.explain("node/slow/3")


def test_figures_of_findings_have_names() -> None:
    finding = decided_finding(Topic.PAUSES, "It pauses.", figures={"every so often": Estimate(1.0)})
    assert finding.figure("every so often") == Estimate(1.0)
    assert finding.figure("never") is None


@dataclass
class Watched(Server):
    """Computes `share` of the work for clients that have gone."""

    share: float = 1.0
    cpu_s: float = 0.0

    def given_up(self, route: str, count: int) -> None:
        done = PATIENCE * self.workers
        self.cpu_s += self.demands[route] * (done + self.share * (count - done))


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (1.0, "goes on working at requests whose clients have gone"),
        (0.0, "drops requests whose clients have gone"),
        (0.5, "Cannot tell, because it did 50 % of the work that was left"),
    ],
)
def test_work_for_clients_that_have_gone_is_told_from_the_server_s_cpu(share: float, words: str) -> None:
    server, budget = Watched(share=share), Budget(THOROUGH, now=lambda: 0.0)
    target = replace(target_of(FAST, SLOW), usage=lambda: Usage(server.cpu_s, 0.0))
    session = Session(target, FakeSender(server, budget), budget, lambda _: None, parallelism=1.0)
    session.alone = {SLOW.name: Baseline(SLOW, 0.040, 0.01, cpu_share=1.0)}
    finding = gone(session)
    assert words in finding.says.replace("\N{NO-BREAK SPACE}", " ")
    assert finding.decided == (share != 0.5)
    assert budget.requests == 38


def test_without_the_server_s_cpu_or_with_a_core_for_each_nothing_is_said_of_clients_that_have_gone(
    one_worker: Explanation,
) -> None:
    assert of(one_worker, Topic.GONE).reason is Reason.NOT_OURS
    slow = Baseline(SLOW, 0.040, 0.01, cpu_share=1.0)
    assert verdict_of_gone(slow, 38, at_once=12.0, cpu_s=1.5).reason is Reason.NOT_SATURATED


def test_the_process_of_a_running_server_is_watched_and_a_contestant_s_is_not_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        with process_target(url, pid=os.getpid()) as target:
            assert target.usage is not None
            assert target.usage().cpu_s > 0
            assert not target.started_here
        with process_target(url) as target:
            assert target.usage is None
        with (
            pytest.raises(UnreachableTarget, match="there is no process"),
            process_target(url, pid=2**22 + 1),
        ):
            pass
    with pytest.raises(PlanError, match="node is a contestant"), process_target("node", pid=1):
        pass


def test_on_a_machine_that_other_programs_use_an_unsteady_server_is_not_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Session, "contended", 0.9)
    busy = explained(Unsteady(workers=2), FAST, SLOW, HALF, QUARTER, limits=THOROUGH)
    assert of(busy, Topic.DISCIPLINE).reason is Reason.NOISY
    assert busy.family is None
    steady = explained(Server(workers=2), FAST, SLOW, HALF, QUARTER, limits=THOROUGH)
    assert "Two workers" in of(steady, Topic.DISCIPLINE).says


class NoBursts:
    """A session in which nothing was sent."""

    slow = None

    def observed(self, _probe: str) -> list[Burst]:
        return []


def undecided_with(reason: Reason, **seen: Any) -> str:
    nothing: Decision[bool] = Decision(reason=reason)
    inference = Inference(nothing, Decision(reason=reason), nothing, Decision(reason=reason), **seen)
    finding = told_discipline(cast("Session", NoBursts()), inference)
    assert not finding.decided
    return " ".join(finding.evidence)


def test_what_cannot_be_told_names_what_was_measured_and_what_would_tell() -> None:
    repeats = RepeatDifference(demand=0.005, low=0.012, high=0.031, bursts=3)
    noisy = undecided_with(Reason.NOISY, error=0.12, typical=0.14, unlike=repeats)
    assert "takes 5.00 ms by itself took 12.0 ms to 31.0 ms in 3 bursts that were alike" in noisy
    assert "routes that take longer than this difference of 19.0 ms would tell more" in noisy
    assert "off by 14 %; 10 % is the most" in noisy
    alike = undecided_with(Reason.AMBIGUOUS, error=0.02, typical=0.02, lead=4.0)
    assert "A lead of 10 would decide" in alike
