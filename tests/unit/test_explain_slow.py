"""Slow responses of calculated servers whose truth is known: whose they are, when they come, who waits."""

import random
import re

import numpy as np
import pytest

from jostle.analysis.results import Estimate
from jostle.explain.finding import Finding, Topic
from jostle.explain.probes.pauses import pauses
from jostle.explain.probes.rare import rare_responses, says
from jostle.explain.slow_responses.common import every_nth, in_common
from jostle.explain.slow_responses.in_flight import beside_one
from jostle.explain.slow_responses.machine import but_for, pressure_besides
from jostle.explain.slow_responses.rare import Rare, rare
from jostle.explain.slow_responses.requests import Requests, are_late
from jostle.explain.slow_responses.stalls import held_up, stalls
from jostle.host.halts import Halt
from support.light_streams import Asked, Loop, by_chance, cron, every

SECONDS = 54.0


def routes(**changed: Asked) -> dict[str, Asked]:
    """A quick route, one of 6.4 ms, one that waits for 30 ms, and one that computes for 80 ms."""
    usual = {
        "hello": Asked(35, 0.0003),
        "report": Asked(8, 0.0064),
        "orders": Asked(2.5, 0.0005, 0.030),
        "export": Asked(1, 0.080),
    }
    return {f"/{name}": asked for name, asked in {**usual, **changed}.items()}


def report(share: float, *, blocking: bool = True) -> Asked:
    return Asked(8, 0.0064, slow=by_chance(share), blocking=blocking)


def asked(loop: Loop, seconds: float = SECONDS) -> Requests:
    return loop.answers(seconds)


def only(found: list[Rare]) -> Rare:
    (one,) = found
    return one


@pytest.mark.parametrize("seed", range(1, 7))
@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_a_server_without_a_fault_has_none(seed: int, noise: float) -> None:
    """Neither a route that holds up all others for 80 ms nor the noise of a machine makes one."""
    requests = asked(Loop(routes(), noise_per_s=noise, seed=seed))
    found, left = rare(requests)
    assert found == []
    (finding,) = pauses(requests, left, 0.0)
    assert finding.hurts_s == 0


def test_a_long_run_may_have_thousands_of_slow_responses() -> None:
    often = Asked(60, 0.0004, slow=by_chance(0.1), blocking=False)
    one = only(rare(asked(Loop({"/hello": Asked(20, 0.0003), "/report": often}, seed=1), 300.0))[0])
    assert one.route == "/report"
    assert len(one.times_s) > 1_100
    assert one.period is None


@pytest.mark.parametrize("seed", range(1, 7))
@pytest.mark.parametrize(("share", "times"), [(0.05, 3), (0.02, 4)])
def test_one_in_twenty_or_fifty_that_blocks_is_found(share: float, times: float, seed: int) -> None:
    one = only(rare(asked(Loop(routes(report=report(share)), noise_per_s=0.3, seed=seed)))[0])
    assert one.route == "/report"
    assert one.others_wait is True
    assert one.share.value is not None
    assert one.share.value == pytest.approx(share, rel=times)
    assert (one.share.low or 0) <= share <= (one.share.high or 0) * 1.1
    assert one.slow_s.value == pytest.approx(0.0866, rel=0.02)
    assert one.usual_s == pytest.approx(0.0067, rel=0.05)
    assert (one.nth, one.period) == (None, None)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("waits_s", [0.005, 0.030])
def test_what_blocks_may_wait_for_something_else_before_or_after(
    waits_s: float, after: bool, seed: int
) -> None:
    blocks = Asked(6, 0.0006, waits_s, slow=by_chance(0.05), slow_s=0.05, after=after)
    one = only(rare(asked(Loop(routes(report=blocks), noise_per_s=0.3, seed=seed)))[0])
    assert one.route == "/report"
    assert one.others_wait is True


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_slow_requests_that_wait_let_nobody_wait(seed: int) -> None:
    one = only(rare(asked(Loop(routes(report=report(0.05, blocking=False)), seed=seed)))[0])
    assert one.others_wait is False
    assert "; other requests do not wait for them." in says(one)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_who_holds_a_lock_for_long_lets_only_its_own_route_wait(seed: int) -> None:
    chance, at, free, rows = random.Random(seed), 0.0, 0.0, []
    for number in range(1, 12 * 54):
        at += chance.expovariate(12)
        free = max(at, free) + (0.120 if number % 24 == 0 else 0.005)
        rows.append(("/order", number % 4, at, free))
    at = 0.0
    while (at := at + chance.expovariate(35)) < 54:
        rows.append(("/hello", 5, at, at + 0.0005))
    one = only(rare(Requests.of(rows))[0])
    assert (one.others_wait, one.same.wait, one.nth) == (False, True, 24)
    assert one.slow_s.value == pytest.approx(0.120, abs=0.01)
    assert ", and further requests for it wait meanwhile, those for other routes do not." in says(one)


