"""Each probe against responses that are made up: what is decided, and what cannot be told and why."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import pytest

from jostle.explain.discipline.burst import Burst
from jostle.explain.discipline.fit import RepeatDifference
from jostle.explain.discipline.inference import Decision, Inference, Range
from jostle.explain.finding import Finding, Topic
from jostle.explain.light import light_stream, sent_late
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
from jostle.explain.probes.warm_up import settled_after
from jostle.explain.reason import Reason
from jostle.explain.results import Explanation
from jostle.explain.send import LightStream, Stream, as_burst
from jostle.explain.server.limits import GENTLE, THOROUGH
from jostle.explain.server.observe import Usage
from jostle.explain.server.routes import MAX_S, contract_routes
from jostle.explain.server.target import Route
from jostle.explain.session import Baseline, Session
from jostle.explain.slow_responses.rare import rare
from jostle.host.halts import Halt
from jostle.plan.servers.contestant import ContestantFile
from jostle.record.outcomes import Outcome
from support.served import (
    FAST,
    HALF,
    QUARTER,
    SLOW,
    WAIT,
    FakeSender,
    Server,
    explained,
    response,
    session_of,
)


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


def test_where_nothing_was_overloaded_nothing_is_said_of_a_recovery() -> None:
    session = session_of(Baseline(SLOW, 0.300, 0.01), overload=True, parallelism=1.0)
    assert queue_limit(session).reason is recovery(session).reason is Reason.TOO_SLOW
    session.sender.timeout_s = 1.0  # 40 requests of 40 ms would take longer than that
    session.alone = {SLOW.name: Baseline(SLOW, 0.040, 0.01)}
    assert queue_limit(session).reason is Reason.TOO_SLOW


def test_without_a_route_that_takes_long_enough_no_sized_bursts_are_sent() -> None:
    session = session_of(Baseline(FAST, 0.0001, 0.01))
    send_sized(session)
    assert session.budget.requests == 0


def test_a_rate_limit_is_told_by_its_bucket() -> None:
    refuses = token_bucket(20, 10)
    found_bucket = bucket([response(i / 50, 0.001, 429 if refuses(i / 50) else 200) for i in range(500)])
    assert found_bucket is not None
    rate, burst = found_bucket
    assert rate == pytest.approx(20, rel=0.05)
    assert burst == pytest.approx(10, abs=2)
    assert bucket([response(i / 50, 0.001) for i in range(50)]) is None


def test_who_refused_bursts_is_asked_at_the_highest_rate_allowed() -> None:
    session = session_of(server=Server(refuses=token_bucket(100, 20)))
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


@pytest.mark.parametrize("alone_s", [0.041, 0.0002])
def test_a_wait_for_acknowledgements_makes_no_rare_slow_response(alone_s: float) -> None:
    """Where hardly any were seen while one at a time was asked for, it may be the server's own work."""

    class Sometimes(FakeSender):
        def light(self, stream: Stream, pauses_s: Sequence[float]) -> LightStream:
            light = super().light(stream, pauses_s)
            for number, one in enumerate(light.responses):
                assert one.end_s is not None
                if number % 6 == 0:
                    light.responses[number] = replace(one, end_s=one.end_s + 0.041)
            return light

    session = session_of(Baseline(FAST, 0.001, 0.01))
    session.sender = Sometimes(Server(), session.budget)
    served = response(0.0, alone_s + 0.001)
    session.served = {FAST.name: [replace(served, headers_s=0.001)] * 20}
    light_stream(session)
    assert session.requests is not None
    found, _ = rare(session.requests)
    assert bool(found) == (alone_s < 0.041)


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


def test_a_gentle_look_does_not_keep_a_fast_server_busy() -> None:
    server = Server(demands={"/fast": 0.0005, "/slow": 0.004})
    assert explained(server, FAST, SLOW).interference == [], "the light stream tells"
    assert of(explained(server, FAST, SLOW, limits=THOROUGH), Topic.BLOCKING).decided


def test_a_query_of_its_own_makes_a_question_new() -> None:
    assert asked_anew(FAST, 3).path == "/fast?jostle=3"
    assert asked_anew(HALF, 3).path == "/slow?half&jostle=3"


def test_the_spread_forgets_a_single_stall() -> None:
    assert robust_spread([1.0, 1.01, 0.99, 1.0, 50.0]) < 0.03


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
    server = Watched(share=share)
    session = session_of(Baseline(SLOW, 0.040, 0.01, cpu_share=1.0), server=server, parallelism=1.0)
    session.target = replace(session.target, usage=lambda: Usage(server.cpu_s, 0.0))
    finding = gone(session)
    assert words in finding.says.replace("\N{NO-BREAK SPACE}", " ")
    assert finding.decided == (share != 0.5)
    assert session.budget.requests == 38


def test_without_the_server_s_cpu_or_with_a_core_for_each_nothing_is_said_of_clients_that_have_gone(
    one_worker: Explanation,
) -> None:
    assert of(one_worker, Topic.GONE).reason is Reason.NOT_OURS
    slow = Baseline(SLOW, 0.040, 0.01, cpu_share=1.0)
    assert verdict_of_gone(slow, 38, at_once=12.0, cpu_s=1.5).reason is Reason.NOT_SATURATED


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
