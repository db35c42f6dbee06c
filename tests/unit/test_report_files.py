"""`jostle report --format`: the forms that are files, and JUnit."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from support.commands import run_command
from support.synthetic import Request, Trial, closed, lognormal, make_run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    times = lognormal(0.002, 0.2)
    trials = [Trial("go:procs=1", "a/b", n, closed(times, 2.0, seed=n), 2.0) for n in (1, 2)]
    trials.append(
        Trial("../etc", "a/b", 1, [Request(0.0, 0.0, 1.0), Request(0.0, 0.0, 2.0, "unfinished")], 2.0)
    )
    trials.append(Trial("dead", "a/b", 1, [], 2.0, status="failed", why="it died"))
    return make_run(tmp_path, trials)


def written(folder: Path, form: str) -> list[str]:
    code, output = run_command("report", folder, "--format", form)
    assert code == 0, output
    return output.splitlines()


def test_hgrm_files_hold_the_answers_of_all_rounds(folder: Path) -> None:
    paths = [Path(line) for line in written(folder, "hgrm")]
    assert [path.name for path in paths] == ["go-procs=1-a-b.hgrm", "etc-a-b.hgrm"]
    assert all(path.parent == folder for path in paths)
    text = paths[0].read_text()
    assert "Percentile" in text
    rows = [line.split() for line in text.splitlines() if re.match(r"\s+\d", line)]
    values, shares, counts = ([float(row[i]) for row in rows] for i in (0, 1, 2))
    assert values == sorted(values)
    assert shares[0] == 0
    assert shares[-1] == 1
    assert counts[-1] == pytest.approx(2000, rel=0.05)
    median = next(value for value, share in zip(values, shares, strict=True) if share >= 0.5)
    assert median == pytest.approx(2.0, rel=0.05)  # milliseconds
    assert re.search(r"#\[Max +=.*Total ?[Cc]ount +=", text)
    assert paths[1].read_text().count("1000.") >= 1


@pytest.mark.parametrize("form", ["png", "svg"])
def test_pictures(folder: Path, form: str) -> None:
    paths = [Path(line) for line in written(folder, form)]
    assert paths
    assert {path.suffix for path in paths} == {f".{form}"}
    assert all(path.stat().st_size > 1000 for path in paths)


def test_junit(folder: Path) -> None:
    root = ET.fromstring("\n".join(written(folder, "junit")))
    errors = root.findall("testsuite/testcase/error")
    assert [e.get("message") for e in errors] == ["dead, a/b: the trial failed: it died"]
