"""`jostle compare`: two runs, two contestants; conditions, refusals, every form."""

import io
import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

import jostle
from jostle.analysis.compare.sentences import in_words
from jostle.analysis.compare.two import compare_contestants, compare_runs, judge_conditions
from jostle.analysis.results import CompareResult, Comparison, Difference
from jostle.analysis.run import analyse
from jostle.analysis.summaries import counted
from jostle.errors import NotComparable, PlanError, UnknownName, UserError
from jostle.plan.criteria.conditions import change
from jostle.plan.recorded import RecordedPlan
from jostle.record import RunRecord
from jostle.record.verdict import Verdict
from support.commands import run_command
from support.rendered import print_result, rendered
from support.results import make_hit
from support.synthetic import Trial, closed, lognormal, make_run

SECONDS = 2.0

UNTIL_DECIDED = """
rounds = "until decided"
[[require]]
that = "p50 < 2 ms"
"""


def trials(
    medians: dict[str, float], rounds: int = 4, *, clients: int = 1, workload: str = "w"
) -> list[Trial]:
    load = {"closed": {"clients": clients}}
    return [
        Trial(
            name,
            workload,
            number,
            closed(lognormal(median, 0.1), SECONDS, clients=clients, seed=number * 10 + len(name)),
            SECONDS,
            load=load,
        )
        for number in range(1, rounds + 1)
        for name, median in medians.items()
    ]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    base = tmp_path_factory.mktemp("runs")
    before = make_run(base, trials({"node": 0.002, "go": 0.004}), slug="before")
    after = make_run(base, trials({"node": 0.003, "go": 0.004}), slug="after")
    return before, after


def run(*arguments: object) -> tuple[int, str]:
    return run_command("compare", *arguments)


def test_two_contestants_of_one_run(runs: tuple[Path, Path]) -> None:
    code, said = run(runs[0], "--contestants", "node,go")
    assert code == 1, "slower is what fails if nothing else is asked"
    assert "✗ fail: slower, " in said
    assert "is slower: throughput −50 %" in " ".join(said.split())
    assert said.count("go against node: throughput lower (−") == 1
    assert "server cpu higher (+" in " ".join(said.split())
    assert re.search(r"^ +node +go +difference +ratio$", said, re.MULTILINE)
    assert "p50: longer" not in said, "the table says it"
    assert max(map(len, said.splitlines())) <= 80
    assert run(runs[0], "--contestants", "go,node")[0] == 0


def test_an_undecided_condition_is_named_with_what_that_means(runs: tuple[Path, Path]) -> None:
    code, said = run(*runs)
    assert code == 4
    assert "Undecided: slower (w). Exit code 4; --undecided pass makes it 0." in " ".join(said.split())
    code, said = run(*runs, "--undecided", "pass")
    assert code == 0
    assert "That passes, because of --undecided pass." in " ".join(said.split())


def test_one_run_on_each_side_decides_nothing_and_says_why_once(
    runs: tuple[Path, Path],
) -> None:
    code, said = run(*runs, "--fail-if", "p50 > +20 %", "--fail-if", "errors > +1 %")
    words = " ".join(said.split())
    assert code == 4
    assert "? undecided: p50 > +20 %" in said
    assert "? undecided: errors > +1 %" in said
    assert "one run on each side does not show how much runs of the same server differ" in words
    assert "no interval" not in run(*runs)[1]
    assert "jostle compare A1 A2 A3 vs B1 B2 B3" in words
    for c in compared(*runs).comparisons:
        for d in c.differences:
            assert (d.finding, d.ratio.low, d.difference.low) == ("undecided", None, None)
        assert (c.cliffs_delta.low, set(c.shift.low_s)) == (None, {None})


def test_a_condition_on_two_contestants_of_one_run(runs: tuple[Path, Path]) -> None:
    contestants = ("--contestants", "node,go")
    code, said = run(runs[0], *contestants, "--fail-if", "p50 > +20 %", "--fail-if", "errors > +1 %")
    assert code == 1
    assert "✗ fail: p50 > +20 %" in said
    assert "✓ pass: errors > +1 %" in said
    assert run(runs[0], *contestants, "--fail-if", "p50 > +200 %")[0] == 0
    assert run(runs[0], "--contestants", "go,node", "--fail-if", "p50 > +20 %")[0] == 0
    assert run(runs[0], *contestants, "--fail-if", "p50 > +0.2 ms")[0] == 1
    with pytest.raises(PlanError, match="'nan %' is not a percentage"):
        run(runs[0], *contestants, "--fail-if", "p50 > nan %")
    with pytest.raises(NotComparable, match="node is compared with itself"):
        run(runs[0], "--contestants", "node,node")


def test_json_and_markdown_and_junit(runs: tuple[Path, Path]) -> None:
    asked = (runs[0], "--contestants", "node,go", "--fail-if", "p50 > +20 %", "--fail-if", "p50 > +200 %")
    found = json.loads(run(*asked, "--format", "json")[1])
    assert (found["kind"], found["format"]) == ("jostle comparison", 2)
    assert {c["verdict"] for c in found["conditions"]} == {"fail", "pass"}
    assert found["comparisons"][0]["paired"] is True
    assert "| metric | node | go |" in run(*asked, "--format", "md")[1]
    root = ET.fromstring(run(*asked, "--format", "junit")[1])
    conditions, comparisons = root.findall("testsuite")
    assert (conditions.get("tests"), conditions.get("failures")) == ("2", "1")
    assert len(comparisons.findall("testcase/system-out")) == 1


