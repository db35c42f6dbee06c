"""The Java HdrHistogram, from Maven Central, opens what jostle records and reads the same from it."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from support.real import Jostle

POM = Path(__file__).parents[1] / "support" / "hdrhistogram"


@pytest.fixture
def jar(tmp_path: Path) -> Path:
    """HdrHistogram's own tools, of the version in the POM, checked against the recorded sum."""
    folder = tmp_path / "hdrhistogram"
    shutil.copytree(POM, folder)
    maven = ["mvn", "--batch-mode", "--quiet", "--strict-checksums", "dependency:copy-dependencies"]
    subprocess.run([*maven, "-DoutputDirectory=lib"], cwd=folder, check=True)
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "jars.sha256"], cwd=folder, check=True)
    (found,) = (folder / "lib").iterdir()
    return found


def processed(jar: Path, *arguments: str | Path) -> str:
    """What HistogramLogProcessor prints."""
    command = ["java", "-cp", jar, "org.HdrHistogram.HistogramLogProcessor", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def figures(text: str) -> list[list[float]]:
    """The rows of a percentile distribution."""
    return [[float(x) for x in line.split()] for line in text.splitlines() if line[:8].strip()[:1].isdigit()]


def test_the_java_library_reads_the_logs(
    jar: Path, null_server: str, jostle_command: Jostle, tmp_path: Path
) -> None:
    assert jostle_command("hit", null_server, "-n", "2000", "--into", tmp_path / "runs").returncode in (0, 3)
    (run,) = (tmp_path / "runs").iterdir()
    (log,) = run.glob("trials/*/intervals.hlog")
    assert {"0.0.0.response", "0.0.0.service"} <= set(processed(jar, "-listtags", "-i", log).split())

    java = processed(jar, "-tag", "0.0.0.response", "-outputValueUnitRatio", "1000", "-i", log)
    rows = figures(java)
    assert rows[-1][2] == 2000
    assert len(rows) > 20
    (summary,) = json.loads(jostle_command("report", run, "--format", "json").stdout)["summaries"]
    for name, share in (("p50", 0.5), ("p90", 0.9)):
        row = next(number for number, (_, reached, *_) in enumerate(rows) if reached >= share)
        # Ours lies halfway between this value and the next one, which may be far above.
        (theirs, *_), (above, *_) = rows[row : row + 2]
        assert theirs * 0.99 <= summary["response"][name]["value"] * 1000 <= above * 1.01
