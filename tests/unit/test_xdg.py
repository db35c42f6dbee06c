"""Caches and credentials are where the user keeps those of all programs."""

from pathlib import Path

import pytest

from jostle.generator.cluster.credentials import credentials_folder
from jostle.host.cache import cache_folder
from jostle.host.xdg import xdg_folder


@pytest.fixture(autouse=True)
def _nothing_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("JOSTLE_CACHE", "JOSTLE_CLUSTER", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)


def test_the_users_own_folders_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert cache_folder("builds") == tmp_path / "cache" / "jostle" / "builds"
    assert credentials_folder() == tmp_path / "config" / "jostle" / "cluster"


def test_jostles_own_variables_outweigh_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, "/nowhere")
    monkeypatch.setenv("JOSTLE_CACHE", str(tmp_path))
    monkeypatch.setenv("JOSTLE_CLUSTER", str(tmp_path))
    assert cache_folder() == credentials_folder() == tmp_path


@pytest.mark.parametrize("named", [None, "", "relative/cache"])
def test_without_an_absolute_path_the_default_counts(
    named: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if named is not None:
        monkeypatch.setenv("XDG_CACHE_HOME", named)
    assert xdg_folder("XDG_CACHE_HOME", Path("/usual")) == Path("/usual/jostle")
