"""Every picture of a document, checked against the schema of Vega-Lite."""

import json
from typing import Any

import altair

from jostle.analysis.results import RunResult
from jostle.report.build import run_document
from jostle.report.charts import Picture
from jostle.report.document import figures_in
from jostle.report.render.vega import standalone


def pictures_of(result: RunResult) -> dict[str, Picture]:
    """By their keys; those with nothing to draw are left out."""
    drawn = ((figure.key, figure.draw()) for figure in figures_in(run_document(result).sections))
    return {key: picture for key, picture in drawn if picture is not None}


def validated(picture: Picture) -> dict[str, Any]:
    """The specification, which is valid Vega-Lite and JSON."""
    spec = standalone(picture)
    json.dumps(spec, allow_nan=False)
    altair.Chart.from_dict(spec).to_dict(validate=True)
    return picture.spec()
