"""The search for a capacity: which levels come next, what is decided; all of it on simulated servers."""

import html
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jostle
from jostle.analysis.trials.data import TrialData
from jostle.capacity.answer import capacity_of
from jostle.capacity.block import Block, SloTally, block_of
from jostle.capacity.changes import read_changes
from jostle.capacity.fitted import with_model
from jostle.capacity.levels import by_level, crossing_of
from jostle.capacity.question import CapacityQuestion, question_of
from jostle.capacity.queueing.erlang import response_tail
from jostle.capacity.recorded import RecordedSearch
from jostle.capacity.run import Tell, measure
from jostle.capacity.search import Search, estimate_of
from jostle.capacity.sizing import sized
from jostle.capacity.slo import read_slo, read_slos
from jostle.capacity.what_if import what_if
from jostle.capacity.workloads import LevelWorkload, level_workload, read_level
from jostle.errors import BadValue, NotARun, PlanError, UnknownName
from jostle.record import RunRecord
from jostle.report.charts import capacity as charts
from jostle.report.document import Table, columns
from support.rendered import rendered
from support.simulated import question
from support.synthetic import Request, Trial, make_run

SLOS = read_slos(["p99 < 100 ms"])
WORKERS = {"discipline": "workers", "workers": 4, "service": "exponential 10ms"}


