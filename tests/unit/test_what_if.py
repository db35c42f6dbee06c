"""`jostle what-if`: a run from which nothing can be predicted is no mistake of the user's."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jostle import cli
from jostle.analysis.results import Estimate
from jostle.analysis.results.capacity import FittedModel, Prediction, WhatIfFigure
from jostle.capacity import model as models
from jostle.capacity.changes import WhatIfChanges, read_changes
from jostle.capacity.explained import what_if_explained
from jostle.capacity.run import measure
from jostle.capacity.sizing import sized
from jostle.capacity.what_if import _Fitted, _sentences, _widened, what_if
from jostle.cli.exit_codes import ExitCode
from jostle.errors import BadValue, JostleError, PlanError, UserError
from jostle.record import RunRecord
from support.simulated import question
from support.synthetic import Trial, engine_spec, make_run

FITTED = FittedModel("workers", 4, (4, 4), 0.01, 1.0, [10.0], True, "", [])


def test_a_capacity_that_was_not_found_is_a_result_without_a_prediction(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = {"discipline": "workers", "workers": 4, "service": "exponential 10ms"}
    folder = measure(question(slow, ["p99 < 5 ms"]), tmp_path, 5, lambda _text, _final: None)
    with pytest.raises(SystemExit) as left:
        cli.main(["what-if", str(folder), "workers=8"])
    assert left.value.code == ExitCode.INVALID_RESULT
    assert "there is nothing to predict from" in capsys.readouterr().err


def off_by(error: float, measured_to_s: float) -> FittedModel:
    """A model whose p99 at 99.4/s is off; it was measured between 71 ms and this."""
    predicted = 0.0758 * (1 + error)
    off = Prediction(
        99.4,
        "p99",
        predicted,
        predicted * 0.8,
        predicted * 1.2,
        0.0758,
        error,
        0.25,
        False,
        0.071,
        measured_to_s,
    )
    return replace(FITTED, accepted=False, why=f"its p99 at 99.4 is {error:+.0%} off", predictions=[off])


def of_a_run(judged: FittedModel, **more: Any) -> _Fitted:
    """A model of four workers that was fitted to a run of an open loop."""
    times = tuple([0.0319] * 100)
    spec = make_spec()
    return _Fitted([models.Model("workers", 4, 1.0, times)], judged, spec, "/s", {99.4: {}}, **more)


def make_spec() -> dict[str, Any]:
    load = {
        "arrivals": "poisson",
        "rates": [{"name": "", "duration_ns": None, "from": 99.4, "to": 99.4}],
        "max_connections": 1000,
    }
    workload = engine_spec(Trial("made", "w", 1, [], load={"open": load}))["workloads"][0]
    return {**engine_spec(Trial("made", "w", 1, [])), "workloads": [workload]}


def test_a_model_that_is_far_off_predicts_nothing_and_names_the_likely_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for error, why in ((0.8, "caches"), (-0.6, "a database, a lock or the CPU behind it")):
        rejected = off_by(error, 0.080)
        monkeypatch.setattr("jostle.capacity.what_if._of_any", lambda _, judged=rejected: of_a_run(judged))
        record = RunRecord.open(make_run(tmp_path / why[:3], []))
        with pytest.raises(
            JostleError, match=r"model rejected: 4 workers, .* but its p99 at 99.4 is"
        ) as told:
            what_if(record, read_changes(["workers=8"]))
        assert not isinstance(told.value, UserError)
        assert why in told.value.hint


def test_a_model_that_is_off_where_the_intervals_overlap_predicts_with_a_wider_one() -> None:
    judged = off_by(0.31, 0.0833)
    assert not judged.accepted
    assert judged.usable
    figure = WhatIfFigure("capacity", Estimate(112, 102, 116, "/s"), Estimate(250, 228, 259, "/s"))
    predicted = _widened(figure, judged).predicted
    assert predicted.value == 250
    assert predicted.low == pytest.approx(228 / 1.31)
    assert predicted.high == pytest.approx(259 * 1.31)
    (*_, assumed) = _sentences(of_a_run(judged), read_changes(["workers=8"]), [figure])
    assert "At 99.4/s the model was 31" in assumed
    assert "too pessimistic about the p99: the bands are wider by as much." in assumed
    assert _widened(figure, FITTED) is figure


@pytest.mark.parametrize(
    ("text", "workers", "service_s"),
    [
        ("pool=8", 8, 0.0319),
        ("workers=8", 8, 0.0319),
        ("cpu=2x", 4, 0.0319 / 2),
        ("service=-20%", 4, 0.0319 * 0.8),
        ("service=8ms", 4, 0.008),
    ],
)
def test_what_can_be_changed_changes_the_model(text: str, workers: int, service_s: float) -> None:
    model = models.Model("workers", 4, 1.0, (0.0319,) * 10)
    changed = read_changes([text]).model(model)
    assert changed.workers == workers
    assert changed.service_s == pytest.approx(service_s)


def test_a_faster_processor_helps_only_while_requests_compute() -> None:
    model = models.Model("workers", 4, 1.0, (0.030,) * 10)
    assert read_changes(["cpu=2x"]).model(model, computes=0.2).service_s == pytest.approx(0.027)


def test_a_rate_may_be_given_as_a_change_of_the_highest_one() -> None:
    changes = read_changes(["rate=+50%"])
    assert changes.level(200.0) == pytest.approx(300.0)
    assert read_changes(["rate=80/s"]).level(200.0) == 80.0
    assert read_changes(["workers=8"]).level(200.0) is None


@pytest.mark.parametrize(
    ("texts", "message", "hint"),
    [
        (["cache=2"], "'cache' cannot be changed", "workers, pool, cpu, service, rate and clients"),
        (["workers=8", "pool=4"], "workers and pool together", "give one of them"),
        (["cpu=2x", "service=8ms"], "cpu and service together", "give one of them"),
        (["cpu=fast"], "cpu=fast is not how many times as fast", "cpu=2x"),
        (["rate=50%"], "'50%' does not say whether it is more or less", "rate=-20%"),
    ],
)
def test_what_cannot_be_changed_is_refused_with_what_can(texts: list[str], message: str, hint: str) -> None:
    with pytest.raises(BadValue, match=message) as told:
        read_changes(texts)
    assert hint in told.value.hint


def test_the_calculator_says_which_assumption_decides() -> None:
    found = sized("300/s", None, "0s", "30ms", 1.0, "p99 < 100 ms")
    assert found.workers is None
    assert found.sentences[0] == "No number of workers keeps p99 < 100 ms: the service times alone break it."
    assert "That is so if service times are exponential" in found.sentences[1]
    assert "138 ms" in found.sentences[1]
    assert "if they are constant, 10 workers do" in found.sentences[1]
    constant = sized("300/s", None, "0s", "30ms", 0.0, "p99 < 100 ms")
    assert constant.workers == 10
    assert "if they are exponential" in constant.sentences[-1]
    assert constant.sentences[-1].count("no number does") == 1


@pytest.mark.parametrize(
    ("models", "says"),
    [
        (1, "first served."),
        (2, "The band covers 1 other model that fits as well."),
        (3, "The band covers 2 other models that fit as well."),
    ],
)
def test_other_models_that_fit_are_counted(models: int, says: str) -> None:
    fitted = _Fitted([None] * models, FITTED, {}, "/s", {})  # type: ignore[list-item]
    (said,) = _sentences(fitted, WhatIfChanges(()), [])
    assert said.endswith(says)


def explanation(folder: Path, computes: float | None = None, cores: int | None = None, **slots: Any) -> Path:
    """What explain wrote of a route of 31 ms of which four are served at a time: a pool, or four processes
    behind one address. `computes`: for which share of its time it does, on so many `cores`.
    """
    figures = [
        {
            "name": "slots",
            "figure": {"value": 4.0, "low": 4.0, "high": 4.0, "unit": "", "bound": "", **slots},
        },
        {"name": "wait", "figure": {"value": 0.031, "low": 0.030, "high": 0.032, "unit": "s", "bound": ""}},
    ]
    finding = {"topic": "how many at a time", "says": "/orders: four at a time. …", "figures": figures}
    file = folder / "explanation.json"
    findings = [finding]
    if computes is not None:
        says = f"GET /orders computes for {computes:.0%} of its time."
        share = {"name": "share", "figure": {"value": computes, "low": None, "high": None, "unit": "share"}}
        findings.append({"topic": "CPU or waiting", "says": says, "figures": [share]})
    data = {"kind": "jostle explanation", "findings": findings, "cores": cores}
    file.write_text(json.dumps(data), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("computes", "cores", "per_s", "says"),
    [
        (None, None, 8 / 0.031, "would answer at most 258/s (250 to 267), instead of 129/s"),
        (0.01, 1, 8 / 0.031, "would answer at most 258/s (250 to 267), instead of 129/s (125 to 133)."),
        (1.0, 4, 4 / 0.031, "It computes for 100 % of its time, and has 4 cores."),
        (0.5, 2, 4 / 0.031, "It computes for 50 % of its time, and has 2 cores."),
        (1.0, 16, 8 / 0.031, "It computes for 100 % of its time, which takes as many cores."),
        (1.0, None, 8 / 0.031, "It computes for 100 % of its time, which takes as many cores."),
    ],
)
def test_more_processes_behind_one_route_help_as_far_as_there_are_cores(
    tmp_path: Path, computes: float | None, cores: int | None, per_s: float, says: str
) -> None:
    found = what_if_explained(explanation(tmp_path, computes, cores), read_changes(["workers=8"]))
    (figure,) = found.figures
    assert figure.now is not None
    assert figure.now.value == pytest.approx(4 / 0.031)
    assert figure.predicted.value == pytest.approx(per_s)
    assert says in found.sentences[0].replace("\N{NO-BREAK SPACE}", " ")


def test_a_faster_processor_helps_what_computes_behind_a_limit_only(tmp_path: Path) -> None:
    def per_s(computes: float) -> float | None:
        found = what_if_explained(explanation(tmp_path, computes), read_changes(["cpu=2x"]))
        return found.figures[0].predicted.value

    assert per_s(1.0) == pytest.approx(8 / 0.031)
    assert per_s(0.0) == pytest.approx(4 / 0.031)
    with pytest.raises(PlanError, match="whether /orders computes or waits is not known") as told:
        what_if_explained(explanation(tmp_path), read_changes(["cpu=2x"]))
    assert "--pid" in told.value.hint


def test_an_explanation_says_what_a_larger_pool_would_answer(tmp_path: Path) -> None:
    found = what_if_explained(explanation(tmp_path), read_changes(["pool=8", "rate=200/s"]))
    (figure,) = found.figures
    assert figure.predicted.value == pytest.approx(8 / 0.031)
    assert figure.now is not None
    assert figure.now.low == pytest.approx(4 / 0.032)
    assert "/orders would answer at most 258/s (250 to 267), instead of 129/s" in found.sentences[0]
    assert "busy for 77" in found.sentences[0]
    piled = what_if_explained(explanation(tmp_path), read_changes(["service=-20%", "rate=200/s"]))
    assert "would pile up" in piled.sentences[0]


def test_an_explanation_without_a_limit_or_a_load_predicts_nothing(tmp_path: Path) -> None:
    with pytest.raises(JostleError, match="found no route") as told:
        what_if_explained(explanation(tmp_path, bound="≥"), read_changes(["pool=8"]))
    assert not isinstance(told.value, UserError)
    with pytest.raises(PlanError, match="knows no load"):
        what_if_explained(explanation(tmp_path), read_changes(["rate=+50%"]))
    (tmp_path / "x.json").write_text("[]", encoding="utf-8")
    with pytest.raises(PlanError, match="is no explanation"):
        what_if_explained(tmp_path / "x.json", read_changes(["pool=8"]))
    with pytest.raises(PlanError, match="cannot be read"):
        what_if_explained(tmp_path / "y.json", read_changes(["pool=8"]))
