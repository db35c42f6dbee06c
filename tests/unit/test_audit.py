"""The supply chain's checks: versions as each registry counts them, licences, bills of materials, pins."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from audit import advisories, licences, musl, pins, sbom  # noqa: E402
from audit.packages import Package, locked_crates, locked_python  # noqa: E402

RUST = {
    "id": "RUSTSEC-1",
    "title": "a race",
    "patched": [">= 1.5.1, < 1.6.0", "^1.8.1"],
    "unaffected": ["< 0.3"],
}
ZERO = {
    "id": "RUSTSEC-2",
    "title": "",
    "patched": [">=0.9.0-rc.2"],
    "unaffected": ["=0.2.0", "~0.4.1", "^0.0.3"],
}
PYTHON = {
    "id": "PYSEC-1",
    "title": "a template",
    "ranges": [
        [{"introduced": "0"}, {"fixed": "2.11.3"}],
        [{"introduced": "3.0"}, {"last_affected": "3.1.2"}],
    ],
    "versions": ["9.9"],
}


@pytest.mark.parametrize(
    ("version", "affected"),
    [("0.2.9", False), ("0.3.0", True), ("1.5.0", True), ("1.5.1", False), ("1.6.0", True), ("1.8.1", False),
     ("1.9.0", False), ("2.0.0", True)],
)  # fmt: skip
def test_a_crate_is_affected_unless_it_is_patched_or_never_was(version: str, affected: bool) -> None:
    assert advisories.crate_is_affected(version, RUST) is affected


@pytest.mark.parametrize(
    ("version", "affected"),
    [("0.2.0", False), ("0.2.1", True), ("0.4.1", False), ("0.4.9", False), ("0.5.0", True), ("0.0.3", False),
     ("0.0.4", True), ("0.9.0-rc.1", True), ("0.9.0-rc.2", False), ("0.9.0", False)],
)  # fmt: skip
def test_versions_below_1_and_pre_releases_count_as_cargo_counts_them(version: str, affected: bool) -> None:
    assert advisories.crate_is_affected(version, ZERO) is affected


@pytest.mark.parametrize(
    ("version", "affected"),
    [("1.0", True), ("2.11.3", False), ("2.11.3rc1", True), ("3.0", True), ("3.1.2", True), ("3.1.3", False),
     ("9.9", True)],
)  # fmt: skip
def test_a_python_package_is_affected_within_the_ranges(version: str, affected: bool) -> None:
    assert advisories.release_is_affected(version, PYTHON) is affected


def test_what_is_affected_or_was_never_looked_for_is_told() -> None:
    copy = {"crates": {"tokio": [RUST]}, "python": {}, "looked_for": {"crates": ["tokio"], "python": []}}
    crates, python = [Package("tokio", "1.6.0"), Package("new", "1.0.0")], [Package("jinja2", "3.0")]
    assert advisories.concerning(copy, crates, python) == ["tokio 1.6.0: RUSTSEC-1 a race"]
    assert advisories.unknown(copy, crates, python) == ["jinja2", "new"]


def test_every_locked_package_was_looked_for_and_nothing_is_known_against_it() -> None:
    copy, crates, python = advisories.read_copy(), locked_crates(), locked_python()
    assert len(crates) > 100
    assert len(python) > 50
    assert advisories.unknown(copy, crates, python) == []
    assert advisories.concerning(copy, crates, python) == []
    old = [Package("tokio", "1.5.0"), Package("time", "0.1.40")]
    assert advisories.concerning(copy, old, [Package("jinja2", "2.11.0")]), "the copy knows of holes"


@pytest.mark.parametrize(
    ("expression", "fine"),
    [("MIT", True), ("GPL-3.0", False), ("MIT OR GPL-3.0", True), ("MIT AND GPL-3.0", False), ("", False),
     ("(MIT OR GPL-3.0) AND Unicode-3.0", True), ("GPL-3.0 OR (MIT AND AGPL-3.0)", False),
     ("GPL-3.0 OR MIT AND ISC", True), ("Apache-2.0 WITH LLVM-exception", True),
     ("GPL-2.0 WITH Classpath-exception-2.0", False)],
)  # fmt: skip
def test_a_licence_is_allowed_where_a_choice_of_allowed_ones_is_left(expression: str, fine: bool) -> None:
    assert licences.allowed(expression) is fine


def test_a_crate_in_two_versions_has_to_be_explained() -> None:
    twice = [Package("rand", "0.8.5"), Package("rand", "0.9.0"), Package("libc", "0.2.1")]
    assert licences.duplicates(twice) == ["rand: 0.8.5, 0.9.0"]


def test_a_crate_without_its_licences_text_is_named(tmp_path: Path) -> None:
    with_text, without = tmp_path / "with", tmp_path / "without"
    for folder in (with_text, without):
        folder.mkdir()
    (with_text / "LICENSE-MIT").write_text("Permission is hereby granted")
    mlua, sys_crate = Package("mlua", "1", folder=with_text), Package("mlua-sys", "1", folder=without)
    assert licences.without_text([mlua, sys_crate]) == [], "mlua brings the text of both"
    assert licences.without_text([sys_crate, Package("new", "1", folder=without)]) == ["mlua-sys", "new"]


def test_a_bill_names_every_package_with_its_hash_and_is_the_same_each_time() -> None:
    packages = [Package("libc", "0.2.1", "MIT OR Apache-2.0", "ab" * 32), Package("ring", "0.17.0")]
    found = sbom.bill("cargo", packages)
    assert found == sbom.bill("cargo", packages)
    assert (found["bomFormat"], found["specVersion"]) == ("CycloneDX", "1.5")
    first, second = found["components"]
    assert first["purl"] == "pkg:cargo/libc@0.2.1"
    assert first["licenses"] == [{"expression": "MIT OR Apache-2.0"}]
    assert first["hashes"] == [{"alg": "SHA-256", "content": "ab" * 32}]
    assert found["dependencies"][0]["dependsOn"] == [first["bom-ref"], second["bom-ref"]]
    assert sbom.bill("cargo", packages[:1])["serialNumber"] != found["serialNumber"]


def test_everything_is_pinned() -> None:
    assert pins.loose() == []


def test_the_whole_audit_finds_nothing() -> None:
    done = subprocess.run([sys.executable, ROOT / "scripts/audit"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    for kind in ("cargo", "pypi"):
        bill = json.loads((ROOT / "dist" / f"jostle-{kind}.cdx.json").read_text())
        assert len(bill["components"]) >= 39


UNSAFE = {
    "crates/engine/src/machine/clock.rs",
    "crates/engine/src/machine/cores/linux.rs",
    "crates/engine/src/machine/prefetch.rs",
    "crates/engine/src/machine/socket_option.rs",
    "crates/engine/src/machine/stamps/linux.rs",
    "crates/engine/src/machine/tasks.rs",
    "crates/engine/src/machine/timer/kqueue.rs",
    "crates/engine/src/net/stamped.rs",
    "crates/engine/src/script/collector.rs",
    "crates/engine/src/script/coroutines.rs",
    "crates/engine/src/script/guard.rs",
    "crates/engine/src/script/json.rs",
    "crates/engine/src/script/request.rs",
    "crates/engine/src/script/response.rs",
    "crates/engine/src/script/stack.rs",
    "crates/reference/src/timer.rs",
}
"""Calls of the system, and of scripts' language. The compiler refuses it elsewhere, and blocks without a
SAFETY comment."""


def test_unsafe_code_stands_in_named_modules_only() -> None:
    allowing = {
        str(path.relative_to(ROOT))
        for path in ROOT.glob("crates/*/src/**/*.rs")
        if re.search(r"(expect|allow)\(\s*unsafe_code", path.read_text())
    }
    assert allowing == UNSAFE
    workspace = (ROOT / "Cargo.toml").read_text()
    assert 'unsafe_code = "deny"' in workspace
    assert 'undocumented_unsafe_blocks = "deny"' in workspace
    for manifest in ROOT.glob("crates/*/Cargo.toml"):
        assert "[lints]\nworkspace = true" in manifest.read_text(), manifest


def test_all_that_a_base_install_needs_has_a_wheel_for_musl(monkeypatch: pytest.MonkeyPatch) -> None:
    assert musl.without_wheels() == []
    pure = ["b-2-py3-none-any.whl"]
    wheels = ["a-1-cp311-cp311-musllinux_1_2_x86_64.whl", "a-1-cp311-cp311-manylinux_2_17_aarch64.whl"]
    monkeypatch.setattr(musl, "base_python", lambda: [("a", "1"), ("b", "2")])
    monkeypatch.setattr(musl, "wheels_of", lambda name, _: wheels if name == "a" else pure)
    assert musl.without_wheels() == ["a 1: no wheel for musl on aarch64"]