def test_a_job_summary_is_added_where_github_asks(
    runs: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    run(*runs)
    assert summary.read_text().startswith("before\n# ")
    assert "| p50 |" in summary.read_text()


def test_one_round_gives_no_interval_and_says_how_many_it_needs(tmp_path: Path) -> None:
    folder = make_run(tmp_path, trials({"node": 0.002, "go": 0.008}, rounds=1))
    code, said = run(folder, "--contestants", "node,go", "--fail-if", "p50 > +5 %")
    assert code == 4
    assert "? undecided: p50 > +5 %" in said
    assert run(folder, "--contestants", "node,go", "--fail-if", "p50 > +5 %", "--undecided", "pass")[0] == 0
    assert run(folder, "--contestants", "node,go", "--fail-if", "p50 > +5 %", "--undecided", "fail")[0] == 1
    assert "an interval needs at least 3 rounds, preferably 5" in " ".join(said.split())


def compared(a: Path, b: Path) -> CompareResult:
    return compare_runs(RunRecord.open(a), RunRecord.open(b))


def test_other_workloads_are_refused_by_what_differs(runs: tuple[Path, Path], tmp_path: Path) -> None:
    more = make_run(tmp_path, trials({"node": 0.002}, clients=3), slug="more")
    with pytest.raises(
        NotComparable, match=r"the workload 'w' is not the same in .*-before and in .*-more: "
    ) as refused:
        compared(runs[0], more)
    assert "measured load, closed, clients: 1 against 3" in str(refused.value)
    other = make_run(tmp_path, trials({"node": 0.002}, workload="v"), slug="other")
    with pytest.raises(NotComparable, match="no workload in common"):
        compared(runs[0], other)
    strangers = make_run(tmp_path, trials({"ruby": 0.002}), slug="strangers")
    with pytest.raises(NotComparable, match="no contestant in common") as refused:
        compared(runs[0], strangers)
    assert "ruby" in refused.value.hint
    with pytest.raises(UnknownName):
        compare_contestants(RunRecord.open(runs[0]), "node", "rubi")


def test_one_contestant_in_each_run_needs_no_common_name(tmp_path: Path) -> None:
    a = make_run(tmp_path, trials({"old": 0.002}), slug="a")
    b = make_run(tmp_path, trials({"new": 0.002}), slug="b")
    (found,) = compared(a, b).comparisons
    assert (found.a, found.b, found.paired) == ("old", "new", False)


def test_contestants_are_chosen_within_one_run_only(runs: tuple[Path, Path]) -> None:
    with pytest.raises(UserError, match="two contestants are compared within one run"):
        jostle.compare([runs[0]] * 3, [runs[1]] * 3, contestants=["node", "go"])


def test_what_only_one_side_has_is_said(tmp_path: Path) -> None:
    more = trials({"node": 0.002, "go": 0.002}) + trials({"node": 0.002}, workload="v")
    found = compare_contestants(RunRecord.open(make_run(tmp_path, more)), "node", "go")
    assert found.notes[0] == "v was measured on node only, so it is not compared"
    assert found.comparisons[0].paired


def test_what_only_the_second_run_or_one_of_several_has_is_said_too(tmp_path: Path) -> None:
    less = trials({"node": 0.002})
    more = less + trials({"node": 0.002}, workload="v") + trials({"go": 0.002})
    a = [make_run(tmp_path, less, slug=f"less-{n}") for n in range(3)]
    b = [make_run(tmp_path, more, slug=f"more-{n}") for n in range(3)]
    notes = compared(a[0], b[0]).notes
    assert f"v was measured on node in {b[0].name} only, so it is not compared" in notes
    assert f"go was measured in {b[0].name} only, so it is not compared" in notes
    assert compared(b[0], a[0]).notes[:2] == notes[:2]
    several = jostle.compare(a, b).result.notes
    assert "v was not measured on node in every run, so it is not compared" in several
    assert "w was not measured on go in every run, so it is not compared" in several


def test_a_contestant_that_did_not_start_in_one_round_is_compared_all_the_same(tmp_path: Path) -> None:
    made = [
        replace(t, status="failed", why="it did not start") if (t.contestant, t.round) == ("go", 1) else t
        for t in trials({"node": 0.002, "go": 0.004})
    ]
    folder = make_run(tmp_path, made)
    first = next(t for t in RunRecord.open(folder).trials if t.status == "failed")
    path = first.folder / "trial.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"engine": None}))
    (found,) = compare_contestants(RunRecord.open(folder), "node", "go").comparisons
    assert found.rounds == (3, 3)


def test_a_run_that_was_looked_at_again_and_again_is_compared_with_wider_intervals(tmp_path: Path) -> None:
    made = trials({"node": 0.002, "go": 0.002})
    plans = [f'title = "t"\ncontestants = ["node", "go"]\n{rounds}\n' for rounds in ("", UNTIL_DECIDED)]
    once, again = (
        compare_contestants(RunRecord.open(make_run(tmp_path / str(n), made, plan_text=plan)), "node", "go")
        for n, plan in enumerate(plans)
    )
    (fixed,), (repeated,) = once.comparisons, again.comparisons
    widths = [
        [d.ratio.high - d.ratio.low for d in c.differences if d.ratio.low is not None and d.ratio.high]
        for c in (fixed, repeated)
    ]
    assert widths[0]
    assert all(wider > narrow for narrow, wider in zip(*widths, strict=True))
    (shown,) = analyse(RunRecord.open(next((tmp_path / "1").iterdir()))).comparisons
    ratios = {d.metric: d.ratio for d in repeated.differences}
    assert all(d.ratio == ratios[d.metric] for d in shown.differences)


@pytest.mark.parametrize("arguments", [[], ["--contestants", "a"], ["--contestants", "a,b,c"]])
def test_wrong_numbers_of_things_are_refused(runs: tuple[Path, Path], arguments: list[str]) -> None:
    with pytest.raises(UserError, match="two runs, or one run and two contestants"):
        run(runs[0], *arguments)


def test_the_index_that_history_keeps_beside_the_runs_is_no_run(tmp_path: Path) -> None:
    """A shell's runs/* names it, too."""
    make_run(tmp_path, trials({"node": 0.002, "go": 0.004}))
    run_command("history", tmp_path)
    assert (tmp_path / "index.ndjson").exists()
    everything = sorted(tmp_path.iterdir())
    code, text = run_command("compare", *everything, "--contestants", "go,node")
    assert code == 0
    assert "go" in text
    assert run_command("report", *everything, "--format", "md")[0] == 0


def test_one_condition_needs_no_list(runs: tuple[Path, Path]) -> None:
    one, listed = (jostle.compare(*runs, fail_if=given) for given in ("p50 > +1 %", ["p50 > +1 %"]))
    assert one.result.conditions == listed.result.conditions != []


def test_suspect_trials_are_told_of_the_side_that_they_are_on(tmp_path: Path) -> None:
    made = [
        replace(trial, generator_cpu=0.9) if trial.contestant == "node" else trial
        for trial in trials({"node": 0.002, "go": 0.004}, rounds=2)
    ]
    notes = compare_contestants(RunRecord.open(make_run(tmp_path, made)), "node", "go").notes
    doubts = [note for note in notes if note.startswith("Trials of ")]
    assert doubts
    assert all(" on node were suspect: " in note for note in doubts)


def test_the_same_trials_count_as_on_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A trial that the machine spoiled is left out of both, and both say so."""
    record = RunRecord.open(make_run(tmp_path, trials({"node": 0.002, "go": 0.004})))
    monkeypatch.setattr(RecordedPlan, "repeats", True, raising=False)
    monkeypatch.setattr(counted, "left_out", lambda cell, *_: {cell[0].trial.number} - {2})
    page = analyse(record)
    (shown,) = page.comparisons
    beside = compare_contestants(record, shown.a, shown.b)
    for mine, theirs in zip(shown.differences, beside.comparisons[0].differences, strict=True):
        assert (mine.a, mine.b, mine.ratio) == (theirs.a, theirs.b, theirs.ratio)
    (said,) = [note for note in page.notes if "did not count" in note]
    assert said in beside.notes


def test_invalid_trials_prove_nothing(runs: tuple[Path, Path]) -> None:
    found = compared(*runs)
    invalid = [replace(c, differences=[_invalid(d, c) for d in c.differences]) for c in found.comparisons]
    distrusted = replace(found, comparisons=invalid)
    judged = judge_conditions(distrusted, [change("p50 > +1 %")])
    assert {c.verdict for c in judged.conditions} == {"undecided"}
    assert all(c.message.startswith("the figure is invalid (") for c in judged.conditions)


def _invalid(d: Difference, c: Comparison) -> Difference:
    invalid = replace(d, verdict=Verdict.INVALID)
    return replace(invalid, sentence=in_words(invalid, c.a, c.b))


def test_hostile_names_stay_text(runs: tuple[Path, Path]) -> None:
    hostile = "]]><b>|\x1b[31m\x00"
    found = compared(*runs)
    loud = replace(found, title=hostile, comparisons=[replace(c, b=hostile) for c in found.comparisons])
    ET.fromstring(rendered(loud, "junit"))
    assert "<b>" not in rendered(loud, "md")
    console = Console(file=io.StringIO(), width=80, color_system=None)
    print_result(loud, console)
    assert "\x1b" not in console.file.getvalue()  # type: ignore[attr-defined]


def test_a_run_as_junit() -> None:
    whole = make_hit(Verdict.INVALID)
    root = ET.fromstring(rendered(whole, "junit"))
    (suite,) = root.findall("testsuite")
    assert suite.get("errors") == "1"
    assert ET.fromstring(rendered(make_hit(), "junit")).find("testsuite/testcase/error") is None
