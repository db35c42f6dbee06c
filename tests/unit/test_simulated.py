"""Simulated servers: what a plan may say, what is calculated, and that nobody takes it for measured."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jostle.analysis.run import analyse
from jostle.errors import PlanError, StartRefused
from jostle.generator import executor_for, simulated_in
from jostle.generator.simulated import server_spec
from jostle.generator.spec.address import Address
from jostle.generator.spec.run import engine_spec
from jostle.plan import parse_plan
from jostle.record import RunRecord, TrialRecord
from jostle.runner.preview import preview
from support.commands import run_command

PLAN = """
title = "Who waits behind whom?"
contestants = ["one-worker", "sharing"]
rounds = 3
seed = 5
warm-up = "0s"

[contestant.one-worker]
simulate = { service = "1ms", services = { "/slow" = "2s" } }
[contestant.sharing]
simulate = { discipline = "processor-sharing", service = "1ms", services = { "/slow" = "2s" } }

[workload.with-slow]
request = { get = "/fast" }
load = { rate = "100/s", arrivals = "poisson", for = "20s" }
background = { get = "/slow", clients = 1, think = "3s" }
"""


def with_table(simulate: str) -> str:
    return PLAN.replace(
        'simulate = { service = "1ms", services = { "/slow" = "2s" } }', f"simulate = {simulate}", 1
    )


@pytest.mark.parametrize(
    ("simulate", "word"),
    [
        ('{ discipline = "fifo" }', "fifo"),
        ("{ workers = 0 }", "workers"),
        ("{ cores = 2 }", "write workers"),
        ('{ discipline = "processor-sharing", workers = 2 }', "write cores"),
        ('{ discipline = "gated-lifo", workers = 2 }', "leave workers out"),
        ('{ slice = "1ms" }', "round-robin"),
        ('{ service = "soon" }', "soon"),
        ('{ service = "0s" }', "write a positive time"),
        ('{ services = { "/slow" = ["0s", "0ms"] } }', "write a positive time"),
        ('{}\nurl = "http://127.0.0.1:1"', "calculated"),
    ],
)
def test_a_table_that_makes_no_sense_is_refused_in_words(simulate: str, word: str) -> None:
    with pytest.raises(PlanError) as refused:
        parse_plan(with_table(simulate), "plan.toml")
    assert word in f"{refused.value} {refused.value.hint}"


@pytest.mark.parametrize(
    ("simulate", "discipline", "time"),
    [
        ("{}", {"workers": {"workers": 1}}, {"constant": {"ns": 1_000_000}}),
        (
            '{ discipline = "round-robin", cores = 2, service = "uniform 1ms..3ms" }',
            {"round-robin": {"cores": 2, "slice_ns": 10_000_000}},
            {"uniform": {"ns": 2_000_000, "spread": 0.5}},
        ),
        (
            '{ discipline = "gated-lifo", service = ["1ms", "5ms"] }',
            "gated-lifo",
            {"measured": {"ns": [10**6, 5 * 10**6]}},
        ),
        (
            '{ discipline = "lifo", workers = 3, service = "exponential 1s" }',
            {"lifo": {"workers": 3}},
            {"exponential": {"mean_ns": 10**9}},
        ),
    ],
)
def test_the_simulator_gets_what_the_plan_says(simulate: str, discipline: Any, time: Any) -> None:
    server = simulated_in(parse_plan(with_table(simulate), "plan.toml"))["one-worker"]
    spec = {"workloads": [{"requests": [{"name": "/fast"}]}, {"requests": [{"name": "/slow"}]}]}
    made = server_spec(server, spec)
    assert made["discipline"] == discipline
    assert [[one["time"] for one in services] for services in made["services"]] == [[time], [time]]


def test_a_simulated_server_beside_a_real_one_is_refused() -> None:
    mixed = PLAN.replace('["one-worker", "sharing"]', '["one-worker", "reference-null"]')
    with pytest.raises(PlanError, match="one-worker is simulated and reference-null is not"):
        executor_for(parse_plan(mixed, "plan.toml"))


def simulated(folder: Path) -> dict[str, Any]:
    (folder / "plan.toml").write_text(PLAN)
    code, out = run_command(
        "simulate", folder / "plan.toml", "--into", folder / "runs", "--json", "--no-pages"
    )
    assert code == 0
    result: dict[str, Any] = json.loads(out)
    return result


def test_the_record_is_that_of_a_run_and_says_that_nothing_was_measured(tmp_path: Path) -> None:
    result = simulated(tmp_path)
    cells = {cell["contestant"]: cell for cell in result["summaries"]}
    waits = cells["one-worker"]["response"]["p90"]["value"]
    shares = cells["sharing"]["response"]["p90"]["value"]
    assert waits > 1.0  # behind a request of two seconds in every five
    assert shares < 0.01
    assert any(note.startswith("Simulated: ") for note in result["notes"])
    (run,) = (tmp_path / "runs").iterdir()
    server = json.loads(next(run.glob("trials/001-*/trial.json")).read_text())["server"]
    assert server["simulated"]["service"] == "1ms"
    assert "pid" not in server


def stolen() -> Iterator[dict[str, Any]]:
    """Half of a core, all the time."""
    totals = dict.fromkeys(("own_cpu_s", "waited_s", "pressure_memory_s", "pressure_io_s"), 0.0)
    for step in range(80):
        time = {"t_ns": step * 250_000_000, "busy_s": step * 0.25, "steal_s": step * 0.125}
        yield {**totals, **time, "mhz": None}


def test_a_busy_machine_and_its_floor_say_nothing_of_what_was_calculated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulated(tmp_path)
    monkeypatch.setattr(TrialRecord, "machine", lambda _: stolen())
    monkeypatch.setattr(TrialRecord, "suspended_s", 9.0)
    (run,) = (tmp_path / "runs").iterdir()
    host = json.loads((run / "host.json").read_text())
    floor = {"loads": [{"title": "1 client", "kind": "closed", "response_s": {"p50": 30e-6}}]}
    argv = ["jostle", "simulate", "plan.toml"]
    (run / "host.json").write_text(json.dumps({**host, "cpu_pressure": 0.9, "floor": floor, "argv": argv}))
    result = analyse(RunRecord.open(run), distributions=False)
    assert [note for note in result.notes if "wake-up delay" in note or "Floor" in note] == []
    assert [cell.verdict for cell in result.summaries] == ["valid", "valid"]
    assert result.rerun == f"jostle simulate plan.toml --seed {host['seed']}"


def test_the_same_seed_gives_the_same_figures(tmp_path: Path) -> None:
    both = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        both.append(simulated(tmp_path / name)["summaries"])
    assert both[0] == both[1]


def test_run_and_simulate_send_each_other_the_plans_that_are_not_theirs(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)
    with pytest.raises(PlanError) as refused:
        run_command("run", plan)
    assert refused.value.hint == f"jostle simulate {plan}"
    plan.write_text(PLAN.replace('["one-worker", "sharing"]', '["reference-null"]'))
    with pytest.raises(PlanError, match="no server of"):
        run_command("simulate", plan)


def test_a_check_of_a_simulated_plan_asks_nothing_of_this_machine(tmp_path: Path) -> None:
    """Five million connections would need more files and ports than any machine has."""
    text = """
title = "many"
contestants = ["made-up"]
[contestant.made-up]
simulate = { discipline = "workers", workers = 4, service = "1ms" }
[workload.w]
request = { get = "/" }
load = { clients = 5_000_000, for = "1s" }
"""
    assert len(preview(parse_plan(text, "plan.toml"), tmp_path, seed=1).trials) == 5


def test_journeys_are_not_simulated() -> None:
    text = PLAN.replace('request = { get = "/fast" }', 'journeys = "browse"')
    plan = parse_plan(text + '[journey.browse]\nsteps = [{ get = "/" }]\n', "plan.toml")
    spec = engine_spec(
        "w", plan.workload["with-slow"], Address(host="one-worker", port=80), journeys=plan.journey
    )
    with pytest.raises(StartRefused, match="journeys are not simulated"):
        executor_for(plan).prepare(spec)
