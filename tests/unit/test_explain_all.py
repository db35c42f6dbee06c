"""`jostle explain --all`: declared against found, contestant after contestant."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from jostle import roster
from jostle.analysis.results import Estimate
from jostle.cli.exit_codes import ExitCode
from jostle.cli.explain_all import MAX_S, MIN_S, all_labels, explain_all, share_s
from jostle.contestant import find
from jostle.errors import MissingRuntime, UnknownName
from jostle.explain.discipline.candidates import Family
from jostle.explain.discipline.inference import Decision, Inference, Range
from jostle.explain.documents.declared import declared, judged
from jostle.explain.finding import Topic, decided_finding
from jostle.explain.probes.discipline import SHARED, TO_ITS_END, with_more_cores
from jostle.explain.results import Explanation, RouteEntry
from jostle.explain.server.limits import THOROUGH
from support.served import FAST, HALF, QUARTER, SLOW, Server, explained

Examined = Callable[[str, float], Explanation]


@pytest.fixture(scope="module")
def one_worker() -> Explanation:
    """An event loop on one core."""
    return replace(explained(Server(), FAST, SLOW, HALF, QUARTER, limits=THOROUGH), cores=1)


@pytest.mark.parametrize(
    ("label", "cores", "families", "workers"),
    [
        ("node", 1, {Family.FIRST_COME}, 1),
        ("reference-workers", 1, {Family.FIRST_COME}, 2),
        ("java-virtual-threads", 4, {Family.FIRST_COME}, 4),
        ("rails-unicorn", 4, {Family.FIRST_COME}, 4),
        ("rails-unicorn", 1, {Family.LOCKED_THREADS, Family.SHARING}, None),
        ("node-cluster", 2, {Family.OWN_QUEUES}, None),
        ("node-cluster", 1, {Family.SHARED_QUEUES}, None),
        ("ruby-puma", 2, {Family.LOCKED_THREADS}, None),
        ("erlang-cowboy", 1, {Family.SHARING}, None),
        ("go", 1, {Family.SHARING, Family.WATCHDOG}, None),
        ("haskell-warp", 1, {Family.GATED_ANSWERS}, None),
        ("haskell-warp:yields", 1, {Family.SHARING}, None),
        ("rust-axum", 1, {Family.GATED_SLOT}, None),
        ("rust-axum", 2, {Family.FIRST_COME}, 2),
        ("rust-axum:spawn_blocking", 1, {Family.SHARING}, None),
        ("reference-gated-lifo", 1, {Family.GATED_LAST_COME}, None),
    ],
)
def test_a_declaration_says_which_findings_agree_with_it(
    label: str, cores: int, families: set[Family], workers: int | None
) -> None:
    contestant = find(label)
    said = declared(contestant.file, contestant.variants, cores)
    assert (set(said.families), said.workers) == (families, workers)


def test_every_declaration_is_of_a_form_that_is_understood() -> None:
    known = ("processor sharing", "run to completion", "c workers")
    for name in roster.names():
        file, _ = roster.load(name)
        for clause in file.discipline.split(";"):
            words = clause.strip().rpartition(": ")[2]
            assert words.startswith(known) or "share a core in slices" in words, name


def test_settings_that_change_the_declaration_are_asked_too() -> None:
    labels = all_labels()
    assert {"haskell-warp", "haskell-warp:yields", "rust-axum:spawn_blocking"} <= {*labels}
    spoken = {name for name in roster.names() if "HTTP/1.1" in roster.load(name)[0].speaks}
    assert {*labels} & {*roster.names()} == spoken
    assert [find(label).label for label in labels] == labels


def test_what_was_found_agrees_differs_or_cannot_be_told(one_worker: Explanation) -> None:
    node, pool, erlang = (
        declared(c.file, c.variants, 2) for c in map(find, ("node", "reference-workers", "erlang-cowboy"))
    )
    assert one_worker.family is Family.FIRST_COME
    assert judged(node, one_worker) == "agrees"
    assert judged(pool, one_worker) == "differs"  # two workers were declared, and one was found
    assert judged(erlang, one_worker) == "differs"
    assert judged(node, replace(one_worker, family=None, findings=[])) == "undecided"
    for figure, agreeing, differing in ((SHARED, erlang, node), (TO_ITS_END, node, erlang)):
        rough = decided_finding(Topic.DISCIPLINE, "Told in part.", figures={figure: Estimate(1.0)})
        part = replace(one_worker, family=None, findings=[rough])
        assert judged(agreeing, part) == "agrees in part"
        assert judged(differing, part) == "differs"
    static = replace(one_worker, family=None, routes=[RouteEntry("/", "fast", 6e-5)])
    assert judged(node, static) == "no work"
    two = decided_finding(Topic.DISCIPLINE, "Two.", figures={"workers": Estimate(1.0, 1.0, 2.0)})
    assert judged(node, replace(one_worker, findings=[two])) == "agrees"


def test_a_table_is_kept_after_each_and_what_is_known_is_not_asked_again(
    one_worker: Explanation, tmp_path: Path
) -> None:
    asked: list[str] = []

    def examined(label: str, seconds: float) -> Explanation:
        assert seconds == MAX_S
        asked.append(label)
        if label == "go":
            raise MissingRuntime("go needs 'go': it is not there", "apt-get install golang")
        if label == "node-express":
            raise KeyboardInterrupt
        return replace(one_worker, target=label)

    labels = ["node", "go", "node-express"]
    assert explain_all(tmp_path, labels, None, examined) is ExitCode.INVALID_RESULT
    table = (tmp_path / "explain.md").read_text()
    assert "agrees" in table
    assert "go needs 'go'" in table
    assert "its turn has not come" in table
    assert "](node.html)" not in table  # Markdown goes where the pages do not
    assert "node.html" in (tmp_path / "index.html").read_text()
    assert json.loads((tmp_path / "node.json").read_text())["family"] == "first-come-first-served"
    explain_all(tmp_path, labels, None, examined)
    assert asked == ["node", "go", "node-express", "go", "node-express"]


def test_a_table_may_be_made_in_parts(one_worker: Explanation, tmp_path: Path) -> None:
    def on(day: int) -> Callable[[str, float], Explanation]:
        began = int(datetime(2026, 11, day, tzinfo=UTC).timestamp() * 1e9)
        return lambda label, _seconds: replace(one_worker, target=label, started_unix_ns=began)

    assert explain_all(tmp_path, ["node-express"], None, on(24)) is ExitCode.DONE
    assert explain_all(tmp_path, ["node", "haskell-warp:yields"], None, on(30)) is ExitCode.DONE
    table = (tmp_path / "explain.md").read_text()
    rows = [line.split("|") for line in table.splitlines() if line.startswith(("| node", "| haskell"))]
    assert [(row[1].strip(), row[-2].strip()) for row in rows] == [
        ("haskell-warp:yields", "2026-11-30"),
        ("node", "2026-11-30"),
        ("node-express", "2026-11-24"),
    ]
    assert "2026-11-24 to 2026-11-30" in table
    assert "3 contestants:" in table


@pytest.mark.parametrize(
    ("family", "workers", "cores", "says"),
    [
        (Family.LOCKED_THREADS, 1, 1, "Processes of one thread look the same on one core"),
        (Family.LOCKED_THREADS, 1, None, "Processes of one thread look the same on one core"),
        (Family.LOCKED_THREADS, 1, 2, ""),
        (Family.LOCKED_THREADS, 2, 2, ""),
        (Family.SHARED_QUEUES, 2, 1, "On a core each they would compute side by side."),
        (Family.SHARING, 1, 1, "whether it would use more cannot be seen"),
        (Family.SHARING, 2, 2, ""),
        (Family.FIRST_COME, 1, 1, "whether it would have more workers with more cannot be seen"),
        (Family.FIRST_COME, 1, 2, ""),
        (Family.FIRST_COME, 1, None, ""),
    ],
)
def test_what_depends_on_the_cores_that_a_server_had_says_so(
    family: Family, workers: int, cores: int | None, says: str
) -> None:
    number = Range(float(workers), float(workers))
    inference = Inference(Decision(False), Decision(number), Decision(True), Decision(family), workers=number)
    told = with_more_cores(family, inference, cores)
    assert (says in told) if says else (told == "")


def test_the_cores_are_named_where_a_server_computes(one_worker: Explanation) -> None:
    """This one's use of the processor is not known; jostle gave it no cores."""
    found = one_worker.finding(Topic.DISCIPLINE)
    assert found is not None
    assert found.says == "One worker, first come, first served."
    alone = explained(Server(), FAST, SLOW, HALF, QUARTER, limits=THOROUGH, cores=1)
    on_one = alone.finding(Topic.DISCIPLINE)
    assert on_one is not None
    assert on_one.says.endswith("whether it would have more workers with more cannot be seen.")