@pytest.mark.parametrize("seed", range(1, 7))
@pytest.mark.parametrize("share", [0.005, 0.02])
def test_a_few_that_wait_for_long_are_no_pause_of_the_server(share: float, seed: int) -> None:
    """A dependency that does not answer: others go on meanwhile, however few those requests are."""
    times_out = Asked(12, 0.0005, 0.012, slow=by_chance(share), slow_s=1.0, blocking=False)
    loop = Loop({"/hello": Asked(35, 0.0003), "/price": times_out}, noise_per_s=0.3, seed=seed)
    requests = asked(loop)
    found, left = rare(requests)
    (finding,) = pauses(requests, left, 0.0)
    assert finding.hurts_s == 0, finding.says
    if share == 0.02:
        one = only(found)
        assert (one.route, one.others_wait) == ("/price", False)
        assert one.slow_s.value == pytest.approx(1.013, rel=0.02)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_twentieth_request_is_told_from_chance(seed: int) -> None:
    one = only(rare(asked(Loop(routes(report=Asked(8, 0.0064, slow=every(20))), seed=seed)))[0])
    assert one.nth == 20
    assert says(one).startswith("Every 20th response of /report (")


def test_every_nth_is_no_multiple_and_no_part_of_it() -> None:
    assert every_nth(np.arange(19, 400, 20), 400) == 20
    assert every_nth(np.arange(0, 400, 3), 400) == 3
    assert every_nth(np.array([3, 50, 51, 120, 260, 333]), 400) is None
    assert every_nth(np.array([5, 10]), 400) is None


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("jitter", [0.0, 0.05])
def test_a_job_beside_slow_requests_is_found_as_well(jitter: float, seed: int) -> None:
    still = cron(2.08, 0.080, SECONDS, jitter=jitter)
    requests = asked(Loop(routes(report=report(0.05)), pauses=still, noise_per_s=0.3, seed=seed))
    found, left = rare(requests)
    assert only(found).route == "/report"
    regular = [one for one in pauses(requests, left, 0.0) if one.figure("every") is not None]
    assert len(regular) == 1, [one.says for one in regular]
    assert value(regular[0], "every") == pytest.approx(2.08, rel=0.02)
    assert value(regular[0], "longest") == pytest.approx(0.080, rel=0.1)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_where_only_one_route_is_known_a_job_is_not_taken_for_the_route_s_own(seed: int) -> None:
    loop = Loop({"/mixed": Asked(8, 0.001, 0.030)}, pauses=cron(2.08, 0.080, SECONDS), seed=seed)
    found, left = rare(asked(loop))
    assert found == []
    assert len(left) > 5


def value(finding: Finding, name: str) -> float:
    figure = finding.figure(name)
    assert figure is not None
    assert figure.value is not None
    return figure.value


def test_irregular_pauses_are_told_as_such_on_a_quiet_machine_only() -> None:
    still = [(at, 0.090) for at in (3.1, 4.0, 11.7, 13.2, 25.9, 31.0, 44.4, 50.2)]
    requests = asked(Loop(routes(), pauses=still))
    _, left = rare(requests)
    (finding,) = pauses(requests, left, 0.0)
    assert re.match(r"The server stands still now and then, [789] times in 54 s, for \d+", finding.says)
    assert finding.says.endswith("; no period was found.")
    (undecided,) = pauses(requests, left, 0.5)
    assert not undecided.decided
    assert undecided.suspicion.startswith("The server may stand still now and then: ")


def test_stalls_as_long_as_what_jostle_sent_late_are_its_own() -> None:
    still = [(at, 0.090) for at in (3.1, 4.0, 11.7, 13.2, 25.9, 31.0, 44.4, 50.2)]
    requests = asked(Loop(routes(), pauses=still))
    _, left = rare(requests)
    short = [Halt(at + 0.5, at + 0.503) for at in range(54)]
    assert pauses(requests, left, 0.0, short)[0].hurts_s > 0, "what is late by 3 ms delays none by 90"
    (undecided,) = pauses(requests, left, 0.0, [Halt(at, at + 0.06) for at in (1.0, 20.0, 40.0)])
    assert not undecided.decided
    assert "3 requests were sent as late by jostle itself" in undecided.says


