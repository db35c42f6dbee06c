"""Plans that are right: what they mean, that they survive being written, and how they are changed."""

import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jostle import experiments
from jostle.errors import PlanError, UnknownName
from jostle.plan import ClosedLoad, OpenLoad, Plan, load_plan, parse_plan, to_toml
from jostle.plan.model import MAX_ROUNDS
from jostle.plan.overrides import Overrides
from jostle.plan.values import Think

CROWD = """
title = "A crowd"
contestants = ["node", "go:procs=1"]

[workload.crowd]
request = { get = "/sleep?ms=100&jitter=0.1" }
load = { clients = 10_000, think = "900ms ± 10%", requests-per-connection = 100, ramp-up = "20m", sustain = "20m", ramp-down = "20m" }
background = { get = "/slow/44", clients = 1, requests = 2 }

[workload.open]
request = [{ get = "/hello", weight = 3 }, { name = "order", post = "/orders/{id}", body = "x", params = { id = ["a", "b"] } }]
load = { rate = "1000/s", for = "1m" }
"""  # noqa: E501


def test_a_plan_means_what_it_says() -> None:
    plan = parse_plan(CROWD, "crowd.toml")
    crowd, stream = plan.workload["crowd"], plan.workload["open"]
    assert (plan.rounds, plan.seed, plan.warm_up, plan.share_cores) == (5, None, 0.0, False)
    assert (crowd.seconds(), crowd.timeout, crowd.rows) == (3600.0, 10.0, False)
    assert isinstance(crowd.load, ClosedLoad)
    assert [(phase.name, phase.for_, phase.ends) for phase in crowd.load.course()] == [
        ("ramp-up", 1200.0, (0, 10_000)),
        ("sustain", 1200.0, (10_000, 10_000)),
        ("ramp-down", 1200.0, (10_000, 0)),
    ]
    assert crowd.background is not None
    assert crowd.background.path == "/slow/44"
    assert crowd.background.load.requests == 2
    assert isinstance(stream.load, OpenLoad)
    assert (stream.load.rate, stream.load.arrivals, stream.seconds()) == (1000.0, "poisson", 60.0)
    assert [request.label for request in stream.request] == ["/hello", "order"]


@pytest.mark.parametrize(
    ("written", "kind", "seconds", "spread", "turns"),
    [
        ("1s", "constant", 1.0, 0.0, ()),
        ("0s", "none", 0.0, 0.0, ()),
        (0, "none", 0.0, 0.0, ()),
        ("900ms ± 10%", "uniform", 0.9, 0.1, ()),
        ("900ms +- 10%", "uniform", 0.9, 0.1, ()),
        ("900ms +/- 10%", "uniform", 0.9, 0.1, ()),
        ("900ms ± 0%", "constant", 0.9, 0.0, ()),
        ("uniform 0s..1s", "uniform", 0.5, 1.0, ()),
        ("uniform 1s..1s", "constant", 1.0, 0.0, ()),
        ("exponential 1s", "exponential", 1.0, 0.0, ()),
        (["100ms", "2s"], "list", 0.0, 0.0, (0.1, 2.0)),
    ],
)
def test_think_times(
    written: Any, kind: str, seconds: float, spread: float, turns: tuple[float, ...]
) -> None:
    think = Think.read(written)
    assert (think.kind, think.seconds, think.spread, think.turns) == (kind, seconds, spread, turns)


def test_parameters_fill_all_texts_and_can_be_changed() -> None:
    text = (
        CROWD.replace("/slow/44", "/slow/{slow}").replace('"1m"', '"{window}"')
        + '[parameters]\nslow = 43\nwindow = "5s"\n[scale.quick]\nslow = 39\n'
    )

    def asked(plan: Plan) -> tuple[str, float | None]:
        background = plan.workload["crowd"].background
        assert background is not None
        return background.path, plan.workload["open"].seconds()

    assert asked(parse_plan(text, "p")) == ("/slow/43", 5.0)
    assert asked(parse_plan(text, "p", scale="quick")) == ("/slow/39", 5.0)
    changed = parse_plan(text, "p", scale="quick", settings={"slow": "41", "window": "2s"})
    assert asked(changed) == ("/slow/41", 2.0)
    assert changed.parameters == {"slow": 41, "window": "2s"}
    assert changed.workload["open"].request[1].path == "/orders/{id}"
    for wrong, says in (({"scale": "quik"}, "scale 'quik'"), ({"settings": {"slo": "1"}}, "parameter 'slo'")):
        with pytest.raises(UnknownName, match=says) as refused:
            parse_plan(text, "p", **wrong)
        assert "did you mean" in refused.value.hint
    with pytest.raises(PlanError, match="'soon' is not a whole number"):
        parse_plan(text, "p", settings={"slow": "soon"})


