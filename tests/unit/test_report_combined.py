"""The page of several experiments."""

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

from jostle.analysis.results import ClaimResult, CriterionResult, Estimate, RunResult
from jostle.report.combined import Chapter, CombinedReport
from jostle.report.document import Section, figures_in
from support.results import make_hit, make_starvation


def claim(verdict: str, says: str = "One slow request takes four fifths") -> ClaimResult:
    part = CriterionResult(
        "starvation index", "above 0.7", "node", "w", "starvation index", Estimate(0.8), "holds", "x"
    )
    return ClaimResult(says, "572 and 114", verdict, "It is 0.8.", [part])  # type: ignore[arg-type]


def starved() -> RunResult:
    return replace(make_starvation(), claims=[claim("reproduced"), claim("undecided", "<b>Bold</b>")])


@cache
def together() -> CombinedReport:
    return CombinedReport(
        [
            Chapter(
                "starvation", "Does it starve?", "A, First article, 2016", starved(), report="reports/x.html"
            ),
            Chapter("pair", "Does async help?", "A, First article, 2016", why="there is no GHC"),
            Chapter(
                "hello",
                "How fast?",
                "B, Second article, 2010",
                replace(make_hit(), claims=[claim("not reproduced")]),
            ),
        ],
        "jostle race --all",
    )


def test_a_processor_without_a_name_is_not_told() -> None:
    result = make_hit()
    chapter = Chapter("hello", "How fast?", "A", replace(result, host={"cores": 4, "jostle": "1"}))
    assert "4 cores" in CombinedReport([chapter], "jostle race --all").document.facts


def test_claims_are_counted_and_grouped_by_article() -> None:
    both = together()
    assert both.counts == {
        "reproduced": 1,
        "same direction, other size": 0,
        "not reproduced": 1,
        "undecided": 1,
    }
    assert both.checks == {"holds": 0, "does not hold": 0, "undecided": 0}
    articles = [s for s in both.document.sections if s.key.startswith("article-")]
    assert [(s.title, [b.key for b in s.blocks if isinstance(b, Section)]) for s in articles] == [
        ("A, First article, 2016", ["starvation", "pair"]),
        ("B, Second article, 2010", ["hello"]),
    ]


def test_the_page_is_whole_by_itself() -> None:
    """Nothing is loaded, nothing of a plan can run, every claim and every failure is told."""
    page = together().page()
    assert len(page.encode()) < 3_000_000
    assert not re.search(r"""(?:src|href)=["'](?:https?:)?//""", page)
    assert "&lt;b&gt;Bold&lt;/b&gt;" in page
    assert "<b>Bold" not in page
    assert "there is no GHC" in page
    assert (
        page.index("What was claimed")
        < page.index("The experiments")
        < page.index("First article, 2016</h2>")
    )
    assert 'href="reports/x.html"' in page
    for name in ("starvation", "pair", "hello"):
        assert f'<section id="{name}"' in page


def test_pictures_have_names_of_their_own_and_stand_in_the_files(tmp_path: Path) -> None:
    both = together()
    keys = [figure.key for figure in figures_in(both.document.sections)]
    assert len(keys) == len(set(keys))
    assert all(key.startswith(("starvation-", "hello-")) for key in keys)
    paths = both.write(tmp_path)
    assert {p.stem for p in paths if p.suffix == ".png"} <= set(keys)
    assert not list(tmp_path.rglob("*.part"))
    markdown = (tmp_path / "results.md").read_text()
    assert len([p for p in paths if p.suffix == ".png"]) == 2
    assert all(f"pictures/{p.name}" in markdown for p in paths if p.suffix == ".png")
    data = json.loads((tmp_path / "results.json").read_text())
    assert data["claims"]["reproduced"] == 1
    assert [e["name"] for e in data["experiments"]] == ["starvation", "pair", "hello"]
    assert data["experiments"][1]["result"] is None


def test_a_page_without_anything_measured_says_so() -> None:
    page = CombinedReport(
        [Chapter("pair", "Does async help?", "", why="it was not begun")], "jostle race --all"
    ).page()
    assert "it was not begun" in page
    assert "No claim was judged" in page
