"""`make wheel`: what it builds can be installed, and carries everything that it needs."""

import os
import signal
import subprocess
from pathlib import Path
from subprocess import PIPE, STDOUT

import pytest

from jostle.record import RunRecord

ROOT = Path(__file__).parents[2]
UV = ROOT / ".tools" / "bin" / "uv"

PLAN = """
title = "one server of the wheel"
contestants = ["reference-workers"]
rounds = 1
repeats = false
[workload.plain]
request = { get = "/" }
load = { clients = 1, for = "500ms" }
"""


def run(*words: str | Path, cwd: Path) -> str:
    # The packages that the engine is built from were compiled for the clone.
    environment = {**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target"), "NO_COLOR": "1"}
    environment["JOSTLE_PROFILE"] = (ROOT / "python/jostle/bin/profile").read_text(encoding="utf-8")
    environment.pop("VIRTUAL_ENV", None)
    with subprocess.Popen(
        words, cwd=cwd, env=environment, stdout=PIPE, stderr=STDOUT, text=True, start_new_session=True
    ) as process:
        try:
            said, _ = process.communicate()
        except BaseException:  # too late: without the compilers, which would go on
            os.killpg(process.pid, signal.SIGKILL)
            raise
    assert process.returncode == 0, said
    return said


@pytest.mark.timeout(900)
def test_the_wheel_can_be_installed_and_runs_a_server_of_its_own(tmp_path: Path) -> None:
    dist, locked, venv = tmp_path / "dist", tmp_path / "locked.txt", tmp_path / "venv"
    run(
        UV, "build", "--quiet", "--out-dir", dist, cwd=ROOT
    )  # the wheel is built from the source distribution
    (wheel,) = dist.glob("jostle-*.whl")
    assert len([*dist.glob("jostle-*.tar.gz")]) == 1
    run(
        UV,
        "export",
        "--locked",
        "--quiet",
        "--no-dev",
        "--no-emit-project",
        "--output-file",
        locked,
        cwd=ROOT,
    )
    run(UV, "venv", "--quiet", "--python", ROOT / ".venv" / "bin" / "python", venv, cwd=tmp_path)
    install = [UV, "pip", "install", "--quiet", "--python", venv / "bin" / "python"]
    run(*install, "--requirement", locked, cwd=tmp_path)
    run(*install, "--no-deps", wheel, cwd=tmp_path)
    run(UV, "pip", "check", "--python", venv / "bin" / "python", cwd=tmp_path)
    jostle = venv / "bin" / "jostle"
    assert "starvation" in run(jostle, "race", cwd=tmp_path)
    assert "✓ reference-workers" in run(jostle, "contestants", "verify", "reference-workers", cwd=tmp_path)
    (tmp_path / "plan.toml").write_text(PLAN)
    subprocess.run([jostle, "run", "plan.toml", "--into", "runs"], cwd=tmp_path, check=False)  # 3: invalid
    (page,) = tmp_path.glob("runs/*/report.html")
    (trial,) = RunRecord.open(page.parent).trials
    assert trial.status == "ended"
