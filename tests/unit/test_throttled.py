"""What a CPU quota withheld, by the kernel's accounts of either version."""

from pathlib import Path

from jostle.host.throttled import quotas, throttled_s


def test_version_1_counts_nanoseconds(tmp_path: Path) -> None:
    group = tmp_path / "cpu" / "container"
    group.mkdir(parents=True)
    (group / "cpu.stat").write_text("nr_periods 7\nnr_throttled 3\nthrottled_time 1250000000\n")
    (tmp_path / "membership").write_text("4:memory:/container\n1:cpu:/container\n")
    assert throttled_s(quotas(tmp_path / "membership", tmp_path)) == 1.25


def test_version_2_counts_microseconds_and_the_tightest_quota_of_those_above_counts(tmp_path: Path) -> None:
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    (inner / "cpu.stat").write_text("usage_usec 5\nthrottled_usec 20000\n")
    (inner.parent / "cpu.stat").write_text("usage_usec 5\nthrottled_usec 350000\n")
    (tmp_path / "membership").write_text("0::/outer/inner\n")
    assert throttled_s(quotas(tmp_path / "membership", tmp_path)) == 0.35


def test_without_an_account_nothing_is_known(tmp_path: Path) -> None:
    assert quotas(tmp_path / "absent", tmp_path) == []
    assert throttled_s([tmp_path / "gone"]) is None
