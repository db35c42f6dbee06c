"""PNG and SVG files."""

import struct
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from jostle.analysis.results import RunResult
from jostle.report.files import write_pictures
from support.results import make_hit, make_plain, make_starvation


def size(png: bytes) -> tuple[int, int]:
    """Width and height of a PNG in pixels."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", png[16:24])
    return width, height


@pytest.mark.parametrize(
    ("result", "names"),
    [
        (make_starvation(), ["strips", "throughput", "density"]),
        (make_plain(), ["strips", "throughput", "density"]),
        (make_hit(), ["strips", "density"]),
    ],
)
def test_the_main_pictures_are_files(result: RunResult, names: list[str], tmp_path: Path) -> None:
    paths = write_pictures(result, tmp_path)
    assert {p.name for p in paths} == {f"{name}.{kind}" for name in names for kind in ("png", "svg")}
    for path in paths:
        if path.suffix == ".png":
            width, height = size(path.read_bytes())
            assert 1500 < width < 2200
            assert 200 < height < 1500
            assert path.stat().st_size > 15_000
        else:
            drawing = ElementTree.fromstring(path.read_text())
            assert "var(--" not in path.read_text()
            words = "".join(drawing.itertext())
            assert next(iter(result.contestants)) in words


def test_the_sentence_stands_above_the_picture(tmp_path: Path) -> None:
    write_pictures(make_starvation(), tmp_path)
    words = "".join(ElementTree.fromstring((tmp_path / "throughput.svg").read_text()).itertext())
    assert "Beside slow requests, python-asyncio completes 99.8 % fewer fast ones per trial" in words


def test_a_run_without_responses_has_no_pictures(tmp_path: Path) -> None:
    assert write_pictures(replace(make_hit(), summaries=[], trials=[]), tmp_path) == []
    assert not list(tmp_path.iterdir())