@pytest.mark.parametrize(
    ("text", "share", "limit"),
    [("p99 < 100 ms", 0.01, 0.1), ("p99.9 < 1s", 0.001, 1.0), ("errors < 1 %", 0.01, None)],
)
def test_an_slo_is_a_share_of_requests(text: str, share: float, limit: float | None) -> None:
    slo = read_slo(text)
    assert (slo.share, slo.limit_s) == (pytest.approx(share), limit)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("fast", "not a condition"),
        ("p98 < 1s", "p98"),
        ("p99 < 100", "unit of time"),
        ("p99 > 1s", "asks for more"),
        ("p99 < 0s", "no time"),
        ("errors < 0 %", "cannot be tested"),
        ("throughput < 5/s", "not throughput"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_words(text: str, word: str) -> None:
    with pytest.raises(BadValue, match=word):
        read_slo(text)


def block(level: float, n: int, exceeded: int, **more: Any) -> Block:
    return Block(level, 1, (SloTally(n, exceeded),), **more)


def test_a_level_is_decided_by_the_sequential_test_over_all_of_its_blocks() -> None:
    def decided(*blocks: Block) -> str:
        (level,) = by_level(blocks, SLOS)
        return level.decided

    assert decided(block(100, 500, 0)) == "undecided"
    assert decided(block(100, 500, 0), block(100, 500, 0)) == "holds"
    assert decided(block(100, 500, 30)) == "misses"
    assert decided(block(100, 500, 30, limited="busy"), block(100, 900, 0)) == "holds"
    assert decided(block(100, 500, 30, limited="busy")) == "generator"
    assert decided(block(100, 500, 30, spoiled="stolen")) == "spoiled"
    assert decided(block(100, 0, 0, died="it ended")) == "misses"


def test_the_capacity_is_not_above_a_level_at_which_the_server_died() -> None:
    """The share of late requests alone would put it at about 300."""
    alive = [block(100, 5_000, 5), block(200, 5_000, 15), block(400, 5_000, 200)]
    unharmed = crossing_of(by_level(alive, SLOS), 0)
    died = crossing_of(by_level([*alive, block(240, 0, 0, died="it ended")], SLOS), 0)
    assert unharmed is not None
    assert unharmed.level > 240
    assert died is not None
    assert died.low < died.level <= 240


def test_a_level_far_from_the_limit_is_decided_however_large_clusters_would_be_at_it() -> None:
    slos = read_slos(["p99 < 200 ms"])

    def block(rate: float, n: int, late: int) -> Block:
        return Block(rate, 1, (SloTally(8 * n, 8 * late, ((n, late),) * 8),), rate)

    low, high = by_level([block(449, 220, 0), block(14_400, 6_600, 6_600)], slos)
    assert (low.decided, high.decided) == ("holds", "misses")
    assert high.tau(0) == 1
    assert high.tau_at_limit(0) == 6_600  # theory expects 780,000; each part counts for one


def test_what_comes_in_clusters_counts_for_less() -> None:
    even = SloTally(1000, 20, tuple((125, k) for k in (3, 2, 3, 2, 3, 2, 3, 2)))
    clustered = SloTally(1000, 20, ((125, 20), *((125, 0) for _ in range(7))))
    levels = [by_level([Block(100, 1, (tally,))], SLOS)[0] for tally in (even, clustered)]
    assert levels[0].tau(0) == 1.0
    assert levels[1].tau(0) > 10
    near = by_level([Block(100, 1, (clustered,)), Block(90, 2, (SloTally(1000, 0),))], SLOS)
    assert near[0].tau(0) == near[1].tau(0)  # where nothing was late nobody sees how it would cluster


def search(**more: Any) -> Search:
    settings = {
        "start": 25.0,
        "most": float("inf"),
        "whole": False,
        "precision": 0.05,
        "seed": 1,
        "model": False,
    }
    return Search(SLOS, **{**settings, **more})


def found_by(search: Search, truth: Any, n: int = 2000, batches: int = 30) -> list[Block]:
    """The blocks of a search on a server that breaks the SLO for a share `truth(level)`."""
    rng, blocks = np.random.default_rng(3), list[Block]()
    for batch in range(batches):
        step = search.next(blocks, batch)
        if not step.levels:
            break
        blocks += [block(level, n, int(rng.binomial(n, truth(level)))) for level in step.levels]
    return blocks


def test_it_doubles_until_the_slo_breaks_and_closes_in() -> None:
    blocks = found_by(search(), lambda level: response_tail(0.1, 4, level * 0.01, 0.01))
    assert [one.level for one in blocks[:5]] == [25, 50, 100, 200, 400]
    found = estimate_of(by_level(blocks, SLOS))
    assert found is not None
    assert found.low <= 350.09 <= found.high
    assert found.high / found.low < 1.15


def test_clients_are_whole_and_the_search_goes_down_where_the_first_level_misses() -> None:
    crowd = found_by(search(start=1.0, whole=True), lambda n: 0.001 if n <= 11 else 0.2)
    assert all(one.level == int(one.level) for one in crowd)
    found = estimate_of(by_level(crowd, SLOS))
    assert found is not None
    assert 11 <= found.level < 12.5
    below = found_by(search(start=100.0), lambda level: response_tail(0.1, 1, level * 0.01, 0.01))
    assert min(one.level for one in below) < 54


def test_it_ends_where_nothing_breaks_the_slo() -> None:
    blocks = found_by(search(most=1000.0), lambda _: 0.0)
    assert blocks[-1].level == 1000
    assert search(most=1000.0).next(blocks, 9).levels == ()


@pytest.mark.parametrize("most", [1000.0, 1024.0, 2048.0])
def test_no_level_is_above_the_highest_that_is_allowed_which_is_reached(most: float) -> None:
    assert found_by(search(most=most), lambda _: 0.0)[-1].level == most
    assert search(most=most).rounded(2 * most) == most
    assert search(most=50.0, whole=True).rounded(80.4) == 50


def test_requests_that_pile_up_break_an_slo_about_errors(tmp_path: Path) -> None:
    """A server of 100/s is asked for 200/s: nothing has failed yet after 4 s, but half of them will."""
    arrivals = [k / 200 for k in range(800)]
    requests = [
        Request(at, at, min(0.01 * (k + 1), 4.0), "ok" if 0.01 * (k + 1) <= 4.0 else "unfinished")
        for k, at in enumerate(arrivals)
    ]
    rates = {"arrivals": "constant", "rates": [{"from": 200.0, "to": 200.0}], "max_connections": 10_000}
    folder = make_run(tmp_path, [Trial("go", "w", 1, requests, 4.0, 0.1, load={"open": rates})])
    (trial,) = RunRecord.open(folder).trials
    (tally,) = block_of(TrialData(trial), 200.0, read_slos(["errors < 1 %"])).tallies
    assert tally.exceeded == 400


def test_a_busy_generator_is_asked_again_and_then_believed() -> None:
    blocks = [block(25, 2000, 0), block(50, 2000, 0), block(100, 2000, 400, limited="it is busy")]
    assert search().next(blocks, 3).levels == (100,)
    blocks.append(block(100, 2000, 300, limited="it is busy"))
    (between,) = search().next(blocks, 4).levels
    assert 50 < between < 100
    assert estimate_of(by_level(blocks, SLOS)) is None


def test_a_machine_that_is_taken_away_is_no_limit_of_the_generator() -> None:
    blocks = [block(25, 2000, 0), *(block(50, 2000, 0, spoiled="stolen") for _ in range(3))]
    assert search().next(blocks, 3).levels == (50,)
    last = search().next([*blocks, block(50, 2000, 0, spoiled="stolen")], 4)
    assert last.levels == ()
    assert "busy with other work" in last.why


@pytest.mark.parametrize(
    ("level", "name"),
    [
        (LevelWorkload(400.0, "/s", False), "rate-400"),
        (LevelWorkload(0.25, "/s", True), "rate-0.25-held-out"),
        (LevelWorkload(32.0, "clients", False), "clients-32"),
    ],
)
def test_the_name_of_a_level_is_read_again(level: LevelWorkload, name: str) -> None:
    assert level_workload(level) == name
    assert read_level(name) == level
    with pytest.raises(ValueError, match="by-hand"):
        read_level("rate-by-hand")


def simulated(folder: Path, *slos: str, seed: int = 5, **more: Any) -> RecordedSearch:
    simulate = more.pop("simulate", WORKERS)
    asked = question(simulate, slos, **more)
    return RecordedSearch(RunRecord.open(measure(asked, folder, seed, lambda _text, _final: None)))


def test_the_whole_of_it_on_a_simulated_server(tmp_path: Path) -> None:
    said: list[str] = []
    asked = question(WORKERS, ["p99 < 100 ms"], budget_s=150.0)
    folder = measure(asked, tmp_path, 5, lambda text, _final: said.append(text))
    found = RecordedSearch(RunRecord.open(folder))
    assert found.record.complete  # the plan grew, and the record knows
    result = with_model(found, capacity_of(found))
    assert result.answer == "found"
    assert result.capacity.low is not None
    assert result.capacity.high is not None
    assert result.capacity.low <= 350.09 <= result.capacity.high
    assert result.sentences[0].startswith("p99 < 100 ms holds up to ")
    assert result.hysteresis is not None
    assert result.hysteresis.holds
    assert result.model is not None
    assert any(one.startswith("one at a time: ") for one in said)
    assert json.loads(json.dumps(result.as_json()))["kind"] == "jostle capacity"
    assert "p99" in rendered(result, "md")
    assert html.escape(result.sentences[0]) in rendered(result, "html")


def test_a_crowd_is_a_number_of_clients(tmp_path: Path) -> None:
    found = simulated(
        tmp_path,
        "p90 < 55 ms",
        simulate={"discipline": "workers", "workers": 2, "service": "10ms"},
        closed=True,
        budget_s=60.0,
        quick=True,
    )
    result = capacity_of(found)
    assert result.unit == "clients"
    # Ten clients without think time wait for five turns of two, 50 ms; of eleven some wait for six.
    assert result.answer == "found"
    assert result.capacity.low is not None
    assert result.capacity.high is not None
    assert result.capacity.low <= 10 <= result.capacity.high
    picture = charts.sent(result, Table("t", columns("level")))
    assert picture is not None
    assert picture.reading == (
        "Above: responses per second; below: the generator's share of a core; "
        "shaded: the interval of the capacity."
    )
    unknown = replace(result, capacity=replace(result.capacity, low=None))
    for draw in (charts.curve, charts.sent):
        picture = draw(unknown, Table("t", columns("level")))
        assert picture is not None
        assert "shaded" not in picture.reading


def test_one_request_that_is_too_slow_alone_ends_it_at_once(tmp_path: Path) -> None:
    result = capacity_of(simulated(tmp_path, "p99 < 5 ms"))
    assert result.answer == "none"
    assert result.levels == []
    assert "one request at a time" in result.sentences[0]


def test_a_server_that_never_breaks_it_is_not_given_a_capacity(tmp_path: Path) -> None:
    waits = {"service": "10ms", "waits": ["/"]}
    result = capacity_of(simulated(tmp_path, "p99 < 100 ms", simulate=waits, most=400.0, quick=True))
    assert result.answer in ("at least", "undecided")
    assert result.capacity.high is None


def test_a_run_of_another_kind_is_no_capacity() -> None:
    with pytest.raises(NotARun, match="not a run of jostle capacity"):
        RecordedSearch(RunRecord.open(Path(__file__).parents[1] / "data" / "run-format-1"))


@pytest.mark.parametrize(
    ("target", "label", "path"),
    [
        ("http://127.0.0.1:80/x", "127.0.0.1", "/x"),
        ("localhost:8080/x?y=1", "localhost", "/x?y=1"),
        ("ann:secret@web/x", "web", "/x"),
        ("reference-workers:workers=3/work?us=5", "reference-workers:workers=3", "/work?us=5"),
        ("reference-null", "reference-null", "/"),
    ],
)
def test_a_target_is_a_url_or_a_contestant_with_a_path(target: str, label: str, path: str) -> None:
    plan = question_of(target, ["p99 < 1s"], {}).plan
    assert plan.contestants == [label]
    assert plan.workload["alone"].request[0].path == path


def test_a_target_that_is_neither_and_a_timeout_that_is_too_short_are_refused() -> None:
    with pytest.raises(UnknownName, match="nodes"):
        question_of("nodes/fast", ["p99 < 1s"], {})
    with pytest.raises(PlanError, match="given up after"):
        question_of("http://localhost/", ["p99 < 20s"], {})
    with pytest.raises(BadValue, match="what must hold"):
        question_of("http://localhost/", [], {})


def test_changes_are_read_and_nonsense_is_refused() -> None:
    changes = read_changes(["workers=8", "service=-20%", "rate=400/s"])
    assert (changes.workers, changes.factor, changes.rate) == (8, pytest.approx(0.8), 400.0)
    assert read_changes(["service=8ms"]).service_s == pytest.approx(0.008)
    for texts in ([], ["workers"], ["cores=2"], ["service=20%"], ["rate=1/s", "clients=2"], ["workers=0"]):
        with pytest.raises(BadValue):
            read_changes(texts)


def test_sizing_says_how_many_and_why_none() -> None:
    found = sized("300/s", None, "0s", "12ms", 1.0, "p99 < 100 ms")
    assert found.workers == 5
    assert "Erlang C" in found.assumptions[0]
    assert sized("300/s", None, "0s", "12ms", 1.0, "errors < 1 %").workers == 9
    assert sized(None, "100", "1s", "50ms", 1.0, "p99 < 300 ms").workers == 6
    assert sized("300/s", None, "0s", "12ms", 1.0, "p99 < 10 ms").workers is None
    with pytest.raises(BadValue, match="It takes a load"):
        sized("300/s", None, "0s", None, 1.0, "p99 < 100 ms")


def test_twice_the_workers_carry_about_twice_as_much(tmp_path: Path) -> None:
    found = simulated(tmp_path, "p99 < 40 ms", simulate={"workers": 2, "service": "10ms"}, budget_s=150.0)
    predicted = what_if(found.record, read_changes(["workers=4"]))
    capacity = predicted.figures[0]
    assert capacity.now is not None
    assert capacity.now.value
    assert capacity.predicted.value
    assert 2.0 < capacity.predicted.value / capacity.now.value < 2.8
    assert capacity.predicted.high is not None
    assert capacity.predicted.high <= 400  # four workers of 10 ms, whatever was measured with two
    assert "not measured" in predicted.sentences[-1]


def test_from_python_a_capacity_is_asked_for_as_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[CapacityQuestion] = []

    def measured(given: CapacityQuestion, into: Path, seed: int | None, tell: Tell) -> Path:
        asked.append(given)
        return measure(question(WORKERS, ["p99 < 5 ms"]), into, seed, tell)

    monkeypatch.setattr("jostle.capacity.find.measure", measured)
    result = jostle.capacity(
        "http://127.0.0.1:9/work", "p99 < 100 ms", quick=True, most=500.0, into=tmp_path, headers=["a: b"]
    )
    assert (result.answer, Path(result.folder).parent) == ("none", tmp_path)
    (given,) = asked
    assert given == question_of(
        "http://127.0.0.1:9/work", ["p99 < 100 ms"], {"headers": ["a: b"]}, quick=True, most=500.0
    )
    with pytest.raises(BadValue):
        jostle.capacity("http://127.0.0.1:9/", ["p99 < 100 ms", "it is fast"])
