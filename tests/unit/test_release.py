"""How a release is made: names and tags, what is refused, checksums. Nothing is compiled."""

import hashlib
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from packaging.tags import compatible_tags, cpython_tags
from packaging.utils import parse_wheel_filename

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from release import __main__ as release  # noqa: E402
from release import build, checksums, faults, tools  # noqa: E402
from release.targets import TARGETS, chosen  # noqa: E402

X86, ARM, MUSL = TARGETS


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@y", *words], cwd=folder, check=True)


@pytest.mark.parametrize(
    ("target", "platform"),
    [(X86, "manylinux_2_17_x86_64"), (X86, "manylinux2014_x86_64"), (ARM, "manylinux_2_17_aarch64"),
     (MUSL, "musllinux_1_2_x86_64")],
)  # fmt: skip
@pytest.mark.parametrize("minor", [11, 12, 14])
def test_pip_takes_the_wheel_for_its_machine_and_every_python_since_3_11(
    target: object, platform: str, minor: int
) -> None:
    name, version, _, tags = parse_wheel_filename(target.wheel("0.1.0"))  # type: ignore[attr-defined]
    assert (name, str(version)) == ("jostle", "0.1.0")
    assert tags & set(cpython_tags((3, minor), platforms=[platform]))
    older = {*cpython_tags((3, 10), platforms=[platform]), *compatible_tags((3, 10), platforms=[platform])}
    assert not tags & older


def test_a_target_that_there_is_not_is_named() -> None:
    assert chosen(["x86_64-unknown-linux-musl", "x86_64-unknown-linux-gnu"]) == [X86, MUSL]
    with pytest.raises(
        ValueError, match=r"no wheel is released for riscv64; there are x86_64-unknown-linux-gnu, "
    ):
        chosen(["riscv64", X86.triple])


def test_changes_that_are_in_no_commit_are_refused(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    (tmp_path / "a").write_text("1")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "--quiet", "-m", "x")
    assert release.uncommitted(tmp_path) == []
    (tmp_path / "a").write_text("2")
    (tmp_path / "forgotten").touch()
    (line,) = release.uncommitted(tmp_path)
    assert "(a, forgotten): commit or stash them" in line


def test_what_is_missing_is_named_with_the_command_that_brings_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rustc = tmp_path / "rustc"
    rustc.write_text(f'#!/bin/sh\necho {tmp_path}/"$4"\n')
    rustc.chmod(0o755)
    (tmp_path / X86.triple).mkdir()
    (tmp_path / X86.triple / "libstd-1.rlib").touch()
    monkeypatch.setenv("PATH", str(tmp_path))
    found = "\n".join(tools.missing(TARGETS, tmp_path / "tools"))
    assert "git is missing: on Debian, as root: apt-get install git" in found
    assert "cargo is missing: install Rust with rustup" in found
    assert "rustc is missing" not in found
    assert "auditwheel, cargo-zigbuild, maturin, python-zig missing in" in found
    assert "make release-tools" in found
    assert "aarch64-unknown-linux-gnu is missing: rustup target add aarch64-unknown-linux-gnu" in found
    assert "x86_64-unknown-linux-gnu is missing" not in found
    assert release.possible(TARGETS) == ["without it: make release ONLY=x86_64-unknown-linux-gnu"]
    assert release.possible([X86]) == []
    assert release.possible([ARM, MUSL]) == []


def test_the_build_sees_nothing_of_what_a_developer_has_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "RUSTFLAGS",
        "CFLAGS",
        "CC_aarch64_unknown_linux_gnu",
        "JOSTLE_PROFILE",
        "CARGO_PROFILE_RELEASE_LTO",
    ):
        monkeypatch.setenv(name, "theirs")
    monkeypatch.setenv("CARGO_HOME", "/home/them/cargo")
    found = build.environment(tmp_path, build.Commit("abc", "1700000000"), ARM)
    assert "theirs" not in found.values()
    assert found["CARGO_HOME"] == "/home/them/cargo"
    assert found["CARGO_BUILD_TARGET"] == ARM.triple
    assert found["SOURCE_DATE_EPOCH"] == "1700000000"
    assert found["JEMALLOC_SYS_WITH_LG_PAGE"] == "16"
    linker = Path(found["CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER"])
    assert found["CC_aarch64_unknown_linux_gnu"] == str(linker)
    assert "-target aarch64-linux-gnu.2.17" in linker.read_text()
    assert "-ffile-prefix-map=/home/them/cargo=/cargo" in linker.read_text()
    assert linker.stat().st_mode & 0o111


