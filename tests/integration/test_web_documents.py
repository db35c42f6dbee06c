"""The documents that the page opens: capacities, explanations; and what it says of damaged records."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from jostle.explain.documents.folder import keep
from jostle.explain.results import Explanation
from support.judging import STEADY
from support.synthetic import Trial, closed, lognormal, make_run
from support.web import Served, get, web

PAGE = {"Accept": "text/html,application/xhtml+xml"}
ONE = [Trial("a", "w", 1, closed(lognormal(0.01, 0.1), 2.0), 2.0)]
CAPACITY = 'title = "x"\nparameters.capacity-slo = "errors < 10 %"\n'


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A capacity, explanations in a run and beside it, and what cannot be read."""
    base = tmp_path_factory.mktemp("runs")
    alone = Trial("srv", "alone", 1, closed(STEADY, 2.0), duration=2.0)
    make_run(base, [alone], plan_text=CAPACITY, slug="capacity")
    explained = make_run(base, ONE, slug="explained")
    (explained / "explained").mkdir()
    keep(explained / "explained", "go:procs=1", explanation())
    kept = base / "2026-01-02T03-04-05-explain"
    kept.mkdir()
    (kept / "explanation.json").write_text(json.dumps(explanation().as_json()))
    (kept / "explain.html").write_text("<h1>one server</h1>")
    everything = base / "2026-01-03T03-04-05-explain-all"
    everything.mkdir()
    (everything / "explain.md").touch()
    (everything / "index.html").write_text('<a href="go.html">go</a>')
    (everything / "go.html").write_text("<h1>go alone</h1>")
    (everything / "stolen.html").symlink_to("/etc/hostname")
    (base / "2026-01-04-website").mkdir()
    (base / "2026-01-04-website" / "index.html").write_text("<h1>no explanation</h1>")
    (make_run(base, ONE, slug="no-host") / "host.json").unlink()
    (make_run(base, ONE, slug="no-plan") / "plan.toml").write_bytes(b"\xff")
    (base / "2026-01-05-empty").mkdir()
    (base / "2026-01-06-begun").mkdir()
    (base / "2026-01-06-begun" / "journal.ndjson").touch()
    return base


def explanation() -> Explanation:
    return Explanation(
        target="<b>shop</b>",
        url="http://localhost:1",
        server="",
        started_unix_ns=0,
        seconds=1.0,
        requests=1,
        connections=1,
        protocol="HTTP/1.1",
        limits="",
        cores=None,
        pressure=None,
        routes=[],
        paragraph="It was in a hurry.",
        findings=[],
    )


@pytest.fixture(scope="module")
def served(base: Path) -> Iterator[Served]:
    with web(base) as served:
        yield served


def run_called(base: Path, slug: str) -> str:
    (folder,) = base.glob(f"*-{slug}")
    return folder.name


def test_a_capacity_opens_as_its_answer(served: Served, base: Path) -> None:
    status, headers, text = get(served, f"/runs/{run_called(base, 'capacity')}/report", PAGE)
    assert status == 200
    assert "<p>Cannot tell up to where errors &lt; 10\N{NO-BREAK SPACE}% holds: too little" in text
    assert headers["content-security-policy"].startswith("sandbox allow-scripts")


def test_explanations_of_a_run_are_listed_and_open(served: Served, base: Path) -> None:
    run = run_called(base, "explained")
    _, _, text = get(served, "/runs", PAGE)
    address = f"/runs/{run}/explained/go-procs%3D1"
    assert f'href="{address}"' in text
    status, headers, text = get(served, address, PAGE)
    assert (status, "&lt;b&gt;shop&lt;/b&gt;" in text) == (200, True)
    assert headers["content-security-policy"].startswith("sandbox allow-scripts")
    assert get(served, f"/runs/{run}/explained/node", PAGE)[0] == 404


def test_explanations_beside_the_runs_are_listed_and_open(served: Served) -> None:
    _, _, text = get(served, "/runs", PAGE)
    addresses = [
        "/explained/2026-01-02T03-04-05-explain/explain.html",
        "/explained/2026-01-03T03-04-05-explain-all/index.html",
    ]
    assert all(f'href="{address}"' in text for address in addresses)
    assert ">&lt;b&gt;shop&lt;/b&gt;</a>" in text
    assert "website" not in text
    for address, content in zip(addresses, ("one server", "go.html"), strict=True):
        status, headers, text = get(served, address, PAGE)
        assert (status, content in text) == (200, True)
        assert headers["content-security-policy"].startswith("sandbox allow-scripts")
    assert "go alone" in get(served, addresses[1].replace("index", "go"), PAGE)[2]


@pytest.mark.parametrize(
    "address",
    [
        "/explained/2026-01-03T03-04-05-explain-all/stolen.html",
        "/explained/2026-01-03T03-04-05-explain-all/explain.md",
        "/explained/2026-01-02T03-04-05-explain/explanation.json",
        "/explained/2026-01-04-website/index.html",
        "/explained/..%2f2026-01-02T03-04-05-explain/explain.html",
        "/explained/nothing/index.html",
    ],
)
def test_nothing_else_of_the_folder_opens(served: Served, address: str) -> None:
    assert get(served, address, PAGE)[0] == 404


def test_a_page_of_one_run_shows_nothing_beside_it(base: Path) -> None:
    with web(base / run_called(base, "explained")) as served:
        assert "Explanations" not in get(served, "/runs", PAGE)[2]
        assert get(served, "/explained/2026-01-02T03-04-05-explain/explain.html", PAGE)[0] == 404


def test_what_cannot_be_read_is_listed_with_its_reason(served: Served) -> None:
    _, _, text = get(served, "/runs", PAGE)
    assert text.count("cannot be read") == 3
    assert "its host.json is missing" in text
    assert "2026-01-05-empty" not in text


@pytest.mark.parametrize(
    ("slug", "sentence"),
    [("no-host", "its host.json is missing"), ("begun", "its host.json is missing")],
)
def test_a_run_without_a_record_is_a_sentence_for_scripts_and_a_page_for_people(
    served: Served, base: Path, slug: str, sentence: str
) -> None:
    run = run_called(base, slug)
    for path in (f"/runs/{run}/report", f"/runs/{run}/events"):
        status, headers, text = get(served, path, PAGE)
        assert (status, headers["content-type"]) == (404, "text/html; charset=utf-8")
        assert sentence in text
        status, headers, text = get(served, path, {"Accept": "text/event-stream"})
        assert (status, headers["content-type"]) == (404, "text/plain; charset=utf-8")
        assert text.endswith(f"{sentence}\n")
    assert get(served, f"/runs/{run}", PAGE)[0] == 200


def test_a_plan_that_cannot_be_read_is_named_where_it_is_needed(served: Served, base: Path) -> None:
    status, _, text = get(served, f"/runs/{run_called(base, 'no-plan')}/report", PAGE)
    assert status == 404
    assert "Plan.toml is damaged: it is not UTF-8" in text
    assert "Traceback" not in text
