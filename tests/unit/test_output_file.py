"""`-o FILE` writes the result and shows it as well; `--json` prints nothing else."""

import json
from pathlib import Path

import pytest

from jostle.cli import carry_out
from jostle.cli.output import Form
from support.judging import STEADY
from support.synthetic import Trial, closed, make_run


def shown(tmp_path: Path, form: Form, output: Path | None) -> None:
    run = make_run(tmp_path, [Trial("a", "w", 1, closed(STEADY, 5.0))])
    carry_out.show(run, form, output, pages=False, undecided=None, kept=False)


@pytest.mark.parametrize("suffix", ["json", "html", "md", "txt"])
def test_a_result_in_a_file_is_shown_with_its_verdict_and_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], suffix: str
) -> None:
    output = tmp_path / f"out.{suffix}"
    form = {"txt": Form.text}.get(suffix) or Form(suffix)
    shown(tmp_path, form, output)
    said = capsys.readouterr().out
    assert said.startswith("✓ valid  ")
    assert "throughput" in said
    assert said.endswith(f"\nresult      {output}\n")
    assert output.stat().st_size > 100


def test_json_on_standard_output_is_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown(tmp_path, Form.json, None)
    assert json.loads(capsys.readouterr().out)["kind"] == "jostle result"
