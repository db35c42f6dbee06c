"""The run's folder takes no more in the middle of a run: one message, no process left, and the rest stands.

The fault is what the second trial's server does as it starts, so that it comes between two trials.
"""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from jostle.host.procfs import with_environment
from jostle.record import RunRecord
from support.disks import small_disk
from support.real import REFERENCE, Jostle, as_json

PLAN = """
title = "Is the disk there?"
contestants = ["breaking"]
rounds = 3
seed = 7
[contestant.breaking]
command = ["sh", "{folder}/breaking.sh", "{{port}}"]
folder = "."
user = "root"
[workload.hello]
request = {{ get = "/hello" }}
load = {{ clients = 1, for = "200ms" }}
"""

SCRIPT = """
if [ -e {folder}/second ] && ! [ -e {folder}/healed ]; then {fault}; fi
touch {folder}/second
exec {server} null --port $1
"""


@pytest.fixture
def disk() -> Iterator[Path]:
    with small_disk(4096) as folder:
        yield folder


def write_plan(folder: Path, fault: str) -> None:
    (folder / "plan.toml").write_text(PLAN.format(folder=folder))
    (folder / "breaking.sh").write_text(SCRIPT.format(folder=folder, fault=fault, server=REFERENCE))


FAULTS = {
    "read-only": (
        "mount -o remount,ro {disk}",
        "mount -o remount,rw {disk}",
        "read-only file system",
    ),
    "full": (
        "dd if=/dev/zero of={disk}/ballast bs=1k 2>/dev/null",
        "rm {disk}/ballast",
        "the disk of {run} is full",
    ),
    "permissions": (
        "chattr +i {disk}/2*/trials",
        "chattr -i {disk}/2*/trials",
        "operation not permitted",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_between_two_trials_and_it_goes_on_afterwards(
    jostle_command: Jostle, tmp_path: Path, disk: Path, name: str
) -> None:
    fault, cure, says = FAULTS[name]
    write_plan(tmp_path, fault.format(disk=disk))
    if name == "permissions" and not _can_be_made_immutable(disk):
        pytest.skip("this file system knows no immutable folders")
    stopped = jostle_command("run", "plan.toml", "--into", disk, "--no-pages")
    subprocess.run(cure.format(disk=disk), shell=True, check=True)
    (run,) = disk.glob("2*")
    assert stopped.returncode == 3
    assert "Traceback" not in stopped.stderr
    said = " ".join(stopped.stderr.split())
    assert says.format(run=run) in said
    assert f"jostle run --resume {run}" in said
    assert with_environment(str(tmp_path)) == []
    record = RunRecord.open(run)
    assert len(list(run.glob("*/001-*/outcome.json"))) == 1  # or set aside: a busy machine spoils trials
    assert record.incomplete_why
    assert not list(run.rglob("*.part"))
    (tmp_path / "healed").touch()
    assert as_json(jostle_command("run", "--resume", run, "--json", "--no-pages"))["complete"]


def _can_be_made_immutable(folder: Path) -> bool:
    probe = folder / "probe"
    probe.mkdir()
    done = subprocess.run(["chattr", "+i", probe], capture_output=True).returncode == 0
    subprocess.run(["chattr", "-i", probe], capture_output=True)
    probe.rmdir()
    return done


def test_a_folder_that_is_removed_ends_the_run_with_one_message(
    jostle_command: Jostle, tmp_path: Path
) -> None:
    write_plan(tmp_path, f"rm -r {tmp_path}/runs")
    stopped = jostle_command("run", "plan.toml", "--no-pages")
    assert stopped.returncode == 3
    assert "Traceback" not in stopped.stderr
    assert "is gone: nothing more can be recorded" in stopped.stderr
    assert "run the plan again" in stopped.stderr
