"""PNG and SVG files."""

import struct
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from jostle import report
from jostle.analysis.results import RunResult
from support.results import make_hit, make_plain, make_starvation


def size(png: bytes) -> tuple[int, int]:
    """Width and height of a PNG in pixels."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", png[16:24])
    return width, height


@pytest.mark.parametrize(
    ("result", "names"),
    [
        (make_starvation(), ["throughput.png", "throughput.svg", "density.png", "density.svg"]),
        (make_plain(), ["throughput.png", "throughput.svg", "density.png", "density.svg"]),
        (make_hit(), ["density.png", "density.svg"]),
    ],
)
def test_the_main_pictures_are_files(result: RunResult, names: list[str], tmp_path: Path) -> None:
    paths = report.write_pngs(result, tmp_path)
    assert [p.name for p in paths] == names
    for path in paths:
        if path.suffix == ".png":
            width, height = size(path.read_bytes())
            assert 1500 < width < 2000
            assert 300 < height < 1500
            assert path.stat().st_size > 15_000
        else:
            drawing = ElementTree.fromstring(path.read_text())
            assert "var(--" not in path.read_text()
            words = "".join(drawing.itertext())
            assert "node" in words or "127.0.0.1:8080" in words


def test_the_sentence_stands_above_the_picture(tmp_path: Path) -> None:
    report.write_pngs(make_starvation(), tmp_path)
    words = "".join(ElementTree.fromstring((tmp_path / "throughput.svg").read_text()).itertext())
    assert "One slow request takes 99.8 % of python-asyncio's fast requests" in words


def test_a_run_without_answers_has_no_pictures(tmp_path: Path) -> None:
    assert report.write_pngs(replace(make_hit(), summaries=[], trials=[]), tmp_path) == []
    assert not list(tmp_path.iterdir())
