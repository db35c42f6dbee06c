"""What the fuzz targets of Python hold, on the inputs that are kept; `make fuzz` looks for others."""

import random
import sys
from pathlib import Path

import pytest

from jostle.errors import JostleError

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import fuzz_python  # noqa: E402

INPUTS = sorted(path for path in fuzz_python.CORPUS.rglob("*") if path.is_file())


def test_every_target_has_inputs() -> None:
    assert {path.parent.name for path in INPUTS} == set(fuzz_python.TARGETS)


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_corpus_finds_nothing(path: Path) -> None:
    assert fuzz_python.check(path.parent.name, path.read_bytes()) == ""


@pytest.mark.parametrize("target", [name for name in fuzz_python.TARGETS if name != "whole-run"])
def test_a_few_mutations_find_nothing(target: str) -> None:
    corpus = [path.read_bytes() for path in INPUTS if path.parent.name == target]
    rng = random.Random(target)
    for _ in range(20):
        data = fuzz_python.mutated(rng.choice(corpus), corpus, rng)
        assert fuzz_python.check(target, data) == "", data[:2000]


def test_what_is_wrong_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: bytes) -> None:
        raise KeyError("figures")

    def unprintable(_: bytes) -> None:
        raise JostleError("first line\n\x1b[2J")

    def endless(_: bytes) -> None:
        while True:
            pass

    monkeypatch.setitem(fuzz_python.TARGETS, "broken", broken)
    monkeypatch.setitem(fuzz_python.TARGETS, "unprintable", unprintable)
    monkeypatch.setitem(fuzz_python.TARGETS, "endless", endless)
    monkeypatch.setattr(fuzz_python, "TIME_S", 0.05)
    assert "KeyError" in fuzz_python.check("broken", b"")
    assert "unprintable" in fuzz_python.check("unprintable", b"")
    assert "more than" in fuzz_python.check("endless", b"")
