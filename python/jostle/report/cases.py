"""What build servers show of a result: a case for each requirement, claim and condition, and for whether the
measurement of each workload is valid.
"""

from collections.abc import Iterator

from jostle.analysis.results import ClaimResult, CompareResult, Decision, RunResult
from jostle.record.verdict import Verdict
from jostle.report.document import Case, Suites
from jostle.report.sections.validity import failed_checks

__all__ = ["comparison_cases", "run_cases"]


def run_cases(result: RunResult) -> Suites:
    """Requirements pass, fail, or are skipped (undecided); a workload with invalid trials is an error."""
    return {
        "requirements": [
            _decided(
                f"{r.workload or 'all'} on {r.contestant or 'all'}",
                f"{r.that}, {r.part}" if r.part else r.that,
                r.verdict,
                r.message,
            )
            for r in result.requirements
        ],
        "published claims": list(map(_claim, result.claims)),
        "measurement is valid": list(_measured(result)),
    }


def comparison_cases(result: CompareResult) -> Suites:
    """Conditions pass, fail, or are skipped (undecided); without any, every comparison passes."""
    return {
        "conditions": [
            _decided(f"{c.workload}: {c.b} against {c.a}", c.condition, c.verdict, c.message)
            for c in result.conditions
        ],
        "comparisons": [
            Case(c.workload, f"{c.b} against {c.a}", output="\n".join(d.sentence for d in c.differences))
            for c in result.comparisons
        ],
    }


def _decided(about: str, name: str, verdict: Decision, message: str) -> Case:
    match verdict:
        case "fail":
            return Case(about, name, "failure", message, details=message)
        case "undecided":
            return Case(about, name, "skipped", f"undecided: {message}")
        case _:
            return Case(about, name)


def _claim(claim: ClaimResult) -> Case:
    """A claim that is not reproduced is a finding, not a failure: nothing is broken."""
    says = f"{claim.verdict}: {claim.sentence}"
    if claim.verdict == "undecided":
        return Case("published claim", claim.statement, "skipped", says, output=says)
    return Case("published claim", claim.statement, output=says)


def _measured(result: RunResult) -> Iterator[Case]:
    failed = failed_checks(result)
    for cell in result.summaries:
        if cell.verdict is not Verdict.INVALID:
            yield Case(cell.contestant, cell.workload)
            continue
        of_cell = [f for f in failed if (f.contestant, f.workload) == (cell.contestant, cell.workload)]
        reasons = [f.reason.text for f in of_cell] or ["the trials were invalid"]
        yield Case(cell.contestant, cell.workload, "error", reasons[0], details="\n".join(reasons))
