"""Which limit it was when the machine gives no more, in words; files as the kernel writes them."""

import errno
from pathlib import Path

import pytest

from jostle.errors import StartRefused
from jostle.host import exhaustion
from jostle.host.exhaustion import used_up, within_limits
from jostle.host.limits import TaskLimits, task_limits
from jostle.host.out_of_memory import MemoryWatch


def put(base: Path, **files: str) -> None:
    for name, text in files.items():
        path = base / name.replace("__", "/").replace("DOT", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def process(base: Path, membership: str, state: str = "S") -> Path:
    put(base, proc__7__cgroup=membership, proc__7__stat=f"7 (a) b) {state} 1 7 7\n")
    return base / "proc"


def test_the_tightest_number_of_processes_counts(tmp_path: Path) -> None:
    put(tmp_path, aDOTb__pidsDOTmax="max\n", pidsDOTmax="7\n", membership="0::/a.b\n")
    assert task_limits(tmp_path / "membership", tmp_path).cgroup == 7
    assert task_limits(tmp_path / "absent", tmp_path).cgroup is None


def test_limits_are_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exhaustion, "task_limits", lambda: TaskLimits(1000, 20))
    assert used_up(errno.EAGAIN).endswith(
        "this user may have 1,000 (ulimit -u), this container or cgroup 20 (pids.max)"
    )
    assert "a process may have" in used_up(errno.EMFILE)
    assert used_up(errno.ENOENT) == used_up(None) == ""


@pytest.mark.parametrize(
    "error", [BlockingIOError(errno.EAGAIN, "again"), RuntimeError("can't start new thread")]
)
def test_what_cannot_be_started_is_refused_with_the_limit(error: Exception) -> None:
    with pytest.raises(StartRefused, match="no further process or thread"), within_limits():
        raise error


@pytest.mark.parametrize("error", [FileNotFoundError(errno.ENOENT, "absent"), RuntimeError("else")])
def test_other_errors_stay_what_they_are(error: Exception) -> None:
    with pytest.raises(type(error)), within_limits():
        raise error


V1 = {"memory__x__memoryDOToom_control": "under_oom 0\noom_kill {}\n"}
V2 = {"x__memoryDOTevents": "low 0\noom 9\noom_kill {}\noom_group_kill 0\n"}


@pytest.mark.parametrize(
    ("membership", "counter", "limit"),
    [
        ("4:memory:/x\n0::/\n", V1, {"memory__x__memoryDOTlimit_in_bytes": "200000000\n"}),
        ("0::/x\n", V2, {"x__memoryDOTmax": "200000000\n"}),
    ],
)
def test_an_end_for_memory_is_seen_in_the_group_where_it_lived(
    tmp_path: Path, membership: str, counter: dict[str, str], limit: dict[str, str]
) -> None:
    put(tmp_path, **limit)
    put(tmp_path, **{name: text.format(3) for name, text in counter.items()})
    watch = MemoryWatch(7, process(tmp_path, "0::/elsewhere\n"), tmp_path)
    process(tmp_path, membership)
    watch.look()  # it has moved, where three were ended before
    assert watch.killed() == ""
    put(tmp_path, **{name: text.format(4) for name, text in counter.items()})
    process(tmp_path, "4:memory:/\n0::/\n", state="Z")
    watch.look()
    assert watch.killed() == "by the kernel for memory (limit of 200 MB)"


def test_without_control_groups_nothing_is_claimed(tmp_path: Path) -> None:
    assert MemoryWatch(7, tmp_path, tmp_path).killed() == ""