def test_stalls_during_which_the_machine_stood_still_are_not_the_server_s() -> None:
    still = [(at, 0.090) for at in (3.1, 4.0, 11.7, 13.2, 25.9, 31.0, 44.4, 50.2)]
    requests = asked(Loop({"/hello": Asked(35, 0.0003), "/orders": Asked(4, 0.0005, 0.030)}, pauses=still))
    those = stalls(requests)
    assert len(those) > 5
    halts = [Halt(at, at + length) for at, length in still]
    assert but_for(requests, those, halts) == []
    assert rare(requests, halts=halts) == ([], [])
    shorter = [Halt(at, at + 0.020) for at, _ in still]
    assert but_for(requests, those, shorter) == those, "most of each is not explained by it"
    assert but_for(requests, those, [*shorter, *shorter]) == those, "two cores that stand still do so once"


def test_who_waits_for_a_core_during_the_server_s_own_stalls_is_no_sign_of_a_busy_machine() -> None:
    requests = asked(Loop(routes(), pauses=cron(1.2, 0.060, SECONDS)))
    halts = [Halt(at, at + length) for at, length in cron(1.2, 0.060, SECONDS)]
    assert pressure_besides(0.06, requests, []) == pytest.approx(0.02, abs=0.015)
    assert pressure_besides(0.06, requests, halts) == pytest.approx(0.06, abs=0.005)
    assert pressure_besides(None, requests, []) is None


@pytest.mark.parametrize("seed", range(1, 9))
def test_short_pauses_of_which_each_is_met_by_one_request_only_are_not_its_route_s(seed: int) -> None:
    """Those of a collector, as long each time: what a request meets of one is between 5 ms and all of it."""
    import random

    rng = random.Random(seed)
    still = sorted((rng.uniform(0, SECONDS), 0.0085) for _ in range(54))
    asks = {"/hello": Asked(50, 0.0003), "/orders": Asked(4, 0.0005, 0.030)}
    found, left = rare(asked(Loop(asks, pauses=still, seed=seed)))
    assert found == []
    assert len(left) >= 4


@pytest.mark.parametrize(("noise", "busy"), [(0.3, False), (3.0, True)])
def test_slow_requests_that_overlap_are_counted_each(noise: float, busy: bool) -> None:
    """One of four workers is slow, by hardly more than what is sure on a busy machine."""
    items = Asked(14, 0.0003, 0.0105, slow=by_chance(0.25), slow_s=0.050, blocking=False)
    requests = asked(Loop({"/hello": Asked(35, 0.0003), "/items": items}, noise_per_s=noise))
    one = only(rare(requests, busy=busy)[0])
    assert one.route == "/items"
    assert one.share.value == pytest.approx(0.25, rel=0.1)
    assert one.slow_s.value == pytest.approx(0.061, rel=0.05)


@pytest.mark.parametrize(("share", "slow_s", "is_told"), [(0.006, 0.007, False), (0.05, 0.007, True)])
def test_few_that_are_hardly_slower_are_no_fault(share: float, slow_s: float, is_told: bool) -> None:
    hello = Asked(50, 0.001, slow=by_chance(share), slow_s=slow_s, blocking=False)
    requests = asked(Loop({"/hello": hello, "/orders": Asked(4, 0.0005, 0.030)}))
    found, _ = rare(requests)
    assert only(found).route == "/hello"
    (finding,) = rare_responses(requests, found)
    assert (finding.hurts_s > 0) is is_told
    if not is_told:
        assert finding.absent.startswith("rare slow responses")
        assert any(line.startswith("1 in ") for line in finding.evidence), "it is in the evidence"


def test_who_waits_for_a_single_request_is_seen_in_the_stream() -> None:
    requests = asked(Loop(routes()))
    export, orders = beside_one(requests, "/export"), beside_one(requests, "/orders")
    assert export.waits is True
    assert "/hello" in export.others
    assert orders.waits is False
    assert (export.share.low or 0) > 0.9


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    ("export", "begin", "end"),
    [
        (Asked(1.5, 0.060, 0.040), 0.0, 0.6),
        (Asked(1.5, 0.0005, 0.040, then_s=0.060), 0.4, 1.0),
        (Asked(1.5, 0.030, 0.040, then_s=0.00005), 0.0, 0.43),
    ],
)
def test_a_request_may_hold_up_others_for_a_part_of_its_time(
    export: Asked, begin: float, end: float, seed: int
) -> None:
    requests = asked(Loop({**routes(), "/export": export}, noise_per_s=0.3, seed=seed))
    beside = beside_one(requests, "/export")
    assert beside.waits is True
    assert (beside.begin, beside.end) == (pytest.approx(begin, abs=0.1), pytest.approx(end, abs=0.1))
    takes = export.computes_s + export.waits_s + export.then_s
    held = beside.held_s(Estimate(takes))
    assert held.low is not None
    assert held.high is not None
    assert held.low <= (end - begin) * takes <= held.high
    found, left = rare(requests)
    assert found == [], "what waits for it is no rare slow response"
    assert [one for one in pauses(requests, left, 0.0) if one.hurts_s] == []


