"""`jostle race --all`: how long it takes, and which experiment has the next turn."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from jostle.cli import race_all
from jostle.cli.check_all import check_all
from jostle.cli.race_all import State
from jostle.errors import PlanError
from jostle.plan import Plan, parse_plan
from jostle.plan.overrides import Overrides
from support.plans import TWO


def shown(folder: Path, capsys: pytest.CaptureFixture[str], **plans: str) -> str:
    """What the dry run of these experiments prints."""

    def load(name: str) -> Plan:
        if name not in plans:
            raise PlanError(f"{name} has a mistake", "mend it")
        return parse_plan(plans[name], name).changed(Overrides(until_decided=True, budget="90m"))

    assert check_all(folder, ["threads", "pair"], load, 1) == 0
    return capsys.readouterr().out


def test_what_is_measured_before_an_experiment_goes_on_is_not_left(tmp_path: Path) -> None:
    state = State.of(tmp_path, 1)
    plans = {name: parse_plan(TWO, name) for name in ("pair", "threads")}
    assert race_all._time_left(state, plans, "pair") == "about 72 s; 2 min for all that is left"
    state.set("pair", state="begun", took_s=32.0)
    assert race_all._time_left(state, plans, "pair") == "about 40 s; 2 min for all that is left"
    state.set("pair", state="waits", took_s=72.0)
    assert race_all._time_left(state, plans, "threads") == "about 72 s; 72 s for all that is left"
    again = race_all._time_left(state, plans, "pair")
    assert again == "its first rounds are measured; 72 s for all that is left"


def test_a_check_of_all_says_how_long_and_how_large(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = shown(tmp_path / "new", capsys, pair=TWO, threads=TWO.replace("20s", "2m"))
    rows = {line.split()[0]: line.split() for line in said.splitlines() if line}
    assert [*rows][:4] == ["experiment", "pair", "threads", "all"]
    assert rows["pair"][1:4] == ["6", "72", "s+"]
    assert rows["threads"][1:4] == ["6", "6", "min+"]
    assert rows["all"][1:4] == ["12", "7", "min+"]
    said = " ".join(said.split())
    assert "More follow until all is decided, for 90 min in all at most." in said
    assert "+: some loads last until their requests are answered." in said
    assert f"Into {tmp_path / 'new'}" in said
    assert not (tmp_path / "new").exists()


def test_a_check_of_all_says_what_cannot_run_and_what_is_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = State.of(tmp_path, 1)
    state.set("threads", state="done")
    said = shown(tmp_path, capsys)
    assert "pair: it cannot run: pair has a mistake" in said
    assert "threads: it is done already" in said


def test_a_mistake_in_all_experiments_is_told_once_and_leaves_no_folder(tmp_path: Path) -> None:
    def load(name: str) -> Plan:
        raise PlanError(f"{name} has no parameter slwo", "did you mean slow?")

    with pytest.raises(PlanError, match="pair has no parameter slwo"):
        race_all.race_all(tmp_path / "new", ["threads", "pair"], load, 1, quiet=True)
    with pytest.raises(PlanError, match="pair has no parameter slwo"):
        check_all(tmp_path / "new", ["threads", "pair"], load, 1)
    assert not (tmp_path / "new").exists()


SOON, LATER, UNKNOWN = 10.0, 60.0, float("inf")


@pytest.mark.parametrize(
    ("forecasts", "further"),
    [
        ({"pair": LATER, "threads": SOON}, "threads threads threads threads pair pair pair pair"),
        ({"pair": UNKNOWN, "threads": LATER}, "threads threads threads threads pair pair pair pair"),
        ({"pair": UNKNOWN, "threads": UNKNOWN}, "pair threads pair pair threads pair threads threads"),
    ],
)
def test_the_next_round_goes_to_the_question_that_is_decided_soonest_or_to_who_has_spent_the_least_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forecasts: dict[str, float], further: str
) -> None:
    now, begun = 0.0, list[str]()

    def turns(_: State, name: str, *_more: object) -> Iterator[float]:
        nonlocal now
        for _turn in range(5):
            begun.append(name)
            now += {"pair": 10.0, "threads": 25.0}[name]
            yield forecasts[name]

    def load(name: str) -> Plan:
        return parse_plan(TWO, name).changed(Overrides(until_decided=True, budget="90m"))

    monkeypatch.setattr(race_all, "_turns", turns)
    monkeypatch.setattr(race_all, "_write", lambda *_, **__: [])
    monkeypatch.setattr(race_all, "time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr("jostle.runner.interrupt.let_signals_stop_like_ctrl_c", lambda: None)
    race_all.race_all(tmp_path, ["threads", "pair"], load, 1, quiet=True)
    assert begun == ["pair", "threads", *further.split()]
