"""A mistake in options looks like any other: one message and a hint."""

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
        (["hit", "http://x/", "--json", "-o", "x.html"], "jostle: --json and --output x.html: which form?"),
        (["what-if", "runs/x", "workers=8", "--think", "1s"], "jostle: a run and --think: the options are"),
        (
            ["what-if", "--rate", "9/s", "--service", "1ms", "--slo", "p99 < 1 s", "--think", "1s"],
            "jostle: --think belongs to clients",
        ),
        (["contestants", "start", "go", "-p", "99999"], "jostle: invalid value for '-p'"),
    ],
)
def test_a_mistake_in_options_is_one_message(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main(words)
    assert left.value.code == 2
    assert capsys.readouterr().err.startswith(says)


def test_what_shows_a_journey_once_has_no_result_to_keep(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journey = tmp_path / "visit.toml"
    journey.write_text('[journey.visit]\nsteps = [{ get = "/" }]\n')
    with pytest.raises(SystemExit) as left:
        cli.main(["hit", "http://127.0.0.1:9/", "--journey", str(journey), "--once", "--json", "--seed", "1"])
    assert left.value.code == 2
    assert capsys.readouterr().err.startswith("jostle: --once cannot be combined with --seed, --json")
