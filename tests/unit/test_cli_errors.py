"""A mistake in options looks like any other: one message and a hint."""

import pytest

from jostle import cli


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["hit"], "jostle: missing argument 'URL'\n  jostle hit --help\n"),
        (["hit", "http://x/", "--rat", "3"], "jostle: no such option: --rat"),
        (["run", "x.toml", "--rounds", "many"], "jostle: invalid value for '--rounds'"),
        (["contestants", "lits"], "jostle: no such command 'lits'"),
    ],
)
def test_a_mistake_in_options_is_one_message(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main(words)
    assert left.value.code == 2
    assert capsys.readouterr().err.startswith(says)
