"""The published schema of run folders: up to date, and what is written is of its form."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import check_run
from jostle.record.layout import FILES
from support.fakes import laboratory
from support.synthetic import make_run, starvation_trials

DOCS = Path(__file__).parents[2] / "docs"
OLD = Path(__file__).parents[1] / "data" / "run-format-1"


def test_the_published_schema_is_valid() -> None:
    Draft202012Validator.check_schema(json.loads((DOCS / "record.schema.json").read_text()))


def test_what_a_run_writes_is_of_the_published_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = laboratory(tmp_path / "runs", monkeypatch)
    lab.contestants["b"].fails_at = (2,)
    lab.run(lab.plan(rounds=2))
    assert list(check_run.violations(lab.folder)) == []


def test_synthetic_runs_and_those_of_format_1_are_of_the_published_form(tmp_path: Path) -> None:
    assert list(check_run.violations(make_run(tmp_path, starvation_trials(1)[:4]))) == []
    assert list(check_run.violations(OLD)) == []


def test_another_form_is_noticed(tmp_path: Path) -> None:
    folder = make_run(tmp_path, starvation_trials(1)[:1])
    path = next(folder.glob("trials/*/outcome.json"))
    path.write_text(json.dumps(json.loads(path.read_text()) | {"invented": 1, "status": "fine"}))
    found = "\n".join(check_run.violations(folder))
    assert "'invented' was unexpected" in found
    assert "'fine' is not one of" in found
    assert check_run.main([str(folder)]) == 1


def test_every_file_is_described_in_the_documentation() -> None:
    page = (DOCS / "RUN-FOLDER.md").read_text(encoding="utf-8")
    for name in [*FILES, "plan.toml", "intervals.hlog", "requests-00001.npz", "report.html"]:
        assert f"`{name}`" in page, name
