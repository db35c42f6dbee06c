"""A document: safe texts, depths, one order of sections for every form."""

import re
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest

from jostle.analysis.results import Check, ClaimResult, CriterionResult, Estimate, RunResult, Validity
from jostle.formatting import MISSING, Formatted
from jostle.record.verdict import Verdict
from jostle.report.build import run_document
from jostle.report.document import (
    Column,
    Depth,
    Document,
    Mark,
    Paragraph,
    Preformatted,
    Section,
    Statement,
    Statements,
    Table,
    columns,
    figures_in,
    upto,
)
from jostle.report.export import md
from jostle.report.sections import published, trials
from jostle.report.sections.provenance import processor
from jostle.report.sections.validity import _allowed, affects, failed_checks, reasons
from support.results import RUNTIMES, make_hit, make_plain, make_starvation

ESCAPE = "\x1b[2J"


def test_columns_are_written_in_one_line() -> None:
    assert columns("contestant = | workload", "throughput = per s | memory") == [
        Column("contestant", "word", "contestant"),
        Column("workload", "word"),
        Column("throughput", "figure", "per s", "/s"),
        Column("memory"),
    ]


def test_a_row_has_a_value_for_each_column() -> None:
    with pytest.raises(ValueError, match="1 values for 2 columns"):
        Table("t", columns("a | b")).add("x")


def test_every_text_of_a_document_is_safe_by_its_making() -> None:
    table = Table(ESCAPE, [Column(ESCAPE)])
    table.add(Formatted(ESCAPE, ESCAPE, ESCAPE))
    texts = [
        table.caption,
        table.columns[0].name,
        *(part for row in table.rows for cell in row for part in cell if isinstance(cell, Formatted)),
        Paragraph(ESCAPE, label=ESCAPE).text,
        *Statement(ESCAPE, details=(ESCAPE,)).details,
        Section(ESCAPE, []).title,
        *Preformatted.of(ESCAPE, f"a\n{ESCAPE}").lines,
        Document(ESCAPE, None, "", [ESCAPE], [], ESCAPE, []).facts[0],
    ]
    assert "\x1b" not in "".join(texts)


def test_a_document_is_cut_to_a_depth_and_nothing_empty_is_left() -> None:
    deep = Section("deep", [Paragraph("x")], Depth.DETAIL)
    document = Document("t", None, "", [], [], "", [Section("main", [Section("", [deep])]), deep])
    assert upto(document, Depth.MAIN).sections == []
    assert [s.title for s in upto(document, Depth.DETAIL).sections] == ["main", "deep"]


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if is_dataclass(value) and not isinstance(value, type):
        return [t for f in fields(value) if f.name != "draw" for t in _texts(getattr(value, f.name))]
    return [t for part in value for t in _texts(part)] if isinstance(value, list | tuple) else []


def hostile(result: RunResult) -> RunResult:
    return replace(
        result,
        title=ESCAPE,
        started=ESCAPE,
        rerun=ESCAPE,
        plan_text=ESCAPE,
        folder=ESCAPE,
        incomplete_reason=ESCAPE,
        complete=False,
        host={ESCAPE: ESCAPE, "kernel": ESCAPE},
        skipped={ESCAPE: ESCAPE},
        notes=[ESCAPE],
        summaries=[replace(c, contestant=ESCAPE, outcomes={ESCAPE: 1}) for c in result.summaries],
        trials=[replace(t, contestant=ESCAPE, reason=ESCAPE, status="failed") for t in result.trials],
    )


@pytest.mark.parametrize("result", [make_starvation(RUNTIMES[:1], rounds=1), make_plain(), make_hit()])
def test_no_text_of_a_hostile_run_passes(result: RunResult) -> None:
    texts = _texts(run_document(hostile(result)))
    assert len(texts) > 50
    assert [t for t in texts if "\x1b" in t and "\n" not in t] == []


def test_keys_of_sections_and_pictures_are_unique() -> None:
    for result in (make_starvation(), make_plain(), make_hit()):
        document = run_document(result)
        keys = [s.key for s in document.sections]
        assert len(set(keys)) == len(keys)
        pictures = [f.key for f in figures_in(document.sections)]
        assert len(set(pictures)) == len(pictures)