def test_changes_from_the_command_line() -> None:
    plan = parse_plan(CROWD, "p")
    changed = plan.changed(Overrides(contestants=["node"], rounds=2, duration="30s", processes=3))
    assert (changed.contestants, changed.rounds, changed.processes) == (["node"], 2, 3)
    assert [workload.seconds() for workload in changed.workload.values()] == [30.0, 30.0]
    assert [phase.for_ for phase in changed.workload["crowd"].load.course()] == [10.0, 10.0, 10.0]  # type: ignore[union-attr]
    assert plan.changed(Overrides()) == plan
    with pytest.raises(PlanError, match="changed plan: --rounds: zero"):
        plan.changed(Overrides(rounds=0), {"rounds": "--rounds"})


def test_names_of_contestants_are_changed_wherever_one_is_meant() -> None:
    text = """
    title = "x"
    contestants = ["rails:workers=1", "rails:workers=4"]
    [workload.w]
    contestants = ["rails:workers=4"]
    request = { get = "/{contestant}", params = { contestant = ["rails:workers=4"] } }
    load = { clients = 1, requests = 1 }
    [contestant.rails]
    url = "http://localhost:8080"
    [[require]]
    that = "p99 < 1 s"
    contestant = "rails:workers=4"
    [published]
    source = "somebody"
    figures = [{ contestant = "rails:workers=4", workload = "w", metric = "p50", value = 1, unit = "s" }]
    [[claim]]
    says = "four are better than one"
    [[claim.holds]]
    metric = "p99"
    contestant = "rails:workers=4"
    workload = "w"
    against = { contestant = "rails:workers=1" }
    below = 1
    """
    plan = parse_plan(text, "p")
    changed = plan.with_labels(lambda name: {"rails:workers=4": "rails"}.get(name, name))
    assert changed.contestants == ["rails:workers=1", "rails"]
    assert changed.workload["w"].contestants == [changed.require[0].contestant] == ["rails"]
    assert changed.published
    assert changed.published.figures[0].contestant == changed.claim[0].holds[0].contestant == "rails"
    assert changed.claim[0].holds[0].against
    assert changed.claim[0].holds[0].against.contestant == "rails:workers=1"
    assert changed.workload["w"].request == plan.workload["w"].request
    with pytest.raises(PlanError, match="'rails' is listed twice"):
        plan.with_labels(lambda _: "rails")


def test_a_name_that_would_mean_fewer_contestants_by_their_labels_is_refused() -> None:
    """The label of the variant with the default settings is the bare name, which names all variants."""
    text = """
    title = "t"
    contestants = ["rails:workers=1", "rails:workers=4"]
    contestant.rails = { url = "http://localhost:8080" }
    require = [{ that = "p99 < 1 s", contestant = "rails" }]
    workload.w = { request = { get = "/" }, load = { clients = 1, requests = 1 } }
    """
    plan = parse_plan(text, "p")
    with pytest.raises(PlanError, match="'rails' is ambiguous: it names rails:workers=1 and rails:workers=4"):
        plan.with_labels(lambda name: {"rails:workers=4": "rails"}.get(name, name))
    assert plan.with_labels(str) == plan


@pytest.mark.parametrize("name", experiments.names())
def test_names_that_stay_leave_a_plan_as_it_is(name: str) -> None:
    plan = experiments.load(name)
    assert plan.with_labels(str) == plan


def test_files_count_from_the_plans_folder_and_must_be_there(tmp_path: Path) -> None:
    (tmp_path / "body.json").write_text("{}")
    text = """
    title = "x"
    contestants = ["mine"]
    [contestant.mine]
    command = "./server --port {port}"
    folder = "server"
    [workload.w]
    request = { post = "/", body-file = "body.json" }
    load = { clients = 1, requests = 1 }
    """
    (tmp_path / "plan.toml").write_text(text)
    plan = load_plan(tmp_path / "plan.toml")
    assert plan.workload["w"].request[0].body_file == tmp_path / "body.json"
    assert plan.contestant["mine"].folder == str(tmp_path / "server")
    assert load_plan_text(to_toml(plan), tmp_path / "elsewhere.toml") == plan
    (tmp_path / "body.json").unlink()
    with pytest.raises(PlanError, match=r"workload\.w\.request\.body-file: there is no file .*body\.json"):
        load_plan(tmp_path / "plan.toml")
    parse_plan(to_toml(plan), "an old record is read without its files")


