"""Scales, tuned parameters and the number of cores: what a plan's texts hold in the end."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from jostle import experiments, roster, units
from jostle.errors import PlanError, UnknownName
from jostle.host.cores import available_cores, place
from jostle.plan import Plan, parse_plan, to_toml
from jostle.plan.loading import Settings
from jostle.plan.overrides import Overrides
from jostle.runner import tune
from support.commands import run_command
from support.real import reference_server

PLAN = """
title = "t"
contestants = ["reference-null"]

[parameters]
count = 1_000

[tune.count]
on = "reference-null"
get = "/count/{value}"
takes = "20ms"

[scale.as-published]
count = 100_000_000

[workload.w]
request = { get = "/count/{count}" }
load = { clients = "{cores}", requests = 10 }
"""

PLANS = sorted(Path(experiments.__file__).parent.glob("*/plan.toml"))
SCALES = [
    (file.parent.name, scale)
    for file in PLANS
    for scale in ["", *tomllib.loads(file.read_text()).get("scale", {})]
]


def parse(text: str, **how: Any) -> Plan:
    return parse_plan(text, "p", environment=roster.environment(), **how)


@pytest.mark.parametrize(("name", "scale"), SCALES)
def test_every_experiment_loads_in_every_scale(name: str, scale: str) -> None:
    plan = experiments.load(name, scale=scale)
    assert plan.workload
    assert parse_plan(to_toml(plan), "again").data() == plan.data()


def test_an_experiment_without_that_scale_says_so() -> None:
    with pytest.raises(PlanError, match="starvation has no scale 'as-publishd'"):
        experiments.load("starvation", scale="as-publishd")


def test_what_is_set_is_not_tuned() -> None:
    assert list(parse(PLAN).tune) == ["count"]
    assert not parse(PLAN, settings={"count": "7"}).tune
    published = parse(PLAN, scale="as-published")
    assert not published.tune
    assert published.data()["workload"]["w"]["request"][0]["get"] == "/count/100000000"


def test_a_scale_may_narrow_who_is_measured_under_one_workload() -> None:
    own = '[scale.quick.contestants-of]\nw = ["reference-null"]\n'
    assert parse(PLAN).workload["w"].contestants == []
    assert parse(PLAN + own, scale="quick").workload["w"].contestants == ["reference-null"]
    assert parse(PLAN + own).workload["w"].contestants == []
    with pytest.raises(UnknownName, match="there is no workload 'v'"):
        parse(PLAN + own.replace("w =", "v ="), scale="quick")
    with pytest.raises(PlanError, match="contestants-of is not a table"):
        parse(PLAN + '[scale.quick]\ncontestants-of = ["node"]\n', scale="quick")


def test_who_chooses_contestants_chooses_them_for_workloads_that_a_scale_has_narrowed() -> None:
    own = '[scale.quick.contestants-of]\nw = ["reference-null"]\n'
    plan = parse(PLAN + own, scale="quick").changed(Overrides(contestants=["go"]))
    assert plan.workload["w"].measured_on(plan.contestants) == ["go"]
    for name in ("orders", "preemption"):
        plan = experiments.load(name, scale="quick").changed(Overrides(contestants=["go"]))
        assert any(load.measured_on(["go"]) for load in plan.workload.values()), name


@pytest.mark.parametrize("name", experiments.names())
def test_the_quick_scale_measures_all_that_claims_are_about(name: str) -> None:
    """`race --all` is quick: what it leaves out can never be decided there. Where a machine has too few cores
    anyway, a sweep is."""
    plan = experiments.load(name, scale="quick")
    for claim in plan.claim:
        if claim.says.startswith("Puma is at its best"):
            continue
        for part in claim.holds:
            sides = [(part.contestant, part.workload)]
            if part.against:
                sides += [
                    (part.against.contestant or part.contestant, part.against.workload or part.workload)
                ]
            for contestant, workload in sides:
                assert workload in plan.selected, claim.says
                assert contestant in plan.workload[workload].measured_on(plan.contestants), claim.says


def test_cores_are_those_of_the_server_unless_the_plan_says_otherwise() -> None:
    plan = parse(PLAN)
    assert plan.parameters["cores"] == len(place(available_cores(), share=False).server_cores)
    shared = parse(PLAN, share_cores=True)
    assert shared.share_cores
    assert shared.parameters["cores"] == len(available_cores())
    assert parse(PLAN, settings={"cores": "3"}).workload["w"].load.data()["clients"] == 3
    own = PLAN.replace("count = 1_000", "count = 1_000\ncores = 5")
    assert parse(own).parameters["cores"] == 5
    again = parse(to_toml(plan))
    assert again.workload["w"].load.data() == plan.workload["w"].load.data()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("[tune.count]", "[tune.cuont]"), "tune.cuont: there is no parameter 'cuont'"),
        (("count = 1_000", 'count = "many"'), "that is a whole number"),
        (("/count/{value}", "/count/9"), "get: {value} is missing"),
        (('takes = "20ms"', ""), "takes, times or share, one of them"),
        (('on = "reference-null"', 'on = "reference-nul"'), "there is no contestant 'reference-nul'"),
    ],
)
def test_what_cannot_be_tuned_is_refused(change: tuple[str, str], says: str) -> None:
    with pytest.raises(PlanError) as caught:
        parse(PLAN.replace(*change))
    assert says in caught.value.message


def test_a_tuned_value_is_measured_once_per_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Time grows with the value; the cache answers the second time, however busy the machine is."""
    monkeypatch.setattr(tune, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(tune, "STILL_HOLDS", 1e9)
    text = PLAN.replace("reference-null", "reference-run-to-completion").replace("/count/", "/work?us=")

    def load(settings: Settings) -> Plan:
        return parse(text, settings=settings)

    told: list[str] = []
    plan = tune.tuned(load, {}, told.append)
    value = plan.parameters["count"]
    assert isinstance(value, int)
    assert 2_000 < value <= 20_000  # µs of the server's own; the request costs something by itself
    assert not plan.tune
    assert len(told) == 2
    (kept,) = json.loads((tmp_path / "tuned.json").read_text())
    assert kept["value"] == value
    again = tune.tuned(load, {}, told.append)
    assert again.parameters["count"] == value
    assert len(told) == 2
    (tmp_path / "tuned.json").write_text("broken")
    assert tune.tuned(load, {"count": 9}, told.append).parameters["count"] == 9
    assert len(told) == 2


def test_a_tuned_value_that_no_longer_holds_is_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine is four times as fast as when the value was found."""
    monkeypatch.setattr(tune, "cache_folder", lambda: tmp_path)
    per_count_s = 4e-6
    monkeypatch.setattr(tune, "_seconds", lambda url: per_count_s * int(url.rsplit("/", 1)[1]))
    told: list[str] = []
    first = tune.tuned(lambda settings: parse(PLAN, settings=settings), {}, told.append)
    assert first.parameters["count"] == 5_000  # 20 ms
    per_count_s = 1.1e-6 * 4
    kept = tune.tuned(lambda settings: parse(PLAN, settings=settings), {}, told.append)
    assert kept.parameters["count"] == 5_000  # a tenth off: good enough
    per_count_s = 1e-6
    again = tune.tuned(lambda settings: parse(PLAN, settings=settings), {}, told.append)
    assert again.parameters["count"] == 20_000
    assert "the value found earlier no longer holds" in told[2]
    (entry,) = json.loads((tmp_path / "tuned.json").read_text())
    assert entry["value"] == 20_000


def test_an_unknown_contestant_is_refused_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tune, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(tune, "_measured", lambda *_: pytest.fail("a server was started"))
    with pytest.raises(UnknownName, match="nod"):
        run_command("race", "starvation", "--contestants", "nod")


def test_a_time_can_be_a_multiple_of_what_a_request_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tune, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(tune, "_seconds", lambda _: 0.3)
    text = PLAN.replace('"/count/{value}"', '"/hello"').replace('takes = "20ms"', "times = 1.25")
    text = text.replace("count = 1_000\n", 'count = "5s"\n').replace("/count/{count}", "/hello?{count}")
    told: list[str] = []
    plan = tune.tuned(lambda settings: parse(text, settings=settings), {}, told.append)
    assert plan.parameters["count"] == "380ms"  # 375 ms, with two digits
    assert "1.25 times as long as /hello takes on reference-null" in told[0]


@pytest.mark.parametrize(
    ("capacity", "share", "among", "written"),
    [
        (16_000, 0.5, 10, "1.25ms"),
        (40_000, 1.0, 1, "0.025ms"),
        (15, 0.5, 100, "13300ms"),
        (12_300, 0.85, None, "10500/s"),
        (3, 0.001, None, "0.003/s"),
        (7, 0.000001, None, "0.000007/s"),
    ],
)
def test_a_share_of_a_capacity_is_written_with_three_digits(
    capacity: int, share: float, among: int | None, written: str
) -> None:
    share_of = tune.Tune(on="reference-null", get="/", share=share, among=among)
    assert tune._written(capacity, share_of) == written
    per_s = capacity * share
    read, exact = (units.duration(written), among / per_s) if among else (units.rate(written), per_s)
    assert read == pytest.approx(exact, rel=0.005)


def test_a_proxy_is_not_asked_for_a_server_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    with reference_server("null") as url:
        assert tune._seconds(url) > 0
