"""The forms of a result: on standard output by `--format`, and in a file by `-o`, which shows it as well."""

import json
import re
from pathlib import Path

import pytest

from jostle.analysis.results import CompareResult, RunResult, Sizing
from jostle.cli import execution
from jostle.cli.output import COMMON_FORMS, COMPARISON_FORMS, RUN_FORMS, RunOutput
from jostle.errors import JostleError, PlanError, UserError
from jostle.report import Form, document_of, render
from jostle.report.export import forms_of
from support.commands import run_command
from support.judging import STEADY
from support.results import make_comparison, make_hit
from support.synthetic import Trial, closed, make_run

SIZING = Sizing("How many workers", "p99 < 100 ms", 8, ["8 workers are enough."], [], [])
COMPARISON = CompareResult("go against node", "node", "go", [make_comparison()], [], [])


def shown(tmp_path: Path, output: RunOutput) -> None:
    run = make_run(tmp_path, [Trial("a", "w", 1, closed(STEADY, 5.0))])
    execution.show(run, output, pages=False, undecided=None, kept=False)


@pytest.mark.parametrize("form", RUN_FORMS)
def test_a_result_in_a_file_is_shown_with_its_verdict_and_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: Form
) -> None:
    file = tmp_path / f"out{form.suffix}"
    shown(tmp_path, RunOutput(file=file))
    said = capsys.readouterr().out
    assert said.startswith("✓ valid  ")
    assert "throughput" in said
    assert said.endswith(f"\nresult      {file}\n")
    assert file.stat().st_size > 100


def test_json_on_standard_output_is_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "out.md"
    shown(tmp_path, RunOutput(as_json=True, file=file))
    said = capsys.readouterr()
    assert json.loads(said.out)["kind"] == "jostle result"
    assert str(file) in said.err
    assert file.read_text().startswith("# ")


def test_a_result_is_shown_even_if_its_file_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "out.md"
    file.mkdir()  # only now: it was none when the command began
    with pytest.raises(JostleError, match=re.escape(f"{file} could not be written")):
        shown(tmp_path, RunOutput(file=file))
    assert "throughput" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("result", "forms"), [(make_hit(), RUN_FORMS), (COMPARISON, COMPARISON_FORMS), (SIZING, COMMON_FORMS)]
)
def test_a_command_offers_the_forms_that_its_result_has(
    result: RunResult | CompareResult | Sizing, forms: tuple[Form, ...]
) -> None:
    document = document_of(result)
    assert set(forms_of(document)) == set(forms)
    assert all(render(document, form) for form in forms)
    for form in set(Form) - set(forms):
        with pytest.raises(UserError, match=f"there is no {form} of this"):
            render(document, form)


def test_a_form_that_a_result_cannot_have_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    sizing = ("what-if", "--rate", "300/s", "--service", "12ms", "--slo", "p99 < 100 ms")
    with pytest.raises(PlanError, match="--format csv: the result can only be text, html, md or json"):
        run_command(*sizing, "--format", "csv")
    with pytest.raises(PlanError, match=r"out\.xml: the file can only be a \.txt, \.html, \.md or \.json"):
        run_command(*sizing, "-o", tmp_path / "out.xml")
    with pytest.raises(PlanError, match="--json and --format md: which of them"):
        run_command(*sizing, "--json", "--format", "md")


def test_json_is_the_short_form_of_format_json() -> None:
    sizing = ("what-if", "--rate", "300/s", "--service", "12ms", "--slo", "p99 < 100 ms")
    short, long = run_command(*sizing, "--json"), run_command(*sizing, "--format", "json")
    assert short == long
    assert json.loads(short[1])["kind"] == "jostle sizing"