def load_plan_text(text: str, path: Path) -> Plan:
    path.write_text(text)
    return load_plan(path)


def test_what_may_be_a_secret_is_hidden_in_a_record() -> None:
    text = CROWD.replace(
        '{ get = "/sleep?ms=100&jitter=0.1" }', '{ get = "/", headers = { Authorization = "Bearer 1234" } }'
    )
    plan = parse_plan(text.replace('"/slow/44"', '"/slow/44", headers = { X-Api-Key = "5678" }'), "p")
    assert "Bearer 1234" in to_toml(plan, secrets=True)
    assert "5678" in to_toml(plan, secrets=True)
    hidden = to_toml(plan)
    assert "1234" not in hidden
    assert "5678" not in hidden
    assert parse_plan(hidden, "hidden").workload["crowd"].request[0].headers == {"Authorization": "(hidden)"}


NAMES = st.text(string.ascii_lowercase + "-", min_size=1, max_size=8)
DURATIONS = st.integers(1, 10**12).map(lambda ns: f"{ns}ns")
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="{}"), max_size=12)
THINKS = st.one_of(
    DURATIONS,
    DURATIONS.map(lambda d: f"exponential {d}"),
    st.tuples(DURATIONS, st.integers(0, 100)).map(lambda t: f"{t[0]} ± {t[1]}%"),
    st.lists(DURATIONS, min_size=1, max_size=3),
)
RATES = st.floats(1e-3, 1e6).map(lambda r: f"{r!r}/s")
COUNTS = st.integers(1, 2**53)
CONNECTIONS: dict[str, st.SearchStrategy[Any]] = {"requests": COUNTS, "requests-per-connection": COUNTS}
CLOSED = st.one_of(
    st.fixed_dictionaries({"clients": COUNTS, "for": DURATIONS}, optional={"think": THINKS, **CONNECTIONS}),
    st.fixed_dictionaries(
        {"clients": COUNTS, "sustain": DURATIONS}, optional={"ramp-up": DURATIONS, "ramp-down": DURATIONS}
    ),
    st.fixed_dictionaries(
        {
            "phases": st.lists(
                st.fixed_dictionaries({"for": DURATIONS, "from": st.just(0), "to": COUNTS}), min_size=1
            )
        }
    ),
)
OPEN = st.one_of(
    st.fixed_dictionaries(
        {"rate": RATES, "for": DURATIONS}, optional={"arrivals": st.just("constant"), **CONNECTIONS}
    ),
    st.fixed_dictionaries(
        {"rates": st.lists(st.fixed_dictionaries({"for": DURATIONS, "rate": RATES}), min_size=1, max_size=3)}
    ),
)
REQUESTS = st.fixed_dictionaries(
    {"get": st.sampled_from(["/", "/fast/44", "/a?b=c&d=%20"])},
    optional={
        "body": TEXTS,
        "weight": COUNTS,
        "headers": st.dictionaries(st.sampled_from(["Accept", "X-Note"]), TEXTS, max_size=2),
        "expect": st.one_of(TEXTS, st.just(204), st.fixed_dictionaries({"contains": TEXTS})),
    },
)
WORKLOADS = st.fixed_dictionaries(
    {"request": REQUESTS, "load": st.one_of(CLOSED, OPEN)},
    optional={
        "title": TEXTS,
        "timeout": DURATIONS,
        "warm-up": DURATIONS,
        "rows": st.booleans(),
        "background": st.builds(lambda request: request | {"clients": 1}, REQUESTS),
    },
)
PLANS = st.fixed_dictionaries(
    {
        "title": TEXTS,
        "contestants": st.lists(NAMES, min_size=1, max_size=3, unique=True),
        "workload": st.dictionaries(NAMES, WORKLOADS, min_size=1, max_size=2),
    },
    optional={
        "about": TEXTS,
        "rounds": st.integers(1, MAX_ROUNDS),
        "seed": st.integers(0, 2**63 - 1),
        "share-cores": st.booleans(),
    },
)


