"""Which server and which routes are examined: by what a user gives, a contestant declares, a server says."""

import os
import socket
from dataclasses import replace

import pytest

from jostle.contestant import is_known
from jostle.errors import PlanError, UnknownName, UnreachableTarget
from jostle.explain.run import target_of as process_target
from jostle.explain.server.routes import MAX_S, contract_routes
from jostle.explain.server.target import Route, check, intermediary
from jostle.plan.servers.contestant import ContestantFile
from jostle.record.outcomes import Outcome
from support.served import (
    FAST,
    Server,
    explained,
    look_at,
    response,
    target_of,
)


@pytest.mark.parametrize(
    ("outcome", "status", "what"),
    [(Outcome.OK, 200, ""), (Outcome.WRONG_STATUS, 503, "answered with 503"), (Outcome.RESET, 0, "reset"),
     (Outcome.CONNECT_REFUSED, 0, "refused"), (Outcome.RESPONSE_TIMEOUT, 0, "never answered")],
)  # fmt: skip
def test_the_fate_of_a_request_is_named(outcome: Outcome, status: int, what: str) -> None:
    assert replace(response(0, 1), outcome=outcome, status=status).fate == what


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


def test_the_package_is_the_function_that_users_call() -> None:
    import jostle

    assert callable(jostle.explain)
    with pytest.raises(UnknownName, match="nodee"):
        jostle.explain("nodee")
    with pytest.raises(PlanError, match="its contract names its routes"):
        jostle.explain("node", slow=["/x"])
    with pytest.raises(PlanError, match="node/slow/3: a contestant is explained without a path"):
        jostle.explain("node/slow/3")


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
