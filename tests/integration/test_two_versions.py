"""docs/CI.md as it stands: two git worktrees, its plan, its comparison."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from support.real import as_json, command, environment

PLAN = Path(__file__).parents[2] / "docs" / "examples" / "two-versions.toml"
SERVER = """
import sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Page(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one write: two would wait for the client's delayed acknowledgement
    def do_GET(self):
        time.sleep({seconds})
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
    def log_message(self, *_):
        pass

ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Page).serve_forever()
"""


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository() -> Iterator[Path]:
    """Two commits, the second of which is slower by far; where whoever runs servers may enter."""
    with TemporaryDirectory(prefix="jostle-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        git(folder, "init", "-q")
        for seconds in (0.0, 0.05):
            (folder / "server.py").write_text(SERVER.format(seconds=seconds))
            git(folder, "add", "server.py")
            git(folder, "commit", "-q", "-m", f"waits {seconds} s")
        git(folder, "worktree", "add", "before", "HEAD~1")
        git(folder, "worktree", "add", "--detach", "after", "HEAD")
        (folder / "two-versions.toml").write_text(PLAN.read_text())
        yield folder


@pytest.mark.alone
@pytest.mark.timeout(800)
def test_a_slower_version_fails_the_build(repository: Path) -> None:
    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(*arguments),
            cwd=repository,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=240,
        )

    def measured() -> dict[str, Any]:
        """Both versions, by the plan."""
        options = ["--into", "runs", "-d", "1s", "--rounds", "5", "--no-repeats", "--json", "--no-pages"]
        result = as_json(run("run", "two-versions.toml", *options))
        assert [summary["outcomes"]["ok"] > 100 for summary in result["summaries"]] == [True, True]
        return result

    # Where the machine stands still a figure is invalid, and nothing can be said of it.
    results = (measured() for _ in range(3))
    result = next((found for found in results if not has_an_invalid_summary(found)), None)
    assert result is not None, "the machine stood still in each of three runs"
    slower, quicker = (
        run("compare", result["folder"], "--contestants", "before,after", "--fail-if", change)
        for change in ("p50 > +10 %", "p50 < -10 %")
    )
    assert quicker.returncode == 0, quicker.stdout + quicker.stderr
    assert slower.returncode == 1, slower.stdout + slower.stderr


def has_an_invalid_summary(result: dict[str, Any]) -> bool:
    return any(summary["verdict"] == "invalid" for summary in result["summaries"])
