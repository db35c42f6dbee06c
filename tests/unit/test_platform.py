"""An installation whose engine is missing, or compiled for another platform."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import jostle
from jostle._platform import engine_missing


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Where a package is that has all of jostle but its engine."""
    (tmp_path / "jostle").mkdir()
    for path in Path(jostle.__file__).parent.iterdir():
        if not path.name.startswith("_engine."):
            (tmp_path / "jostle" / path.name).symlink_to(path)
    return tmp_path


def python(package: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(package), "PYTHONSAFEPATH": "1"}
    return subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True)


def test_without_an_engine_one_message_says_for_which_platform(package: Path) -> None:
    done = python(package, "-m", "jostle", "hit", "http://127.0.0.1:1/", "-n", "1")
    assert done.returncode == 2
    sentence, remedy, in_a_clone = done.stderr.splitlines()
    assert sentence.startswith("jostle: jostle's engine is not there for linux-")
    assert f"Python 3.{sys.version_info.minor}: there is none in {package / 'jostle'}" in sentence
    assert remedy.startswith("  install the wheel for this platform: pip install")
    assert in_a_clone == "  in a clone: make setup"


def test_an_engine_of_another_platform_is_named_with_what_the_loader_says(package: Path) -> None:
    (package / "jostle" / "_engine.abi3.so").write_text("for another machine" * 99)
    done = python(package, "-m", "jostle", "hit", "http://127.0.0.1:1/", "-n", "1")
    assert done.returncode == 2
    assert "_engine.abi3.so cannot be used: " in done.stderr
    assert "ELF header" in done.stderr
    assert "Traceback" not in done.stderr


def test_who_imports_jostle_is_told_too(package: Path) -> None:
    done = python(package, "-c", "import jostle; jostle.hit")
    assert "jostle.errors.EngineMissing: jostle's engine is not there for linux-" in done.stderr


def test_what_needs_no_engine_works_without_it(package: Path) -> None:
    assert python(package, "-m", "jostle", "--version").stdout == f"jostle {jostle.__version__}\n"


def test_another_module_that_is_missing_is_another_error() -> None:
    assert engine_missing(ModuleNotFoundError("No module named 'x'", name="x")) is None