def audited(tag: str, **more: object) -> dict[str, object]:
    return {"overall_tag": tag, "versioned_symbols": {}, "external_libs": {}, **more}


@pytest.mark.parametrize("tag", ["manylinux_2_17_x86_64", "manylinux_2_5_x86_64"])
def test_a_wheel_that_needs_an_older_library_than_it_says_is_fine(tag: str) -> None:
    assert faults.outside_policy(audited(tag), X86) == []


def test_a_wheel_for_another_machine_or_a_later_library_is_not_released() -> None:
    later = audited("manylinux_2_34_x86_64", versioned_symbols={"libc.so.6": ["GLIBC_2.34", "GLIBC_2.2.5"]})
    (line,) = faults.outside_policy(later, X86)
    assert line == (
        "it does not fit manylinux_2_17_x86_64, but manylinux_2_34_x86_64: it needs GLIBC_2.2.5, GLIBC_2.34"
    )
    (line,) = faults.outside_policy(audited("linux_x86_64", external_libs={"libstdc++.so.6": None}), X86)
    assert line.endswith("but linux_x86_64: it needs libstdc++.so.6")
    assert faults.outside_policy(audited("manylinux_2_17_aarch64"), X86)
    assert faults.outside_policy(audited("manylinux_2_17_x86_64"), MUSL)
    assert faults.outside_policy({"error": "no ELF file"}, X86) == [
        "it does not fit manylinux_2_17_x86_64, but linux: it needs no ELF file"
    ]


def test_musl_s_own_library_may_be_called_as_zig_calls_it() -> None:
    seen = {"sym_tag": "musllinux_1_2_x86_64", "external_libs": {"libc.so": None}}
    assert faults.outside_policy(audited("linux_x86_64", **seen), MUSL) == []
    other = {**seen, "external_libs": {"libc.so": None, "libgcc_s.so.1": None}}
    assert faults.outside_policy(audited("linux_x86_64", **other), MUSL)
    assert faults.outside_policy(audited("linux_x86_64", **seen), X86)


def elf(machine: int) -> bytes:
    return b"\x7fELF".ljust(18, b"\0") + machine.to_bytes(2, "little")


def test_what_a_wheel_does_not_carry_or_carries_for_another_machine_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(faults, "_audited", lambda _: audited("manylinux_2_17_aarch64"))
    wheel = tmp_path / ARM.wheel("0.1.0")
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("jostle/_engine.abi3.so", elf(183))
        archive.writestr("jostle-0.1.0.dist-info/entry_points.txt", "")
    assert faults.of_wheel(wheel, ARM, "0.1.0") == [
        "it carries nothing as jostle/bin/jostle-reference: the reference servers",
        "it carries nothing as jostle-0.1.0.dist-info/licenses/THIRD-PARTY.md: the licences of others",
    ]
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("jostle/bin/jostle-reference", elf(62))
        archive.writestr("jostle-0.1.0.dist-info/licenses/THIRD-PARTY.md", "")
    host = ["jostle/bin/jostle-reference is not for aarch64"]
    assert faults.of_wheel(wheel, ARM, "0.1.0") == host
    misnamed = wheel.rename(tmp_path / "jostle-0.1.0-cp311-abi3-linux_aarch64.whl")
    assert faults.of_wheel(misnamed, ARM, "0.1.0") == [f"its name is not {ARM.wheel('0.1.0')}", *host]


def test_a_source_distribution_without_the_servers_sources_is_not_released(tmp_path: Path) -> None:
    packed = tmp_path / "jostle-0.1.0.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        for name in set(faults.SOURCES) - {"crates/reference/Cargo.toml"}:
            archive.addfile(tarfile.TarInfo(f"jostle-0.1.0/{name}"))
    assert faults.of_sdist(packed, "0.1.0") == ["it carries no crates/reference/Cargo.toml"]


def test_checksums_are_what_sha256sum_reads(tmp_path: Path) -> None:
    (tmp_path / "b.whl").write_bytes(b"wheel")
    (tmp_path / "a.tar.gz").write_bytes(b"source")
    lines = checksums.write(tmp_path).read_text().splitlines()
    assert lines == [
        f"{hashlib.sha256(b'source').hexdigest()}  a.tar.gz",
        f"{hashlib.sha256(b'wheel').hexdigest()}  b.whl",
    ]
    assert checksums.write(tmp_path).read_text().splitlines() == lines
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=tmp_path, check=True)
    (tmp_path / "b.whl").write_bytes(b"another")
    assert subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=tmp_path).returncode == 1
