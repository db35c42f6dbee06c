"""The JSON schema of results: made from the dataclasses, up to date, and what every export agrees with."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from docs.result_schema import result_schema
from jostle.analysis.compare.two import compare_contestants, judge_conditions
from jostle.analysis.results import RunResult
from jostle.analysis.run import analyse
from jostle.plan.criteria.conditions import change
from jostle.record import RunRecord
from support.results import make_hit, make_plain, make_starvation
from support.synthetic import STARVATION_PLAN, make_run, starvation_trials


@pytest.fixture(scope="module")
def validator() -> Any:
    schema = result_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("whole", [make_hit(), make_plain(), make_starvation(rounds=1)])
def test_results_agree_with_the_schema(validator: Any, whole: RunResult) -> None:
    assert [error.message for error in validator.iter_errors(whole.as_json())] == []


def test_what_the_analysis_says_of_a_record_agrees_with_the_schema(validator: Any, tmp_path: Path) -> None:
    text = STARVATION_PLAN.format(rounds=2) + '[[require]]\nthat = "p50 < 1 s"'
    record = RunRecord.open(make_run(tmp_path, starvation_trials(2), plan_text=text))
    result = analyse(record)
    assert result.comparisons
    assert result.requirements
    compared = judge_conditions(compare_contestants(record, "node", "go"), [change("p50 > +5 %")])
    for found in (result.as_json(), compared.as_json()):
        assert [error.message for error in validator.iter_errors(found)] == []


@pytest.mark.parametrize("change", [{"verdict": "good"}, {"summaries": None}, {"more": 1}, {"format": 1}])
def test_what_is_no_result_does_not(validator: Any, change: dict[str, object]) -> None:
    assert list(validator.iter_errors(make_hit().as_json() | change)) != []
