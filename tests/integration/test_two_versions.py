"""docs/CI.md as it stands: two git worktrees, its plan, its comparison."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

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

    result = as_json(
        run("run", "two-versions.toml", "--into", "runs", "-d", "1s", "--no-repeats", "--json", "--no-pages")
    )
    assert [cell["outcomes"]["ok"] > 100 for cell in result["summaries"]] == [True, True]
    (folder,) = (repository / "runs").iterdir()
    slower, quicker = (
        run("compare", folder, "--contestants", "before,after", "--fail-if", change)
        for change in ("p50 > +10 %", "p50 < -10 %")
    )
    if any(cell["verdict"] == "invalid" for cell in result["summaries"]):  # where the machine stands still
        assert (slower.returncode, quicker.returncode) == (4, 4)
        assert "the figure is invalid (p50: " in slower.stdout
    else:
        assert quicker.returncode == 0, quicker.stdout + quicker.stderr
        assert slower.returncode == 1, slower.stdout + slower.stderr
