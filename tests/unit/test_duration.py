"""How long a load takes, as far as a plan says it."""

from pathlib import Path

import pytest

from jostle import experiments
from jostle.contestant.requested_delay import requested_delay_s
from jostle.plan import Plan, parse_plan
from jostle.runner.duration import is_up_to_the_server, load_s, trial_s

EVENTS = '{ get = "/events?n=20&gap=1000", stream = { format = "sse", events = 20 } }'
PUSHED = '{{ ws = "/ws?n=11&gap=1000", stream = {{ format = "messages", events = {} }} }}'
RAMP = '{ from = "0/s", to = "10/s", for = "4s" }'
TWO = '[{ get = "/sleep?ms=1000", weight = 3 }, { get = "/sleep?ms=5000" }]'
CALLS = '{ grpc = "a.B/C", message = [{}, {}, {}], every = "5s" }'


def plan(request: str, load: str, more: str = "") -> Plan:
    return parse_plan(
        f"""
        title = "x"
        contestants = ["node"]
        [workload.w]
        {request}
        load = {{ {load} }}
        {more}
        """,
        "plan.toml",
    )


def seconds(request: str, load: str, more: str = "") -> float:
    made = plan(request, load, more)
    return load_s(made.workload["w"], made.journey)


@pytest.mark.parametrize(
    ("request_", "load", "lasts_s"),
    [
        ('{ get = "/" }', 'clients = 3, for = "7s"', 7),
        ('{ get = "/" }', "clients = 3, requests = 100", 2),
        (EVENTS, 'clients = 3, for = "7s"', 7),
        (EVENTS, "clients = 10, requests = 10", 19),
        (EVENTS, "clients = 10, requests = 11", 38),
        (EVENTS, "clients = 10, requests-per-client = 3", 57),
        (EVENTS, 'clients = 10, requests-per-client = 3, think = "1s"', 59),
        (EVENTS, "clients = 10, requests-per-client = 3, requests = 10", 19),
        (EVENTS, 'clients = 10, requests-per-client = 3, requests = 20, renew = true, think = "1s"', 39),
        (EVENTS, 'rate = "10/s", requests = 100', 29),
        (EVENTS, 'rate = "10/s", requests = 100, for = "3s"', 3),
        ('{ get = "/" }', 'rate = "10/s", requests = 100, for = "1m"', 10),
        ('{ get = "/" }', 'rate = "1000/s", requests = 1', 2),
        ('{ get = "/" }', f'rates = [{RAMP}, {{ rate = "10/s" }}], requests = 50', 7),
        (PUSHED.format(11), "clients = 1, requests = 2", 20),
        (PUSHED.format(5), "clients = 1, requests = 2", 8),
        (CALLS, "clients = 1, requests = 1", 10),
        ('{ get = "/" }', 'clients = 2, requests = 6, think = ["1s", "4s"]', 5),
        (TWO, "clients = 1, requests = 4", 8),
    ],
)  # fmt: skip
def test_requests_that_are_counted_take_the_times_that_they_ask_for(
    request_: str, load: str, lasts_s: float
) -> None:
    assert seconds(f"request = {request_}", load) == pytest.approx(lasts_s)


def test_journeys_that_are_counted_take_their_pauses() -> None:
    journey = """
    [[journey.buy.steps]]
    get = "/sleep?ms=2000"
    repeat = 3
    think = "1s"
    [[journey.buy.steps]]
    parallel = [{ get = "/sleep?ms=500" }, { get = "/a" }]
    think = "uniform 1s..2s"
    [journey.buy]
    connections = 2
    """
    assert seconds('journeys = "buy"', "clients = 5, iterations = 10", journey) == pytest.approx(22)


def test_a_trace_lasts_until_its_last_start(tmp_path: Path) -> None:
    (tmp_path / "starts").write_text("0\n10\n20\n")
    trace = f'arrivals = {{ trace = "{tmp_path / "starts"}" }}'
    assert seconds('request = { get = "/" }', trace) == 20
    assert seconds('request = { get = "/" }', f"{trace}, requests = 2") == 10


def test_only_clients_that_count_wait_for_the_server() -> None:
    request = 'request = { get = "/" }'
    assert is_up_to_the_server(plan(request, "clients = 1, requests = 1").workload["w"])
    assert not is_up_to_the_server(plan(request, 'clients = 1, requests = 1, for = "1s"').workload["w"])
    assert not is_up_to_the_server(plan(request, 'rate = "1/s", requests = 1').workload["w"])


@pytest.mark.parametrize(
    ("path", "events", "lasts_s"),
    [
        ("/sleep", None, 0.1),
        ("/sleep?ms={ms}", None, 0),
        ("/events", None, 0.95),
        ("/events?n=0", 5, 0),
        ("/events?n=3&gap=100", 9, 0.2),
        ("/ws", None, 0),
        ("/elsewhere?n=3&gap=100", None, 0),
    ],
)
def test_what_the_contract_lets_a_path_ask_for(path: str, events: int | None, lasts_s: float) -> None:
    assert requested_delay_s(path, events) == pytest.approx(lasts_s)


def test_the_streams_of_pushes_are_in_the_time_of_a_trial() -> None:
    """On an idle machine its quick trials took 8.0 to 9.5 s."""
    made = experiments.load("pushes", scale="quick")
    assert trial_s(made, made.workload["pushes-with-slow"]) == pytest.approx(8.8)
