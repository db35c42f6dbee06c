"""JUnit XML for build servers: a test case for each requirement, claim, condition, and workload."""

import re
from collections.abc import Iterable
from xml.etree import ElementTree as ET

from jostle.analysis.results import Claim, CompareResult, Decision, RunResult
from jostle.record.verdict import Verdict
from jostle.report.sections.validity import failed_checks

__all__ = ["compare_to_junit", "to_junit"]

_FORBIDDEN = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_junit(result: RunResult) -> str:
    """Requirements pass, fail, or are skipped (cannot tell); a workload with invalid trials is an error."""
    requirements = [
        _case(f"{r.workload or 'all'} on {r.contestant or 'all'}", r.that, r.verdict, r.message)
        for r in result.requirements
    ]
    failed = failed_checks(result)
    claims = [_claim(c) for c in result.claims]
    measured = []
    for cell in result.summaries:
        case = ET.Element("testcase", classname=_text(cell.contestant), name=_text(cell.workload))
        if cell.verdict is Verdict.INVALID:
            reasons = [
                f.reason.text
                for f in failed
                if (f.contestant, f.workload) == (cell.contestant, cell.workload)
            ]
            message = reasons[0] if reasons else "the trials were invalid"
            ET.SubElement(case, "error", message=_text(message)).text = _text("\n".join(reasons))
        measured.append(case)
    suites = [
        ("requirements", requirements),
        ("published claims", claims),
        ("measurement is valid", measured),
    ]
    return _document(result.title, suites)


def compare_to_junit(result: CompareResult) -> str:
    """Conditions pass, fail, or are skipped (cannot tell); without any, every comparison passes."""
    conditions = [
        _case(f"{c.workload}: {c.b} against {c.a}", c.condition, c.verdict, c.message)
        for c in result.conditions
    ]
    compared = []
    for c in result.comparisons:
        case = ET.Element("testcase", classname=_text(c.workload), name=_text(f"{c.b} against {c.a}"))
        ET.SubElement(case, "system-out").text = _text("\n".join(d.sentence for d in c.differences))
        compared.append(case)
    return _document(result.title, [("conditions", conditions), ("comparisons", compared)])


def _claim(claim: Claim) -> ET.Element:
    """A claim that is not reproduced is a finding, not a failure: nothing is broken."""
    case = ET.Element("testcase", classname="published claim", name=_text(claim.statement))
    if claim.verdict == "cannot tell":
        ET.SubElement(case, "skipped", message=_text(f"cannot tell: {claim.sentence}"))
    ET.SubElement(case, "system-out").text = _text(f"{claim.verdict}: {claim.sentence}")
    return case


def _case(about: str, name: str, verdict: Decision, says: str) -> ET.Element:
    case = ET.Element("testcase", classname=_text(about), name=_text(name))
    if verdict == "fail":
        ET.SubElement(case, "failure", message=_text(says)).text = _text(says)
    elif verdict == "cannot tell":
        ET.SubElement(case, "skipped", message=_text(f"cannot tell: {says}"))
    return case


def _document(title: str, suites: Iterable[tuple[str, list[ET.Element]]]) -> str:
    root = ET.Element("testsuites", name=_text(title))
    for name, cases in suites:
        if not cases:
            continue
        counts = {
            attribute: str(sum(case.find(kind) is not None for case in cases))
            for attribute, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))
        }
        suite = ET.SubElement(root, "testsuite", {"name": name, "tests": str(len(cases)), **counts})
        suite.extend(cases)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _text(text: str) -> str:
    """The text with a dot in place of characters that XML does not allow."""
    return _FORBIDDEN.sub("·", text)
