"""jostle itself is stopped, and its wall clock is set: no figure is wrong without a word."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from support.real import environment, jostle_running, recorded, reference_server

LOAD_S = 5
SHIFTED = Path(__file__).parents[1] / "support" / "wall_clock" / "shifted.c"


def result_of(running: "subprocess.Popen[str]") -> dict[str, Any]:
    output, complaints = running.communicate(timeout=60)
    assert output, complaints
    result: dict[str, Any] = json.loads(output)
    return result


def measured(running: "subprocess.Popen[str]") -> dict[str, Any]:
    (trial,) = result_of(running)["trials"]
    found: dict[str, Any] = trial
    return found


@contextmanager
def begun(tmp_path: Path, url: str, *more: str, **env: str) -> Iterator["subprocess.Popen[str]"]:
    """A load that has recorded something."""
    options = [*more, "--into", str(tmp_path / "runs"), "--json"]
    with jostle_running("hit", url, "-d", f"{LOAD_S}s", *options, env=environment() | env) as running:
        recorded(tmp_path / "runs", 2_000)
        yield running


@pytest.mark.parametrize("load", [["-c", "2"], ["--rate", "200/s", "--processes", "2"]])
def test_a_trial_during_which_jostle_was_stopped_says_so(tmp_path: Path, load: list[str]) -> None:
    with (
        reference_server("run-to-completion") as url,
        begun(tmp_path, f"{url}/hello", *load) as running,
    ):
        with stopped([running.pid, *_children(running.pid)]):
            time.sleep(0.6)  # the fault itself: it takes as long as it takes
        trial = measured(running)
    (lost,) = [check for check in trial["validity"]["checks"] if check["name"] == "lost time"]
    assert (lost["verdict"], lost["again"]) == ("suspect", True)
    assert "the generator stood still for" in lost["message"]
    assert 0.5 / LOAD_S < lost["value"] < 1


@contextmanager
def stopped(processes: list[int]) -> Iterator[None]:
    """They stand still while the block runs, and go on whatever happens in it."""
    try:
        for pid in processes:
            os.kill(pid, signal.SIGSTOP)
        yield
    finally:
        for pid in processes:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.fixture(scope="module")
def shifted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("clock") / "shifted.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, SHIFTED, "-ldl"], check=True)
    return library


@pytest.mark.parametrize(("by_s", "load"), [(3600, ["-c", "2"]), (-3600, ["--processes", "2"])])
def test_a_wall_clock_that_is_set_changes_no_figure(
    tmp_path: Path, shifted: Path, by_s: int, load: list[str]
) -> None:
    shift = tmp_path / "shift"
    shift.write_text("0")
    settings = {"LD_PRELOAD": str(shifted), "WALL_CLOCK_SHIFT": str(shift)}
    with (
        reference_server("run-to-completion") as url,
        begun(tmp_path, f"{url}/hello", *load, **settings) as running,
    ):
        (tmp_path / "next").write_text(str(by_s))
        (tmp_path / "next").replace(shift)
        trial = measured(running)
    (clock,) = [check for check in trial["validity"]["checks"] if check["name"] == "wall clock"]
    assert clock["value"] == pytest.approx(by_s, abs=0.1)
    assert clock["verdict"] == "valid"
    lost = [check for check in trial["validity"]["checks"] if check["name"] == "lost time"]
    assert all(check["value"] < 0.5 for check in lost), "the machine may stand still, but not for an hour"
    assert trial["response"]["max"]["value"] < LOAD_S
    (outcome,) = [json.loads(p.read_text()) for p in tmp_path.glob("runs/*/trials/*/outcome.json")]
    assert outcome["status"] == "ended"


@pytest.mark.parametrize("by_s", [3600, -3600])
def test_a_wall_clock_that_is_set_changes_no_time_of_an_event(
    tmp_path: Path, shifted: Path, by_s: int
) -> None:
    """Stamps are times of the wall clock. Only jostle's is set here, so that they stay wrong by as much."""
    shift = tmp_path / "shift"
    shift.write_text("0")
    settings = {"LD_PRELOAD": str(shifted), "WALL_CLOCK_SHIFT": str(shift)}
    options = ["-c", "4", "--stream", "sse"]
    with (
        reference_server("events") as url,
        begun(tmp_path, f"{url}/events?n=4&first-ms=10&gap-ms=50", *options, **settings) as running,
    ):
        (tmp_path / "next").write_text(str(by_s))
        (tmp_path / "next").replace(shift)
        result = result_of(running)
    (found,), (trial,) = result["streams"], result["trials"]
    assert found["events"] > 0
    assert found["first"]["p50"]["value"] >= 0.010
    assert found["gap"]["p50"]["value"] == pytest.approx(0.050, rel=0.25)
    assert trial["response"]["p50"]["value"] >= 0.160
    assert trial["response"]["max"]["value"] < LOAD_S
    (clock,) = [check for check in trial["validity"]["checks"] if check["name"] == "wall clock"]
    assert clock["value"] == pytest.approx(by_s, abs=0.1)
