"""`jostle run --duration`: which workloads it leaves as they are."""

from pathlib import Path

import pytest

from support.commands import run_command
from support.plans import TWO


def test_loads_that_count_requests_stay_as_they_are_and_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(TWO)
    code, _ = run_command("run", plan, "--duration", "1s", "--dry-run")
    assert code == 0
    why = "a number of requests or a trace ends the load"
    assert capsys.readouterr().err == f"--duration does not change counted: {why}\n"
    run_command("run", plan, "--duration", "1s", "--workloads", "timed", "--dry-run")
    assert capsys.readouterr().err == ""
