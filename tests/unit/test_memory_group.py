"""A control group with a limit of memory: made where it can be, and where not, the reason is told."""

from pathlib import Path

import pytest

from jostle.analysis.trials.data import TrialData
from jostle.analysis.validity.checks import judge_data
from jostle.host.memory_group import LIMITS, limit_memory
from jostle.record import RunRecord
from jostle.record.verdict import Verdict
from support.synthetic import Trial, closed, make_run


def tree(base: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_without_control_groups_there_is_no_limit(tmp_path: Path) -> None:
    group = limit_memory(1000, tmp_path / "absent", tmp_path)
    assert group.folder is None
    assert group.why == "this machine has no control groups for memory"


def test_a_group_is_made_where_memory_is_controlled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Version 2: not in the own group, which passes no memory on, but in the one above it."""
    tree(tmp_path, {"me": "0::/a/b\n", "a/cgroup.procs": "", "a/cgroup.subtree_control": "cpu memory\n"})
    tree(tmp_path, {"a/b/cgroup.procs": "7\n", "a/b/cgroup.subtree_control": "cpu\n"})
    kernel(monkeypatch, "memory.max", "memory.swap.max")
    group = limit_memory(1000, tmp_path / "me", tmp_path)
    assert group.folder is not None
    assert group.folder.parent == tmp_path / "a"
    assert (group.folder / "memory.max").read_text() == "1000"
    assert (group.folder / "memory.swap.max").read_text() == "0"
    assert group.why == ""


def test_in_version_1_swap_is_part_of_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(
        tmp_path, {"me": "4:memory:/x\n3:cpu:/x\n", "memory/x/cgroup.procs": "", f"memory/x/{LIMITS[1]}": "9"}
    )
    tree(tmp_path, {"cpu/x/cgroup.procs": ""})
    kernel(monkeypatch, LIMITS[1], "memory.memsw.limit_in_bytes")
    group = limit_memory(1000, tmp_path / "me", tmp_path)
    assert group.folder is not None
    assert group.folder.parent == tmp_path / "memory" / "x"
    assert (group.folder / "memory.memsw.limit_in_bytes").read_text() == "1000"


def test_a_group_that_cannot_be_made_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, {"me": "0::/\n", "cgroup.procs": "", "cgroup.subtree_control": "memory\n"})

    def refused(_path: Path, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refused)
    group = limit_memory(1000, tmp_path / "me", tmp_path)
    assert group.folder is None
    assert group.why == f"no control group can be made in {tmp_path}: permission denied"


def kernel(monkeypatch: pytest.MonkeyPatch, *files: str) -> None:
    """A fresh folder holds these files, as a fresh control group does."""
    made = Path.mkdir

    def with_files(path: Path, *args: int, **options: bool) -> None:
        made(path, *args, **options)
        for name in files:
            (path / name).write_text("max")

    monkeypatch.setattr(Path, "mkdir", with_files)


@pytest.mark.parametrize(
    ("why_not", "verdict", "message"),
    [
        ("", Verdict.VALID, "the server's processes could hold 512 MB together"),
        ("nobody may", Verdict.SUSPECT, "the server ran without its limit of 512 MB: nobody may"),
    ],
)
def test_a_trial_says_whether_the_server_had_its_limit(
    tmp_path: Path, why_not: str, verdict: Verdict, message: str
) -> None:
    limit = {"memory_limit": {"bytes": 512_000_000, "why_not": why_not}}
    trial = Trial("a", "w", 1, closed(lambda _: 0.002, 5.0), server=limit)
    (recorded,) = RunRecord.open(make_run(tmp_path, [trial])).trials
    (check,) = [c for c in judge_data(TrialData(recorded)).checks if c.name == "memory limit"]
    assert (check.verdict, check.message) == (verdict, message)