def test_a_mistake_of_ours_does_not_stop_the_others(
    one_worker: Explanation, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def examined(label: str, _seconds: float) -> Explanation:
        return 1 / 0 if label == "node" else one_worker  # type: ignore[return-value]

    assert explain_all(tmp_path, ["node", "node-express"], None, examined) is ExitCode.DONE
    assert "ZeroDivisionError" in (tmp_path / "explain.md").read_text()
    assert "Traceback" in capsys.readouterr().err


def test_without_time_none_is_begun_and_the_table_says_so(tmp_path: Path) -> None:
    def examined(label: str, _seconds: float) -> Explanation:
        raise AssertionError(label)

    assert explain_all(tmp_path, ["node", "go"], 10.0, examined) is ExitCode.INVALID_RESULT
    assert (tmp_path / "explain.md").read_text().count("the time was over before its turn") == 2


def test_the_time_is_shared_among_those_that_are_left() -> None:
    assert share_s(None, 1e6, 3) == MAX_S
    assert share_s(600.0, 0.0, 4) == pytest.approx(135.0)
    assert share_s(3600.0, 0.0, 4) == MAX_S
    assert share_s(600.0, 500.0, 4) == MIN_S
    assert share_s(600.0, 560.0, 1) is None


def test_a_name_that_no_contestant_has_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="nodee"):
        explain_all(tmp_path, ["node", "nodee"], None, lambda _label, _seconds: 1 / 0)  # type: ignore[arg-type,return-value]