def test_a_request_behind_one_that_always_takes_long_is_no_stall() -> None:
    rows = [("/hello", 0, at / 10, at / 10 + 0.001) for at in range(100)]
    rows += [("/export", 1, 5.05, 5.13), ("/export", 1, 7.05, 7.13), ("/export", 1, 8.05, 8.13)]
    rows += [("/hello", 2, 5.06, 5.131), ("/hello", 3, 5.07, 5.132), ("/hello", 2, 6.5, 6.6)]
    requests = Requests.of(rows)
    behind = held_up(requests, are_late(requests))
    names = [requests.names[requests.route[place]] for place in behind[behind >= 0]]
    assert names == ["/export", "/export"]
    (one,) = stalls(requests)
    assert one.begin_s == 6.5
    assert one.length_s == pytest.approx(0.099)


@pytest.mark.parametrize("seed", range(1, 7))
def test_who_waited_for_something_else_may_find_the_loop_taken(seed: int) -> None:
    """An order waits for 30 ms, and an export that came meanwhile computes: the order is late for that."""
    asks = {"/hello": Asked(35, 0.0003), "/orders": Asked(6, 0.0005, 0.030), "/export": Asked(2, 0.080)}
    requests = asked(Loop(asks, seed=seed))
    orders = requests.names.index("/orders")
    assert np.count_nonzero(are_late(requests) & (requests.route == orders)) > 20
    assert rare(requests)[0] == []


def test_a_quick_one_does_not_explain_a_slow_one_during_which_it_came() -> None:
    rows = [("/hello", 0, at / 10, at / 10 + 0.001) for at in range(100)]
    rows += [("/report", 1, at + 0.05, at + 0.08) for at in range(9)]
    rows += [("/report", 1, 9.05, 9.16), ("/hello", 2, 9.0705, 9.0715)]
    requests = Requests.of([*rows, ("/hello", 3, 9.1585, 9.1595)])
    assert (held_up(requests, are_late(requests)) < 0).all()


def test_what_came_just_before_is_found_among_what_slow_ones_have_in_common() -> None:
    rows, at, slow = [], 0.0, []
    for number in range(600):
        after_export = number % 15 == 1
        name = "/export" if number % 15 == 0 else "/hello"
        rows.append((name, 0, at, at + (0.05 if after_export else 0.01)))
        slow.append(after_export)
        at += 0.1
    requests = Requests.of(rows)
    first, *_ = in_common(requests, np.array(slow), requests.route == requests.names.index("/hello"))
    assert first.what == "right after a request for /export"
    assert (first.slow, first.n_slow, first.others) == (40, 40, 0)
    assert "40 of 40 slow ones (91" in first.counts


def test_a_first_request_after_idle_time_is_found() -> None:
    gaps = [0.1] * 14 + [2.0]
    times = np.cumsum(gaps * 20)
    slow = np.isclose(np.diff(times, prepend=0.0), 2.0)
    requests = Requests.of(
        [("/hello", 0, at, at + (0.3 if one else 0.01)) for at, one in zip(times, slow, strict=True)]
    )
    first, *_ = in_common(requests, slow, np.ones(len(requests), dtype=bool))
    assert first.what == "after 2.00 s or more without a request"


def test_where_slow_ones_have_nothing_in_common_nothing_is_said() -> None:
    requests = asked(Loop(routes(report=report(0.05))))
    one = only(rare(requests)[0])
    assert one.common is None
    assert says(one).endswith("No pattern was found in when they come.")


def test_a_stream_too_short_for_rare_ones_does_not_exclude_them() -> None:
    requests = asked(Loop(routes()), 8.0)
    (finding,) = rare_responses(requests, [])
    assert not finding.decided
    assert finding.option == "--budget"
    (noisy,) = rare_responses(requests, [], disturbed=40)
    assert "the machine may be the cause" in noisy.says
    (decided,) = rare_responses(asked(Loop(routes())), [])
    assert decided.topic is Topic.RARE
    assert decided.absent.startswith("rare slow responses (1 in 2")


@pytest.mark.parametrize("seed", range(1, 5))
def test_long_waits_of_a_route_are_found_beside_the_stalls_of_a_busy_machine(seed: int) -> None:
    lost = Asked(8, 0.0005, 0.004, slow=by_chance(0.04), slow_s=1.0, blocking=False)
    hello = Asked(35, 0.0003)
    one = only(rare(asked(Loop({"/hello": hello, "/rate": lost}, noise_per_s=30.0, seed=seed)), busy=True)[0])
    assert one.route == "/rate"
    assert one.slow_s.value == pytest.approx(1.0, rel=0.05)
    quiet = Asked(8, 0.0005, 0.004)
    assert (
        rare(asked(Loop({"/hello": hello, "/rate": quiet}, noise_per_s=30.0, seed=seed)), busy=True)[0] == []
    )
