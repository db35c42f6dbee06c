"""Contestants that a plan does not know, and routes that they do not have."""

import pytest

from jostle import contestant as contestants
from jostle import experiments
from jostle.contestant.routes import check_routes
from jostle.errors import MissingRoute, PlanError
from jostle.plan import Plan, parse_plan
from jostle.plan.model import Changes
from jostle.runner.experiment import measured, with_their_labels, workloads_on
from jostle.runner.observer import Silent
from jostle.runner.schedule import schedule

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


def on(plan: Plan) -> dict[str, list[str]]:
    """The workloads of each contestant that a run of the plan measures."""
    plan = with_their_labels(plan)
    labels = measured(plan, Silent())
    trials = schedule(labels, plan, 1)
    return {label: sorted({t.workload for t in trials if t.contestant == label}) for label in labels}


@pytest.mark.parametrize("name", experiments.names())
def test_a_contestant_that_no_experiment_knows_is_measured_or_told_how_it_can_be(name: str) -> None:
    plan = experiments.load(name)
    alone = plan.changed(Changes(contestants=[NEW]))
    if not all(workload.contestants for workload in plan.selected.values()):
        assert on(alone)[NEW]
        return
    with pytest.raises(PlanError, match=f"no workload is measured on {NEW}") as told:
        on(alone)
    assert "--workloads" in told.value.hint
    assert all(workload in told.value.hint for workload in plan.selected)
    chosen = plan.changed(Changes(contestants=[NEW], workloads=list(plan.selected)))
    assert on(chosen) == {NEW: sorted(plan.selected)}


@pytest.mark.parametrize("name", experiments.names())
def test_contestants_of_an_experiment_have_what_it_asks_for(name: str) -> None:
    plan = with_their_labels(experiments.load(name))
    for label in plan.contestants:
        contestant = contestants.find(label, plan.contestant)
        loads = {each: plan.workload[each] for each in workloads_on(plan, contestant, plan.contestants)}
        check_routes(contestant, loads, plan.journey)


def test_who_is_named_by_no_chosen_workload_joins_all_of_them() -> None:
    plan = parse_plan(TWO, "plan.toml")
    chosen = Changes(contestants=["bun", "go"], workloads=["near", "far"])
    assert on(plan.changed(chosen)) == {"bun": ["far", "near"], "go": ["far"]}
    assert on(plan.changed(Changes(contestants=["go"], workloads=["near"]))) == {"go": ["near"]}
    assert on(plan.changed(Changes(workloads=["near"]))) == {"node": ["near"]}
    with pytest.raises(PlanError, match="no workload is measured on bun"):
        on(plan.changed(Changes(contestants=["bun", "node"])))
    with pytest.raises(PlanError, match="there is no workload 'neer'"):
        plan.changed(Changes(contestants=["bun"], workloads=["neer"]))


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
        check_routes(contestants.find("bun"), plan.workload, plan.journey)
    else:
        with pytest.raises(MissingRoute, match=says):
            check_routes(contestants.find("bun"), plan.workload, plan.journey)


def test_routes_that_only_some_have_are_known_of_those_that_come_with_jostle() -> None:
    plan = experiments.load("pushes")
    with pytest.raises(MissingRoute, match="php-fpm has no /events, which workload pushes-only asks for"):
        check_routes(contestants.find("php-fpm"), plan.selected, plan.journey)
    shop = experiments.load("shop")
    with pytest.raises(MissingRoute, match="bun has no /shop"):
        check_routes(contestants.find("bun"), shop.selected, shop.journey)