def test_the_response_comes_first_and_the_machine_last() -> None:
    shown = upto(run_document(make_starvation(bad={3: Verdict.SUSPECT})), Depth.DETAIL)
    assert [s.key for s in shown.sections] == [
        "results",
        "why",
        "claims",
        "details",
    ]
    folded = [s for s in shown.sections[-1].blocks if isinstance(s, Section)]
    assert all(s.folded for s in folded)
    assert [s.key for s in folded] == [
        "distributions",
        "throughput",
        "timeline",
        "trials",
        "validity",
        "host",
        "rerun",
        "files",
    ]


OPEN_FORM = "Open loop: 400 fast requests/s"


def lag(verdict: Verdict, share: float, text: str) -> Validity:
    return Validity(verdict, [Check("lateness", verdict, share, 0.05, "share", text, "a core of its own")])


def test_a_reason_is_that_of_the_worst_trial() -> None:
    """67 µs in the first round, 163 µs in the second: the banner says 163."""
    result = make_starvation(RUNTIMES[:1], rounds=2, open_form=False)
    late = {
        1: lag(Verdict.SUSPECT, 0.2, "up to 67 µs late"),
        2: lag(Verdict.SUSPECT, 0.87, "up to 163 µs late"),
    }
    trials = [replace(t, validity=late.get(t.number, t.validity)) for t in result.trials]
    (failed,) = failed_checks(replace(result, trials=trials))
    assert failed.reason.text == "in 2 of 2 rounds (worst shown), up to 163 µs late"
    assert (failed.trials, failed.reason.remedy) == ([1, 2], "a core of its own")


def test_a_worse_verdict_outweighs_a_larger_value() -> None:
    result = make_starvation(RUNTIMES[:1], rounds=2, open_form=False)
    late = {1: lag(Verdict.INVALID, 0.2, "invalid"), 2: lag(Verdict.SUSPECT, 0.9, "suspect")}
    trials = [replace(t, validity=late.get(t.number, t.validity)) for t in result.trials]
    assert failed_checks(replace(result, trials=trials))[0].worst.message == "invalid"


def test_the_verdict_names_every_figure_that_must_not_be_used_and_every_doubtful_one() -> None:
    """Also where many workloads are touched, so that a reader knows what may be quoted."""
    result = make_starvation(RUNTIMES[:2], rounds=2)
    (closed, fast), (open_, _) = ((f.alone_workload, f.with_workload) for f in result.starvation[::2])
    lost = Check("errors", Verdict.INVALID, 0.2, 0.05, "share", "errors")
    late = lag(Verdict.SUSPECT, 0.2, "late").checks[0]

    def judged(*cells: tuple[str, str, Check]) -> str:
        found = {
            t.number: [c for name, w, c in cells if (t.contestant, t.workload) == (name, w)]
            for t in result.trials
        }
        trials = [replace(t, validity=Validity.of(found[t.number])) for t in result.trials]
        return affects(replace(result, trials=trials))

    p99 = replace(late, affects=("p99", "max"))
    assert judged() == ""
    assert judged(("node", closed, lost), ("go", closed, lost), ("go", fast, p99), ("node", open_, p99)) == (
        f"Do not use: every figure of {closed}. Doubtful: p99 and the longest of {open_} (node), "
        f"{fast} (go). All other figures stand."
    )
    both = judged(("node", closed, p99), ("node", closed, replace(lost, affects=("p99",))))
    assert both == (
        f"Do not use: p99 of {closed} (node). Doubtful: the longest of {closed} (node). "
        "All other figures stand."
    )
    assert judged(*((t.contestant, t.workload, lost) for t in result.trials)).startswith("Do not use any")


def test_a_trial_that_does_not_count_spoils_no_figure() -> None:
    """The verdict above the table and the marks in it are of the same trials."""
    result = make_starvation(RUNTIMES[:1], rounds=2, open_form=False)
    spoiled = result.trials[0].number
    trials = [
        replace(t, validity=lag(Verdict.INVALID, 0.2, "disturbed")) if t.number == spoiled else t
        for t in result.trials
    ]
    everything = replace(result, trials=trials)
    without = [replace(s, trials=[n for n in s.trials if n != spoiled]) for s in result.summaries]
    assert affects(everything).startswith("Do not use")
    assert affects(replace(everything, summaries=without)) == ""
    assert failed_checks(replace(everything, summaries=without)) == []


