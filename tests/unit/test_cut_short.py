"""What a report says of a run that was only cut short, and of one whose record was not kept."""

from dataclasses import replace

import pytest

from jostle.analysis.results import RunResult
from jostle.record.verdict import NOT_COMPLETE, Verdict
from support.rendered import rendered
from support.results import make_hit

SOME_FAILED = "Some checks failed"


def cut_short(result: RunResult) -> RunResult:
    return replace(result, complete=False, incomplete_reason="stopped by the user", verdict=Verdict.SUSPECT)


def test_a_run_that_was_only_cut_short_failed_no_check() -> None:
    for text in (rendered(cut_short(make_hit()), "md"), rendered(cut_short(make_hit()), "html")):
        assert NOT_COMPLETE in text
        assert SOME_FAILED not in text
        assert "stopped by the user" in text


@pytest.mark.parametrize("result", [make_hit(Verdict.SUSPECT), cut_short(make_hit(Verdict.SUSPECT))])
def test_where_a_check_failed_it_says_so(result: RunResult) -> None:
    text = rendered(result, "md")
    assert SOME_FAILED in text
    assert NOT_COMPLETE not in text


def test_a_page_without_a_record_says_how_to_keep_one() -> None:
    kept, lost = rendered(make_hit(), "html"), rendered(replace(make_hit(), folder=""), "html")
    assert "Recorded in runs/" in kept
    assert "intervals.hlog" in kept
    assert "The record was not kept. To keep it: jostle hit URL --into DIR" in lost
    assert "Recorded in" not in lost
    assert "intervals.hlog" not in lost
