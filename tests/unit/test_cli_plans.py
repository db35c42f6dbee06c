"""`jostle init` and `jostle check`: a first plan, and what a plan would run."""

from pathlib import Path

import pytest

from jostle import cli, roster
from jostle.cli.exit_codes import ExitCode
from jostle.contestant import Contestant
from jostle.contestant.tools import MissingTool
from jostle.errors import PlanError
from jostle.plan import load_plan
from jostle.runner import preview, tune
from support.commands import run_command


@pytest.fixture(autouse=True)
def _nothing_is_built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(preview, "free_bytes", lambda _: 10**10)  # others may write meanwhile
    monkeypatch.setenv("JOSTLE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(Contestant, "build", lambda *_: pytest.fail("a check builds nothing"))
    monkeypatch.setattr(Contestant, "start", lambda *_, **__: pytest.fail("a check starts nothing"))


def test_the_first_plan_is_a_plan_and_is_never_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    code, said = run_command("init", file)
    assert (code, said.splitlines()[0]) == (0, f"wrote {file}")
    plan = load_plan(file, environment=roster.environment())
    assert plan.require
    assert set(plan.contestants) <= set(roster.names())
    file.write_text("# mine")
    with pytest.raises(PlanError, match="exists already"):
        run_command("init", file)
    assert file.read_text() == "# mine"


def test_a_check_says_what_in_which_order_how_long_and_how_much(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    run_command("init", file)
    code, said = run_command("check", file, "--rounds", "2", "--seed", "7", "--into", tmp_path)
    assert code == 0
    assert max(map(len, said.splitlines())) <= 80
    text = " ".join(said.split())
    assert "trials 8 trials in 2 rounds" in text
    assert "workload alone: 200/s (poisson arrivals) for 1s (2 s each)" in text
    assert "to build reference-run-to-completion, reference-processor-sharing" in text
    assert "time about 18 s, after building" in text
    assert "disk at least 92.0 kB in" in text
    rounds = text[text.index("round 1") : text.index("time about")].split("round ")[1:]
    assert all(one.count("reference-") == 4 for one in rounds)
    assert run_command("check", file, "--rounds", "2", "--seed", "7", "--into", tmp_path)[1] == said
    assert "finds 2 rounds tell no contestants apart: an interval needs at least 3 rounds" in text
    more = " ".join(run_command("check", file)[1].split())
    assert "random in each round; --seed N fixes it" in more
    assert "finds 3 rounds find a difference of " in more


def test_a_check_of_an_experiment_tunes_nothing() -> None:
    code, said = run_command("check", "preemption", "--contestants", "node")
    assert code == 0
    text = " ".join(said.split())
    assert "to tune count: until /count/{value} takes 100 ms on node, measured at the start" in text
    assert "tuning count and costly will change that" in text


def test_a_check_takes_what_was_tuned_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """So it says what the run's first line of progress says."""
    monkeypatch.setattr(tune, "_remembered", lambda _: 590)
    said = run_command("check", "starvation", "--quick", "--contestants", "node,go")[1]
    assert "fast-only: 1 client for 590ms (" in said
    assert "tun" not in said.replace("tunes", "")


def test_who_cannot_run_here_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    lacks = MissingTool("node-99", "apt-get install node-99", "node-99", "it is not installed")
    whole = Contestant._find_tools
    monkeypatch.setattr(Contestant, "_find_tools", lambda one: [lacks] if one.name == "node" else whole(one))
    said = run_command("check", "starvation", "--contestants", "node,reference-null")[1]
    assert "; tuning window will change that" in " ".join(said.split())
    assert "contestants reference-null\n" in said
    assert "skipped node: node needs 'node-99': it is not installed; apt-get" in " ".join(said.split())


@pytest.mark.parametrize("whom", ["node", "node,node-cluster"])
def test_a_plan_of_which_nobody_can_run_here_is_refused_as_a_run_would(
    whom: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lacks = MissingTool("node-99", "apt-get install node-99", "node-99", "it is not installed")
    monkeypatch.setattr(Contestant, "_find_tools", lambda _: [lacks])
    with pytest.raises(SystemExit) as left:
        cli.main(["check", "starvation", "--contestants", whom])
    told = capsys.readouterr()
    assert (left.value.code, told.out) == (ExitCode.INVALID_RESULT, "")
    assert told.err.startswith("jostle: node needs 'node-99'" if whom == "node" else "jostle: none of the c")
    for name in whom.split(","):
        assert told.err.count(f"{name} needs 'node-99': it is not installed") == 1
    assert "apt-get install node-99" in told.err


def test_a_mistake_in_the_plan_is_the_users(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    run_command("init", file)
    file.write_text(
        file.read_text().replace("[workload.alone]", "[workload.alon]\nclients = 3\n[workload.b]")
    )
    with pytest.raises(PlanError):
        run_command("check", file)
