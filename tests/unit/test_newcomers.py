"""Contestants that a plan does not know, and routes that they do not have."""

from contextlib import nullcontext

import pytest

from jostle import contestant as contestants
from jostle import experiments
from jostle.contestant.routes import check_routes
from jostle.errors import CannotServe, PlanError
from jostle.plan import Plan, parse_plan
from jostle.plan.overrides import Overrides
from jostle.runner.participants import participants, with_their_labels

NEW = "bun"
TWO = """
title = "x"
contestants = ["node", "go"]
[workload.near]
contestants = ["node"]
request = { get = "/hello" }
load = { clients = 1, for = "1s" }
[workload.far]
contestants = ["go"]
request = { get = "/sleep" }
background = { get = "/fast/1", clients = 1 }
load = { clients = 1, for = "1s" }
"""


@pytest.fixture
def _all_can_serve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jostle.runner.participants.check_fit", lambda *_, **__: None)


def on(plan: Plan) -> dict[str, list[str]]:
    """The workloads of each contestant that a run of the plan measures."""
    found = participants(with_their_labels(plan))
    measured = [one.label for one in found.contestants]
    return {label: sorted(name for whom, name in found.cells if whom == label) for label in measured}


@pytest.mark.usefixtures("_all_can_serve")
@pytest.mark.parametrize("name", experiments.names())
def test_a_contestant_that_no_experiment_knows_is_measured_or_told_how_it_can_be(name: str) -> None:
    plan = experiments.load(name)
    alone = plan.changed(Overrides(contestants=[NEW]))
    if not all(workload.contestants for workload in plan.selected.values()):
        assert on(alone)[NEW]
        return
    with pytest.raises(PlanError, match=f"no workload is measured on {NEW}") as told:
        on(alone)
    assert "--workloads" in told.value.hint
    assert all(workload in told.value.hint for workload in plan.selected)
    chosen = plan.changed(Overrides(contestants=[NEW], workloads=list(plan.selected)))
    assert on(chosen) == {NEW: sorted(plan.selected)}


@pytest.mark.parametrize("name", experiments.names())
def test_contestants_of_an_experiment_have_what_it_asks_for(name: str) -> None:
    plan = with_their_labels(experiments.load(name))
    for label in plan.contestants:
        contestant = contestants.find(label, plan.contestant)
        for each, workload in plan.selected.items():
            if label in workload.measured_on(plan.contestants):
                check_routes(contestant, each, workload, plan.journey)


def test_who_is_named_by_no_chosen_workload_joins_all_of_them() -> None:
    plan = parse_plan(TWO, "plan.toml")
    chosen = Overrides(contestants=["bun", "go"], workloads=["near", "far"])
    assert on(plan.changed(chosen)) == {"bun": ["far", "near"], "go": ["far"]}
    assert on(plan.changed(Overrides(contestants=["go"], workloads=["near"]))) == {"go": ["near"]}
    assert on(plan.changed(Overrides(workloads=["near"]))) == {"node": ["near"]}
    with pytest.raises(PlanError, match="no workload is measured on bun"):
        on(plan.changed(Overrides(contestants=["bun", "node"])))
    with pytest.raises(PlanError, match="there is no workload 'neer'"):
        plan.changed(Overrides(contestants=["bun"], workloads=["neer"]))


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        ('get = "/shop/search?q=tea"', "bun has no /shop, which workload w asks for: the shop is on four"),
        ('get = "/hello?n=1"', None),
        ('get = "/shopping"', None),
    ],
)
def test_a_route_that_a_contestant_declares_absent_is_not_asked_of_it(
    request_: str, says: str | None
) -> None:
    plan = parse_plan(
        f"""
        title = "x"
        contestants = ["bun"]
        [workload.w]
        request = {{ {request_} }}
        load = {{ clients = 1, for = "1s" }}
        """,
        "plan.toml",
    )
    if says is None:
        check_routes(contestants.find("bun"), "w", plan.workload["w"], plan.journey)
    else:
        with pytest.raises(CannotServe, match=says):
            check_routes(contestants.find("bun"), "w", plan.workload["w"], plan.journey)


@pytest.mark.parametrize("number", ["-5", "61", "x", "9" * 5000])
def test_a_number_that_no_contestant_takes_is_a_mistake_unless_400_is_expected(number: str) -> None:
    for more, refused in (("", True), (", expect = 400", False)):
        plan = parse_plan(
            f"""
            title = "x"
            contestants = ["go"]
            [workload.w]
            request = {{ get = "/slow/{number}"{more} }}
            load = {{ clients = 1, for = "1s" }}
            """,
            "plan.toml",
        )
        with pytest.raises(PlanError, match="is not a number from 0 to 60") if refused else nullcontext():
            check_routes(contestants.find("go"), "w", plan.workload["w"], plan.journey)


def test_a_path_that_a_response_gives_has_no_number_to_check() -> None:
    plan = parse_plan(
        """
        title = "x"
        contestants = ["go"]
        [journey.j]
        steps = [{ get = "/fast/1", capture.next = "header:Location" }, { get = "{next}" }]
        [workload.w]
        journeys = ["j"]
        load = { clients = 1, for = "1s" }
        """,
        "plan.toml",
    )
    check_routes(contestants.find("go"), "w", plan.workload["w"], plan.journey)


def test_routes_that_only_some_have_are_known_of_those_that_come_with_jostle() -> None:
    plan = experiments.load("pushes")
    with pytest.raises(CannotServe, match="php-fpm has no /events, which workload pushes-only asks for"):
        check_routes(contestants.find("php-fpm"), "pushes-only", plan.workload["pushes-only"], plan.journey)
    shop = experiments.load("shop")
    with pytest.raises(CannotServe, match="bun has no /shop"):
        check_routes(contestants.find("bun"), "shop", next(iter(shop.selected.values())), shop.journey)
