"""JUnit XML for build servers: the document's cases, in suites."""

import re
from xml.etree import ElementTree as ET

from jostle.report.document import Case, Document

__all__ = ["render"]

FORBIDDEN = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""The characters that XML does not allow; a dot stands in their place."""


def render(document: Document) -> str:
    """The suites that have any cases, with the numbers of those that failed, were skipped or had errors."""
    assert document.cases is not None, "the document has no cases"
    root = ET.Element("testsuites", name=_text(document.title))
    for name, cases in document.cases().items():
        if cases:
            root.append(_suite(name, list(map(_case, cases))))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(name: str, cases: list[ET.Element]) -> ET.Element:
    counts = {
        attribute: str(sum(case.find(kind) is not None for case in cases))
        for attribute, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))
    }
    suite = ET.Element("testsuite", {"name": name, "tests": str(len(cases)), **counts})
    suite.extend(cases)
    return suite


def _case(case: Case) -> ET.Element:
    element = ET.Element("testcase", classname=_text(case.about), name=_text(case.name))
    if case.end != "success":
        end = ET.SubElement(element, case.end, message=_text(case.message))
        end.text = _text(case.details) or None
    if case.output:
        ET.SubElement(element, "system-out").text = _text(case.output)
    return element


def _text(text: str) -> str:
    return FORBIDDEN.sub("·", text)
