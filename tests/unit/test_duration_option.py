"""`--duration` of `jostle run` and `check`: which workloads it leaves as they are."""

from pathlib import Path

import pytest

from support.commands import run_command
from support.plans import TWO


def test_loads_that_count_requests_stay_as_they_are_and_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(TWO)
    code, _ = run_command("check", plan, "--duration", "1s")
    assert code == 0
    why = "a number of requests or a trace ends the load"
    assert capsys.readouterr().err == f"--duration does not change counted: {why}\n"
    run_command("check", plan, "--duration", "1s", "--workloads", "timed")
    assert capsys.readouterr().err == ""
