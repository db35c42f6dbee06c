"""The claims in docs/articles, filled in from the results of `jostle race --all`: nothing is typed by hand.

A page has a place for each experiment: `<!-- claims: NAME begin -->`, `<!-- claims: NAME end -->`. The claims
are those of the current plan; one that is not in the results is shown as not measured yet. Between
`<!-- lines of code: NAME NAME begin -->` and its end is a table of the sizes of these contestants' programs.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from jostle import experiments, roster
from jostle.analysis.results.rule import Rule
from jostle.plan import Plan
from jostle.plan.criteria.claims import Claim, Part
from jostle.plan.criteria.metrics import METRICS
from jostle.report.sections.verdict_marks import claim_mark
from jostle.roster.lines_of_code import lines_of_code

__all__ = ["PLACE", "files", "filled"]

PLACE = re.compile(r"(<!-- claims: ([a-z0-9-]+) begin -->\n).*?(<!-- claims: \2 end -->)", re.DOTALL)

LINES = re.compile(
    r"(<!-- lines of code: ([a-z0-9 -]+) begin -->\n).*?(<!-- lines of code end -->)", re.DOTALL
)


def filled(page: str, results: Mapping[str, Any]) -> str:
    """The page with its places filled in; `results`: the JSON of a combined report."""
    measured = {e["name"]: (e.get("result") or {}).get("claims", []) for e in results.get("experiments", [])}

    def place(match: re.Match[str]) -> str:
        name = match[2]
        lines = "".join(_lines(experiments.load(name), measured.get(name, [])))
        return f"{match[1]}{lines}{match[3]}"

    def counted(match: re.Match[str]) -> str:
        return f"{match[1]}{''.join(_programs(match[2].split()))}{match[3]}"

    return LINES.sub(counted, PLACE.sub(place, page))


def _programs(names: Sequence[str]) -> Iterator[str]:
    """A table of lines of code."""
    yield "| program | lines of its own | shared with others |\n|---|---|---|\n"
    for name in names:
        file, folder = roster.load(name)
        lines = lines_of_code(file, folder)
        assert lines is not None, f"{name} is in a language that is not counted"
        yield f"| {file.title} (`{name}`) | {lines.own} | {lines.shared or ''} |\n"


def _lines(plan: Plan, measured: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A paragraph for each claim of the plan."""
    # Older results have other keys and words: no "statement", "quantity" for "metric", "cannot tell".
    found = {str(claim.get("statement")): claim for claim in measured}
    for claim in plan.claim:
        known = found.get(claim.says)
        whose = "Our check: " if claim.ours else ""
        if known is None or not _same_rules(claim, known):
            yield f"- **not measured yet**: {whose}{claim.says}.\n"
            continue
        verdict = "undecided" if known["verdict"] == "cannot tell" else known["verdict"]
        mark = str(claim_mark(verdict)).replace("\N{NO-BREAK SPACE}", " ")
        published = f" Published: {known['published']}." if known["published"] else ""
        yield f"- **{mark}**: {whose}{claim.says}.{published} Here: {known['sentence']}\n"


def _same_rules(claim: Claim, known: Mapping[str, Any]) -> bool:
    """Whether the claim was judged by the rules that the plan has now, under the same workloads."""
    rules = {
        (part.metric, part.workload, Rule(*part.limits).text(_unit(part)), part.published)
        for part in claim.holds
    }
    judged = ((p.get("metric", p.get("quantity")), p) for p in known["criteria"])
    return rules == {(metric, p["workload"], p["rule"], p.get("published")) for metric, p in judged}


def _unit(part: Part) -> str:
    return "ratio" if part.against else METRICS[part.metric]


def files(docs: Path) -> dict[Path, str]:
    """The pages in `docs`, with the content that they should have according to the results there. There may
    be several files of results, each from a different run.
    """
    runs = [
        json.loads(path.read_text(encoding="utf-8")) for path in sorted((docs / "results").glob("*.json"))
    ]
    results = {"experiments": [experiment for run in runs for experiment in run["experiments"]]}
    pages = sorted((docs / "articles").glob("*.md"))
    return {path: filled(path.read_text(encoding="utf-8"), results) for path in pages}
