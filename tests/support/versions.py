"""A repository of a small server, in two commits: the second may answer a tenth of its requests later."""

import subprocess
from pathlib import Path

__all__ = ["git", "repository_of_two"]

SERVER = """
import asyncio, random, sys

TAIL_S = {tail_s}


async def serve(reader, writer):
    try:
        while await reader.readuntil(b"\\r\\n\\r\\n"):
            if random.random() < 0.1:
                await asyncio.sleep(TAIL_S)
            writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok")
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main():
    async with await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1])) as server:
        await server.serve_forever()


asyncio.run(main())
"""

PLAN = """
title = "Is the new version slower than the old one?"
contestants = ["app"]
rounds = {rounds}
warm-up = "200ms"

[contestant.app]
folder = ".."
command = "python3 server.py {{port}}"

[workload.page]
request = {{ get = "/" }}
load = {{ rate = "200/s", for = "{seconds}s" }}
"""


def git(folder: Path, *words: str) -> str:
    """What git prints."""
    who = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def repository_of_two(top: Path, tail_ms: int, *, rounds: int, seconds: int) -> Path:
    """Make it in `top`, with the plan bench/plan.toml. `tail_ms`: by how much the second commit is later."""
    (top / "bench").mkdir(parents=True)
    git(top, "init", "-q", "-b", "main")
    for number, tail_s in enumerate((0.0, tail_ms / 1000)):
        (top / "server.py").write_text(f"# {number}{SERVER.format(tail_s=tail_s)}")
        (top / "bench" / "plan.toml").write_text(PLAN.format(rounds=rounds, seconds=seconds))
        git(top, "add", ".")
        git(top, "commit", "-q", "-m", f"{tail_s} s later")
    return top
