"""What two plans that are measured as one may differ in, what is refused, and how the command ends."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from jostle.errors import JostleError, PlanError, UserError
from jostle.plan import Plan, parse_plan, to_toml
from jostle.plan.interleaved import interleaved, not_judged
from jostle.runner.observer import Scheduled
from support.commands import run_command
from support.synthetic import Trial, closed, lognormal, make_run

LOAD = '[workload.w]\nrequest = { get = "/" }\nload = { clients = 2, for = "1s" }\n'


def plan(command: str, more: str = "", *, first: str = "", contestants: str = '["mine"]') -> Plan:
    """A plan with the keys `first`, the tables `more`, and a server of this command."""
    keys = f'title = "t"\ncontestants = {contestants}\n{first}\n'
    return parse_plan(f'{keys}[contestant.mine]\ncommand = "{command} {{port}}"\n{more}\n{LOAD}', "plan.toml")


@pytest.mark.parametrize(
    "first",
    [
        "threads = 2",
        "processes = 2",
        "share-cores = true",
        "repeats = false",
        "seed = 3",
        "rounds = 3",
        'busy-poll = "never"',
        'explain = "20s"',
        'primary = "p50"',
        'warm-up = "1s"',
        'workloads = ["w"]',
    ],
)
def test_a_setting_that_only_one_plan_has_is_refused_by_name(first: str) -> None:
    name = first.split()[0]
    for plans in [(plan("./old"), plan("./new", first=first)), (plan("./old", first=first), plan("./new"))]:
        with pytest.raises(PlanError, match=f"^{name} is not the same in both plans"):
            interleaved(*plans)


@pytest.mark.parametrize(
    ("table", "place"),
    [
        ('[journey.buy]\nsteps = [{{ get = "/{}" }}]', "journey.buy"),
        ("[database]\npool = {}", "database.pool"),
        ('[contestant.peer]\ncommand = "./peer-{} {{port}}"', "contestant.peer"),
    ],
)
def test_a_table_that_differs_is_named_with_its_key(table: str, place: str) -> None:
    with pytest.raises(PlanError, match=f"^{place} is not the same in both plans"):
        interleaved(plan("./old", table.format(3)), plan("./new", table.format(4)))
    interleaved(plan("./old", table.format(3)), plan("./new", table.format(3)))


def test_titles_and_texts_about_a_plan_may_differ() -> None:
    both, _ = interleaved(plan("./old", first='about = "before"'), plan("./new", first='about = "after"'))
    assert both.contestants == ["mine-first", "mine-second"]


def test_parameters_may_differ_and_the_secrets_of_both_are_hidden() -> None:
    def with_token(value: str) -> Plan:
        return plan("./server --key {api_token}", f'[parameters]\napi_token = "{value}"\nsize = 5')

    both, _ = interleaved(with_token("hunter1"), with_token("hunter2"))
    assert both.parameters == {"api_token-first": "hunter1", "api_token-second": "hunter2", "size": 5}
    assert "hunter" in to_toml(both, secrets=True)
    assert "hunter" not in to_toml(both)


def test_several_variants_of_a_server_may_be_compared() -> None:
    variants = '["mine:w=1", "mine:w=2"]'
    both, pairs = interleaved(plan("./old", contestants=variants), plan("./new", contestants=variants))
    assert pairs == [(f"mine-first:w={n}", f"mine-second:w={n}") for n in (1, 2)]
    assert set(both.contestant) == {"mine-first", "mine-second"}


def test_requirements_and_claims_that_are_not_judged_are_named() -> None:
    required = plan("./old", '[[require]]\nthat = "p99 < 1 s"')
    assert not_judged(plan("./old"), plan("./new")) == ""
    said = "The plans' requirements are not judged here: `jostle run` judges those of one plan."
    assert not_judged(required, plan("./new")) == not_judged(plan("./new"), required) == said
    assert interleaved(required, plan("./new"))[0].require == []


@pytest.fixture
def stopped_in(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """After stopped_in(folder), Ctrl-C comes while plans are measured into that folder."""
    handled: list[bool] = []
    monkeypatch.setattr("jostle.runner.interrupt.let_signals_stop_like_ctrl_c", lambda: handled.append(True))

    def stop(folder: Path) -> None:
        def measure(*_: Path, observer: Any, **__: Any) -> NoReturn:
            assert handled, "SIGTERM would leave servers behind"
            observer(Scheduled([], folder))
            raise KeyboardInterrupt

        monkeypatch.setattr("jostle.api.compare_plans", measure)

    return stop


def test_ctrl_c_names_the_folder_of_what_was_measured(
    tmp_path: Path, stopped_in: Callable[[Path], None]
) -> None:
    trial = Trial("mine-first", "w", 1, closed(lognormal(0.002, 0.1), 2.0), 2.0)
    folder = make_run(tmp_path, [trial], ended=False)
    stopped_in(folder)
    with pytest.raises(JostleError, match="stopped before there was a comparison") as stopped:
        run_command("compare", "--interleaved", "old.toml", "new.toml")
    assert str(folder) in stopped.value.message
    assert not isinstance(stopped.value, UserError), "its exit code is that of mistakes"


def test_ctrl_c_before_anything_was_measured_is_that_of_a_shell(
    tmp_path: Path, stopped_in: Callable[[Path], None]
) -> None:
    stopped_in(make_run(tmp_path, [], ended=False))
    assert run_command("compare", "--interleaved", "old.toml", "new.toml")[0] == 130
