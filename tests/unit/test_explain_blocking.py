"""What is said of the requests that let others wait, and of those that do not."""

from dataclasses import replace

import pytest

from jostle.explain.discipline.inference import Decision, Range
from jostle.explain.probes.blocking import blocking, judge, measure, verdict
from jostle.explain.probes.slots import decide, send_bursts, slots
from jostle.explain.reason import Reason
from jostle.explain.results import InterferenceCell
from jostle.explain.session import Baseline, Session
from jostle.explain.slow_responses.requests import Requests
from support.served import FAST, SLOW, session_of


def test_a_stream_that_was_ended_early_decides_nothing() -> None:
    session = session_of(Baseline(FAST, 0.001, 0.01), Baseline(SLOW, 0.040, 0.01), parallelism=1.0)
    session.slots_of = {SLOW.name: Decision(Range(1, 1))}
    measure(session)
    session.sender.stopped = True
    (finding,) = blocking(session)
    assert finding.reason is Reason.REFUSED
    assert "more requests were answered at once than may be sent" in finding.says


def beside_clients(clients: int, median_s: float, mean_s: float, error_s: float) -> Session:
    """Where a request of 1 ms takes this beside so many for the slow route, which takes 40 ms."""
    session = session_of(Baseline(FAST, 0.001, 0.01), Baseline(SLOW, 0.040, 0.01))
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
    session = session_of(Baseline(FAST, 0.0005, 0.01), Baseline(SLOW, 0.040, 0.01, cpu_share=computes))
    session.target = replace(session.target, cores=cores)
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
