"""`jostle race shop` on a real server: every step of a visit is right, alone and beside others."""

import pytest

from support.real import Jostle, as_json

STEPS = ["form", "login", "search", "order", "receipt"]


@pytest.mark.parametrize("contestant", ["go", "rails-puma"])
def test_visits_come_to_their_receipt(jostle_command: Jostle, contestant: str) -> None:
    settings = (
        "--set",
        "window=6s",
        "--set",
        "visits=5/s",
        "--set",
        "think=10ms",
        "--set",
        "crowd-window=3s",
    )
    chosen = ("--contestants", contestant, "--workloads", "buying,buying-beside-one,crowd", "--rounds", "1")
    result = as_json(jostle_command("race", "shop", *chosen, *settings, "--json", "--no-pages", timeout=300))
    found = {(journey["workload"], journey["name"]): journey for journey in result["journeys"]}
    assert set(found) == {
        ("buying", "buy"),
        ("buying-beside-one", "buy"),
        ("crowd", "buy"),
        ("crowd", "browse"),
    }
    for journey in found.values():
        assert journey["completed"] > 0
        assert journey["ended"] == 0
        assert set().union(*(step["outcomes"] for step in journey["steps"])) <= {"ok", "unfinished"}
    assert [step["name"] for step in found["buying", "buy"]["steps"]] == STEPS
    assert found["buying", "buy"]["active"]["p50"]["value"] > 0
