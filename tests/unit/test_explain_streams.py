"""Requests on one HTTP/2 connection that wait for one another, and such that do not."""

from collections.abc import Mapping
from typing import Any

from jostle.explain.finding import Finding, Topic
from jostle.explain.run import examine
from jostle.explain.server.limits import GENTLE, Budget
from jostle.explain.server.target import Route, Target
from support.served import WORKLOAD, FakeSender, Server, look_at

HELLO, IMAGE = Route("/hello", "fast"), Route("/image", "slow")
DEMANDS = {"/hello": 0.0005, "/image": 0.040}
HTTP2: Mapping[str, Any] = {**WORKLOAD, "target": {**WORKLOAD["target"], "http2": {"connections": None}}}


def streams_of(server: Server, workload: Mapping[str, Any] = HTTP2) -> tuple[Finding | None, str]:
    """The finding, and the paragraph."""
    target = Target("http://127.0.0.1:1", "http://127.0.0.1:1", (HELLO, IMAGE), workload)
    budget = Budget(GENTLE, now=lambda: 0.0)
    explanation = examine(target, look_at(target), FakeSender(server, budget), budget)
    found = (one for one in explanation.findings if one.topic is Topic.STREAMS)
    return next(found, None), explanation.paragraph


def test_requests_that_wait_for_one_another_on_their_connection_are_the_fault() -> None:
    server = Server(workers=64, demands=DEMANDS, in_line=frozenset({"/image"}))
    finding, paragraph = streams_of(server)
    assert finding is not None
    assert finding.says.startswith("/image: one at a time on each HTTP/2 connection. A further one waits 40.")
    assert paragraph.startswith(finding.says)


def test_streams_that_go_side_by_side_are_named_among_what_was_not_found() -> None:
    finding, paragraph = streams_of(Server(workers=64, demands=DEMANDS))
    assert finding is not None
    assert finding.absent == "requests for /image that wait for one another on one connection"
    assert paragraph.startswith("No fault was found.")


def test_a_pool_is_not_taken_for_its_connection() -> None:
    pool = Server(workers=64, demands=DEMANDS, pools={"/image": "pool"}, slots={"pool": 4})
    finding, paragraph = streams_of(pool)
    assert finding is not None
    assert finding.says == "Requests for /image wait on one connection as they do on several."
    assert paragraph.startswith("/image: four at a time.")


def test_over_http_1_there_are_no_streams_to_ask_about() -> None:
    finding, _ = streams_of(Server(workers=64, demands=DEMANDS), WORKLOAD)
    assert finding is None
