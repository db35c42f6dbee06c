"""A disk that is full, for real: a file system of 300 kB in memory."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from jostle.record import RunRecord
from support.disks import small_disk
from support.real import Jostle, command, environment, reference_server


@pytest.fixture
def disk() -> Iterator[Path]:
    with small_disk(300) as folder:
        yield folder


def fill(disk: Path, leave: int = 0) -> None:
    """Until only so many bytes are free."""
    room = os.statvfs(disk)
    size = room.f_bavail * room.f_frsize - leave
    with (disk / "ballast").open("wb") as file:
        file.write(bytes(max(0, size)))


def test_at_the_start_one_message_says_so_and_nothing_is_left(jostle_command: Jostle, disk: Path) -> None:
    fill(disk)
    with reference_server("run-to-completion") as url:
        refused = jostle_command("hit", f"{url}/hello", "-n", "10", "--into", disk / "runs")
    assert refused.returncode == 2
    assert "Traceback" not in refused.stderr
    assert "the record takes at least 4.00 kB, and 0 B are free" in refused.stderr
    assert "--into" in refused.stderr
    assert not list(disk.glob("runs/*"))


def test_in_a_trial_the_load_stops_and_what_was_recorded_stands(jostle_command: Jostle, disk: Path) -> None:
    fill(disk, leave=60_000)
    with reference_server("run-to-completion") as url:
        full = jostle_command("hit", f"{url}/hello", "-c", "4", "-d", "60s", "--into", disk, timeout=30)
    assert full.returncode == 3
    assert "Traceback" not in full.stderr
    assert full.stderr.count("is full") == 1
    assert "jostle run --resume" in full.stderr
    (disk / "ballast").unlink()
    (folder,) = disk.glob("20*")
    (trial,) = RunRecord.open(folder).trials
    assert trial.status == "cut short"
    assert trial.histogram("response").total > 100
    assert RunRecord.open(folder).incomplete_why
    assert not list(folder.rglob("*.part"))


def test_a_limit_of_the_size_of_files_is_told_as_a_full_disk_is(tmp_path: Path) -> None:
    """EFBIG from the kernel: `ulimit -f`."""
    with reference_server("run-to-completion") as url:
        words = command("hit", f"{url}/hello", "-c", "4", "-d", "60s", "--into", tmp_path)
        limited = ["prlimit", "--fsize=20000", *words]
        stopped = subprocess.run(limited, capture_output=True, text=True, timeout=30, env=environment())
    assert stopped.returncode == 3, stopped.stderr
    assert "Traceback" not in stopped.stderr
    assert stopped.stderr.count("has reached the greatest size that this process may write (ulimit -f)") == 1
    assert "jostle run --resume" in stopped.stderr
    (folder,) = tmp_path.glob("20*")
    (trial,) = RunRecord.open(folder).trials
    assert trial.status == "cut short"
    assert trial.histogram("response").total > 100


def test_while_the_report_is_written_the_figures_are_shown_and_nothing_torn_stays(
    jostle_command: Jostle, disk: Path
) -> None:
    with reference_server("run-to-completion") as url:
        jostle_command("hit", f"{url}/hello", "-n", "200", "--into", disk)
    (folder,) = disk.glob("20*")
    reported = jostle_command("report", folder)
    assert reported.returncode == 3
    assert "p50" in reported.stdout
    assert "Traceback" not in reported.stderr
    assert "could not be written: no space left on device" in reported.stderr
    assert f"jostle report {folder}" in reported.stderr
    assert not list(folder.glob("report.html*"))
    assert RunRecord.open(folder).complete


def test_an_export_to_a_full_device_is_one_message(jostle_command: Jostle, tmp_path: Path) -> None:
    with reference_server("run-to-completion") as url:
        jostle_command("hit", f"{url}/hello", "-n", "200", "--into", tmp_path / "runs")
    (folder,) = (tmp_path / "runs").iterdir()
    with Path("/dev/full").open("w") as device:
        full = subprocess.run(
            command("report", folder, "--format", "csv"), stdout=device, stderr=subprocess.PIPE, text=True
        )
    assert full.returncode == 3
    assert full.stderr == "jostle: No space left on device\n"
