"""A workload in a protocol that a contestant does not speak is refused before anything starts."""

from pathlib import Path

import pytest

from jostle import contestant, roster
from jostle.contestant import Contestant
from jostle.errors import PlanError
from jostle.plan import load_plan
from jostle.runner.tune import tuned
from support.commands import run_command

HTTP2 = """
title = "streams"
contestants = ["go", "node"]
[workload.hello]
request = { get = "/hello" }
load = { clients = 4, requests = 10 }
connection = { http2 = {} }
"""
CALLS = """
title = "calls"
contestants = ["go"]
[journey.buy]
steps = [{ grpc = "shop.Shop/Buy" }]
[workload.buy]
journeys = "buy"
load = { clients = 4, iterations = 10 }
"""
OWN = """
contestants = ["mine"]
contestant.mine = { command = "./server {port}", speaks = ["gRPC"] }
title = "mine"
[workload.hello]
request = { get = "/hello" }
load = { clients = 4, requests = 10 }
"""


@pytest.fixture(autouse=True)
def _nothing_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Contestant, "build", lambda *_: pytest.fail("nothing is built"))
    monkeypatch.setattr(Contestant, "start", lambda *_, **__: pytest.fail("nothing is started"))


def refusal(folder: Path, plan: str, command: str = "check") -> tuple[str, str]:
    (folder / "plan.toml").write_text(plan)
    with pytest.raises(PlanError) as refused:
        run_command(command, folder / "plan.toml")
    return refused.value.message, refused.value.hint


@pytest.mark.parametrize("command", ["check", "run"])
def test_http2_needs_a_contestant_that_speaks_it(tmp_path: Path, command: str) -> None:
    message, hint = refusal(tmp_path, HTTP2, command)
    assert message == "workload.hello is in HTTP/2, and node speaks HTTP/1.1"
    assert hint.startswith("these speak HTTP/2: apache-static, deno, ")
    assert "go, " in hint
    assert "node" not in hint


def test_a_workload_is_asked_of_those_on_which_it_is_measured(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(HTTP2 + 'contestants = ["go"]\n' + more("node"))
    assert run_command("check", tmp_path / "plan.toml")[0] == 0


def more(label: str) -> str:
    return (
        f'[workload.other]\nrequest = {{ get = "/" }}\nload = {{ clients = 4, requests = 10 }}\n'
        f'contestants = ["{label}"]\n'
    )


def test_a_call_in_a_journey_needs_grpc(tmp_path: Path) -> None:
    message, _ = refusal(tmp_path, CALLS)
    assert message == "workload.buy is in gRPC, and go speaks HTTP/1.1 and HTTP/2"


def test_a_plans_own_contestant_may_say_what_it_speaks(tmp_path: Path) -> None:
    message, _ = refusal(tmp_path, OWN)
    assert message == "workload.hello is in HTTP/1.1, and mine speaks gRPC"
    (tmp_path / "plan.toml").write_text(OWN.replace(', speaks = ["gRPC"]', ""))
    assert run_command("check", tmp_path / "plan.toml")[0] == 0


def test_what_speaks_grpc_alone_is_not_explained(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"what explain asks is in HTTP/1\.1, and go-grpc speaks gRPC"):
        run_command("explain", "go-grpc")
    plan = CALLS.replace('["go"]', '["go-grpc"]').replace("title", 'explain = "2m"\ntitle', 1)
    message, _ = refusal(tmp_path, plan)
    assert message == "what explain asks is in HTTP/1.1, and go-grpc speaks gRPC"


def test_raw_bytes_are_of_no_protocol(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(OWN.replace('get = "/hello"', 'tcp = "PING\\r\\n", until = "\\r\\n"'))
    assert run_command("check", tmp_path / "plan.toml")[0] == 0


def test_nothing_is_tuned_for_a_plan_that_is_refused(tmp_path: Path) -> None:
    tune = (
        '[parameters]\ncount = 1000\n[tune]\ncount = { get = "/count/{value}", on = "go", takes = "100ms" }\n'
    )
    file = tmp_path / "plan.toml"
    file.write_text(HTTP2.replace("[workload", tune + "[workload", 1).replace("/hello", "/count/{count}"))
    with pytest.raises(PlanError, match=r"node speaks HTTP/1\.1"):
        tuned(lambda _: load_plan(file, environment=roster.environment()), {}, lambda _: None)


def test_every_contestant_of_the_roster_says_what_it_speaks() -> None:
    assert [name for name in roster.names() if not contestant.find(name).file.speaks] == []