def test_a_run_of_one_workload_does_not_name_it_in_its_reasons() -> None:
    (reason,) = reasons(make_hit(Verdict.INVALID))
    assert (reason.contestant, reason.workload) == ("", "")
    assert reason.mark == Mark("✗", "invalid", "bad")


def test_a_server_that_fails_alike_in_every_round_and_workload_is_reported_once() -> None:
    result = make_plain()
    failed = [replace(t, status="failed", reason="no port\nlast words") for t in result.trials]
    (notes,) = (s for s in run_document(replace(result, trials=failed)).sections if s.key == "notes")
    texts = [b.text for b in notes.blocks if isinstance(b, Paragraph)]
    assert [t for t in texts if "no port" in t] == [
        f"4 trials ({name}, fast-only and open-only) failed: no port" for name in ("node", "go")
    ]


def test_each_form_shows_the_index_that_defines_it() -> None:
    """A closed loop's is starvation; of a given rate only blocking says something."""
    results = run_document(make_starvation(RUNTIMES[:2])).sections[0]
    (table,) = (b for b in results.blocks if isinstance(b, Table))
    assert [name for name, _ in table.headings()] == [
        "",
        "As published: one closed client for 5 s",
        OPEN_FORM,
    ]
    names = [[c.name for c in part.columns] for part in table.by_group()]
    assert ["starvation index" in found for found in names] == [True, False]
    assert ["blocking index" in found for found in names] == [False, True]


def test_sentences_stand_above_their_table() -> None:
    form = run_document(make_starvation(RUNTIMES[:2])).sections[0].blocks[0]
    assert isinstance(form, Section)
    assert isinstance(form.blocks[0], Statements)
    assert "node answers no fast one" in form.blocks[0].items[0].text


def test_a_table_of_groups_is_one_table_for_each_where_there_is_little_room() -> None:
    names = [Column("who", "word"), Column("p50", group="closed"), Column("p50", group="open")]
    table = Table("t", names)
    table.add("a", "1", "2")
    table.add("b", "3", "")
    closed, opened = table.by_group()
    assert (closed.caption, closed.rows) == ("closed", [("a", "1"), ("b", "3")])
    assert (opened.caption, opened.rows) == ("open", [("a", "2")])
    assert Table("t", names[:1]).by_group()[0].caption == "t"


def test_why_a_figure_is_missing_is_said_once_and_columns_of_nothing_are_left_out() -> None:
    table = Table("t", columns("who", "p50 | p99 | p99.9"))
    few = Formatted(MISSING, "", "needs at least 299 requests")
    for name in ("a", "b"):
        table.add(name, Formatted("1 ms"), few, few)
    assert table.notes() == ["p99, p99.9: needs at least 299 requests"]
    assert [table.columns[i].name for i in table.known()] == ["who", "p50"]
    table.add("c", Formatted(MISSING, "", "no response"), few, few)
    assert table.notes() == ["p99, p99.9: needs at least 299 requests", "p50 (c): no response"]


def test_what_a_dash_means_is_said_once_for_the_columns_that_are_shown() -> None:
    modes = "two groups, so no mean is given"
    table = Table("t", columns("who =", "p50 = | p99 ="))
    table.add("a", Formatted(MISSING, "", f"{modes}: 1 ms, 50 ms"), Formatted(MISSING))
    assert table.legend() == f"{MISSING}: {modes}"
    table.add(
        "b", Formatted(MISSING, "", f"{modes}: 2 ms, 70 ms"), Formatted(MISSING, "", "too few requests")
    )
    assert table.legend() == f"{MISSING} under p50: {modes}; under p99: too few requests"
    assert not Table("t", columns("who =", "p50")).legend()


def test_of_many_contestants_the_most_and_the_least_harmed_are_told_first() -> None:
    results = run_document(make_starvation()).sections[0]
    told = [s for s in results.blocks if isinstance(s, Section) and s.title and not s.folded]
    texts = [[f.text for b in s.blocks if isinstance(b, Statements) for f in b.items] for s in told]
    whose = (("java-virtual-threads", "python-asyncio"), ("node", "java-virtual-threads"))
    for found, names in zip(texts, whose, strict=True):
        assert len(found) == 2
        assert all(re.search(rf"\b{name} ", text) for text, name in zip(found, names, strict=True))
    folded = [s.title for s in results.blocks if isinstance(s, Section) and s.folded and not s.empty]
    assert folded == ["What each contestant does"]


