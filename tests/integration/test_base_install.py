"""What `pip install jostle` brings, and nothing else: every command works, and a missing extra is named."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from support.real import environment, reference_server

ROOT = Path(__file__).parents[2]
UV = ROOT / ".tools" / "bin" / "uv"
MAX_BYTES = 105_000_000
"""Of the packages that jostle needs: with its own 25 MB they take 130 MB."""

PLAN = """
title = "two servers, with rows"
contestants = ["reference-workers", "reference-processor-sharing"]
rounds = 3
[workload.arrivals]
request = { get = "/" }
load = { rate = "400/s", for = "1s" }
rows = true
"""

Base = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with what the lock file has for the base install, and this jostle."""
    folder = tmp_path_factory.mktemp("base")
    locked, venv = folder / "locked.txt", folder / "venv"
    without_extras = ["--locked", "--quiet", "--no-dev", "--no-emit-project"]
    for words in (
        ["export", *without_extras, "--output-file", locked],
        ["venv", "--quiet", "--python", sys.executable, venv],
        [
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--python",
            venv / "bin" / "python",
            "--requirement",
            locked,
        ],
    ):
        subprocess.run([UV, *words], cwd=ROOT, check=True, env=_outside())
    (packages,) = venv.glob("lib/python*/site-packages")
    (packages / "jostle.pth").write_text(f"{ROOT / 'python'}\n")
    return venv / "bin" / "python"


@pytest.fixture
def base(python: Path, tmp_path: Path) -> Base:
    """`jostle …` of that environment, in an empty folder."""

    def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
        command = [python, "-P", "-m", "jostle", *words]
        return subprocess.run(
            command, cwd=tmp_path, env=_outside(), capture_output=True, text=True, timeout=120
        )

    return run


def _outside() -> dict[str, str]:
    kept = {name: value for name, value in environment().items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1"}


def test_what_comes_along_is_small(python: Path) -> None:
    (packages,) = python.parents[1].glob("lib/python*/site-packages")
    sizes = [path.lstat().st_size for path in packages.rglob("*") if path.is_file()]
    assert 60_000_000 < sum(sizes) < MAX_BYTES
    names = {path.name for path in packages.iterdir()}
    assert "numpy" in names
    assert not names & {"scipy", "polars", "altair", "vl_convert", "ray", "hdrh", "setuptools"}


def test_a_run_and_all_that_is_made_of_it(base: Base, tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN)
    done = base("run", "plan.toml", "--into", "runs")
    assert done.returncode in (0, 3), done.stdout + done.stderr
    assert "pictures    as PNG and SVG files, too: pip install 'jostle[pictures]'" in done.stdout
    (folder,) = [path.parent for path in tmp_path.glob("runs/*/plan.toml")]
    assert len([*folder.glob("trials/*/requests-00001.npz")]) == 6
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert len(re.findall(r"<figure [^>]*data-chart", page)) >= 3
    assert "vegaEmbed" in page
    names = "reference-workers,reference-processor-sharing"
    for words in (
        ("report", folder, "--full"),
        ("report", folder, "--format", "md"),
        ("compare", folder, "--contestants", names),
        ("history", "runs"),
        ("what-if", "--rate", "300/s", "--service", "12ms", "--slo", "p99 < 100 ms"),
    ):
        said = base(*words)
        assert said.returncode in (0, 3), (words, said.stdout, said.stderr)
        assert said.stdout.strip()
        assert "Traceback" not in said.stderr
    pictures = base("report", folder, "--format", "svg")
    assert pictures.returncode == 2
    assert "a picture as an SVG file needs the extra 'pictures'" in pictures.stderr
    assert "pip install 'jostle[pictures]'" in pictures.stderr


def test_a_load_a_capacity_and_an_explanation_of_a_url(base: Base) -> None:
    with reference_server("null") as url:
        hit = base("hit", url, "-n", "200")
        assert hit.returncode in (0, 3), hit.stderr
        assert "p99" in hit.stdout
    with reference_server("workers") as url:
        explained = base("explain", f"{url}/", "-q")
        assert explained.returncode in (0, 3), explained.stdout + explained.stderr
        assert explained.stdout.strip()
        search = ("--slo", "p99 < 50 ms", "--quick", "--budget", "8s", "--most", "200/s")
        capacity = base("capacity", f"{url}/work?us=2000", *search)
        assert capacity.returncode in (0, 3, 4), capacity.stdout + capacity.stderr
        assert "p99 < 50 ms" in capacity.stdout


def test_data_frames_and_clusters_name_their_extras(base: Base, python: Path, tmp_path: Path) -> None:
    made = base("cluster", "init", "secrets", "head=127.0.0.1")
    assert made.returncode == 2
    assert "making the certificates of a cluster needs the extra 'cluster'" in made.stderr
    assert "pip install 'jostle[cluster]'" in made.stderr
    with reference_server("null") as url:
        assert base("hit", url, "-n", "50", "--into", "runs").returncode in (0, 3)
    code = (
        "import jostle, pathlib\nrun = jostle.open_run(next(pathlib.Path('runs').iterdir()))\n"
        "assert run.charts()\n"
        "for name in ('figures', 'requests'):\n"
        "    try: getattr(run, name)\n"
        "    except jostle.JostleError as error: print(error)\n"
    )
    said = subprocess.run(
        [python, "-P", "-c", code], cwd=tmp_path, env=_outside(), capture_output=True, text=True, check=True
    )
    for name in ("figures", "requests"):
        assert f"run.{name} needs the extra 'rows', which is not installed\n" in said.stdout
    assert said.stdout.count("pip install 'jostle[rows]'") == 2
