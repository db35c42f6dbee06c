"""Every form of a report as it was: page, notebook, JUnit, comparison, combined report."""

import io
from dataclasses import replace

from rich.console import Console

from jostle.analysis.results import CompareResult, ConditionResult, Estimate, RequirementResult
from jostle.record.verdict import Verdict
from jostle.report import document_of
from jostle.report.combined import Chapter, CombinedReport
from jostle.report.export.html import fragment
from support.golden import Golden
from support.rendered import print_result, rendered
from support.results import RUNTIMES, make_comparison, make_hit, make_plain, make_starvation


def requirement(verdict: str, contestant: str) -> RequirementResult:
    estimate = Estimate(0.004, 0.003, 0.005, "s", n=3)
    says = f"p99 of {contestant} 4.00 ms [3.00, 5.00]"
    return RequirementResult("p99 < 6 ms", contestant, "fast-only", 0.95, estimate, 0.006, verdict, says)  # type: ignore[arg-type]


def compared() -> CompareResult:
    """Two contestants of one run, and a condition of each kind."""
    conditions = [
        ConditionResult("p99 > +10 %", "fast-only", "node", "go", verdict, "p99 +50 % [40, 60]")  # type: ignore[arg-type]
        for verdict in ("fail", "undecided", "pass")
    ]
    notes = ["Paired by round."]
    return CompareResult("go against node", "node", "go", [make_comparison()], conditions, notes)


def test_the_page(golden: Golden) -> None:
    """What a reader sees of it: without style, scripts and what charts draw."""
    result = make_plain(rounds=3)
    result = replace(result, comparisons=[make_comparison()], requirements=[requirement("pass", "node")])
    text = rendered(result, "html").partition("<body>")[2].partition('<script type="application/json"')[0]
    golden("page.html", "\n".join(line for line in text.splitlines() if line.strip()) + "\n")


def test_a_notebook(golden: Golden) -> None:
    result = make_starvation(RUNTIMES[:2], rounds=3, bad={3: Verdict.SUSPECT})
    golden("notebook.html", fragment(document_of(result)))
    golden("notebook-compare.html", fragment(document_of(compared())))


def test_junit(golden: Golden) -> None:
    verdicts = zip(("pass", "fail", "undecided"), ("node", "go", "node"), strict=True)
    bad = make_starvation(RUNTIMES[:2], rounds=1, open_form=False, bad={2: Verdict.INVALID})
    golden(
        "junit.xml", rendered(replace(bad, requirements=[requirement(*pair) for pair in verdicts]), "junit")
    )
    golden("junit-compare.xml", rendered(compared(), "junit"))


def test_a_comparison(golden: Golden) -> None:
    out = io.StringIO()
    print_result(compared(), Console(file=out, width=80))
    golden("terminal-compare.txt", "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n")
    golden("compare.md", rendered(compared(), "md"))


def test_the_combined_report(golden: Golden) -> None:
    chapters = [
        Chapter("hello", "How fast?", "A, First article, 2016", make_hit(), report="reports/hello.html"),
        Chapter("pair", "Does it help?", "B, Second article, 2010", why="there is no GHC"),
    ]
    golden("combined.md", CombinedReport(chapters, "jostle race --all").markdown())
