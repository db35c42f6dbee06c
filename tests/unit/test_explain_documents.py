"""An explanation as JSON and as a page."""

from typing import Any

import jsonschema
import pytest

from docs.explanation_schema import explanation_schema
from jostle.analysis.results import Estimate
from jostle.explain.documents.document import explanation_document
from jostle.explain.finding import Topic, decided_finding
from jostle.explain.results import Explanation
from jostle.explain.server.limits import THOROUGH
from jostle.report.document import figures_in
from jostle.report.export import html, md
from support.pictures import validated
from support.served import FAST, HALF, QUARTER, SLOW, WAIT, Server, explained


@pytest.fixture(scope="module")
def one_worker() -> Explanation:
    return explained(Server(), FAST, SLOW, HALF, QUARTER, WAIT, limits=THOROUGH)


def test_an_explanation_agrees_with_its_schema(one_worker: Explanation) -> None:
    schema = explanation_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator: Any = jsonschema.Draft202012Validator(schema)
    assert [error.message for error in validator.iter_errors(_plain(one_worker.as_json()))] == []
    assert list(validator.iter_errors({**_plain(one_worker.as_json()), "findings": [1]})) != []


def _plain(data: dict[str, Any]) -> dict[str, Any]:
    import json

    parsed: dict[str, Any] = json.loads(json.dumps(data))
    return parsed


def test_the_page_has_the_paragraph_the_findings_and_the_pictures(one_worker: Explanation) -> None:
    document = explanation_document(one_worker)
    drawn = {figure.key: picture for figure in figures_in(document.sections) if (picture := figure.draw())}
    assert {
        "burst-behind-plugs",
        "burst-sizes",
        "interference",
        "pauses",
    } <= {*drawn}
    assert sum(key.startswith("burst-equal") for key in drawn) == 4, "one for each route"
    for picture in drawn.values():
        validated(picture)
    page = html.render(document)
    assert one_worker.paragraph.split(".")[0] in page
    assert "What would help" in page
    assert "One worker" in md.render(document)


def test_figures_of_findings_have_names() -> None:
    finding = decided_finding(Topic.PAUSES, "It pauses.", figures={"every so often": Estimate(1.0)})
    assert finding.figure("every so often") == Estimate(1.0)
    assert finding.figure("never") is None
