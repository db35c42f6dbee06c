"""The plan of an old run folder is read by the models of plans, whatever version of jostle wrote it."""

from pathlib import Path

import pytest

from jostle import experiments
from jostle.errors import PlanError
from jostle.plan import parse_plan, to_toml
from jostle.plan.criteria.claims import PlannedFigure
from jostle.plan.recorded import RecordedPlan

PLAN = """
title = "An old one"
contestants = ["node", "go"]
gone = "a key of before"

[parameters]
slow = 39

[workload.alone]
title = "Fast requests only"
request = { gett = "/fast/44" }
load = { crowd = 5 }

[workload.both]

[cluster]
address = "10.0.0.1:6379"

[[starvation]]
form = "as published"
alone = "alone"
with = "both"
slow = "nowhere"
colour = "red"

[[starvation]]
form = "without the rest"

[[require]]
that = "p99 < 250 ms"
confidence = "90 %"
severity = 3

[[require]]
that = "p98 < 250 ms"

[published]
source = "A. Author, 2016"

[[published.figures]]
contestant = "node"
workload = "alone"
metric = "throughput"
value = 572
unit = "requests/5 s"

[[published.figures]]
contestant = "node"
workload = "alone"
metric = "warmth"
value = 3
unit = "furlongs"

[[published.figures]]
contestant = "node"

[[ratio]]
title = "p98"
metric = "p98"
workload = "both"
against = "alone"

[[claim]]
says = "It is faster"
holds = [{ metric = "p98", contestant = "go", workload = "alone", between = [0.5, 2] }]

[[claim]]
says = "It has no rule"
"""


@pytest.fixture(scope="module")
def plan() -> RecordedPlan:
    return RecordedPlan.parse(PLAN)


def test_what_can_be_read_is_read_by_the_models_of_plans(plan: RecordedPlan) -> None:
    assert (plan.title, plan.contestants, plan.parameters) == ("An old one", ["node", "go"], {"slow": 39})
    assert plan.cluster_address == "10.0.0.1:6379"
    assert [(s.alone, s.with_, s.slow) for s in plan.starvation] == [("alone", "both", "nowhere")]
    assert [(r.condition.limit, r.confidence) for r in plan.require] == [(0.25, 0.9)]
    assert plan.claim[0].holds[0].limits == (0.5, 2)


def test_workloads_are_known_by_name_and_title_whatever_their_load_was_called(plan: RecordedPlan) -> None:
    assert list(plan.workload) == ["alone", "both"]
    assert plan.workload_title("alone") == "Fast requests only"
    assert plan.workload_title("both") == plan.workload_title("nowhere") == ""


def test_metrics_of_another_version_are_kept_by_name(plan: RecordedPlan) -> None:
    assert plan.published is not None
    assert [(f.metric, f.amount) for f in plan.published.figures] == [
        ("throughput", pytest.approx(114.4)),
        ("warmth", None),
    ]
    assert [r.metric for r in plan.ratio] == ["p98"]
    assert plan.claim[0].holds[0].metric == "p98"


def test_what_cannot_be_read_is_named_with_its_reason(plan: RecordedPlan) -> None:
    assert [
        (u.key, u.data.get("form") or u.data.get("that") or u.data.get("says")) for u in plan.unreadable
    ] == [
        ("starvation", "without the rest"),
        ("require", "p98 < 250 ms"),
        ("published.figures", None),
        ("claim", "It has no rule"),
    ]
    assert plan.unreadable[1].reason == "jostle does not measure 'p98'"
    assert plan.unreadable[3].reason == "holds: is missing"


def test_what_was_a_quantity_is_a_metric() -> None:
    text = (
        '[[published.figures]]\ncontestant = "go"\nworkload = "w"\nquantity = "p99"\nvalue = 3\nunit = "ms"\n'
    )
    plan = RecordedPlan.parse(text + '[[require]]\nthat = "bytes per answer < 200"\n')
    assert plan.published is not None
    assert [figure.metric for figure in plan.published.figures] == ["p99"]
    assert plan.unreadable == []


@pytest.mark.parametrize(
    "text", ["", "title = = 1", 'contestants = 5\nclaim = "x"\nworkload = [1]', "claim = [1]"]
)
def test_no_text_is_refused(text: str) -> None:
    plan = RecordedPlan.parse(text)
    assert (plan.title, plan.contestants, plan.claim) == ("", [], [])


@pytest.mark.parametrize("name", experiments.names())
def test_a_plan_as_it_is_recorded_reads_as_the_plan_that_ran(name: str) -> None:
    plan = experiments.load(name)
    recorded = RecordedPlan.parse(to_toml(plan))
    assert recorded.unreadable == []
    assert (recorded.starvation, recorded.require) == (plan.starvation, plan.require)
    assert (recorded.published, recorded.ratio, recorded.claim) == (plan.published, plan.ratio, plan.claim)
    assert list(recorded.workload) == list(plan.workload)
    assert [recorded.workload_title(name) for name in plan.workload] == [
        workload.title for workload in plan.workload.values()
    ]


@pytest.mark.parametrize(
    ("metric", "unit", "amount"),
    [
        ("throughput", "requests/5 s", 2.0),
        ("throughput", "hits/min", pytest.approx(1 / 6)),
        ("p50", "µs", pytest.approx(1e-5)),
        ("memory per thread", "KiB", 10240.0),
        ("memory", "kB", 10_000.0),
        ("errors", "%", pytest.approx(0.1)),
        ("spread", "", 10.0),
        ("starvation index", "ratio", 10.0),
    ],
)
def test_a_figure_is_compared_in_the_unit_of_its_quantity(metric: str, unit: str, amount: float) -> None:
    figure = PlannedFigure(contestant="node", workload="alone", metric=metric, value=10, unit=unit)
    assert figure.amount == amount


FIGURE = """
[published]
source = "s"
[[published.figures]]
contestant = "node"
workload = "w"
value = 5
"""


@pytest.mark.parametrize(
    ("metric", "unit", "says"),
    [
        ("memory", "Kb", "published.figures.1: unit: 'Kb' is not a unit"),
        ("memory", "ms", "published.figures.1: unit: memory is not measured in 'ms'"),
        ("throughput", "requests", "published.figures.1: unit: 'requests' is not a unit"),
        ("throughput", "requests/0 s", "published.figures.1: unit: 'requests/0 s' is not a unit"),
    ],
)
def test_a_figure_in_a_unit_that_does_not_fit_is_refused(metric: str, unit: str, says: str) -> None:
    text = 'title = "x"\ncontestants = ["node"]\n[workload.w]\nrequest = { get = "/" }\n'
    text += f'load = {{ clients = 1, for = "1s" }}\n{FIGURE}metric = "{metric}"\nunit = "{unit}"\n'
    with pytest.raises(PlanError, match=says):
        parse_plan(text, "plan.toml")


def test_reading_an_old_plan_looks_at_no_file(tmp_path: Path) -> None:
    (tmp_path / "gone.pem").touch()
    assert RecordedPlan.parse(f'[workload.x.connection.tls]\nca = "{tmp_path}/other.pem"').unreadable == []
