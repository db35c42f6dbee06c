"""A mistake in options looks like any other: one message and a hint."""

import subprocess
import sys
from pathlib import Path

import pytest

from jostle import cli


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["hit"], "jostle: missing argument 'URL'\n  jostle hit --help\n"),
        (["hit", "http://x/", "--rat", "3"], "jostle: no such option: --rat"),
        (["run", "x.toml", "--rounds", "many"], "jostle: invalid value for '--rounds'"),
        (["contestants", "lits"], "jostle: no such command 'lits'"),
        (["hit", "http://x/", "--json", "--format", "md"], "jostle: --json and --format md: which of them?"),
        (["what-if", "runs/x", "workers=8", "--think", "1s"], "jostle: a run and --think: the options are"),
        (
            ["what-if", "--rate", "1e9/s", "--service", "1h", "--slo", "p99 < 9h"],
            "jostle: 1,000,000,000/s of 1.00 h is more work than 100,000 workers can do",
        ),
        (
            ["what-if", "--rate", "9/s", "--service", "1ms", "--slo", "p99 < 1 s", "--think", "1s"],
            "jostle: --think needs --clients",
        ),
        (["contestants", "start", "go", "-p", "99999"], "jostle: invalid value for '-p'"),
        (["hit", "http://127.0.0.1:9/\udcff"], "jostle: http://127.0.0.1:9/\\xff is not UTF-8\n"),
        (["hit", "http://127.0.0.1:9/", "-b", "@/dev/null"], "jostle: -b: /dev/null is not a regular file"),
        (["hit", "http://127.0.0.1:9/", "-b", "@/"], "jostle: -b: / is a folder\n"),
        (
            ["hit", "http://127.0.0.1:9/", "-c", "1" + "0" * 12],
            "jostle: 1,000,000,000,000 connections at once",
        ),
        (
            ["hit", "http://127.0.0.1:9/", "--processes", "100000"],
            "jostle: --processes: 100000 is too large: at most 1000\n",
        ),
        (["hit", "http://127.0.0.1:9/", "--pid", "0"], "jostle: --pid: 0 is too small: at least 1\n"),
        (["hit", "http://127.0.0.1:9/", "-t", "5000"], "jostle: -t: 5000 is too large: at most 1024\n"),
        (
            ["explain", "--all", "http://127.0.0.1:9/"],
            "jostle: --all is for contestants, and http://127.0.0.1:9/ is a URL\n  jostle explain http",
        ),
        (["explain", "--all", "node", "--budget", "0s"], "jostle: --budget: 0s is too short"),
        (
            ["capacity", "http://127.0.0.1:9/", "--slo", "p99 < 1 s", "--budget", "0s"],
            "jostle: --budget: 0s leaves no time to measure\n",
        ),
        (
            ["race", "starvation", "--set", "slow=1", "--set", "slow=2"],
            "jostle: --set gives slow two values\n",
        ),
        (["race", "--all", "--into", "/dev/null"], "jostle: /dev/null is not a folder of jostle race --all"),
        (
            ["explain", "http://127.0.0.1:9/", "--into", "/dev/null"],
            "jostle: --into: /dev/null is not a folder",
        ),
        (["run", ""], "jostle: invalid value for '[PLAN]': it is empty\n"),
        (["check", ""], "jostle: invalid value for '[PLAN]': it is empty\n"),
        (["hit", ""], "jostle: invalid value for 'URL': it is empty\n"),
        (["report", "runs/x", ""], "jostle: invalid value for 'RUN…': it is empty\n"),
        (["hit", "http://127.0.0.1:9/", "--into="], "jostle: invalid value for '--into': it is empty\n"),
        (["cluster", "init", "", "a=10.0.0.1"], "jostle: invalid value for 'DIR': it is empty\n"),
        (
            ["hit", "http://127.0.0.1:9/", "--cluster", ""],
            "jostle: --cluster: '' is not ADDRESS:PORT of a head\n",
        ),
        (
            ["check", "preemption", "--cluster", "10.0.0.1"],
            "jostle: changed plan: --cluster: '10.0.0.1' is not ADDRESS:PORT of a head\n",
        ),
        (
            ["check", "preemption", "--budget", "5m"],
            "jostle: --budget limits the rounds that --until-decided adds\n",
        ),
        (["check"], "jostle: which plan?\n"),
        (["check", "preemption", "-d", "1s"], "jostle: --duration is for a plan of your own\n"),
        (["check", "plan.toml", "--quick"], "jostle: plan.toml is no published experiment\n"),
        (["check", "--all", "--contestants", "go"], "jostle: --all cannot be combined with --contestants: "),
        (
            ["check", "pair", "--quick", "--as-published"],
            "jostle: --quick and --as-published are two scales\n",
        ),
        (
            ["compare", "a", "b", "--into", "x"],
            "jostle: --into is for the run that --interleaved or --commits makes\n",
        ),
        (["cluster", "init", "/nowhere", "a=10.0.0.1", "a=10.0.0.2"], "jostle: node a is named twice"),
        (
            ["cluster", "init", "/dev/null", "a=10.0.0.1"],
            "jostle: cannot make the folder /dev/null: file exists",
        ),
    ],
)
def test_a_mistake_in_options_is_one_message(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main(words)
    assert left.value.code == 2
    assert capsys.readouterr().err.startswith(says)


def test_a_folder_is_no_file_for_a_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.json").mkdir()
    with pytest.raises(SystemExit):
        cli.main(["hit", "http://127.0.0.1:9/", "-o", str(tmp_path / "x.json")])
    assert capsys.readouterr().err == f"jostle: --output: {tmp_path}/x.json is a folder\n  name a file\n"


def test_a_folder_that_is_gone_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tmp_path.rmdir()
    with pytest.raises(SystemExit) as left:
        cli.main(["contestants", "list"])
    assert left.value.code == 2
    assert capsys.readouterr().err.startswith("jostle: the current folder no longer exists")


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_and_a_width_of_zero_are_no_faults(closed: str) -> None:
    words = f"COLUMNS=0 {sys.executable} -m jostle report /nowhere {closed}"
    done = subprocess.run(["/bin/sh", "-c", words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stdout + done.stderr


def test_what_shows_a_journey_once_has_no_result_to_keep(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journey = tmp_path / "visit.toml"
    journey.write_text('[journey.visit]\nsteps = [{ get = "/" }]\n')
    with pytest.raises(SystemExit) as left:
        cli.main(["hit", "http://127.0.0.1:9/", "--journey", str(journey), "--once", "--json", "--seed", "1"])
    assert left.value.code == 2
    assert capsys.readouterr().err.startswith("jostle: --once cannot be combined with --seed, --json")
