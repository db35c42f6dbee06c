"""The proxy that makes a database seem far away, under a keeper of its own."""

import os
import shutil
import tempfile
import time
from pathlib import Path

from jostle.contestant.tools import OWN_PROGRAMS
from jostle.errors import MissingRuntime, StartFailed
from jostle.host import ports
from jostle.host.cache import cache_folder
from jostle.host.supervised import Kept, Task, last_lines
from jostle.host.users import Account

__all__ = ["DelayProxy"]

PROGRAM = OWN_PROGRAMS / "jostle-reference"
READY_S = 10.0
PAUSE_S = 0.01


class DelayProxy:
    """Listens on loopback, forwards to host:port, delays each answer.

    Raises `MissingRuntime`, `StartFailed`.
    """

    def __init__(self, host: str, port: int, delay_ms: float) -> None:
        if not PROGRAM.is_file():
            raise MissingRuntime(f"{PROGRAM} is missing", "install jostle anew, or run scripts/setup.sh")
        account = Account.of("nobody")
        self.port = ports.claim(0)
        scratch = Path(tempfile.mkdtemp(prefix="delay-", dir=cache_folder("running")))
        scratch.chmod(0o755)
        program = shutil.copy2(PROGRAM, scratch)  # where all may run it
        as_root = os.geteuid() == 0
        command = [str(program), "delay-proxy", "--port", str(self.port), "--host", ports.HOST]
        self.kept = Kept(
            Task(
                command=[*command, "--to", f"{host}:{port}", "--delay-ms", str(delay_ms)],
                folder="/",
                env={"TMPDIR": str(scratch / "tmp")},
                output=str(scratch / "output"),
                uid=account.uid if as_root else None,
                gid=account.gid if as_root else None,
                scratch=str(scratch),
            )
        )
        try:
            self._until_ready()
        except BaseException:
            self.kept.stop()
            raise

    def alive(self) -> bool:
        self.kept.poll()
        return self.kept.exit is None and not self.kept.ended

    def stop(self) -> None:
        self.kept.stop()

    def _until_ready(self) -> None:
        deadline = time.monotonic() + READY_S
        while "listening on" not in self.kept.output():
            self.kept.poll(PAUSE_S)
            if not self.alive() or time.monotonic() > deadline:
                raise StartFailed(
                    f"the delaying proxy before the database did not start: {last_lines(self.kept.output())}"
                )
