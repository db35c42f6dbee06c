"""`jostle explain RUN`: what the record of an ordinary run says of its slow requests, without any probe."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from jostle import cli
from jostle.errors import PlanError
from jostle.explain.documents.document import explanation_document
from jostle.explain.finding import Finding, Topic
from jostle.explain.reason import Reason
from jostle.explain.recorded import explain_run
from jostle.explain.results import Explanation
from jostle.record import RunRecord
from jostle.report.export import html, md
from support.light_streams import Asked, Loop, by_chance, cron
from support.synthetic import Request, Trial, make_run

NAMES = ("/hello", "/report")
SECONDS = 54.0


def requests(*, share: float = 0.0, job: bool = False) -> list[Request]:
    """Of a server with an event loop."""
    routes = {"/hello": Asked(35, 0.0003), "/report": Asked(8, 0.0064, slow=by_chance(share))}
    still = cron(2.08, 0.080, SECONDS) if job else ()
    answered = Loop(routes, pauses=still).answers(SECONDS)
    return [
        Request(sent, sent, end, client=client, of=NAMES.index(answered.names[route]))
        for route, client, sent, end in zip(
            answered.route.tolist(),
            answered.connection.tolist(),
            answered.sent_s.tolist(),
            answered.end_s.tolist(),
            strict=True,
        )
        if end < SECONDS
    ]


def recorded(folder: Path, found: list[Request], *, rows: bool = True, interval: float = 0.25) -> Explanation:
    load = {"open": {"arrivals": "poisson", "rates": [{"from": 43.0, "to": 43.0}], "max_connections": 8}}
    trial = Trial(
        "mine", "mix", 1, found, duration=SECONDS, interval=interval, load=load, rows=rows, mix=NAMES
    )
    return explain_run(RunRecord.open(make_run(folder, [trial])))


def of(explanation: Explanation, topic: Topic) -> Finding:
    return next(one for one in explanation.findings if one.topic is topic)


def test_one_in_twenty_that_blocks_is_found_in_the_rows_of_a_run(tmp_path: Path) -> None:
    explanation = recorded(tmp_path, requests(share=0.05))
    assert explanation.paragraph.startswith("1 in ")
    assert "responses of /report (" in explanation.paragraph
    assert "and other requests wait meanwhile" in explanation.paragraph
    slowest = of(explanation, Topic.SLOWEST)
    assert slowest.says.startswith("The slowest 1 % took ")
    page = html.render(explanation_document(explanation))
    assert "responses of /report" in page
    assert "limits were" not in md.render(explanation_document(explanation))


def test_a_job_is_found_with_rows_and_without(tmp_path: Path) -> None:
    with_rows = recorded(tmp_path / "rows", requests(job=True))
    without = recorded(tmp_path / "none", requests(job=True), rows=False)
    for explanation in (with_rows, without):
        every = of(explanation, Topic.PAUSES).figure("every")
        assert every is not None
        assert every.value == pytest.approx(2.08, rel=0.03)
    for topic in (Topic.RARE, Topic.SLOWEST):
        finding = of(without, topic)
        assert finding.reason is Reason.NO_ROWS
        assert "rows = true" in finding.would_tell


def test_a_quiet_run_has_nothing_to_find(tmp_path: Path) -> None:
    explanation = recorded(tmp_path, requests())
    assert explanation.paragraph.startswith("No fault was found.")
    assert of(explanation, Topic.PAUSES).absent


def test_what_came_before_the_slowest_is_named(tmp_path: Path) -> None:
    rng = random.Random(2)
    found, at, slow = [], 0.0, False
    while at < SECONDS - 1:
        name = 1 if rng.random() < 0.02 else 0
        took = 0.2 if slow and name == 0 else 0.002
        found.append(Request(at, at, at + took, of=name))
        slow = name == 1
        at += took + rng.expovariate(60)
    explanation = recorded(tmp_path, found)
    assert "came right after a request for /report" in of(explanation, Topic.SLOWEST).says


def test_a_run_without_a_response_is_refused_in_words(tmp_path: Path) -> None:
    nothing = replace(Trial("mine", "mix", 1, []), status="failed", why="it did not start")
    with pytest.raises(PlanError, match="has nothing to explain"):
        explain_run(RunRecord.open(make_run(tmp_path, [nothing])))


def test_the_command_takes_the_folder_of_a_run_and_no_option_of_a_probe(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    load = {"open": {"arrivals": "poisson", "rates": [{"from": 43.0, "to": 43.0}], "max_connections": 8}}
    trial = Trial("mine", "mix", 1, requests(share=0.05), duration=SECONDS, load=load, rows=True, mix=NAMES)
    folder = make_run(tmp_path, [trial])
    with pytest.raises(SystemExit) as left:
        cli.main(["explain", str(folder)])
    assert left.value.code == 0
    assert "responses of /report" in capsys.readouterr().out
    with pytest.raises(SystemExit) as left:
        cli.main(["explain", str(folder), "--slow", "/x"])
    assert left.value.code == 2
    assert "a run cannot be combined with --slow" in capsys.readouterr().err