@settings(max_examples=60)
@given(PLANS)
def test_a_plan_that_is_written_reads_as_the_same_plan(data: dict[str, Any]) -> None:
    plan = Plan.of(data, "generated")
    again = parse_plan(to_toml(plan), "written")
    assert again == plan
    assert to_toml(again) == to_toml(plan)


def test_the_starvation_experiment() -> None:
    assert "starvation" in experiments.names()
    plan = experiments.load("starvation")
    forms = {comparison.form for comparison in plan.starvation}
    assert forms == {"as published", "a slow request per core", "open loop"}
    assert plan.published is not None
    assert {figure.value for figure in plan.published.figures} == {572, 114, 591, 589}
    stream = plan.workload["stream-with-slow"]
    assert isinstance(stream.load, OpenLoad)
    assert stream.rows
    quick = experiments.load("starvation", scale="quick", settings={"slow": "37"})
    background = quick.workload["fast-with-slow"].background
    assert background is not None
    assert background.path == "/slow/37"
    assert quick.rounds == 4
    assert list(quick.tune) == ["window"]  # so that the slow request fits into it on any machine
    builds = [label for label in plan.contestants if label.startswith("haskell-warp")]
    assert len(builds) == 4
    with pytest.raises(UnknownName, match="experiment 'starvatoin'"):
        experiments.load("starvatoin")


def test_a_workload_says_what_is_otherwise_with_the_database() -> None:
    text = (
        CROWD
        + """
        [database]
        pool = 5
        [workload.far]
        request = { get = "/orders" }
        load = { clients = 1, for = "1s" }
        database = { delay = "3ms", index = false }
        """
    )
    plan = parse_plan(text, "p")
    near, far = (plan.database_of(plan.workload[name]) for name in ("crowd", "far"))
    assert near == plan.database
    assert far is not None
    assert (far.pool, far.delay, far.index, far.customers) == (5, 0.003, False, 8000)
    assert parse_plan(to_toml(plan), "again") == plan
    alone = parse_plan(text.replace("[database]\n        pool = 5", ""), "p")
    assert alone.database_of(alone.workload["crowd"]) is None
    assert alone.database_of(alone.workload["far"]) is not None


def test_a_scale_and_the_command_line_say_what_is_measured() -> None:
    text = (
        CROWD
        + '[parameters]\nslow = 1\n[scale.quick]\nslow = 2\nworkloads = ["open"]\ncontestants = ["go"]\n'
    )

    def measured(plan: Plan) -> list[str]:
        return list(plan.selected)

    assert measured(parse_plan(text, "p")) == ["crowd", "open"]
    quick = parse_plan(text, "p", scale="quick")
    assert (quick.contestants, measured(quick), quick.parameters) == (["go"], ["open"], {"slow": 2})
    assert measured(quick.changed(Overrides(workloads=["crowd"]))) == ["crowd"]
    assert measured(parse_plan(to_toml(quick), "again")) == ["open"]
    with pytest.raises(PlanError, match="workloads: there is no workload 'opn'"):
        quick.changed(Overrides(workloads=["opn"]))


def test_a_workload_of_a_name_is_of_its_variants_where_there_are_only_those() -> None:
    stream = parse_plan(CROWD + 'contestants = ["go", "node"]', "p").workload["open"]
    assert stream.measured_on(["node:workers=2", "go", "ruby", "go:procs=1"]) == ["node:workers=2", "go"]
    assert stream.measured_on(["node:workers=2", "go:procs=1"]) == ["node:workers=2", "go:procs=1"]


def test_a_database_of_ones_own_takes_the_place_of_the_plans() -> None:
    plan = parse_plan(CROWD + "[database]\npool = 5\n", "p")
    own = plan.changed(Overrides(database="postgresql://me@here/shop", fill_database=True)).database
    assert own is not None
    assert (own.url, own.fill, own.pool) == ("postgresql://me@here/shop", True, 5)
    assert plan.changed(Overrides()).database == plan.database
    with pytest.raises(PlanError, match=r"database\.url: 'mysql://here/x': 'mysql' is not supported"):
        plan.changed(Overrides(database="mysql://here/x"))
    with pytest.raises(
        PlanError, match=r"database\.url: 'postgresql://a\.\.b/x' is not a URL: each part of the"
    ):
        plan.changed(Overrides(database="postgresql://a..b/x"))
    with pytest.raises(PlanError, match="fill needs the url of a database"):
        plan.changed(Overrides(fill_database=True))
