"""The crowd experiments through the real command, on a small scale; and who cannot take part."""

import subprocess
from pathlib import Path

import pytest

from jostle import experiments
from jostle.plan import load_plan
from support.real import Jostle, as_json, command, environment

SHORT = ["ramp-up=2s", "sustain=2s", "ramp-down=2s", "requests=2"]


@pytest.mark.parametrize("name", ["crowd-10k", "crowd-100k"])
@pytest.mark.parametrize("scale", ["", "quick", "as-published"])
def test_the_plans_load_in_every_scale(name: str, scale: str) -> None:
    folder = Path(experiments.__file__).parent / name
    plan = load_plan(folder / "plan.toml", scale=scale)
    load = plan.workload["crowd"].load
    assert load.min_connections == {"crowd-10k": 10_000, "crowd-100k": 100_000}[name]
    assert (load.seconds() == 3600) == (scale == "as-published")


def test_devices_come_take_one_anothers_place_and_go(jostle_command: Jostle) -> None:
    settings = [word for setting in (*SHORT, "clients=200") for word in ("--set", setting)]
    finished = jostle_command(
        "race",
        "crowd-10k",
        "--contestants",
        "reference-workers",
        "--workloads",
        "crowd",
        "--rounds",
        "1",
        *settings,
        "--json",
        "--no-pages",
    )
    result = as_json(finished)
    (crowd,) = result["phased_loads"]
    assert (crowd["asked"], crowd["reached"], crowd["refused"]) == (200, True, "")
    assert crowd["held"]["value"] > 0.9
    stages = {stage["name"]: stage for stage in crowd["phases"]}
    assert list(stages) == ["ramp-up", "sustain", "ramp-down", "total"]
    # Two requests in two seconds, then another device on another connection.
    assert stages["sustain"]["connect"]["n"] > 50
    assert stages["total"]["connect"]["n"] > 250
    assert stages["sustain"]["headers"]["p50_s"] > 0.09
    assert stages["sustain"]["from_server_per_s"] > 1024 * stages["sustain"]["throughput_per_s"]
    assert [claim["verdict"] for claim in result["claims"]] == ["undecided"] * len(result["claims"])


def test_several_server_processes_share_the_crowd(jostle_command: Jostle) -> None:
    settings = [
        word for setting in (*SHORT, "clients=300", "think=900ms ± 10%") for word in ("--set", setting)
    ]
    finished = jostle_command(
        "race", "crowd-100k", "--contestants", "reference-workers:processes=3", "--rounds", "1",
        "--processes", "2", *settings, "--json", "--no-pages",
    )  # fmt: skip
    (crowd,) = as_json(finished)["phased_loads"]
    assert crowd["reached"]
    assert crowd["phases"][-1]["error_share"] == 0


def with_few_files(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command where a process may open 1,500 files."""
    limited = ["sh", "-c", 'ulimit -n 1500; exec "$@"', "sh", *command(*arguments)]
    return subprocess.run(limited, cwd=folder, capture_output=True, text=True, timeout=240, env=environment())


def test_who_cannot_hold_the_crowd_is_named_before_the_run(tmp_path: Path) -> None:
    settings = [word for setting in (*SHORT, "clients=1400", "think=5s") for word in ("--set", setting)]
    race = ["race", "crowd-100k", "--workloads", "crowd", "--rounds", "1", *settings, "--contestants"]
    alone = with_few_files(tmp_path, *race, "reference-workers")
    assert alone.returncode == 2
    assert "reference-workers holds its connections in one process" in alone.stderr
    assert "reference-workers:processes=2 can hold them" in alone.stderr
    assert not (tmp_path / "runs").exists()

    finished = with_few_files(
        tmp_path, *race, "reference-run-to-completion,reference-workers:processes=2", "--json", "--no-pages"
    )
    result = as_json(finished)
    assert finished.returncode == 3
    assert list(result["skipped"]) == ["reference-run-to-completion"]
    assert "too few for 1,400 clients" in result["skipped"]["reference-run-to-completion"]
    (crowd,) = result["phased_loads"]
    assert (crowd["contestant"], crowd["reached"]) == ("reference-workers:processes=2", True)
    (run,) = (tmp_path / "runs").iterdir()
    assert '"contestant skipped"' in (run / "journal.ndjson").read_text()