def test_claims_on_what_was_not_measured_are_one_line() -> None:
    part = CriterionResult("", "", "", "", "", Estimate(None), "undecided", "", "rust")
    absent = [ClaimResult(f"claim {i}", "", "undecided", "rust was not measured.", [part]) for i in range(3)]
    section = published.section(replace(make_starvation(RUNTIMES[:1]), claims=absent))
    assert [b.text for b in section.blocks if isinstance(b, Paragraph)] == [
        "3 published claims: 3 not measured. To measure what was not, add to --contestants: rust."
    ]
    main = next(s for s in section.blocks if isinstance(s, Section))
    folded = next(s for s in main.blocks if isinstance(s, Section))
    assert folded.title == "3 claims not measured: each needs one or more of rust"


def test_a_contestant_that_was_measured_is_not_one_to_add() -> None:
    result = make_starvation(RUNTIMES[:1])
    measured = result.summaries[0].contestant
    there = CriterionResult("", "", "", "", "", Estimate(None), "undecided", "", measured)
    elsewhere = replace(there, absent="rust")

    def told(*parts: CriterionResult) -> str:
        absent = [ClaimResult("claim", "", "undecided", "", [part]) for part in parts]
        section = published.section(replace(result, claims=absent))
        return next(b.text for b in section.blocks if isinstance(b, Paragraph)).partition("measured. ")[2]

    assert told(there) == "Those not measured are about workloads that were left out (--workloads)."
    assert told(there, elsewhere) == (
        "To measure what was not, add to --contestants: rust. Others are about workloads that were left out "
        "(--workloads)."
    )


def test_the_worst_of_the_checks_that_passed_is_the_nearest_to_its_limit() -> None:
    cpu = [Check("cpu", Verdict.VALID, v, 0.8, "share", "") for v in (0.1, 0.7, 0.3)]
    responses = [Check("responses", Verdict.VALID, v, 6, "responses", "") for v in (500, 40, 900)]
    failed = [Check("cpu", Verdict.SUSPECT, v, 0.8, "share", "") for v in (0.82, 0.93)]
    assert [max(c, key=lambda check: check.severity).value for c in (cpu, responses, cpu + failed)] == [
        0.7,
        40,
        0.93,
    ]
    assert [c.is_minimum for c in (cpu[0], responses[0], failed[0])] == [False, True, False]
    assert Check("sent", Verdict.SUSPECT, 0.97, 0.99, "share", "").is_minimum


def test_a_bound_that_is_just_reached_has_its_direction_all_the_same() -> None:
    found = {name: Check(name, Verdict.VALID, 3, 3, "", "") for name in ("end", "responses", "errors")}
    assert {name: _allowed([check])[0] for name, check in found.items()} == {
        "end": "≥",
        "responses": "≥",
        "errors": "≤",
    }


def test_of_a_machine_only_what_is_known_is_told() -> None:
    assert processor({"cpu_model": "Xeon", "cores": 4}) == "Xeon, 4 cores"
    assert processor({"cpu_model": "", "cores": 1}) == "1 core"
    assert processor({}) == ""


def test_there_are_at_most_as_many_rows_of_request_names_as_of_trials() -> None:
    result = make_hit()
    named = [{"name": f"r{n}", "outcomes": {"ok": 1}} for n in range(trials.MAX_TRIALS + 1)]
    table = trials.requests(replace(result, trials=[replace(result.trials[0], requests=named)]))
    assert len(table.rows) == trials.MAX_TRIALS
    assert table.caption == "By request name (the first 500; the JSON export has all)"


def test_markdown_names_no_command_where_there_is_none() -> None:
    cut = Document("t", None, "", [], [], "it was stopped", [])
    assert md.render(cut) == "# t\n\n**Cut short:** it was stopped.\n"
    finished = md.render(replace(cut, finish="jostle run --resume x"))
    assert finished.endswith("it was stopped. To finish it:\n\n```\njostle run --resume x\n```\n")
