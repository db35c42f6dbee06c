"""Every picture of a document, checked against the schema of Vega-Lite."""

import json
from typing import Any

from altair.vegalite.schema import core
from jsonschema.validators import validator_for

from jostle.analysis.results import RunResult
from jostle.report.build import run_document
from jostle.report.charts import Picture
from jostle.report.document import figures_in
from jostle.report.export.vega import standalone

SCHEMA = core.load_schema()
VALIDATOR = validator_for(SCHEMA)(SCHEMA)
"""Checks a whole specification once. Altair, making a chart, checks each part of it again and again."""


def pictures_of(result: RunResult) -> dict[str, Picture]:
    """By their keys; those with nothing to draw are left out."""
    drawn = ((figure.key, figure.draw()) for figure in figures_in(run_document(result).sections))
    return {key: picture for key, picture in drawn if picture is not None}


def validated(picture: Picture) -> dict[str, Any]:
    """The specification, which is valid Vega-Lite and JSON."""
    VALIDATOR.validate(json.loads(json.dumps(standalone(picture), allow_nan=False)))
    return picture.spec()
