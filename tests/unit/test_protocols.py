"""Who takes part in a run: whoever cannot serve a workload is skipped in it, and someone must be able to."""

from pathlib import Path

import pytest

from jostle import contestant, roster
from jostle.contestant import Contestant
from jostle.errors import PlanError
from jostle.plan import parse_plan
from jostle.runner.participants import Participants, participants, with_their_labels
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


ROUTES = """
title = "routes"
contestants = ["go", "php-fpm", "mine"]
contestant.mine = { command = "./server {port}", absent = { "/sleep" = "it never sleeps" } }
[workload.hello]
request = { get = "/hello" }
load = { clients = 4, requests = 10 }
[workload.pushed]
request = { get = "/events?n=1", stream = "sse" }
load = { clients = 4, requests = 10 }
[workload.sleep]
request = { get = "/sleep?ms=1" }
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


def taking_part(plan: str) -> Participants:
    return participants(with_their_labels(parse_plan(plan, "plan.toml")))


@pytest.mark.parametrize("command", ["check", "run"])
def test_http2_needs_a_contestant_that_speaks_it(tmp_path: Path, command: str) -> None:
    message, hint = refusal(tmp_path, HTTP2.replace('"go", ', ""), command)
    assert message == "workload.hello is in HTTP/2, and node speaks HTTP/1.1"
    assert hint.startswith("these speak HTTP/2: deno, ")
    assert "go, " in hint
    assert "node" not in hint


def test_of_several_who_does_not_speak_a_protocol_is_skipped_and_told(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(HTTP2)
    code, said = run_command("check", tmp_path / "plan.toml")
    assert code == 0
    assert "skipped     node: workload.hello is in HTTP/2, and node speaks HTTP/1.1" in said
    assert "contestants go\n" in said


def test_who_cannot_serve_one_workload_is_measured_under_the_others() -> None:
    found = taking_part(ROUTES)
    assert [one.label for one in found.contestants] == ["go", "php-fpm", "mine"]
    assert found.cells == [
        *(("go", name) for name in ("hello", "pushed", "sleep")),
        *(("php-fpm", name) for name in ("hello", "sleep")),
        *(("mine", name) for name in ("hello", "pushed")),
    ]
    assert found.skipped == {}
    assert [whom for whom, _ in found.left_out()] == ["php-fpm in pushed", "mine in sleep"]
    assert found.skipped_workloads["mine"] == {
        "sleep": "mine has no /sleep, which workload sleep asks for: it never sleeps"
    }


def test_who_can_serve_nothing_takes_no_part() -> None:
    found = taking_part(ROUTES.replace('["go", "php-fpm", "mine"]', '["go", "go-grpc"]'))
    assert [one.label for one in found.contestants] == ["go"]
    assert found.skipped_workloads == {}
    assert found.skipped["go-grpc"].split("; ") == [
        f"workload.{name} is in HTTP/1.1, and go-grpc speaks gRPC" for name in ("hello", "pushed", "sleep")
    ]


def test_a_workload_that_nobody_can_serve_is_refused_with_the_reason_of_each(tmp_path: Path) -> None:
    message, hint = refusal(tmp_path, HTTP2.replace('"go"', '"php-fpm"'))
    assert message == "none of the contestants can serve workload.hello"
    assert hint.splitlines() == [
        f"{name}: workload.hello is in HTTP/2, and {name} speaks HTTP/1.1" for name in ("php-fpm", "node")
    ]


def test_of_several_who_cannot_be_explained_keeps_no_other_from_it(tmp_path: Path) -> None:
    both = 'explain = "2m"\n' + OWN.replace('["mine"]', '["mine", "go"]', 1)
    (tmp_path / "plan.toml").write_text(both)
    assert run_command("check", tmp_path / "plan.toml")[0] == 0


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


def test_what_speaks_grpc_alone_is_explained_in_grpc(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="what explain asks is in HTTP/2, and go-grpc speaks gRPC"):
        run_command("explain", "go-grpc", "--http2")
    plan = CALLS.replace('["go"]', '["go-grpc"]').replace("title", 'explain = "2m"\ntitle', 1)
    (tmp_path / "plan.toml").write_text(plan)
    assert run_command("check", tmp_path / "plan.toml")[0] == 0


def test_raw_bytes_are_of_no_protocol(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(OWN.replace('get = "/hello"', 'tcp = "PING\\r\\n", until = "\\r\\n"'))
    assert run_command("check", tmp_path / "plan.toml")[0] == 0


def test_every_contestant_of_the_roster_says_what_it_speaks() -> None:
    assert [name for name in roster.names() if not contestant.find(name).file.speaks] == []
